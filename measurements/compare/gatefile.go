package compare

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/youden-bench/youden/corpus/tomlfile"
	"github.com/youden-bench/youden/detector"
	"github.com/youden-bench/youden/measurements"
)

type gateDocument struct {
	Version int         `toml:"version"`
	Gates   []gateEntry `toml:"gate"`
}

type gateEntry struct {
	Name        string   `toml:"name"`
	Metric      string   `toml:"metric"`
	Slice       string   `toml:"slice"`
	Family      string   `toml:"family"`
	Case        string   `toml:"case"`
	Cases       []string `toml:"cases"`
	Min         float64  `toml:"min"`
	Max         float64  `toml:"max"`
	Margin      float64  `toml:"margin"`
	MinPass     string   `toml:"min_pass"`
	MinSeverity string   `toml:"min_severity"`
	Kind        string   `toml:"kind"`
	Alone       bool     `toml:"alone"`
}

const (
	kindDropOnly = "drop-only"

	mostGates    = 1000
	mostNameSize = 200
	mostRuns     = 1_000_000
)

// LoadGates reads a gate file.
func LoadGates(file string) (Gates, error) {
	data, err := readRegular(file, "is no regular file (a pipe, a device or a folder)", "write the gates to a file such as gates.toml, and name that")
	if err != nil {
		return Gates{}, fmt.Errorf("reading gates: %w", err)
	}
	gates, err := ReadGates(file, data)
	sum := sha256.Sum256(data)
	gates.digest = hex.EncodeToString(sum[:])
	return gates, err
}

// ReadGates reads the gates of a document, called name in errors, and adds those
// that belong to them. The error wraps a *tomlfile.Error for every mistake that
// needs no data to be seen; Check finds the others.
func ReadGates(name string, data []byte) (Gates, error) {
	var doc gateDocument
	positions, err := tomlfile.Decode(name, data, &doc)
	if err != nil {
		return Gates{}, err
	}
	r := gateReader{positions: positions, names: map[string]bool{}}
	switch {
	case !positions.Has("version"):
		r.fault("the gate file has no version", "write version = 1 at the top")
	case doc.Version != 1:
		r.fault(fmt.Sprintf("version %d of gate files is unknown", doc.Version), "this program reads version 1", "version")
	}
	switch {
	case len(doc.Gates) == 0:
		r.fault("the file has no gate, so that everything would pass", "add a [[gate]]", "gate")
	case len(doc.Gates) > mostGates:
		r.fault(fmt.Sprintf("%d gates are more than the %d that are read", len(doc.Gates), mostGates), "gate families or slices instead of cases", "gate", mostGates)
		doc.Gates = nil
	}
	list := []gate{}
	for i := range doc.Gates {
		list = append(list, r.gate(&doc.Gates[i], i))
	}
	if err := errors.Join(r.errs...); err != nil {
		return Gates{}, err
	}
	return Gates{File: name, positions: positions, list: withOthers(list)}, nil
}

// gateReader turns entries into gates and collects every mistake.
type gateReader struct {
	positions *tomlfile.Positions
	names     map[string]bool
	errs      []error
}

func (r *gateReader) fault(message, remedy string, path ...any) {
	r.errs = append(r.errs, r.positions.Fault(message, remedy, path...))
}

func (r *gateReader) gate(e *gateEntry, at int) gate {
	g := gate{name: e.Name, at: at, floor: noFloor, alone: e.Alone, dropOnly: e.Kind == kindDropOnly}
	bad := func(key, message, remedy string) {
		r.fault(fmt.Sprintf("gate %q: %s", short40(e.Name), message), remedy, "gate", at, key)
	}
	r.name(e.Name, bad)
	g.scope = r.scope(e, at, bad)
	g.demand = r.demand(e, at, bad)
	if r.has(at, "metric") {
		known := false
		if g.metric, known = parseGateMetric(e.Metric); !known {
			bad("metric", fmt.Sprintf("there is no metric %q", e.Metric), "the metrics are "+gateMetricNames())
			return g
		}
	}
	if e.Kind != kindDropOnly && r.has(at, "kind") {
		bad("kind", fmt.Sprintf("kind %q is unknown", e.Kind), `write kind = "drop-only", or leave it out`)
	}
	if r.has(at, "min_severity") {
		g.floor = slices.Index(measurements.Floors(), detector.Severity(e.MinSeverity))
		if g.floor < 0 {
			bad("min_severity", fmt.Sprintf("there is no severity %q to count from", e.MinSeverity), "the severities are "+severities())
		}
	}
	if g.demand.key != "" {
		r.fit(g, r.has(at, "metric"), bad)
	}
	return g
}

func (r *gateReader) has(at int, key string) bool { return r.positions.Has("gate", at, key) }

func (r *gateReader) name(name string, bad func(key, message, remedy string)) {
	switch {
	case strings.TrimSpace(name) == "":
		bad("name", "a gate needs a name", "say what it is for, such as name = \"finds injections\"")
	case len(name) > mostNameSize || strings.ContainsFunc(name, unicode.IsControl):
		bad("name", "the name is no line of text", fmt.Sprintf("write at most %d bytes without control characters", mostNameSize))
	case r.names[name]:
		bad("name", "another gate has this name", "give each its own, so that a failure says which")
	}
	r.names[name] = true
}

// scope reads which cases the gate is about.
func (r *gateReader) scope(e *gateEntry, at int, bad func(key, message, remedy string)) gateScope {
	s := gateScope{slice: e.Slice, family: e.Family, cases: e.Cases}
	for _, k := range []struct{ key, value string }{{"slice", e.Slice}, {"family", e.Family}, {"case", e.Case}} {
		if r.has(at, k.key) && k.value == "" {
			bad(k.key, k.key+" names nothing", "name one, or leave it out")
		}
	}
	switch {
	case r.has(at, "case") && r.has(at, "cases"):
		bad("cases", "case and cases are both given", "keep one of them")
	case r.has(at, "case"):
		s.cases = []string{e.Case}
	case r.has(at, "cases") && len(e.Cases) == 0:
		bad("cases", "cases names nothing", "name some, or leave it out")
	}
	if len(s.cases) > 0 && s.family != "" {
		bad("family", "a case has its family already", "leave family out")
	}
	seen := map[string]bool{}
	for _, id := range s.cases {
		if seen[id] {
			bad("cases", fmt.Sprintf("case %q is named twice", short40(id)), "name it once")
		}
		seen[id] = true
	}
	return s
}

// demand reads what the gate asks for: exactly one thing.
func (r *gateReader) demand(e *gateEntry, at int, bad func(key, message, remedy string)) gateDemand {
	var given []string
	for _, key := range []string{demandMin, demandMax, demandMargin, demandMinPass} {
		if r.has(at, key) {
			given = append(given, key)
		}
	}
	if len(given) != 1 {
		message := "the gate demands nothing"
		if len(given) > 1 {
			message = strings.Join(given, " and ") + " are demands of gates of their own"
		}
		bad("", message, "give exactly one of min, max, margin and min_pass")
		return gateDemand{}
	}
	d := gateDemand{key: given[0]}
	switch d.key {
	case demandMin:
		d.value = e.Min
	case demandMax:
		d.value = e.Max
	case demandMargin:
		d.value = e.Margin
	case demandMinPass:
		right, runs, ok := parseMinPass(e.MinPass)
		if !ok {
			bad(demandMinPass, fmt.Sprintf("min_pass %q is no share of runs", short40(e.MinPass)), `write right/runs, such as "4/5", with at least 1 right and no more than there are runs`)
			return gateDemand{}
		}
		d.right, d.runs = right, runs
	}
	if math.IsNaN(d.value) || math.IsInf(d.value, 0) {
		bad(d.key, d.key+" is no number to compare with", "write a finite number")
		return gateDemand{}
	}
	return d
}

// parseMinPass reads "8/10".
func parseMinPass(text string) (right, runs int, ok bool) {
	a, b, found := strings.Cut(text, "/")
	right, errRight := strconv.Atoi(a)
	runs, errRuns := strconv.Atoi(b)
	if !found || errRight != nil || errRuns != nil || fmt.Sprintf("%d/%d", right, runs) != text {
		return 0, 0, false
	}
	return right, runs, right >= 1 && right <= runs && runs <= mostRuns
}

// short40 keeps a message readable when a name is not.
func short40(text string) string {
	if runes := []rune(text); len(runes) > 40 {
		return string(runes[:40]) + "..."
	}
	return text
}

func severities() string {
	var names []string
	for _, s := range measurements.Floors() {
		names = append(names, string(s))
	}
	return strings.Join(names, ", ")
}
