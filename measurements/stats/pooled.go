package stats

import (
	"math"

	"gonum.org/v1/gonum/stat/distuv"
)

// FamilyT is a family's mean difference against the variance pooled over all
// families.
type FamilyT struct {
	FamilyP
	Difference *Interval // nil without a case, or without freedom
}

// Pooled is the t test of every family's mean difference.
type Pooled struct {
	Families []FamilyT // as they were given
	Variance float64   // of a difference around its family's mean
	Freedom  int       // cases less families that have one
	Warnings []string
}

// PooledT sets each family's mean difference against the residual variance
// pooled over all families (F - G degrees of freedom; spec/statistics.md
// sections 1 and 2): a family of three cannot say how its own cases scatter. P
// is one-sided, for a drop, not adjusted for the number of families: see Holm.
// The point is never shrunk. It is nil without a case, and at a level or with a
// difference outside [-2, 2].
func PooledT(families []Family, level float64) *Pooled {
	if !(level > 0 && level < 1) {
		return nil
	}
	p := Pooled{}
	residual, cases := 0.0, 0
	for _, f := range families {
		if !differences(f.D) {
			return nil
		}
		if len(f.D) == 0 {
			continue
		}
		_, variance := meanVariance(f.D)
		if !allEqual(f.D) {
			residual += variance * float64(len(f.D)-1)
		}
		cases += len(f.D)
		p.Freedom += len(f.D) - 1
	}
	if cases == 0 {
		return nil
	}
	switch {
	case p.Freedom == 0:
		p.Warnings = append(p.Warnings, "no family has two cases: nothing says how cases scatter")
	case residual == 0:
		p.Warnings = append(p.Warnings, "the cases of each family changed alike: intervals have no width, and t tests nothing")
	}
	if p.Freedom > 0 {
		p.Variance = residual / float64(p.Freedom)
	}
	for _, f := range families {
		p.Families = append(p.Families, p.family(f, level))
	}
	return &p
}

func (p Pooled) family(f Family, level float64) FamilyT {
	n := len(f.D)
	out := FamilyT{FamilyP: FamilyP{Name: f.Name, Cases: n}}
	if n < MinFamily {
		out.Warnings = append(out.Warnings, "fewer than 3 cases: shown, not tested")
	}
	if n == 0 || p.Freedom == 0 {
		return out
	}
	t := distuv.StudentsT{Mu: 0, Sigma: 1, Nu: float64(p.Freedom)}
	mean, _ := meanVariance(f.D)
	se := math.Sqrt(p.Variance / float64(n))
	half := t.Quantile(1-(1-level)/2) * se
	i := Interval{Estimate: mean, Lo: mean - half, Hi: mean + half, N: float64(n), Level: level, Method: "t-pooled"}
	i.Warnings = append(i.Warnings, p.Warnings...)
	out.Difference = i.within(-2, 2)
	if n >= MinFamily && se > 0 {
		tail := pvalue(t.CDF(mean / se))
		out.P = &tail
	}
	return out
}
