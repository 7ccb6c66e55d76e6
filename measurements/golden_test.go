package measurements

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/youden-bench/youden/corpus"
	"github.com/youden-bench/youden/corpus/family"
	"github.com/youden-bench/youden/detector"
	"github.com/youden-bench/youden/measurements/stats"
)

// goldenCase is one vector of scoring/cases.json.
type goldenCase struct {
	ID     string          `json:"id"`
	Level  string          `json:"level"`
	Input  json.RawMessage `json:"input"`
	Expect json.RawMessage `json:"expect"`
}

// goldenNames maps the statuses of the vectors to ours, where they differ.
var goldenNames = map[string]detector.Status{
	"parse_failure":    detector.BadFormat,
	"schema_violation": detector.BadSchema,
	"budget_exhausted": detector.Budget,
	"context_overflow": detector.Context,
	"infra_error":      detector.Transient,
}

func fromGolden(name string) detector.Status {
	if s, ok := goldenNames[name]; ok {
		return s
	}
	return detector.Status(name)
}

func toGolden(s detector.Status) string {
	for name, ours := range goldenNames {
		if ours == s {
			return name
		}
	}
	return string(s)
}

// goldenOutcome writes an outcome, or the reason of a side, in golden names.
func goldenOutcome(o Outcome) string {
	const prefix = "unscorable:"
	if s := string(o); len(s) > len(prefix) && s[:len(prefix)] == prefix {
		return prefix + toGolden(detector.Status(s[len(prefix):]))
	}
	return string(o)
}

type goldenPair struct {
	Family  family.ID     `json:"family"`
	Accept  []family.ID   `json:"accept"`
	Spans   []corpus.Span `json:"spans"`
	Regions []corpus.Span `json:"fixed_regions"`
}

func (p goldenPair) build() *corpus.Case {
	return &corpus.Case{ID: "golden", Slice: "golden", Task: "audit", Family: p.Family, Accept: p.Accept,
		Spans: p.Spans, Regions: p.Regions, Vulnerable: &corpus.Side{}, Fixed: &corpus.Side{}}
}

type goldenRun struct {
	Status   string `json:"status"`
	Findings []struct {
		File    string  `json:"file"`
		Line    *int    `json:"line"`
		EndLine *int    `json:"end_line"`
		Label   *string `json:"label"`
	} `json:"findings"`
}

func (r goldenRun) findings() []detector.Finding {
	var out []detector.Finding
	for _, f := range r.Findings {
		out = append(out, detector.Finding{File: f.File, Line: orZero(f.Line), EndLine: orZero(f.EndLine), Label: orZero(f.Label)})
	}
	return out
}

func orZero[T any](v *T) T {
	if v == nil {
		var zero T
		return zero
	}
	return *v
}

type goldenRunInput struct {
	Pair     goldenPair `json:"pair"`
	Run      goldenRun  `json:"run"`
	Slack    int        `json:"slack"`
	MaxLines int        `json:"max_finding_lines"`
}

func (in goldenRunInput) judge(side corpus.SideName) Judgement {
	rules := Rules{Taxonomy: family.Default(), Slack: in.Slack, MaxFindingLines: in.MaxLines}
	return Judge(in.Pair.build(), side, fromGolden(in.Run.Status), in.Run.findings(), rules)
}

func goldenCases(t *testing.T) []goldenCase {
	t.Helper()
	root := os.Getenv("YOUDEN_GOLDEN")
	if root == "" {
		root = filepath.Join("testdata", "golden")
	}
	raw, err := os.ReadFile(filepath.Join(root, "scoring", "cases.json"))
	if os.IsNotExist(err) {
		t.Skipf("no golden vectors: %v", err)
	}
	require.NoError(t, err)
	var doc struct {
		Cases []goldenCase `json:"cases"`
	}
	require.NoError(t, json.Unmarshal(raw, &doc))
	require.NotEmpty(t, doc.Cases)
	return doc.Cases
}

func TestGoldenScoring(t *testing.T) {
	levels := map[string]func(*testing.T, goldenCase){
		"vulnerable_run": goldenVulnerable,
		"fixed_run":      goldenFixed,
		"pair":           goldenPairCase,
		"family":         goldenFamily,
		"overall":        goldenOverall,
		"compare":        goldenCompare,
	}
	for _, c := range goldenCases(t) {
		t.Run(c.ID, func(t *testing.T) {
			check, ok := levels[c.Level]
			if !ok {
				t.Skipf("%s: level %q belongs to package corpus", c.ID, c.Level)
			}
			check(t, c)
		})
	}
}

// decode reads input and expectation of a vector, and skips one of a shape that
// it does not know.
func decode(t *testing.T, c goldenCase, in, want any) {
	t.Helper()
	if err := errors.Join(json.Unmarshal(c.Input, in), json.Unmarshal(c.Expect, want)); err != nil {
		t.Skipf("%s: a vector of unknown shape: %v", c.ID, err)
	}
}

// skipUnknown skips a vector, whose known fields were checked, for the others.
func skipUnknown(t *testing.T, unknown []string) {
	t.Helper()
	if len(unknown) > 0 {
		t.Skipf("%s: fields of unknown meaning: %v", t.Name(), unknown)
	}
}

func goldenVulnerable(t *testing.T, c goldenCase) {
	var in goldenRunInput
	var want struct {
		Outcome string `json:"outcome"`
	}
	decode(t, c, &in, &want)
	j := in.judge(corpus.Vulnerable)
	assert.Equal(t, want.Outcome, goldenOutcome(j.Outcome))
	if in.Run.Status == "ok" {
		assert.Equal(t, want.Outcome == "detected", *j.Hit)
	} else {
		assert.Nil(t, j.Hit)
	}
}

func goldenFixed(t *testing.T, c goldenCase) {
	var in goldenRunInput
	var want struct {
		Outcome string           `json:"outcome"`
		Silent  map[Policy]*bool `json:"silent"`
	}
	decode(t, c, &in, &want)
	j := in.judge(corpus.Fixed)
	assert.Equal(t, want.Outcome, goldenOutcome(j.Outcome))
	for _, p := range Policies() {
		if silent, ok := want.Silent[p]; ok {
			assert.Equal(t, silent, j.Silent.Under(p), "policy %s", p)
		}
	}
}

// goldenRows projects the runs of a vector's side to rows.
func goldenRows(p goldenPair, side corpus.SideName, runs []goldenRun, rules Rules) []RunRow {
	var rows []RunRow
	for k, r := range runs {
		cell := Cell{Case: p.build(), Side: side, K: k}
		t := detector.Trajectory{Status: fromGolden(r.Status), Findings: r.findings()}
		row := runRow(cell, NewProjector().identify(cell.Case), t, Judge(cell.Case, side, t.Status, t.Findings, rules))
		rows = append(rows, row)
	}
	return rows
}

func goldenVote(t *Tally) string {
	v := t.Vote()
	switch {
	case v == nil:
		return "unscorable:" + toGolden(detector.Status(t.Reason()))
	case *v:
		return "yes"
	}
	return "no"
}

func goldenPairCase(t *testing.T, c goldenCase) {
	var in struct {
		Pair       goldenPair  `json:"pair"`
		Vulnerable []goldenRun `json:"vulnerable_runs"`
		Fixed      []goldenRun `json:"fixed_runs"`
		Policy     Policy      `json:"policy"`
		View       View        `json:"view"`
		Slack      int         `json:"slack"`
	}
	var want struct {
		Vulnerable string `json:"vulnerable_vote"`
		Fixed      string `json:"fixed_vote"`
		Pair       string `json:"pair"`
		Disagrees  bool   `json:"self_disagrees"`
	}
	decode(t, c, &in, &want)
	if in.View == "" {
		in.View = Exclude
	}
	rules := DefaultRules()
	rules.Slack = in.Slack
	rows := append(goldenRows(in.Pair, corpus.Vulnerable, in.Vulnerable, rules),
		goldenRows(in.Pair, corpus.Fixed, in.Fixed, rules)...)
	cases := Cases(rows, max(len(in.Vulnerable), len(in.Fixed)), in.Policy, in.View)
	require.Len(t, cases, 1)
	assert.Equal(t, want.Vulnerable, goldenVote(cases[0].Vulnerable))
	assert.Equal(t, want.Fixed, goldenVote(cases[0].Fixed))
	assert.Equal(t, want.Pair, string(cases[0].Pair()))
	assert.Equal(t, want.Disagrees, cases[0].Disagrees())
}

// closeTo compares a rounded golden number, or null.
func closeTo(t *testing.T, want, got *float64, what string) {
	t.Helper()
	if want == nil || got == nil {
		assert.Equal(t, want == nil, got == nil, "%s: want %v, got %v", what, want, got)
		return
	}
	assert.InDelta(t, *want, *got, 1e-6, what)
}

type goldenCounts struct {
	Correct     int `json:"correct"`
	BothFlagged int `json:"both_flagged"`
	Missed      int `json:"missed"`
	Reversed    int `json:"reversed"`
	Unscorable  int `json:"unscorable"`
}

func (c goldenCounts) counts() PairCounts { return PairCounts(c) }

func goldenFamily(t *testing.T, c goldenCase) {
	var in struct {
		goldenCounts
		Counts [][]int `json:"counts"`
	}
	var want map[string]any
	decode(t, c, &in, &want)
	if in.Counts != nil {
		goldenIdentity(t, c, in.Counts)
		return
	}
	var unknown []string
	p := in.counts()
	got := map[string]any{
		"n_pairs": float64(p.N() + p.Unscorable), "n_scorable": float64(p.N()),
		"detected": float64(p.Detected()), "silent": float64(p.Silent()),
		"coverage": plain(p.Coverage()), "recall": plain(p.Recall()), "silence": plain(p.Silence()),
		"youden": plain(p.J()), "pair_accuracy": plain(p.Accuracy()),
		"recall_bounds": plainBounds(p.Bounds(p.Detected())), "silence_bounds": plainBounds(p.Bounds(p.Silent())),
		"recall_wilson95":  plainInterval(stats.Wilson(float64(p.Detected()), float64(p.N()), level)),
		"silence_wilson95": plainInterval(stats.Wilson(float64(p.Silent()), float64(p.N()), level)),
	}
	for name, w := range want {
		g, ok := got[name]
		if !ok {
			unknown = append(unknown, name)
			continue
		}
		tolerance := 1e-6
		if name == "recall_wilson95" || name == "silence_wilson95" {
			tolerance = 6e-5 // the vectors round these to four places
		}
		sameJSON(t, w, g, tolerance, name)
	}
	skipUnknown(t, unknown)
}

func plain(v *float64) any {
	if v == nil {
		return nil
	}
	return *v
}

func plainBounds(lo, hi *float64) any {
	if lo == nil {
		return nil
	}
	return []any{*lo, *hi}
}

func plainInterval(i *stats.Interval) any {
	if i == nil {
		return nil
	}
	return []any{i.Lo, i.Hi}
}

func sameJSON(t *testing.T, want, got any, tolerance float64, what string) {
	t.Helper()
	switch w := want.(type) {
	case float64:
		g, ok := got.(float64)
		require.True(t, ok, "%s: want %v, got %v", what, want, got)
		assert.InDelta(t, w, g, tolerance, what)
	case []any:
		g, ok := got.([]any)
		require.True(t, ok && len(g) == len(w), "%s: want %v, got %v", what, want, got)
		for i := range w {
			sameJSON(t, w[i], g[i], tolerance, what)
		}
	default:
		assert.Equal(t, want, got, what)
	}
}

func goldenIdentity(t *testing.T, c goldenCase, counts [][]int) {
	var want struct {
		Youden []*float64 `json:"youden"`
	}
	require.NoError(t, json.Unmarshal(c.Expect, &want))
	require.Len(t, want.Youden, len(counts))
	for i, n := range counts {
		p := PairCounts{Correct: n[0], BothFlagged: n[1], Missed: n[2], Reversed: n[3]}
		closeTo(t, want.Youden[i], p.J(), "youden")
		closeTo(t, pointer(*p.Recall()+*p.Silence()-1), p.J(), "recall + silence - 1")
		closeTo(t, pointer(float64(p.Reversed)/float64(p.N())), pointer(*p.Accuracy()-*p.J()), "pair accuracy - J")
		assert.LessOrEqual(t, *p.J(), *p.Accuracy()+1e-12)
		assert.LessOrEqual(t, *p.Accuracy(), min(*p.Recall(), *p.Silence())+1e-12)
	}
}
