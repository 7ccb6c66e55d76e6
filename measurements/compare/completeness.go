package compare

import (
	"fmt"
	"strings"

	"github.com/youden-bench/youden/detector"
	"github.com/youden-bench/youden/measurements"
)

// Completeness says how far a capture came, and what it lost on the way. Unknown
// is nil, or "" for the status: a kstrl file says none of it.
type Completeness struct {
	Status     measurements.CaptureStatus `json:"status,omitempty"`
	Planned    *int64                     `json:"runs_planned"`
	Dispatched *int64                     `json:"dispatched"`
	Errors     *int64                     `json:"errors"` // of the dispatched, lost to endpoint or network
}

func completeness(status measurements.CaptureStatus, planned int64, t measurements.Tallied) Completeness {
	planned = max(planned, t.Spend.Runs)
	return Completeness{Status: status, Planned: &planned, Dispatched: &t.Dispatched, Errors: &t.Errors}
}

// valid refuses counts that cannot be.
func (c Completeness) valid() bool {
	for _, n := range []*int64{c.Planned, c.Dispatched, c.Errors} {
		if n != nil && *n < 0 {
			return false
		}
	}
	return (c.Dispatched == nil) == (c.Errors == nil) && (c.Errors == nil || *c.Errors <= *c.Dispatched)
}

// DefaultMaxErrorRate is the share of the dispatched runs that may be lost to
// endpoint or network (DESIGN section 3).
const DefaultMaxErrorRate = .05

// Incomplete says why the numbers of a subject are not those of a whole capture:
// it is unrun or partial, or it lost a greater share of its dispatched runs than
// the limit to endpoint or network. It is "" for a whole one, and for one that
// does not know.
func (s *Subject) Incomplete(maxErrorRate float64) string {
	if s.Status == measurements.Unrun || s.Grade == measurements.GradeUnrun {
		return string(measurements.Unrun) + ": no run gave an answer"
	}
	var why []string
	if s.Status == measurements.Partial || s.Status == measurements.Running {
		why = append(why, s.progress())
	}
	if errored, sent := s.errors(); sent > 0 && float64(errored)/float64(sent) > maxErrorRate {
		why = append(why, fmt.Sprintf("%d/%d runs lost to endpoint or network%s, more than %.3g %%", errored, sent, s.causes(), 100*maxErrorRate))
	}
	return strings.Join(why, "; ")
}

// progress is the status with the runs that came to an end of those planned.
func (s *Subject) progress() string {
	if s.Planned == nil {
		return string(s.Status)
	}
	return fmt.Sprintf("%s %d/%d", s.Status, s.Spend.Runs-s.Spend.Statuses[string(detector.Cancelled)], *s.Planned)
}

// causes lists the runs that were lost to endpoint or network by their status.
func (s *Subject) causes() string {
	var parts []string
	for _, row := range detector.Statuses() {
		if n := s.Spend.Statuses[string(row.Status)]; row.Error && n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, row.Status))
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return " (" + strings.Join(parts, ", ") + ")"
}

// errors counts the runs that failed by no fault of the detector, and those that
// were sent. Where nobody counted the latter it is told from the statuses, and 0
// of 0 when these do not account for every run: a file that does not say why runs
// are missing has no error rate.
func (s *Subject) errors() (errored, sent int64) {
	if s.Dispatched != nil && s.Errors != nil {
		return *s.Errors, *s.Dispatched
	}
	sent = s.Spend.RunsOK
	for name, n := range s.Spend.Statuses {
		row, _ := detector.Status(name).Row()
		if row.Error {
			errored += n
		}
		if !unsent(row.Status) {
			sent += n
		}
	}
	if !s.accounted() {
		return 0, 0
	}
	return errored, sent
}

// accounted reports whether it is known how every run ended.
func (s *Subject) accounted() bool {
	sum := s.Spend.RunsOK
	for _, n := range s.Spend.Statuses {
		sum += n
	}
	return sum == s.Spend.Runs
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
