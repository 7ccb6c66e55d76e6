package corpus

import (
	"fmt"
	"path"
	"slices"
	"strings"
)

// drift finds labels that stayed behind when a file was edited, and changes
// that no label points at: such a change is either unlabelled or unrelated, and
// then the sides differ in more than the bug.
func (l *linter) drift() {
	k := l.current
	if !k.IsPair() || k.Task != TaskAudit || l.corpus.Source == FromManifest {
		return // a real fix touches files that its label need not name
	}
	for _, name := range filesOfEither(k) {
		before, in := k.Vulnerable.File(name)
		after, too := k.Fixed.File(name)
		switch {
		case !in || !too:
			side := Vulnerable
			if too {
				side = Fixed
			}
			l.at(path.Join(string(side), name), 0, RuleDrift, LintWarning, "the file is on the %s side alone; a detector could tell the sides apart by their files", side)
		default:
			l.driftIn(newRevision(before, after, k))
		}
	}
}

func filesOfEither(k *Case) []string {
	var names []string
	for _, side := range k.Sides() {
		for _, f := range k.Side(side).Files {
			names = append(names, f.Path)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// driftIn compares the labels of one file with its hunks.
func (l *linter) driftIn(r *revision) {
	if len(r.hunks) == 0 {
		return
	}
	meetsSpan := slices.ContainsFunc(r.hunks, func(h hunk) bool { span, _ := r.labels(h, 0); return span })
	meetsRegion := slices.ContainsFunc(r.hunks, func(h hunk) bool { _, region := r.labels(h, 0); return region })
	vulnerable, fixed := path.Join(string(Vulnerable), r.name), path.Join(string(Fixed), r.name)
	if !meetsSpan && !meetsRegion {
		l.at(vulnerable, r.hunks[0].line(), RuleDrift, LintError, "the sides differ from here on and no span or region meets the difference; label it, or undo it")
		return
	}
	if len(r.spans) > 0 && !meetsSpan {
		l.at(vulnerable, r.spans[0].Start, RuleDrift, LintError, "no span in this file meets a line that differs between the sides: they differ in %s; correct the spans",
			extents(r.hunks, len(r.before), func(h hunk) lineRange { return h.before }))
	}
	if len(r.regions) > 0 && !meetsRegion {
		l.at(fixed, r.regions[0].Start, RuleDrift, LintError, "no region in this file meets a line that differs between the sides: they differ in %s; correct the regions",
			extents(r.hunks, len(r.after), func(h hunk) lineRange { return h.after }))
	}
	for _, h := range r.unlabelled() {
		l.at(vulnerable, h.line(), RuleDrift, LintWarning, "the sides differ here too, away from every label; label it, or undo it")
	}
}

// maxExtents is how many places a message names.
const maxExtents = 8

// extents lists the lines of one version that hunks meet, such as "13, 20-22".
// Where lines were only added on the other side, those around the place are
// named: a label on either of them meets it.
func extents(list []hunk, lines int, version func(hunk) lineRange) string {
	var places []lineRange
	for _, h := range list {
		first, last := version(h).extent()
		place := lineRange{max(first, 1), min(last, lines)}
		if n := len(places); n > 0 && place.from <= places[n-1].to+1 {
			places[n-1].to = place.to
			continue
		}
		places = append(places, place)
	}
	var texts []string
	for i, p := range places {
		switch {
		case i == maxExtents:
			return fmt.Sprintf("%s and %d more places", strings.Join(texts, ", "), len(places)-i)
		case p.from == p.to:
			texts = append(texts, fmt.Sprint(p.from))
		default:
			texts = append(texts, fmt.Sprintf("%d-%d", p.from, p.to))
		}
	}
	return strings.Join(texts, ", ")
}
