package bench

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/youden-bench/youden/corpus"
	"github.com/youden-bench/youden/corpus/family"
	"github.com/youden-bench/youden/detector"
	"github.com/youden-bench/youden/fixtures"
	"github.com/youden-bench/youden/measurements"
)

// Request is what a capture was asked for. It is recorded in capture.json, so
// that the capture can be resumed, and holds no secret.
type Request struct {
	Corpus       string              `json:"corpus,omitempty"` // a directory; "" = the embedded cases
	Detector     string              `json:"detector"`         // an embedded name or a directory
	EndpointName string              `json:"endpoint_name,omitempty"`
	Endpoint     EndpointConfig      `json:"endpoint"`
	Runs         int                 `json:"runs"`
	Seed         uint64              `json:"seed"`
	Split        string              `json:"split"` // train, holdout or all
	Families     []string            `json:"families,omitempty"`
	Slices       []string            `json:"slices,omitempty"`
	Cases        []string            `json:"cases,omitempty"`
	Limit        int                 `json:"limit,omitempty"`
	Policy       measurements.Policy `json:"policy"`
	View         measurements.View   `json:"view"`
	Concurrency  int                 `json:"concurrency"`
	MaxErrorRate float64             `json:"max_error_rate"`
}

// Job is a capture that is ready to run: its cases are loaded, its detector is
// built and its plan is made. No call has been made.
type Job struct {
	Request  Request
	Plan     *Plan
	Detector *detector.Detector
	Program  detector.Program
	manifest measurements.Manifest
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
	source, err := OpenCorpus(req.Corpus)
	if err != nil {
		return nil, err
	}
	cases, openings, err := source.take(req.Split, folder, command, d.Name)
	if err != nil {
		return nil, err
	}
	if cases, err = req.filter(cases); err != nil {
		return nil, err
	}
	if job.Plan, err = NewPlan(cases, d, req.Runs, req.Seed); err != nil {
		return nil, err
	}
	if len(job.Plan.Cells) == 0 {
		return nil, fmt.Errorf("nothing to run: no case of %s is left for detector %s (%s)", source.Name, d.Name, describeLeftOut(job.Plan.LeftOut))
	}
	return job, job.record(source, openings)
}

func (r Request) check() error {
	var errs []error
	if r.Runs < 1 || r.Runs > 1000 {
		errs = append(errs, fmt.Errorf("--runs %d: K must lie between 1 and 1000", r.Runs))
	}
	if r.Concurrency < 1 || r.Concurrency > 10000 {
		errs = append(errs, fmt.Errorf("--concurrency %d: it must lie between 1 and 10000", r.Concurrency))
	}
	if r.Limit < 0 {
		errs = append(errs, fmt.Errorf("--limit %d is negative; 0 means no limit", r.Limit))
	}
	if !(r.MaxErrorRate >= 0 && r.MaxErrorRate <= 1) {
		errs = append(errs, fmt.Errorf("--max-error-rate %v: it must lie between 0 and 1", r.MaxErrorRate))
	}
	if !slices.Contains([]string{"train", "holdout", "all"}, r.Split) {
		errs = append(errs, fmt.Errorf("--split %q is unknown; use train, holdout or all", r.Split))
	}
	for _, f := range r.Families {
		if _, ok := family.Default().Family(family.ID(f)); !ok {
			errs = append(errs, fmt.Errorf("--family %q is not in the taxonomy", f))
		}
	}
	return errors.Join(errs...)
}

// filter keeps the cases that were asked for. A name that matches nothing is an
// error: a misspelt case must not become an empty capture.
func (r Request) filter(cases []*corpus.Case) ([]*corpus.Case, error) {
	matched := map[string]bool{}
	has := func(list []string, flag, value string) bool {
		if len(list) == 0 {
			return true
		}
		found := slices.Contains(list, value)
		if found {
			matched[flag+value] = true
		}
		return found
	}
	var out []*corpus.Case
	for _, c := range cases {
		inCase := has(r.Cases, "--case ", c.ID)
		inSlice := has(r.Slices, "--slice ", c.Slice)
		inFamily := has(r.Families, "--family ", string(c.Family))
		if inCase && inSlice && inFamily && (r.Limit == 0 || len(out) < r.Limit) {
			out = append(out, c)
		}
	}
	var missing []string
	for flag, list := range map[string][]string{"--case ": r.Cases, "--slice ": r.Slices, "--family ": r.Families} {
		for _, value := range list {
			if !matched[flag+value] {
				missing = append(missing, flag+value)
			}
		}
	}
	if len(missing) > 0 {
		slices.Sort(missing)
		return nil, fmt.Errorf("no case of split %s matches %s; `youden corpus stats` lists what there is", r.Split, strings.Join(missing, ", "))
	}
	return out, nil
}

// OpenDetector finds a detector by embedded name or directory and builds its
// program.
func OpenDetector(name string, programs detector.Registry) (*detector.Detector, detector.Program, error) {
	d, err := loadDetector(name)
	if err != nil {
		return nil, nil, err
	}
	program, err := programs.Build(d)
	if err != nil {
		return nil, nil, err
	}
	return d, program, nil
}

// loadDetector prefers an embedded name; a directory of that name is reached as
// ./NAME.
func loadDetector(name string) (*detector.Detector, error) {
	_, embedded := detector.Embedded()
	if slices.Contains(embedded, name) {
		return detector.LoadEmbedded(name)
	}
	if info, err := os.Stat(name); err == nil && info.IsDir() {
		fsys, err := confined(name)
		if err != nil {
			return nil, fmt.Errorf("detector %s: %w", name, err)
		}
		return detector.Load(fsys, name)
	}
	return detector.LoadEmbedded(name)
}

// confined opens a directory such that no link can lead out of it.
func confined(dir string) (fs.FS, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	return root.FS(), nil
}

// Source is an opened corpus.
type Source struct {
	Name     string // for people and records: the directory, or "embedded"
	Train    *corpus.Train
	Sealed   *corpus.Sealed
	openings string // beside the catalog; "" = in the captures folder
}

// EmbeddedCorpus is how records name the cases that ship with youden.
const EmbeddedCorpus = "embedded"

const openingsFile = "openings.jsonl"

// OpenCorpus opens a corpus directory, or the embedded cases for "".
func OpenCorpus(dir string) (*Source, error) {
	c, err := LoadCorpus(dir)
	if err != nil {
		return nil, err
	}
	s := &Source{Name: EmbeddedCorpus}
	if !isEmbedded(dir) {
		s.Name, s.openings = dir, filepath.Join(dir, openingsFile)
	}
	s.Train, s.Sealed = c.Seal()
	return s, nil
}

func isEmbedded(dir string) bool { return dir == "" || dir == EmbeddedCorpus }

// LoadCorpus reads a corpus with its holdout unsealed, for those who check
// labels; whoever scores uses OpenCorpus.
func LoadCorpus(dir string) (*corpus.Corpus, error) {
	if isEmbedded(dir) {
		return corpus.Load(fixtures.FS(), corpus.Options{})
	}
	info, err := os.Stat(dir)
	if err != nil {
		return nil, fmt.Errorf("open corpus: %w; --corpus takes a directory with a catalog.toml", err)
	}
	if !info.IsDir() {
		return nil, fmt.Errorf("open corpus %s: it is no directory; --corpus takes the directory that holds the catalog", dir)
	}
	fsys, err := confined(dir)
	if err != nil {
		return nil, fmt.Errorf("open corpus %s: %w", dir, err)
	}
	c, err := corpus.Load(fsys, corpus.Options{})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", dir, err)
	}
	return c, nil
}

// take returns the cases of a split. The holdout leaves its seal only here, and
// the opening is on disk before the first of its cases is.
func (s *Source) take(split, folder, command, detectorName string) (cases []*corpus.Case, openings int, err error) {
	if split != "holdout" {
		cases = s.Train.Cases()
	}
	sealed := s.Sealed != nil && s.Sealed.Count() > 0
	if split == "train" || !sealed {
		if split == "holdout" {
			return nil, 0, fmt.Errorf("corpus %s has no holdout; use --split all, or declare splits in its catalog", s.Name)
		}
		return cases, 0, nil
	}
	file := s.openings
	if file == "" {
		if err := os.MkdirAll(folder, 0o755); err != nil {
			return nil, 0, fmt.Errorf("record the opening of the holdout: %w", err)
		}
		file = filepath.Join(folder, openingsFile)
	}
	log := corpus.Openings{Path: file}
	held, err := s.Sealed.Open(log, corpus.Opening{Command: command, Detector: detectorName})
	if err != nil {
		return nil, 0, err
	}
	if openings, err = log.Count(s.Sealed.Hash()); err != nil {
		return nil, 0, err
	}
	return append(cases, held...), openings, nil
}

// record fills the manifest with everything that makes the capture comparable.
func (j *Job) record(source *Source, openings int) error {
	request, err := json.Marshal(j.Request)
	if err != nil {
		return fmt.Errorf("record the request: %w", err)
	}
	req, cfg := j.Request, j.Request.Endpoint
	j.manifest = measurements.Manifest{
		Simulated: cfg.Simulated,
		Openings:  openings,
		Request:   request,
		Plan: measurements.PlanRecord{
			Corpus: corpusRecord(source.Name, j.Plan),
			Detector: measurements.DetectorRecord{
				Name: j.Detector.Name, Hash: j.Detector.Hash(j.Program), Program: j.Detector.Program, Families: names(j.Detector.Families),
			},
			Scorer:      measurements.DefaultRules().Record(),
			K:           req.Runs,
			Seed:        req.Seed,
			Split:       req.Split,
			Filters:     req.filters(),
			Policy:      req.Policy,
			View:        req.View,
			Concurrency: req.Concurrency,
			Runs:        len(j.Plan.Cells),
		},
	}
	if j.callsModel() {
		j.manifest.Plan.Endpoint = measurements.EndpointRecord{Name: req.EndpointName, BaseURL: cfg.BaseURL, Model: cfg.Model}
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

func (r Request) filters() map[string]string {
	out := map[string]string{}
	for key, list := range map[string][]string{"family": r.Families, "slice": r.Slices, "case": r.Cases} {
		if len(list) > 0 {
			out[key] = strings.Join(list, ",")
		}
	}
	if r.Limit > 0 {
		out["limit"] = fmt.Sprint(r.Limit)
	}
	return out
}

// corpusRecord hashes the planned cases and counts them by slice and family.
func corpusRecord(name string, p *Plan) measurements.CorpusRecord {
	var cases []*corpus.Case
	for _, cell := range p.Cells {
		if len(cases) == 0 || cases[len(cases)-1] != cell.Case {
			cases = append(cases, cell.Case)
		}
	}
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
