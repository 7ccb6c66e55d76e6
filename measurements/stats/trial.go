package stats

import (
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
)

// trials of a rule make its power known to one in fifty.
const trials = 400

// trial is one comparison that a forecast came to: its cases, with both halves.
type trial struct {
	strata []Stratum
	d      []float64
	src    rand.PCG

	order     []int // of the pool's cases
	sum, next []float64
	known     map[Stratum][]float64 // hypergeometric chances, by the total in OldCorrect
}

// draw fills a trial with n cases that lost answers. The same number of a trial has
// the same cases and throws, whatever was lost: a larger loss then loses more.
func (t *trial) draw(f *Forecast, number, n int, l loss) {
	t.src.Seed(forecastSeed, uint64(number)+100)
	t.strata, t.d = t.strata[:0], t.d[:0]
	if len(t.order) != f.distinct {
		t.order = make([]int, f.distinct)
	}
	for i := range t.order {
		t.order[i] = i
	}
	for i := range n {
		at := i % f.distinct
		other := at + int(t.src.Uint64()%uint64(f.distinct-at))
		t.order[at], t.order[other] = t.order[other], t.order[at]
		o := &f.pool[t.order[at]*f.replicas+int(t.src.Uint64()%uint64(f.replicas))]
		d := 0.0
		for side := range sidesOfCase {
			u := uniform(&t.src)
			if side >= o.sides {
				continue
			}
			s := o.stratum[side]
			s.NewRuns = f.runs
			s.NewCorrect = binomialAt(u, o.after(l, side), f.runs)
			d += float64(s.NewCorrect)/float64(s.NewRuns) - float64(s.OldCorrect)/float64(s.OldRuns)
			t.strata = append(t.strata, s)
		}
		t.d = append(t.d, d)
	}
}

// exactly is the p of the exact test for a drop. The few runs of a trial are added up
// as they are; they are far from where a tail loses its digits.
func (t *trial) exactly() float64 {
	if t.known == nil {
		t.known = map[Stratum][]float64{}
	}
	t.sum = append(t.sum[:0], 1)
	above := 0
	for _, s := range t.strata {
		above += s.NewCorrect - s.least()
		key := Stratum{OldRuns: s.OldRuns, NewRuns: s.NewRuns, OldCorrect: s.OldCorrect + s.NewCorrect}
		chances, ok := t.known[key]
		if !ok {
			chances = s.hypergeometric()
			t.known[key] = chances
		}
		if len(chances) == 1 {
			continue
		}
		t.next = append(t.next[:0], make([]float64, len(t.sum)+len(chances)-1)...)
		for i, p := range t.sum {
			for j, q := range chances {
				t.next[i+j] += p * q
			}
		}
		t.sum, t.next = t.next, t.sum
	}
	p := 0.0
	for _, chance := range t.sum[:above+1] {
		p += chance
	}
	return p
}

// share of the trials in which something holds.
func share(holds func(t *trial, number int) bool) float64 {
	workers := min(parts, runtime.GOMAXPROCS(0))
	counts := make([]int, workers)
	var all sync.WaitGroup
	for w := range workers {
		all.Go(func() {
			t := trial{}
			for number := w; number < trials; number += workers {
				if holds(&t, number) {
					counts[w]++
				}
			}
		})
	}
	all.Wait()
	sum := 0
	for _, n := range counts {
		sum += n
	}
	return float64(sum) / trials
}

// allowance is the power that is asked for beyond a rule's own: how cases differ is
// told from the few at hand, and a drop named too small is worse than one named too
// large.
const allowance = .03

// smallestDrop is where a power that grows with the drop reaches what is asked and the
// allowance; nil where not even the deepest drop does.
func smallestDrop(deepest, power float64, at func(drop float64) float64) *float64 {
	power += allowance
	if at(deepest) < power {
		return nil
	}
	lo, hi := 0.0, deepest
	for hi-lo > precision {
		if mid := (lo + hi) / 2; at(mid) >= power {
			hi = mid
		} else {
			lo = mid
		}
	}
	return &hi
}

// precision of a detectable drop, as fine as it is printed.
const precision = 4e-3

// significant asks the sign-flip test, exactly where it is close.
func significant(d []float64, alpha, quantile float64) bool {
	sum, squares, fourths := 0.0, 0.0, 0.0
	var sizes []int64
	observed := int64(0)
	for _, v := range d {
		if t := ticks(v); t != 0 {
			observed += t
			sizes = append(sizes, max(t, -t))
			sum += v
			squares += v * v
			fourths += v * v * v * v
		}
	}
	if len(sizes) == 0 || math.Ldexp(1, 1-len(sizes)) >= alpha {
		return false
	}
	z := math.Abs(sum) / math.Sqrt(squares)
	if len(sizes) > 12 && math.Abs(z-quantile) > .5 {
		return z > quantile
	}
	slices.Sort(sizes)
	p, ok := flipExact(sizes, max(observed, -observed), trialWork)
	if ok {
		return p < alpha
	}
	// The fourth cumulant of signs (Edgeworth): sums of few have thinner tails.
	bend := 2 * fourths / (squares * squares) / 24 * (z*z*z - 3*z)
	return 2*(normalTail(z)-bend*normalDensity(z)) < alpha
}

// trialWork bounds the sums of one exact test among hundreds.
const trialWork = 1 << 13
