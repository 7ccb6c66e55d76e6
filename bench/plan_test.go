package bench

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/youden-bench/youden/corpus"
	"github.com/youden-bench/youden/corpus/family"
	"github.com/youden-bench/youden/detector"
	"github.com/youden-bench/youden/measurements"
)

// pair is a small well-formed case.
func pair(id string, f family.ID) *corpus.Case {
	side := func(text string) *corpus.Side {
		return &corpus.Side{Files: []corpus.File{{Path: "src/app.py", Text: []byte(text)}}}
	}
	return &corpus.Case{
		ID: id, Title: "title of " + id, Slice: "planted", Group: id, Split: corpus.Feedback, Task: "audit",
		Language: "python", Family: f, Vetted: corpus.Vetted{Level: corpus.Read},
		Vulnerable: side("import os\nos.system('ls ' + name) # " + id + "\n"),
		Fixed:      side("import os\nsubprocess.run(['ls', name]) # " + id + "\n"),
		Spans:      []corpus.Span{{File: "src/app.py", Start: 2, End: 2}},
		Regions:    []corpus.Span{{File: "src/app.py", Start: 2, End: 2}},
	}
}

func oneshot(t *testing.T) (*detector.Detector, detector.Program) {
	t.Helper()
	d, p, err := OpenDetector("oneshot", detector.Core())
	require.NoError(t, err)
	return d, p
}

// recorder is a model that keeps what it was asked.
type recorder struct {
	mu       sync.Mutex
	requests []detector.Request
	answer   func(detector.Request) detector.Answer
}

func (r *recorder) Complete(_ context.Context, req detector.Request) detector.Answer {
	r.mu.Lock()
	r.requests = append(r.requests, req)
	r.mu.Unlock()
	if r.answer != nil {
		return r.answer(req)
	}
	return detector.Answer{Status: detector.OK, Text: `{"findings": []}`, Attempts: 1}
}

// requests returns what a detector asks about a case, in plan order.
func requests(t *testing.T, c *corpus.Case) []string {
	t.Helper()
	d, program := oneshot(t)
	plan, err := NewPlan([]*corpus.Case{c}, d, 2, 1)
	require.NoError(t, err)
	model := &recorder{}
	var out []string
	for i := range plan.Runs() {
		program.Run(context.Background(), plan.target(plan.Run(i)), model)
	}
	for _, req := range model.requests {
		out = append(out, fmt.Sprintf("%+v", req))
	}
	return out
}

// No label, name or place of a case may move a byte of a request.
func TestLabelsReachNoRequest(t *testing.T) {
	base := requests(t, pair("a", "injection"))
	require.Len(t, base, 4)
	for name, change := range map[string]func(*corpus.Case){
		"id":          func(c *corpus.Case) { c.ID = "vulnerable-to-injection" },
		"title":       func(c *corpus.Case) { c.Title = "SQL injection in line 2" },
		"slice":       func(c *corpus.Case) { c.Slice = "handed" },
		"group":       func(c *corpus.Case) { c.Group = "g9" },
		"split":       func(c *corpus.Case) { c.Split = corpus.Holdout },
		"family":      func(c *corpus.Case) { c.Family = "path" },
		"accept":      func(c *corpus.Case) { c.Accept = []family.ID{"crypto"} },
		"cwe":         func(c *corpus.Case) { c.CWE = 22 },
		"language":    func(c *corpus.Case) { c.Language = "go" },
		"vetted":      func(c *corpus.Case) { c.Vetted = corpus.Vetted{Level: corpus.Proved} },
		"spans":       func(c *corpus.Case) { c.Spans = []corpus.Span{{File: "src/app.py", Start: 1, End: 1}} },
		"regions":     func(c *corpus.Case) { c.Regions = nil },
		"residue":     func(c *corpus.Case) { c.Residue = []corpus.Residual{{Family: "injection", Note: "x"}} },
		"explanation": func(c *corpus.Case) { c.Explanation = "the name is not quoted" },
		"trap":        func(c *corpus.Case) { c.Trap = "looks fine" },
	} {
		t.Run(name, func(t *testing.T) {
			c := pair("a", "injection")
			change(c)
			assert.Equal(t, base, requests(t, c))
		})
	}
	other := pair("a", "injection")
	other.Fixed.Files[0].Text = []byte("pass\n")
	assert.NotEqual(t, base, requests(t, other), "the test sees a change of the files")
}

func TestPlanOrderAndSeeds(t *testing.T) {
	d, _ := oneshot(t)
	cases := []*corpus.Case{pair("a", "injection"), pair("b", "path")}
	plan, err := NewPlan(cases, d, 3, 1)
	require.NoError(t, err)
	require.Equal(t, 12, plan.Runs())
	seeds := map[int64]bool{}
	for i := range plan.Runs() {
		cell := plan.Run(i)
		assert.Equal(t, cases[i/6], cell.Case)
		assert.Equal(t, i%3, cell.K)
		assert.GreaterOrEqual(t, cell.Seed, int64(0))
		assert.Less(t, cell.Seed, int64(1)<<53)
		seeds[cell.Seed] = true
	}
	assert.Len(t, seeds, 12, "each run draws for itself")

	more, err := NewPlan(cases, d, 5, 1)
	require.NoError(t, err)
	assert.Equal(t, plan.Run(1).Seed, more.Run(1).Seed, "run k is the same whatever K is")
	other, err := NewPlan(cases, d, 3, 2)
	require.NoError(t, err)
	assert.NotEqual(t, plan.Run(0).Seed, other.Run(0).Seed)
	assert.NotEqual(t, plan.order(), other.order())
	assert.ElementsMatch(t, plan.order(), other.order())

	_, err = NewPlan(cases, d, 0, 1)
	assert.ErrorContains(t, err, "K must be at least 1")
}

func TestCasesThatLeaveThePlanAreCounted(t *testing.T) {
	d, _ := oneshot(t)
	memory, review := pair("m", "memory_safety"), pair("r", "injection")
	review.Task = "review"
	plan, err := NewPlan([]*corpus.Case{pair("a", "injection"), memory, review}, d, 1, 1)
	require.NoError(t, err)
	assert.Equal(t, map[string]int{"family memory_safety": 1, "task review": 1}, plan.LeftOut)
	assert.Equal(t, 1, plan.Cases)
	assert.Equal(t, 2, plan.Runs())
}

// A side that can never be scored takes the other with it, unsent.
func TestUnscorableCasesAreNotSent(t *testing.T) {
	d, program := oneshot(t)
	for _, c := range []struct {
		name  string
		spoil func(*corpus.Case)
		want  detector.Status
	}{
		{"span outside its file", func(c *corpus.Case) { c.Spans[0].End = 99 }, detector.LabelDefect},
		{"region outside its file", func(c *corpus.Case) { c.Regions[0].End = 99 }, detector.LabelDefect},
		{"span in no file", func(c *corpus.Case) { c.Spans[0].File = "other.py" }, detector.LabelDefect},
		{"identical sides", func(c *corpus.Case) { c.Fixed = c.Vulnerable }, detector.LabelDefect},
		{"binary file", func(c *corpus.Case) { c.Fixed.Files[0].Text = []byte("a\x00b") }, detector.UnsupportedLanguage},
		{"blank side", func(c *corpus.Case) { c.Fixed.Files[0].Text = []byte(" \n") }, detector.NoCandidate},
	} {
		t.Run(c.name, func(t *testing.T) {
			broken := pair("a", "injection")
			c.spoil(broken)
			plan, err := NewPlan([]*corpus.Case{broken}, d, 2, 1)
			require.NoError(t, err)
			model := &recorder{}
			result, err := (&Runner{Program: program, Model: model}).Run(context.Background(), plan, nil)
			require.NoError(t, err)
			assert.Empty(t, model.requests, "nothing is paid for it")
			kept := rowsOf(t, result)
			require.Len(t, kept, 4)
			for _, rows := range kept {
				assert.Equal(t, string(c.want), rows.Run.Status)
				assert.NotNil(t, rows.Run.Detail)
			}
			scores := measurements.Score(measurements.PlanRecord{K: 2}, runRows(kept), measurements.Class, measurements.Charge)
			require.Len(t, scores, 1)
			assert.Nil(t, scores[0].J, "no number of a case that was not run")
		})
	}
}

func runRows(kept []measurements.Rows) []measurements.RunRow {
	var rows []measurements.RunRow
	for _, row := range kept {
		rows = append(rows, row.Run)
	}
	return rows
}

// One set of files is one draw, whatever it is labelled.
func TestTheSameFilesTwiceAreRefused(t *testing.T) {
	d, _ := oneshot(t)
	a, b := pair("a", "injection"), pair("a", "path")
	b.ID = "b"
	_, err := NewPlan([]*corpus.Case{a, b}, d, 1, 1)
	assert.ErrorContains(t, err, `cases "a" and "b" hold the same files`)
}
