package bench

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/youden-bench/youden/bench/budget"
	"github.com/youden-bench/youden/corpus"
	"github.com/youden-bench/youden/corpus/family"
	"github.com/youden-bench/youden/detector"
	"github.com/youden-bench/youden/measurements"
	"github.com/youden-bench/youden/measurements/compare"
)

// Job is a capture that is ready to run: its cases are loaded, its detector is
// built and its plan is made. No call has been made.
type Job struct {
	Request  Request
	Plan     *Plan
	Detector *detector.Detector
	Program  detector.Program
	Warnings []string // what is to be told before it runs

	manifest     measurements.Manifest
	capabilities *measurements.Capabilities // nil: nobody has asked the endpoint
	sequence     *sequence                  // nil: K is fixed
	budget       *budget.Budget             // nil: nothing is capped, or nothing runs yet
	gates        compare.Gates
	only         func(PlannedRun) bool // nil: all runs; see RerunErrors
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
		if err := req.checkPriced(); err != nil {
			return nil, err
		}
		if req.Split != "train" && req.mayBill() { // before the holdout leaves its seal
			return nil, req.needsCaps("the estimate of another split than train would open the holdout")
		}
	}
	if err := job.loadGates(); err != nil {
		return nil, err
	}
	if err := job.loadBaseline(); err != nil { // before the holdout leaves its seal
		return nil, err
	}
	job.describe()
	if err := job.embedCapabilities(); err != nil {
		return nil, err
	}
	if err := job.checkBaseline(); err != nil {
		return nil, err
	}
	source, err := OpenCorpus(req.Corpus)
	if err != nil {
		return nil, err
	}
	if err := job.foresee(source); err != nil { // before the holdout leaves its seal
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
	if err := job.record(source.Name, selected); err != nil {
		return nil, err
	}
	job.planLooks()
	return job, nil
}

// foresee refuses a plan by what is known of its cases while the holdout is sealed.
func (j *Job) foresee(source *Source) error {
	all, err := source.outlines(j.Request.Split)
	if err != nil {
		return err
	}
	all, err = chosen(j.Request, all, func(o corpus.Outline) (id, slice, family string) { return o.ID, o.Slice, string(o.Family) })
	if err != nil {
		return err
	}
	var planned []corpus.Outline
	left := map[string]int{}
	for _, o := range all {
		if why := leftOut(o.Task, o.Family, j.Detector); why != "" {
			left[why]++
		} else {
			planned = append(planned, o)
		}
	}
	if len(planned) == 0 {
		return fmt.Errorf("nothing to run: no case of %s is left for detector %s (%s)", source.Name, j.Detector.Name, describeLeftOut(left))
	}
	if err := j.foreseeLooks(planned); err != nil {
		return err
	}
	return j.foreseeGates(planned)
}

// describe fills the manifest with what is known before any case is: what would
// make the capture comparable with another.
func (j *Job) describe() {
	req, cfg := j.Request, j.Request.Endpoint
	j.manifest = measurements.Manifest{
		Simulated:    cfg.Simulated && j.callsModel(),
		Capabilities: j.capabilities,
		Plan: measurements.PlanRecord{
			Detector: measurements.DetectorRecord{
				Name: j.Detector.Name, Hash: j.Detector.Hash(j.Program), Program: j.Detector.Program, Families: names(j.Detector.Families),
				Texts: textRecords(j.Detector.Texts(j.Program)),
			},
			Scorer: measurements.DefaultRules().Record(),
			K:      req.Runs,
			Seed:   req.Seed,
			Policy: req.Policy,
			View:   req.View,
		},
	}
	if !j.callsModel() {
		return
	}
	j.manifest.Plan.Endpoint = cfg.record(req.EndpointName)
	j.manifest.Plan.Parameters = map[string]any{
		"temperature": cfg.Temperature, cfg.MaxTokensField: cfg.MaxTokens, "response_format": j.Detector.ResponseFormat,
	}
	for key, value := range cfg.ExtraBody {
		j.manifest.Plan.Parameters[key] = value
	}
	cfg.parameters(j.manifest.Plan.Parameters)
}

// record adds to the manifest what was planned.
func (j *Job) record(source string, selected selection) error {
	request, err := json.Marshal(j.Request)
	if err != nil {
		return fmt.Errorf("record the request: %w", err)
	}
	j.describe()
	m, plan := &j.manifest, &j.manifest.Plan
	m.Openings, m.Request = selected.openings, request
	plan.Corpus, plan.Split, plan.Filters = corpusRecord(source, j.Plan), selected.split, j.Request.filters()
	plan.Concurrency, plan.Runs = j.Request.Concurrency, j.Plan.Runs()
	for _, why := range sortedKeys(j.Plan.LeftOut) {
		m.LeftOut = append(m.LeftOut, measurements.LeftOut{Reason: why, Cases: j.Plan.LeftOut[why]})
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

func sortedKeys[V any](m map[string]V) []string {
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
