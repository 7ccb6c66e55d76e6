package bench

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
	"sync"

	"github.com/youden-bench/youden/bench/budget"
	"github.com/youden-bench/youden/bench/endpoint"
	"github.com/youden-bench/youden/detector"
	"github.com/youden-bench/youden/measurements"
)

// DefaultConcurrency is how many runs are under way at once.
const DefaultConcurrency = 32

// Runner executes a plan.
type Runner struct {
	Program     detector.Program
	Model       detector.Model // nil for detectors that call none
	Simulated   bool
	Concurrency int
	Spare       int  // further runs while the answers of others are made durable; the model bounds the calls
	Recalls     bool // the model knows answers already: see recall
	// Only says which of the runs that are not recorded yet are made; nil = all.
	Only     func(run PlannedRun) bool
	Progress func(Progress)      // called after each run, never concurrently; may be nil
	Redact   func(string) string // removes the endpoint's key from a text; may be nil
	// Dir is where rows wait on the disk until they are written in plan order; "" =
	// the system's for temporary files.
	Dir string
	// Look is asked at each look of the plan whether the capture goes on, once all
	// runs of the look have ended; rows are theirs, in plan order. nil = no looks.
	Look func(k int, rows iter.Seq2[measurements.Rows, error]) (goOn bool, err error)
}

// Progress is how far a capture has come.
type Progress struct {
	Done, Total       int
	OK, Charged, Lost int // by class of status
	Calls             int // requests sent, replays excluded
	CostMicros        int64
	CostKnown         bool
	Last              detector.Status
}

// Stop says why a capture ended before its plan did; the zero value means that
// it did not.
type Stop struct {
	Status      detector.Status // what the unsent runs end in
	Detail      string
	Interrupted bool // by the operator
	Budget      bool // a cap lets nothing more be sent
}

// Result is what the runs of a plan gave. It holds their rows on the disk until it is
// closed.
type Result struct {
	Runs          int // those of k < K
	K             int // of the plan, or of the look that ended it
	Stop          Stop
	Passed        int    // runs that Runner.Only left out
	Indeterminate int    // runs whose call was sent by a process that died
	Cause         string // the commonest detail of runs that ended in an error of the endpoint

	plan  *Plan
	spool *spool
}

// Rows yields the rows of the runs in plan order.
func (r Result) Rows() iter.Seq2[measurements.Rows, error] {
	return r.spool.rows(r.plan.upTo(r.K))
}

// Close forgets the rows.
func (r Result) Close() error {
	if r.spool == nil {
		return nil
	}
	return r.spool.close()
}

// partial reports whether runs are missing that may still come.
func (r Result) partial() bool { return r.Stop.Status != "" || r.Indeterminate > 0 || r.Passed > 0 }

// Run executes every run of the plan; its result is to be closed, also after an error.
// A closed stop channel ends dispatching and
// lets the calls under way finish; a cancelled context abandons them too. Runs
// that were never sent end as cancelled, or in the status that stopped the
// capture. It is an error only if a run ended in no status at all.
func (r *Runner) Run(ctx context.Context, p *Plan, stop <-chan struct{}) (Result, error) {
	spool, err := newSpool(r.Dir, p.Runs())
	if err != nil {
		return Result{}, err
	}
	concurrency := r.Concurrency
	if concurrency < 1 {
		concurrency = DefaultConcurrency
	}
	st := &state{
		spool: spool, projector: measurements.NewProjector(), simulated: r.Simulated,
		total: p.Runs(), limit: concurrency, report: r.Progress, knownCost: true, causes: map[string]int{},
	}
	var unsent []int32
	k := p.K
	for _, stage := range p.stages() {
		unsent = append(unsent, r.stage(ctx, p, stage.cells, stop, st, concurrency)...)
		if st.stopped() || r.Look == nil {
			continue // the later stages are unsent too
		}
		goOn, err := r.Look(stage.k, spool.rows(p.upTo(stage.k)))
		if err != nil {
			return Result{spool: spool}, err
		}
		if !goOn {
			k = stage.k
			break
		}
	}
	return st.result(p, k, unsent)
}

// stage executes some of the plan's cells and waits for them. It returns those
// that were not sent.
func (r *Runner) stage(ctx context.Context, p *Plan, cells []int32, stop <-chan struct{}, st *state, concurrency int) []int32 {
	if r.Recalls {
		cells = r.recall(ctx, p, cells, st)
	}
	cells = r.choose(p, cells, st)
	queue := make(chan int)
	var workers sync.WaitGroup
	for range min(concurrency+r.Spare, max(1, len(cells))) {
		workers.Go(func() {
			for i := range queue {
				run := p.Run(i)
				t := r.one(ctx, p, run)
				st.finish(i, run, t)
				if why, ended := endOf(ctx, stop); ended && t.Status == detector.Cancelled {
					st.halt(why) // perhaps nothing was left to dispatch
				}
			}
		})
	}
	unsent := r.dispatch(ctx, cells, stop, st, queue)
	close(queue)
	workers.Wait()
	return unsent
}

// dispatch hands out runs in their order until they, the operator or an error end
// it, and returns the indices it did not hand out.
func (r *Runner) dispatch(ctx context.Context, order []int32, stop <-chan struct{}, st *state, queue chan<- int) []int32 {
	for n, i := range order {
		if st.stopped() {
			return order[n:]
		}
		why, ended := endOf(ctx, stop) // first: a select that finds a free worker too may choose it
		if !ended {
			select {
			case <-ctx.Done():
			case <-stop:
			case queue <- int(i):
				continue
			}
			why, _ = endOf(ctx, stop)
		}
		st.halt(why)
		return order[n:]
	}
	return nil
}

var interrupted = Stop{Status: detector.Cancelled, Detail: "stopped by the operator", Interrupted: true}

// endOf says whether the capture is to end, and why: the operator wants it, or the
// time is spent.
func endOf(ctx context.Context, stop <-chan struct{}) (Stop, bool) {
	select {
	case <-stop:
		return interrupted, true
	default:
	}
	var refused *budget.RefusedError
	if errors.As(context.Cause(ctx), &refused) {
		return Stop{Status: detector.Cancelled, Detail: refused.Error(), Budget: true}, true
	}
	return interrupted, ctx.Err() != nil
}

// one executes one run; a panic of a program is that run's fault and must not
// take the paid answers of the others with it.
func (r *Runner) one(ctx context.Context, p *Plan, run PlannedRun) (t detector.Trajectory) {
	if run.Reason != "" {
		return detector.Trajectory{Status: run.Reason, Detail: run.Detail}
	}
	defer func() {
		if fault := recover(); fault != nil {
			t = detector.Trajectory{Detail: fmt.Sprintf("internal error: %v", fault)}
		}
	}()
	t = r.Program.Run(endpoint.WithSample(ctx, run.K), p.target(run), r.Model)
	if r.Redact != nil {
		t = redacted(t, r.Redact)
	}
	return t
}

// state is what the workers share.
type state struct {
	spool     *spool
	projector *measurements.Projector
	simulated bool

	mu        sync.Mutex
	stop      Stop
	halted    bool
	refused   int // refused connections in a row
	limit     int
	total     int
	done      Progress
	knownCost bool
	report    func(Progress)
	faults    []error
	lost      error          // rows could not be kept
	passed    int            // runs that Only left out
	unknown   int            // runs with a call of unknown fate
	causes    map[string]int // runs that ended in an error of the endpoint, by detail
}

func (s *state) stopped() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.halted
}

func (s *state) halt(stop Stop) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.halted {
		s.stop, s.halted = stop, true
	}
}

// finish stores a run and decides whether the capture must end.
func (s *state) finish(i int, run PlannedRun, t detector.Trajectory) {
	row, known := t.Status.Row()
	if known {
		if err := s.keep(i, run, t, s.simulated || saysSimulated(t)); err != nil {
			s.fail(err)
			return
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if !known {
		s.faults = append(s.faults, fmt.Errorf("run %d of the %s side of %s: %s", run.K, run.Side, run.Case.ID, t.Detail))
		s.stop, s.halted = Stop{Status: detector.Cancelled, Detail: "an internal error"}, true
		return
	}
	s.note(t)
	if row.Error {
		s.blame(t.Detail)
	}
	if why, must := s.mustStop(row, run, t); must && !s.halted {
		s.stop, s.halted = why, true
	}
	s.count(row.Class, t)
}

// keep puts the rows of a run where they wait.
func (s *state) keep(i int, run PlannedRun, t detector.Trajectory, simulated bool) error {
	rows := s.projector.Project(run.Cell, t, simulated)
	return s.spool.put(i, &rows)
}

// fail ends the capture where rows cannot be kept. What they came from is in the
// ledger.
func (s *state) fail(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.lost == nil {
		s.lost = err
	}
	s.stop, s.halted = Stop{Status: detector.Cancelled, Detail: err.Error()}, true
}

// maxCauses bounds the details that are counted: an endpoint may make one up for each
// call.
const maxCauses = 1000

func (s *state) blame(detail string) {
	if _, seen := s.causes[detail]; detail != "" && (seen || len(s.causes) < maxCauses) {
		s.causes[detail]++
	}
}

// cause is the commonest detail, the first by name of equals.
func (s *state) cause() string {
	most := ""
	for detail, n := range s.causes {
		if best := s.causes[most]; n > best || n == best && detail < most {
			most = detail
		}
	}
	return most
}

// saysSimulated reports whether a simulated endpoint answered, also one that the
// configuration takes for a real one.
func saysSimulated(t detector.Trajectory) bool {
	for _, step := range t.Steps {
		if strings.HasPrefix(step.Answer.Fingerprint, "fp_sim_") || strings.HasPrefix(step.Answer.Model, "sim-") {
			return true
		}
	}
	return false
}

// mustStop says whether a run shows that the others would end in the same way,
// or that their answers could not be kept.
func (s *state) mustStop(row detector.StatusRow, run PlannedRun, t detector.Trajectory) (Stop, bool) {
	stop := Stop{Status: t.Status, Detail: t.Detail}
	if row.Stops && run.Reason == "" {
		return stop, true
	}
	if s.refused >= s.limit {
		stop.Detail = fmt.Sprintf("%d connections refused in a row: %s", s.refused, t.Detail)
		return stop, true
	}
	for _, step := range t.Steps {
		switch endpoint.CauseOf(step.Answer) {
		case endpoint.CauseQuota, endpoint.CauseLedger:
			return stop, true
		case endpoint.CauseBudget:
			// What is small may still fit. But whoever went on with the small ones
			// would measure another corpus.
			return Stop{Status: t.Status, Detail: endpoint.ReasonOf(step.Answer), Budget: true}, true
		}
	}
	return Stop{}, false
}

// note counts calls of unknown fate, and connections refused in a row; any other
// outcome of a call shows that somebody listens.
func (s *state) note(t detector.Trajectory) {
	for _, step := range t.Steps {
		switch {
		case endpoint.CauseOf(step.Answer) == endpoint.CauseIndeterminate:
			s.unknown++
		case step.Kind != detector.ModelStep || step.Answer.Replayed:
		case endpoint.CauseOf(step.Answer) == endpoint.CauseRefused:
			s.refused++
		default:
			s.refused = 0
		}
	}
}

func (s *state) count(class detector.Class, t detector.Trajectory) {
	s.done.Done++
	s.done.Total = s.total
	s.done.Last = t.Status
	switch class {
	case detector.Counts:
		s.done.OK++
	case detector.Charged:
		s.done.Charged++
	default:
		s.done.Lost++
	}
	for _, step := range t.Steps {
		if step.Kind != detector.ModelStep || step.Answer.Attempts == 0 && !step.Answer.Replayed {
			continue // never left the process, and cost nothing
		}
		if !step.Answer.Replayed {
			s.done.Calls += step.Answer.Attempts
		}
		if step.Answer.CostMicros == nil {
			s.knownCost = false
		} else {
			s.done.CostMicros += *step.Answer.CostMicros
		}
	}
	s.done.CostKnown = s.knownCost
	if s.report != nil {
		s.report(s.done)
	}
}

// result gives the unsent runs the status that ended the capture, with no
// attempt.
func (s *state) result(p *Plan, k int, unsent []int32) (Result, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := Result{K: k, Stop: s.stop, Indeterminate: s.unknown, Passed: s.passed, plan: p, spool: s.spool}
	if len(s.faults) > 0 {
		return r, &InternalError{errors.Join(s.faults...)}
	}
	for _, i := range unsent {
		run := p.Run(int(i))
		t := detector.Trajectory{Status: s.stop.Status, Detail: "not sent: " + s.stop.Detail}
		if run.Reason != "" {
			t = detector.Trajectory{Status: run.Reason, Detail: run.Detail}
		}
		if row, _ := t.Status.Row(); row.Error {
			s.blame(t.Detail)
		}
		if s.lost == nil {
			s.lost = s.keep(int(i), run, t, s.simulated)
		}
	}
	r.Runs, r.Cause = len(p.sides)*k, s.cause()
	return r, s.lost
}
