package compare

import "github.com/youden-bench/youden/measurements/stats"

// Limits are what the rows of a comparison were held against, so that a reader can
// recompute every verdict: FAIL, WARN and INCONCLUSIVE of spec/statistics.md
// sections 1 and 2. The p-values are divided among the slices that decide.
type Limits struct {
	Level  float64 `json:"level"`  // of the intervals
	Margin float64 `json:"margin"` // of the mean difference
	Slices int     `json:"slices"` // that decide

	Overall float64 `json:"overall_p"` // below it, and a drop of the margin: FAIL
	Exact   float64 `json:"exact_p"`   // below it, overall and of families by Holm: WARN

	Side     float64 `json:"side_p"` // below it, and a drop of side_drop of recall or silence: FAIL
	SideDrop float64 `json:"side_drop"`

	Family      float64 `json:"family_p"`       // at most, by max-T: FAIL, with the two below
	FamilyExact float64 `json:"family_exact_p"` // below it, by Holm
	FamilyDrop  float64 `json:"family_drop"`    // at least, also without the worst case
	MinFamily   int     `json:"min_family"`     // cases; fewer are not tested

	MaxErrorRate float64 `json:"max_error_rate"` // of NEW's dispatched runs
}

// LimitsOf are those of a comparison: of two whole subjects, or of the last look at
// a growing one.
func LimitsOf(c *Comparison) Limits {
	deciding := 0
	for _, r := range c.Slices {
		if r.Decides {
			deciding++
		}
	}
	l, family := defaultLimits, stats.ByFamily()
	if c.Sequential != nil && len(c.Sequential.Looks) > 0 {
		looks, _ := scheme()
		last := looks[min(len(c.Sequential.Looks), len(looks))-1]
		l, family = last.limits, last.family
	}
	l = l.over(deciding)
	if deciding > 1 {
		family.Limit /= float64(deciding)
		family.Exact /= float64(deciding)
	}
	all := limitsOf(l, family, deciding)
	all.MaxErrorRate = c.New.MaxErrorRate
	return all
}

func limitsOf(l limits, family stats.FamilyRule, slices int) Limits {
	return Limits{
		Level: level, Margin: l.margin, Slices: slices, Overall: l.overall, Exact: l.exact, Side: l.side, SideDrop: l.sideDrop,
		Family: family.Limit, FamilyExact: family.Exact, FamilyDrop: family.Drop, MinFamily: stats.MinFamily,
	}
}
