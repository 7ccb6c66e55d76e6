package detector

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/youden-bench/youden/corpus/family"
)

// maxFindings bounds the claims of one report. No side of a case has that many
// defects; a longer list is a broken answer.
const maxFindings = 2000

// report is the outcome of reading an answer's text.
type report struct {
	findings []Finding
	dropped  int
	status   Status
	detail   string
}

// readReport turns the text of an answer into findings. No JSON is bad_format;
// JSON that is no report is bad_schema; with several reports the last one
// counts, because models restate their answer at the end.
func readReport(text string, tax *family.Taxonomy, model string) report {
	if strings.TrimSpace(text) == "" {
		return report{status: Empty, detail: "the answer has no text"}
	}
	found := extract(text)
	switch {
	case found.reports == 0 && found.sawJSON:
		return report{status: BadSchema, detail: `the answer has JSON, but no object with a list "findings"`}
	case found.reports == 0:
		return report{status: BadFormat, detail: "the answer has no JSON object"}
	}
	r := report{status: OK}
	if found.reports > 1 {
		r.detail = fmt.Sprintf("%d reports in the answer; the last one counts", found.reports)
	}
	// Item by item, so that a list of millions costs no more than its limit.
	dec := json.NewDecoder(bytes.NewReader(found.last))
	if _, err := dec.Token(); err != nil {
		return report{status: BadSchema, detail: "the list of findings cannot be read: " + err.Error()}
	}
	for dec.More() {
		if len(r.findings)+r.dropped == maxFindings {
			return report{status: BadSchema, detail: fmt.Sprintf("the report has more than %d findings", maxFindings)}
		}
		var raw json.RawMessage
		if err := dec.Decode(&raw); err != nil {
			return report{status: BadSchema, detail: "the list of findings cannot be read: " + err.Error()}
		}
		var item map[string]json.RawMessage
		if json.Unmarshal(raw, &item) != nil || item == nil {
			r.dropped++
			continue
		}
		r.findings = append(r.findings, readFinding(item, tax, model))
	}
	return r
}

// readFinding reads one claim leniently: a field of the wrong type is as good
// as absent, since a finding without family is unmapped and without line
// unlocated.
func readFinding(item map[string]json.RawMessage, tax *family.Taxonomy, model string) Finding {
	f := Finding{
		Label:       textField(item, "family"),
		OWASP:       textField(item, "owasp"),
		File:        textField(item, "file"),
		Severity:    readSeverity(textField(item, "severity")),
		Explanation: textField(item, "explanation"),
		Suggestion:  textField(item, "suggestion"),
		Tags:        textList(item["tags"]),
		Model:       model,
	}
	f.Family, _ = tax.Lookup(f.Label)
	f.CWE, _ = family.ParseCWE(textField(item, "cwe"))
	f.Line, f.EndLine = lineField(item, "line"), lineField(item, "end_line")
	if f.Line > 0 && f.EndLine == 0 {
		f.EndLine = f.Line
	}
	if c, ok := numberField(item, "confidence"); ok && c >= 0 && c <= 1 {
		f.Confidence = &c
	}
	return f
}

// textField reads a string; a number is kept as its digits.
func textField(item map[string]json.RawMessage, key string) string {
	raw, ok := item[key]
	if !ok {
		return ""
	}
	if s, ok := plainText(raw); ok {
		return s
	}
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	var n json.Number
	if json.Unmarshal(raw, &n) == nil {
		return n.String()
	}
	return ""
}

// plainText reads a valid JSON value that needs no decoding, as most of a report's
// are: a string of ASCII without escapes, or a number.
func plainText(raw json.RawMessage) (string, bool) {
	if len(raw) == 0 {
		return "", false
	}
	if c := raw[0]; c == '-' || c >= '0' && c <= '9' {
		return string(raw), true
	}
	if len(raw) < 2 || raw[0] != '"' || raw[len(raw)-1] != '"' {
		return "", false
	}
	inside := raw[1 : len(raw)-1]
	for _, c := range inside {
		if c < ' ' || c == '"' || c == '\\' || c >= 0x80 {
			return "", false
		}
	}
	return string(inside), true
}

func textList(raw json.RawMessage) []string {
	var list []string
	if len(raw) == 0 || json.Unmarshal(raw, &list) != nil {
		return nil
	}
	return list
}

// numberField reads a number, or a string that holds one.
func numberField(item map[string]json.RawMessage, key string) (float64, bool) {
	raw := strings.TrimSpace(textField(item, key))
	n, err := strconv.ParseFloat(raw, 64)
	if err != nil || math.IsNaN(n) || math.IsInf(n, 0) {
		return 0, false
	}
	return n, true
}

// lineField reads a 1-based line: 12, 12.0, "12" or "L12"; anything else is 0,
// which means unlocated.
func lineField(item map[string]json.RawMessage, key string) int {
	n, ok := numberField(item, key)
	if !ok {
		raw := strings.TrimLeft(strings.TrimSpace(textField(item, key)), "lL")
		parsed, err := strconv.Atoi(raw)
		if err != nil {
			return 0
		}
		n = float64(parsed)
	}
	if n != math.Trunc(n) || n < 1 || n > math.MaxInt32 {
		return 0
	}
	return int(n)
}

func readSeverity(word string) Severity {
	switch s := Severity(strings.ToLower(strings.TrimSpace(word))); s {
	case SeverityInfo, SeverityLow, SeverityMedium, SeverityHigh, SeverityCritical:
		return s
	}
	return SeverityUnknown
}
