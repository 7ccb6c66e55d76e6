package simulator

import (
	"regexp"
	"regexp/syntax"
	"strings"
)

// expression is a regular expression that stands in the code under reading.
type expression struct {
	text  string
	whole bool // the call matches the whole text by itself
	start bool // the call matches at the start by itself
	lines bool // ^ and $ mean lines
}

// expressionFlaw is what can be wrong with one.
type expressionFlaw string

const (
	flawUnanchored expressionFlaw = "unanchored" // a check that lets text around the match pass
	flawBacktracks expressionFlaw = "backtracks" // matching can take exponential time
)

var (
	slashExpression  = regexp.MustCompile(`(?:[=(,:!&|?\[]|return)\s*/((?:[^/\\\n\[]|\\.|\[(?:[^\]\\\n]|\\.)*\])+)/([a-z]*)`)
	calledExpression = regexp.MustCompile(`(\w+)\(\s*(?:\w+\s*,\s*)?(?:@)?[rRbB]{0,2}(?:"((?:[^"\\\n]|\\.)+)"|'((?:[^'\\\n]|\\.)+)'|` + "`([^`]+)`)")
	expressionCalls  = wordSet("compile match search fullmatch findall finditer sub split matches MustCompile MatchString Compile replaceAll replaceFirst RegExp regexp Regexp regex Pattern")
	lookAround       = regexp.MustCompile(`\(\?<?[=!]|\(\?P?<\w+>`)
	checksText       = regexp.MustCompile(`\\[wd]|\[[^^]|\|`)
	wordsInside      = regexp.MustCompile(`\w{3}|[+*{]`)
)

// expressions lists the regular expressions of a statement.
func expressions(code string, lang language) []expression {
	var out []expression
	if lang == langScript {
		for _, m := range slashExpression.FindAllStringSubmatch(code, -1) {
			out = append(out, expression{text: m[1], lines: strings.Contains(m[2], "m")})
		}
	}
	for _, m := range calledExpression.FindAllStringSubmatch(code, -1) {
		if !expressionCalls[m[1]] {
			continue
		}
		e := expression{text: m[2] + m[3] + m[4]}
		if lang == langJava || lang == langScript || lang == langGo && m[4] == "" {
			e.text = strings.ReplaceAll(e.text, `\\`, `\`)
		}
		e.whole = m[1] == "fullmatch" || m[1] == "matches"
		e.start = m[1] == "match" && lang == langPython
		out = append(out, e)
	}
	return out
}

func (e expression) has(flaw expressionFlaw) bool {
	if flaw == flawBacktracks {
		tree := e.parse()
		return tree != nil && backtracks(tree)
	}
	return e.unanchored()
}

func (e expression) parse() *syntax.Regexp {
	text := lookAround.ReplaceAllString(e.text, "(?:")
	text = strings.NewReplacer(`\Z`, `\z`, `\/`, `/`).Replace(text)
	tree, err := syntax.Parse(text, syntax.Perl)
	if err != nil {
		return nil
	}
	return tree
}

// unanchored tells whether an expression that looks like a check of a whole
// text is open at an end.
func (e expression) unanchored() bool {
	if e.whole || !checksText.MatchString(e.text) || !wordsInside.MatchString(e.text) || strings.HasSuffix(e.text, "/") {
		return false
	}
	tree := e.parse()
	if tree == nil {
		return false
	}
	first, last := e.start || anchored(tree, true), anchored(tree, false)
	if e.lines {
		return first || last
	}
	if !first && !last && tree.Op == syntax.OpCharClass {
		return false
	}
	return !first || !last
}

func anchored(re *syntax.Regexp, start bool) bool {
	switch re.Op {
	case syntax.OpBeginText, syntax.OpBeginLine:
		return start
	case syntax.OpEndText, syntax.OpEndLine:
		return !start
	case syntax.OpCapture:
		return anchored(re.Sub[0], start)
	case syntax.OpConcat:
		if start {
			return anchored(re.Sub[0], start)
		}
		return anchored(re.Sub[len(re.Sub)-1], start)
	case syntax.OpAlternate:
		for _, sub := range re.Sub {
			if !anchored(sub, start) {
				return false
			}
		}
		return true
	}
	return false
}

// backtracks finds a repetition whose body can be cut in several ways: the
// known cause of exponential matching (Davis and others, 2018).
func backtracks(re *syntax.Regexp) bool {
	if unbounded(re) && ambiguous(re.Sub[0]) {
		return true
	}
	for _, sub := range re.Sub {
		if backtracks(sub) {
			return true
		}
	}
	return false
}

func unbounded(re *syntax.Regexp) bool {
	return re.Op == syntax.OpStar || re.Op == syntax.OpPlus || re.Op == syntax.OpRepeat && (re.Max < 0 || re.Max > 20)
}

func ambiguous(body *syntax.Regexp) bool {
	for body.Op == syntax.OpCapture {
		body = body.Sub[0]
	}
	switch {
	case unbounded(body):
		return true
	case body.Op == syntax.OpAlternate:
		for i, a := range body.Sub {
			if ambiguous(a) {
				return true
			}
			for _, b := range body.Sub[i+1:] {
				if a.Op == syntax.OpCharClass && overlap(runes(a), runes(b)) {
					return true
				}
			}
		}
	case body.Op == syntax.OpConcat:
		return loosePart(body.Sub)
	}
	return false
}

// loosePart finds a repetition that nothing else in the sequence tells where
// to end.
func loosePart(parts []*syntax.Regexp) bool {
	for i, part := range parts {
		for part.Op == syntax.OpCapture {
			part = part.Sub[0]
		}
		if !unbounded(part) {
			continue
		}
		own, told := runes(part), false
		for j, other := range parts {
			if j != i && !nullable(other) && !overlap(own, runes(other)) {
				told = true
			}
		}
		if !told {
			return true
		}
	}
	return false
}

func nullable(re *syntax.Regexp) bool {
	switch re.Op {
	case syntax.OpStar, syntax.OpQuest, syntax.OpEmptyMatch:
		return true
	case syntax.OpRepeat:
		return re.Min == 0 || nullable(re.Sub[0])
	case syntax.OpCapture, syntax.OpPlus:
		return nullable(re.Sub[0])
	case syntax.OpConcat:
		for _, sub := range re.Sub {
			if !nullable(sub) {
				return false
			}
		}
		return true
	case syntax.OpAlternate:
		for _, sub := range re.Sub {
			if nullable(sub) {
				return true
			}
		}
	}
	return false
}

// runes are the ranges of characters that an expression can contain.
func runes(re *syntax.Regexp) []rune {
	var out []rune
	switch re.Op {
	case syntax.OpLiteral:
		for _, r := range re.Rune {
			out = append(out, r, r)
		}
	case syntax.OpCharClass:
		out = append(out, re.Rune...)
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		out = append(out, 0, 0x10FFFF)
	}
	for _, sub := range re.Sub {
		out = append(out, runes(sub)...)
	}
	return out
}

func overlap(a, b []rune) bool {
	for i := 0; i+1 < len(a); i += 2 {
		for j := 0; j+1 < len(b); j += 2 {
			if a[i] <= b[j+1] && b[j] <= a[i+1] {
				return true
			}
		}
	}
	return false
}
