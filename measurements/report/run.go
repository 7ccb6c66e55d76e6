package report

import (
	"github.com/youden-bench/youden/corpus"
	"github.com/youden-bench/youden/measurements"
	"strconv"
)

// runRow is a run of a capture.
type runRow struct {
	measurements.RunRow
	capture *measurements.Summary
}

func runColumns() []column[runRow] {
	columns := captureColumns(func(r runRow) *measurements.Summary { return r.capture })
	return append(columns,
		word("slice", "slice", true, func(r runRow) string { return r.Slice }),
		word("case", "case_id", true, func(r runRow) string { return r.CaseID }),
		word("side", "side", true, func(r runRow) string { return r.Side }),
		column[runRow]{title: "k", name: "k", key: true, show: runIndex, raw: runIndex},
		word("family", "family", false, func(r runRow) string { return r.Family }),
		word("status", "run_status", false, func(r runRow) string { return r.Status }),
		word("outcome", "outcome", false, func(r runRow) string { return r.Outcome }),
		word("right", "right", false, func(r runRow) string { return r.right() }),
		column[runRow]{title: "findings", name: "findings",
			show: func(r runRow) cell { return number(count(r.Findings, 0)) },
			raw:  func(r runRow) cell { return number(exactInt(r.Findings)) }},
		hidden("prompt_tokens", func(r runRow) cell { return number(exactInt(r.PromptTokens)) }),
		hidden("completion_tokens", func(r runRow) cell { return number(exactInt(r.CompletionTokens)) }),
		hidden("cached_tokens", func(r runRow) cell { return number(exactInt(r.CachedTokens)) }),
		hidden("reasoning_tokens", func(r runRow) cell { return number(exactInt(r.ReasoningTokens)) }),
		visible("tokens", func(r runRow) cell { return number(r.tokens()) }),
		column[runRow]{title: "USD", name: "cost_usd_micros",
			show: func(r runRow) cell { return number(dollars(r.CostUSDMicros, 0)) },
			raw:  func(r runRow) cell { return number(exactInt(r.CostUSDMicros)) }},
		column[runRow]{title: "ms", name: "latency_ms",
			show: func(r runRow) cell { return number(count(r.LatencyMS, 0)) },
			raw:  func(r runRow) cell { return number(exactInt(r.LatencyMS)) }},
		word("detail", "detail", false, func(r runRow) string { return pointed(r.Detail) }),
		hidden("run_id", func(r runRow) cell { return text(r.RunID) }),
		hidden("trajectory_hash", func(r runRow) cell { return text(pointed(r.TrajectoryHash)) }),
	)
}

func runIndex(r runRow) cell { return number(strconv.FormatInt(r.K, 10)) }

// right says whether a run was right on its side under the summary's policy.
func (r runRow) right() string {
	v := measurements.Silences{Strict: r.SilentStrict, Class: r.SilentClass, Region: r.SilentRegion}.Under(r.capture.Policy)
	if r.Side == string(corpus.Vulnerable) {
		v = r.Hit
	}
	if v == nil && r.Counts == "charged" && r.capture.View == measurements.Charge {
		return yes(false) // as the score takes it: not detected, not silent
	}
	if v == nil {
		return unknown
	}
	return yes(*v)
}

func (r runRow) tokens() string {
	if r.PromptTokens == nil || r.CompletionTokens == nil {
		return unknown
	}
	return strconv.FormatInt(*r.PromptTokens+*r.CompletionTokens, 10)
}
