package bench

import (
	"context"
	"fmt"
	"io"

	"github.com/youden-bench/youden/detector"
	"github.com/youden-bench/youden/measurements"
	"github.com/youden-bench/youden/measurements/compare"
)

// InternalError is a defect of this program, not of the input or the endpoint.
type InternalError struct{ Err error }

func (e *InternalError) Error() string { return "internal error: " + e.Err.Error() }

// Unwrap returns the cause.
func (e *InternalError) Unwrap() error { return e.Err }

// Verdict says how a capture ended, for the exit code of a process.
type Verdict int

// The verdicts of a capture, the strongest first.
const (
	Interrupted Verdict = iota
	RateLimited         // by a quota; resumable
	Incomplete          // nothing scored, partial, or too many runs lost to the endpoint
	Passed
)

// Verdict judges the outcome. maxErrorRate is the highest share of the
// dispatched runs that may end in an error of the endpoint.
func (o Outcome) Verdict(maxErrorRate float64) Verdict {
	t := o.Summary.Totals
	switch {
	case o.Fresh != nil && o.Fresh.Verdict(maxErrorRate) != Passed:
		return o.Fresh.Verdict(maxErrorRate)
	case o.Stop.Interrupted:
		return Interrupted
	case o.Stop.Status == detector.RateLimited:
		return RateLimited
	case o.onlyRateLimited() && (t.RunsOK+t.RunsCharged == 0 || *t.ErrorRate > maxErrorRate):
		return RateLimited
	case t.RunsOK+t.RunsCharged == 0, o.Summary.Status != measurements.Complete, o.Indeterminate > 0:
		return Incomplete
	case t.ErrorRate != nil && *t.ErrorRate > maxErrorRate:
		return Incomplete
	}
	return Passed
}

// onlyRateLimited reports whether runs were lost, and all of them to the rate
// limit.
func (o Outcome) onlyRateLimited() bool {
	lost := false
	for _, r := range o.Summary.Runs {
		row, _ := detector.Status(r.Status).Row()
		if row.Error && row.Status != detector.RateLimited {
			return false
		}
		lost = lost || row.Error
	}
	return lost
}

// sizing is a model that measures what it is asked and answers nothing.
type sizing struct{ bytes int }

func (s *sizing) Complete(_ context.Context, req detector.Request) detector.Answer {
	for _, m := range req.Messages {
		s.bytes += len(m.Content)
	}
	return detector.Answer{Status: detector.Cancelled, Detail: "only planned"}
}

// promptTokens estimates the tokens of the first request of every run, at four
// bytes a token.
func (j *Job) promptTokens() int {
	model := &sizing{}
	for _, cell := range j.Plan.Cells {
		if cell.Reason == "" {
			j.Program.Run(context.Background(), j.Plan.target(cell), model)
		}
	}
	return model.bytes / 4
}

// sent counts the planned runs that are sent, of the first k a side.
func (p *Plan) sent(k int) int {
	n := 0
	for _, cell := range p.Cells {
		if cell.Reason == "" && cell.K < k {
			n++
		}
	}
	return n
}

// calls says how many calls a plan takes at least, one a run.
func (p *Plan) calls() string {
	if len(p.Looks) == 0 {
		return fmt.Sprintf("%d calls", p.sent(p.K))
	}
	return fmt.Sprintf("%d calls if it stops at the first look, %d if it makes all planned runs, %d with fresh runs of every family",
		p.sent(p.Looks[0]), p.sent(p.K), p.sent(p.K)+p.sent(1)*compare.FreshRuns)
}

// Describe prints the plan of a job.
func (j *Job) Describe(w io.Writer) {
	p, m := j.Plan, j.manifest.Plan
	sent := p.sent(p.K)
	fmt.Fprintf(w, "plan: %d runs of %s over %d cases (K = %d, split %s, seed %d)\n", len(p.Cells), m.Detector.Name, p.Cases, p.K, m.Split, p.Seed)
	if s := m.Sequential; s != nil {
		fmt.Fprintf(w, "against %s: looks at %s runs a side, where it may stop; families that look worse at the last get %d fresh runs a side\n", s.Against, listLooks(p.Looks), compare.FreshRuns)
	}
	if j.callsModel() {
		fmt.Fprintf(w, "endpoint: %s, model %s; at least %s", j.Request.Endpoint.Public(), m.Endpoint.Model, p.calls())
		tokens := j.promptTokens()
		fmt.Fprintf(w, ", about %d prompt tokens", tokens)
		if len(p.Looks) > 0 {
			fmt.Fprint(w, " for all planned runs")
		}
		if p := j.Request.Endpoint.Price; p != nil {
			fmt.Fprintf(w, ", about $%.4f for the prompts", float64(tokens)**p.Prompt/1e6)
		}
		fmt.Fprintln(w)
	} else {
		fmt.Fprintf(w, "endpoint: none; %s makes no calls\n", m.Detector.Name)
	}
	if unsent := len(p.Cells) - sent; unsent > 0 {
		fmt.Fprintf(w, "never sent: %d runs of cases that cannot be scored; `youden corpus lint` names them\n", unsent)
	}
	if len(p.LeftOut) > 0 {
		fmt.Fprintf(w, "left out: %s\n", describeLeftOut(p.LeftOut))
	}
	fmt.Fprintf(w, "hashes: corpus %.12s, detector %.12s\n", m.Corpus.Hash, m.Detector.Hash)
}
