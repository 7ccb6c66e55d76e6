package corpus

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"sort"
	"strconv"
	"strings"

	"github.com/youden-bench/youden/corpus/family"
)

// entry turns one [[case]] into a case.
func (l *catalogLoader) entry(e *caseEntry, i int) {
	c := &Case{
		ID: e.ID, Title: e.Title, Slice: l.corpus.Slice, Group: e.group(), Split: Split(e.Split), Task: e.Task,
		Language: e.Language, Family: family.ID(e.Family),
		Explanation: e.Explanation, Trap: e.Trap, Fragment: e.Fragment,
		Difficulty: Difficulty(e.Difficulty), OrdersModel: e.OrdersModel,
	}
	l.vetted(e, i, c)
	l.identity(e, i)
	l.kind(e, i)
	l.families(e, i, c)
	l.sides(e, i, c)
	c.Spans = l.spans(e.Spans, "span", c.Vulnerable, Vulnerable, i)
	c.Regions = l.spans(e.Regions, "region", c.Fixed, Fixed, i)
	if e.Expect != nil {
		expectation := Expectation(*e.Expect)
		c.Expect = &expectation
	}
	line, column := l.positions.At("case", i)
	l.corpus.places[c] = place{CatalogFile, line, column, e.Dir}
	l.corpus.Cases = append(l.corpus.Cases, c)
}

func (l *catalogLoader) identity(e *caseEntry, i int) {
	switch {
	case strings.TrimSpace(e.ID) == "":
		l.fault(fmt.Sprintf("case number %d has no id", i+1), `add id = "..."`, "case", i, "id")
	case !printable(e.ID):
		l.fault(fmt.Sprintf("id %q holds characters that cannot be printed", e.ID), "use letters, digits and hyphens", "case", i, "id")
	}
	line, _ := l.positions.At("case", i, "id")
	if earlier, taken := l.ids[e.ID]; taken {
		l.fault(fmt.Sprintf("id %q is used twice, first on line %d", e.ID, earlier), "give each case an id of its own", "case", i, "id")
	} else {
		l.ids[e.ID] = line
	}
	if e.Split != "" && !oneOf(Split(e.Split), Feedback, Pareto, Holdout) {
		l.fault(fmt.Sprintf("split %q is unknown", e.Split), "use feedback, pareto or holdout", "case", i, "split")
	}
	if !oneOf(e.Language, knownLanguages...) {
		l.fault(fmt.Sprintf("language %q is unknown", e.Language), "use one of "+strings.Join(knownLanguages, ", "), "case", i, "language")
	}
	if !oneOf(Difficulty(e.Difficulty), "", Plain, Ordinary, Hard) {
		l.fault(fmt.Sprintf("difficulty %q is unknown", e.Difficulty), "use plain, ordinary or hard, or leave it out", "case", i, "difficulty")
	}
}

// vetted reads the record of how the label was checked.
func (l *catalogLoader) vetted(e *caseEntry, i int, c *Case) {
	v := &e.Vetted
	c.Vetted = Vetted{Level: Level(v.Level), First: Reading(v.First), Changed: v.Changed, Again: Reading(v.Again)}
	if !oneOf(c.Vetted.Level, Title, Read, Proved) {
		l.fault(fmt.Sprintf("vetted level %q is unknown", v.Level), `write vetted = {level = "title", "read" or "proved"}`, "case", i, "vetted", "level")
	}
	if !oneOf(c.Vetted.First, Unread, Agreed, Disputed) {
		l.fault(fmt.Sprintf("first reading %q is unknown", v.First), "use agreed or disputed, or leave it out", "case", i, "vetted", "first")
	}
	if !oneOf(c.Vetted.Again, Unread, Agreed, Disputed) {
		l.fault(fmt.Sprintf("reading %q is unknown", v.Again), "use agreed or disputed, or leave it out", "case", i, "vetted", "again")
	}
	for j, on := range v.On {
		if !oneOf(Dispute(on), disputes...) {
			l.fault(fmt.Sprintf("a reader cannot dispute %q", on), "use side, place, family or fixed", "case", i, "vetted", "on", j)
		}
		c.Vetted.On = append(c.Vetted.On, Dispute(on))
	}
	if len(v.On) > 0 && c.Vetted.First != Disputed {
		l.fault(fmt.Sprintf("the first reading disputed %s and is not called disputed", strings.Join(v.On, ", ")),
			`write first = "disputed"`, "case", i, "vetted", "on")
	}
}

// printable reports whether a name can stand in a table, a file name and a
// TOML string without harm.
func printable(name string) bool {
	return strings.IndexFunc(name, func(r rune) bool { return !strconv.IsPrint(r) }) < 0
}

// kind checks the task and the answer that it expects.
func (l *catalogLoader) kind(e *caseEntry, i int) {
	kind, known := tasks[e.Task]
	if !known {
		names := make([]string, 0, len(tasks))
		for name := range tasks {
			names = append(names, name)
		}
		sort.Strings(names)
		l.fault(fmt.Sprintf("task %q is unknown", e.Task), "use one of "+strings.Join(names, ", "), "case", i, "task")
		return
	}
	switch {
	case kind == "" && e.Expect != nil:
		l.fault("an audit expects its family at its spans and nothing else", "remove [case.expect], or correct the task", "case", i, "expect")
	case kind != "" && e.Expect == nil:
		l.fault(fmt.Sprintf("task %q needs an expectation", e.Task), fmt.Sprintf("add [case.expect] with kind = %q", kind), "case", i, "task")
	case kind != "" && e.Expect.Kind != kind:
		l.fault(fmt.Sprintf("task %q does not expect %q", e.Task, e.Expect.Kind), fmt.Sprintf("write kind = %q", kind), "case", i, "expect", "kind")
	}
}

// families checks family, accept, cwe and residual against the taxonomy.
func (l *catalogLoader) families(e *caseEntry, i int, c *Case) {
	needed := e.Task == TaskAudit || e.Family != ""
	if needed {
		l.family(e.Family, "case", i, "family")
	}
	for j, id := range e.Accept {
		l.family(id, "case", i, "accept", j)
		if c.Accepts(family.ID(id)) {
			l.fault(fmt.Sprintf("family %q is accepted twice", id), "list further families only, each once", "case", i, "accept", j)
		}
		c.Accept = append(c.Accept, family.ID(id))
	}
	for j, r := range e.Residual {
		l.family(r.Family, "case", i, "residual", j, "family")
		c.Residue = append(c.Residue, Residual{Family: family.ID(r.Family), Note: r.Note})
	}
	if !l.positions.Has("case", i, "cwe") {
		return
	}
	cwe, ok := family.ParseCWE(e.CWE)
	if !ok {
		l.fault(fmt.Sprintf("%q is not a CWE", e.CWE), `write it like "CWE-89", or leave it out when it is unknown`, "case", i, "cwe")
		return
	}
	c.CWE = cwe
	owner, listed := l.taxonomy.ByCWE(cwe)
	switch {
	case !listed:
		l.fault(fmt.Sprintf("CWE-%d is in no family of the taxonomy", cwe), "correct it, or leave it out", "case", i, "cwe")
	case needed && owner != family.ID(e.Family):
		l.fault(fmt.Sprintf("CWE-%d belongs to family %q, not to %q", cwe, owner, e.Family), "correct one of the two", "case", i, "cwe")
	}
}

func (l *catalogLoader) family(id string, path ...any) {
	if problem, remedy := familyProblem(l.taxonomy, id, l.corpus.MemorySafety); problem != "" {
		l.fault(problem, remedy, path...)
	}
}

// familyProblem says why cases may not be of this family, or "".
func familyProblem(t *family.Taxonomy, id string, memorySafety bool) (problem, remedy string) {
	f, known := t.Family(family.ID(id))
	if !known {
		if meant, ok := t.Lookup(id); ok {
			return fmt.Sprintf("family %q is unknown", id), fmt.Sprintf("write the family's id, %q", meant)
		}
		return fmt.Sprintf("family %q is unknown", id), "use an id of families.toml"
	}
	if !f.Default && !memorySafety {
		return fmt.Sprintf("family %q is off by default", id), "write memory_safety = true at the top of a corpus of C or C++"
	}
	return "", ""
}

// sides reads the files of the case.
func (l *catalogLoader) sides(e *caseEntry, i int, c *Case) {
	if l.fatal {
		return
	}
	if e.Dir == "." || !fs.ValidPath(e.Dir) {
		l.fault(fmt.Sprintf("directory %q is not inside the corpus", e.Dir), "use a relative path without .. and with /", "case", i, "dir")
		return
	}
	if err := l.reader.realDirs(e.Dir); err != nil {
		l.file(err, i)
		return
	}
	var broken, alsoBroken error
	if c.Vulnerable, broken = l.reader.side(path.Join(e.Dir, string(Vulnerable))); broken != nil {
		l.file(broken, i)
	}
	if c.Fixed, alsoBroken = l.reader.side(path.Join(e.Dir, string(Fixed))); alsoBroken != nil {
		l.file(alsoBroken, i)
	}
	c.Proof, c.proofDefect = l.proofs.proof(path.Join(e.Dir, ProofDir))
	if c.Vulnerable == nil && c.Fixed == nil && broken == nil && alsoBroken == nil {
		l.fault(fmt.Sprintf("case %q has no side", e.ID), fmt.Sprintf("add %s/%s, %s/%s, or both", e.Dir, Vulnerable, e.Dir, Fixed), "case", i, "dir")
	}
}

// file reports a bad file at the directory that brought it in.
func (l *catalogLoader) file(err error, i int) {
	l.fatal = l.fatal || l.reader.read > maxCorpusBytes
	var bad *fileError
	if !errors.As(err, &bad) {
		l.fault(err.Error(), "correct the directory", "case", i, "dir")
		return
	}
	message := bad.path + " " + bad.message
	if bad.err != nil && !errors.Is(bad.err, fs.ErrNotExist) {
		message += ": " + bad.err.Error()
	}
	l.fault(message, bad.remedy, "case", i, "dir")
}

// spans checks ranges as far as they can be without the files.
func (l *catalogLoader) spans(entries []spanEntry, key string, side *Side, name SideName, i int) []Span {
	if len(entries) > 0 && side == nil && len(l.errs) == 0 {
		l.fault(fmt.Sprintf("a %s needs a %s side", key, name), "add the side, or remove the range", "case", i, key)
	}
	var spans []Span
	for j, s := range entries {
		switch {
		case s.File == "." || !fs.ValidPath(s.File):
			l.fault(fmt.Sprintf("%s of file %q", key, s.File), "name a file of the side by its relative path, with /", "case", i, key, j, "file")
		case s.Start < 1:
			l.fault(fmt.Sprintf("%s starts at line %d", key, s.Start), "lines count from 1", "case", i, key, j, "start")
		case s.End < s.Start:
			l.fault(fmt.Sprintf("%s %d-%d ends before it starts", key, s.Start, s.End), "both ends are inclusive", "case", i, key, j, "end")
		}
		spans = append(spans, Span(s))
	}
	return spans
}
