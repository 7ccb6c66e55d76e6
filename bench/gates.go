package bench

import (
	"fmt"

	"github.com/youden-bench/youden/corpus"
	"github.com/youden-bench/youden/measurements"
	"github.com/youden-bench/youden/measurements/compare"
)

// loadGates reads the gates that the capture is to be held against, if any. A capture
// that goes on keeps those that it began with.
func (j *Job) loadGates() error {
	req := &j.Request
	if req.Gates == "" {
		return nil
	}
	gates, err := compare.LoadGates(req.Gates)
	if now := gates.Digest(); now != "" && req.GatesHash != "" && req.GatesHash != now {
		return fmt.Errorf("the gates of %s are others than those that the capture began with (was %.12s, is %.12s): restore the file, or say --gates FILE to hold the capture against it as it is now", req.Gates, req.GatesHash, now)
	}
	if err != nil {
		return err
	}
	j.gates, req.GatesHash = gates, gates.Digest()
	return nil
}

// foreseeGates refuses gates that the plan could never pass, or never fail.
func (j *Job) foreseeGates(planned []corpus.Outline) error {
	if j.gates.Len() == 0 {
		return nil
	}
	shape := compare.PlanShape(planned, j.Request.Runs)
	if j.callsModel() {
		priced := j.Request.Endpoint.Price != nil
		shape.Priced = &priced
	}
	if j.sequence != nil {
		shape = shape.Against(j.sequence.against)
	}
	return j.gates.Check(shape)
}

// hold judges the gates of a capture that has come to its end.
func (j *Job) hold(dir string, out *Outcome) error {
	if j.gates.Len() == 0 {
		return nil
	}
	whole, err := compare.Load(dir, j.Request.Policy, j.Request.View)
	if err != nil {
		return fmt.Errorf("judging the gates: %w", err)
	}
	c := out.Comparison
	if c == nil {
		out.Gates = j.gates.Judge(nil, whole)
		return nil
	}
	c.Hold(j.gates, j.sequence.against, whole)
	if k := out.Summary.Plan.K; k < j.Plan.K {
		c.Warnings = append(c.Warnings, fmt.Sprintf("the gates were judged on the %d runs a side that were made, of %d", k, j.Plan.K))
	}
	return nil
}

// held reports whether a capture without a comparison is to be held against gates: it
// has ended.
func (j *Job) held(out Outcome) bool {
	return j.sequence == nil && j.gates.Len() > 0 && out.Summary.Status == measurements.Complete
}
