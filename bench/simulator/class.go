package simulator

import (
	"regexp"
	"strings"
)

var classHead = regexp.MustCompile(`^\s*(?:(?:export|public|final|abstract|default)\s+)*class\s`)

// findClasses notes which class each statement belongs to. Decorators belong to
// the class below them.
func (u *unit) findClasses() {
	u.classOf = make([]int, len(u.statements))
	for i := range u.classOf {
		u.classOf[i] = -1
	}
	for i := range u.statements {
		s := &u.statements[i]
		if !classHead.MatchString(s.bare) {
			continue
		}
		last := 0
		if u.file.lang == langPython {
			last = indentEnd(u.bareLines, *s)
		} else {
			last = braceEnd(u.bareLines, *s)
		}
		from := i
		for from > 0 && i-from < 8 && strings.HasPrefix(strings.TrimSpace(u.statements[from-1].bare), "@") {
			from--
		}
		for j := from; j < len(u.statements) && u.statements[j].first <= last; j++ {
			u.classOf[j] = i
		}
	}
}

// decorations takes what stands above a function out of what is said about its
// class.
func (u *unit) decorations() {
	for _, f := range u.functions {
		for line := f.head; line < f.first; line++ {
			u.classOf[u.owner[line]] = -1
		}
	}
}

// ofClass tells whether a statement says something about the class as a whole
// in which another one stands.
func (u *unit) ofClass(about, at int) bool {
	return u.classOf[about] >= 0 && u.classOf[about] == u.classOf[at] && len(u.regions[u.regionOf[about]].names) == 0
}

// makes tells whether a function of this name is a constructor.
func (u *unit) makes(name string) bool {
	return constructors.MatchString(name) || u.file.lang == langJava && name != "" && name[0] >= 'A' && name[0] <= 'Z'
}

var constructors = regexp.MustCompile(`^(?:New[A-Z]\w*|__init__|constructor)$`)

// tabled is a function that a table of texts names, as the handler of a page or
// a message.
var tabled = regexp.MustCompile(`["'][^"'\n]*["']\s*[:,]\s*(?:\w+\.)*(\w+)\s*[,)}\n]`)

// markTabled makes entries of the functions that such tables name: who sends
// the text chooses the function and what it is given.
func (u *unit) markTabled() {
	byName := map[string][]int{}
	for ri := range u.regions {
		if r := &u.regions[ri]; len(r.names) > 0 && len(r.params) > 0 {
			byName[r.names[0]] = append(byName[r.names[0]], ri)
		}
	}
	for i := range u.statements {
		s := &u.statements[i]
		if !strings.ContainsAny(s.code, `"'`) || len(s.idents) == 0 || !strings.Contains(s.code, "{") && !routeCall.MatchString(s.code) {
			continue
		}
		for _, m := range tabled.FindAllStringSubmatch(s.code, -1) {
			for _, ri := range byName[m[1]] {
				u.regions[ri].entry = true
			}
		}
	}
}
