package stats

import (
	"fmt"
	"math"
	"math/bits"
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
	p, ok := flipExact(sizes, observed)
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
// the next. It gives up when the sums become too many.
func flipExact(sizes []int64, observed int64) (float64, bool) {
	same := slack(len(sizes))
	sums, chances := []int64{0}, []float64{1}
	work := 0
	for _, size := range sizes {
		if work += 2 * len(sums); work > flipWork {
			return 0, false
		}
		sums, chances = flipOne(sums, chances, size, same)
	}
	p := 0.0
	for i, s := range sums {
		if max(s, -s) >= observed-same {
			p += chances[i]
		}
	}
	return p, true
}

func flipOne(sums []int64, chances []float64, size, same int64) ([]int64, []float64) {
	nextSums := make([]int64, 0, 2*len(sums))
	nextChances := make([]float64, 0, 2*len(sums))
	add := func(s int64, chance float64) {
		if last := len(nextSums) - 1; last >= 0 && s-nextSums[last] <= same {
			nextChances[last] += chance
			return
		}
		nextSums = append(nextSums, s)
		nextChances = append(nextChances, chance)
	}
	up := 0
	for down := 0; down < len(sums); down++ {
		for up < len(sums) && sums[up]+size < sums[down]-size {
			add(sums[up]+size, chances[up]/2)
			up++
		}
		add(sums[down]-size, chances[down]/2)
	}
	for ; up < len(sums); up++ {
		add(sums[up]+size, chances[up]/2)
	}
	return nextSums, nextChances
}

// flipDrawn draws sign vectors. Of m equal differences only the number of plus
// signs matters: a binomial, the set bits among m random ones.
func flipDrawn(sizes []int64, observed int64, seed uint64) float64 {
	type level struct {
		size  int64
		cases int
	}
	var levels []level
	for _, s := range sizes {
		if n := len(levels); n > 0 && levels[n-1].size == s {
			levels[n-1].cases++
			continue
		}
		levels = append(levels, level{s, 1})
	}
	coins := coinBox{pcg: rand.NewPCG(seed, 0)}
	reached := observed - slack(len(sizes))
	extreme := 0
	for range flipDraws {
		sum := int64(0)
		for _, l := range levels {
			sum += l.size * int64(2*coins.heads(l.cases)-l.cases)
		}
		if max(sum, -sum) >= reached {
			extreme++
		}
	}
	return float64(1+extreme) / float64(1+flipDraws)
}

// coinBox throws fair coins, 64 a word.
type coinBox struct {
	pcg  *rand.PCG
	word uint64
	left int
}

func (c *coinBox) heads(coins int) int {
	heads := 0
	for ; coins >= 64; coins -= 64 {
		heads += bits.OnesCount64(c.pcg.Uint64())
	}
	if coins > c.left {
		c.word, c.left = c.pcg.Uint64(), 64
	}
	heads += bits.OnesCount64(c.word & (1<<coins - 1))
	c.word >>= coins
	c.left -= coins
	return heads
}
