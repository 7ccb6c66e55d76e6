package stats

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/stat/distuv"
)

// Rule is the overall rule of a verdict: a drop fails when a two-sided test of
// the mean difference is below Alpha and the mean fell by at least Margin.
type Rule struct {
	Alpha  float64
	Margin float64
	Power  float64 // the chance to find what is called detectable
}

// Overall is the rule of spec/statistics.md section 2, at the usual power.
func Overall() Rule { return Rule{Alpha: .03, Margin: .05, Power: .8} }

// Design is how many cases are compared, and the runs a side in each capture.
type Design struct {
	Cases            int
	OldRuns, NewRuns int
}

// Detectable is the smallest drop that a rule finds with its power.
type Detectable struct {
	Drop     *float64 // nil: no drop could be found
	SE       float64  // standard error of the mean difference
	Warnings []string
}

// Detectable is the minimum detectable drop of a design,
// (max(t_{alpha/2}, margin/SE) + t_power) SE with F - 1 degrees of freedom: the
// form of spec/peers.md 4.2, where the mean must also fall beyond the margin. The
// sign-flip test of the rule is somewhat weaker than t in small or very discrete
// samples. It is nil when the components or the design cannot say.
func (r Rule) Detectable(c Components, d Design) *Detectable {
	variance := c.PerCase(d.OldRuns, d.NewRuns)
	if variance == nil || d.Cases < 2 || !r.valid() {
		return nil
	}
	out := Detectable{SE: math.Sqrt(*variance / float64(d.Cases))}
	out.Warnings = append(out.Warnings, c.Warnings...)
	if p := math.Ldexp(1, 1-d.Cases); p >= r.Alpha {
		out.Warnings = append(out.Warnings, fmt.Sprintf("%d cases cannot reach p < %v, whatever their drop", d.Cases, r.Alpha))
		return &out
	}
	if out.SE == 0 {
		out.Warnings = append(out.Warnings, "all runs agree: nothing says how much they could differ")
		return &out
	}
	drop := r.threshold(out.SE, d.Cases) + tQuantile(d.Cases, r.Power)*out.SE
	if drop > 2 {
		out.Warnings = append(out.Warnings, "not even the largest drop would be found")
		return &out
	}
	out.Drop = &drop
	return &out
}

// Find is the chance that the rule finds a drop of so much. It is nil when the
// components or the design cannot say.
func (r Rule) Find(c Components, d Design, drop float64) *float64 {
	variance := c.PerCase(d.OldRuns, d.NewRuns)
	if variance == nil || d.Cases < 2 || !r.valid() || *variance <= 0 {
		return nil
	}
	power := 0.0
	if math.Ldexp(1, 1-d.Cases) < r.Alpha {
		se := math.Sqrt(*variance / float64(d.Cases))
		t := distuv.StudentsT{Mu: 0, Sigma: 1, Nu: float64(d.Cases - 1)}
		power = t.CDF((drop - r.threshold(se, d.Cases)) / se)
	}
	return &power
}

// HalfWidth is half the interval of the mean difference that a design has at a
// level: the drop that it rules out where the means are the same. It is nil when the
// components or the design cannot say.
func HalfWidth(c Components, d Design, level float64) *float64 {
	variance := c.PerCase(d.OldRuns, d.NewRuns)
	if variance == nil || d.Cases < 2 || !(level > 0 && level < 1) || *variance <= 0 {
		return nil
	}
	half := tQuantile(d.Cases, (1+level)/2) * math.Sqrt(*variance/float64(d.Cases))
	return &half
}

// plenty bounds what CasesNeeded and RunsNeeded look through.
const plenty = 1 << 20

// CasesNeeded is the fewest cases with which the rule finds a drop of so much, at
// so many runs a side in OLD and in NEW; nil where a million are too few, or the
// drop is not above the margin.
func (r Rule) CasesNeeded(c Components, drop float64, old, updated int) *int {
	return fewest(func(n int) bool {
		return r.finds(c, Design{Cases: n, OldRuns: old, NewRuns: updated}, drop)
	})
}

// RunsNeeded is the fewest runs a side of NEW, against an OLD that has as many as it
// has, with which the rule finds a drop of so much on so many cases; nil where no
// number of runs does, for runs remove no difference between cases, nor what the
// runs of OLD add.
func (r Rule) RunsNeeded(c Components, drop float64, cases, old int) *int {
	return fewest(func(k int) bool {
		return r.finds(c, Design{Cases: cases, OldRuns: old, NewRuns: k}, drop)
	})
}

// RunsNeededInBoth is the same where OLD is captured anew, with as many runs a side
// as NEW.
func (r Rule) RunsNeededInBoth(c Components, drop float64, cases int) *int {
	return fewest(func(k int) bool {
		return r.finds(c, Design{Cases: cases, OldRuns: k, NewRuns: k}, drop)
	})
}

func (r Rule) finds(c Components, d Design, drop float64) bool {
	power := r.Find(c, d, drop)
	return power != nil && *power >= r.Power
}

// fewest finds where a condition that stays true becomes so.
func fewest(holds func(int) bool) *int {
	if !holds(plenty) {
		return nil
	}
	lo, hi := 0, plenty
	for hi-lo > 1 {
		if mid := (lo + hi) / 2; holds(mid) {
			hi = mid
		} else {
			lo = mid
		}
	}
	return &hi
}

// threshold is the mean drop from which on the rule fires.
func (r Rule) threshold(se float64, cases int) float64 {
	return math.Max(tQuantile(cases, 1-r.Alpha/2)*se, r.Margin)
}

func (r Rule) valid() bool {
	return r.Alpha > 0 && r.Alpha < 1 && r.Power > 0 && r.Power < 1 && r.Margin >= 0
}

func tQuantile(cases int, p float64) float64 {
	return distuv.StudentsT{Mu: 0, Sigma: 1, Nu: float64(cases - 1)}.Quantile(p)
}
