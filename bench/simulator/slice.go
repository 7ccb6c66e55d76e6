package simulator

import (
	"regexp"
	"strings"
)

// slice is the reader's view of one value: the statements that define it and
// those that mention it, within a region.
type slice struct {
	idents  map[string]bool
	defines map[int]bool
	touches map[int]bool
}

func (u *unit) sliceOf(at int) slice {
	sl := slice{idents: map[string]bool{}, defines: map[int]bool{}, touches: map[int]bool{}}
	sink := &u.statements[at]
	for _, id := range sink.idents {
		sl.idents[id] = true
	}
	from, to := u.regionStatements(u.regionOf[at])
	for i := at - 1; i >= from; i-- {
		s := &u.statements[i]
		if !mentionsAny(s.assigned, sl.idents) {
			continue
		}
		sl.defines[i] = true
		if len(sl.idents) < 12 {
			for _, id := range s.idents {
				sl.idents[id] = true
			}
		}
	}
	for _, id := range sink.assigned {
		sl.idents[id] = true
	}
	parts := u.partsRead(at, sl)
	for i := from; i <= to; i++ {
		if i != at && u.touches(i, sl.idents, parts) {
			sl.touches[i] = true
		}
	}
	return sl
}

// partsRead lists for each name the fields that the sink and the definitions
// before it read; a name that is read whole is left out.
func (u *unit) partsRead(at int, sl slice) map[string]map[string]bool {
	out := map[string]map[string]bool{}
	for name := range sl.idents {
		fields := map[string]bool{}
		whole := false
		read := func(i int) {
			s := &u.statements[i]
			if !contains(s.idents, name) || i != at && contains(s.assigned, name) {
				return // it is filled there, not read
			}
			list, alone := fieldsOf(s.code, name)
			whole = whole || alone
			for _, f := range list {
				fields[f] = true
			}
		}
		read(at)
		for i := range sl.defines {
			read(i)
		}
		if !whole && len(fields) > 0 {
			out[name] = fields
		}
	}
	return out
}

// touches tells whether a statement reads one of the names, and of a record one
// of the fields that matter.
func (u *unit) touches(i int, names map[string]bool, parts map[string]map[string]bool) bool {
	s := &u.statements[i]
	for _, name := range s.idents {
		if !names[name] {
			continue
		}
		fields, known := parts[name]
		if !known {
			return true
		}
		list, alone := fieldsOf(s.code, name)
		if alone || len(list) == 0 {
			return true
		}
		for _, f := range list {
			if fields[f] {
				return true
			}
		}
	}
	return false
}

// fieldsOf lists what is taken out of a name in a text: its fields, getters and
// keys. alone tells whether it stands there whole as well.
func fieldsOf(code, name string) (list []string, alone bool) {
	for from := 0; ; {
		n := strings.Index(code[from:], name)
		if n < 0 {
			return list, alone
		}
		start, end := from+n, from+n+len(name)
		from = end
		if start > 0 && (isIdentByte(code[start-1]) || code[start-1] == '.' && (start < 2 || code[start-2] != '.')) || end < len(code) && isIdentByte(code[end]) {
			continue
		}
		m := partOf.FindStringSubmatch(code[end:])
		switch {
		case m == nil:
			alone = true
		case m[1] != "":
			list = appendNew(list, m[1])
		case m[2] != "":
			list = appendNew(list, m[2])
		default:
			list = appendNew(list, m[3])
		}
	}
}

// partOf is what follows a name of which a part is taken: a key given to a
// getter, a key in brackets, a field.
var partOf = regexp.MustCompile(`^\??\.(?:get|Get|getString|getlist)\(\s*["'](\w+)["']|^\[["'](\w+)["']\]|^\??\.(\w+)`)

func mentionsAny(words []string, set map[string]bool) bool {
	for _, w := range words {
		if set[w] {
			return true
		}
	}
	return false
}
