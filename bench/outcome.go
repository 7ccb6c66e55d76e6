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
	Interrupted  Verdict = iota
	RateLimited          // by a quota; resumable
	Unaffordable         // a cap let nothing more be sent; resumable
	Incomplete           // nothing scored, partial, or too many runs lost to the endpoint
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
	case t.RunsOK+t.RunsCharged == 0:
		return Incomplete
	case o.Stop.Budget:
		return Unaffordable
	case o.Summary.Status != measurements.Complete, o.Indeterminate > 0:
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
	for status := range o.Summary.Totals.Statuses {
		row, _ := detector.Status(status).Row()
		if row.Error && row.Status != detector.RateLimited {
			return false
		}
		lost = lost || row.Error
	}
	return lost
}

// sent counts the planned runs that are sent.
func (p *Plan) sent() int {
	n := 0
	for _, s := range p.sides {
		if s.reason == "" {
			n += p.K
		}
	}
	return n
}

// Describe prints the plan of a job and what it may come to. It sends nothing.
func (j *Job) Describe(ctx context.Context, w io.Writer) error {
	p, m := j.Plan, j.manifest.Plan
	sent := p.sent()
	fmt.Fprintf(w, "plan: %d runs of %s over %d cases (K = %d, split %s, seed %d)\n", p.Runs(), m.Detector.Name, p.Cases, p.K, m.Split, p.Seed)
	if s := m.Sequential; s != nil {
		fmt.Fprintf(w, "against %s: looks at %s runs a side, where it may stop; families that look worse at the last get %d fresh runs a side\n", s.Against, listLooks(p.Looks), compare.FreshRuns)
	}
	if n := j.gates.Len(); n > 0 {
		fmt.Fprintf(w, "gates: %d of %s, held against the capture at its end", n, j.Request.Gates)
		if m.Sequential != nil {
			fmt.Fprint(w, "; no look ends it early but on FAIL")
		}
		fmt.Fprintln(w)
	}
	if j.callsModel() {
		e, err := j.Estimate(ctx)
		if err != nil {
			return err
		}
		fmt.Fprintf(w, "endpoint: %s, model %s\n", j.Request.Endpoint.Public(), m.Endpoint.Model)
		e.write(w, p, j.Request.Caps)
	} else {
		fmt.Fprintf(w, "endpoint: none; %s makes no calls\n", m.Detector.Name)
	}
	if unsent := p.Runs() - sent; unsent > 0 {
		fmt.Fprintf(w, "never sent: %d runs of cases that cannot be scored; `youden corpus lint` names them\n", unsent)
	}
	if len(p.LeftOut) > 0 {
		fmt.Fprintf(w, "left out: %s\n", describeLeftOut(p.LeftOut))
	}
	fmt.Fprintf(w, "hashes: corpus %.12s, detector %.12s\n", m.Corpus.Hash, m.Detector.Hash)
	return nil
}
