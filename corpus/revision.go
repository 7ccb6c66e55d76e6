package corpus

import (
	"path"
	"regexp"
	"slices"
	"strings"
)

// nearLabel is how many lines a label may be away from a change that belongs to
// it: the line behind a guard, the loop around a call.
const nearLabel = 3

// revision is a file that both sides of a case have, with the labels in it.
type revision struct {
	name           string
	before, after  []string
	hunks          []hunk
	spans, regions []Span
}

func newRevision(before, after File, k *Case) *revision {
	elsewhere := func(s Span) bool { return s.File != before.Path }
	r := &revision{
		name: before.Path, before: linesOf(before.Text), after: linesOf(after.Text),
		spans:   slices.DeleteFunc(slices.Clone(k.Spans), elsewhere),
		regions: slices.DeleteFunc(slices.Clone(k.Regions), elsewhere),
	}
	r.hunks = hunks(r.before, r.after)
	return r
}

// labels reports whether a span and a region come within so many lines of a
// hunk.
func (r *revision) labels(h hunk, within int) (span, region bool) {
	up, down := 0, 0
	switch {
	case h.before.empty():
		up, down = h.after.slide(r.after)
	case h.after.empty():
		up, down = h.before.slide(r.before)
	}
	near := func(labels []Span, lines lineRange) bool {
		first, last := lines.extent()
		return slices.ContainsFunc(labels, func(s Span) bool { return s.Start <= last+down+within && first-up-within <= s.End })
	}
	return near(r.spans, h.before), near(r.regions, h.after)
}

// unlabelled lists the hunks that no label is near and that do not belong to
// one that has a label. A fix is seldom in one place: it brings a constant, a
// helper, a parameter that every caller passes. Such a hunk shares a changed
// name with a labelled one.
func (r *revision) unlabelled() []hunk {
	changed := r.changedNames()
	labelled := map[string]bool{}
	var far []hunk
	for _, h := range r.hunks {
		if span, region := r.labels(h, nearLabel); !span && !region {
			far = append(far, h)
			continue
		}
		for _, name := range identifiers(r.changedLines(h)) {
			labelled[name] = changed[name]
		}
	}
	return slices.DeleteFunc(far, func(h hunk) bool {
		lines := r.changedLines(h)
		return !slices.ContainsFunc(lines, func(line string) bool { return !r.followsFromOthers(line) }) ||
			slices.ContainsFunc(identifiers(lines), func(name string) bool { return labelled[name] })
	})
}

// changedLines are the lines of a hunk in both versions.
func (r *revision) changedLines(h hunk) []string {
	return slices.Concat(r.before[h.before.from:h.before.to], r.after[h.after.from:h.after.to])
}

// changedNames are the names that stand on changed lines and on no other: those
// that the fix brings, takes away, or changes wherever they are used.
func (r *revision) changedNames() map[string]bool {
	names := map[string]bool{}
	for _, h := range r.hunks {
		for _, name := range identifiers(r.changedLines(h)) {
			names[name] = true
		}
	}
	kept := 0
	keep := func(upTo int) {
		for _, name := range identifiers(r.before[kept:upTo]) {
			delete(names, name)
		}
	}
	for _, h := range r.hunks {
		keep(h.before.from)
		kept = h.before.to
	}
	keep(len(r.before))
	return names
}

var identifier = regexp.MustCompile(`[\pL_$][\pL\pN_$]*`)

func identifiers(lines []string) []string {
	return identifier.FindAllString(strings.Join(lines, "\n"), -1)
}

// consequence matches lines that follow from others: an import, a closing
// bracket, nothing.
var consequence = regexp.MustCompile(`^\s*(` + strings.Join([]string{
	`[\])};,]*`,
	`(import|use|using)\s[^;(]*[;(]?`,
	`from\s+\S+\s+import\s[^;]*`,   // Python
	`\}\s*from\s+['"][^'"]*['"];?`, // the end of a long import in JavaScript
	`((const|let|var)\s[^=;]*=\s*)?require[\s(]\s*['"][^'"]*['"]\)?(\.\w+)?;?`,
}, "|") + `)\s*$`)

// importedInGo matches a line of an import block.
var importedInGo = regexp.MustCompile(`^\s*([\w.]+\s+)?"[\w./-]+"\s*$`)

func (r *revision) followsFromOthers(line string) bool {
	return consequence.MatchString(line) || path.Ext(r.name) == ".go" && importedInGo.MatchString(line)
}
