package corpus

import (
	"fmt"
	"slices"
	"strings"

	"github.com/youden-bench/youden/corpus/family"
)

// Promise is what a catalog says of itself, so that Lint can hold it to its
// word: a corpus of three cases a family is not checked against the needs of
// one that claims to rank detectors. The zero value promises nothing.
type Promise struct {
	Least        []Least
	EachFamily   int    // pairs in every family that is on by default
	HoldoutOf    int    // 3 = a third of every family is held out
	Files        int    // most files of a side
	Lines        [2]int // fewest and most lines of a file
	SpanLines    int    // most lines of a span
	ReadBlind    bool   // every pair was read blind, and read again when it was changed
	ProvedOf     []family.ID
	ProvedInLang []string // pairs of ProvedOf in these languages carry a proof

	lines map[string]int // of the keys in the catalog
}

// provableLanguages are those of the tools that run proofs.
var provableLanguages = []string{"go", "python", "javascript"}

// line is where the catalog promises it, 0 when that is not known.
func (p *Promise) line(key string) int { return p.lines[key] }

// source names that place in the middle of a message.
func (p *Promise) source(key string) string {
	if line := p.line(key); line > 0 {
		return fmt.Sprintf("%s:%d", CatalogFile, line)
	}
	return CatalogFile
}

// Least promises a number of pairs with a property. Empty filters let all
// through.
type Least struct {
	Cases       int
	Families    []family.ID
	Languages   []string
	Difficulty  Difficulty
	OrdersModel bool

	line int // in the catalog, 0 when not known
}

// String says which pairs are counted, such as "pairs of path" or "hard pairs".
func (n Least) String() string {
	text := "pairs"
	if n.Difficulty != "" {
		text = string(n.Difficulty) + " " + text
	}
	if len(n.Families) > 0 {
		names := make([]string, len(n.Families))
		for i, f := range n.Families {
			names[i] = string(f)
		}
		text += " of " + strings.Join(names, ", ")
	}
	if len(n.Languages) > 0 {
		text += " in " + strings.Join(n.Languages, " or ")
	}
	if n.OrdersModel {
		text += " with an order to a model"
	}
	return text
}

func (n Least) counts(c *Case) bool {
	return c.IsPair() &&
		(len(n.Families) == 0 || slices.Contains(n.Families, c.Family)) &&
		(len(n.Languages) == 0 || slices.Contains(n.Languages, c.Language)) &&
		(n.Difficulty == "" || n.Difficulty == c.Difficulty) &&
		(!n.OrdersModel || c.OrdersModel)
}

// needsProof reports whether a pair was promised to be proved by execution.
func (p *Promise) needsProof(c *Case) bool {
	return p != nil && c.IsPair() && slices.Contains(p.ProvedOf, c.Family) && slices.Contains(p.ProvedInLang, c.Language)
}

type promiseEntry struct {
	EachFamily int          `toml:"each_family"`
	HoldoutOf  int          `toml:"holdout_one_in"`
	Files      int          `toml:"files"`
	Lines      []int        `toml:"lines"`
	SpanLines  int          `toml:"span_lines"`
	ReadBlind  bool         `toml:"read_blind"`
	Proved     provedEntry  `toml:"proved"`
	Least      []leastEntry `toml:"least"`
}

type provedEntry struct {
	Families  []string `toml:"families"`
	Languages []string `toml:"languages"`
}

type leastEntry struct {
	Cases       int      `toml:"cases"`
	Families    []string `toml:"families"`
	Languages   []string `toml:"languages"`
	Difficulty  string   `toml:"difficulty"`
	OrdersModel bool     `toml:"orders_model"`
}

// promise reads the [promise] table.
func (l *catalogLoader) promise(e *promiseEntry) {
	if e == nil {
		return
	}
	p := &Promise{EachFamily: e.EachFamily, HoldoutOf: e.HoldoutOf, Files: e.Files, SpanLines: e.SpanLines, ReadBlind: e.ReadBlind,
		lines: map[string]int{}}
	for _, key := range []string{"each_family", "holdout_one_in", "files", "lines", "span_lines"} {
		if l.positions.Has("promise", key) {
			p.lines[key], _ = l.positions.At("promise", key)
		}
	}
	for _, n := range []struct {
		key   string
		value int
	}{{"each_family", e.EachFamily}, {"holdout_one_in", e.HoldoutOf}, {"files", e.Files}, {"span_lines", e.SpanLines}} {
		if n.value < 0 || n.value == 0 && l.positions.Has("promise", n.key) {
			l.fault(fmt.Sprintf("%s = %d promises nothing", n.key, n.value), "use a number above 0, or leave it out", "promise", n.key)
		}
	}
	if len(e.Lines) > 0 || l.positions.Has("promise", "lines") {
		if len(e.Lines) != 2 || e.Lines[0] < 1 || e.Lines[1] < e.Lines[0] {
			l.fault(fmt.Sprintf("lines = %v is no range", e.Lines), "write the fewest and the most lines of a file, such as lines = [30, 150]", "promise", "lines")
		} else {
			p.Lines = [2]int{e.Lines[0], e.Lines[1]}
		}
	}
	l.promisedProofs(p, e.Proved)
	for i, n := range e.Least {
		if n.Cases < 1 {
			l.fault(fmt.Sprintf("cases = %d promises nothing", n.Cases), "use a number above 0", "promise", "least", i, "cases")
		}
		if !oneOf(Difficulty(n.Difficulty), "", Plain, Ordinary, Hard) {
			l.fault(fmt.Sprintf("difficulty %q is unknown", n.Difficulty), "use plain, ordinary or hard", "promise", "least", i, "difficulty")
		}
		l.promisedLanguages(n.Languages, "promise", "least", i, "languages")
		line, _ := l.positions.At("promise", "least", i)
		p.Least = append(p.Least, Least{Cases: n.Cases, Languages: n.Languages, Difficulty: Difficulty(n.Difficulty), OrdersModel: n.OrdersModel,
			line: line, Families: l.promisedFamilies(n.Families, "promise", "least", i, "families")})
	}
	l.corpus.Promise = p
}

// promisedProofs reads which pairs carry a proof. Without languages they are all
// that a proof can be written in; without families there is nothing to prove.
func (l *catalogLoader) promisedProofs(p *Promise, e provedEntry) {
	if !l.positions.Has("promise", "proved") {
		return
	}
	if len(e.Families) == 0 {
		l.fault("proved names no families, so it promises nothing", `write proved = { families = ["..."] }, or leave it out`, "promise", "proved", "families")
	}
	p.ProvedOf = l.promisedFamilies(e.Families, "promise", "proved", "families")
	l.promisedLanguages(e.Languages, "promise", "proved", "languages")
	if p.ProvedInLang = e.Languages; len(e.Languages) == 0 {
		p.ProvedInLang = slices.Clone(provableLanguages)
	}
}

func (l *catalogLoader) promisedFamilies(names []string, at ...any) []family.ID {
	var ids []family.ID
	for i, name := range names {
		l.family(name, append(slices.Clone(at), i)...)
		ids = append(ids, family.ID(name))
	}
	return ids
}

func (l *catalogLoader) promisedLanguages(names []string, at ...any) {
	for i, name := range names {
		if !oneOf(name, knownLanguages...) {
			l.fault(fmt.Sprintf("language %q is unknown", name), "use one of "+strings.Join(knownLanguages, ", "), append(slices.Clone(at), i)...)
		}
	}
}
