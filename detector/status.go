package detector

import "slices"

// Status says how a run ended. Exactly one holds for each run. An absent
// answer is never silence, and an error is never a score.
type Status string

// The statuses of DESIGN section 5.
const (
	OK Status = "ok"

	// Charged: the detector's own doing. Such a run counts against it.
	Truncated  Status = "truncated"
	Empty      Status = "empty"
	Oversize   Status = "oversize"
	BadFormat  Status = "bad_format"
	BadSchema  Status = "bad_schema"
	Refused    Status = "refused"
	NoToolCall Status = "no_tool_call"
	Budget     Status = "budget"

	// Excused: the provider's, the network's or the operator's doing.
	Filtered    Status = "filtered"
	Context     Status = "context"
	RateLimited Status = "rate_limited"
	Transient   Status = "transient"
	Timeout     Status = "timeout"
	Auth        Status = "auth"
	Config      Status = "config"
	Cancelled   Status = "cancelled"

	// Excused: the corpus or the tooling.
	LabelDefect         Status = "label_defect"
	UnsupportedLanguage Status = "unsupported_language"
	NoCandidate         Status = "no_candidate"
)

// Class is what a status means for the score.
type Class int

// Counts: a complete answer. Charged: counts as not detected and not silent.
// Excused: leaves the denominator.
const (
	Counts Class = iota
	Charged
	Excused
)

// StatusRow is one line of the table of statuses.
type StatusRow struct {
	Status  Status
	Class   Class
	Error   bool   // counts in the error rate of a capture
	Stops   bool   // stops the whole capture
	Meaning string // one line for people
}

// Statuses is the one table of statuses, in the order of DESIGN section 5.
func Statuses() []StatusRow { return slices.Clone(statuses[:]) }

// statuses is not changed.
var statuses = [...]StatusRow{
	{OK, Counts, false, false, "a complete answer"},
	{Truncated, Charged, false, false, "cut at the token limit"},
	{Empty, Charged, false, false, "nothing said"},
	{Oversize, Charged, false, false, "an answer over 5 MB"},
	{BadFormat, Charged, false, false, "no JSON in the answer"},
	{BadSchema, Charged, false, false, "JSON that breaks the contract"},
	{Refused, Charged, false, false, "the model declines"},
	{NoToolCall, Charged, false, false, "a tool program answered without a tool"},
	{Budget, Charged, false, false, "the run's own cap of steps, tokens or money"},
	{Filtered, Excused, false, false, "the provider's content filter"},
	{Context, Excused, false, false, "the case does not fit the model"},
	{RateLimited, Excused, true, false, "the endpoint's rate limit"},
	{Transient, Excused, true, false, "a fault of the endpoint or the network"},
	{Timeout, Excused, true, false, "no answer in time"},
	{Auth, Excused, true, true, "the key was refused"},
	{Config, Excused, true, true, "the endpoint does not take such a request"},
	{Cancelled, Excused, false, false, "stopped by the operator or by a cap"},
	{LabelDefect, Excused, false, false, "the label contradicts the files"},
	{UnsupportedLanguage, Excused, false, false, "a file the tooling cannot read"},
	{NoCandidate, Excused, false, false, "nothing to judge on this side"},
}

// Row returns the line of the table for s; ok is false for an unknown status.
func (s Status) Row() (row StatusRow, ok bool) {
	for _, row := range statuses {
		if row.Status == s {
			return row, true
		}
	}
	return StatusRow{Status: s, Class: Excused}, false
}

// Class returns what s means for the score. An unknown status is excused: it
// must never turn into a number.
func (s Status) Class() Class {
	row, _ := s.Row()
	return row.Class
}
