package stats

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
)

// Flips is the sign-flip permutation test of a mean difference.
type Flips struct {
	Mean     float64
	Cases    int
	Changed  int     // differences that are not zero; zeros say nothing
	P        float64 // two-sided
	Smallest float64 // the smallest p that so many changed cases can reach
	Draws    int     // 0: over all sign vectors
	Warnings []string
}

const (
	flipDraws = 20_000
	// flipWork bounds the sums visited by the exact test, a few tens of
	// milliseconds: 20 changed cases of any values, and some 900 at K = 5, where
	// sums coincide.
	flipWork = 1 << 22
)

// SignFlip tests whether the mean of per-case differences is 0: were it so, each
// difference could as well have had the other sign. The p is exact over all sign
// vectors as long as their distinct sums are few enough, and from 20,000 seeded
// draws, (1 + #)/(1 + B), beyond (spec/peers.md 4.2). It is nil without a
// difference, and with one outside [-2, 2].
func SignFlip(d []float64, seed uint64) *Flips {
	if len(d) == 0 || !differences(d) {
		return nil
	}
	f := Flips{Cases: len(d)}
	f.Mean, _ = meanVariance(d)
	var sizes []int64
	observed := int64(0)
	for _, v := range d {
		if t := ticks(v); t != 0 {
			observed += t
			sizes = append(sizes, max(t, -t))
		}
	}
	observed = max(observed, -observed)
	slices.Sort(sizes)
	f.Changed = len(sizes)
	if f.Changed == 0 {
		f.P, f.Smallest = 1, 1
		f.Warnings = append(f.Warnings, "no case changed")
		return &f
	}
	f.Smallest = pvalue(math.Ldexp(1, 1-f.Changed))
	p, ok := flipExact(sizes, observed, flipWork)
	if !ok {
		f.Draws = flipDraws
		p = flipDrawn(sizes, observed, seed)
		f.Smallest = math.Max(f.Smallest, 1/float64(flipDraws+1))
	}
	f.P = pvalue(p)
	if f.Smallest >= .05 {
		f.Warnings = append(f.Warnings, fmt.Sprintf("%d changed cases cannot reach p < .05, whatever their signs", f.Changed))
	}
	return &f
}

// flipExact walks the distinct sums of all sign vectors, case by case, each with
// its probability. Two sorted lists, one moved up and one moved down, merge into
// the next. It gives up when the sums become too many: n sizes have more than n.
func flipExact(sizes []int64, observed int64, most int) (float64, bool) {
	if len(sizes)*len(sizes) > most {
		return 0, false
	}
	same := slack(len(sizes))
	now, next := flipped{[]int64{0}, []float64{1}}, flipped{}
	work := 0
	for _, size := range sizes {
		if work += 2 * len(now.sums); work > most {
			return 0, false
		}
		next.flip(now, size, same)
		now, next = next, now
	}
	p := 0.0
	for i, s := range now.sums {
		if max(s, -s) >= observed-same {
			p += now.chances[i]
		}
	}
	return p, true
}

// flipped are sums, the smallest first, and their chances.
type flipped struct {
	sums    []int64
	chances []float64
}

// flip moves each sum up and down by size. Sums that are the same become one.
func (f *flipped) flip(from flipped, size, same int64) {
	f.sums, f.chances = f.sums[:0], f.chances[:0]
	up := 0
	for down, s := range from.sums {
		for from.sums[up]+size < s-size {
			f.add(from.sums[up]+size, from.chances[up]/2, same)
			up++
		}
		f.add(s-size, from.chances[down]/2, same)
	}
	for ; up < len(from.sums); up++ {
		f.add(from.sums[up]+size, from.chances[up]/2, same)
	}
}

func (f *flipped) add(sum int64, chance float64, same int64) {
	if last := len(f.sums) - 1; last >= 0 && sum-f.sums[last] <= same {
		f.chances[last] += chance
		return
	}
	f.sums, f.chances = append(f.sums, sum), append(f.chances, chance)
}

// flipDrawn draws sign vectors. Of equal differences only the number of plus signs
// matters: a binomial. Where few are equal they are added eight at a time, by a
// table of the sums that their signs can give.
func flipDrawn(sizes []int64, observed int64, seed uint64) float64 {
	sums := make([]int64, flipDraws)
	pcg := rand.NewPCG(seed, 0)
	var few []int64
	for from, to := 0, 0; from < len(sizes); from = to {
		for to = from; to < len(sizes) && sizes[to] == sizes[from]; {
			to++
		}
		if to-from < manyEqual {
			few = append(few, sizes[from:to]...)
			continue
		}
		coins := newCoins(to - from)
		for i := range sums {
			sums[i] += sizes[from] * int64(2*coins.heads(pcg)-(to-from))
		}
	}
	for eight := range slices.Chunk(few, 8) {
		flipEach(sums, eight, pcg)
	}
	reached := observed - slack(len(sizes))
	extreme := 0
	for _, sum := range sums {
		if max(sum, -sum) >= reached {
			extreme++
		}
	}
	return float64(1+extreme) / float64(1+flipDraws)
}

// manyEqual differences are added up by tables of eight in the time that their
// number of plus signs takes.
const manyEqual = 16
