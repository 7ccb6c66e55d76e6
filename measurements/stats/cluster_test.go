package stats

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"gonum.org/v1/gonum/stat/distuv"
	"pgregory.net/rapid"
)

func clustersOf(family string, runs int, positives ...int) []Cluster {
	var out []Cluster
	for _, p := range positives {
		out = append(out, Cluster{Family: family, Runs: runs, Positive: p})
	}
	return out
}

func TestICCExtremes(t *testing.T) {
	t.Run("cases differ, runs do not", func(t *testing.T) {
		icc := PooledICC(clustersOf("a", 5, 5, 0, 5, 0))
		assert.InDelta(t, 1, icc.R, 1e-12)
		assert.InDelta(t, 4, icc.EffectiveN(clustersOf("a", 5, 5, 0, 5, 0)), 1e-12, "20 runs are worth 4 cases")
	})
	t.Run("runs differ, cases do not", func(t *testing.T) {
		icc := PooledICC(clustersOf("a", 4, 2, 2, 2, 2, 2, 2, 2, 2))
		assert.Equal(t, 0.0, icc.R)
		assert.InDelta(t, .5, icc.Raised, 1e-12, "raised by sqrt(2/8)")
	})
	t.Run("families differ, their cases do not", func(t *testing.T) {
		icc := PooledICC(append(clustersOf("a", 4, 2, 2, 2, 2), clustersOf("b", 4, 4, 4, 4, 4)...))
		assert.Equal(t, 0.0, icc.R, "the difference between families is no correlation within a case")
	})
	for name, clusters := range map[string][]Cluster{
		"all agree":                clustersOf("a", 5, 5, 5, 5),
		"one case a family":        append(clustersOf("a", 5, 3), clustersOf("b", 5, 1)...),
		"single runs":              clustersOf("a", 1, 1, 0, 1),
		"nothing":                  nil,
		"a case without any run":   {{Family: "a"}},
		"two cases, one of no run": {{Family: "a", Runs: 5, Positive: 2}, {Family: "a"}},
	} {
		t.Run(name, func(t *testing.T) {
			icc := PooledICC(clusters)
			assert.Equal(t, 1.0, icc.Raised)
			assert.NotEmpty(t, icc.Warnings)
		})
	}
}

func TestEffectiveNLiesBetweenCasesAndRuns(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k := rapid.IntRange(1, 20).Draw(t, "k")
		var clusters []Cluster
		for i := range rapid.IntRange(1, 30).Draw(t, "cases") {
			clusters = append(clusters, Cluster{Family: fmt.Sprint(i % 4), Runs: k, Positive: rapid.IntRange(0, k).Draw(t, "positive")})
		}
		icc := PooledICC(clusters)
		if icc.R < 0 || icc.R > 1 || icc.Raised < icc.R || icc.Raised > 1 {
			t.Fatalf("%+v", icc)
		}
		n := icc.EffectiveN(clusters)
		if n < float64(len(clusters))-1e-9 || n > float64(len(clusters)*k)+1e-9 {
			t.Fatalf("%d cases, %d runs each are worth %v", len(clusters), k, n)
		}
		i := icc.Rate(clusters, level)
		if i == nil || i.Lo > i.Estimate || i.Hi < i.Estimate || i.Lo < 0 || i.Hi > 1 {
			t.Fatalf("%+v", i)
		}
	})
}

// drawCase draws k runs of a case whose difficulty is beta distributed with this
// mean, so that the intraclass correlation is rho: alpha + beta = 1/rho - 1.
func drawCase(rng *rand.Rand, family string, k int, mean, rho float64) Cluster {
	scale := 1/rho - 1
	p := distuv.Beta{Alpha: mean * scale, Beta: (1 - mean) * scale, Src: rng}.Rand()
	c := Cluster{Family: family, Runs: k}
	for range k {
		if rng.Float64() < p {
			c.Positive++
		}
	}
	return c
}

// Without taking off what sampling adds, .33 would read .41 at K = 5.
func TestICCIsThatOfTheCases(t *testing.T) {
	rng := rand.New(rand.NewPCG(20261130, 2))
	for _, rho := range []float64{.1, .33, .67} {
		var clusters []Cluster
		for i := range 4000 {
			clusters = append(clusters, drawCase(rng, fmt.Sprint(i%14), 5, .8, rho))
		}
		assert.InDelta(t, rho, PooledICC(clusters).R, .03)
	}
}

// The bound of the simulations in spec/statistics.md section 3, at one of their
// settings: 14 families of 3 cases, K = 5, recall .8, silence .9, ICC .33.
func TestFamilyIntervalCovers(t *testing.T) {
	rng := rand.New(rand.NewPCG(20261130, 1))
	const families, cases, k, repetitions = 14, 3, 5, 60
	draw := func(mean float64) []Cluster {
		var out []Cluster
		for f := range families {
			for range cases {
				out = append(out, drawCase(rng, fmt.Sprint(f), k, mean, .33))
			}
		}
		return out
	}
	covered, all, width := 0, 0, 0.0
	for range repetitions {
		recall, silence := draw(.8), draw(.9)
		rICC, sICC := PooledICC(recall), PooledICC(silence)
		for f := range families {
			at := f * cases
			j := MOVER(rICC.Rate(recall[at:at+cases], level), sICC.Rate(silence[at:at+cases], level))
			all++
			width += j.Width()
			if j.Lo <= .7 && .7 <= j.Hi {
				covered++
			}
		}
	}
	coverage := float64(covered) / float64(all)
	t.Logf("coverage %.3f, mean width %.2f over %d intervals", coverage, width/float64(all), all)
	assert.Greater(t, coverage, .93)
	assert.Less(t, width/float64(all), 1.0)
	assert.False(t, math.IsNaN(width))
}
