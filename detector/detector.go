// Package detector holds LLM programs that look for bugs, and is opinionated
// about what they may know: a detector sees the files of one side and a task,
// never a label, a case id or a directory name; which families it looks for
// comes from its own detector.toml. Every text that can reach a request is part
// of the detector's hash.
package detector

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"sort"
	"strings"

	"github.com/youden-bench/youden/corpus/family"
)

// Detector is a program with its texts and frozen settings.
type Detector struct {
	Name           string      // how it was asked for: an embedded name or a directory
	Program        string      // the registered program that runs it
	Task           string      // the task of the cases it takes
	Families       []family.ID // what one run looks for, in the order of detector.toml
	ResponseFormat string      // "", "json_object" or "json_schema"
	Budget         Limits
	Levers         Levers
}

// Limits are a detector's own caps of one run; 0 = none.
type Limits struct {
	MaxTokens     int // of one answer
	MaxInputBytes int // of the files shown in one request
}

// Registry maps the name of a program to its constructor. The command line
// registers the programs, so that this package imports none of them.
type Registry map[string]func(*Detector) (Program, error)

// Core returns the programs of this package.
func Core() Registry {
	return Registry{
		"oneshot":        NewOneshot,
		"control:always": NewControl,
		"control:never":  NewControl,
		"control:random": NewControl,
	}
}

// Build returns the program that runs d.
func (r Registry) Build(d *Detector) (Program, error) {
	build, ok := r[d.Program]
	if !ok {
		known := make([]string, 0, len(r))
		for name := range r {
			known = append(known, name)
		}
		sort.Strings(known)
		return nil, fmt.Errorf("detector %s: no program %q; the programs are %s", d.Name, d.Program, strings.Join(known, ", "))
	}
	return build(d)
}

// Looks reports whether a run of d looks for family f.
func (d *Detector) Looks(f family.ID) bool {
	for _, have := range d.Families {
		if have == f {
			return true
		}
	}
	return false
}

// Hash identifies everything that can reach a request or read its answer: the
// settings, the levers of every family and the texts of the program.
func (d *Detector) Hash(p Program) string {
	h := digest("youden/detector/1", d.Program, d.Task, d.ResponseFormat,
		fmt.Sprint(d.Budget.MaxTokens), fmt.Sprint(d.Budget.MaxInputBytes))
	parts := []string{h}
	for _, f := range d.Families {
		parts = append(parts, string(f))
		for _, l := range LeverNames() {
			parts = append(parts, string(l), d.Levers.For(f, l))
		}
	}
	parts = append(parts, p.Texts()...)
	return digest(parts...)
}

// digest is the hex SHA-256 of length-prefixed fields.
func digest(fields ...string) string {
	h := sha256.New()
	buf := make([]byte, 1<<10) // prompts are fields: no copy of a whole one
	for _, f := range fields {
		h.Write(binary.BigEndian.AppendUint64(buf[:0], uint64(len(f))))
		for f != "" {
			n := copy(buf, f)
			h.Write(buf[:n])
			f = f[n:]
		}
	}
	return hex.EncodeToString(h.Sum(nil))
}
