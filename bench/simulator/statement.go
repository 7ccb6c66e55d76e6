package simulator

import (
	"regexp"
	"strings"
)

// statement is a group of lines that read as one: an open bracket or a chained
// call joins the lines after it.
type statement struct {
	first, last int    // line indices, inclusive
	code        string // comments removed
	bare        string // comments and string contents removed
	idents      []string
	calls       []string
	assigned    []string // identifiers this statement defines
	source      float64  // >0: a taint source stands in it
}

const maxStatementLines = 10

// statements groups the masked lines. owner[i] is the statement of line i.
func statements(m masked, lang language) (list []statement, owner []int) {
	code := strings.Split(string(m.code), "\n")
	bare := strings.Split(string(m.bare), "\n")
	owner = make([]int, len(code))
	for i := 0; i < len(code); {
		last := statementEnd(bare, i, lang)
		s := statement{first: i, last: last}
		s.code = strings.Join(code[i:last+1], "\n")
		s.bare = strings.Join(bare[i:last+1], "\n")
		s.read(lang)
		for j := i; j <= last; j++ {
			owner[j] = len(list)
		}
		list = append(list, s)
		i = last + 1
	}
	return list, owner
}

func statementEnd(bare []string, first int, lang language) int {
	depth := 0
	for i := first; i < len(bare) && i < first+maxStatementLines; i++ {
		line := strings.TrimRight(bare[i], " \t\r")
		for j := 0; j < len(line); j++ {
			switch line[j] {
			case '(', '[':
				depth++
			case ')', ']':
				depth--
			case '{':
				if lang == langPython || literalBrace(line, j) {
					depth++
				}
			case '}':
				if depth > 0 {
					depth--
				}
			}
		}
		next := ""
		if i+1 < len(bare) {
			next = strings.TrimLeft(bare[i+1], " \t")
		}
		switch {
		case opensBlock(line, lang):
			return i
		case lang == langJava && strings.HasSuffix(line, ")") && (strings.HasPrefix(next, "throws ") || strings.TrimSpace(next) == "{"):
		case depth > 0, strings.HasSuffix(line, "\\"):
		case lang != langGo && strings.HasPrefix(next, ".") && !strings.HasPrefix(next, "..."):
		case lang == langGo && strings.HasSuffix(line, "."):
		case strings.HasSuffix(line, " ="), lang != langPython && (strings.HasPrefix(next, "? ") || strings.HasPrefix(next, ": ") || strings.HasPrefix(next, "&& ") || strings.HasPrefix(next, "|| ")):
		case strings.HasSuffix(line, " +"), strings.HasSuffix(line, "&&"), strings.HasSuffix(line, "||"):
		case strings.HasPrefix(next, "+ "):
		default:
			return i
		}
	}
	return min(first+maxStatementLines, len(bare)) - 1
}

// literalBrace tells an object or composite literal from a block.
func literalBrace(line string, at int) bool {
	before := strings.TrimRight(line[:at], " \t")
	if before == "" {
		return false
	}
	switch c := before[len(before)-1]; {
	case strings.IndexByte("(,=:[&?|", c) >= 0:
		return true
	case c == '}' || isIdentByte(c):
		first, _, _ := strings.Cut(strings.TrimLeft(line, " \t}"), " ")
		switch first {
		case "func", "if", "for", "switch", "type", "select", "else", "class", "interface", "try", "do", "static", "export", "public", "private", "namespace", "enum", "return;":
			return false
		}
		return at > 0 && line[at-1] != ' '
	}
	return false
}

func opensBlock(line string, lang language) bool {
	if lang == langPython {
		return false
	}
	if !strings.HasSuffix(line, "{") {
		return false
	}
	before := strings.TrimRight(line[:len(line)-1], " \t")
	return strings.HasSuffix(before, ")") || strings.HasSuffix(before, "=>") || !literalBrace(line, len(line)-1)
}

func isIdentByte(c byte) bool {
	return c == '_' || c == '$' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

var keywords = wordSet(`and as assert async await bool boolean break byte case catch chan char class const continue
	def default defer del delete do double elif else enum error except export extends false False final finally float
	for from func function global go goto if implements import in instanceof int int64 interface is lambda let long map
	new nil None nonlocal not null of or package pass private protected public raise range return select self short
	static str string String struct super switch synchronized this throw throws true True try type typeof undefined
	var void volatile while with yield err`)

func wordSet(words string) map[string]bool {
	out := map[string]bool{}
	for _, w := range strings.Fields(words) {
		out[w] = true
	}
	return out
}

// opened names what a with statement of Python opens.
var opened = regexp.MustCompile(`\bas\s+([A-Za-z_]\w*)\s*[,:)]`)

// read fills in what the statement mentions, calls and defines.
func (s *statement) read(lang language) {
	b := s.bare
	op := assignment(b, lang)
	for i := 0; i < len(b); {
		c := b[i]
		if !isIdentByte(c) {
			i++
			continue
		}
		j := i
		for j < len(b) && isIdentByte(b[j]) {
			j++
		}
		word := b[i:j]
		s.word(b, word, i, j, op, lang)
		i = j
	}
	if head := strings.TrimLeft(b, " \t"); lang == langPython && (strings.HasPrefix(head, "with ") || strings.HasPrefix(head, "async with ")) {
		for _, m := range opened.FindAllStringSubmatch(b, -1) {
			s.assigned = appendNew(s.assigned, m[1])
		}
	}
}

func (s *statement) word(b, word string, i, j, op int, lang language) {
	if word[0] >= '0' && word[0] <= '9' {
		return
	}
	member := i > 0 && b[i-1] == '.' && (i < 2 || b[i-2] != '.')
	if member && (strings.HasSuffix(b[:i], "this.") || strings.HasSuffix(b[:i], "self.")) {
		word, member = "this."+word, false
	}
	rest := strings.TrimLeft(b[j:], " \t")
	if strings.HasPrefix(rest, "(") {
		s.calls = append(s.calls, strings.TrimPrefix(word, "this."))
		return
	}
	if member || keywords[word] && (word != "in" || lang != langGo && lang != langJava) {
		return
	}
	isKey := strings.HasPrefix(rest, ":") && !strings.HasPrefix(rest, ":=") && (op < 0 || i > op)
	isKeywordArgument := op >= 0 && i > op && strings.HasPrefix(rest, "=") && !strings.HasPrefix(rest, "==") && !strings.HasPrefix(rest, "=>")
	if isKey || isKeywordArgument {
		return
	}
	if op >= 0 && i < op || i > 0 && b[i-1] == '&' && (i < 2 || b[i-2] != '&') {
		s.assigned = appendNew(s.assigned, word)
		if op >= 0 && i < op {
			return
		}
	}
	s.idents = appendNew(s.idents, word)
}

func appendNew(list []string, word string) []string {
	for _, w := range list {
		if w == word {
			return list
		}
	}
	return append(list, word)
}

// assignment finds where the left-hand side of a definition ends, or -1.
func assignment(b string, lang language) int {
	trimmed := strings.TrimLeft(b, " \t")
	if strings.HasPrefix(trimmed, "for ") || strings.HasPrefix(trimmed, "for(") || strings.HasPrefix(trimmed, "async for ") {
		for _, sep := range []string{":=", " in ", " of ", " : "} {
			if n := strings.Index(b, sep); n > 0 {
				return n
			}
		}
	}
	depth := 0
	for i := 0; i < len(b); i++ {
		switch b[i] {
		case '(', '[', '{':
			depth++
		case ')', ']', '}':
			depth--
		case '=':
			if depth > 0 || i+1 < len(b) && (b[i+1] == '=' || b[i+1] == '>' || b[i+1] == '~') {
				if i+1 < len(b) && b[i+1] == '=' {
					i++
				}
				continue
			}
			if i > 0 && strings.IndexByte("=!<>~", b[i-1]) >= 0 {
				continue
			}
			return annotationStart(b, i, lang)
		}
	}
	return -1
}

// annotationStart cuts a type annotation off the left-hand side.
func annotationStart(b string, op int, lang language) int {
	if lang == langGo || lang == langJava {
		return op
	}
	left := b[:op]
	if n := strings.IndexByte(left, ':'); n > 0 && !strings.ContainsAny(left[:n], "{[(") {
		return n
	}
	return op
}
