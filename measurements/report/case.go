package report

import (
	"github.com/youden-bench/youden/measurements"
)

// caseRow is a case of a capture.
type caseRow struct {
	measurements.CaseScore
	spend   measurements.Spend
	capture *measurements.Summary
}

func caseColumns() []column[caseRow] {
	columns := captureColumns(func(r caseRow) *measurements.Summary { return r.capture })
	return append(columns,
		word("slice", "slice", true, func(r caseRow) string { return r.Slice }),
		word("family", "family", true, func(r caseRow) string { return r.Family }),
		word("case", "case_id", true, func(r caseRow) string { return r.ID }),
		hidden("case_hash", func(r caseRow) cell { return text(r.Hash) }),
		visible("hits", func(r caseRow) cell { return number(tallied(r.Vulnerable)) }),
		visible("leaks", func(r caseRow) cell { return number(tallied(r.Fixed)) }),
		hidden("hit_rate", func(r caseRow) cell { return number(exact(r.Vulnerable.Rate())) }),
		hidden("leak_rate", func(r caseRow) cell { return number(exact(r.Fixed.Rate())) }),
		column[caseRow]{title: "y", name: "y",
			show: func(r caseRow) cell { return number(signed(r.Y())) },
			raw:  func(r caseRow) cell { return number(exact(r.Y())) }},
		column[caseRow]{title: "vote", name: "vote",
			show: func(r caseRow) cell { return text(orDash(string(r.Pair()))) },
			raw:  func(r caseRow) cell { return text(string(r.Pair())) }},
		word("unanimous", "unanimous", false, func(r caseRow) string { return yes(!r.Disagrees()) }),
		column[caseRow]{title: "unscorable", name: "unscorable",
			show: func(r caseRow) cell { return text(orDash(r.Reason())) },
			raw:  func(r caseRow) cell { return text(r.Reason()) }},
		word("residual", "residual", false, func(r caseRow) string { return yes(r.Residual) }),
		column[caseRow]{title: "tokens", name: "tokens",
			show: func(r caseRow) cell { return number(count(r.spend.Tokens, r.spend.TokensUnknown)) },
			raw:  func(r caseRow) cell { return number(exactInt(r.spend.Tokens)) }},
		hiddenCount("tokens_unknown_runs", func(r caseRow) int64 { return r.spend.TokensUnknown }),
		hidden("cached_tokens", func(r caseRow) cell { return number(exactInt(r.spend.CachedTokens)) }),
		hiddenCount("cached_unknown_runs", func(r caseRow) int64 { return r.spend.CachedUnknown }),
		column[caseRow]{title: "USD", name: "cost_usd_micros",
			show: func(r caseRow) cell { return number(dollars(r.spend.CostUSDMicros, r.spend.CostUnknown)) },
			raw:  func(r caseRow) cell { return number(exactInt(r.spend.CostUSDMicros)) }},
		hiddenCount("cost_unknown_runs", func(r caseRow) int64 { return r.spend.CostUnknown }),
	)
}

func tallied(t *measurements.Tally) string {
	if t == nil {
		return "-"
	}
	return outOf(int64(t.Positive), int64(t.Counted))
}
