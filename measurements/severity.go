package measurements

import (
	"github.com/youden-bench/youden/corpus"
	"github.com/youden-bench/youden/detector"
)

// Floors lists the severities from which a finding may be asked to count, the
// lowest first. Information is none: it claims no bug.
func Floors() []detector.Severity {
	return []detector.Severity{
		detector.SeverityLow, detector.SeverityMedium, detector.SeverityHigh, detector.SeverityCritical,
	}
}

// rank is the place of a severity among the floors, from 1; 0 is none of them.
type rank uint8

const topRank rank = 4

func rankOf(s detector.Severity) rank {
	switch s {
	case detector.SeverityLow:
		return 1
	case detector.SeverityMedium:
		return 2
	case detector.SeverityHigh:
		return 3
	case detector.SeverityCritical:
		return topRank
	}
	return 0
}

// severest is the highest severity that findings claim, among those whose claim
// is one of interest: low, medium, high or critical, or nil when none says so.
// It comes after the judgement, which reads family and place alone.
func severest(findings []detector.Finding, claims []Claim, interest func(Claim) bool) *string {
	worst := detector.SeverityUnknown
	for i, c := range claims {
		if s := findings[i].Severity; interest(c) && rankOf(s) > rankOf(worst) {
			worst = s
		}
	}
	if worst == detector.SeverityUnknown {
		return nil
	}
	return pointer(string(worst))
}

// severities sets the columns of the findings that decided the run.
func (r *RunRow) severities(j Judgement, findings []detector.Finding) {
	r.HitSeverity, r.BreakSeverityStrict, r.BreakSeverityClass, r.BreakSeverityRegion = nil, nil, nil, nil
	if r.Side == string(corpus.Vulnerable) {
		r.HitSeverity = severest(findings, j.Claims, Claim.hits)
		return
	}
	breaking := func(p Policy) *string {
		return severest(findings, j.Claims, func(c Claim) bool { return c.breaks(p, j.Residual) })
	}
	r.BreakSeverityStrict, r.BreakSeverityClass, r.BreakSeverityRegion = breaking(Strict), breaking(Class), breaking(Region)
}
