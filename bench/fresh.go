package bench

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/youden-bench/youden/bench/endpoint"
	"github.com/youden-bench/youden/bench/ledger"
	"github.com/youden-bench/youden/corpus"
	"github.com/youden-bench/youden/measurements"
	"github.com/youden-bench/youden/measurements/compare"
)

// freshFolder is the capture of the runs that confirm a suspicion, inside the
// capture that raised it. They are no runs of that one: what is added where a
// capture disagrees with its baseline would bias its mean.
//
// A resumed capture recovers runs, and may then suspect other families. What was
// suspected before keeps its fresh runs, which are paid for: they count again if the
// suspicion comes back, and are in the spend in any case. What is suspected anew gets
// fresh runs too, in a further folder (fresh-2 and so on), so that no plan changes.
// What is suspected no longer is not judged by its fresh runs.
const freshFolder = "fresh"

func freshName(n int) string {
	if n == 0 {
		return freshFolder
	}
	return fmt.Sprintf("%s-%d", freshFolder, n+1)
}

// freshFolders lists the captures of fresh runs that are in a capture.
func freshFolders(dir string) (list []string) {
	for {
		name := freshName(len(list))
		if _, err := os.Stat(filepath.Join(dir, name, ManifestFile)); err != nil {
			return list
		}
		list = append(list, name)
	}
}

// conclude confirms what the last look suspects and closes the books again, with
// the verdict. Until then the capture is partial: resuming goes on with it.
func (j *Job) conclude(ctx context.Context, c *measurements.Capture, out *Outcome, stop <-chan struct{}, watch Watch) (err error) {
	status := measurements.Complete
	s := j.sequence
	if err := j.adopt(ctx, c); err != nil {
		return err
	}
	if s.look != nil && len(s.look.Suspects) > 0 {
		if out.Fresh, err = j.confirm(ctx, c, out.Summary.Totals, stop, watch); err != nil {
			return err
		}
		c.Spent(j.budgetRecord(out.Fresh.Stop))
		if out.Fresh.Verdict(j.Request.MaxErrorRate) != Passed {
			status = measurements.Partial
		}
	}
	if err := j.account(ctx, c.Dir()); err != nil {
		return err
	}
	if status == measurements.Complete {
		out.Comparison = s.settle(out.Summary.Totals.Spend)
		if err := j.hold(c.Dir(), out); err != nil {
			return err
		}
	}
	if err := c.Finish(status, out.Summary.Totals); err != nil {
		return err
	}
	out.Summary, err = c.Summary(j.Request.Policy, j.Request.View)
	return err
}

// adopt writes down which captures of fresh runs there are, and of what.
func (j *Job) adopt(ctx context.Context, c *measurements.Capture) error {
	record := &j.sequence.record
	for n, folder := range freshFolders(c.Dir()) {
		fresh, err := measurements.Reopen(filepath.Join(c.Dir(), folder))
		if err != nil {
			return err
		}
		if n == len(record.FreshCaptures) { // its process died before it wrote that down
			if err := j.beginLedger(ctx, fresh.Dir()); err != nil {
				return err
			}
			record.FreshCaptures = append(record.FreshCaptures, measurements.FreshCapture{Folder: folder})
		}
		plan := fresh.Manifest().Plan
		known := &record.FreshCaptures[n]
		known.Runs, known.Suspects = plan.Runs, nil
		for _, stratum := range plan.Corpus.Strata {
			known.Suspects = append(known.Suspects, measurements.SliceFamily{Slice: stratum.Slice, Family: stratum.Family})
		}
	}
	record.Sum()
	return nil
}

// confirm makes the fresh runs of the suspects, in captures of their own, and
// completes the verdict.
func (j *Job) confirm(ctx context.Context, c *measurements.Capture, totals measurements.Totals, stop <-chan struct{}, watch Watch) (*Outcome, error) {
	s := j.sequence
	if err := j.suspectAnew(ctx, c); err != nil {
		return nil, err
	}
	// Once this is written the folders are there: when one is missing later, what was
	// paid for in it was lost.
	if err := c.Finish(measurements.Partial, totals); err != nil {
		return nil, err
	}
	var out Outcome
	var parts []*compare.Subject
	for _, part := range s.record.FreshCaptures {
		if !slices.ContainsFunc(part.Suspects, func(f measurements.SliceFamily) bool { return slices.Contains(s.look.Suspects, compare.Suspect(f)) }) {
			continue // nothing of it is suspected any more
		}
		fresh, err := j.fresh(part.Suspects)
		if err != nil {
			return nil, err
		}
		dir := filepath.Join(c.Dir(), part.Folder)
		if out, err = fresh.Resume(ctx, dir, stop, watch); err != nil || out.Verdict(j.Request.MaxErrorRate) != Passed {
			return &out, err
		}
		subject, err := compare.Load(dir, j.Request.Policy, j.Request.View)
		if err != nil {
			return nil, err
		}
		parts = append(parts, subject)
	}
	s.record.Fresh = s.look.Confirm(s.against, s.regular, s.options, parts...)
	return &out, nil
}

// suspectAnew makes the capture of the suspects that have no fresh runs yet, if any.
func (j *Job) suspectAnew(ctx context.Context, c *measurements.Capture) error {
	s := j.sequence
	var anew []measurements.SliceFamily
	for _, suspect := range s.look.Suspects {
		family := measurements.SliceFamily(suspect)
		if !slices.ContainsFunc(s.record.FreshCaptures, func(f measurements.FreshCapture) bool { return slices.Contains(f.Suspects, family) }) {
			anew = append(anew, family)
		}
	}
	if len(anew) == 0 {
		return nil
	}
	fresh, err := j.fresh(anew)
	if err != nil {
		return err
	}
	folder := freshName(len(s.record.FreshCaptures))
	dir := filepath.Join(c.Dir(), folder)
	clearStart(dir)
	created, err := fresh.create(dir, c.Manifest().Provenance)
	if err != nil {
		return err
	}
	if err := j.beginLedger(ctx, created.Dir()); err != nil {
		return err
	}
	s.record.FreshCaptures = append(s.record.FreshCaptures, measurements.FreshCapture{Folder: folder, Suspects: anew, Runs: fresh.Plan.Runs()})
	s.record.Sum()
	return nil
}

// beginLedger makes the ledger of a capture of fresh runs before that is written down:
// where it is written down and has no ledger, the ledger was lost.
func (j *Job) beginLedger(ctx context.Context, dir string) error {
	if !j.callsModel() {
		return nil
	}
	l, err := ledger.Open(ctx, filepath.Join(dir, LedgerFile), ledger.Options{Indeterminate: j.indeterminate()})
	if err != nil {
		return err
	}
	return l.Close()
}

// account writes down what the fresh runs came to, also of those that confirm
// nothing any more: each request that was sent counts, whether a run got its answer
// or not.
func (j *Job) account(ctx context.Context, dir string) error {
	record := &j.sequence.record
	for n := range record.FreshCaptures {
		part := &record.FreshCaptures[n]
		c, err := measurements.Reopen(filepath.Join(dir, part.Folder))
		if err != nil {
			return err
		}
		summary, err := c.Summary(j.Request.Policy, j.Request.View)
		if err != nil {
			return err
		}
		spend := summary.Totals.Spend
		part.Calls, part.CostUSDMicros = &spend.Calls, nil
		if spend.CostUnknown == 0 {
			part.CostUSDMicros = spend.CostUSDMicros
		}
		if err := j.accountLedger(ctx, part, filepath.Join(c.Dir(), LedgerFile)); err != nil {
			return err
		}
	}
	record.Sum()
	return nil
}

// accountLedger raises what rows say to what the ledger says.
func (j *Job) accountLedger(ctx context.Context, part *measurements.FreshCapture, file string) error {
	if !j.callsModel() {
		return nil
	}
	l, err := ledger.Open(ctx, file, ledger.Options{ReadOnly: true})
	if err != nil {
		return fmt.Errorf("adding up what fresh runs came to: %w", err)
	}
	price, err := j.Request.Endpoint.Price.micros()
	if err != nil {
		return errors.Join(err, l.Close())
	}
	past, err := endpoint.Spent(ctx, l, price, j.Request.Endpoint.MaxTokens)
	if err := errors.Join(err, l.Close()); err != nil {
		return err
	}
	if sent := past.Known.Calls + past.Unknown.Calls; sent > *part.Calls {
		part.Calls = &sent
	}
	switch {
	case past.Unknown.Calls > 0:
		part.CostUSDMicros = nil
	case part.CostUSDMicros != nil && past.Known.Micros > *part.CostUSDMicros:
		part.CostUSDMicros = &past.Known.Micros
	}
	return nil
}

// ManifestFile is what makes a folder a capture.
const ManifestFile = "capture.json"

// clearStart removes what a process left that died while it made a capture: files
// that were to be renamed. Anything else in the folder stays, and is refused.
func clearStart(dir string) {
	leftovers, _ := filepath.Glob(filepath.Join(dir, "*.tmp")) // the pattern is well-formed
	for _, name := range leftovers {
		_ = os.Remove(name) // one that stays is refused with the folder
	}
}

// holdsFresh checks that the fresh runs which a capture has paid for are there.
func holdsFresh(ctx context.Context, dir string, record measurements.Sequential) error {
	for _, part := range record.FreshCaptures {
		fresh, err := measurements.Reopen(filepath.Join(dir, part.Folder))
		if err != nil {
			return fmt.Errorf("its fresh runs are missing: resuming would pay for them again; restore the folder %s, or start a new capture (%w)", part.Folder, err)
		}
		if err := holdsReceipts(ctx, fresh); err != nil {
			return err
		}
	}
	return nil
}

// fresh plans the runs that confirm: another seed, so that nothing of what was
// seen is seen again.
func (j *Job) fresh(suspects []measurements.SliceFamily) (*Job, error) {
	var cases []*corpus.Case
	fresh := *j
	fresh.only = nil
	fresh.sequence, fresh.gates, fresh.Request.Gates, fresh.Request.GatesHash = nil, compare.Gates{}, "", ""
	fresh.Request.Against, fresh.Request.Runs, fresh.Request.Seed = "", compare.FreshRuns, freshSeed(j.Plan.Seed)
	fresh.Request.Families, fresh.Request.Slices, fresh.Request.Cases, fresh.Request.Limit = nil, nil, nil, 0
	for _, c := range j.Plan.cases() {
		if slices.Contains(suspects, measurements.SliceFamily{Slice: c.Slice, Family: string(c.Family)}) {
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
