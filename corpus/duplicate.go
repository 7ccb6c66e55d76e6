package corpus

import (
	"bytes"
	"path"
	"slices"
)

// minCopied is the number of lines with text from which two equal files are
// copies and not the same few words.
const minCopied = 5

// sighting is one text and where it stands.
type sighting struct {
	of   *Case
	file string // "" for a whole side
}

// duplicates finds cases that share text: the same fix harvested twice, or a
// file copied from case to case. Between splits that is a leak, between groups
// a dependence that no interval knows of (detector-lessons.md 6, defect 9).
func (l *linter) duplicates() {
	first := map[string]sighting{}
	for _, k := range l.corpus.Cases {
		told := map[*Case]bool{}
		for _, s := range k.sightings() {
			earlier, seen := first[s.key]
			if !seen {
				first[s.key] = s.sighting
				continue
			}
			if earlier.of == k || told[earlier.of] {
				continue
			}
			told[earlier.of], l.copies[[2]*Case{earlier.of, k}] = true, true
			l.duplicate(earlier.of, s.sighting)
		}
	}
}

func (l *linter) duplicate(earlier *Case, s sighting) {
	what := "a whole side"
	if s.file != "" {
		what = s.file
	}
	switch {
	case s.of.Split != earlier.Split:
		l.on(s.of, RuleDuplicate, LintError, "%s is also in case %q, and they lie in the splits %s and %s; put both into one group",
			what, earlier.ID, s.of.Split, earlier.Split)
	case s.of.Group != earlier.Group:
		l.on(s.of, RuleDuplicate, LintWarning, "%s is also in case %q of another group; put both into one group", what, earlier.ID)
	case s.of.ContentHash() == earlier.ContentHash():
		l.on(s.of, RuleDuplicate, LintWarning, "the case holds the same files as %q; remove one", earlier.ID)
	default:
		l.on(s.of, RuleDuplicate, LintWarning, "%s is also in case %q of the same group; they ask one question twice, so keep one, or make them differ", what, earlier.ID)
	}
}

type keyedSighting struct {
	key string
	sighting
}

// sightings lists the texts of a case that no other case should hold: whole
// sides, and the files that a label names. Paths do not count, so that a
// renamed copy is one.
func (c *Case) sightings() []keyedSighting {
	var list []keyedSighting
	for _, name := range c.Sides() {
		side := c.Side(name)
		h := newHasher("youden/side/1")
		substantial := false
		for _, f := range side.Files {
			text := normalizeNewlines(f.Text)
			h.field(string(text))
			substantial = substantial || written(text) >= minCopied
		}
		if substantial {
			list = append(list, keyedSighting{"side:" + h.sum(), sighting{of: c}})
		}
		for _, f := range side.Files {
			text := normalizeNewlines(f.Text)
			named := func(s Span) bool { return s.File == f.Path }
			if written(text) < minCopied || !slices.ContainsFunc(c.Spans, named) && !slices.ContainsFunc(c.Regions, named) {
				continue
			}
			h := newHasher("youden/file/1")
			h.field(string(text))
			list = append(list, keyedSighting{"file:" + h.sum(), sighting{of: c, file: path.Join(string(name), f.Path)}})
		}
	}
	return list
}

// written counts the lines with text.
func written(text []byte) int {
	n := 0
	for _, line := range bytes.Split(text, []byte{'\n'}) {
		if len(bytes.TrimSpace(line)) > 0 {
			n++
		}
	}
	return n
}
