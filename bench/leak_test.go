package bench

import (
	"context"
	"encoding/json"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/youden-bench/youden/bench/ledger"
	"github.com/youden-bench/youden/corpus"
	"github.com/youden-bench/youden/measurements"
)

// simulate runs oneshot over cases on the simulated endpoint and returns the
// answers' texts and what is left of the run rows once labels are taken away.
func simulate(t *testing.T, model string, cases []*corpus.Case, k int) (answers []string, rows []measurements.RunRow) {
	t.Helper()
	d, program := oneshot(t)
	plan, err := NewPlan(cases, d, k, 1)
	require.NoError(t, err)
	cfg, err := SelectEndpoint(SimulatorName, model, nil)
	require.NoError(t, err)
	l, err := ledger.Open(context.Background(), filepath.Join(t.TempDir(), LedgerFile), ledger.Options{Indeterminate: ledger.Retry})
	require.NoError(t, err)
	defer func() { require.NoError(t, l.Close()) }()
	client, err := cfg.Connect(SimulatorName, l, "test", 8, nil)
	require.NoError(t, err)
	result, err := (&Runner{Program: program, Model: client, Simulated: true, Concurrency: 8}).Run(context.Background(), plan, nil)
	require.NoError(t, err)
	for _, r := range rowsOf(t, result) {
		for _, step := range r.Steps {
			answers = append(answers, step.Text)
		}
		rows = append(rows, r.Run)
	}
	return answers, rows
}

// Names, ids, splits and labels move no byte of a simulated answer.
func TestLabelsReachNoSimulatedAnswer(t *testing.T) {
	c, err := LoadCorpus("")
	require.NoError(t, err)
	train, _ := c.Seal()
	cases := train.Cases()[:4]
	base, rows := simulate(t, "sim-strong", cases, 2)
	require.Len(t, base, 16)
	for _, r := range rows {
		assert.True(t, r.Simulated)
	}
	var relabelled []*corpus.Case
	for i, original := range cases {
		k := *original
		k.ID, k.Title, k.Slice, k.Group = "x", "injection", "other", "y"
		k.Split, k.Language, k.Family = corpus.Holdout, "java", cases[(i+1)%len(cases)].Family
		k.Accept, k.CWE, k.Regions, k.Explanation, k.Trap = nil, 0, nil, "", ""
		k.Spans = []corpus.Span{{File: k.Vulnerable.Files[0].Path, Start: 1, End: 1}}
		relabelled = append(relabelled, &k)
	}
	again, _ := simulate(t, "sim-strong", relabelled, 2)
	assert.Equal(t, base, again)
	other, _ := simulate(t, "sim-weak", cases, 2)
	assert.NotEqual(t, base, other, "the comparison sees another model")
}

// A request holds its secret nowhere, and what is recorded of it can be read back.
func TestRequestRoundTrip(t *testing.T) {
	req := Request{Detector: "oneshot", EndpointName: "x", Endpoint: EndpointConfig{BaseURL: "http://127.0.0.1:1/v1", Model: "m", APIKeyEnv: "KEY"}.withDefaults(), Runs: 5, Seed: 1, Split: "train", Policy: measurements.Class, View: measurements.Charge, Concurrency: 4}
	raw, err := json.Marshal(req)
	require.NoError(t, err)
	var back Request
	require.NoError(t, json.Unmarshal(raw, &back))
	assert.Equal(t, req, back)
}
