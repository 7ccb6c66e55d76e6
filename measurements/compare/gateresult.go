package compare

import (
	"fmt"
	"math"
)

// GateOutcome is what a gate came to.
type GateOutcome string

// The outcomes. No data is a failure; a gate is unsure when it passes and the
// runs that are missing could make it fail.
const (
	GatePass   GateOutcome = "pass"
	GateFail   GateOutcome = "fail"
	GateNoData GateOutcome = "no data"
	GateUnsure GateOutcome = "unsure"
)

// GateResult is a gate and what it came to. Unknown is nil.
type GateResult struct {
	Name    string      `json:"name"`
	File    string      `json:"file"`
	Line    int         `json:"line"`
	Added   bool        `json:"added,omitempty"` // by the program: see Gates.Notes
	Metric  string      `json:"metric,omitempty"`
	Scope   string      `json:"scope"`
	Asked   string      `json:"asked"` // as in the file
	Outcome GateOutcome `json:"outcome"`
	Value   *float64    `json:"value"`
	Old     *float64    `json:"old,omitempty"` // of a drop-only gate
	Limit   *float64    `json:"limit"`         // that Value is held against
	N       int         `json:"n"`             // cases; runs, of a metric of the whole capture
	Failing []string    `json:"failing,omitempty"`
	Reason  string      `json:"reason"`
}

// Verdict is what the gate adds to that of a comparison.
func (r GateResult) Verdict() Verdict {
	switch r.Outcome {
	case GatePass:
		return Pass
	case GateUnsure:
		return Inconclusive
	}
	return Fail
}

// Shown writes the value with as many decimals as tell it from its limit; of
// min_pass it is the cases that have the runs. It is "" without a value.
func (r GateResult) Shown() string {
	switch {
	case r.Value == nil || r.Limit == nil:
		return ""
	case r.Metric == "":
		return fmt.Sprintf("%d/%d cases", int(math.Round(*r.Value*float64(r.N))), r.N)
	}
	value, _ := tellApart(*r.Value, *r.Limit)
	return value
}

// GateResults are those of a file, in its order.
type GateResults []GateResult

// Verdict is that of the worst gate; Pass without one.
func (r GateResults) Verdict() Verdict {
	v := Pass
	for _, one := range r {
		v = worse(v, one.Verdict())
	}
	return v
}

// Regressions says in a line each which gates failed.
func (r GateResults) Regressions() []string { return r.lines(Fail) }

// Doubts says in a line each which gates the missing runs leave open.
func (r GateResults) Doubts() []string { return r.lines(Inconclusive) }

func (r GateResults) lines(v Verdict) []string {
	lines := []string{}
	for _, one := range r {
		if one.Verdict() == v {
			lines = append(lines, fmt.Sprintf("gate %q (%s): %s", one.Name, one.Asked, one.Reason))
		}
	}
	return lines
}
