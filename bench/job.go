package bench

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/youden-bench/youden/corpus"
	"github.com/youden-bench/youden/corpus/family"
	"github.com/youden-bench/youden/detector"
	"github.com/youden-bench/youden/measurements"
)

// Job is a capture that is ready to run: its cases are loaded, its detector is
// built and its plan is made. No call has been made.
type Job struct {
	Request  Request
	Plan     *Plan
	Detector *detector.Detector
	Program  detector.Program
	manifest measurements.Manifest
	sequence *sequence // nil: K is fixed
}

// Prepare loads what the request names and plans its runs. folder is where
// captures go: openings of an embedded holdout are recorded there.
func Prepare(req Request, programs detector.Registry, folder, command string) (*Job, error) {
	if err := req.check(); err != nil {
		return nil, err
	}
	d, program, err := OpenDetector(req.Detector, programs)
	if err != nil {
		return nil, err
	}
	job := &Job{Request: req, Detector: d, Program: program}
	if job.callsModel() {
		if err := req.Endpoint.check(req.EndpointName); err != nil {
			return nil, err
		}
	}
	if err := job.loadBaseline(); err != nil { // before the holdout leaves its seal
		return nil, err
	}
	source, err := OpenCorpus(req.Corpus)
	if err != nil {
		return nil, err
	}
	selected, err := source.take(req.Split, folder, command, d.Name)
	if err != nil {
		return nil, err
	}
	cases, err := req.Filter(selected.cases)
	if err != nil {
		return nil, err
	}
	if job.Plan, err = NewPlan(cases, d, req.Runs, req.Seed); err != nil {
		return nil, err
	}
	if len(job.Plan.Cells) == 0 {
		return nil, fmt.Errorf("nothing to run: no case of %s is left for detector %s (%s)", source.Name, d.Name, describeLeftOut(job.Plan.LeftOut))
	}
	if err := job.record(source.Name, selected); err != nil {
		return nil, err
	}
	return job, job.planLooks()
}

// record fills the manifest with everything that makes the capture comparable.
func (j *Job) record(source string, selected selection) error {
	request, err := json.Marshal(j.Request)
	if err != nil {
		return fmt.Errorf("record the request: %w", err)
	}
	req, cfg := j.Request, j.Request.Endpoint
	j.manifest = measurements.Manifest{
		Simulated: cfg.Simulated && j.callsModel(),
		Openings:  selected.openings,
		Request:   request,
		Plan: measurements.PlanRecord{
			Corpus: corpusRecord(source, j.Plan),
			Detector: measurements.DetectorRecord{
				Name: j.Detector.Name, Hash: j.Detector.Hash(j.Program), Program: j.Detector.Program, Families: names(j.Detector.Families),
				Texts: textRecords(j.Detector.Texts(j.Program)),
			},
			Scorer:      measurements.DefaultRules().Record(),
			K:           req.Runs,
			Seed:        req.Seed,
			Split:       selected.split,
			Filters:     req.filters(),
			Policy:      req.Policy,
			View:        req.View,
			Concurrency: req.Concurrency,
			Runs:        len(j.Plan.Cells),
		},
	}
	if j.callsModel() {
		j.manifest.Plan.Endpoint = cfg.record(req.EndpointName)
		j.manifest.Plan.Parameters = map[string]any{
			"temperature": cfg.Temperature, cfg.MaxTokensField: cfg.MaxTokens, "response_format": j.Detector.ResponseFormat,
		}
		for key, value := range cfg.ExtraBody {
			j.manifest.Plan.Parameters[key] = value
		}
	}
	for _, why := range sortedKeys(j.Plan.LeftOut) {
		j.manifest.LeftOut = append(j.manifest.LeftOut, measurements.LeftOut{Reason: why, Cases: j.Plan.LeftOut[why]})
	}
	return nil
}

// callsModel reports whether the detector needs an endpoint.
func (j *Job) callsModel() bool { return !strings.HasPrefix(j.Detector.Program, "control:") }

// corpusRecord hashes the planned cases and counts them by slice and family.
func corpusRecord(name string, p *Plan) measurements.CorpusRecord {
	cases := p.cases()
	rec := measurements.CorpusRecord{
		Source: name, Hash: (&corpus.Corpus{Cases: cases}).Hash(), Cases: len(cases), Strata: measurements.Strata(cases),
	}
	for _, c := range cases {
		if !slices.Contains(rec.Slices, c.Slice) {
			rec.Slices = append(rec.Slices, c.Slice)
		}
	}
	slices.Sort(rec.Slices)
	return rec
}

// textDigits of a text's hash tell one text of a detector from its next version.
const textDigits = 16

func textRecords(texts []detector.Text) []measurements.TextRecord {
	out := make([]measurements.TextRecord, len(texts))
	for i, t := range texts {
		out[i] = measurements.TextRecord{Name: t.Name, SHA256: t.Hash[:textDigits]}
	}
	return out
}

func names(ids []family.ID) []string {
	out := make([]string, len(ids))
	for i, id := range ids {
		out[i] = string(id)
	}
	return out
}

func sortedKeys(m map[string]int) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

func describeLeftOut(leftOut map[string]int) string {
	if len(leftOut) == 0 {
		return "the split and the filters leave none"
	}
	var parts []string
	for _, why := range sortedKeys(leftOut) {
		parts = append(parts, fmt.Sprintf("%d of %s left out", leftOut[why], why))
	}
	return strings.Join(parts, ", ")
}
