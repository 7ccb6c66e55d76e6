package stats

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"pgregory.net/rapid"
)

func TestPlainLogAndExp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := rapid.Float64Range(1, 1e9).Draw(t, "x")
		if math.Abs(plainLog(x)-math.Log(x)) > 4e-15*(1+math.Log(x)) {
			t.Fatalf("log %v: %v, want %v", x, plainLog(x), math.Log(x))
		}
		y := -rapid.Float64Range(0, 690).Draw(t, "y")
		if math.Abs(plainExp(y)/math.Exp(y)-1) > 1e-12 {
			t.Fatalf("exp %v: %v, want %v", y, plainExp(y), math.Exp(y))
		}
	})
}

// The frequency of each number drawn, against the distribution of ExactRuns.
func TestUrnIsHypergeometric(t *testing.T) {
	for _, tt := range []struct{ balls, red, wanted int }{{10, 4, 5}, {42, 40, 3}, {42, 3, 40}, {9, 9, 4}, {200, 80, 60}, {5, 0, 3}, {7, 3, 7}, {5000, 4, 2500}} {
		u := newUrn(tt.balls, rand.NewPCG(3, 3))
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

// Both ways to deal have one distribution: that of the mean and spread of a sum
// drawn without replacement, and the p-values they lead to.
func TestDealsAgree(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 1))
	var d deal
	for f := range 4 {
		family := Family{}
		for range 150 + 50*f {
			family.D = append(family.D, float64(rng.IntN(5)-2)/5)
		}
		d.add(family)
	}
	const deals = 4_000
	levels, cases := []int64{ticks(-.4), ticks(-.2), ticks(.2), ticks(.4)}, make([]int, 4)
	total, squares := 0.0, 0.0
	for _, v := range d.changed {
		for l := range levels {
			if levels[l] == v {
				cases[l]++
			}
		}
		total += float64(v) * tick
		squares += float64(v) * tick * float64(v) * tick
	}
	n := float64(len(d.places))
	u, dice := newUrn(len(d.places), rand.NewPCG(1, 1)), dice{pcg: rand.NewPCG(1, 2)}
	left := make([]int, 4)
	for name, next := range map[string]func([]int64){
		"by level": func(sums []int64) { copy(left, cases); d.byLevel(sums, levels, left, u) },
		"by case":  func(sums []int64) { d.byCase(sums, &dice) },
	} {
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
