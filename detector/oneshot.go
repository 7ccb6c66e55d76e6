package detector

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync/atomic"

	"github.com/youden-bench/youden/corpus/family"
)

// Oneshot shows the whole side in one request and reads one report of findings.
type Oneshot struct {
	detector *Detector
	taxonomy *family.Taxonomy
	opening  atomic.Pointer[opening] // of the last prompt; mostly that of the next, too
}

// NewOneshot builds the oneshot program of d. It fails when an examples file of
// d cannot be read.
func NewOneshot(d *Detector) (Program, error) {
	o := &Oneshot{detector: d, taxonomy: family.Default()}
	if strings.TrimSpace(d.Levers.Shared[Prompt]) == "" {
		return nil, fmt.Errorf("detector %s: %s is missing or empty; a oneshot detector needs an instruction", d.Name, Prompt.File())
	}
	if _, err := o.request(probe()); err != nil {
		return nil, err
	}
	return o, nil
}

// probe is a fixed target: the request it gives shows every text of the program.
func probe() Target {
	return Target{Task: "audit", Files: []File{{Path: "a.go", Text: "package a\n"}}}
}

// Texts returns the request for a fixed target, which holds every template,
// contract and fence, and the version of the reader of answers.
func (o *Oneshot) Texts() []string {
	req, err := o.request(probe())
	if err != nil { // refused by NewOneshot
		return nil
	}
	return []string{planned(req), extractorVersion}
}

func (o *Oneshot) request(t Target) (Request, error) {
	head := o.opening.Load()
	if head == nil || head.plan != t.Plan {
		text, err := auditOpening(o.detector, o.taxonomy, t.Plan)
		if err != nil {
			return Request{}, err
		}
		head = &opening{t.Plan, text}
		o.opening.Store(head)
	}
	req := Request{
		Messages: []Message{
			{Role: System, Content: systemText},
			{Role: User, Content: auditPrompt(head.text, t)},
		},
		ResponseFormat: o.detector.ResponseFormat,
		Seed:           t.Seed,
		MaxTokens:      o.detector.Budget.MaxTokens,
	}
	if req.ResponseFormat == "json_schema" {
		req.Schema = json.RawMessage(reportSchema)
	}
	return req, nil
}

// planned renders a request without its seed: what was asked, not which draw.
func planned(req Request) string {
	fields := []string{req.ResponseFormat, string(req.Schema), fmt.Sprint(req.MaxTokens)}
	for _, m := range req.Messages {
		fields = append(fields, string(m.Role), m.Content)
	}
	return digest(fields...)
}

// Run asks once and reads the report.
func (o *Oneshot) Run(ctx context.Context, t Target, m Model) Trajectory {
	if !anyText(t.Files) {
		return Trajectory{Status: NoCandidate, Detail: "the side has no text to audit"}
	}
	req, err := o.request(t)
	if err != nil {
		return Trajectory{Status: Config, Detail: err.Error()}
	}
	traj := Trajectory{Hash: digest("youden/trajectory/1", planned(req))}
	if limit := o.detector.Budget.MaxInputBytes; limit > 0 && inputBytes(t.Files) > limit {
		traj.Status = Budget
		traj.Detail = fmt.Sprintf("the side has %d bytes, over the detector's max_input_bytes of %d", inputBytes(t.Files), limit)
		return traj
	}
	answer := m.Complete(ctx, req)
	traj.Steps = []Step{{Kind: ModelStep, Text: answer.Text, Answer: answer}}
	if answer.Status != OK {
		traj.Status, traj.Detail = answer.Status, answer.Detail
		return traj
	}
	r := readReport(answer.Text, o.taxonomy, answer.Model)
	traj.Status, traj.Detail = r.status, r.detail
	traj.Findings, traj.Dropped = r.findings, r.dropped
	return traj
}

func anyText(files []File) bool {
	for _, f := range files {
		if strings.TrimSpace(f.Text) != "" {
			return true
		}
	}
	return false
}

func inputBytes(files []File) int {
	n := 0
	for _, f := range files {
		n += len(f.Text)
	}
	return n
}
