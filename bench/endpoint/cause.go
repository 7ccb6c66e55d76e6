package endpoint

import (
	"strings"

	"github.com/youden-bench/youden/detector"
)

// Cause is what a caller may have to act on beyond the status of an answer. It
// leads the answer's detail.
type Cause string

// The causes. After many refused connections in a row nobody listens there; a
// quota does not come back within a capture; a budget that refused a call has no room
// for it any more; an indeterminate call needs a decision; a ledger that cannot write
// ends the capture.
const (
	CauseNone          Cause = ""
	CauseRefused       Cause = "connection refused"
	CauseQuota         Cause = "quota"
	CauseBudget        Cause = "not sent" // with the reason, as of the runs that were never begun
	CauseIndeterminate Cause = "indeterminate"
	CauseLedger        Cause = "ledger"
	CauseUnrecorded    Cause = "not recorded" // of a Recall
)

// CauseOf returns the cause of an answer, or CauseNone.
func CauseOf(a detector.Answer) Cause {
	for _, c := range []Cause{CauseRefused, CauseQuota, CauseBudget, CauseIndeterminate, CauseLedger, CauseUnrecorded} {
		if strings.HasPrefix(a.Detail, string(c)+": ") {
			return c
		}
	}
	return CauseNone
}

// lastAttempt stands, in the detail of a call that was halted between two attempts,
// before what the last one came to.
const lastAttempt = " (the last attempt: "

// ReasonOf is the detail of an answer with a cause, as far as it holds for the calls of
// others too.
func ReasonOf(a detector.Answer) string {
	reason, _, _ := strings.Cut(strings.TrimPrefix(a.Detail, string(CauseOf(a))+": "), lastAttempt)
	return reason
}

func (c Cause) detail(words string) string { return string(c) + ": " + words }
