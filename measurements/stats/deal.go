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

// parts of the deals are made at the same time. Each has a generator of its own, so
// that the counts do not depend on how many run at once.
const parts = 4

// exceed counts for each family the deals whose largest statistic, over the families
// tested, reaches its own.
func (d *deal) exceed(draws int, seed uint64) []int {
	margin := float64(slack(len(d.places)))
	reached := make([]float64, len(d.sizes))
	for f, sum := range d.observed {
		reached[f] = (float64(sum) - margin) / d.roots[f]
	}
	next := d.dealers(casesPerDraw * len(d.sizes))
	var counts [parts][]int
	var all sync.WaitGroup
	for part := range parts {
		all.Go(func() {
			share := draws*(part+1)/parts - draws*part/parts
			counts[part] = d.count(share, reached, next(rand.NewPCG(seed, uint64(part))))
		})
	}
	all.Wait()
	for _, more := range counts[1:] {
		for f, n := range more {
			counts[0][f] += n
		}
	}
	return counts[0]
}

func (d *deal) count(draws int, reached []float64, next func([]int64)) []int {
	counts := make([]int, len(d.sizes))
	sums := make([]int64, len(d.sizes))
	for range draws {
		next(sums)
		largest := math.Inf(-1)
		for f, sum := range sums {
			if d.silent[f] {
				continue
			}
			largest = math.Max(largest, float64(sum)/d.roots[f])
		}
		for f := range counts {
			if largest >= reached[f] {
				counts[f]++
			}
		}
	}
	return counts
}

// dealers returns what makes a dealer of a generator; a dealer makes the sums of one
// deal. Values that many cases share, fewest and more, are dealt by how many of them
// a family gets, all others case by case.
func (d *deal) dealers(fewest int) func(*rand.PCG) func([]int64) {
	levels, few := d.levels(fewest)
	var known []scaled
	if len(levels) > 0 {
		known = factorials(len(d.places))
	}
	return func(pcg *rand.PCG) func([]int64) {
		places := slices.Clone(d.places)
		left, free := make([]int, len(levels)), make([]int, len(d.sizes))
		dice, urn := dice{pcg}, urn{pcg, known}
		return func(sums []int64) {
			clear(sums)
			byCase(sums, places, few, dice)
			if len(levels) == 0 {
				return
			}
			copy(free, d.sizes)
			for _, place := range places[:len(few)] {
				free[place]--
			}
			for l := range levels {
				left[l] = levels[l].cases
			}
			byLevel(sums, levels, left, free, urn)
		}
	}
}

// casesPerDraw is how many cases are dealt one by one in the time that an urn takes
// to say how many of a level a family gets.
const casesPerDraw = 8

// shared is a drop and the cases that share it.
type shared struct {
	drop  int64
	cases int
}

// levels splits the changed cases into levels of so many cases at the least, and
// the drops of the others.
func (d *deal) levels(fewest int) (levels []shared, few []int64) {
	slices.Sort(d.changed)
	for i := 0; i < len(d.changed); {
		n := 1
		for i+n < len(d.changed) && d.changed[i+n] == d.changed[i] {
			n++
		}
		if n >= fewest {
			levels = append(levels, shared{d.changed[i], n})
		} else {
			few = append(few, d.changed[i:i+n]...)
		}
		i += n
	}
	return levels, few
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

// byLevel lets each family draw its cases from those left, level by level:
// hypergeometric numbers. Free are the places of each family that are not taken;
// the last family takes what remains.
func byLevel(sums []int64, levels []shared, left, free []int, urn urn) {
	all := 0
	for _, n := range free {
		all += n
	}
	last := len(free) - 1
	for f, size := range free[:last] {
		pool, wanted := all, size
		for l := range levels {
			x := urn.draw(pool, left[l], wanted)
			pool -= left[l]
			left[l] -= x
			wanted -= x
			sums[f] += int64(x) * levels[l].drop
		}
		all -= size
	}
	for l, n := range left {
		sums[last] += int64(n) * levels[l].drop
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
