package compare

import (
	"fmt"
	"math"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/youden-bench/youden/corpus"
	"github.com/youden-bench/youden/measurements"
)

// world is what pairs of captures are drawn from: the settings of
// spec/statistics.md. The chance of a right answer is beta distributed over
// cases, apart for each side.
type world struct {
	sizes           []int // cases of each family
	oldK, newK      int
	recall, silence float64 // of OLD
	icc             float64 // of runs within cases

	correlation float64   // between the difficulties of a pair's two sides
	apart       []float64 // how far families lie apart, on the logit, in turn
	churn       float64   // every case moves by N(0, churn^2) on the logit, their mean does not
	split       bool      // each side of a case churns by itself
	drop        float64   // by which J falls, all chances by the same logit
	lost        float64   // by which the recall of the first family falls, all its chances by the same logit
}

// usual is the setting that the tables have where they name no other: 14
// families of 3 cases, K 5, recall .8, silence .9, ICC .33.
func usual() world {
	return world{sizes: evenly(14, 3), oldK: 5, newK: 5, recall: .8, silence: .9, icc: .33}
}

// evenly gives so many families the same number of cases.
func evenly(families, cases int) []int {
	sizes := make([]int, families)
	for f := range sizes {
		sizes[f] = cases
	}
	return sizes
}

// ninety are 90 cases in 14 families: 6 of 7 and 8 of 6.
func ninety() []int {
	sizes := evenly(14, 6)
	for f := range 6 {
		sizes[f] = 7
	}
	return sizes
}

func (w world) cases() (n int) {
	for _, size := range w.sizes {
		n += size
	}
	return n
}

// steps is how many equally likely chances stand for a beta distribution. The
// truth of a world is then a plain mean over them.
const steps = 1000

// chances are those of one side: what a case draws from in OLD.
type chances []float64

var quantiles sync.Map // of [2]float64{mean, icc}; a beta quantile takes microseconds

// beta lists the chances of a mean and an intraclass correlation rho: alpha +
// beta = 1/rho - 1.
func beta(mean, rho float64) chances {
	key := [2]float64{mean, rho}
	if known, ok := quantiles.Load(key); ok {
		return known.(chances)
	}
	scale := 1/rho - 1
	d := distuv.Beta{Alpha: mean * scale, Beta: (1 - mean) * scale}
	c := make(chances, steps)
	for i := range c {
		c[i] = d.Quantile((float64(i) + .5) / steps)
	}
	quantiles.Store(key, c)
	return c
}

// moved shifts a chance on the logit.
func moved(p, by float64) float64 { return 1 - 1/(1+p/(1-p)*math.Exp(by)) }

func (c chances) moved(by float64) chances {
	out := make(chances, len(c))
	for i, p := range c {
		out[i] = moved(p, by)
	}
	return out
}

func (c chances) mean() float64 { return stat.Mean(c, nil) }

// churned is the mean once all chances have moved by N(by, churn^2).
func (c chances) churned(by, churn float64) float64 {
	if churn == 0 {
		return c.moved(by).mean()
	}
	const nodes = 25
	sum := 0.0
	for i := range nodes {
		z := distuv.UnitNormal.Quantile((float64(i) + .5) / nodes)
		sum += c.moved(by + churn*z).mean()
	}
	return sum / nodes
}

// nothingLeft of a side is as much as a shift on the logit can leave.
const nothingLeft = 1e-3

// solve finds where a falling function of [-40, 40] is 0.
func solve(f func(float64) float64) float64 {
	lo, hi := -40.0, 40.0
	for range 50 {
		if mid := (lo + hi) / 2; f(mid) > 0 {
			lo = mid
		} else {
			hi = mid
		}
	}
	return (lo + hi) / 2
}

// sides of a case, as the generator counts them.
const (
	vulnerable = iota
	fixed
)

// source draws from a world. It is read only.
type source struct {
	world
	ids  [][]string   // of the cases of each family
	old  [][2]chances // of each family
	j    []float64    // the true J of each family in OLD
	move [2]float64   // what centers the churn of a side, and makes the drop
	fall [2]float64   // what makes the first family lose recall, and then silence
}

func (w world) source() source {
	s := source{world: w}
	base := [2]chances{beta(w.recall, w.icc), beta(w.silence, w.icc)}
	shifted := map[float64][2]chances{}
	for f := range w.sizes {
		by := 0.0
		if len(w.apart) > 0 {
			by = w.apart[f%len(w.apart)]
		}
		if _, ok := shifted[by]; !ok {
			shifted[by] = [2]chances{base[vulnerable].moved(by), base[fixed].moved(by)}
		}
		s.ids = append(s.ids, nil)
		for i := range w.sizes[f] {
			s.ids[f] = append(s.ids[f], fmt.Sprintf("%02d/%03d", f, i))
		}
		s.old = append(s.old, shifted[by])
		s.j = append(s.j, shifted[by][vulnerable].mean()+shifted[by][fixed].mean()-1)
	}
	if w.churn > 0 {
		for side, c := range base {
			s.move[side] = solve(func(by float64) float64 { return c.mean() - c.churned(by, w.churn) })
		}
	}
	if w.drop > 0 {
		// The further down, the larger the fall.
		by := solve(func(by float64) float64 {
			fall := -w.drop
			for side, c := range base {
				fall += c.mean() - c.churned(s.move[side]+by, w.churn)
			}
			return fall
		})
		s.move[vulnerable] += by
		s.move[fixed] += by
	}
	if w.lost > 0 {
		lost := w.lost
		for side, c := range base {
			from := c.churned(s.move[side], w.churn)
			s.fall[side] = solve(func(by float64) float64 {
				return from - c.churned(s.move[side]+by, w.churn) - min(lost, from-nothingLeft)
			})
			if lost = lost - (from - nothingLeft); lost <= 0 {
				break
			}
		}
	}
	return s
}

// truth is the true J of OLD over all cases.
func (s source) truth() float64 {
	sum := 0.0
	for f, size := range s.sizes {
		sum += float64(size) * s.j[f]
	}
	return sum / float64(s.cases())
}

// draw returns the cases of both captures, families in order.
func (s source) draw(rng *rand.Rand) (before, after []measurements.CaseScore) {
	for f, ids := range s.ids {
		for _, id := range ids {
			o := measurements.CaseScore{ID: id, Hash: id, Slice: "simulated", Family: id[:2], IsPair: true}
			n := o
			old := s.difficulty(rng, f)
			updated := s.updated(rng, f, old)
			o.Vulnerable, o.Fixed = tally(rng, old, s.oldK)
			n.Vulnerable, n.Fixed = tally(rng, updated, s.newK)
			before, after = append(before, o), append(after, n)
		}
	}
	return before, after
}

// difficulty draws the chances of a right answer on both sides of a case.
func (s source) difficulty(rng *rand.Rand, family int) [2]float64 {
	a, b := rng.NormFloat64(), rng.NormFloat64()
	b = s.correlation*a + math.Sqrt(1-s.correlation*s.correlation)*b
	var out [2]float64
	for side, z := range []float64{a, b} {
		at := min(steps-1, int(distuv.UnitNormal.CDF(z)*steps))
		out[side] = s.old[family][side][at]
	}
	return out
}

// updated is what the chances of a case become in NEW.
func (s source) updated(rng *rand.Rand, family int, old [2]float64) [2]float64 {
	out := old
	if s.churn > 0 || s.drop > 0 {
		z := rng.NormFloat64()
		for side, p := range old {
			if s.split {
				z = rng.NormFloat64()
			}
			out[side] = moved(p, s.move[side]+s.churn*z)
		}
	}
	if family == 0 && s.lost > 0 {
		for side, p := range out {
			out[side] = moved(p, s.fall[side])
		}
	}
	return out
}

func tally(rng *rand.Rand, chance [2]float64, k int) (v, f *measurements.Tally) {
	var right [2]int
	for side, p := range chance {
		for range k {
			if rng.Float64() < p {
				right[side]++
			}
		}
	}
	v = &measurements.Tally{Side: corpus.Vulnerable, K: k, OK: k, Counted: k, Positive: right[vulnerable]}
	f = &measurements.Tally{Side: corpus.Fixed, K: k, OK: k, Counted: k, Positive: k - right[fixed]}
	return v, f
}

// subject wraps cases as what Compare takes.
func subject(cases []measurements.CaseScore, k int) *Subject {
	s := &Subject{Name: "simulated", Kind: FromCapture, Identity: Identity{K: k, Simulated: true}}
	s.Cases = cases
	return s
}

func TestWorldIsWhatItSays(t *testing.T) {
	for _, mean := range []float64{.5, .75, .8, .9, .95, .98} {
		for _, rho := range []float64{.33, .67} {
			c := beta(mean, rho)
			assert.InDelta(t, mean, c.mean(), .002, "mean")
			variance := stat.PopVariance(c, nil)
			assert.InDelta(t, rho, variance/(mean*(1-mean)), .01, "intraclass correlation of mean %v", mean)
		}
	}
}

func TestWorldMovesAsItSays(t *testing.T) {
	means := func(w world) (recall, silence, change float64) {
		w.sizes, w.oldK, w.newK = evenly(14, 500), 20, 20
		before, after := w.source().draw(rand.New(rand.NewPCG(20261130, 99)))
		require.Equal(t, w.cases(), len(before))
		n := float64(len(before))
		for i := range before {
			p := Pair{&before[i], &after[i]}
			recall += *p.recall() / n
			silence += *p.silence() / n
			change += math.Abs(p.d()) / n
		}
		return recall, silence, change
	}
	w := usual()
	recall, silence, still := means(w)
	assert.InDelta(t, 0, recall, .01)
	assert.InDelta(t, 0, silence, .01)

	w.churn = 1
	recall, silence, moving := means(w)
	assert.InDelta(t, 0, recall, .01, "churn moves cases and not their mean")
	assert.InDelta(t, 0, silence, .01)
	assert.Greater(t, moving, still+.05)

	w.drop = .2
	recall, silence, _ = means(w)
	assert.InDelta(t, -.2, recall+silence, .015)

	w = usual()
	w.lost = .77
	recall, _, _ = means(w)
	assert.InDelta(t, -.77/14, recall, .01, "one family of 14")
}

func TestWorldCorrelatesSides(t *testing.T) {
	for _, want := range []float64{-.9, 0, .9} {
		w := usual()
		w.sizes, w.correlation, w.oldK = evenly(14, 300), want, 20
		before, _ := w.source().draw(rand.New(rand.NewPCG(20261130, 98)))
		var hits, silent []float64
		for _, c := range before {
			hits = append(hits, *c.Vulnerable.Rate())
			silent = append(silent, 1-*c.Fixed.Rate())
		}
		// Skewed chances cannot be as correlated as the normals that they come from.
		got := stat.Correlation(hits, silent, nil)
		if want == 0 {
			assert.InDelta(t, 0, got, .06)
			continue
		}
		assert.Greater(t, got*want/math.Abs(want), .35)
	}
}

func TestWorldIsReproducible(t *testing.T) {
	w := usual()
	w.churn = 1
	s := w.source()
	a, b := s.draw(rand.New(rand.NewPCG(1, 2)))
	c, d := s.draw(rand.New(rand.NewPCG(1, 2)))
	assert.Equal(t, a, c)
	assert.Equal(t, b, d)
}
