package measurements

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
)

// Bounds on a plan: more is a mistake, and a hostile manifest must not make us
// allocate.
const (
	// MaxK is the most runs a side that a plan may have, and a file may count.
	MaxK     = 100_000
	maxCases = 1_000_000
)

// SmokeK is the number of runs a side from which a capture may become a baseline.
const SmokeK = 3

// Smoke reports whether so few runs a side are a smoke test: they show that
// everything works, and measure little.
func Smoke(k int) bool { return k < SmokeK }

// check refuses a manifest that this program cannot read right.
func (m *Manifest) check() error {
	if m.Schema != Schema {
		return fmt.Errorf("the schema is %q, this program reads %q; use the version of youden that wrote it", m.Schema, Schema)
	}
	switch m.Status {
	case Unrun, Running, Complete, Partial:
	default:
		return fmt.Errorf("status %q is none of unrun, running, complete, partial", m.Status)
	}
	if m.Plan.K < 1 || m.Plan.K > MaxK {
		return fmt.Errorf("k is %d: a plan has 1 to %d runs a side", m.Plan.K, MaxK)
	}
	if _, err := ParsePolicy(string(m.Plan.Policy)); err != nil {
		return err
	}
	if _, err := ParseView(string(m.Plan.View)); err != nil {
		return err
	}
	if err := m.Capabilities.Check(); err != nil {
		return fmt.Errorf("the capability record is none: %w", err)
	}
	planned := 0
	for _, s := range m.Plan.Corpus.Strata {
		for _, n := range []int{s.Pairs, s.VulnerableOnly, s.FixedOnly} {
			if n < 0 || n > maxCases-planned {
				return fmt.Errorf("the plan of slice %q, family %q counts %d cases: a corpus has 0 to %d", s.Slice, s.Family, n, maxCases)
			}
			planned += n
		}
	}
	return nil
}

// checkRuns refuses rows that would count twice, stand on no side or, when there
// is a plan, cannot be of it.
func checkRuns(runs []RunRow, plan *PlanRecord) error {
	roll := roll{plan: plan}
	for i := range runs {
		e := runs[i].entry()
		if _, err := roll.enter(&e); err != nil {
			return err
		}
	}
	return nil
}

// checkTables opens each Parquet file, and checks that all come from one write:
// a crash between two renames leaves an old file beside a new one.
func (c *Capture) checkTables() error {
	ids := make([]string, 0, 4)
	for _, check := range []func() (string, error){
		checkTable[RunRow](c.dir, runsFile), checkTable[StepRow](c.dir, stepsFile),
		checkTable[FindingRow](c.dir, findingsFile), checkTable[ScoreRow](c.dir, scoresFile),
	} {
		id, err := check()
		if errors.Is(err, fs.ErrNotExist) {
			id, err = "absent", nil
		}
		if err != nil {
			return err
		}
		ids = append(ids, id)
	}
	for _, id := range ids[1:] {
		if id != ids[0] {
			return &DamagedError{File: filepath.Join(c.dir, "*.parquet"), Err: errors.New("the files are of different writes")}
		}
	}
	return nil
}

func checkTable[T any](dir, name string) func() (string, error) {
	return func() (string, error) {
		t, err := openTable[T](dir, name)
		if err != nil {
			return "", err
		}
		return t.write(), t.close()
	}
}
