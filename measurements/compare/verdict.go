package compare

// Verdict is what a comparison comes to.
type Verdict string

// The verdicts. Untested is the one of a family that is too small to be tested:
// it is shown and decides nothing.
const (
	Pass         Verdict = "PASS"
	Warn         Verdict = "WARN"
	Fail         Verdict = "FAIL"
	Inconclusive Verdict = "INCONCLUSIVE"
	Incomparable Verdict = "INCOMPARABLE"
	Untested     Verdict = "untested"
)

// rank orders verdicts by how much they matter to whoever waits for one.
func (v Verdict) rank() int {
	switch v {
	case Incomparable:
		return 4
	case Fail:
		return 3
	case Inconclusive:
		return 2
	case Warn:
		return 1
	}
	return 0
}

// worse returns the one that matters more.
func worse(a, b Verdict) Verdict {
	if b.rank() > a.rank() {
		return b
	}
	return a
}

// Mode says what has to be shown.
type Mode string

// The modes. A regression has to be shown for FAIL; non-inferiority has to be
// shown for PASS.
const (
	Regression  Mode = "regression"
	NonInferior Mode = "noninferior"
)

// limits are those of the verdict table (spec/statistics.md section 2).
type limits struct {
	overall float64 // two-sided p of the sign-flip test
	margin  float64 // of the mean difference
	exact   float64 // one-sided p of the exact test, overall and Holm over families
	// A side alone fails when it falls by so much with this p: what a trade of
	// silence for recall, which leaves J as it is, would hide.
	side     float64
	sideDrop float64
}

var defaultLimits = limits{overall: .03, margin: .05, exact: .0125, side: .005, sideDrop: .20}

// over divides the limits among slices that are judged apart, so that the rate
// of false alarms is that of one comparison.
func (l limits) over(slices int) limits {
	if slices > 1 {
		l.overall /= float64(slices)
		l.exact /= float64(slices)
		l.side /= float64(slices)
	}
	return l
}
