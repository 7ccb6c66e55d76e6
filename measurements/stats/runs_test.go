package stats

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// exactTails convolves the strata in rational numbers: nothing is rounded before
// the end.
func exactTails(strata []Stratum) (drop, rise float64) {
	sum := []*big.Rat{big.NewRat(1, 1)}
	observed := 0
	for _, s := range strata {
		total := s.OldCorrect + s.NewCorrect
		all := new(big.Int).Binomial(int64(s.OldRuns+s.NewRuns), int64(s.NewRuns))
		next := make([]*big.Rat, len(sum)+s.NewRuns)
		for i := range next {
			next[i] = new(big.Rat)
		}
		for x := 0; x <= s.NewRuns && x <= total; x++ {
			ways := new(big.Int).Binomial(int64(total), int64(x))
			ways.Mul(ways, new(big.Int).Binomial(int64(s.OldRuns+s.NewRuns-total), int64(s.NewRuns-x)))
			chance := new(big.Rat).SetFrac(ways, all)
			for i, p := range sum {
				next[i+x].Add(next[i+x], new(big.Rat).Mul(p, chance))
			}
		}
		sum = next
		observed += s.NewCorrect
	}
	low, high := new(big.Rat), new(big.Rat)
	for i, p := range sum {
		if i <= observed {
			low.Add(low, p)
		}
		if i >= observed {
			high.Add(high, p)
		}
	}
	drop, _ = low.Float64()
	rise, _ = high.Float64()
	return drop, rise
}

func drawStratum(t *rapid.T, most int) Stratum {
	s := Stratum{OldRuns: rapid.IntRange(1, most).Draw(t, "old"), NewRuns: rapid.IntRange(1, most).Draw(t, "new")}
	s.OldCorrect = rapid.IntRange(0, s.OldRuns).Draw(t, "old correct")
	s.NewCorrect = rapid.IntRange(0, s.NewRuns).Draw(t, "new correct")
	return s
}

func assertRelative(t interface{ Fatalf(string, ...any) }, want, got, relative float64, what string) {
	if !(math.Abs(got-want) <= relative*want) {
		t.Fatalf("%s: %v, want %v (off by %.1e of it)", what, got, want, math.Abs(got/want-1))
	}
}

func TestExactRunsIsTheConvolution(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		most := rapid.SampledFrom([]int{1, 2, 5, 12}).Draw(t, "most")
		var strata []Stratum
		for range rapid.IntRange(1, 12).Draw(t, "strata") {
			strata = append(strata, drawStratum(t, most))
		}
		drop, rise := exactTails(strata)
		r := ExactRuns(strata)
		assertRelative(t, drop, r.Drop, 1e-10, "drop")
		assertRelative(t, rise, r.Rise, 1e-10, "rise")
	})
}

// The corners of a tilt: everything at an end, one short of it, far in a tail.
func TestExactRunsInTheTails(t *testing.T) {
	lost := func(n, k, kept int) (out []Stratum) {
		for i := range n {
			s := Stratum{OldRuns: k, OldCorrect: k, NewRuns: k}
			if i < kept {
				s.OldCorrect, s.NewCorrect = k-1, 1
			}
			out = append(out, s)
		}
		return out
	}
	for _, tt := range []struct{ n, k, kept int }{{1, 5, 0}, {2, 5, 1}, {10, 5, 0}, {10, 5, 1}, {20, 5, 9}, {8, 20, 3}, {3, 50, 2}} {
		strata := lost(tt.n, tt.k, tt.kept)
		drop, rise := exactTails(strata)
		r := ExactRuns(strata)
		t.Logf("%d strata, K = %d: p %.3g", tt.n, tt.k, r.Drop)
		assertRelative(t, drop, r.Drop, 1e-9, fmt.Sprint(tt, " drop"))
		assertRelative(t, rise, r.Rise, 1e-9, fmt.Sprint(tt, " rise"))
	}
}

// Beyond rationals: a plain convolution of a thousand of strata adds positive
// numbers only, so its tails are good to about n times the rounding.
func TestExactRunsOfAThousand(t *testing.T) {
	for seed := range uint64(4) {
		rng := rand.New(rand.NewPCG(seed, 7))
		strata := drawStrata(rng, 1200, 5, .02*float64(seed*seed))
		sum, observed := []float64{1}, 0
		for _, s := range strata {
			least, chances := s.least(), s.hypergeometric()
			observed += s.NewCorrect - least
			next := make([]float64, len(sum)+len(chances)-1)
			for x, p := range chances {
				for i, q := range sum {
					next[i+x] += p * q
				}
			}
			sum = next
		}
		drop, rise := 0.0, 0.0
		for i, p := range sum {
			if i <= observed {
				drop += p
			}
			if i >= observed {
				rise += p
			}
		}
		r := ExactRuns(strata)
		t.Logf("p %.3g, %.3g", r.Drop, r.Rise)
		assertRelative(t, drop, r.Drop, 1e-9, "drop")
		assertRelative(t, rise, r.Rise, 1e-9, "rise")
	}
}

// drawStrata draws pairs whose sides are correct with beta-like chances, the
// NEW ones lower by the drop.
func drawStrata(rng *rand.Rand, n, k int, drop float64) []Stratum {
	out := make([]Stratum, n)
	for i := range out {
		p := math.Sqrt(rng.Float64())
		q := math.Max(0, p-drop)
		out[i] = Stratum{OldRuns: k, NewRuns: k}
		for range k {
			if rng.Float64() < p {
				out[i].OldCorrect++
			}
			if rng.Float64() < q {
				out[i].NewCorrect++
			}
		}
	}
	return out
}

func TestExactRunsKnown(t *testing.T) {
	// Fisher's tea: 3 of 4 against 1 of 4, one-sided 17/70.
	tea := ExactRuns([]Stratum{{OldRuns: 4, OldCorrect: 3, NewRuns: 4, NewCorrect: 1}})
	assert.InDelta(t, 17.0/70, tea.Drop, 1e-12)
	// spec/peers.md 4.2, one-sided: 5/5 to 0/5 is 1/C(10,5).
	assert.InDelta(t, 1.0/252, ExactRuns([]Stratum{{5, 5, 5, 0}}).Drop, 1e-12)
	// Two strata of 1/1 to 0/1: each is 1/2 given its total.
	two := ExactRuns([]Stratum{{1, 1, 1, 0}, {1, 1, 1, 0}, {5, 5, 5, 5}})
	assert.InDelta(t, .25, two.Drop, 1e-12)
	assert.Equal(t, 1.0, two.Rise)
	assert.Equal(t, []int{3, 2, 0}, []int{two.Strata, two.Open, two.Correct})
	assert.InDelta(t, 1, two.Expected, 1e-12)
}

func TestExactRunsWithoutAnything(t *testing.T) {
	assert.Nil(t, ExactRuns(nil))
	assert.Nil(t, ExactRuns([]Stratum{{OldRuns: 5, OldCorrect: 3}}), "no run in NEW")
	assert.Nil(t, ExactRuns([]Stratum{{1, 2, 1, 1}}), "more correct than runs")
	settled := ExactRuns([]Stratum{{5, 5, 5, 5}, {5, 0, 5, 0}, {1, 2, 1, 1}})
	require.NotNil(t, settled)
	assert.Equal(t, []float64{1, 1}, []float64{settled.Drop, settled.Rise})
	assert.Len(t, settled.Warnings, 2, "one for the stratum left out, one because no run could tell")
}

func TestExactRunsMirror(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var strata, swapped, wrong []Stratum
		for range rapid.IntRange(1, 40).Draw(t, "strata") {
			s := drawStratum(t, 8)
			strata = append(strata, s)
			swapped = append(swapped, Stratum{s.NewRuns, s.NewCorrect, s.OldRuns, s.OldCorrect})
			wrong = append(wrong, Stratum{s.OldRuns, s.OldRuns - s.OldCorrect, s.NewRuns, s.NewRuns - s.NewCorrect})
		}
		a, b, c := ExactRuns(strata), ExactRuns(swapped), ExactRuns(wrong)
		assertRelative(t, a.Drop, b.Rise, 1e-9, "captures exchanged")
		assertRelative(t, a.Drop, c.Rise, 1e-9, "right and wrong exchanged")
		rand.New(rand.NewPCG(1, 1)).Shuffle(len(strata), func(i, j int) { strata[i], strata[j] = strata[j], strata[i] })
		if d := ExactRuns(strata); d.Drop != a.Drop || d.Rise != a.Rise {
			t.Fatalf("the order of strata changes %v to %v", a, d)
		}
	})
}

func TestSingle(t *testing.T) {
	assert.Equal(t, Stratum{1, 1, 1, 0}, Stratum{5, 5, 5, 0}.Single())
	assert.Equal(t, Stratum{5, 3, 1, 1}, Stratum{5, 3, 20, 20}.Single())
	assert.Equal(t, Stratum{}, Stratum{}.Single())
}

func BenchmarkExactRuns(b *testing.B) {
	for _, size := range []struct {
		pairs, k int
		drop     float64
	}{{42, 5, 0}, {100_000, 5, 0}, {100_000, 5, .05}, {10_000, 50, 0}, {10_000, 50, .3}} {
		strata := drawStrata(rand.New(rand.NewPCG(1, 2)), 2*size.pairs, size.k, size.drop)
		b.Run(fmt.Sprintf("pairs=%d/k=%d/drop=%v", size.pairs, size.k, size.drop), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				ExactRuns(strata)
			}
		})
	}
}
