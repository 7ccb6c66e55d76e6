package corpus

import (
	"path"
	"slices"
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
		l.at(vulnerable, r.spans[0].Start, RuleDrift, LintError, "no span in this file meets a line that differs between the sides; correct the spans")
	}
	if len(r.regions) > 0 && !meetsRegion {
		l.at(fixed, r.regions[0].Start, RuleDrift, LintError, "no region in this file meets a line that differs between the sides; correct the regions")
	}
	for _, h := range r.unlabelled() {
		l.at(vulnerable, h.line(), RuleDrift, LintWarning, "the sides differ here too, away from every label; label it, or undo it")
	}
}
