package simulator

import "strings"

// cuePlace says which part of a cue's statement does the harm.
type cuePlace string

const (
	placeFirst    cuePlace = "first"    // the first argument of the call that the cue matches
	placeSecond   cuePlace = "second"   // the second one
	placeThird    cuePlace = "third"    // the third one
	placeReceiver cuePlace = "receiver" // what the method is called on
	placeHere     cuePlace = "here"     // the argument in which the cue stands
)

// placed returns a view of a statement that holds only the part which does the
// harm: what a file is written with does not choose the file.
func (u *unit) placed(at int, q *cue) (statement, bool) {
	s := &u.statements[at]
	if q.Place == "" || q.whole == nil || len(s.bare) != len(s.code) {
		return *s, false
	}
	loc := q.whole.FindStringIndex(s.code)
	if loc == nil {
		return *s, false
	}
	from, to := 0, 0
	switch q.Place {
	case placeReceiver:
		from, to = receiver(s.bare, loc[0])
	case placeHere:
		from, to = enclosing(s.bare, loc[0])
	default:
		open := strings.IndexByte(s.bare[loc[0]:], '(')
		if open < 0 {
			return *s, false
		}
		n := map[cuePlace]int{placeFirst: 0, placeSecond: 1, placeThird: 2}[q.Place]
		from, to = argumentAt(s.bare, loc[0]+open, n)
	}
	if to <= from {
		return *s, false
	}
	part := statement{first: s.first, last: s.last, code: s.code[from:to], bare: s.bare[from:to]}
	part.read(u.file.lang)
	part.assigned = s.assigned
	part.idents = named(part.bare, s.idents)
	if s.source > 0 && u.lex.sourceIn(part.code, u.file.lang) {
		part.source = s.source
	}
	return part, true
}

// argumentAt bounds the n-th argument behind an opening bracket.
func argumentAt(bare string, open, n int) (from, to int) {
	depth, start := 0, open+1
	for i := open; i < len(bare); i++ {
		end := false
		switch bare[i] {
		case '(', '[', '{':
			depth++
		case ')', ']', '}':
			depth--
			end = depth == 0
		case ',':
			end = depth == 1
		}
		if !end {
			continue
		}
		if n == 0 || depth == 0 {
			if n > 0 {
				return 0, 0
			}
			return start, i
		}
		n--
		start = i + 1
	}
	if n > 0 {
		return 0, 0
	}
	return start, len(bare)
}

// enclosing bounds the argument in which a place lies; outside of brackets it
// is the right-hand side.
func enclosing(bare string, at int) (from, to int) {
	depth := 0
	for from = at; from > 0; from-- {
		switch bare[from-1] {
		case ')', ']', '}':
			depth++
			continue
		case '(', '[', '{':
			if depth > 0 {
				depth--
				continue
			}
		case ',':
			if depth > 0 {
				continue
			}
		default:
			continue
		}
		break
	}
	if from == 0 {
		return 0, 0
	}
	depth = 0
	for to = at; to < len(bare); to++ {
		switch bare[to] {
		case '(', '[', '{':
			depth++
		case ')', ']', '}':
			if depth == 0 {
				return from, to
			}
			depth--
		case ',':
			if depth == 0 {
				return from, to
			}
		}
	}
	return from, to
}

// receiver bounds the expression that ends before a place.
func receiver(bare string, end int) (from, to int) {
	depth := 0
	for from = end; from > 0; from-- {
		c := bare[from-1]
		switch {
		case c == ')' || c == ']':
			depth++
		case c == '(' || c == '[':
			if depth == 0 {
				return from, end
			}
			depth--
		case depth == 0 && !isIdentByte(c) && c != '.':
			return from, end
		}
	}
	return from, end
}
