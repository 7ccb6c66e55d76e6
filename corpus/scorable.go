package corpus

import (
	"bytes"
	"fmt"
	"slices"
	"unicode/utf8"
)

// Unscorable is the reason why no run of a side can be scored, whatever a
// detector says. "" means that the side can be. The values are statuses of a
// run.
type Unscorable string

// The reasons.
const (
	Scorable            Unscorable = ""
	LabelDefect         Unscorable = "label_defect"         // the label contradicts the files
	UnsupportedLanguage Unscorable = "unsupported_language" // no text of a language that detectors read
	NoCandidate         Unscorable = "no_candidate"         // nothing to look at
)

// Languages that detectors read, in alphabetical order.
func Languages() []string { return []string{"go", "java", "javascript", "python", "typescript"} }

// knownLanguages are those that a catalog may name; cases of the others load
// and are unscorable, while a misspelt name is an error.
var knownLanguages = append(Languages(), "c", "cpp", "csharp", "kotlin", "php", "ruby", "rust", "scala", "shell", "swift",
	"html", "json", "markdown", "sql", "text", "yaml")

// Unscorable says why a side of the case cannot be scored, with the detail to
// print. A case that is defective on one side is worthless on the other, whose
// score would be banked without its counterpart; callers ask for both sides.
func (c *Case) Unscorable(name SideName) (Unscorable, string) {
	side := c.Side(name)
	if side == nil {
		return NoCandidate, fmt.Sprintf("the case has no %s side", name)
	}
	if !slices.ContainsFunc(side.Files, func(f File) bool { return len(bytes.TrimSpace(f.Text)) > 0 }) {
		return NoCandidate, fmt.Sprintf("the %s side has no file with text", name)
	}
	for _, f := range side.Files {
		if bytes.IndexByte(f.Text, 0) >= 0 || !utf8.Valid(f.Text) {
			return UnsupportedLanguage, fmt.Sprintf("%s is not text", f.Path)
		}
	}
	if c.Task != TaskAudit {
		return Scorable, "" // answered about a change or a plan, not at a span
	}
	if defect := c.labelDefect(name); defect != "" {
		return LabelDefect, defect
	}
	if !slices.Contains(Languages(), c.Language) {
		return UnsupportedLanguage, fmt.Sprintf("language %q", c.Language)
	}
	return Scorable, ""
}

// labelDefect says how the labels of one side contradict the files, or "".
func (c *Case) labelDefect(name SideName) string {
	if c.defect != "" {
		return c.defect
	}
	if c.identicalSides() {
		return "identical_sides: both sides hold the same text"
	}
	if name == Vulnerable {
		if len(c.Spans) == 0 {
			return "the vulnerable side has no span"
		}
		return outside("span", c.Spans, c.Vulnerable)
	}
	return outside("region", c.Regions, c.Fixed)
}

// outside says which of the spans does not lie in a file of the side, or "".
func outside(what string, spans []Span, side *Side) string {
	for _, s := range spans {
		f, ok := side.File(s.File)
		switch {
		case !ok:
			return fmt.Sprintf("%s %d-%d names %s, which the side does not have", what, s.Start, s.End, s.File)
		case s.Start < 1 || s.End < s.Start:
			return fmt.Sprintf("%s %d-%d of %s is no range of lines", what, s.Start, s.End, s.File)
		case s.End > f.Lines():
			return fmt.Sprintf("%s %d-%d lies outside %s, which has %d lines", what, s.Start, s.End, s.File, f.Lines())
		}
	}
	return ""
}

// identicalSides compares the sides after CRLF has become LF and nothing else:
// two files that differ in a comment, a directive or a buffer size are two
// files (detector-lessons.md 6, defect 2).
func (c *Case) identicalSides() bool {
	if !c.IsPair() {
		return false
	}
	return slices.EqualFunc(c.Vulnerable.Files, c.Fixed.Files, func(a, b File) bool {
		return a.Path == b.Path && bytes.Equal(normalizeNewlines(a.Text), normalizeNewlines(b.Text))
	})
}

func normalizeNewlines(text []byte) []byte {
	return bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n"))
}
