package kstrl

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
)

// maxCount bounds a count so that every difference of two is exact in a float64,
// as the reference's arbitrary integers are.
const maxCount = 1 << 52

// maxRuns bounds the runs of a fixture for our own rules, whose tests look at every
// number of correct runs: more is a mistake. The reference's rules only divide.
const maxRuns = 100_000

const (
	recapture = "capture the baseline again, or correct the field"
	another   = "name a baseline-*.json written by kstrl or by youden export --as kstrl-v2"
)

// Load reads a baseline file of either version. Every error is a [LoadError].
func Load(file string, mode Mode) (*Baseline, error) {
	if info, err := os.Stat(file); err == nil && !info.Mode().IsRegular() { // a pipe would block
		return nil, &LoadError{File: file, Problem: "is no regular file", Remedy: another}
	}
	data, err := os.ReadFile(file)
	if err != nil {
		cause := err
		var path *fs.PathError
		if errors.As(err, &path) {
			cause = path.Err // the message names the file already
		}
		return nil, &LoadError{File: file, Problem: cause.Error(), Remedy: "check the path and its permissions", Err: err}
	}
	return Parse(file, data, mode)
}

// Parse reads the bytes of a baseline file; the name is for messages.
func Parse(file string, data []byte, mode Mode) (*Baseline, error) {
	l := &loader{file: file, mode: mode}
	top, line, err := readDocument(data)
	if err != nil {
		return nil, &LoadError{File: file, Line: line, Problem: "not JSON: " + err.Error(), Remedy: another, Err: err}
	}
	if top.kind != object {
		return nil, l.fault(top.line, "the file holds "+string(top.kind)+", not an object", another)
	}
	b := &Baseline{File: file}
	if err := l.head(top, b); err != nil {
		return nil, err
	}
	if err := l.fixtures(top, b); err != nil {
		return nil, err
	}
	if mode == Strict {
		if err := l.negatives(top, b); err != nil {
			return nil, err
		}
	}
	b.Warnings = l.warnings
	return b, nil
}

type loader struct {
	file     string
	mode     Mode
	warnings []LoadWarning
}

func (l *loader) fault(line int, problem, remedy string) error {
	return &LoadError{File: l.file, Line: line, Problem: problem, Remedy: remedy}
}

// odd is for what the reference accepts and should not.
func (l *loader) odd(line int, problem, remedy string) error {
	if l.mode == Strict {
		return l.fault(line, problem, remedy)
	}
	l.warnings = append(l.warnings, LoadWarning{File: l.file, Line: line, Problem: problem})
	return nil
}

func (l *loader) head(top *value, b *Baseline) error {
	var err error
	if b.FormatVersion, err = l.whole(top.get("format_version"), 1, "format_version"); err != nil {
		return err
	}
	if v := b.FormatVersion; v != 1 && v != 2 {
		problem := fmt.Sprintf("format_version is %d, known are 1 and 2", v)
		if err := l.odd(top.get("format_version").line, problem, "use the youden that knows this format"); err != nil {
			return err
		}
	}
	if b.RunsPerFixture, err = l.whole(top.get("runs_per_fixture"), 1, "runs_per_fixture"); err != nil {
		return err
	}
	if n := b.RunsPerFixture; l.mode == Strict && (n < 0 || n > maxRuns) {
		return l.fault(top.get("runs_per_fixture").line, fmt.Sprintf("runs_per_fixture is %d: 0 to %d are read", n, maxRuns), recapture)
	}
	if b.Model, err = l.name(top.get("model"), "unknown", "model"); err != nil {
		return err
	}
	b.Timestamp, err = l.name(top.get("timestamp"), "unknown", "timestamp")
	return err
}

// whole reads a number as the reference does, which converts before it looks.
func (l *loader) whole(v *value, absent int64, what string) (int64, error) {
	if v == nil {
		return absent, nil
	}
	var n int64
	exact, shown := false, string(v.kind)
	switch v.kind {
	case number:
		f, err := strconv.ParseFloat(v.text, 64)
		if err != nil || f >= maxCount || f <= -maxCount {
			return 0, l.fault(v.line, fmt.Sprintf("%s is %s, which counts nothing", what, clip(v.text)), recapture)
		}
		n = int64(f) // toward zero, as int() does
		exact, shown = float64(n) == f, clip(v.text)
	case text:
		var ok bool
		if n, ok = wholeText(v.text); !ok || n >= maxCount || n <= -maxCount {
			return 0, l.fault(v.line, fmt.Sprintf("%s is the text %q, not a whole number", what, clip(v.text)), recapture)
		}
	case boolean:
		if v.truth {
			n = 1
		}
	default:
		return 0, l.fault(v.line, fmt.Sprintf("%s is %s, not a whole number", what, v.kind), recapture)
	}
	if exact {
		return n, nil
	}
	return n, l.odd(v.line, fmt.Sprintf("%s is %s, no whole number, read as %d", what, shown, n), recapture)
}

// name reads a text as the reference does, which turns a null into "None".
func (l *loader) name(v *value, absent, what string) (string, error) {
	if v == nil {
		return absent, nil
	}
	var s string
	switch v.kind {
	case text:
		return v.text, nil
	case null:
		s = "None"
	case boolean:
		s = map[bool]string{true: "True", false: "False"}[v.truth]
	case number:
		s = numberText(v.text)
	default:
		return "", l.fault(v.line, fmt.Sprintf("%s is %s, not text", what, v.kind), recapture)
	}
	return s, l.odd(v.line, fmt.Sprintf("%s is %s, not text, read as %q", what, v.kind, clip(s)), recapture)
}

// known reads an optional text: null and absent are unknown.
func (l *loader) known(v *value, what string) (*string, error) {
	if v == nil || v.kind == null {
		return nil, nil
	}
	s, err := l.name(v, "", what)
	return &s, err
}

func clip(s string) string {
	const most = 40
	if r := []rune(s); len(r) > most {
		return string(r[:most]) + "..."
	}
	return s
}
