package report

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/youden-bench/youden/measurements"
	"github.com/youden-bench/youden/measurements/compare"
)

// csvTable prints the rows of all captures below one header.
func csvTable(captures []measurements.Summary, o Options) (string, error) {
	var g grid
	for i := range captures {
		s := &captures[i]
		var one grid
		switch o.By {
		case BySlice:
			one = written(sliceColumns(), sliceRows(s))
		case ByCase:
			one = written(caseColumns(), caseRows(s))
		case ByRun:
			one = written(runColumns(), runRows(s))
		default:
			one = written(familyColumns(), familyRows(s))
		}
		g.titles = one.titles
		g.rows = append(g.rows, one.rows...)
	}
	return csvGrid(g)
}

// severalSchema names the JSON of several captures.
const severalSchema = "youden.captures/1"

// caseJSON and runJSON are the rows that --by case and --by run add.
type caseJSON struct {
	Slice     string     `json:"slice"`
	Family    string     `json:"family"`
	ID        string     `json:"case_id"`
	Hash      string     `json:"case_hash"`
	Counts    bool       `json:"counts"`
	Reason    string     `json:"reason,omitempty"`
	HitRate   *float64   `json:"hit_rate"`
	LeakRate  *float64   `json:"leak_rate"`
	Y         *float64   `json:"y"`
	Pair      string     `json:"pair,omitempty"`
	Disagrees bool       `json:"disagrees"`
	Residual  bool       `json:"residual"`
	Hits      *tallyJSON `json:"vulnerable,omitempty"`
	Leaks     *tallyJSON `json:"fixed,omitempty"`

	Tokens        *int64 `json:"tokens"`
	TokensUnknown int64  `json:"tokens_unknown_runs"`
	Cached        *int64 `json:"cached_tokens"`
	CachedUnknown int64  `json:"cached_unknown_runs"`
	Cost          *int64 `json:"cost_usd_micros"`
	CostUnknown   int64  `json:"cost_unknown_runs"`
}

type tallyJSON struct {
	Positive int `json:"positive"` // detected, or not silent
	Counted  int `json:"counted"`
	OK       int `json:"ok"`
	Charged  int `json:"charged"`
	Excused  int `json:"excused"`
}

type runJSON struct {
	Slice     string  `json:"slice"`
	Family    string  `json:"family"`
	CaseID    string  `json:"case_id"`
	Side      string  `json:"side"`
	K         int64   `json:"k"`
	RunID     string  `json:"run_id"`
	Status    string  `json:"status"`
	Detail    *string `json:"detail"`
	Outcome   string  `json:"outcome"`
	Hit       *bool   `json:"hit"`
	Silent    *bool   `json:"silent"`
	Findings  *int64  `json:"findings"`
	Prompt    *int64  `json:"prompt_tokens"`
	Completed *int64  `json:"completion_tokens"`
	Cached    *int64  `json:"cached_tokens"`
	Reasoning *int64  `json:"reasoning_tokens"`
	Cost      *int64  `json:"cost_usd_micros"`
	Latency   *int64  `json:"latency_ms"`
}

// captureJSON is a summary and the rows that were asked for. A capture that was
// compared while it grew has the comparison as youden compare prints it.
type captureJSON struct {
	measurements.Summary
	Comparison *comparisonDocument `json:"comparison,omitempty"`
	Gates      compare.GateResults `json:"gates,omitempty"`
	Cases      []caseJSON          `json:"cases,omitempty"`
	Runs       []runJSON           `json:"runs,omitempty"`
}

func jsonText(captures []measurements.Summary, o Options) (string, error) {
	all := make([]captureJSON, len(captures))
	for i := range captures {
		all[i] = captureJSON{Summary: captures[i]}
		if o.By == ByCase {
			all[i].Cases = jsonCases(&captures[i])
		}
		if o.By == ByRun {
			all[i].Runs = jsonRuns(&captures[i])
		}
	}
	if c := o.Comparison; c != nil {
		d := documentOf(c)
		all[0].Comparison = &d
	}
	all[0].Gates = o.Gates
	var value any = all[0]
	if len(all) > 1 {
		value = struct {
			Schema   string        `json:"schema"`
			Captures []captureJSON `json:"captures"`
		}{severalSchema, all}
	}
	raw, err := Document(value)
	return string(raw), err
}

// Document is an indented JSON document that ends in a newline and that no terminal obeys.
func Document(value any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false) // it is read by people and by jq, and stands in no page
	enc.SetIndent("", "  ")
	if err := enc.Encode(value); err != nil {
		return nil, fmt.Errorf("printing as JSON: %w", err)
	}
	return []byte(jsonSafe(b.Bytes())), nil
}

func jsonCases(s *measurements.Summary) []caseJSON {
	var rows []caseJSON
	spend := measurements.SpendByCase(s.Runs)
	for _, c := range s.Cases {
		cost := spend[c.Key()]
		rows = append(rows, caseJSON{
			Slice: c.Slice, Family: c.Family, ID: c.ID, Hash: c.Hash, Counts: c.Counts(), Reason: c.Reason(),
			HitRate: c.Vulnerable.Rate(), LeakRate: c.Fixed.Rate(), Y: c.Y(), Pair: string(c.Pair()),
			Disagrees: c.Disagrees(), Residual: c.Residual, Hits: jsonTally(c.Vulnerable), Leaks: jsonTally(c.Fixed),
			Tokens: cost.Tokens, TokensUnknown: cost.TokensUnknown, Cached: cost.CachedTokens, CachedUnknown: cost.CachedUnknown,
			Cost: cost.CostUSDMicros, CostUnknown: cost.CostUnknown,
		})
	}
	return rows
}

func jsonTally(t *measurements.Tally) *tallyJSON {
	if t == nil {
		return nil
	}
	return &tallyJSON{Positive: t.Positive, Counted: t.Counted, OK: t.OK, Charged: t.Charged, Excused: t.Excused}
}

func jsonRuns(s *measurements.Summary) []runJSON {
	var rows []runJSON
	for _, r := range s.Runs {
		rows = append(rows, runJSON{
			Slice: r.Slice, Family: r.Family, CaseID: r.CaseID, Side: r.Side, K: r.K, RunID: r.RunID,
			Status: r.Status, Detail: r.Detail, Outcome: r.Outcome, Hit: r.Hit,
			Silent:   measurements.Silences{Strict: r.SilentStrict, Class: r.SilentClass, Region: r.SilentRegion}.Under(s.Policy),
			Findings: r.Findings, Prompt: r.PromptTokens, Completed: r.CompletionTokens, Cached: r.CachedTokens, Reasoning: r.ReasoningTokens,
			Cost: r.CostUSDMicros, Latency: r.LatencyMS,
		})
	}
	return rows
}
