package bench

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/youden-bench/youden/corpus"
	"github.com/youden-bench/youden/measurements"
	"github.com/youden-bench/youden/measurements/compare"
)

// freshFolder is the capture of the runs that confirm a suspicion, inside the
// capture that raised it. They are no runs of that one: what is added where a
// capture disagrees with its baseline would bias its mean.
const freshFolder = "fresh"

// sequence compares a capture with a baseline while it grows (spec/statistics.md
// section 4).
type sequence struct {
	against *compare.Subject
	options compare.Options
	record  measurements.Sequential
	look    *compare.Look // the last one made
	regular *compare.Subject
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
	j.sequence = &sequence{against: subject, options: compare.Options{Seed: req.Seed, MaxErrorRate: &req.MaxErrorRate}}
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

// planLooks refuses, before anything is paid for, a plan without a case that the
// baseline has scored.
func (j *Job) planLooks() error {
	s := j.sequence
	if s == nil {
		return nil
	}
	var hashes []string
	for _, c := range j.Plan.cases() {
		hashes = append(hashes, c.Hash())
	}
	if !s.against.ScoresAny(hashes) {
		return &IncomparableError{Against: j.Request.Against, Reasons: []string{"no planned case was scored by it"}}
	}
	j.Plan.Looks = compare.LookRuns()
	s.record = measurements.Sequential{
		Against: j.Request.Against, AgainstHash: s.against.Digest(), PlannedK: j.Plan.K, PlannedRuns: j.Plan.Runs(), Looks: []measurements.Look{},
	}
	j.manifest.Plan.Sequential = &s.record
	return nil
}

// lookAt is asked by the runner once all runs of a look have ended.
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
	record := measurements.Look{K: k, Verdict: string(c.Verdict)}
	if n := slices.IndexFunc(c.Slices, func(r compare.Row) bool { return r.Decides }); n >= 0 && len(c.Slices) == 1 {
		record.Delta = c.Slices[n].Delta
	}
	s.record.Looks = append(s.record.Looks, record)
	if s.look.Stop {
		s.record.Stopped = number + 1
	}
	watch.note(describeLook(number+1, record, s.look))
	return !s.look.Stop, nil
}

func describeLook(number int, l measurements.Look, look *compare.Look) string {
	text := fmt.Sprintf("look %d at K = %d: %s", number, l.K, l.Verdict)
	if l.Delta != nil {
		text += fmt.Sprintf(", J %s against the baseline", compare.Signed(*l.Delta))
	}
	switch {
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

// conclude confirms what the last look suspects and closes the books again, with
// the verdict. Until then the capture is partial: resuming goes on with it.
func (j *Job) conclude(ctx context.Context, c *measurements.Capture, out *Outcome, stop <-chan struct{}, watch Watch) (err error) {
	status := measurements.Complete
	if s := j.sequence; s.look != nil && len(s.look.Suspects) > 0 {
		if out.Fresh, err = j.confirm(ctx, c, out.Summary.Totals, stop, watch); err != nil {
			return err
		}
		c.Spent(j.budgetRecord(out.Fresh.Stop))
		if out.Fresh.Verdict(j.Request.MaxErrorRate) != Passed {
			status = measurements.Partial
		}
	}
	if status == measurements.Complete {
		out.Comparison = j.sequence.settle(out.Summary.Totals.Spend)
	}
	if err := c.Finish(status, out.Summary.Totals); err != nil {
		return err
	}
	out.Summary, err = c.Summary(j.Request.Policy, j.Request.View)
	return err
}

// confirm makes the fresh runs of the suspects, in a capture of their own, and
// completes the verdict.
func (j *Job) confirm(ctx context.Context, c *measurements.Capture, totals measurements.Totals, stop <-chan struct{}, watch Watch) (*Outcome, error) {
	s := j.sequence
	fresh, err := j.fresh()
	if err != nil {
		return nil, err
	}
	dir := filepath.Join(c.Dir(), freshFolder)
	run := func() (Outcome, error) { return fresh.Resume(ctx, dir, stop, watch) }
	if _, err := os.Stat(filepath.Join(dir, manifestFile)); errors.Is(err, fs.ErrNotExist) {
		clearStart(dir)
		created, err := fresh.create(dir, c.Manifest().Provenance)
		if err != nil {
			return nil, err
		}
		run = func() (Outcome, error) { return fresh.run(ctx, created, stop, watch) }
	}
	// Once this is written the folder is there: when it is missing later, what was
	// paid for in it was lost.
	s.record.FreshRuns = fresh.Plan.Runs()
	if err := c.Finish(measurements.Partial, totals); err != nil {
		return nil, err
	}
	out, err := run()
	if err != nil || out.Verdict(j.Request.MaxErrorRate) != Passed {
		return &out, err
	}
	subject, err := compare.Load(dir, j.Request.Policy, j.Request.View)
	if err != nil {
		return nil, err
	}
	s.record.Fresh = s.look.Confirm(s.against, s.regular, subject, s.options)
	spend := out.Summary.Totals.Spend
	s.record.FreshCalls = &spend.Calls
	if spend.CostUnknown == 0 {
		s.record.FreshCostUSDMicros = spend.CostUSDMicros
	}
	return &out, nil
}

// manifestFile is what makes a folder a capture.
const manifestFile = "capture.json"

// clearStart removes what a process left that died while it made a capture: files
// that were to be renamed. Anything else in the folder stays, and is refused.
func clearStart(dir string) {
	leftovers, _ := filepath.Glob(filepath.Join(dir, "*.tmp")) // the pattern is well-formed
	for _, name := range leftovers {
		_ = os.Remove(name) // one that stays is refused with the folder
	}
}

// holdsFresh checks that the fresh runs which a capture has paid for are there.
func holdsFresh(ctx context.Context, c *measurements.Capture) error {
	s := c.Manifest().Plan.Sequential
	if s == nil || s.FreshRuns == 0 {
		return nil
	}
	fresh, err := measurements.Reopen(filepath.Join(c.Dir(), freshFolder))
	if err != nil {
		return fmt.Errorf("its fresh runs are missing: resuming would pay for them again; restore the folder %s, or start a new capture (%w)", freshFolder, err)
	}
	return holdsReceipts(ctx, fresh)
}

// fresh plans the runs that confirm: another seed, so that nothing of what was
// seen is seen again.
func (j *Job) fresh() (*Job, error) {
	var cases []*corpus.Case
	fresh := *j
	fresh.sequence = nil
	fresh.Request.Against, fresh.Request.Runs, fresh.Request.Seed = "", compare.FreshRuns, freshSeed(j.Plan.Seed)
	fresh.Request.Families, fresh.Request.Slices, fresh.Request.Cases, fresh.Request.Limit = nil, nil, nil, 0
	for _, c := range j.Plan.cases() {
		if slices.Contains(j.sequence.look.Suspects, compare.Suspect{Slice: c.Slice, Family: string(c.Family)}) {
			cases = append(cases, c)
			fresh.Request.Cases = append(fresh.Request.Cases, c.ID)
		}
	}
	var err error
	if fresh.Plan, err = NewPlan(cases, j.Detector, compare.FreshRuns, fresh.Request.Seed); err != nil {
		return nil, err
	}
	m := j.manifest
	return &fresh, fresh.record(m.Plan.Corpus.Source, selection{split: m.Plan.Split, openings: m.Openings})
}

func freshSeed(seed uint64) uint64 {
	sum := sha256.Sum256(fmt.Appendf(nil, "youden/fresh/1\n%d\n", seed))
	return binary.BigEndian.Uint64(sum[:]) >> 11
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
