package bench

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/youden-bench/youden/bench/budget"
	"github.com/youden-bench/youden/bench/ledger"
	"github.com/youden-bench/youden/measurements"
	"github.com/youden-bench/youden/measurements/compare"
)

// LedgerFile holds every attempt of a capture.
const LedgerFile = "ledger.db"

// CaptureID names a new capture: when, what, and a few random digits so that two
// captures of one second do not meet.
func CaptureID(now time.Time, detectorName string) (string, error) {
	var b [2]byte
	if _, err := rand.Read(b[:]); err != nil {
		return "", fmt.Errorf("name the capture: %w", err)
	}
	name := unsafeInName.ReplaceAllString(filepath.Base(detectorName), "-")
	return fmt.Sprintf("%s-%s-%s", now.UTC().Format("20060102T150405Z"), strings.Trim(name, "-."), hex.EncodeToString(b[:])), nil
}

var unsafeInName = regexp.MustCompile(`[^A-Za-z0-9._-]+`)

// Outcome is a capture that has ended, whole or in part.
type Outcome struct {
	Dir           string
	Stop          Stop
	Indeterminate int    // runs without an answer because nobody knows what became of a call
	Cause         string // the commonest detail of the runs that were lost to the endpoint
	Summary       measurements.Summary
	// Comparison with the baseline that the capture was looked at beside, once its
	// verdict is reached; Fresh is the capture that confirmed it, if any.
	Comparison *compare.Comparison
	Fresh      *Outcome
	Gates      compare.GateResults // of a capture that is compared with nothing
	Caps       budget.Caps         // what bounded it
}

// Watch is told how a capture goes.
type Watch struct {
	Progress func(Progress) // after each run
	Warn     func(string)   // before the first, and while they run
	Note     func(string)   // at each look; may be nil
}

func (w Watch) note(text string) {
	if w.Note != nil {
		w.Note(text)
	}
}

// Start runs a job into a new directory.
func (j *Job) Start(ctx context.Context, dir string, build measurements.Provenance, stop <-chan struct{}, watch Watch) (Outcome, error) {
	if err := j.afford(ctx); err != nil {
		return Outcome{}, err
	}
	c, err := j.create(dir, build)
	if err != nil {
		return Outcome{}, err
	}
	return j.run(ctx, c, stop, watch)
}

func (j *Job) create(dir string, build measurements.Provenance) (*measurements.Capture, error) {
	m := j.manifest
	m.ID, m.Provenance = filepath.Base(dir), build
	return measurements.Create(dir, m)
}

// Resume goes on with the capture in dir, which this job must have planned:
// another corpus, detector or plan is refused. Answers in its ledger are not
// asked for again.
func (j *Job) Resume(ctx context.Context, dir string, stop <-chan struct{}, watch Watch) (Outcome, error) {
	c, err := measurements.Reopen(dir)
	if err != nil {
		return Outcome{}, err
	}
	if err := j.samePlan(c.Manifest()); err != nil {
		return Outcome{}, fmt.Errorf("resume %s: %w; start a new capture instead", dir, err)
	}
	if j.sequence != nil {
		j.sequence.keep(c.Manifest().Plan.Sequential)
	}
	if j.callsModel() {
		if err := holdsReceipts(ctx, c); err != nil {
			return Outcome{}, fmt.Errorf("resume %s: %w", dir, err)
		}
		if j.sequence != nil {
			if err := holdsFresh(ctx, dir, j.sequence.record); err != nil {
				return Outcome{}, fmt.Errorf("resume %s: %w", dir, err)
			}
		}
	}
	if err := j.afford(ctx); err != nil {
		return Outcome{}, fmt.Errorf("resume %s: %w", dir, err)
	}
	c.Allow(j.manifest.Request)
	j.capabilities = c.Manifest().Capabilities // for its fresh runs
	return j.run(ctx, c, stop, watch)
}

// samePlan says what differs between the job and the plan on disk.
func (j *Job) samePlan(m measurements.Manifest) error {
	var errs []error
	planned := m.Plan
	against, now := "", ""
	if s := m.Plan.Sequential; s != nil {
		planned.K, planned.Runs, against = s.PlannedK, s.PlannedRuns, s.AgainstHash
	}
	if j.sequence != nil {
		now = j.sequence.record.AgainstHash
	}
	for _, d := range []struct{ what, old, now string }{
		{"baseline", against, now},
		{"corpus", m.Plan.Corpus.Hash, j.manifest.Plan.Corpus.Hash},
		{"detector", m.Plan.Detector.Hash, j.manifest.Plan.Detector.Hash},
		{"number of runs", fmt.Sprint(planned.Runs), fmt.Sprint(j.manifest.Plan.Runs)},
		{"K", fmt.Sprint(planned.K), fmt.Sprint(j.manifest.Plan.K)},
		{"seed", fmt.Sprint(m.Plan.Seed), fmt.Sprint(j.manifest.Plan.Seed)},
		{"split", m.Plan.Split, j.manifest.Plan.Split},
		{"endpoint", m.Plan.Endpoint.BaseURL, j.manifest.Plan.Endpoint.BaseURL},
		{"model", m.Plan.Endpoint.Model, j.manifest.Plan.Endpoint.Model},
		{"request parameters", canonical(m.Plan.Parameters), canonical(j.manifest.Plan.Parameters)},
	} {
		if d.old != d.now {
			errs = append(errs, fmt.Errorf("the %s of the capture is another (was %.60s, is %.60s)", d.what, d.old, d.now))
		}
	}
	return errors.Join(errs...)
}

// canonical renders parameters so that equal ones are equal text, whether they
// come from a file or from settings.
func canonical(parameters map[string]any) string {
	text, err := json.Marshal(parameters)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// holdsReceipts checks that the ledger is the one that the capture's rows came
// from. Another one, or none, knows nothing of what was paid for, and everything
// would be paid again.
func holdsReceipts(ctx context.Context, c *measurements.Capture) error {
	file := filepath.Join(c.Dir(), LedgerFile)
	const remedy = "resuming would pay for its calls again; restore the file, or start a new capture"
	if info, err := os.Stat(file); err != nil || info.Size() == 0 {
		return fmt.Errorf("the ledger %s is missing or empty: %s", file, remedy)
	}
	wanted := map[string]bool{}
	for row, err := range c.Runs() {
		if err != nil {
			break // rows that cannot be read are written anew from the ledger
		}
		if row.Receipt != nil {
			wanted[*row.Receipt] = true
		}
	}
	if len(wanted) == 0 {
		return nil
	}
	l, err := ledger.Open(ctx, file, ledger.Options{ReadOnly: true})
	if err != nil {
		return err
	}
	for entry, err := range l.Attempts(ctx) {
		if err != nil {
			return errors.Join(err, l.Close())
		}
		delete(wanted, entry.Dispatch.Attempt.String())
	}
	if err := l.Close(); err != nil {
		return err
	}
	if len(wanted) > 0 {
		return fmt.Errorf("the ledger %s does not hold %d of the calls that the rows came from: %s", file, len(wanted), remedy)
	}
	return nil
}

// RequestOf reads what the capture in dir was asked for.
func RequestOf(dir string) (Request, error) {
	c, err := measurements.Reopen(dir)
	if err != nil {
		return Request{}, err
	}
	var req Request
	if err := json.Unmarshal(c.Manifest().Request, &req); err != nil {
		return Request{}, fmt.Errorf("read the request in %s: %w; this capture cannot be resumed", filepath.Join(dir, "capture.json"), err)
	}
	return req, nil
}

// run executes the plan into c. Whatever happens to the plan, the rows of what
// was paid for are written.
func (j *Job) run(ctx context.Context, c *measurements.Capture, stop <-chan struct{}, watch Watch) (out Outcome, err error) {
	out = Outcome{Dir: c.Dir()}
	s, err := j.open(ctx, c, stop, watch)
	if err != nil {
		return out, err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	ctx, cancel := j.withinTime(ctx)
	defer cancel()
	runner := s.runner(watch)
	if q := j.sequence; q != nil {
		if q.paid, err = j.paidRuns(ctx, s.ledger); err != nil {
			return out, err
		}
		c.Replan(j.Plan.K, j.Plan.Runs(), &q.record)
		runner.Look = func(k int, rows iter.Seq2[measurements.Rows, error]) (bool, error) {
			return q.lookAt(s.manifest(), k, rows, watch)
		}
	}
	result, err := runner.Run(ctx, j.Plan, stop)
	defer func() { err = errors.Join(err, result.Close()) }()
	s.observe()
	if out.Stop = result.Stop; err != nil {
		return out, err
	}
	if j.sequence != nil {
		c.Replan(result.K, result.Runs, &j.sequence.record)
	}
	out, err = j.finish(c, result)
	if err == nil && j.held(out) {
		err = j.hold(c.Dir(), &out)
	}
	if err != nil || j.sequence == nil || result.partial() {
		return out, err
	}
	err = j.conclude(ctx, c, &out, stop, watch)
	return out, err
}

// finish writes the rows and closes the capture's books.
func (j *Job) finish(c *measurements.Capture, result Result) (Outcome, error) {
	out := Outcome{Dir: c.Dir(), Stop: result.Stop, Caps: j.Request.Caps, Cause: result.Cause}
	c.Spent(j.budgetRecord(result.Stop))
	if err := c.WriteFrom(result.Rows()); err != nil {
		return out, err
	}
	out.Indeterminate = result.Indeterminate
	status := measurements.Complete
	if result.partial() || j.sequence != nil { // a capture that has its verdict to come is not whole
		status = measurements.Partial
	}
	var err error
	if out.Summary, err = c.Summary(j.Request.Policy, j.Request.View); err != nil {
		return out, err
	}
	if err := c.Finish(status, out.Summary.Totals); err != nil {
		return out, err
	}
	out.Summary, err = c.Summary(j.Request.Policy, j.Request.View)
	return out, err
}
