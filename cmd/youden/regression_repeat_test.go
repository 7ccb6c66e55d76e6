package main

import (
	"maps"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/stat"

	"github.com/youden-bench/youden/measurements"
	"github.com/youden-bench/youden/measurements/compare"
)

// repeat: sim-strong against itself with another seed. No seed is in two pairs, so
// that the pairs are independent. Four of a hundred may not PASS, and none of the
// few that the short form makes.
func (s *shelf) repeat(t *testing.T) {
	pairs := s.seeds(2, 100)
	alarms := 0
	var ps []float64
	for i := range pairs {
		c := compare.Compare(s.subject(t, strongModel, 2*i+1), s.subject(t, strongModel, 2*i+2), compare.Options{})
		if c.Verdict != compare.Pass {
			alarms++
			t.Logf("seeds %d and %d: %s, %q, %q", 2*i+1, 2*i+2, c.Verdict, c.Regressions, c.Reasons)
		}
		require.Len(t, c.Slices, 1)
		require.NotNil(t, c.Slices[0].PCases)
		ps = append(ps, *c.Slices[0].PCases)
	}
	assert.LessOrEqual(t, alarms, pairs/25, "not PASS in %d of %d pairs", alarms, pairs)
	if !s.long {
		return
	}
	assert.Greater(t, tooSmall(ps), 1e-3, "the exact p of unchanged captures is too often small")
	var all []*compare.Subject
	for seed := 1; seed <= 2*pairs; seed++ {
		all = append(all, s.subject(t, strongModel, seed))
	}
	sides, together := dispersion(all)
	t.Logf("%d of %d pairs are not PASS; against independent draws the runs disperse by z = %.2f within sides and %.2f within captures", alarms, pairs, sides, together)
	assert.Less(t, math.Abs(sides), 3.3, "the runs of a side are independent draws")
	assert.Less(t, math.Abs(together), 3.3, "the cases of a capture share no luck")
}

// tooSmall is the chance that so many values in [0, 1] would be as small as these,
// were none likelier to be small than a uniform one: the one-sided test of
// Kolmogorov and Smirnov, by its bound exp(-2 n D^2) (Massart 1990).
func tooSmall(ps []float64) float64 {
	ps = slices.Sorted(slices.Values(ps))
	n := float64(len(ps))
	most := 0.0
	for i, p := range ps {
		most = max(most, float64(i+1)/n-p)
	}
	return math.Exp(-2 * n * most * most)
}

// dispersion compares how the positive runs vary over captures with how they would
// if every run of a side were a draw of its own, in standard normal values: each
// side by itself, which shows what the runs of a side share; and the sum over all
// sides, which shows what the cases of a capture do. Given a side's total, its
// counts are hypergeometric, and chi-squared varies by (K-1)/K of the usual.
func dispersion(captures []*compare.Subject) (sides, together float64) {
	const k = 5
	n := float64(len(captures))
	counts := map[string][]float64{}
	totals := make([]float64, len(captures))
	for i, subject := range captures {
		for _, c := range subject.Cases {
			for name, t := range map[string]*measurements.Tally{c.Hash + " vulnerable": c.Vulnerable, c.Hash + " fixed": c.Fixed} {
				counts[name] = append(counts[name], float64(t.Positive))
				totals[i] += float64(t.Positive)
			}
		}
	}
	chi, freedom, expected := 0.0, 0.0, 0.0
	for _, name := range slices.Sorted(maps.Keys(counts)) {
		mean, variance := stat.MeanVariance(counts[name], nil)
		if rate := mean / k; rate > 0 && rate < 1 {
			chi += (n - 1) * variance / (k * rate * (1 - rate))
			freedom += n - 1
			expected += k * rate * (1 - rate)
		}
	}
	sides = (chi - freedom) / math.Sqrt(2*freedom*(k-1)/k)
	together = (stat.Variance(totals, nil)/expected - 1) / math.Sqrt(2/(n-1))
	return sides, together
}
