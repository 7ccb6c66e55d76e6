// Package corpus holds planted bugs whose place and family are known, and is
// opinionated about labels: a case that contradicts itself is a label defect
// and is never scored, a group never straddles a split, and what a detector
// may see (paths and texts of one side) is kept apart from what only the
// scorer may see (family, spans, regions, split).
package corpus

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"hash"
	"sort"

	"github.com/youden-bench/youden/corpus/family"
)

// SideName says which of the two versions of a case is meant.
type SideName string

// The two sides of a case.
const (
	Vulnerable SideName = "vulnerable"
	Fixed      SideName = "fixed"
)

func (n SideName) other() SideName {
	if n == Vulnerable {
		return Fixed
	}
	return Vulnerable
}

// Split is the part of a corpus that a case belongs to. Feedback and pareto
// together are train; the holdout stays sealed until the end of a search.
type Split string

// The splits. NoSplit is a corpus that has not been split.
const (
	NoSplit  Split = ""
	Feedback Split = "feedback"
	Pareto   Split = "pareto"
	Holdout  Split = "holdout"
)

// File is one source file of a side. Path is relative and slash-separated.
type File struct {
	Path string
	Text []byte
}

// Side is one version of a case: its files, sorted by path.
type Side struct {
	Files []File
}

// Span is a range of lines of one file, 1-based and inclusive at both ends.
type Span struct {
	File       string
	Start, End int
}

// Residual is a weakness known to remain on the fixed side.
type Residual struct {
	Family family.ID
	Note   string
}

// Case is one planted thing with a known answer. A case with both sides is a
// pair; a clean fixture has only a fixed side.
type Case struct {
	ID       string
	Title    string
	Slice    string
	Group    string
	Split    Split
	Task     string // what a detector is asked to do: "audit" for security pairs
	Language string
	Family   family.ID
	Accept   []family.ID // further families that count as right, on both sides
	CWE      int         // 0 = unknown
	Vetted   Vetted

	Vulnerable *Side // nil when the case has no such side
	Fixed      *Side

	Spans   []Span     // on the vulnerable side; any one of them is enough
	Regions []Span     // on the fixed side; empty = a finding anywhere leaks
	Residue []Residual // known on the fixed side

	Explanation string
	Trap        string
	Difficulty  Difficulty
	OrdersModel bool // both sides hold a text that gives an order to whoever reads them
	Fragment    bool // a snippet that does not parse alone
	Expect      *Expectation

	// Proof holds the harness that runs a side to show the bug; nil when there
	// is none, and without files when they could not be read: ask ProofDefect
	// before running it. It is part of no hash and reaches no detector.
	Proof *Side

	defect      string // what the loader found wrong with the label
	proofDefect string // and with the files of the proof
}

// Difficulty says how hard the author meant a case to be; what a detector finds
// hard is measured, not declared.
type Difficulty string

// The difficulties; a case may declare none.
const (
	Plain    Difficulty = "plain"    // from the input to a well-known sink within a function or two
	Ordinary Difficulty = "ordinary" // over two files, or with a check that is incomplete or misplaced
	Hard     Difficulty = "hard"     // several hops over files, second order, race, timing
)

// Expectation is the known answer of a case that is not a pair of sides.
type Expectation struct {
	Kind     string   // "concern", "spec" or "paths"
	Category string   // concern: the kind of concern that must be raised
	Severity string   // concern: the lowest severity that counts
	Issues   []string // spec: the planted issues, one sentence each
	Allowed  []string // paths: the path patterns that may be written
}

// Side returns the named side, nil when the case does not have it.
func (c *Case) Side(name SideName) *Side {
	if name == Vulnerable {
		return c.Vulnerable
	}
	return c.Fixed
}

// Sides lists the sides that the case has, the vulnerable one first.
func (c *Case) Sides() []SideName {
	var names []SideName
	if c.Vulnerable != nil {
		names = append(names, Vulnerable)
	}
	if c.Fixed != nil {
		names = append(names, Fixed)
	}
	return names
}

// IsPair reports whether the case has both sides.
func (c *Case) IsPair() bool { return c.Vulnerable != nil && c.Fixed != nil }

// Accepts reports whether a finding of family f is right for this case.
func (c *Case) Accepts(f family.ID) bool {
	if f == "" {
		return false
	}
	if f == c.Family {
		return true
	}
	for _, a := range c.Accept {
		if a == f {
			return true
		}
	}
	return false
}

// ResidualAccepted reports whether a weakness of an accepted family is known
// to remain on the fixed side; such a side is scored under the region policy.
func (c *Case) ResidualAccepted() bool {
	for _, r := range c.Residue {
		if c.Accepts(r.Family) {
			return true
		}
	}
	return false
}

// ContentHash covers the paths and texts of both sides and nothing else: it is
// the only hash of a case that may reach a request.
func (c *Case) ContentHash() string {
	h := newHasher("youden/content/1")
	for _, name := range []SideName{Vulnerable, Fixed} {
		side := c.Side(name)
		if side == nil {
			h.field("absent")
			continue
		}
		h.field(string(name))
		h.count(len(side.Files))
		for _, f := range side.Files {
			h.field(f.Path)
			h.field(string(f.Text))
		}
	}
	return h.sum()
}

// Hash covers the content, the task, the labels and the expectation: it pairs
// the cases of two captures and detects a case that changed. The id, slice,
// group, split, title and notes are not part of it.
func (c *Case) Hash() string {
	h := newHasher("youden/case/1")
	h.field(c.ContentHash())
	h.field(c.Task)
	h.field(string(c.Family))
	accept := make([]string, len(c.Accept))
	for i, a := range c.Accept {
		accept[i] = string(a)
	}
	sort.Strings(accept)
	h.strings(accept)
	h.spans(c.Spans)
	h.spans(c.Regions)
	residual := make([]string, len(c.Residue))
	for i, r := range c.Residue {
		residual[i] = string(r.Family)
	}
	sort.Strings(residual)
	h.strings(residual)
	if c.Expect != nil {
		h.field(c.Expect.Kind)
		h.field(c.Expect.Category)
		h.field(c.Expect.Severity)
		h.strings(c.Expect.Issues)
		h.strings(c.Expect.Allowed)
	}
	return h.sum()
}

// hasher hashes length-prefixed fields, so that no two lists of fields share
// their bytes.
type hasher struct{ h hash.Hash }

func newHasher(domain string) *hasher {
	h := &hasher{h: sha256.New()}
	h.field(domain)
	return h
}

func (h *hasher) count(n int) {
	var b [8]byte
	binary.BigEndian.PutUint64(b[:], uint64(n))
	h.h.Write(b[:])
}

func (h *hasher) field(s string) {
	h.count(len(s))
	h.h.Write([]byte(s))
}

func (h *hasher) strings(list []string) {
	h.count(len(list))
	for _, s := range list {
		h.field(s)
	}
}

func (h *hasher) spans(spans []Span) {
	h.count(len(spans))
	for _, s := range spans {
		h.field(s.File)
		h.count(s.Start)
		h.count(s.End)
	}
}

func (h *hasher) sum() string { return hex.EncodeToString(h.h.Sum(nil)) }
