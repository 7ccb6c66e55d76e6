package compare

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/youden-bench/youden/measurements"
	"github.com/youden-bench/youden/measurements/kstrl"
	"github.com/youden-bench/youden/measurements/stats"
)

func pointer[T any](v T) *T { return &v }

// withRuns is a subject of 120 planned runs that ended so.
func withRuns(status measurements.CaptureStatus, dispatched, errors int64, statuses map[string]int64) *Subject {
	s := measured(5, steady())
	s.Kind = FromCapture
	s.Completeness = Completeness{Status: status, Planned: pointer(int64(120)), Dispatched: &dispatched, Errors: &errors}
	s.Spend = measurements.Spend{Runs: 120, RunsOK: 120, Statuses: statuses}
	for _, n := range statuses {
		s.Spend.RunsOK -= n
	}
	return s
}

func TestIncomplete(t *testing.T) {
	for _, c := range []struct {
		name  string
		of    *Subject
		limit float64
		want  string
	}{
		{"whole", withRuns(measurements.Complete, 120, 0, nil), .05, ""},
		{"at the limit", withRuns(measurements.Complete, 120, 6, map[string]int64{"timeout": 6}), .05, ""},
		{"above it", withRuns(measurements.Complete, 120, 7, map[string]int64{"timeout": 3, "rate_limited": 4, "bad_format": 9}), .05,
			"7/120 runs lost to endpoint or network (4 rate_limited, 3 timeout), more than 5 %"},
		{"another limit", withRuns(measurements.Complete, 120, 7, map[string]int64{"timeout": 7}), .1, ""},
		{"none may be lost", withRuns(measurements.Complete, 120, 1, map[string]int64{"timeout": 1}), 0, "1/120 runs lost to endpoint or network (1 timeout), more than 0 %"},
		{"of those dispatched", withRuns(measurements.Complete, 60, 6, map[string]int64{"timeout": 6, "label_defect": 60}), .05,
			"6/60 runs lost to endpoint or network (6 timeout), more than 5 %"},
		{"partial", withRuns(measurements.Partial, 110, 0, map[string]int64{"cancelled": 10}), .05, "partial 110/120"},
		{"killed", withRuns(measurements.Running, 120, 0, nil), .05, "running 120/120"},
		{"partial, and errors", withRuns(measurements.Partial, 100, 50, map[string]int64{"cancelled": 20, "auth": 50}), .05,
			"partial 100/120; 50/100 runs lost to endpoint or network (50 auth), more than 5 %"},
		{"unrun", withRuns(measurements.Unrun, 0, 0, map[string]int64{"cancelled": 120}), .05, "unrun: no run gave an answer"},
		{"charged runs are answers", withRuns(measurements.Complete, 120, 0, map[string]int64{"refused": 120}), .05, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			assert.Equal(t, c.want, c.of.Incomplete(c.limit))
			got := Compare(measured(5, steady()), c.of, Options{MaxErrorRate: &c.limit})
			assert.Equal(t, c.want, got.New.Incomplete)
			assert.Empty(t, got.Old.Incomplete)
			assert.InDelta(t, c.limit, LimitsOf(got).MaxErrorRate, 0)
		})
	}
}

// What nobody counted is told from the statuses, unless these do not account for
// every run.
func TestErrorsFromStatuses(t *testing.T) {
	s := withRuns("", 0, 0, map[string]int64{"timeout": 10, "cancelled": 20})
	s.Completeness = Completeness{}
	assert.Equal(t, "10/100 runs lost to endpoint or network (10 timeout), more than 5 %", s.Incomplete(.05))
	h := s.head(.05)
	assert.InDelta(t, .1, *h.ErrorRate, 1e-12)
	s.Spend.Runs++
	assert.Empty(t, s.Incomplete(.05))
	h = s.head(.05)
	assert.Nil(t, h.ErrorRate)
	assert.Nil(t, h.Statuses)
	assert.Nil(t, h.CostUnknown)
}

func TestHeadOfWhatIsNotKnown(t *testing.T) {
	b, err := kstrl.Parse("k.json", []byte(`{"format_version": 2, "model": "m", "timestamp": "once", "runs_per_fixture": 3, "summary": {},
		"fixtures": [{"role": "security", "fixture_id": "a", "category": null, "cwe": null, "runs_total": 5, "runs_errored": 1, "runs_detected": 3}]}`), kstrl.Strict)
	require.NoError(t, err)
	s := fromKSTRL(b)
	assert.Equal(t, 5, s.K, "what its fixtures have, and not what it says")
	raw, err := json.Marshal(s.head(.05))
	require.NoError(t, err)
	var doc map[string]any
	require.NoError(t, json.Unmarshal(raw, &doc))
	for _, name := range []string{"date", "commit", "runs_planned", "dispatched", "errors", "error_rate", "cost_usd_micros", "cost_unknown_runs", "cost_per_correct_usd_micros", "statuses", "latency_p50_ms"} {
		v, ok := doc[name]
		assert.True(t, ok && v == nil, "%s is %v", name, v)
	}
	assert.EqualValues(t, 5, doc["runs"])
	assert.EqualValues(t, 5, doc["k"])
	assert.Empty(t, s.Incomplete(0))

	s.K, s.Spend.Runs, s.Date = 0, 0, time.Date(2026, 11, 30, 0, 0, 0, 0, time.UTC)
	h := s.head(.05)
	assert.Nil(t, h.K)
	assert.Nil(t, h.Runs)
	assert.Equal(t, s.Date, *h.Date)
	s.Kind = FromCapture
	assert.Zero(t, *s.head(.05).Runs, "a capture knows that it has none")
}

// A baseline says how complete its capture was, and of what commit it is.
func TestBaselineRecordsCompleteness(t *testing.T) {
	s := withRuns(measurements.Partial, 110, 10, map[string]int64{"cancelled": 10, "timeout": 10})
	s.Commit = pointer("0123456789abcdef0123456789abcdef01234567")
	s.Detector.Texts = []measurements.TextRecord{{Name: "prompt", SHA256: "p"}}
	text, err := Baseline("main", s)
	require.NoError(t, err)
	back, err := readBaseline("main.json", text)
	require.NoError(t, err)
	assert.Equal(t, s.Completeness, back.Completeness)
	assert.Equal(t, s.Commit, back.Commit)
	assert.Equal(t, s.Detector, back.Detector)
	assert.Equal(t, s.Incomplete(.05), back.Incomplete(.05))
	assert.NotContains(t, string(text), "0001-01-01")
	for _, bad := range []string{`"dispatched": -1, "errors": 0`, `"dispatched": 5, "errors": 6`, `"dispatched": 5`, `"runs_planned": -1`} {
		_, err := readBaseline("b.json", []byte(`{"schema": "youden.baseline/1", `+bad+`, "cases": []}`))
		assert.ErrorContains(t, err, "counts runs that cannot be", bad)
	}
}

func TestWeakEvidenceIsIncomparable(t *testing.T) {
	before, after := measured(5, steady()), measured(5, steady())
	before.Grade, after.Grade = "E1", "E3"
	c := Compare(before, after, Options{Mode: NonInferior, RequireGrade: "E3"})
	assert.Equal(t, Incomparable, c.Verdict)
	assert.Equal(t, []string{"OLD is of grade E1, and E3 is required"}, c.Reasons)
	assert.Empty(t, c.Slices)
	assert.NotEqual(t, Incomparable, Compare(before, after, Options{RequireGrade: "E1"}).Verdict)
}

func TestLimitsAreDividedAmongSlices(t *testing.T) {
	family := stats.ByFamily()
	want := Limits{Level: .95, Margin: .05, Slices: 1, Overall: .03, Exact: .0125, Side: .005, SideDrop: .2,
		Family: family.Limit, FamilyExact: family.Exact, FamilyDrop: family.Drop, MinFamily: 3, MaxErrorRate: .05}
	assert.Equal(t, want, LimitsOf(Compare(measured(5, steady()), measured(5, steady()), Options{})))
	want.Slices, want.MaxErrorRate = 2, 0
	for _, p := range []*float64{&want.Overall, &want.Exact, &want.Side, &want.Family, &want.FamilyExact} {
		*p /= 2
	}
	assert.Equal(t, want, LimitsOf(&Comparison{Slices: []Row{{Decides: true}, {Decides: true}, {}}}))

	looks, _ := scheme()
	first := LimitsOf(&Comparison{Slices: []Row{{Decides: true}}, Sequential: &measurements.Sequential{Looks: []measurements.Look{{K: 2}}}})
	assert.InDelta(t, looks[0].overall, first.Overall, 0)
	assert.InDelta(t, looks[0].family.Limit, first.Family, 0)
}
