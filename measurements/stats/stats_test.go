package stats

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/stat/distuv"
	"pgregory.net/rapid"
)

const level = .95

func TestKnownIntervals(t *testing.T) {
	tests := []struct {
		name   string
		got    *Interval
		lo, hi float64
	}{
		// scoring-corpora.md 4.4
		{"wilson 15/20", Wilson(15, 20, level), .5313, .8881},
		{"wilson 18/20", Wilson(18, 20, level), .6990, .9721},
		{"wilson 3/3", Wilson(3, 3, level), .4385, 1},
		{"wilson 1/1", Wilson(1, 1, level), .2065, 1},
		{"wilson 0/5", Wilson(0, 5, level), 0, .4345},
		// scipy.stats.beta.ppf
		{"clopper-pearson 0/10", ClopperPearson(0, 10, level), 0, .3085},
		{"clopper-pearson 7/10", ClopperPearson(7, 10, level), .3475, .9333},
		{"clopper-pearson 10/10", ClopperPearson(10, 10, level), .6915, 1},
		{"jeffreys 0/10", Jeffreys(0, 10, level), 0, .2172},
		{"jeffreys 7/10", Jeffreys(7, 10, level), .3942, .9073},
		{"jeffreys 10/10", Jeffreys(10, 10, level), .7828, 1},
		{"t of 1, 2, 3, 4", MeanT([]float64{1, 2, 3, 4}, level, -10, 10), .4457, 4.5543},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			require.NotNil(t, tt.got)
			assert.InDelta(t, tt.lo, tt.got.Lo, 1e-4)
			assert.InDelta(t, tt.hi, tt.got.Hi, 1e-4)
		})
	}
}

func TestNothingMeasuredIsNil(t *testing.T) {
	for name, got := range map[string]any{
		"wilson": Wilson(0, 0, level), "jeffreys": Jeffreys(0, 0, level), "clopper-pearson": ClopperPearson(0, 0, level),
		"negative": Wilson(-1, 5, level), "nan": Jeffreys(math.NaN(), 5, level), "level": Wilson(1, 2, 1),
		"mover": MOVER(nil, Wilson(1, 2, level)), "mean": MeanT(nil, level, -1, 1), "wider": Wider(nil, nil),
		"rate": PooledICC(nil).Rate(nil, level), "sign": SignTest(0, 0), "disagreement": Disagreement(0, 1),
		"vote": VotePower(.5, 0), "vote nan": VotePower(math.NaN(), 5), "mcc": Confusion{FN: 3, TN: 4}.MCC(),
		"recall": Confusion{FP: 1}.Recall(), "silence": Confusion{TP: 1}.Silence(), "precision": Confusion{FN: 1}.Precision(),
		"youden": Confusion{TP: 1}.Youden(),
	} {
		assert.Nil(t, got, name)
	}
}

func TestOneValueHasNoSpread(t *testing.T) {
	i := MeanT([]float64{.5}, level, -1, 1)
	assert.Equal(t, []float64{-1, 1}, []float64{i.Lo, i.Hi})
	assert.NotEmpty(t, i.Warnings)
	assert.NotEmpty(t, MeanT([]float64{1, 1, 1}, level, -1, 1).Warnings, "agreeing values have no width, and that is said")
}

func drawRate(t *rapid.T) (x, n int) {
	n = rapid.IntRange(1, 500).Draw(t, "n")
	return rapid.IntRange(0, n).Draw(t, "x"), n
}

var methods = map[string]func(x, n, level float64) *Interval{
	"wilson": Wilson, "jeffreys": Jeffreys, "clopper-pearson": ClopperPearson,
}

func TestIntervalsHoldTheirEstimate(t *testing.T) {
	for name, method := range methods {
		t.Run(name, rapid.MakeCheck(func(t *rapid.T) {
			n := rapid.Float64Range(.5, 500).Draw(t, "n")
			x := rapid.Float64Range(0, n).Draw(t, "x")
			i := method(x, n, level)
			if i == nil || !(0 <= i.Lo && i.Lo <= i.Estimate && i.Estimate <= i.Hi && i.Hi <= 1) {
				t.Fatalf("%v of %v: %+v", x, n, i)
			}
			if math.Abs(i.Estimate-x/n) > 1e-12 {
				t.Fatalf("estimate %v of %v/%v", i.Estimate, x, n)
			}
		}))
	}
}

// The clamp of within must not be what makes an interval hold its estimate: at
// whole counts the raw bounds of the three methods do so on their own.
func TestIntervalsAreOpenAroundTheirEstimate(t *testing.T) {
	for name, method := range methods {
		t.Run(name, rapid.MakeCheck(func(t *rapid.T) {
			x, n := drawRate(t)
			i := method(float64(x), float64(n), level)
			if (x > 0 && i.Lo >= i.Estimate) || (x < n && i.Hi <= i.Estimate) {
				t.Fatalf("%d of %d: %+v", x, n, i)
			}
		}))
	}
}

func TestIntervalsShrinkWithN(t *testing.T) {
	for name, method := range methods {
		t.Run(name, rapid.MakeCheck(func(t *rapid.T) {
			x, n := drawRate(t)
			m := float64(rapid.IntRange(2, 20).Draw(t, "m"))
			small, large := method(float64(x), float64(n), level), method(m*float64(x), m*float64(n), level)
			if large.Width() >= small.Width() {
				t.Fatalf("%d of %d: %v wide, %v times as many: %v", x, n, small.Width(), m, large.Width())
			}
		}))
	}
}

func TestIntervalsMirror(t *testing.T) {
	for name, method := range methods {
		t.Run(name, rapid.MakeCheck(func(t *rapid.T) {
			x, n := drawRate(t)
			a, b := method(float64(x), float64(n), level), method(float64(n-x), float64(n), level)
			if math.Abs(a.Lo-(1-b.Hi)) > 1e-9 || math.Abs(a.Hi-(1-b.Lo)) > 1e-9 {
				t.Fatalf("%+v and %+v", a, b)
			}
		}))
	}
}

// Clopper-Pearson is defined by its tails: checked by the binomial distribution
// that it was not computed with.
func TestClopperPearsonTails(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 60).Draw(t, "n")
		x := rapid.IntRange(0, n).Draw(t, "x")
		i := ClopperPearson(float64(x), float64(n), level)
		tail := func(p float64, from, to int) float64 {
			s := 0.0
			for k := from; k <= to; k++ {
				s += binomial(n, k, p)
			}
			return s
		}
		if x > 0 && math.Abs(tail(i.Lo, x, n)-.025) > 1e-9 {
			t.Fatalf("lower tail of %d/%d at %v is %v", x, n, i.Lo, tail(i.Lo, x, n))
		}
		if x < n && math.Abs(tail(i.Hi, 0, x)-.025) > 1e-9 {
			t.Fatalf("upper tail of %d/%d at %v is %v", x, n, i.Hi, tail(i.Hi, 0, x))
		}
	})
}

func TestMOVER(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, n := drawRate(t)
		b, m := drawRate(t)
		r, s := Jeffreys(float64(a), float64(n), level), Jeffreys(float64(b), float64(m), level)
		j := MOVER(r, s)
		if math.Abs(j.Estimate-(r.Estimate+s.Estimate-1)) > 1e-12 || j.Lo > j.Estimate || j.Hi < j.Estimate || j.Lo < -1 || j.Hi > 1 {
			t.Fatalf("%+v of %+v and %+v", j, r, s)
		}
		// Never wider than adding the bounds, never narrower than either rate.
		if j.Lo < r.Lo+s.Lo-1-1e-12 || j.Hi > r.Hi+s.Hi-1+1e-12 {
			t.Fatalf("%+v is wider than the sum of %+v and %+v", j, r, s)
		}
		if j.Hi < 1 && j.Lo > -1 && j.Width() < math.Max(r.Width(), s.Width())-1e-12 {
			t.Fatalf("%+v is narrower than %+v or %+v", j, r, s)
		}
	})
}

func TestBinomialAgreesWithGonum(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 50).Draw(t, "n")
		x := rapid.IntRange(0, n).Draw(t, "x")
		p := rapid.Float64Range(.001, .999).Draw(t, "p")
		want := distuv.Binomial{N: float64(n), P: p}.Prob(float64(x))
		if math.Abs(binomial(n, x, p)-want) > 1e-10 {
			t.Fatalf("%d of %d at %v: %v, want %v", x, n, p, binomial(n, x, p), want)
		}
	})
	// gonum gives NaN here.
	assert.Equal(t, 1.0, binomial(5, 0, 0))
	assert.Equal(t, 0.0, binomial(5, 2, 0))
	assert.Equal(t, 1.0, binomial(5, 5, 1))
}

func TestSignTest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w, l := rapid.IntRange(0, 60).Draw(t, "w"), rapid.IntRange(0, 60).Draw(t, "l")
		if w+l == 0 {
			return
		}
		p, q := *SignTest(w, l), *SignTest(l, w)
		if p != q || p <= 0 || p > 1 {
			t.Fatalf("%d to %d: %v, %v", w, l, p, q)
		}
		if w > l && *SignTest(w+1, l) > p {
			t.Fatalf("one win more is not less evidence: %d to %d", w, l)
		}
	})
	assert.InDelta(t, .03125, *SignTest(6, 0), 1e-12)
}

func TestVotePower(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k := rapid.IntRange(0, 20).Draw(t, "half")*2 + 1
		p := rapid.Float64Range(0, 1).Draw(t, "p")
		v := *VotePower(p, k)
		if math.Abs(v+*VotePower(1-p, k)-1) > 1e-9 {
			t.Fatalf("k %d, p %v: %v is not symmetric", k, p, v)
		}
		if p > .5 && v < p-1e-9 {
			t.Fatalf("k %d: a vote makes %v to %v", k, p, v)
		}
	})
	assert.Equal(t, 1.0, *VotePower(1, 5))
	assert.Equal(t, 0.0, *VotePower(0, 5))
	assert.InDelta(t, .25, *VotePower(.5, 2), 1e-12, "a tie is not positive")
}

func TestDisagreement(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, 30).Draw(t, "n")
		d := rapid.IntRange(0, n).Draw(t, "d")
		// By definition: the share of unordered run pairs that differ.
		differ := 0
		for i := range n {
			for j := range i {
				if (i < d) != (j < d) {
					differ++
				}
			}
		}
		if want := float64(differ) / float64(n*(n-1)/2); math.Abs(*Disagreement(d, n)-want) > 1e-12 {
			t.Fatalf("%d of %d: %v, want %v", d, n, *Disagreement(d, n), want)
		}
	})
}

func TestConfusion(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		draw := func(name string) int { return rapid.IntRange(1, 1000).Draw(t, name) }
		c := Confusion{draw("tp"), draw("fn"), draw("fp"), draw("tn")}
		swapped := Confusion{c.FN, c.TP, c.TN, c.FP}
		if math.Abs(*c.MCC()+*swapped.MCC()) > 1e-12 || math.Abs(*c.Youden()+*swapped.Youden()) > 1e-12 {
			t.Fatalf("answering the opposite must change the sign: %+v", c)
		}
		if math.Abs(*c.MCC()) > 1+1e-12 || (*c.MCC() > 0) != (*c.Youden() > 0) && math.Abs(*c.Youden()) > 1e-12 {
			t.Fatalf("%+v: mcc %v, youden %v", c, *c.MCC(), *c.Youden())
		}
	})
}
