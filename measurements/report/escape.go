package report

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// Plain makes untrusted text safe for a terminal and for one line: control
// and format characters (escape sequences, bidirectional overrides, zero-width
// marks), line separators and broken bytes become visible escapes.
func Plain(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case unicode.In(r, unicode.C, unicode.Zl, unicode.Zp):
			fmt.Fprintf(&b, `\u{%x}`, r)
		default:
			b.WriteRune(r)
		}
		i += size
	}
	return b.String()
}

// Lines makes untrusted text of several lines safe for a terminal: its lines stay
// lines, indented below the first.
func Lines(s string) string {
	lines := strings.Split(strings.TrimRight(s, "\n"), "\n")
	for i := range lines {
		lines[i] = Plain(lines[i])
	}
	return strings.Join(lines, "\n    ")
}

// markdownSigns are the signs that mean something in a Markdown table, in HTML,
// or to a forge that pings people, links issues and sets formulas.
var markdownSigns = strings.NewReplacer(
	`\`, `\\`, "|", `\|`, "`", "\\`", "*", `\*`, "_", `\_`, "[", `\[`, "]", `\]`, "~", `\~`,
	"<", "&lt;", ">", "&gt;", "&", "&amp;", "@", "&#64;", "#", "&#35;", "://", "&#58;//", "www.", "www&#46;", "$", "&#36;", "GH-", "GH&#45;",
)

// markdownText makes untrusted text safe for a cell of a Markdown table.
func markdownText(s string) string { return markdownSigns.Replace(Plain(s)) }

// csvText makes untrusted text safe for a cell of CSV: what would be a formula
// to a spreadsheet, also behind spaces or in full-width signs, gets a quote in
// front.
func csvText(s string) string {
	s = Plain(s)
	first, _ := utf8.DecodeRuneInString(strings.TrimSpace(s))
	if strings.ContainsRune("=+-@\uff1d\uff0b\uff0d\uff20", first) {
		return "'" + s
	}
	return s
}

// jsonSafe writes the control and format characters that JSON allows raw in a
// string as escapes: the same document, which no terminal obeys.
func jsonSafe(doc []byte) string {
	var b strings.Builder
	b.Grow(len(doc))
	for _, r := range string(doc) {
		if r >= ' ' && r < 0x7f || r == '\n' || !unicode.In(r, unicode.C, unicode.Zl, unicode.Zp) {
			b.WriteRune(r)
			continue
		}
		for _, unit := range utf16.Encode([]rune{r}) {
			fmt.Fprintf(&b, `\u%04x`, unit)
		}
	}
	return b.String()
}
