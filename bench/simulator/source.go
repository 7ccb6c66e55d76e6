package simulator

import (
	"path"
	"strings"
)

// sourceFile is one file of code as the request shows it.
type sourceFile struct {
	path    string
	lang    language
	lines   []string
	numbers []int // the line number shown for each line
}

type language string

const (
	langGo     language = "go"
	langPython language = "py"
	langScript language = "js" // JavaScript and TypeScript
	langJava   language = "java"
	langOther  language = "other"
)

func languageOf(file string) language {
	switch strings.ToLower(path.Ext(file)) {
	case ".go":
		return langGo
	case ".py", ".pyi":
		return langPython
	case ".js", ".mjs", ".cjs", ".jsx", ".ts", ".tsx", ".mts", ".cts", ".vue", ".svelte":
		return langScript
	case ".java", ".kt", ".scala", ".groovy":
		return langJava
	}
	return langOther
}

// guessLanguage is for code blocks that carry no path.
func guessLanguage(tag, text string) language {
	switch strings.ToLower(tag) {
	case "go", "golang":
		return langGo
	case "py", "python", "python3":
		return langPython
	case "js", "ts", "javascript", "typescript", "jsx", "tsx":
		return langScript
	case "java", "kotlin":
		return langJava
	}
	switch {
	case strings.Contains(text, "func ") && (strings.Contains(text, ":=") || strings.Contains(text, "package ")):
		return langGo
	case strings.Contains(text, "def ") && strings.Contains(text, ":\n"), strings.Contains(text, "import ") && !strings.Contains(text, ";"):
		return langPython
	case strings.Contains(text, "public class ") || strings.Contains(text, "private ") && strings.Contains(text, ";"):
		return langJava
	case strings.Contains(text, "=>"), strings.Contains(text, "const "), strings.Contains(text, "function"):
		return langScript
	}
	return langOther
}

// masked is the text of a file seen two ways, byte for byte as long as the
// original: code has comments blanked, bare has string contents blanked too
// (all but what a template interpolates, which is code). A commented-out guard
// is then no guard.
type masked struct {
	code, bare []byte
	comments   []comment
}

type comment struct {
	line int // index of the line it starts on
	text string
}

type masker struct {
	src   string
	lang  language
	out   masked
	pos   int
	line  int
	depth int  // open brackets, to tell a docstring from an argument
	last  byte // last visible byte of code
}

func mask(src string, lang language) masked {
	m := &masker{src: src, lang: lang}
	m.out.code = []byte(src)
	m.out.bare = []byte(src)
	for m.pos < len(src) {
		m.step()
	}
	return m.out
}

func (m *masker) step() {
	c := m.src[m.pos]
	if c == '\n' {
		m.line++
		m.pos++
		return
	}
	if m.lang == langPython || m.lang == langOther {
		m.hashStep(c)
		return
	}
	m.slashStep(c)
}

func (m *masker) hashStep(c byte) {
	switch c {
	case '#':
		m.blankComment(m.lineEnd(m.pos))
	case '"', '\'':
		quote := string(c)
		if triple := strings.Repeat(quote, 3); strings.HasPrefix(m.src[m.pos:], triple) {
			quote = triple
		}
		m.pythonString(quote)
	default:
		m.plain(c)
	}
}

func (m *masker) slashStep(c byte) {
	rest := m.src[m.pos:]
	switch {
	case strings.HasPrefix(rest, "//"):
		m.blankComment(m.lineEnd(m.pos))
	case strings.HasPrefix(rest, "/*"):
		end := len(m.src)
		if n := strings.Index(rest[2:], "*/"); n >= 0 {
			end = m.pos + 2 + n + 2
		}
		m.blankComment(end)
	case c == '"' || c == '\'':
		m.quoted(c, false)
	case c == '`':
		m.quoted(c, true)
	case c == '/' && m.lang == langScript && strings.IndexByte("(,=:[!&|?{};+", m.last) >= 0 && m.regexEnds():
		m.regexLiteral()
	default:
		m.plain(c)
	}
}

func (m *masker) plain(c byte) {
	switch c {
	case '(', '[', '{':
		m.depth++
	case ')', ']', '}':
		m.depth--
	}
	if c != ' ' && c != '\t' && c != '\r' {
		m.last = c
	}
	m.pos++
}

func (m *masker) lineEnd(from int) int {
	if n := strings.IndexByte(m.src[from:], '\n'); n >= 0 {
		return from + n
	}
	return len(m.src)
}

func (m *masker) blankComment(end int) {
	m.out.comments = append(m.out.comments, comment{m.line, m.src[m.pos:end]})
	m.blank(m.pos, end, true)
	m.line += strings.Count(m.src[m.pos:end], "\n")
	m.pos = end
}

func (m *masker) blank(from, to int, both bool) {
	for i := from; i < to; i++ {
		if m.src[i] == '\n' {
			continue
		}
		m.out.bare[i] = ' '
		if both {
			m.out.code[i] = ' '
		}
	}
}

func (m *masker) pythonString(quote string) {
	start := m.pos
	formatted := start > 0 && (m.src[start-1] == 'f' || m.src[start-1] == 'F') ||
		start > 1 && (m.src[start-2] == 'f' || m.src[start-2] == 'F') && (m.src[start-1]|0x20) == 'r'
	statement := len(quote) == 3 && m.depth <= 0 && strings.TrimSpace(m.src[strings.LastIndexByte(m.src[:start], '\n')+1:start]) == ""
	i := start + len(quote)
	body := i
	for i < len(m.src) && !strings.HasPrefix(m.src[i:], quote) {
		switch {
		case m.src[i] == '\\':
			i++
		case m.src[i] == '\n' && len(quote) == 1:
			m.blank(body, min(i, len(m.src)), false)
			m.pos = i
			return
		case formatted && m.src[i] == '{' && i+1 < len(m.src) && m.src[i+1] != '{':
			m.blank(body, i+1, false)
			i = m.interpolation(i+1, '}')
			body = i
			continue
		}
		i++
	}
	i = min(i, len(m.src))
	m.blank(body, i, false)
	end := min(i+len(quote), len(m.src))
	if statement {
		m.out.comments = append(m.out.comments, comment{m.line, m.src[start:end]})
		m.blank(start, end, true)
	} else {
		m.last = '"'
	}
	m.line += strings.Count(m.src[start:end], "\n")
	m.pos = end
}

// interpolation returns the index of the byte that closes the expression; the
// expression itself stays visible in bare.
func (m *masker) interpolation(from int, closing byte) int {
	depth := 0
	for i := from; i < len(m.src); i++ {
		switch c := m.src[i]; {
		case c == '{' || c == '(' || c == '[':
			depth++
		case depth == 0 && c == closing:
			return i
		case c == '}' || c == ')' || c == ']':
			depth--
		case c == '\n' && closing == '}' && m.lang == langPython:
			return i
		}
	}
	return len(m.src)
}

func (m *masker) quoted(q byte, multiline bool) {
	start := m.pos
	i := start + 1
	body := i
	for i < len(m.src) && m.src[i] != q {
		switch {
		case m.src[i] == '\\' && (!multiline || m.lang == langScript):
			i++
		case m.src[i] == '\n' && !multiline:
			m.blank(body, i, false)
			m.pos = i
			m.last = '"'
			return
		case multiline && m.lang == langScript && strings.HasPrefix(m.src[i:], "${"):
			m.blank(body, i+2, false)
			i = m.interpolation(i+2, '}')
			body = i
			continue
		}
		i++
	}
	i = min(i, len(m.src))
	m.blank(body, i, false)
	m.pos = min(i+1, len(m.src))
	m.line += strings.Count(m.src[start:m.pos], "\n")
	m.last = '"'
}

func (m *masker) regexEnds() bool {
	i := m.pos + 1
	return i < len(m.src) && m.src[i] != ' ' && strings.IndexByte(m.src[i:m.lineEnd(i)], '/') > 0
}

func (m *masker) regexLiteral() {
	class := false
	end := m.lineEnd(m.pos)
	i := m.pos + 1
scan:
	for i < end {
		switch m.src[i] {
		case '\\':
			i++
		case '[':
			class = true
		case ']':
			class = false
		case '/':
			if !class {
				break scan
			}
		}
		i++
	}
	i = min(i, end)
	m.blank(m.pos+1, i, false)
	m.pos = min(i+1, end)
	m.last = '/'
}
