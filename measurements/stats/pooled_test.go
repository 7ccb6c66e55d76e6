package stats

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/stat/distuv"
	"pgregory.net/rapid"
)

func TestTInterval(t *testing.T) {
	assert.Nil(t, TInterval(nil, level))
	assert.Nil(t, TInterval([]float64{.5}, level), "one value has no spread")
	assert.Nil(t, TInterval([]float64{.5, math.NaN()}, level))
	assert.Nil(t, TInterval([]float64{.5, .6}, 1))
	same := TInterval([]float64{.6 - .4, .2, 1 - .8}, level)
	assert.Zero(t, same.Width())
	assert.NotEmpty(t, same.Warnings)
	// Student's sleep data (1908), differences of the two drugs: 1.58, 0.70 to 2.46 at 95 %.
	sleep := TInterval([]float64{1.2, 2.4, 1.3, 1.3, 0, 1, 1.8, .8, 4.6, 1.4}, level)
	assert.InDelta(t, 1.58, sleep.Estimate, 1e-12)
	assert.InDelta(t, .7001, sleep.Lo, 1e-4)
	assert.InDelta(t, 2.4599, sleep.Hi, 1e-4)
}

func TestTIntervalShrinksWithN(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := fractions(t, rapid.IntRange(2, 20).Draw(t, "n"))
		a, b := TInterval(d, level), TInterval(append(append([]float64{}, d...), d...), level)
		if a.Lo > a.Estimate || a.Hi < a.Estimate || a.Width() > 1e-9 && b.Width() >= a.Width() {
			t.Fatalf("%+v, twice the data: %+v", a, b)
		}
	})
}

// Two families by hand: residuals -.2, 0, .2 and -.1, .1, 0, 0; variance
// .1/5 = .02 on 5 degrees of freedom.
func TestPooledTByHand(t *testing.T) {
	p := PooledT([]Family{
		{Name: "a", D: []float64{-.7, -.5, -.3}}, {Name: "b", D: []float64{0, .2, .1, .1}}, {Name: "one", D: []float64{-1}}, {Name: "none"},
	}, level)
	require.NotNil(t, p)
	assert.Equal(t, 5, p.Freedom)
	assert.InDelta(t, .02, p.Variance, 1e-12)
	a := p.Families[0]
	se := math.Sqrt(.02 / 3)
	assert.InDelta(t, -.5, a.Difference.Estimate, 1e-12)
	assert.InDelta(t, -.5-2.5705818*se, a.Difference.Lo, 1e-6, "t(.975, 5) = 2.5706")
	assert.InDelta(t, .00084, *a.P, 1e-5, "t = -6.124 on 5 degrees, one-sided")
	assert.Greater(t, *p.Families[1].P, .5, "a rise is no drop")
	one := p.Families[2]
	assert.Nil(t, one.P, "one case is shown, not tested")
	assert.InDelta(t, -1-2.5705818*math.Sqrt(.02), one.Difference.Lo, 1e-6, "its interval is that of the pooled spread")
	assert.Nil(t, p.Families[3].Difference)
}

func TestPooledTWithoutSpread(t *testing.T) {
	flat := PooledT([]Family{{Name: "a", D: []float64{-1, -1, -1}}, {Name: "b", D: []float64{.6 - .4, .2, .2}}}, level)
	assert.NotEmpty(t, flat.Warnings)
	assert.Nil(t, flat.Families[0].P, "without residual variance t is not a test")
	assert.NotEmpty(t, flat.Families[0].Difference.Warnings)
	single := PooledT([]Family{{Name: "a", D: []float64{-1}}, {Name: "b", D: []float64{1}}}, level)
	assert.Nil(t, single.Families[0].Difference)
	assert.NotEmpty(t, single.Warnings)
	assert.Nil(t, PooledT([]Family{{Name: "a", D: nil}}, level))
}

// One family alone is the ordinary one-sample t test.
func TestPooledTOfOneFamily(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := fractions(t, rapid.IntRange(3, 12).Draw(t, "n"))
		p, i := PooledT([]Family{{Name: "a", D: d}}, level), MeanT(d, level, -2, 2)
		if got := p.Families[0].Difference; math.Abs(got.Lo-i.Lo) > 1e-9 || math.Abs(got.Hi-i.Hi) > 1e-9 {
			t.Fatalf("%+v, want %+v", got, i)
		}
		if p.Families[0].P == nil {
			return
		}
		mean, variance := meanVariance(d)
		want := distuv.StudentsT{Mu: 0, Sigma: 1, Nu: float64(len(d) - 1)}.CDF(mean / math.Sqrt(variance/float64(len(d))))
		if math.Abs(*p.Families[0].P-want) > 1e-9 || *p.Families[0].P <= 0 {
			t.Fatalf("p %v, want %v", *p.Families[0].P, want)
		}
	})
}

func TestHolm(t *testing.T) {
	p := func(v float64) *float64 { return &v }
	// Holm 1979, the textbook example: .01, .04, .03, .005 at m = 4.
	got := Holm([]*float64{p(.01), p(.04), nil, p(.03), p(.005), p(math.NaN())})
	for i, want := range []*float64{p(.03), p(.06), nil, p(.06), p(.02), nil} {
		if want == nil {
			assert.Nil(t, got[i])
			continue
		}
		assert.InDelta(t, *want, *got[i], 1e-12)
	}
	assert.Empty(t, Holm(nil))
	rapid.Check(t, func(t *rapid.T) {
		raw := rapid.SliceOfN(rapid.Float64Range(0, 1), 1, 20).Draw(t, "ps")
		var ps []*float64
		for _, v := range raw {
			ps = append(ps, &v)
		}
		adjusted := Holm(ps)
		for i := range ps {
			if *adjusted[i] < raw[i] || *adjusted[i] > math.Max(math.SmallestNonzeroFloat64, math.Min(1, float64(len(raw))*raw[i])) {
				t.Fatalf("%v to %v: outside [p, m p]", raw[i], *adjusted[i])
			}
			for j := range ps {
				if raw[i] < raw[j] && *adjusted[i] > *adjusted[j] {
					t.Fatal("the order changes")
				}
			}
		}
	})
}

func TestMcNemar(t *testing.T) {
	assert.Nil(t, McNemar(0, 0))
	assert.InDelta(t, 20.0/512, *McNemar(8, 1), 1e-12, "2 (C(9,0) + C(9,1)) / 2^9")
	assert.Equal(t, *McNemar(1, 8), *McNemar(8, 1))
	for _, n := range []int{1500, 400_000} {
		assert.Positive(t, *McNemar(n, 0), "a p of 0 does not exist")
	}
	assert.InDelta(t, 1, *McNemar(50_000, 50_000), 1e-9)
}

func TestLeaveWorstOut(t *testing.T) {
	one := LeaveWorstOut([]float64{0, -1, 0})
	assert.Equal(t, LeaveOneOut{Mean: -1.0 / 3, Rest: 0, Worst: 1}, *one)
	assert.False(t, one.Drops(.10), "one case makes the drop")
	assert.True(t, LeaveWorstOut([]float64{.5 - .6, .2 - .3, .8 - .9}).Drops(.10), "exactly the margin, however it rounds")
	assert.False(t, LeaveWorstOut([]float64{-.1, -.1, -.099}).Drops(.10))
	assert.Nil(t, LeaveWorstOut([]float64{-1}))
	rapid.Check(t, func(t *rapid.T) {
		l := LeaveWorstOut(fractions(t, rapid.IntRange(2, 9).Draw(t, "n")))
		if l.Rest < l.Mean-1e-12 {
			t.Fatalf("%+v: without its worst case a mean cannot be worse", l)
		}
	})
}

func TestFailsNeedsAll(t *testing.T) {
	low, high := .001, .2
	drop := []float64{-.6, -.4, -.8}
	r := ByFamily()
	assert.True(t, r.Fails(drop, &low, &low))
	for i, fails := range []bool{
		r.Fails(drop, &high, &low), r.Fails(drop, &low, &high), r.Fails(drop, nil, &low), r.Fails(drop, &low, nil),
		r.Fails(drop[:2], &low, &low), r.Fails([]float64{-1, 0, 0}, &low, &low), r.Fails(nil, &low, &low),
	} {
		assert.False(t, fails, fmt.Sprint(i))
	}
}
