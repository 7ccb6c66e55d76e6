package compare

import (
	"fmt"
	"slices"

	"github.com/youden-bench/youden/measurements"
)

// lost asks whether the runs that were lost could change the verdict: it then
// says nothing (spec/statistics.md section 2, guards). A case that neither side
// scored says nothing of a change.
func (c *Comparison) lost(before, after *Subject, o Options) {
	runs := before.lost() + after.lost()
	if runs == 0 || c.Verdict == Incomparable || c.Verdict == Inconclusive {
		return
	}
	o.brief = true
	old, updated := eitherScored(before.Cases, after.Cases)
	for _, worst := range []bool{true, false} {
		// The worst for NEW: what it lost was wrong, and what OLD lost was right.
		pairs := match(filled(old, worst), filled(updated, !worst)).Both
		results := judgeSlices(before, after, pairs, o)
		verdict, why := rule(results, pairs, before.repeats() || after.repeats(), o)
		if bearing(verdict) != bearing(c.Verdict) || c.Verdict == Pass && verdict == Warn && (why != "" || o.falls(results)) {
			c.Reasons = append(c.Reasons, fmt.Sprintf("missing: %s, which could change the verdict from %s to %s", many(runs, "run"), c.Verdict, verdict))
			c.Verdict = Inconclusive
			return
		}
	}
}

// falls reports whether J falls by the margin in a slice that decides, significantly
// or not.
func (o Options) falls(results []SliceResult) bool {
	return slices.ContainsFunc(results, func(r SliceResult) bool {
		return decides(r.Overall.Slice, o.Slices) && atMost(-r.Overall.drop, -defaultLimits.margin)
	})
}

// eitherScored drops the cases that both have and neither scored.
func eitherScored(before, after []measurements.CaseScore) (old, updated []measurements.CaseScore) {
	scored := map[string]bool{}
	for _, list := range [][]measurements.CaseScore{before, after} {
		for i := range list {
			if list[i].Counts() {
				scored[list[i].Hash] = true
			}
		}
	}
	of := func(list []measurements.CaseScore) []measurements.CaseScore {
		return slices.DeleteFunc(slices.Clone(list), func(c measurements.CaseScore) bool { return !scored[c.Hash] })
	}
	return of(before), of(after)
}

// bearing is what a verdict makes of a change: PASS and WARN let it through. Between
// these two a few runs decide however many there are, so that a PASS stands unless
// the warning would be a grave one: of lost cases, or a fall by the margin.
func bearing(v Verdict) Verdict {
	if v == Warn {
		return Pass
	}
	return v
}

// lost counts the runs without a score.
func (s *Subject) lost() int {
	n := 0
	for _, c := range s.Cases {
		for _, t := range []*measurements.Tally{c.Vulnerable, c.Fixed} {
			if t != nil {
				n += max(0, t.K-t.Counted)
			}
		}
	}
	return n
}

// filled returns the cases with every lost run as right, or as wrong.
func filled(cases []measurements.CaseScore, right bool) []measurements.CaseScore {
	list := slices.Clone(cases)
	for i := range list {
		list[i].Vulnerable = fill(list[i].Vulnerable, right)
		list[i].Fixed = fill(list[i].Fixed, !right)
	}
	return list
}

func fill(t *measurements.Tally, positive bool) *measurements.Tally {
	if t == nil || t.Counted >= t.K {
		return t
	}
	full := *t
	if positive {
		full.Positive += t.K - t.Counted
	}
	full.Counted = t.K
	return &full
}
