package corpus

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/youden-bench/youden/corpus/family"
	"github.com/youden-bench/youden/corpus/tomlfile"
)

// TaskAudit asks for the security bugs in the files of a side.
const TaskAudit = "audit"

// tasks maps the tasks of role fixtures to the kind of answer they expect.
var tasks = map[string]string{
	TaskAudit: "",
	"review":  "concern",
	"spec":    "spec",
	"paths":   "paths",
}

type catalogDocument struct {
	Version      int           `toml:"version"`
	Slice        string        `toml:"slice"`
	MemorySafety bool          `toml:"memory_safety"`
	Promise      *promiseEntry `toml:"promise"`
	Cases        []caseEntry   `toml:"case"`
}

type caseEntry struct {
	ID          string          `toml:"id"`
	Title       string          `toml:"title"`
	Group       string          `toml:"group"`
	Split       string          `toml:"split"`
	Task        string          `toml:"task"`
	Language    string          `toml:"language"`
	Family      string          `toml:"family"`
	Accept      []string        `toml:"accept"`
	CWE         string          `toml:"cwe"`
	Vetted      vettedEntry     `toml:"vetted"`
	Dir         string          `toml:"dir"`
	Explanation string          `toml:"explanation"`
	Trap        string          `toml:"trap"`
	Difficulty  string          `toml:"difficulty"`
	OrdersModel bool            `toml:"orders_model"`
	Fragment    bool            `toml:"fragment"`
	Residual    []residualEntry `toml:"residual"`
	Spans       []spanEntry     `toml:"span"`
	Regions     []spanEntry     `toml:"region"`
	Expect      *expectEntry    `toml:"expect"`
}

type vettedEntry struct {
	Level   string   `toml:"level"`
	First   string   `toml:"first"`
	On      []string `toml:"on"`
	Changed string   `toml:"changed"`
	Again   string   `toml:"again"`
}

type residualEntry struct {
	Family string `toml:"family"`
	Note   string `toml:"note"`
}

type spanEntry struct {
	File  string `toml:"file"`
	Start int    `toml:"start"`
	End   int    `toml:"end"`
}

type expectEntry struct {
	Kind     string   `toml:"kind"`
	Category string   `toml:"category"`
	Severity string   `toml:"severity"`
	Issues   []string `toml:"issues"`
	Allowed  []string `toml:"allowed"`
}

// catalogLoader turns a catalog.toml into cases and collects every mistake.
type catalogLoader struct {
	positions *tomlfile.Positions
	taxonomy  *family.Taxonomy
	reader    *reader
	proofs    *reader // whose bounds are their own: a proof is no text that a detector sees
	corpus    *Corpus
	ids       map[string]int // id -> line
	errs      []error
	fatal     bool // a limit was hit; what follows would only repeat it
}

func loadCatalog(fsys fs.FS, o Options) (*Corpus, error) {
	files := &reader{fsys: fsys}
	data, err := files.document(CatalogFile)
	if err != nil {
		return nil, err
	}
	var doc catalogDocument
	positions, err := tomlfile.Decode(CatalogFile, data, &doc)
	if err != nil {
		return nil, err
	}
	l := &catalogLoader{
		positions: positions,
		taxonomy:  o.Taxonomy,
		reader:    files,
		proofs:    &reader{fsys: fsys},
		ids:       map[string]int{},
		corpus: &Corpus{Slice: doc.Slice, Source: FromCatalog, Taxonomy: o.Taxonomy, MemorySafety: doc.MemorySafety,
			root: fsys, places: map[*Case]place{}},
	}
	l.head(&doc)
	l.promise(doc.Promise)
	for i := range doc.Cases {
		l.entry(&doc.Cases[i], i)
	}
	l.splits(&doc)
	if err := errors.Join(l.errs...); err != nil {
		return nil, err
	}
	return l.corpus, nil
}

func (l *catalogLoader) fault(message, remedy string, path ...any) {
	l.errs = append(l.errs, l.positions.Fault(message, remedy, path...))
}

func (l *catalogLoader) head(doc *catalogDocument) {
	switch {
	case !l.positions.Has("version"):
		l.fault("the catalog has no version", "write version = 1 at the top")
	case doc.Version != 1:
		l.fault(fmt.Sprintf("version %d of the catalog is unknown", doc.Version), "this program reads version 1", "version")
	}
	if strings.TrimSpace(doc.Slice) == "" {
		l.fault("the slice has no name", `name where the cases come from, such as slice = "planted"`, "slice")
	}
	if len(doc.Cases) == 0 {
		l.fault("the catalog has no cases", "add a [[case]]", "case")
	}
}

// splits checks that all cases declare a split or none does, and that no group
// straddles two.
func (l *catalogLoader) splits(doc *catalogDocument) {
	declared := 0
	for _, c := range doc.Cases {
		if c.Split != "" {
			declared++
		}
	}
	l.corpus.SplitsDeclared = declared > 0
	if declared == 0 {
		return
	}
	first := map[string]int{}
	for i, c := range doc.Cases {
		if c.Split == "" {
			l.fault(fmt.Sprintf("case %q declares no split and %d others do", c.ID, declared),
				"give every case a split, or none", "case", i, "split")
			continue
		}
		group := c.group()
		if at, ok := first[group]; ok && doc.Cases[at].Split != c.Split {
			l.fault(fmt.Sprintf("group %q straddles the splits: case %q is in %s and case %q in %s",
				group, doc.Cases[at].ID, doc.Cases[at].Split, c.ID, c.Split),
				"cases that share an origin belong in one split", "case", i, "split")
		} else if !ok {
			first[group] = i
		}
	}
}

// group is the name of the entry's group; a case alone is a group.
func (e *caseEntry) group() string {
	if e.Group == "" {
		return e.ID
	}
	return e.Group
}

func oneOf[T ~string](value T, known ...T) bool { return slices.Contains(known, value) }
