package detector

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/youden-bench/youden/corpus/family"
)

func read(text string) report { return readReport(text, family.Default(), "m") }

func TestReportStatus(t *testing.T) {
	for _, c := range []struct {
		name, text string
		status     Status
		findings   int
		dropped    int
	}{
		{"plain", `{"findings": []}`, OK, 0, 0},
		{"one", `{"findings": [{"family": "path", "file": "a", "line": 1}]}`, OK, 1, 0},
		{"fence", "Here it is:\n```json\n{\"findings\": []}\n```\n", OK, 0, 0},
		{"prose with braces", `if (x) { return } then {"findings": []}`, OK, 0, 0},
		{"brace in string", `{"findings": [{"family": "path", "explanation": "a } and a \" and {"}]}`, OK, 1, 0},
		{"apostrophes and quotes before", `It's a "quote { and then {"findings": []}`, OK, 0, 0},
		{"nested report", `{"answer": {"findings": [{"family": "path"}]}}`, OK, 1, 0},
		{"report after other object", `{"note": 1} {"findings": [{"family": "path"}]}`, OK, 1, 0},
		{"the last report counts", `{"findings": []} no: {"findings": [{"family": "path"}]}`, OK, 1, 0},
		{"items that are no objects", `{"findings": ["x", 1, null, [], {"family": "path"}]}`, OK, 1, 4},
		{"no json", "I found nothing wrong.", BadFormat, 0, 0},
		{"unclosed", `{"findings": [{"family": "path"`, BadFormat, 0, 0},
		{"python dict", `{'findings': []}`, BadFormat, 0, 0},
		{"findings is no list", `{"findings": "none"}`, BadSchema, 0, 0},
		{"null findings", `{"findings": null}`, BadSchema, 0, 0},
		{"other key case", `{"Findings": []}`, BadSchema, 0, 0},
		{"array of findings", `[{"family": "path", "line": 3}]`, BadSchema, 0, 0},
		{"empty array", `[]`, BadSchema, 0, 0},
		{"empty object", `{}`, BadSchema, 0, 0},
		{"empty", "", Empty, 0, 0},
		{"blank", " \n\t ", Empty, 0, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := read(c.text)
			assert.Equal(t, c.status, r.status, r.detail)
			assert.Len(t, r.findings, c.findings)
			assert.Equal(t, c.dropped, r.dropped)
			if c.status != OK {
				assert.NotEmpty(t, r.detail)
			}
		})
	}
}

func TestReportSaysWhenSeveralReportsWereGiven(t *testing.T) {
	assert.Contains(t, read(`{"findings": []} {"findings": []}`).detail, "2 reports")
}

func TestFindingFields(t *testing.T) {
	r := read(`{"findings": [{"family": "SQL injection", "cwe": "CWE-089", "owasp": "A03:2021", "file": "a.py", "line": "12", "end_line": 14.0,
		"severity": "HIGH", "confidence": "0.5", "explanation": "e", "suggestion": "s", "tags": ["x"], "Family": "path"}]}`)
	require.Len(t, r.findings, 1)
	half := 0.5
	assert.Equal(t, Finding{
		Family: "injection", Label: "SQL injection", CWE: 89, OWASP: "A03:2021", File: "a.py", Line: 12, EndLine: 14,
		Severity: SeverityHigh, Confidence: &half, Explanation: "e", Suggestion: "s", Tags: []string{"x"}, Model: "m",
	}, r.findings[0])
}

func TestFindingFieldsOfTheWrongType(t *testing.T) {
	for _, c := range []struct {
		name, item string
		line, end  int
	}{
		{"absent", `{}`, 0, 0},
		{"null", `{"line": null, "end_line": 3}`, 0, 3},
		{"zero", `{"line": 0}`, 0, 0},
		{"negative", `{"line": -4}`, 0, 0},
		{"fraction", `{"line": 1.5}`, 0, 0},
		{"huge", `{"line": 1e300}`, 0, 0},
		{"L prefix", `{"line": "L7"}`, 7, 7},
		{"words", `{"line": "seven"}`, 0, 0},
		{"object", `{"line": {"start": 1}}`, 0, 0},
		{"inf", `{"line": "Inf"}`, 0, 0},
		{"end before start is kept", `{"line": 12, "end_line": 9}`, 12, 9},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := read(`{"findings": [` + c.item + `]}`)
			require.Len(t, r.findings, 1)
			assert.Equal(t, c.line, r.findings[0].Line)
			assert.Equal(t, c.end, r.findings[0].EndLine)
			assert.Empty(t, r.findings[0].Family)
		})
	}
}

func TestConfidenceOutsideItsRangeIsNotClaimed(t *testing.T) {
	for _, v := range []string{"-0.1", "1.01", `"NaN"`, `"high"`, "null"} {
		r := read(`{"findings": [{"confidence": ` + v + `}]}`)
		require.Len(t, r.findings, 1)
		assert.Nil(t, r.findings[0].Confidence, v)
	}
}

// A hostile answer must not cost the square of its length.
func TestExtractIsBounded(t *testing.T) {
	for name, text := range map[string]string{
		"open braces":   strings.Repeat("{", 1<<20),
		"nested keys":   strings.Repeat(`{"a":`, 1<<18),
		"open strings":  strings.Repeat(`{"`, 1<<19),
		"objects":       strings.Repeat(`{}`, 1<<19),
		"nested closed": strings.Repeat(`{"a":`, 5000) + "1" + strings.Repeat("}", 5000),
	} {
		t.Run(name, func(t *testing.T) {
			done := make(chan struct{})
			go func() { extract(text); close(done) }()
			select {
			case <-done:
			case <-time.After(30 * time.Second):
				t.Fatal("extract did not end")
			}
		})
	}
}

func TestTooManyFindingsAreNoReport(t *testing.T) {
	text := `{"findings": [` + strings.Repeat("{},", maxFindings) + `{}]}`
	assert.Equal(t, BadSchema, read(text).status)
}

// Whatever prose surrounds a report, the report is found.
func TestReportSurvivesItsSurroundings(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		before := rapid.StringMatching(`[a-z{}\[\]"' \n]{0,40}`).Draw(t, "before")
		after := rapid.StringMatching(`[a-z} \]"'\n]{0,40}`).Draw(t, "after")
		r := read(before + "\n" + `{"findings": [{"family": "path", "line": 3}]}` + "\n" + after)
		if r.status != OK || len(r.findings) != 1 || r.findings[0].Line != 3 {
			t.Fatalf("status %s, %d findings", r.status, len(r.findings))
		}
	})
}

func FuzzReport(f *testing.F) {
	for _, s := range []string{`{"findings": []}`, `{"findings": [{"line": "L3"}]}`, "```json\n{}\n```", `[{`, `{"a":"\u0000"}`, "\xff{"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		r := read(text)
		if _, known := r.status.Row(); !known {
			t.Fatalf("unknown status %q", r.status)
		}
		for _, finding := range r.findings {
			if finding.Line < 0 || finding.EndLine < 0 {
				t.Fatalf("negative line in %+v", finding)
			}
		}
	})
}

func FuzzExamples(f *testing.F) {
	f.Add("{\"code\": \"a\", \"why\": \"b\"}\n")
	f.Add("{}\n\n[")
	f.Fuzz(func(_ *testing.T, text string) {
		_, _ = ParseExamples("hard_negatives.jsonl", text)
	})
}
