package compare

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"

	"github.com/youden-bench/youden/corpus"
	"github.com/youden-bench/youden/measurements"
)

// BaselineSchema names the version of a baseline file.
const BaselineSchema = "youden.baseline/1"

// maxBaseline bounds the file: a hundred thousand cases fit.
const maxBaseline = 256 << 20

// baselineFile is a subject as it is committed: counts per case and what they
// were measured with, and no text of any answer.
type baselineFile struct {
	Schema string `json:"schema"`
	Name   string `json:"name"`
	Identity
	Completeness
	Spend      measurements.Spend `json:"spend"`
	LatencyP50 *float64           `json:"latency_p50_ms"`
	LatencyP95 *float64           `json:"latency_p95_ms"`
	Models     map[string]int64   `json:"models"`
	Cases      []baselineCase     `json:"cases"`
}

type baselineCase struct {
	Hash       string               `json:"hash"`
	ID         string               `json:"id"`
	Slice      string               `json:"slice"`
	Family     string               `json:"family"`
	Pair       bool                 `json:"pair"`
	Residual   bool                 `json:"residual,omitempty"`
	Vulnerable *measurements.Counts `json:"vulnerable,omitempty"`
	Fixed      *measurements.Counts `json:"fixed,omitempty"`
}

// Baseline distils a subject. A capture without a score, or a smoke test, is
// refused: what CI compares with must hold.
func Baseline(name string, s *Subject) ([]byte, error) {
	if measurements.Smoke(s.K) {
		return nil, fmt.Errorf("%s has K = %d runs a side: that is a smoke test; a baseline needs %d, and 20 nearly double the power for small families", s.Name, s.K, measurements.SmokeK)
	}
	f := baselineFile{
		Schema: BaselineSchema, Name: name, Identity: s.Identity, Completeness: s.Completeness,
		Spend: s.Spend, LatencyP50: s.LatencyP50, LatencyP95: s.LatencyP95, Models: s.Models,
	}
	scored := 0
	for i := range s.Cases {
		c := &s.Cases[i]
		if c.Counts() {
			scored++
		}
		f.Cases = append(f.Cases, baselineCase{
			Hash: c.Hash, ID: c.ID, Slice: c.Slice, Family: c.Family, Pair: c.IsPair, Residual: c.Residual,
			Vulnerable: c.Vulnerable.Keep(s.Severities), Fixed: c.Fixed.Keep(s.Severities),
		})
	}
	if scored == 0 {
		return nil, fmt.Errorf("%s has no scored case, so there is nothing to compare with", s.Name)
	}
	return f.encode()
}

// encode writes one case a line, so that a change of a baseline reads as one.
func (f baselineFile) encode() ([]byte, error) {
	cases := f.Cases
	f.Cases = nil
	head, err := json.MarshalIndent(f, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("writing a baseline: %w", err)
	}
	head = bytes.TrimSuffix(head, []byte("\"cases\": null\n}"))
	var b bytes.Buffer
	b.Write(head)
	b.WriteString("\"cases\": [")
	for i, c := range cases {
		line, err := json.Marshal(c)
		if err != nil {
			return nil, fmt.Errorf("writing a baseline: %w", err)
		}
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString("\n    ")
		b.Write(line)
	}
	b.WriteString("\n  ]\n}\n")
	return b.Bytes(), nil
}

// remake is what to do about a baseline that cannot be read.
const remake = "make it anew with `youden baseline set`"

// readBaseline reads a baseline file. Counts that cannot be are refused.
func readBaseline(file string, data []byte) (*Subject, error) {
	f, err := decodeBaseline(file, data)
	if err != nil {
		return nil, err
	}
	s := &Subject{
		Name: file, Kind: FromBaseline, Identity: f.Identity, Completeness: f.Completeness,
		Spend: f.Spend, LatencyP50: f.LatencyP50, LatencyP95: f.LatencyP95, Models: f.Models, Severities: len(f.Cases) > 0,
	}
	for _, c := range f.Cases {
		if !c.valid() {
			return nil, &LoadError{file, 0, fmt.Sprintf("case %q has counts that cannot be", c.ID), remake}
		}
		s.Severities = s.Severities && c.severities()
		s.Cases = append(s.Cases, measurements.CaseScore{
			ID: c.ID, Hash: c.Hash, Slice: c.Slice, Family: c.Family, IsPair: c.Pair, Residual: c.Residual,
			Vulnerable: c.Vulnerable.Restore(corpus.Vulnerable), Fixed: c.Fixed.Restore(corpus.Fixed),
		})
	}
	if why := s.fault(); why != "" {
		return nil, &LoadError{file, 0, why, remake}
	}
	return s, nil
}

// decodeBaseline reads the one document of a file.
func decodeBaseline(file string, data []byte) (*baselineFile, error) {
	var f baselineFile
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&f); err != nil {
		return nil, &LoadError{file, lineOf(data, err), fmt.Sprintf("is no baseline: %v", err), remake}
	}
	if f.Schema != BaselineSchema {
		return nil, &LoadError{file, 1, fmt.Sprintf("has schema %q, this program reads %q", f.Schema, BaselineSchema), remake}
	}
	if end := dec.InputOffset(); len(bytes.TrimSpace(data[end:])) > 0 {
		return nil, &LoadError{file, bytes.Count(data[:end], []byte{'\n'}) + 1, "goes on behind the baseline", remake}
	}
	key, at, err := repeatedKey(data)
	if err != nil {
		return nil, &LoadError{file, lineOf(data, err), fmt.Sprintf("is no baseline: %v", err), remake}
	}
	if key != "" {
		return nil, &LoadError{file, bytes.Count(data[:at], []byte{'\n'}) + 1, fmt.Sprintf("says %q twice", key), remake}
	}
	return &f, nil
}

func (c baselineCase) sides() []*measurements.Counts {
	var list []*measurements.Counts
	for _, side := range []*measurements.Counts{c.Vulnerable, c.Fixed} {
		if side != nil {
			list = append(list, side)
		}
	}
	return list
}

func (c baselineCase) valid() bool {
	sides := c.sides()
	return len(sides) > 0 && (!c.Pair || len(sides) == 2) &&
		!slices.ContainsFunc(sides, func(side *measurements.Counts) bool { return !side.Valid() })
}

func (c baselineCase) severities() bool {
	return !slices.ContainsFunc(c.sides(), func(side *measurements.Counts) bool { return len(side.AtLeast) == 0 })
}

// LoadError says why a file cannot be compared.
type LoadError struct {
	File    string
	Line    int // 0 = the whole
	Message string
	Remedy  string
}

func (e *LoadError) Error() string {
	at := e.File
	if e.Line > 0 {
		at = fmt.Sprintf("%s:%d", e.File, e.Line)
	}
	return fmt.Sprintf("%s: %s; %s", at, e.Message, e.Remedy)
}

// lineOf is the line of a JSON error, 0 when it has none.
func lineOf(data []byte, err error) int {
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	offset := int64(-1)
	switch {
	case errors.As(err, &syntax):
		offset = syntax.Offset
	case errors.As(err, &kind):
		offset = kind.Offset
	}
	if offset < 0 || offset > int64(len(data)) {
		return 0
	}
	return bytes.Count(data[:offset], []byte{'\n'}) + 1
}

// readFile reads what may be compared.
func readFile(name string) ([]byte, error) {
	return readRegular(name, "is neither a file nor the directory of a capture", "name a capture, a baseline or a kstrl file")
}

// readRegular reads a regular file of at most maxBaseline bytes; otherwise and
// remedy are what to say of anything else.
func readRegular(name, otherwise, remedy string) ([]byte, error) {
	info, err := os.Stat(name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, &LoadError{name, 0, otherwise, remedy}
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	data, err := io.ReadAll(io.LimitReader(f, maxBaseline+1))
	if err := errors.Join(err, f.Close()); err != nil {
		return nil, fmt.Errorf("reading %s: %w", name, err)
	}
	if len(data) > maxBaseline {
		return nil, &LoadError{name, 0, fmt.Sprintf("is larger than %d bytes", maxBaseline), remedy}
	}
	return data, nil
}

// Folder is where baselines stand, beside the project that commits them.
const Folder = "baselines"

// locate finds what a name stands for: the path of that name, else the baseline
// that is called so.
func locate(name string) (string, os.FileInfo, error) {
	info, err := os.Stat(name)
	if !errors.Is(err, fs.ErrNotExist) {
		return name, info, err
	}
	file, bad := Path(name)
	if bad != nil {
		return "", nil, err
	}
	if info, err := os.Stat(file); !errors.Is(err, fs.ErrNotExist) {
		return file, info, err
	}
	return "", nil, fmt.Errorf("there is neither a file or folder %s nor a baseline %s (`youden baseline list` names them): %w", name, file, fs.ErrNotExist)
}

// baselineName is one word, so that none leaves the folder, hides in it, is taken
// for a flag or moves a cursor.
var baselineName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]*$`)

// Path is the file of a named baseline.
func Path(name string) (string, error) {
	if !baselineName.MatchString(name) {
		return "", fmt.Errorf("baseline name %q: use letters, digits, dots, hyphens and underscores, such as main", name)
	}
	return filepath.Join(Folder, name+".json"), nil
}
