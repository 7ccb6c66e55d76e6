package bench

import (
	"context"
	"fmt"
	"runtime"
	"sync"

	"github.com/youden-bench/youden/bench/endpoint"
	"github.com/youden-bench/youden/detector"
	"github.com/youden-bench/youden/measurements"
)

// recall makes the runs whose answers are all recorded, and returns the others. These
// come first, whatever then ends the capture: what was paid for must not leave the
// rows again because an endpoint is down now, a budget is spent, or the operator stops.
func (r *Runner) recall(ctx context.Context, p *Plan, cells []int32, st *state) (others []int32) {
	ctx = endpoint.Recall(context.WithoutCancel(ctx)) // it takes no time of anybody else
	queue := make(chan int)
	unknown := make([]bool, len(cells))
	var workers sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			for n := range queue {
				i := int(cells[n])
				run := p.Run(i)
				t := r.one(ctx, p, run)
				if unknown[n] = unrecorded(t); !unknown[n] {
					st.finish(i, run, t)
				}
			}
		})
	}
	for n := range cells {
		queue <- n
	}
	close(queue)
	workers.Wait()
	for n, i := range cells {
		if unknown[n] {
			others = append(others, i)
		}
	}
	return others
}

// unrecorded reports whether a run of recall needs a call that has no recorded answer,
// or one whose fate is not known.
func unrecorded(t detector.Trajectory) bool {
	for _, step := range t.Steps {
		if c := endpoint.CauseOf(step.Answer); c == endpoint.CauseUnrecorded || c == endpoint.CauseIndeterminate {
			return true
		}
	}
	return false
}

// choose returns the runs that are to be made, and keeps the others as unsent.
func (r *Runner) choose(p *Plan, cells []int32, st *state) (chosen []int32) {
	if r.Only == nil || r.Model == nil { // without a model nothing is lost to one
		return cells
	}
	for _, i := range cells {
		run := p.Run(int(i))
		if run.Reason != "" || r.Only(run) {
			chosen = append(chosen, i)
			continue
		}
		st.passed++
		if err := st.keep(int(i), run, detector.Trajectory{Status: detector.Cancelled, Detail: "not sent: only errors were asked again"}, st.simulated); err != nil {
			st.fail(err)
		}
	}
	return chosen
}

// RerunErrors lets the job, which is to be resumed, ask again for those runs alone that
// the capture in dir lost to the endpoint: what was never sent stays unsent. It
// returns how many there are.
func (j *Job) RerunErrors(dir string) (int, error) {
	c, err := measurements.Open(dir)
	if err != nil {
		return 0, err
	}
	type run struct {
		slice, id, side string
		k               int64
	}
	lost := map[run]bool{}
	for r, err := range c.Runs() {
		if err != nil {
			return 0, fmt.Errorf("--rerun-errors: %w", err)
		}
		if row, known := detector.Status(r.Status).Row(); known && row.Error {
			lost[run{r.Slice, r.CaseID, r.Side, r.K}] = true
		}
	}
	j.only = func(p PlannedRun) bool { return lost[run{p.Case.Slice, p.Case.ID, string(p.Side), int64(p.K)}] }
	return len(lost), nil
}
