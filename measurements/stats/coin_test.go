package stats

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestCoinsAreFair(t *testing.T) {
	pcg := rand.NewPCG(1, 1)
	for _, n := range []int{0, 1, 2, 3, 63, 64, 65, 200, 100_000} {
		coins := newCoins(n)
		sum, squares, outside := 0.0, 0.0, false
		const draws = 10_000
		for range draws {
			h := float64(coins.heads(pcg))
			outside = outside || h < 0 || h > float64(n)
			sum += h
			squares += (h - float64(n)/2) * (h - float64(n)/2)
		}
		assert.False(t, outside, n)
		variance := float64(n) / 4
		assert.InDelta(t, float64(n)/2, sum/draws, 4*math.Sqrt(variance/draws), n)
		assert.InDelta(t, variance, squares/draws, 4*variance*math.Sqrt(2.0/draws), n)
	}
}

// The columns give every number of heads its chance.
func TestCoinsAreBinomial(t *testing.T) {
	for _, n := range []int{0, 1, 2, 7, 64, 1001} {
		coins := newCoins(n)
		chances := make([]float64, n+1)
		for i, c := range coins.columns {
			own := float64(c.own) / (1 << 63) / 2
			chances[coins.least+i] += own / float64(len(coins.columns))
			chances[coins.least+c.other] += (1 - own) / float64(len(coins.columns))
		}
		for x, p := range chances {
			require.InDelta(t, binomial(n, x, .5), p, 1e-12, "%d of %d", x, n)
		}
	}
}

// Each sum moves by all sizes, each up or down, and by none of them alike.
func TestFlippedSums(t *testing.T) {
	sizes := []int64{1, 2, 4, 8, 16, 32, 64}
	seen := map[int64]int{}
	sums := make([]int64, 128*100)
	flipEach(sums, sizes, rand.NewPCG(2, 2))
	for _, s := range sums {
		seen[s]++
	}
	assert.Len(t, seen, 128)
	for s, n := range seen {
		assert.True(t, s%2 != 0 && s >= -127 && s <= 127)
		assert.InDelta(t, 100, n, 4.5*10)
	}
}
