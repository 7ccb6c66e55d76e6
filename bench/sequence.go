package bench

import (
	"context"
	"fmt"
	"iter"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/youden-bench/youden/bench/ledger"
	"github.com/youden-bench/youden/corpus"
	"github.com/youden-bench/youden/measurements"
	"github.com/youden-bench/youden/measurements/compare"
)

// sequence compares a capture with a baseline while it grows (spec/statistics.md
// section 4).
type sequence struct {
	against *compare.Subject
	options compare.Options
	record  measurements.Sequential
	look    *compare.Look // the last one made
	regular *compare.Subject
	paid    int // runs a side that earlier processes sent, some of them at least
	failed  *failure
	whole   bool // all planned runs are wanted unless it fails: gates are held against them
}

// failure is a look that failed and did not end the capture.
type failure struct {
	number, k int
	look      *compare.Look
}

// IncomparableError says why a planned capture could not be compared with what it
// was to be compared with.
type IncomparableError struct {
	Against string
	Reasons []string
}

func (e *IncomparableError) Error() string {
	return fmt.Sprintf("the capture could not be compared with %s: %s; nothing was sent", e.Against, strings.Join(e.Reasons, "; "))
}

// loadBaseline reads what the capture is to be compared with, if anything.
func (j *Job) loadBaseline() error {
	req := j.Request
	if req.Against == "" {
		return nil
	}
	looks := compare.LookRuns()
	if k := looks[len(looks)-1]; req.Runs != k {
		return fmt.Errorf("--runs %d with --against: the scheme looks at %s runs a side, so leave --runs at %d", req.Runs, listLooks(looks), k)
	}
	subject, err := compare.Load(req.Against, req.Policy, req.View)
	if err != nil {
		return fmt.Errorf("--against: %w", err)
	}
	j.sequence = &sequence{against: subject, options: compare.Options{Seed: req.Seed, MaxErrorRate: &req.MaxErrorRate}, whole: j.gates.Len() > 0}
	return nil
}

// listLooks writes looks as in "2 and 5".
func listLooks(ks []int) string {
	words := make([]string, len(ks))
	for i, k := range ks {
		words[i] = strconv.Itoa(k)
	}
	return strings.Join(words, " and ")
}

// checkBaseline refuses a baseline that the capture could not be compared with,
// whatever its cases: before the holdout leaves its seal.
func (j *Job) checkBaseline() error {
	if j.sequence == nil {
		return nil
	}
	if reasons := compare.Planned(j.sequence.against, j.manifest); len(reasons) > 0 {
		return &IncomparableError{Against: j.Request.Against, Reasons: reasons}
	}
	return nil
}

// foreseeLooks refuses a plan without a case that the baseline has scored.
func (j *Job) foreseeLooks(planned []corpus.Outline) error {
	if j.sequence == nil {
		return nil
	}
	var hashes []string
	for _, o := range planned {
		hashes = append(hashes, o.Hash)
	}
	before := j.sequence.against
	if before.ScoresAny(hashes) {
		return nil
	}
	reason := "no planned case was scored by it"
	if before.Split != "" {
		reason += fmt.Sprintf(" (it is of split %s, and split %s is planned)", before.Split, j.Request.Split)
	}
	return &IncomparableError{Against: j.Request.Against, Reasons: []string{reason}}
}

// planLooks puts the looks into the plan.
func (j *Job) planLooks() {
	s := j.sequence
	if s == nil {
		return
	}
	j.Plan.Looks = compare.LookRuns()
	s.record = measurements.Sequential{
		Against: j.Request.Against, AgainstHash: s.against.Digest(), PlannedK: j.Plan.K, PlannedRuns: j.Plan.Runs(), Looks: []measurements.Look{},
	}
	j.manifest.Plan.Sequential = &s.record
}

// lookAt is asked by the runner once all runs of a look have ended. A look that was
// passed stays passed: where a resumed capture recovers runs, an earlier look may say
// otherwise than it did, but what was sent after it is paid for, and belongs to the
// capture.
func (s *sequence) lookAt(m measurements.Manifest, k int, rows iter.Seq2[measurements.Rows, error], watch Watch) (goOn bool, err error) {
	runs := func(yield func(measurements.RunRow, error) bool) {
		for r, err := range rows {
			if !yield(r.Run, err) {
				return
			}
		}
	}
	if s.regular, err = compare.Growing(m.ID, m, runs, k); err != nil {
		return false, err
	}
	number := len(s.record.Looks)
	s.look = compare.LookAt(s.against, s.regular, number, s.options)
	c := s.look.Comparison
	why := ""
	if s.look.Stop && k < s.paid {
		why, s.look.Stop = "later runs were made already, going on with them", false
		if c.Verdict == compare.Fail && s.failed == nil {
			s.failed = &failure{number + 1, k, s.look}
		}
	}
	if s.look.Stop && s.whole && c.Verdict == compare.Pass && k < s.record.PlannedK {
		why, s.look.Stop = "going on, for the gates want all runs", false
	}
	if s.failed != nil && s.failed.look != s.look {
		s.look.Uphold(s.failed.number, s.failed.k, s.failed.look.Comparison)
	}
	record := measurements.Look{K: k, Verdict: string(c.Verdict)}
	if n := slices.IndexFunc(c.Slices, func(r compare.Row) bool { return r.Decides }); n >= 0 && len(c.Slices) == 1 {
		record.Delta = c.Slices[n].Delta
	}
	s.record.Looks = append(s.record.Looks, record)
	if s.look.Stop {
		s.record.Stopped = number + 1
	}
	watch.note(describeLook(number+1, record, s.look, why))
	return !s.look.Stop, nil
}

func describeLook(number int, l measurements.Look, look *compare.Look, why string) string {
	text := fmt.Sprintf("look %d at K = %d: %s", number, l.K, l.Verdict)
	if l.Delta != nil {
		text += fmt.Sprintf(", J %s against the baseline", compare.Signed(*l.Delta))
	}
	switch {
	case why != "":
		text += "; " + why
	case len(look.Suspects) > 0:
		var names []string
		for _, s := range look.Suspects {
			names = append(names, s.Family)
		}
		text += fmt.Sprintf("; %d fresh runs a side for what looks worse: %s", compare.FreshRuns, strings.Join(names, ", "))
	case look.Stop:
		text += "; no further run is needed"
	case look.Comparison.Verdict == compare.Pass:
		text += "; no loss shown so far, going on to be sure"
	default:
		text += "; not clear yet, going on"
	}
	return text
}

// keep takes over what an earlier process wrote down of fresh runs.
func (s *sequence) keep(before *measurements.Sequential) {
	if before == nil {
		return
	}
	s.record.FreshCaptures = slices.Clone(before.FreshCaptures)
	if before.FreshRuns > 0 && len(before.FreshCaptures) == 0 { // of a version that knew one alone
		s.record.FreshCaptures = []measurements.FreshCapture{{Folder: freshFolder, Runs: before.FreshRuns}}
	}
	s.record.Sum()
}

// paidRuns is how many runs a side a ledger knows calls of, at most.
func (j *Job) paidRuns(ctx context.Context, l *ledger.Ledger) (k int, err error) {
	if l == nil {
		return 0, nil
	}
	for entry, err := range l.Attempts(ctx) {
		if err != nil {
			return 0, fmt.Errorf("reading what was sent: %w", err)
		}
		if entry.Dispatch.Scope == j.scope() {
			k = max(k, int(entry.Dispatch.Index)+1)
		}
	}
	return k, nil
}

// settle completes the record once the verdict is reached.
func (s *sequence) settle(spend measurements.Spend) *compare.Comparison {
	c, r := s.look.Comparison, &s.record
	r.Verdict = string(c.Verdict)
	r.RunsSaved = r.PlannedRuns - int(spend.Runs) - r.FreshRuns
	if spend.Runs > 0 {
		calls := int64(math.Round(float64(r.RunsSaved) * float64(spend.Calls) / float64(spend.Runs)))
		r.CallsSaved = &calls
	}
	c.Sequential = r
	return c
}
