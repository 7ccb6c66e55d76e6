package kstrl

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"
	"unicode/utf8"
)

// stampLayout is the time in a file and in its name, in UTC.
const stampLayout = "20060102-150405"

// maxFalsePositiveRate is echoed in a file and judged there; no rule reads it.
const maxFalsePositiveRate = 0.34

// Report is what a file of version 2 is written from.
type Report struct {
	Model          string
	Time           time.Time // names the file, to the second
	RunsPerFixture int       // as planned; a fixture may have fewer runs
	Fixtures       []Record  // written in this order
	Negatives      []Negative
}

// Record is a planted fixture and its runs, of which there is one at least.
type Record struct {
	Role, ID      string
	Category, CWE *string // nil: unknown
	Runs          []Run
}

// Run is one run of a fixture. Of a run that ended in an infrastructure error
// Caught does not count.
type Run struct {
	Caught bool   `json:"caught"`
	Error  bool   `json:"error"`
	Detail string `json:"detail"`
}

// fixture counts the runs.
func (r Record) fixture() Fixture {
	f := Fixture{Role: r.Role, ID: r.ID, Category: r.Category, CWE: r.CWE, RunsTotal: int64(len(r.Runs))}
	for _, run := range r.Runs {
		switch {
		case run.Error:
			f.RunsErrored++
		case run.Caught:
			f.RunsDetected++
		}
	}
	return f
}

// Name is the file name of the report: the reference takes the last one in
// order of names for the newest.
func (r *Report) Name() string { return "baseline-" + r.stamp() + ".json" }

func (r *Report) stamp() string { return r.Time.UTC().Format(stampLayout) }

// Write writes the file: two blanks of indent, ASCII only, a newline at the end.
// It refuses a report that [Parse] would refuse in [Strict] mode.
func (r *Report) Write(w io.Writer) error {
	if err := r.check(); err != nil {
		return fmt.Errorf("writing a kstrl baseline: %w", err)
	}
	var compact, indented bytes.Buffer
	if err := encode(&compact, r.file()); err != nil {
		return fmt.Errorf("writing a kstrl baseline: %w", err)
	}
	if err := json.Indent(&indented, compact.Bytes(), "", "  "); err != nil {
		return fmt.Errorf("writing a kstrl baseline: %w", err)
	}
	if _, err := w.Write(ascii(indented.Bytes())); err != nil {
		return fmt.Errorf("writing the kstrl baseline %s: %w; make room or check the permissions and write it again", r.Name(), err)
	}
	return nil
}

func (r *Report) check() error {
	switch {
	case r.Model == "" || !utf8.ValidString(r.Model):
		return fmt.Errorf("the model is %q; give the name that the baseline is compared by", r.Model)
	case r.Time.IsZero():
		return errors.New("the time is not set; give the time of the capture, the file is named for it")
	case r.RunsPerFixture < 1 || int64(r.RunsPerFixture) >= maxCount:
		return fmt.Errorf("%d runs a fixture; give the planned number, 1 or more", r.RunsPerFixture)
	}
	seen := make(map[identity]bool)
	for _, f := range r.Fixtures {
		if err := checkIdentity(seen, f.Role, f.ID); err != nil {
			return err
		}
		if len(f.Runs) == 0 {
			return fmt.Errorf("fixture %s/%s has no runs; leave it out, the format cannot say that it was not run", f.Role, f.ID)
		}
		for _, label := range []*string{f.Category, f.CWE} {
			if label != nil && !utf8.ValidString(*label) {
				return fmt.Errorf("the label %q of fixture %s/%s is not UTF-8; correct it", *label, f.Role, f.ID)
			}
		}
	}
	clear(seen) // the two lists are apart in the file
	for _, n := range r.Negatives {
		if err := checkIdentity(seen, n.Role, n.ID); err != nil {
			return err
		}
		if n.RunsTotal < 1 || n.RunsTotal >= maxCount || n.RunsErrored < 0 || n.RunsFlagged < 0 ||
			n.RunsErrored > n.RunsTotal || n.RunsFlagged > n.Completed() {
			return fmt.Errorf("clean fixture %s/%s has %d runs, %d errors and %d flags; count its runs again",
				n.Role, n.ID, n.RunsTotal, n.RunsErrored, n.RunsFlagged)
		}
	}
	return nil
}

func checkIdentity(seen map[identity]bool, role, id string) error {
	switch {
	case role == "" || id == "":
		return fmt.Errorf("fixture %q of role %q lacks a name; give both", id, role)
	case !utf8.ValidString(role) || !utf8.ValidString(id):
		return fmt.Errorf("fixture %q of role %q has a name that is not UTF-8; correct it", id, role)
	case seen[identity{role, id}]:
		return fmt.Errorf("fixture %q of role %q stands there twice; give all its runs to one", id, role)
	}
	seen[identity{role, id}] = true
	return nil
}
