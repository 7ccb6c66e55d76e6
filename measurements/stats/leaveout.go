package stats

// LeaveOneOut is the mean difference of a family with and without its worst
// case. A drop that one case makes is a drop of that case, not of the family.
type LeaveOneOut struct {
	Mean  float64
	Rest  float64 // the mean without the worst case
	Worst int     // its index
}

// LeaveWorstOut is nil for fewer than two differences, or one outside [-2, 2].
func LeaveWorstOut(d []float64) *LeaveOneOut {
	if len(d) < 2 || !differences(d) {
		return nil
	}
	l := LeaveOneOut{}
	sum := 0.0
	for i, v := range d {
		sum += v
		if v < d[l.Worst] {
			l.Worst = i
		}
	}
	l.Mean = sum / float64(len(d))
	l.Rest = (sum - d[l.Worst]) / float64(len(d)-1)
	return &l
}

// Drops says whether the mean falls by at least so much, and still does when the
// worst case is left out. A fall of exactly that much counts, however its
// fractions round.
func (l LeaveOneOut) Drops(by float64) bool {
	const rounding = 1e-9
	return l.Mean <= -by+rounding && l.Rest <= -by+rounding
}
