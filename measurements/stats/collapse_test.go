package stats

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestCollapsesCountsWhatFell(t *testing.T) {
	lost, mixed, kept := Stratum{5, 5, 5, 0}, Stratum{5, 3, 5, 2}, Stratum{5, 5, 5, 5}
	for name, c := range map[string]struct {
		strata []Stratum
		fallen int
		p      float64
	}{
		"one of one":         {[]Stratum{lost}, 1, 1. / 252},
		"one of two able":    {[]Stratum{lost, mixed}, 1, 1 - 251./252*251/252},
		"two of two":         {[]Stratum{lost, lost}, 2, 1. / 252 / 252},
		"a kept one is none": {[]Stratum{lost, kept}, 1, 1. / 252},
		"none":               {[]Stratum{mixed, kept}, 0, 1},
		"another K":          {[]Stratum{{20, 20, 5, 0}}, 1, 1. / 53130},
		"one run a side":     {[]Stratum{lost.Single()}, 1, .5},
	} {
		got := Collapses(c.strata)
		require.NotNil(t, got, name)
		assert.Equal(t, c.fallen, got.Fallen, name)
		assert.InDelta(t, c.p, got.P, 1e-9, name)
	}
	assert.Nil(t, Collapses(nil))
	assert.Nil(t, Collapses([]Stratum{{0, 0, 5, 5}}))
}

// Its p is never below that of the exact enumeration of all able strata, whose
// number of falls is a binomial when they are alike.
func TestCollapsesIsBinomialWhereStrataAreAlike(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n, fallen := rapid.IntRange(1, 40).Draw(t, "n"), 0
		var strata []Stratum
		for range n {
			s := Stratum{4, 2, 4, 2}
			if rapid.Bool().Draw(t, "falls") {
				s, fallen = Stratum{4, 4, 4, 0}, fallen+1
			}
			strata = append(strata, s)
		}
		want := 0.0
		for k := fallen; k <= n; k++ {
			a, _ := math.Lgamma(float64(n + 1))
			b, _ := math.Lgamma(float64(k + 1))
			c, _ := math.Lgamma(float64(n - k + 1))
			want += math.Exp(a - b - c + float64(k)*math.Log(1./70) + float64(n-k)*math.Log(69./70))
		}
		got := Collapses(strata)
		assert.Equal(t, fallen, got.Fallen)
		assert.InDelta(t, want, got.P, 1e-9+1e-6*want)
	})
}
