package simulator

import (
	"sort"
	"strings"
)

// leaf is one value that enters a function and reaches a statement: a guard on
// one of two arguments says nothing about the other.
type leaf struct {
	name  string
	param int // distance from the end of the parameters, or -1
	slice slice
}

// leavesOf follows the named values of a statement back to where they enter
// the function. For some families numbers cannot do harm.
func (u *unit) leavesOf(at int, names []string, textOnly bool) []leaf {
	reg := &u.regions[u.regionOf[at]]
	from, to := u.regionStatements(u.regionOf[at])
	inside, defines := map[string]bool{}, map[int]bool{}
	u.addValues(inside, at, names)
	for i := at - 1; i >= from; i-- {
		if s := &u.statements[i]; mentionsAny(s.assigned, inside) {
			defines[i] = true
			u.addValues(inside, i, s.idents)
		}
	}
	var starts []string
	for name := range inside {
		if textOnly && reg.numbers[name] {
			continue
		}
		if reg.taints[name].level >= wholeTaint && (contains(reg.params, name) || u.enters(name, defines)) {
			starts = append(starts, name)
		}
	}
	sort.Strings(starts)
	var out []leaf
	for _, name := range starts {
		l := leaf{name: name, param: -1, slice: u.sliceFrom(name, from, to, at, defines, inside)}
		if n := indexOf(reg.params, name); n >= 0 {
			l.param = len(reg.params) - n
		}
		out = append(out, l)
	}
	return out
}

// addValues adds what flows out of a statement. What a method is only called on
// does not flow, and a request that values are taken from is none of them.
func (u *unit) addValues(inside map[string]bool, at int, names []string) {
	s := &u.statements[at]
	reg := &u.regions[u.regionOf[at]]
	for _, name := range names {
		if _, known := reg.taints[name]; !known {
			continue
		}
		if reg.carriers[name] || contains(reg.params, name) && calledOn(s.bare, name) && !standsAlone(s.bare, name) {
			continue
		}
		inside[name] = true
	}
}

// standsAlone tells whether a name occurs other than as a receiver.
func standsAlone(bare, name string) bool {
	for i := 0; i+len(name) <= len(bare); i++ {
		n := strings.Index(bare[i:], name)
		if n < 0 {
			return false
		}
		i += n
		end := i + len(name)
		before := i > 0 && (isIdentByte(bare[i-1]) || bare[i-1] == '.')
		if !before && (end == len(bare) || !isIdentByte(bare[end]) && bare[end] != '.') {
			return true
		}
	}
	return false
}

func (u *unit) enters(name string, defines map[int]bool) bool {
	for i := range defines {
		s := &u.statements[i]
		if !contains(s.assigned, name) {
			continue
		}
		if s.source > 0 {
			return true
		}
		for _, call := range s.calls {
			if u.yields[call] > 0 {
				return true
			}
		}
	}
	return false
}

// sliceFrom is the way of one value from where it enters to the statement.
func (u *unit) sliceFrom(name string, from, to, at int, defines map[int]bool, inside map[string]bool) slice {
	sl := slice{idents: map[string]bool{name: true}, defines: map[int]bool{}, touches: map[int]bool{}}
	for i := from; i < at; i++ {
		s := &u.statements[i]
		if !defines[i] || !mentionsAny(s.idents, sl.idents) && !contains(s.assigned, name) {
			continue
		}
		sl.defines[i] = true
		for _, made := range s.assigned {
			if inside[made] {
				sl.idents[made] = true
			}
		}
	}
	for _, made := range u.statements[at].assigned {
		sl.idents[made] = true
	}
	// A check often looks at something made of the value: a parsed address, a
	// relative path.
	made := map[string]bool{}
	for word := range sl.idents {
		made[word] = true
	}
	parts := u.partsRead(at, sl)
	for i := from; i <= to; i++ {
		s := &u.statements[i]
		if i == at || !u.touches(i, made, parts) {
			continue
		}
		if u.givesAnother(i, name, sl) {
			continue
		}
		sl.touches[i] = true
		if passedOn(s, made) {
			for _, word := range s.assigned {
				made[word] = true
			}
		}
	}
	return sl
}

// passedOn tells whether a value goes into a statement whole: what is read out
// of a stream or a record is another value.
func passedOn(s *statement, made map[string]bool) bool {
	for _, name := range s.idents {
		if made[name] && standsAlone(s.bare, name) {
			return true
		}
	}
	return false
}

func indexOf(list []string, word string) int {
	for i, w := range list {
		if w == word {
			return i
		}
	}
	return -1
}

// arguments cuts the first call of a function in a text into its arguments.
func arguments(text, name string) []string {
	for start := 0; ; {
		n := strings.Index(text[start:], name)
		if n < 0 {
			return nil
		}
		start += n + len(name)
		rest := strings.TrimLeft(text[start:], " \t")
		if (start > len(name) && isIdentByte(text[start-len(name)-1])) || !strings.HasPrefix(rest, "(") {
			continue
		}
		depth := 0
		for i := 0; i < len(rest); i++ {
			switch rest[i] {
			case '(', '[', '{':
				depth++
			case ')', ']', '}':
				depth--
			}
			if depth == 0 {
				return listed(rest[1:i])
			}
		}
		return listed(rest[1:])
	}
}

// listed cuts a list at its commas; one behind the last argument begins none.
func listed(text string) []string {
	list := splitTop(text)
	if n := len(list) - 1; n > 0 && strings.TrimSpace(list[n]) == "" {
		return list[:n]
	}
	return list
}

// argumentFor is the argument for the parameter with a distance from the end.
func argumentFor(list []string, fromEnd int) (string, bool) {
	if n := len(list) - fromEnd; fromEnd > 0 && n >= 0 {
		return list[n], true
	}
	return "", false
}

// named keeps the identifiers that stand in a text.
func named(text string, idents []string) []string {
	var out []string
	for _, word := range strings.FieldsFunc(text, func(r rune) bool { return r > 127 || !isIdentByte(byte(r)) }) {
		if contains(idents, word) {
			out = appendNew(out, word)
		}
	}
	return out
}

// givesAnother tells whether a statement takes another value out of the record
// from which the value under watch comes.
func (u *unit) givesAnother(i int, root string, sl slice) bool {
	s := &u.statements[i]
	if sl.defines[i] || len(s.assigned) == 0 || len(sl.defines) == 0 || !contains(s.idents, root) || conditionHead.MatchString(s.bare) {
		return false
	}
	for _, name := range s.idents {
		if name != root && sl.idents[name] {
			return false
		}
	}
	derived := false
	for j := range sl.defines {
		derived = derived || contains(u.statements[j].idents, root) && len(u.statements[j].calls) > 0
	}
	return derived && len(s.calls) > 0 && !mentionsAny(s.assigned, sl.idents)
}
