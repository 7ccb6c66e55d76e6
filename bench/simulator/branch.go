package simulator

import (
	"fmt"
	"regexp/syntax"
	"strings"
)

// branch is one alternative of a pattern with literals, in lower case, of
// which every match contains at least one.
type branch struct {
	re       string
	literals []string
}

// branches splits a pattern at its top-level alternation. It works on the
// text: printing a parsed pattern costs a hundred times as much.
func branches(pattern string) ([]branch, error) {
	var out []branch
	for _, text := range alternatives(pattern) {
		text = "(?s)" + text
		tree, err := syntax.Parse(text, syntax.Perl)
		if err != nil {
			return nil, err
		}
		lits := required(tree)
		if len(lits) == 0 {
			return nil, fmt.Errorf("no literal to find %q by", text)
		}
		out = append(out, branch{text, lits})
	}
	return out, nil
}

// alternatives cuts a pattern at the bars outside groups and classes. A flag
// group such as (?i) holds for the alternatives after it too.
func alternatives(pattern string) []string {
	var out []string
	flags, next := "", ""
	depth, start := 0, 0
	class := false
	for i := 0; i < len(pattern); i++ {
		switch c := pattern[i]; {
		case c == '\\':
			i++
		case class:
			class = c != ']'
		case c == '[':
			class = true
			if i+1 < len(pattern) && pattern[i+1] == '^' {
				i++
			}
			if i+1 < len(pattern) && pattern[i+1] == ']' {
				i++
			}
		case c == '(':
			if depth == 0 && strings.HasPrefix(pattern[i:], "(?i)") {
				next = "(?i)"
			}
			depth++
		case c == ')':
			depth--
		case c == '|' && depth == 0:
			out = append(out, flags+pattern[start:i])
			flags, start = next, i+1
		}
	}
	return append(out, flags+pattern[start:])
}

// required derives literals from a pattern: of all sets that every match must
// draw from, the one whose shortest member is longest.
func required(re *syntax.Regexp) []string {
	switch re.Op {
	case syntax.OpLiteral:
		return []string{strings.ToLower(string(re.Rune))}
	case syntax.OpCapture, syntax.OpPlus:
		return required(re.Sub[0])
	case syntax.OpRepeat:
		if re.Min > 0 {
			return required(re.Sub[0])
		}
	case syntax.OpAlternate:
		var out []string
		for _, sub := range re.Sub {
			lits := required(sub)
			if lits == nil {
				return nil
			}
			out = append(out, lits...)
		}
		return unique(out)
	case syntax.OpCharClass:
		return classLiterals(re)
	case syntax.OpConcat:
		return concatLiterals(re)
	}
	return nil
}

// classLiterals spells out a small class of characters.
func classLiterals(re *syntax.Regexp) []string {
	var out []string
	for i := 0; i+1 < len(re.Rune); i += 2 {
		for r := re.Rune[i]; r <= re.Rune[i+1]; r++ {
			out = append(out, strings.ToLower(string(r)))
			if len(out) > 4 {
				return nil
			}
		}
	}
	return unique(out)
}

func concatLiterals(re *syntax.Regexp) []string {
	var best []string
	run := ""
	flush := func() {
		if strings.TrimSpace(run) != "" {
			best = better(best, []string{run})
		}
		run = ""
	}
	for _, sub := range re.Sub {
		lits := required(sub)
		exact := sub.Op == syntax.OpLiteral || sub.Op == syntax.OpCharClass
		if exact && len(lits) == 1 { // [sS] reads as s
			run += lits[0]
			continue
		}
		flush()
		best = better(best, lits)
	}
	flush()
	return best
}

// enough is the length beyond which a literal gets no rarer.
const enough = 6

func better(a, b []string) []string {
	score := func(set []string) int {
		if len(set) == 0 {
			return 0
		}
		n := enough
		for _, lit := range set {
			n = min(n, len(lit))
		}
		return n*100 - len(set)
	}
	if score(b) > score(a) {
		return b
	}
	return a
}

func unique(list []string) []string {
	var out []string
	for _, s := range list {
		out = appendNew(out, s)
	}
	return out
}
