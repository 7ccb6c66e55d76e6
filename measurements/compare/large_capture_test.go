package compare_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/youden-bench/youden/corpus"
	"github.com/youden-bench/youden/corpus/family"
	"github.com/youden-bench/youden/detector"
	"github.com/youden-bench/youden/measurements"
)

// size is how large a capture is.
type size struct {
	pairs, k int
	families int // of each slice
}

func (s size) String() string { return fmt.Sprintf("%dx%d", s.pairs, s.k) }

// Half of the pairs are planted, the others come from two further slices.
func (s size) slice(i int) string { return []string{"planted", "handed", "planted", "mined"}[i%4] }

// Pairs of one slice go to its families in turn.
func (s size) family(i int) string { return fmt.Sprintf("family-%02d", i/4%s.families) }

// edition says which of two captures of the same corpus is written.
type edition struct {
	seed uint64
	late bool // some cases were removed, added and changed; a family got worse, all others churn
}

// capture writes a capture as the bench does: the runs are projected from
// trajectories and go through the package's only writer.
func (s size) capture(dir string, e edition) error {
	c, err := measurements.Create(dir, s.manifest(e))
	if err != nil {
		return err
	}
	rows := make([]measurements.Rows, 0, s.runs(e))
	for i := range s.pairs {
		if s.has(i, e) {
			rows = s.pair(rows, i, e)
		}
	}
	if err := c.Write(rows); err != nil {
		return err
	}
	return c.Finish(measurements.Complete, measurements.Totals{})
}

func (s size) has(i int, e edition) bool { return !e.late || i%300 != 7 }

func (s size) runs(e edition) (runs int) {
	for i := range s.pairs {
		if s.has(i, e) {
			runs += 2 * s.k
		}
	}
	return runs
}

func (s size) manifest(e edition) measurements.Manifest {
	return measurements.Manifest{ID: fmt.Sprintf("edition-%d", e.seed), Simulated: true, Plan: measurements.PlanRecord{
		Corpus:     measurements.CorpusRecord{Source: "generated", Hash: "c0", Cases: s.pairs},
		Detector:   measurements.DetectorRecord{Name: "oneshot", Hash: fmt.Sprintf("d%d", e.seed), Program: "oneshot"},
		Scorer:     measurements.DefaultRules().Record(),
		Endpoint:   measurements.EndpointRecord{Name: "generated", BaseURL: "http://127.0.0.1", Model: "m-1"},
		Parameters: map[string]any{"temperature": 0, "max_tokens": 4096},
		K:          s.k, Seed: e.seed, Split: "train", Policy: measurements.Class, View: measurements.Charge, Runs: s.runs(e),
	}}
}

// pair appends the runs of a pair, the vulnerable side first.
func (s size) pair(rows []measurements.Rows, i int, e edition) []measurements.Rows {
	c := s.planted(i, e)
	hash, content := c.Hash(), c.ContentHash()
	own := rand.New(rand.NewPCG(uint64(i), 0)) // what is the same in every edition
	runs := rand.New(rand.NewPCG(uint64(i), e.seed))
	for _, side := range c.Sides() {
		chance := s.chance(i, side, e, own, runs)
		whole := own.IntN(200) == 0 // its case fits no context
		traces := own.IntN(3)       // a third of the cases is investigated anew by every run
		for k := range s.k {
			t := answer(c, runs.Float64() < chance, runs)
			if whole {
				t = detector.Trajectory{Status: detector.Context}
			}
			if t.Hash = content; traces == 0 {
				t.Hash = fmt.Sprintf("%016x%016x%016x%016x", runs.Uint64(), runs.Uint64(), runs.Uint64(), runs.Uint64())
			}
			r := measurements.Project(measurements.Cell{Case: c, Side: side, K: k, Seed: runs.Int64()}, t, true)
			r.Run.Family, r.Run.CaseHash, r.Run.ContentHash = s.family(i), hash, content
			rows = append(rows, r)
		}
	}
	return rows
}

// chance of a finding of the accepted family: the difficulty of the case from a
// beta distribution, moved on the logit by what changed since.
func (s size) chance(i int, side corpus.SideName, e edition, own, runs *rand.Rand) float64 {
	mean, icc := .8, .33
	if side == corpus.Fixed {
		mean = .1
	}
	p := distuv.Beta{Alpha: mean * (1/icc - 1), Beta: (1 - mean) * (1/icc - 1), Src: own}.Rand()
	if !e.late {
		return p
	}
	by := .3 * runs.NormFloat64()
	if side == corpus.Vulnerable && s.family(i) == s.family(0) {
		by--
	}
	return 1 / (1 + (1-p)/p*math.Exp(-by))
}

// claimed is the family that stands for all of them in labels: the taxonomy has
// fewer families than a large corpus.
const claimed = family.ID("injection")

func (s size) planted(i int, e edition) *corpus.Case {
	id, text := fmt.Sprintf("%s-case-%06d", s.family(i), i), "revised"
	if !e.late || i%300 != 9 {
		text = "original"
	}
	if e.late && i%300 == 8 {
		id, text = id+"-new", "added"
	}
	side := func(what string) *corpus.Side {
		body := fmt.Sprintf("import os\n%s line of case %d, %s\nreturn\n", what, i, text)
		return &corpus.Side{Files: []corpus.File{{Path: "src/app.py", Text: []byte(body)}}}
	}
	return &corpus.Case{
		ID: id, Slice: s.slice(i), Task: corpus.TaskAudit, Language: "python", Family: claimed, Group: fmt.Sprintf("g%d", i/3),
		Split: corpus.Feedback, Vetted: corpus.Vetted{Level: corpus.Read}, Vulnerable: side("open"), Fixed: side("guarded"),
		Spans:   []corpus.Span{{File: "src/app.py", Start: 2, End: 2}},
		Regions: []corpus.Span{{File: "src/app.py", Start: 2, End: 2}},
	}
}

// answer is a run of one call: in 94 of 100 a report, with a finding in its place
// or without one.
func answer(c *corpus.Case, flags bool, rng *rand.Rand) detector.Trajectory {
	t := detector.Trajectory{Status: detector.OK}
	text := `{"findings":[]}`
	switch n := rng.IntN(1000); {
	case n < 15:
		t.Status = detector.BadFormat
	case n < 25:
		t.Status = detector.Truncated
	case n < 30:
		t.Status = detector.Refused
	case n < 40:
		t.Status = detector.Transient
	case n < 50:
		t.Status = detector.Timeout
	case n < 60:
		t.Status = detector.RateLimited
	case flags:
		severity := []detector.Severity{detector.SeverityLow, detector.SeverityMedium, detector.SeverityHigh, detector.SeverityCritical}[rng.IntN(4)]
		t.Findings = []detector.Finding{{Family: claimed, Label: string(claimed), File: "src/app.py", Line: 2, Severity: severity}}
		text = `{"findings":[{"family":"injection","file":"src/app.py","line":2}]}`
	}
	prompt, completion := int64(900+rng.IntN(50)), int64(10+rng.IntN(400))
	cost := prompt/4 + completion
	t.Steps = []detector.Step{{Kind: detector.ModelStep, Answer: detector.Answer{
		Status: t.Status, Text: text, FinishReason: "stop", Model: "m-1-20261101", Fingerprint: "fp-1", Attempts: 1 + rng.IntN(20)/19,
		Usage: detector.Usage{Prompt: &prompt, Completion: &completion}, CostMicros: &cost,
		Started: time.Date(2026, 11, 30, 9, 15, 0, 0, time.UTC), Latency: time.Duration(math.Exp(7+rng.NormFloat64())) * time.Millisecond,
		Receipt: fmt.Sprintf("%032x", rng.Uint64()),
	}}}
	return t
}
