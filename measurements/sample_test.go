package measurements

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/youden-bench/youden/corpus"
	"github.com/youden-bench/youden/corpus/family"
	"github.com/youden-bench/youden/detector"
)

// sampleCase is a pair whose bug is on line 2 of app.py.
func sampleCase(i int, fam family.ID) *corpus.Case {
	text := func(what string) []byte {
		return []byte(strings.Repeat(fmt.Sprintf("line of case %d, %s\n", i, what), 60))
	}
	return &corpus.Case{
		ID: fmt.Sprintf("case-%02d", i), Slice: "planted", Task: "audit", Language: "python", Family: fam,
		Group: fmt.Sprintf("g%d", i), Split: corpus.Feedback, Vetted: corpus.Vetted{Level: corpus.Read},
		Vulnerable: &corpus.Side{Files: []corpus.File{{Path: "app.py", Text: text("bad")}}},
		Fixed:      &corpus.Side{Files: []corpus.File{{Path: "app.py", Text: text("good")}}},
		Spans:      []corpus.Span{{File: "app.py", Start: 2, End: 3}},
		Regions:    []corpus.Span{{File: "app.py", Start: 2, End: 3}},
	}
}

// sampleRun is a run of one call with or without a finding in the span.
func sampleRun(c *corpus.Case, flags bool, at time.Time) detector.Trajectory {
	t := detector.Trajectory{Status: detector.OK, Hash: "same"}
	t.Steps = []detector.Step{{Kind: detector.ModelStep, Answer: detector.Answer{
		Status: detector.OK, Text: `{"findings":[]}`, Model: "sim-1", FinishReason: "stop", Attempts: 1,
		Usage:      detector.Usage{Prompt: pointer(int64(900)), Completion: pointer(int64(40))},
		CostMicros: pointer(int64(12)), Started: at, Latency: 30 * time.Millisecond, Receipt: "r-1",
	}}}
	if flags {
		t.Findings = []detector.Finding{{Label: string(c.Family), File: "app.py", Line: 2, Severity: detector.SeverityHigh}}
	}
	return t
}

var sampleTime = time.Date(2026, 11, 30, 9, 15, 0, 0, time.UTC)

// sampleRows runs n cases of three families k times a side, flagging with
// chance .8 on the vulnerable side and .1 on the fixed one.
func sampleRows(n, k int) []Rows {
	rng := rand.New(rand.NewPCG(1, 2))
	families := []family.ID{"injection", "path", "ssrf"}
	var rows []Rows
	for i := range n {
		c := sampleCase(i, families[i%len(families)])
		for _, side := range c.Sides() {
			chance := .8
			if side == corpus.Fixed {
				chance = .1
			}
			for run := range k {
				cell := Cell{Case: c, Side: side, K: run, Seed: int64(run)}
				rows = append(rows, Project(cell, sampleRun(c, rng.Float64() < chance, sampleTime), true))
			}
		}
	}
	return rows
}

func sampleManifest(runs, k int) Manifest {
	return Manifest{ID: "sample", Simulated: true, Plan: PlanRecord{
		Corpus:   CorpusRecord{Source: "fixtures", Hash: "c0", Cases: runs / 2 / k},
		Detector: DetectorRecord{Name: "oneshot", Hash: "d0", Program: "oneshot"},
		Scorer:   DefaultRules().Record(),
		Endpoint: EndpointRecord{Name: "simulated", BaseURL: "http://127.0.0.1", Model: "sim-1"},
		K:        k, Seed: 7, Split: "train", Policy: Class, View: Charge, Runs: runs,
	}}
}

func sampleCapture(t testing.TB, rows []Rows, k int) *Capture {
	t.Helper()
	c, err := Create(t.TempDir()+"/capture", sampleManifest(len(rows), k))
	require.NoError(t, err)
	require.NoError(t, c.Write(rows))
	return c
}

func runsOf(rows []Rows) []RunRow {
	runs := make([]RunRow, len(rows))
	for i, r := range rows {
		runs[i] = r.Run
	}
	return runs
}
