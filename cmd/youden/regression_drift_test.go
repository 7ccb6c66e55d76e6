package main

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/youden-bench/youden/measurements/compare"
)

// drift: sim-drifted reads every family like sim-strong, but for injection, which
// it hardly reports any more. Comparisons should say so, and of no other family;
// two of twenty may miss it, and none of the few that the short form makes.
func (s *shelf) drift(t *testing.T) {
	seeds := s.seeds(2, 20)
	for _, setting := range []struct {
		name  string
		apart int // seeds of OLD and NEW: with one seed, the runs of unchanged families agree
	}{{"same seed", 0}, {"other seed", 1}} {
		t.Run(setting.name, func(t *testing.T) {
			named := 0
			for seed := 1; seed <= seeds; seed++ {
				before := s.subject(t, strongModel, seed+setting.apart)
				c := compare.Compare(before, s.subject(t, driftedModel, seed), compare.Options{})
				failed := failedFamilies(c)
				if c.Verdict == compare.Fail && len(failed) == 1 && failed[0] == "injection" {
					named++
				} else {
					t.Logf("seed %d: %s, families that fail: %q, %q", seed, c.Verdict, failed, c.Regressions)
				}
			}
			assert.GreaterOrEqual(t, named, seeds-seeds/10, "FAIL with injection alone in %d of %d seeds", named, seeds)
		})
	}
}

func failedFamilies(c *compare.Comparison) []string {
	var names []string
	for _, row := range c.Families {
		if row.Verdict == compare.Fail {
			names = append(names, row.Family)
		}
	}
	return names
}
