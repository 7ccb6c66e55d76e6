package compare

import "github.com/youden-bench/youden/detector"

// errors counts the runs that failed by no fault of the detector, and those that
// were sent. It is 0 of 0 when the statuses do not account for every run: a file
// that does not say why runs are missing has no error rate.
func (s *Subject) errors() (errored, sent int64) {
	accounted := s.Spend.RunsOK
	sent = s.Spend.RunsOK
	for name, n := range s.Spend.Statuses {
		accounted += n
		row, _ := detector.Status(name).Row()
		if row.Error {
			errored += n
		}
		if !unsent(row.Status) {
			sent += n
		}
	}
	if accounted != s.Spend.Runs {
		return 0, 0
	}
	return errored, sent
}

// unsent lists the statuses of runs that mostly end before any request. Those
// that did send one are left out as well, which can only raise the error rate.
func unsent(s detector.Status) bool {
	switch s {
	case detector.Cancelled, detector.LabelDefect, detector.UnsupportedLanguage, detector.NoCandidate:
		return true
	}
	return false
}
