package stats

import (
	"math"
	"math/rand/v2"
	"slices"
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

// exceed counts for each family the deals whose largest statistic, over the families
// tested, reaches its own.
func (d *deal) exceed(draws int, pcg *rand.PCG) []int {
	margin := float64(slack(len(d.places)))
	reached := make([]float64, len(d.sizes))
	for f, sum := range d.observed {
		reached[f] = (float64(sum) - margin) / d.roots[f]
	}
	counts := make([]int, len(d.sizes))
	sums := make([]int64, len(d.sizes))
	next := d.dealer(pcg)
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

// dealer returns what makes the sums of one deal: case by case, or, where many
// cases share few values, by how many of each value a family gets. The latter
// costs about as much a value and family as the former 10 cases.
func (d *deal) dealer(pcg *rand.PCG) func([]int64) {
	slices.Sort(d.changed)
	var levels []int64
	var cases []int
	for _, v := range d.changed {
		if n := len(levels); n == 0 || levels[n-1] != v {
			levels, cases = append(levels, v), append(cases, 0)
		}
		cases[len(cases)-1]++
	}
	if len(d.changed) > 10*len(levels)*len(d.sizes) {
		urn := newUrn(len(d.places), pcg)
		left := make([]int, len(levels))
		return func(sums []int64) {
			copy(left, cases)
			d.byLevel(sums, levels, left, urn)
		}
	}
	dice := dice{pcg: pcg}
	return func(sums []int64) { d.byCase(sums, &dice) }
}

// byCase lets each changed case take one of the places still free.
func (d *deal) byCase(sums []int64, dice *dice) {
	clear(sums)
	places := d.places
	for i, drop := range d.changed {
		j := i + int(dice.below(uint32(len(places)-i)))
		place := places[j]
		places[j] = places[i]
		places[i] = place
		sums[place] += drop
	}
}

// byLevel lets each family draw its cases from those left, level by level:
// hypergeometric numbers. The last takes what remains.
func (d *deal) byLevel(sums, levels []int64, left []int, urn *urn) {
	clear(sums)
	free := len(d.places)
	last := len(d.sizes) - 1
	for f, size := range d.sizes[:last] {
		pool, wanted := free, size
		for l, value := range levels {
			x := urn.draw(pool, left[l], wanted)
			pool -= left[l]
			left[l] -= x
			wanted -= x
			sums[f] += int64(x) * value
		}
		free -= size
	}
	for l, value := range levels {
		sums[last] += int64(left[l]) * value
	}
}

// dice throws numbers below a bound, two a word, by Lemire's multiplication with
// rejection (arXiv 1805.10941).
type dice struct {
	pcg  *rand.PCG
	word uint64
	half bool
}

func (d *dice) next() uint32 {
	if d.half {
		d.half = false
		return uint32(d.word >> 32)
	}
	d.word, d.half = d.pcg.Uint64(), true
	return uint32(d.word)
}

func (d *dice) below(n uint32) uint32 {
	product := uint64(d.next()) * uint64(n)
	if low := uint32(product); low < n {
		for reject := -n % n; low < reject; low = uint32(product) {
			product = uint64(d.next()) * uint64(n)
		}
	}
	return uint32(product >> 32)
}
