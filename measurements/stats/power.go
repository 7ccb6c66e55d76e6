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
	Warnings []string
}

// everyCase is up to how many cases a comparison is tried; beyond, the mean of d is
// normal.
const everyCase = 128

// Detectable is the smallest drop of all cases alike that the rule finds, in slices
// of so many cases that are each judged by it: in one of them at the least. It is nil
// where the forecast is.
func (r Rule) Detectable(f *Forecast, slices ...int) *Detectable {
	if f == nil || !r.valid() || total(slices) < 1 {
		return nil
	}
	out := Detectable{}
	if most := largest(slices); math.Ldexp(1, 1-most) >= r.Alpha {
		out.Warnings = append(out.Warnings, fmt.Sprintf("%d cases cannot reach p < %.3g, whatever their drop", most, r.Alpha))
		return &out
	}
	out.Drop = smallestDrop(f.deepest(), r.Power, func(drop float64) float64 { return r.find(f, slices, drop) })
	if out.Drop == nil {
		out.Warnings = append(out.Warnings, "not even the largest drop would be found")
	}
	return &out
}

// Find is the chance that the rule finds a drop of so much; nil where the forecast
// is.
func (r Rule) Find(f *Forecast, drop float64, slices ...int) *float64 {
	if f == nil || !r.valid() || total(slices) < 1 {
		return nil
	}
	power := r.find(f, slices, drop)
	return &power
}

func (r Rule) find(f *Forecast, slices []int, drop float64) float64 {
	missed := 1.0
	for _, n := range slices {
		missed *= 1 - r.findIn(f, n, drop)
	}
	return 1 - missed
}

// findIn tries comparisons of few cases. With many, the mean of d is normal with the
// variance that it has once J fell.
func (r Rule) findIn(f *Forecast, n int, drop float64) float64 {
	if math.Ldexp(1, 1-n) >= r.Alpha || drop <= 0 {
		return 0
	}
	l := f.everywhere(drop)
	if n <= everyCase {
		quantile := distuv.UnitNormal.Quantile(1 - r.Alpha/2)
		return share(func(t *trial, number int) bool {
			t.draw(f, number, n, l)
			mean, _ := meanVariance(t.d)
			return mean <= -r.Margin+1e-9 && significant(t.d, r.Alpha, quantile)
		})
	}
	se := math.Sqrt(f.moments(l).variance / float64(n))
	t := distuv.StudentsT{Mu: 0, Sigma: 1, Nu: float64(n - 1)}
	return t.CDF((drop - r.threshold(se, n)) / se)
}

func total(slices []int) (n int) {
	for _, s := range slices {
		n += s
	}
	return n
}

func largest(slices []int) (n int) {
	for _, s := range slices {
		n = max(n, s)
	}
	return n
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

// What CasesNeeded and RunsNeeded look through: more runs are never made.
const (
	plenty     = 1 << 20
	plentyRuns = 1 << 12
)

// CasesNeeded is the fewest cases with which the rule finds a drop of so much, at the
// runs a side of the forecast, divided among slices as those at hand; nil where a
// million are too few, or the drop is not above the margin.
func (r Rule) CasesNeeded(f *Forecast, drop float64, slices ...int) *int {
	have := total(slices)
	return r.fewest(f, drop, plenty, func(n int) (*Forecast, []int) {
		var scaled []int
		for _, s := range slices {
			scaled = append(scaled, int(math.Round(float64(s)*float64(n)/float64(have))))
		}
		return f, scaled
	})
}

// RunsNeeded is the fewest runs a side of NEW, against an OLD that has as many as it
// has, with which the rule finds a drop of so much on so many cases; nil where no
// number of runs does, for runs remove no difference between cases, nor what the
// runs of OLD add.
func (r Rule) RunsNeeded(f *Forecast, drop float64, slices ...int) *int {
	return r.fewest(f, drop, plentyRuns, func(k int) (*Forecast, []int) { return f.with(0, k), slices })
}

// RunsNeededInBoth is the same where OLD is captured anew, with as many runs a side
// as NEW.
func (r Rule) RunsNeededInBoth(f *Forecast, drop float64, slices ...int) *int {
	return r.fewest(f, drop, plentyRuns, func(k int) (*Forecast, []int) { return f.with(k, k), slices })
}

func (r Rule) fewest(f *Forecast, drop float64, most int, at func(int) (*Forecast, []int)) *int {
	if f == nil || !r.valid() || drop > f.deepest() {
		return nil
	}
	return fewest(most, func(n int) bool {
		forecast, slices := at(n)
		return r.find(forecast, slices, drop) >= r.Power
	})
}

// fewest finds where a condition that stays true becomes so, from below, where trials
// are cheap.
func fewest(most int, holds func(int) bool) *int {
	if !holds(most) {
		return nil
	}
	lo, hi := 0, 1
	for hi < most && !holds(hi) {
		lo, hi = hi, min(2*hi, most)
	}
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
