package corpus

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"

	"github.com/youden-bench/youden/corpus/family"
)

var (
	cwePattern  = regexp.MustCompile(`(?i)\bCWE[-_ ]?\d+`)
	wordPattern = regexp.MustCompile(`[A-Za-z0-9_]+`)
)

// ranges returns the spans and the regions of a pair. One region that is null
// (its file is gone) leaves the pair without regions: wherever the detector
// then speaks of the family on the fixed side, it leaks.
func (e *pairEntry) ranges() (spans, regions []Span) {
	whole := true
	for _, s := range e.Spans {
		spans = append(spans, Span{File: s.File, Start: s.Start, End: s.End})
		switch len(s.FixedRegion) {
		case 0:
			whole = false
		case 2:
			regions = append(regions, Span{File: s.File, Start: s.FixedRegion[0], End: s.FixedRegion[1]})
		default: // no range at all: Unscorable reports it
			regions = append(regions, Span{File: s.File})
		}
	}
	if !whole {
		return spans, nil
	}
	return spans, regions
}

// quoteLimit is how much of a line a manifest quotes, in characters.
const quoteLimit = 160

// drift compares the lines that the manifest quotes with the file: a span that
// points at other text is a label of another version. It says what differs.
func (e *pairEntry) drift(side *Side) string {
	for _, s := range e.Spans {
		f, ok := side.File(s.File)
		if !ok || s.Start < 1 || s.End < s.Start || s.End > f.Lines() {
			continue // a defect of its own
		}
		lines := bytes.Split(f.Text, []byte{'\n'})
		for _, q := range []struct {
			line int
			text string
		}{{s.Start, s.TextFirst}, {s.End, s.TextLast}} {
			if q.text != "" && quote(lines[q.line-1]) != quote([]byte(q.text)) {
				return fmt.Sprintf("line %d of %s is not the line that the manifest quotes", q.line, s.File)
			}
		}
	}
	return ""
}

func quote(line []byte) string {
	text := []rune(strings.TrimSpace(string(line)))
	return strings.TrimSpace(string(text[:min(len(text), quoteLimit)]))
}

// residue reads which families the text on a known residual names, by CWE or by
// family id. A text that names none speaks of the pair's own family.
func (e *pairEntry) residue(t *family.Taxonomy) []Residual {
	if e.FixedSide.KnownResidual == nil || strings.TrimSpace(*e.FixedSide.KnownResidual) == "" {
		return nil
	}
	note := *e.FixedSide.KnownResidual
	var residue []Residual
	add := func(id family.ID) {
		for _, r := range residue {
			if r.Family == id {
				return
			}
		}
		residue = append(residue, Residual{Family: id, Note: note})
	}
	for _, spelling := range cwePattern.FindAllString(note, -1) {
		if id, ok := t.Lookup(spelling); ok {
			add(id)
		}
	}
	words := wordPattern.FindAllString(strings.ToLower(note), -1)
	for i, word := range words {
		f, ok := t.Family(family.ID(word))
		if !ok {
			continue
		}
		// "path" and "injection" are English; ids with an underscore are not.
		beside := i > 0 && words[i-1] == "family" || i+1 < len(words) && words[i+1] == "family"
		if strings.Contains(word, "_") || beside {
			add(f.ID)
		}
	}
	if len(residue) == 0 {
		add(family.ID(e.Family))
	}
	return residue
}
