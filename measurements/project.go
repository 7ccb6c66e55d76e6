package measurements

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math"
	"sync"
	"time"

	"github.com/youden-bench/youden/corpus"
	"github.com/youden-bench/youden/detector"
)

// Cell is the place of one run in a plan.
type Cell struct {
	Case *corpus.Case
	Side corpus.SideName
	K    int   // index of the run, from 0
	Seed int64 // of the request
}

// RunID names the cell's run. It depends on nothing but the case, the side and
// k, so that the same run has the same name in every capture of a corpus.
func (c Cell) RunID() string { return c.runID(c.Case.Hash()) }

func (c Cell) runID(caseHash string) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "youden/run/1\x00%s\x00%s\x00%s\x00%d", caseHash, c.Case.ID, c.Side, c.K))
	return hex.EncodeToString(sum[:8])
}

// Project turns a trajectory into the rows of a capture under the default
// rules. It is pure: the clock appears in started_at, latency_ms and receipt
// only, and only as the trajectory recorded it.
func Project(cell Cell, t detector.Trajectory, simulated bool) Rows {
	return NewProjector().Project(cell, t, simulated)
}

// Projector projects the runs of a plan. It reads each case once, which must not
// change: hashing its files again for each run would cost more than all else. Its
// methods may be called concurrently.
type Projector struct {
	rules Rules
	mu    sync.Mutex
	cases map[*corpus.Case]identity
}

// identity is what the files and labels of a case come to.
type identity struct{ hash, content, defect string }

// NewProjector returns a projector under the default rules.
func NewProjector() *Projector {
	return &Projector{rules: DefaultRules(), cases: map[*corpus.Case]identity{}}
}

func (p *Projector) identify(c *corpus.Case) identity {
	p.mu.Lock()
	defer p.mu.Unlock()
	id, ok := p.cases[c]
	if !ok {
		id = identity{hash: c.Hash(), content: c.ContentHash(), defect: defectOf(c)}
		p.cases[c] = id
	}
	return id
}

// Project is the function of that name.
func (p *Projector) Project(cell Cell, t detector.Trajectory, simulated bool) Rows {
	id := p.identify(cell.Case)
	t = withDefect(id.defect, t)
	judged := Judge(cell.Case, cell.Side, t.Status, t.Findings, p.rules)
	run := runRow(cell, id, t, judged)
	run.Simulated = simulated
	return Rows{
		Run:      run,
		Steps:    stepRows(run, t.Steps),
		Findings: findingRows(run, t, judged),
	}
}

// defectOf says how the labels of a case contradict its files, or "".
func defectOf(c *corpus.Case) string {
	for _, side := range c.Sides() {
		if why, detail := c.Unscorable(side); why == corpus.LabelDefect {
			return detail
		}
	}
	return ""
}

// withDefect replaces the end of a run by label_defect when the labels of its
// case contradict the files: such a case is never scored, on either side.
func withDefect(defect string, t detector.Trajectory) detector.Trajectory {
	if defect != "" {
		t.Status, t.Detail, t.Findings = detector.LabelDefect, defect, nil
	}
	return t
}

// runRow fills the row of a run.
func runRow(cell Cell, id identity, t detector.Trajectory, j Judgement) RunRow {
	var clean cleaner
	c := cell.Case
	row := RunRow{
		RunID:          cell.runID(id.hash),
		CaseID:         clean.text(c.ID),
		CaseHash:       id.hash,
		ContentHash:    id.content,
		Slice:          clean.text(c.Slice),
		Family:         clean.text(string(c.Family)),
		Group:          clean.text(c.Group),
		Split:          clean.text(string(c.Split)),
		Language:       clean.text(c.Language),
		Vetted:         clean.text(string(c.Vetted.Level)),
		Pair:           c.IsPair(),
		Side:           string(cell.Side),
		K:              int64(cell.K),
		RequestSeed:    cell.Seed,
		Status:         clean.text(string(t.Status)),
		Counts:         countsOf(t.Status),
		Detail:         clean.optional(t.Detail),
		TrajectoryHash: clean.optional(t.Hash),
	}
	for _, a := range c.Accept {
		row.Accept = append(row.Accept, clean.text(string(a)))
	}
	row.judge(j, t.Findings)
	if t.Status == detector.OK {
		row.DroppedItems = pointer(int64(t.Dropped))
	}
	row.spend(t.Steps, &clean)
	row.TextRepaired = clean.repaired
	return row
}

// judge sets the columns that the rules decide over a run's findings.
func (r *RunRow) judge(j Judgement, findings []detector.Finding) {
	var clean cleaner // an outcome repeats the status, which is flagged already
	r.Outcome = clean.text(string(j.Outcome))
	r.OutcomeStrict = clean.text(string(j.Under(Strict)))
	r.OutcomeClass = clean.text(string(j.Under(Class)))
	r.OutcomeRegion = clean.text(string(j.Under(Region)))
	r.Hit = j.Hit
	r.SilentStrict, r.SilentClass, r.SilentRegion = j.Silent.Strict, j.Silent.Class, j.Silent.Region
	r.Residual = j.Residual
	r.severities(j, findings)
	r.Findings, r.Unmapped, r.Unlocated = nil, nil, nil
	if r.Status != string(detector.OK) {
		return
	}
	var unmapped, unlocated int64
	for _, c := range j.Claims {
		if c.Family == "" {
			unmapped++
		}
		if !c.Located {
			unlocated++
		}
	}
	r.Findings, r.Unmapped, r.Unlocated = pointer(int64(len(j.Claims))), &unmapped, &unlocated
}

// spend sums calls, tokens, cost and time over the model steps. A sum of which
// one part is unknown is unknown: a run never looks cheaper than it was.
func (r *RunRow) spend(steps []detector.Step, clean *cleaner) {
	var prompt, completion, reasoning, cached, cost sum
	var latency time.Duration
	for _, s := range steps {
		if s.Kind != detector.ModelStep {
			continue
		}
		a := s.Answer
		if a.Attempts == 0 && !a.Replayed {
			continue // never left the process
		}
		r.Calls++
		r.Attempts += int64(a.Attempts)
		prompt.add(a.Usage.Prompt)
		completion.add(a.Usage.Completion)
		reasoning.add(a.Usage.Reasoning)
		cached.add(a.Usage.Cached)
		cost.add(a.CostMicros)
		latency += a.Latency
		if r.StartedAt == nil && !a.Started.IsZero() {
			r.StartedAt = pointer(a.Started.UTC())
		}
		r.ModelReturned = clean.latest(r.ModelReturned, a.Model)
		r.SystemFingerprint = clean.latest(r.SystemFingerprint, a.Fingerprint)
		r.FinishReason = clean.latest(r.FinishReason, a.FinishReason)
		r.Receipt = clean.latest(r.Receipt, a.Receipt)
	}
	r.PromptTokens, r.CompletionTokens = prompt.value(), completion.value()
	r.ReasoningTokens, r.CachedTokens = reasoning.value(), cached.value()
	r.CostUSDMicros = cost.value()
	if r.Calls > 0 {
		r.LatencyMS = pointer(latency.Milliseconds())
	}
}

func stepRows(run RunRow, steps []detector.Step) []StepRow {
	var rows []StepRow
	for i, s := range steps {
		var clean cleaner
		row := StepRow{
			RunID: run.RunID, CaseID: run.CaseID, Side: run.Side, K: run.K, Step: int64(i),
			Kind:      clean.text(string(s.Kind)),
			Tool:      clean.optional(s.Tool),
			Arguments: clean.optional(s.Arguments),
			Text:      clean.text(s.Text),
		}
		if s.Kind == detector.ModelStep {
			a := s.Answer
			if row.Text == "" {
				row.Text = clean.text(a.Text)
			}
			row.Reasoning = clean.optional(a.Reasoning)
			row.Status = clean.optional(string(a.Status))
			row.FinishReason = clean.optional(a.FinishReason)
			row.PromptTokens, row.CompletionTokens = a.Usage.Prompt, a.Usage.Completion
			row.ReasoningTokens, row.CachedTokens = a.Usage.Reasoning, a.Usage.Cached
			row.CostUSDMicros = a.CostMicros
			row.LatencyMS = pointer(a.Latency.Milliseconds())
			row.Attempts = pointer(int64(a.Attempts))
			row.Receipt = clean.optional(a.Receipt)
		}
		row.TextRepaired = clean.repaired
		rows = append(rows, row)
	}
	return rows
}

func findingRows(run RunRow, t detector.Trajectory, j Judgement) []FindingRow {
	base := FindingRow{
		RunID: run.RunID, CaseID: run.CaseID, Slice: run.Slice,
		Side: run.Side, K: run.K, Status: run.Status,
	}
	if t.Status != detector.OK {
		base.Kind = KindStatus
		return []FindingRow{base}
	}
	var rows []FindingRow
	for i, f := range t.Findings {
		row := base
		row.Kind, row.N = KindFinding, int64(i)
		row.claim(f)
		row.judge(j.Claims[i])
		rows = append(rows, row)
	}
	return rows
}

// claim sets the columns that the detector claimed.
func (r *FindingRow) claim(f detector.Finding) {
	var clean cleaner
	r.Label = clean.optional(claimedLabel(f))
	r.CWE = positive(f.CWE)
	r.OWASP = clean.optional(f.OWASP)
	r.File = clean.optional(f.File)
	r.Line = positive(f.Line)
	r.EndLine = positive(f.EndLine)
	r.Severity = clean.optional(string(f.Severity))
	if f.Confidence != nil && !math.IsNaN(*f.Confidence) && !math.IsInf(*f.Confidence, 0) {
		r.Confidence = pointer(*f.Confidence)
	}
	r.Explanation = clean.optional(f.Explanation)
	r.Suggestion = clean.optional(f.Suggestion)
	for _, tag := range f.Tags {
		r.Tags = append(r.Tags, clean.text(tag))
	}
	r.Model = clean.optional(f.Model)
	for _, p := range f.Passed {
		r.Passed = append(r.Passed, clean.text(p))
	}
	r.TextRepaired = clean.repaired
}

// judge sets the columns that the rules decide.
func (r *FindingRow) judge(c Claim) {
	var clean cleaner
	r.Family = clean.optional(string(c.Family))
	r.Accepted, r.Located = pointer(c.Accepted), pointer(c.Located)
	r.InSpan, r.InRegion = nil, nil
	if r.Side == string(corpus.Vulnerable) {
		r.InSpan = pointer(c.InPlace)
	} else {
		r.InRegion = pointer(c.InPlace)
	}
}

// claimedLabel is the label of a finding; a detector that knows its family and
// writes no label claims the family's name.
func claimedLabel(f detector.Finding) string {
	if f.Label == "" {
		return string(f.Family)
	}
	return f.Label
}

// countsOf says what a status means for the score, as the counts column does.
func countsOf(s detector.Status) string {
	switch s.Class() {
	case detector.Counts:
		return "yes"
	case detector.Charged:
		return "charged"
	}
	return "excused"
}

// sum adds values of which some may be unknown. The sum of nothing is 0: a run
// that called nobody cost nothing.
type sum struct {
	total   int64
	unknown bool
}

func (s *sum) add(v *int64) {
	if v == nil {
		s.unknown = true
		return
	}
	if *v < 0 || s.total > math.MaxInt64-*v {
		s.unknown = true // no endpoint counts so; a wrong sum is worse than none
		return
	}
	s.total += *v
}

func (s *sum) value() *int64 {
	if s.unknown {
		return nil
	}
	return &s.total
}

func pointer[T any](v T) *T { return &v }

func positive(n int) *int64 {
	if n <= 0 {
		return nil
	}
	return pointer(int64(n))
}
