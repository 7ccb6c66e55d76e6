package simulator

import (
	"bytes"
	"encoding/json"
	"math"
)

// answerText is what a model says: content, or a refusal.
type answerText struct {
	content string
	refusal string
}

const refusalText = "I can't help with analysing this code."

// reportedFinding fixes the order of the keys.
type reportedFinding struct {
	Family      string  `json:"family"`
	CWE         string  `json:"cwe"`
	File        string  `json:"file"`
	Line        int     `json:"line"`
	EndLine     int     `json:"end_line"`
	Severity    string  `json:"severity"`
	Confidence  float64 `json:"confidence"`
	Explanation string  `json:"explanation"`
	Suggestion  string  `json:"suggestion"`
}

// render writes the findings down, with the slips of a model whose format
// skill is not perfect. A response format takes the slips of shape away.
func (r *reader) render(q *chatRequest, list []finding) answerText {
	slip := r.slip(q.format != "text")
	if slip == slipRefusal {
		return answerText{refusal: refusalText}
	}
	list = r.mislabel(slip, list)
	if q.format == "json_schema" {
		return answerText{content: encode(q.schema.fill(q.schema, wantedValues(list), 0))}
	}
	text := encode(map[string]any{"findings": reported(list)})
	switch slip {
	case slipMalformed:
		return answerText{content: malform(text, r)}
	case slipProse:
		return answerText{content: "I read the code and followed the values. Here is the report:\n\n" + text}
	case slipFence:
		return answerText{content: "```json\n" + text + "\n```"}
	}
	return answerText{content: text}
}

func reported(list []finding) []reportedFinding {
	out := []reportedFinding{}
	for _, f := range list {
		out = append(out, reportedFinding{f.family, f.cwe, f.file, f.line, f.end, f.severity, f.confidence, f.says, f.advice})
	}
	return out
}

// wantedValues offers the findings under the names that schemas use for them.
func wantedValues(list []finding) map[string]any {
	var rows []map[string]any
	for _, f := range list {
		rows = append(rows, map[string]any{
			"family": f.family, "category": f.family, "cwe": f.cwe, "file": f.file, "path": f.file,
			"line": f.line, "start_line": f.line, "end_line": f.end, "severity": f.severity,
			"confidence": f.confidence, "explanation": f.says, "message": f.says, "suggestion": f.advice,
		})
	}
	wanted := map[string]any{"findings": rows, "verdict": "safe"}
	if len(list) > 0 {
		wanted["verdict"] = "vulnerable"
		wanted["line"] = list[0].line
		wanted["confidence"] = list[0].confidence
	}
	return wanted
}

func encode(v any) string {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil { // only values made here reach it
		return "{}"
	}
	return string(bytes.TrimRight(buf.Bytes(), "\n"))
}

type slip int

const (
	slipNone slip = iota
	slipRefusal
	slipMalformed
	slipUnmapped
	slipAlias
	slipProse
	slipFence
)

func (r *reader) slip(shaped bool) slip {
	c := r.profile.Format
	falls := math.Exp(-c.Decay * r.reading.general[skillFormat])
	u := uniform(r.profile.Seed, "format", r.seed, r.digest)
	for _, s := range []struct {
		kind  slip
		rate  float64
		shape bool
	}{
		{slipRefusal, c.Refusal, false}, {slipMalformed, c.Malformed, true}, {slipUnmapped, c.Unmapped, false},
		{slipAlias, c.Alias, false}, {slipProse, c.Prose, true}, {slipFence, c.Fence, true},
	} {
		rate := s.rate * falls
		if u < rate {
			if s.shape && shaped {
				return slipNone
			}
			return s.kind
		}
		u -= rate
	}
	return slipNone
}

// mislabel swaps family ids for other words: an alias that a taxonomy knows,
// or a word that means nothing to it.
func (r *reader) mislabel(s slip, list []finding) []finding {
	if s != slipAlias && s != slipUnmapped {
		return list
	}
	out := append([]finding(nil), list...)
	for i := range out {
		fam := &r.lex.Families[r.lex.byID[out[i].family]]
		words := fam.Aliases
		if s == slipUnmapped {
			words = fam.Unmapped
		}
		if len(words) > 0 {
			out[i].family = words[pick(len(words), r.profile.Seed, "word", r.seed, r.digest, fam.ID)]
		}
	}
	return out
}

// malform damages JSON the way models do: it ends early, or a comma is missing.
func malform(text string, r *reader) string {
	if uniform(r.profile.Seed, "malform", r.seed, r.digest) < 0.5 || !bytes.Contains([]byte(text), []byte(`,"line"`)) {
		return text[:len(text)-1-len(text)/10]
	}
	return string(bytes.Replace([]byte(text), []byte(`,"line"`), []byte(` "line"`), 1))
}
