package stats

import (
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
	"sync"
)

// deal hands out cases to families at random.
type deal struct {
	places   []uint32  // the family of each place
	changed  []int64   // drops that are not zero, in ticks; zeros move no sum
	sizes    []int     // cases of each family
	roots    []float64 // and their square root
	observed []int64   // its drop as it was
	silent   []bool    // whether it is dealt and not tested
}

func (d *deal) add(f Family) {
	index := uint32(len(d.sizes))
	sum := int64(0)
	for _, v := range f.D {
		d.places = append(d.places, index)
		if t := ticks(v); t != 0 {
			d.changed = append(d.changed, -t)
			sum -= t
		}
	}
	d.observed = append(d.observed, sum)
	d.sizes = append(d.sizes, len(f.D))
	d.roots = append(d.roots, math.Sqrt(float64(len(f.D))))
	d.silent = append(d.silent, f.Bystander)
}

// parts of the deals are made at the same time. What they are does not depend on how
// many run at once.
const parts = 4

// manyPlaces are dealt by rotation, fewer case by case.
const manyPlaces = 1024

// exceed counts for each family the deals whose largest statistic, over the families
// tested, reaches its own.
func (d *deal) exceed(draws int, seed uint64) []int {
	slices.Sort(d.changed) // so that draws do not follow the order of the cases
	var largest []float64
	if len(d.places) < manyPlaces {
		largest = d.largest(draws, seed)
	} else {
		largest = newRotation(d, draws, seed).largest()
	}
	margin := float64(slack(len(d.places)))
	counts := make([]int, len(d.sizes))
	for f, sum := range d.observed {
		reached := (float64(sum) - margin) / d.roots[f]
		for _, v := range largest {
			if v >= reached {
				counts[f]++
			}
		}
	}
	return counts
}

// largest deals case by case, and lists for each deal the largest statistic over the
// families tested.
func (d *deal) largest(draws int, seed uint64) []float64 {
	largest := make([]float64, draws)
	var all sync.WaitGroup
	for part := range parts {
		mine := largest[draws*part/parts : draws*(part+1)/parts]
		all.Go(func() { d.fill(mine, dice{rand.NewPCG(seed, uint64(part))}) })
	}
	all.Wait()
	return largest
}

func (d *deal) fill(largest []float64, dice dice) {
	places := slices.Clone(d.places)
	sums := make([]int64, len(d.sizes))
	for i := range largest {
		clear(sums)
		byCase(sums, places, d.changed, dice)
		largest[i] = math.Inf(-1)
		for f, sum := range sums {
			if !d.silent[f] {
				largest[i] = math.Max(largest[i], float64(sum)/d.roots[f])
			}
		}
	}
}

// byCase lets each case take one of the places still free, and moves those that are
// taken to the front.
func byCase(sums []int64, places []uint32, drops []int64, dice dice) {
	take := func(i int, j uint64) {
		place := places[uint64(i)+j]
		places[uint64(i)+j] = places[i]
		places[i] = place
		sums[place] += drops[i]
	}
	i := 0
	if len(places) <= mostInThree {
		for ; i+3 <= len(drops); i += 3 {
			a, b, c := dice.three(uint64(len(places) - i))
			take(i, a)
			take(i+1, b)
			take(i+2, c)
		}
	}
	for ; i < len(drops); i++ {
		take(i, dice.one(uint64(len(places)-i)))
	}
}

// dice throws numbers below a bound: the upper half of the bound times a random
// word, whose lower half is a random word again as long as it is not among the few
// that are too many (Brackett-Rozinsky and Lemire, arXiv 2408.06213).
type dice struct{ pcg *rand.PCG }

func (d dice) one(n uint64) uint64 {
	for {
		a, rest := bits.Mul64(d.pcg.Uint64(), n)
		if rest >= n || rest >= -n%n {
			return a
		}
	}
}

// mostInThree bounds what three throws from: one in two words is then used up.
const mostInThree = 1 << 21

// three throws a number below n, one below n-1 and one below n-2, n being at
// least 3.
func (d dice) three(n uint64) (a, b, c uint64) {
	all := n * (n - 1) * (n - 2)
	for {
		var rest uint64
		a, rest = bits.Mul64(d.pcg.Uint64(), n)
		b, rest = bits.Mul64(rest, n-1)
		c, rest = bits.Mul64(rest, n-2)
		if rest >= all || rest >= -all%all {
			return a, b, c
		}
	}
}
