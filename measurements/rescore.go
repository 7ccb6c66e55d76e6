package measurements

import (
	"fmt"

	"github.com/youden-bench/youden/corpus"
	"github.com/youden-bench/youden/detector"
)

// Rescored is a capture scored again from its stored findings.
type Rescored struct {
	Runs    []RunRow // with the new outcomes, in plan order
	Changed int      // runs whose outcome, hit or silence is another now
	Left    []LeftCase
}

// LeftCase is a case of the capture that could not be scored again: its runs
// keep no number.
type LeftCase struct {
	Slice, ID, Hash string
	Runs            int
	Reason          string
}

// Rescore applies rules to the findings that a capture holds, with the labels as
// they were claimed mapped again. No call is made. Runs are matched to cases by
// case hash; a case that is gone or has changed is left out and named.
func Rescore(c *Capture, cases []*corpus.Case, rules Rules) (Rescored, error) {
	runs, err := c.LoadRuns()
	if err != nil {
		return Rescored{}, err
	}
	findings, err := c.claimed()
	if err != nil {
		return Rescored{}, err
	}
	known := newCaseIndex(cases)
	var out Rescored
	left := map[string]int{}
	for _, r := range runs {
		kase, reason := known.find(r)
		if kase == nil {
			at, ok := left[r.CaseHash+"\x00"+r.CaseID]
			if !ok {
				at = len(out.Left)
				left[r.CaseHash+"\x00"+r.CaseID] = at
				out.Left = append(out.Left, LeftCase{Slice: r.Slice, ID: r.CaseID, Hash: r.CaseHash, Reason: reason})
			}
			out.Left[at].Runs++
			continue
		}
		scored := r.rescore(kase, findings[r.RunID], rules)
		if !sameScore(r, scored) {
			out.Changed++
		}
		out.Runs = append(out.Runs, scored)
	}
	return out, nil
}

// Summary measures the runs that were scored again. The cases that were not are
// counted as left out.
func (r Rescored) Summary(m Manifest, p Policy, v View) Summary {
	m.LeftOut = append([]LeftOut(nil), m.LeftOut...)
	m.Plan.Corpus.Strata = nil // the plan counted the cases that are left out, too
	at := map[string]int{}
	for _, l := range r.Left {
		i, ok := at[l.Reason]
		if !ok {
			i = len(m.LeftOut)
			at[l.Reason] = i
			m.LeftOut = append(m.LeftOut, LeftOut{Reason: l.Reason})
		}
		m.LeftOut[i].Cases++
	}
	return Summarize(m, r.Runs, p, v)
}

// rescore returns the row with the outcome of other rules.
func (r RunRow) rescore(c *corpus.Case, findings []detector.Finding, rules Rules) RunRow {
	t := withDefect(defectOf(c), detector.Trajectory{Status: detector.Status(r.Status), Findings: findings})
	if string(t.Status) != r.Status {
		r.Status, r.Detail, r.DroppedItems = string(t.Status), pointer(t.Detail), nil
	}
	r.Counts = countsOf(t.Status)
	r.judge(Judge(c, corpus.SideName(r.Side), t.Status, t.Findings, rules), t.Findings)
	return r
}

func sameScore(a, b RunRow) bool {
	return a.Outcome == b.Outcome && same(a.Hit, b.Hit) && same(a.SilentStrict, b.SilentStrict) &&
		same(a.SilentClass, b.SilentClass) && same(a.SilentRegion, b.SilentRegion)
}

func same(a, b *bool) bool { return (a == nil) == (b == nil) && (a == nil || *a == *b) }

// claimed reads the findings of all runs: what the scorer may know of them, and
// not their texts.
func (c *Capture) claimed() (map[string][]detector.Finding, error) {
	byRun := map[string][]detector.Finding{}
	for f, err := range c.Findings() {
		if err != nil {
			return nil, err
		}
		if f.Kind != KindFinding {
			continue
		}
		byRun[f.RunID] = append(byRun[f.RunID], detector.Finding{
			Label: deref(f.Label), File: deref(f.File), Line: int(deref(f.Line)), EndLine: int(deref(f.EndLine)),
			Severity: detector.Severity(deref(f.Severity)),
		})
	}
	return byRun, nil
}

// caseIndex finds cases by hash, and says what became of the others.
type caseIndex struct {
	byHash map[string]*corpus.Case
	byName map[string]*corpus.Case
}

func newCaseIndex(cases []*corpus.Case) caseIndex {
	index := caseIndex{map[string]*corpus.Case{}, map[string]*corpus.Case{}}
	for _, c := range cases {
		index.byHash[c.Hash()] = c
		index.byName[c.Slice+"\x00"+c.ID] = c
	}
	return index
}

func (x caseIndex) find(r RunRow) (*corpus.Case, string) {
	if c, ok := x.byHash[r.CaseHash]; ok {
		if c.Side(corpus.SideName(r.Side)) == nil {
			return nil, fmt.Sprintf("the case has no %s side any more", r.Side)
		}
		return c, ""
	}
	c, ok := x.byName[r.Slice+"\x00"+r.CaseID]
	switch {
	case !ok:
		return nil, "the corpus has no such case any more"
	case c.ContentHash() == r.ContentHash:
		return nil, "its labels or task changed since the capture"
	}
	return nil, "its files changed since the capture"
}

func deref[T any](p *T) T {
	if p == nil {
		var zero T
		return zero
	}
	return *p
}
