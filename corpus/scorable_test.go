package corpus

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func side(files ...string) *Side {
	s := &Side{}
	for i := 0; i < len(files); i += 2 {
		s.Files = append(s.Files, File{Path: files[i], Text: []byte(files[i+1])})
	}
	return s
}

func pair(change func(*Case)) *Case {
	c := &Case{
		Task: TaskAudit, Language: "go", Family: "injection",
		Vulnerable: side("a.go", "one\ntwo\nthree\n", "b.go", "x\n"),
		Fixed:      side("a.go", "one\n2\nthree", "b.go", "x\n"),
		Spans:      []Span{{"a.go", 2, 3}},
		Regions:    []Span{{"a.go", 2, 2}},
	}
	change(c)
	return c
}

func TestUnscorable(t *testing.T) {
	cases := []struct {
		name   string
		change func(*Case)
		side   SideName
		reason Unscorable
		detail string
	}{
		{"fine, vulnerable", func(*Case) {}, Vulnerable, Scorable, ""},
		{"fine, fixed", func(*Case) {}, Fixed, Scorable, ""},
		{"no regions", func(c *Case) { c.Regions = nil }, Fixed, Scorable, ""},
		{"last line without LF", func(c *Case) { c.Regions = []Span{{"a.go", 3, 3}} }, Fixed, Scorable, ""},
		{"span past the end", func(c *Case) { c.Spans[0].End = 4 }, Vulnerable, LabelDefect, "span 2-4 lies outside a.go, which has 3 lines"},
		{"second span past the end", func(c *Case) { c.Spans = append(c.Spans, Span{"b.go", 2, 2}) }, Vulnerable, LabelDefect, "span 2-2 lies outside b.go, which has 1 lines"},
		{"span ends first", func(c *Case) { c.Spans[0].Start = 9 }, Vulnerable, LabelDefect, "span 9-3 of a.go is no range of lines"},
		{"span at line zero", func(c *Case) { c.Spans[0].Start = 0 }, Vulnerable, LabelDefect, "span 0-3 of a.go is no range of lines"},
		{"span of a missing file", func(c *Case) { c.Spans[0].File = "c.go" }, Vulnerable, LabelDefect, "span 2-3 names c.go, which the side does not have"},
		{"no span", func(c *Case) { c.Spans = nil }, Vulnerable, LabelDefect, "the vulnerable side has no span"},
		{"no span does not spoil the fixed side", func(c *Case) { c.Spans = nil }, Fixed, Scorable, ""},
		{"region past the end", func(c *Case) { c.Regions[0].End = 4 }, Fixed, LabelDefect, "region 2-4 lies outside a.go, which has 3 lines"},
		{"region of a missing file", func(c *Case) { c.Regions[0].File = "c.go" }, Fixed, LabelDefect, "region 2-2 names c.go, which the side does not have"},
		{"identical sides", func(c *Case) { c.Fixed = c.Vulnerable }, Vulnerable, LabelDefect, "identical_sides: both sides hold the same text"},
		{"identical but for CRLF", func(c *Case) { c.Fixed = side("a.go", "one\r\ntwo\r\nthree\r\n", "b.go", "x\n") }, Fixed, LabelDefect, "identical_sides: both sides hold the same text"},
		{"a lone CR differs", func(c *Case) { c.Fixed = side("a.go", "one\rtwo\nthree\n", "b.go", "x\n"); c.Regions = nil }, Fixed, Scorable, ""},
		{"a comment differs", func(c *Case) { c.Fixed = side("a.go", "// x\none\ntwo\nthree\n", "b.go", "x\n") }, Fixed, Scorable, ""},
		{"a blank differs", func(c *Case) { c.Fixed = side("a.go", "one\ntwo\nthree\n\n", "b.go", "x\n") }, Fixed, Scorable, ""},
		{"a name differs", func(c *Case) { c.Fixed = side("a.go", "one\ntwo\nthree\n", "c.go", "x\n") }, Fixed, Scorable, ""},
		{"NUL", func(c *Case) { c.Vulnerable.Files[1].Text = []byte("x\x00y") }, Vulnerable, UnsupportedLanguage, "b.go is not text"},
		{"not UTF-8", func(c *Case) { c.Fixed.Files[1].Text = []byte("\xff") }, Fixed, UnsupportedLanguage, "b.go is not text"},
		{"another language", func(c *Case) { c.Language = "ruby" }, Vulnerable, UnsupportedLanguage, `language "ruby"`},
		{"no such side", func(c *Case) { c.Fixed = nil }, Fixed, NoCandidate, "the case has no fixed side"},
		{"no file", func(c *Case) { c.Fixed = &Side{} }, Fixed, NoCandidate, "the fixed side has no file with text"},
		{"blank files", func(c *Case) { c.Fixed = side("a.go", " \n\t", "b.go", "") }, Fixed, NoCandidate, "the fixed side has no file with text"},
		{"another task has no spans", func(c *Case) { c.Task, c.Language, c.Spans, c.Regions = "spec", "markdown", nil, nil }, Vulnerable, Scorable, ""},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			reason, detail := pair(c.change).Unscorable(c.side)
			assert.Equal(t, c.reason, reason)
			assert.Equal(t, c.detail, detail)
		})
	}
}

func TestLines(t *testing.T) {
	for text, want := range map[string]int{"": 0, "a": 1, "a\n": 1, "\n": 1, "a\nb": 2, "a\r\nb\rc\r\nd": 3, "\r": 1, "a\n\n": 2} {
		assert.Equal(t, want, File{Text: []byte(text)}.Lines(), "%q", text)
	}
}
