package measurements

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// maxManifest bounds capture.json, which lists no runs.
const maxManifest = 16 << 20

// Capture is a directory that holds all runs of one detector, corpus, endpoint
// and K. Its methods may be called concurrently.
type Capture struct {
	dir  string
	disk disk
	now  func() time.Time

	mu       sync.Mutex
	manifest Manifest
}

// Create makes the directory of a capture and writes its manifest with status
// running. It refuses a directory that holds anything.
func Create(dir string, m Manifest) (*Capture, error) {
	c := &Capture{dir: dir, disk: osDisk{}, now: time.Now, manifest: m}
	if err := c.create(); err != nil {
		return nil, err
	}
	return c, nil
}

func (c *Capture) create() error {
	entries, err := os.ReadDir(c.dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("creating a capture in %s: %w", c.dir, err)
	}
	if len(entries) > 0 {
		return fmt.Errorf("creating a capture in %s: the directory is not empty; choose another with --out, or go on with `youden resume %s`", c.dir, c.dir)
	}
	if err := os.MkdirAll(c.dir, 0o755); err != nil {
		return fmt.Errorf("creating a capture: %w", err)
	}
	if err := c.disk.SyncDir(filepath.Dir(c.dir)); err != nil {
		return fmt.Errorf("making %s durable: %w", c.dir, err)
	}
	c.manifest.Schema = Schema
	if c.manifest.ID == "" {
		c.manifest.ID = filepath.Base(c.dir)
	}
	c.manifest.Status, c.manifest.Grade = Running, GradeUnrun
	if c.manifest.StartedAt == nil {
		c.manifest.StartedAt = pointer(c.now().UTC().Truncate(time.Second))
	}
	if c.manifest.Plan.Policy == "" {
		c.manifest.Plan.Policy = Class
	}
	if c.manifest.Plan.View == "" {
		c.manifest.Plan.View = Charge
	}
	if err := c.manifest.check(); err != nil {
		return fmt.Errorf("creating a capture in %s: %w", c.dir, err)
	}
	return c.writeManifest()
}

// Open reads a capture and checks its files. A capture whose projections were
// never written, such as one just created, opens too and has no rows.
func Open(dir string) (*Capture, error) {
	c, err := Reopen(dir)
	if err != nil {
		return nil, err
	}
	if err := c.checkTables(); err != nil {
		return nil, err
	}
	return c, nil
}

// Reopen reads the manifest alone: enough to write the projections anew.
func Reopen(dir string) (*Capture, error) {
	m, err := readManifest(filepath.Join(dir, manifestFile))
	if err != nil {
		return nil, err
	}
	return &Capture{dir: dir, disk: osDisk{}, now: time.Now, manifest: m}, nil
}

func readManifest(path string) (Manifest, error) {
	var m Manifest
	f, err := openRegular(path)
	if err != nil {
		return m, fmt.Errorf("opening a capture: %w; name the directory that holds capture.json", err)
	}
	raw, err := io.ReadAll(io.LimitReader(f, maxManifest+1))
	if err := errors.Join(err, f.Close()); err != nil {
		return m, fmt.Errorf("reading %s: %w", path, err)
	}
	if len(raw) > maxManifest {
		return m, fmt.Errorf("%s is larger than %d bytes: it is no manifest of a capture", path, maxManifest)
	}
	if err := json.Unmarshal(raw, &m); err != nil {
		return m, fmt.Errorf("%s is no manifest of a capture: %w; restore the file", path, err)
	}
	if err := m.check(); err != nil {
		return m, fmt.Errorf("%s: %w", path, err)
	}
	return m, nil
}

// Dir is the directory of the capture.
func (c *Capture) Dir() string { return c.dir }

// Manifest returns the manifest as it was last written.
func (c *Capture) Manifest() Manifest {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.manifest
}

// Finish records how the capture ended. The totals are kept for people who read
// the file; this package recomputes them.
func (c *Capture) Finish(status CaptureStatus, totals Totals) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	old := c.manifest
	c.manifest.Status = status
	c.manifest.Totals = &totals
	c.manifest.EndedAt = pointer(c.now().UTC())
	_, c.manifest.Grade = standing(c.manifest, totals)
	if err := errors.Join(c.manifest.check(), c.writeManifest()); err != nil {
		c.manifest = old
		return err
	}
	return nil
}

func (c *Capture) writeManifest() error {
	raw, err := json.MarshalIndent(c.manifest, "", "  ")
	if err != nil {
		return fmt.Errorf("writing the manifest of %s: %w", c.dir, err)
	}
	raw = append(raw, '\n')
	return replace(c.disk, c.dir, []string{manifestFile}, func(files []io.Writer) error {
		_, err := files[0].Write(raw)
		return err
	})
}

// Summary measures the capture's rows under a policy and a view, in one pass. It
// holds no rows: see LoadRuns.
func (c *Capture) Summary(p Policy, v View) (Summary, error) {
	sum := newSumming(c.Manifest(), p, v)
	if err := c.tally([]Policy{p}, func(bool) {}, sum.add); err != nil {
		return Summary{}, err
	}
	return sum.summary(), nil
}

// LoadRuns reads all run rows and checks them, for whoever shows each of them.
func (c *Capture) LoadRuns() ([]RunRow, error) {
	var runs []RunRow
	for r, err := range c.Runs() {
		if err != nil {
			return nil, err
		}
		runs = append(runs, r)
	}
	plan := c.Manifest().Plan
	if err := checkRuns(runs, &plan); err != nil {
		return nil, &DamagedError{File: filepath.Join(c.dir, runsFile), Err: err}
	}
	return runs, nil
}

// Runs streams the rows of runs.parquet, in plan order.
func (c *Capture) Runs() iter.Seq2[RunRow, error] { return stream[RunRow](c.dir, runsFile) }

// Steps streams the rows of steps.parquet.
func (c *Capture) Steps() iter.Seq2[StepRow, error] { return stream[StepRow](c.dir, stepsFile) }

// Findings streams the rows of findings.parquet.
func (c *Capture) Findings() iter.Seq2[FindingRow, error] {
	return stream[FindingRow](c.dir, findingsFile)
}

// Scores streams the rows of scores.parquet, as they were written.
func (c *Capture) Scores() iter.Seq2[ScoreRow, error] { return stream[ScoreRow](c.dir, scoresFile) }

// stream opens a file, yields its rows and closes it. A file that was never
// written has no rows.
func stream[T any](dir, name string) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var zero T
		t, err := openTable[T](dir, name)
		if errors.Is(err, fs.ErrNotExist) {
			return
		}
		if err != nil {
			yield(zero, err)
			return
		}
		for row, err := range t.rows() {
			if !yield(row, err) {
				break
			}
		}
		_ = t.close() // the rows were read, and nothing was written
	}
}
