package stats

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// The chance an urn begins with, against the logarithms of the gamma function.
func TestUrnChance(t *testing.T) {
	u := urn{factorials: factorials(200_000)}
	log := func(n int) float64 { v, _ := math.Lgamma(float64(n) + 1); return v }
	rapid.Check(t, func(t *rapid.T) {
		balls := rapid.IntRange(1, 200_000).Draw(t, "balls")
		red, wanted := rapid.IntRange(0, balls).Draw(t, "red"), rapid.IntRange(0, balls).Draw(t, "wanted")
		white, mode := balls-red, (wanted+1)*(red+1)/(balls+2)
		want := math.Exp(log(red) - log(mode) - log(red-mode) + log(white) - log(wanted-mode) - log(white-wanted+mode) -
			log(balls) + log(wanted) + log(balls-wanted))
		if got := u.chance(balls, red, wanted, mode); math.Abs(got/want-1) > 1e-8 {
			t.Fatalf("%v, want %v", got, want)
		}
	})
}

// The frequency of each number drawn, against the distribution of ExactRuns.
func TestUrnIsHypergeometric(t *testing.T) {
	for _, tt := range []struct{ balls, red, wanted int }{{10, 4, 5}, {42, 40, 3}, {42, 3, 40}, {9, 9, 4}, {200, 80, 60}, {5, 0, 3}, {7, 3, 7}, {5000, 4, 2500}} {
		u := urn{rand.NewPCG(3, 3), factorials(tt.balls)}
		s := Stratum{OldRuns: tt.balls - tt.wanted, OldCorrect: tt.red, NewRuns: tt.wanted}
		chances := s.hypergeometric()
		const draws = 20_000
		counts := make([]int, len(chances))
		for range draws {
			counts[u.draw(tt.balls, tt.red, tt.wanted)-s.least()]++
		}
		for i, p := range chances {
			assert.InDelta(t, p, float64(counts[i])/draws, 4.5*math.Sqrt(p*(1-p)/draws)+5.0/draws, "%v: %d", tt, s.least()+i)
		}
	}
}

// All ways to deal have one distribution: that of the mean and spread of a sum
// drawn without replacement, and the p-values they lead to.
func TestDealsAgree(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 1))
	var d deal
	for f := range 4 {
		family := Family{}
		for range 150 + 50*f {
			family.D = append(family.D, float64(min(rng.IntN(5), rng.IntN(5))-2)/5)
		}
		d.add(family)
	}
	const deals = 4_000
	total, squares := 0.0, 0.0
	for _, v := range d.changed {
		total += float64(v) * tick
		squares += float64(v) * tick * float64(v) * tick
	}
	n := float64(len(d.places))
	for name, way := range map[string]struct{ fewest, levels int }{"by level": {1, 4}, "by case": {1000, 0}, "the common by level": {150, 2}} {
		levels, few := d.levels(way.fewest)
		require.Len(t, levels, way.levels, name)
		require.Equal(t, way.levels < 4, len(few) > 0, name)
		next := d.dealers(way.fewest)(rand.NewPCG(1, uint64(way.fewest)))
		sums := make([]int64, 4)
		mean, square := make([]float64, 4), make([]float64, 4)
		for range deals {
			next(sums)
			all := int64(0)
			for f, s := range sums {
				mean[f] += float64(s) * tick / deals
				square[f] += float64(s) * tick * float64(s) * tick / deals
				all += s
			}
			assert.InDelta(t, total, float64(all)*tick, 1e-9, name)
		}
		for f, size := range d.sizes {
			m := float64(size)
			variance := m * (1 - m/n) * (squares - total*total/n) / (n - 1)
			assert.InDelta(t, m/n*total, mean[f], 4.5*math.Sqrt(variance/deals), "%s: mean of %d", name, f)
			assert.InDelta(t, variance, square[f]-mean[f]*mean[f], 4.5*variance*math.Sqrt(2.0/deals), "%s: variance of %d", name, f)
		}
	}
}

func BenchmarkUrn(b *testing.B) {
	u := urn{rand.NewPCG(1, 2), factorials(50_000)}
	for _, red := range []int{10, 100, 1000, 5000} {
		b.Run(fmt.Sprint(red), func(b *testing.B) {
			for b.Loop() {
				u.draw(40_000, red, 40_000/14)
			}
		})
	}
}
