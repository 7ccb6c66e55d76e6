package corpus

import (
	"path"
	"slices"
	"strings"
)

// drift finds labels that stayed behind when a file was edited: in every file
// that differs between the sides, a span or a region must meet the lines that
// differ. A change that no label points at is either unlabelled or unrelated,
// and then the sides differ in more than the bug.
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
			first, lastBefore, lastAfter := differing(before, after)
			if first > 0 && !meets(k.Spans, name, first, lastBefore) && !meets(k.Regions, name, first, lastAfter) {
				l.at(path.Join(string(Vulnerable), name), first, RuleDrift, LintError,
					"the sides differ from here on and no span or region meets the difference; label it, or undo it")
			}
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

// differing returns the first line that differs, 0 when none does, and the last
// one in either file.
func differing(before, after File) (first, lastBefore, lastAfter int) {
	a, b := strings.Split(string(before.Text), "\n"), strings.Split(string(after.Text), "\n")
	if slices.Equal(a, b) {
		return 0, 0, 0
	}
	head, shorter := 0, min(len(a), len(b))
	for head < shorter && a[head] == b[head] {
		head++
	}
	tail := 0
	for tail < shorter-head && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	return head + 1, max(head+1, len(a)-tail), max(head+1, len(b)-tail)
}

func meets(ranges []Span, file string, first, last int) bool {
	return slices.ContainsFunc(ranges, func(s Span) bool { return s.File == file && s.Start <= last && first <= s.End })
}
