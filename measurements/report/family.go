package report

import (
	"github.com/youden-bench/youden/measurements"
	"slices"
	"strconv"
)

// familyRow is a family of a capture.
type familyRow struct {
	measurements.ScoreRow
	capture *measurements.Summary
}

// unrun reports whether nothing of the family was run: a word stands then where
// a number would.
func (r familyRow) unrun() bool { return r.RunsOK+r.RunsCharged == 0 }

func (r familyRow) or(s string) cell {
	if r.unrun() {
		return text(string(measurements.Unrun))
	}
	return number(s)
}

func measured(title, name string, show func(familyRow) string, raw func(familyRow) *float64) column[familyRow] {
	return column[familyRow]{title: title, name: name,
		show: func(r familyRow) cell { return r.or(show(r)) },
		raw:  func(r familyRow) cell { return number(exact(raw(r))) }}
}

func rateColumn(title, name string, of func(familyRow) *float64) column[familyRow] {
	return measured(title, name, func(r familyRow) string { return rate(of(r)) }, of)
}

func signedColumn(title, name string, of func(familyRow) *float64) column[familyRow] {
	return measured(title, name, func(r familyRow) string { return signed(of(r)) }, of)
}

func hiddenRate(name string, of func(familyRow) *float64) column[familyRow] {
	return hidden(name, func(r familyRow) cell { return number(exact(of(r))) })
}

func familyColumns() []column[familyRow] {
	return slices.Concat(
		captureColumns(func(r familyRow) *measurements.Summary { return r.capture }),
		measuredColumns(), ensembleColumns(), spentColumns())
}

// measuredColumns are those of single runs.
func measuredColumns() []column[familyRow] {
	return []column[familyRow]{
		word("slice", "slice", true, func(r familyRow) string { return r.Slice }),
		word("family", "family", true, func(r familyRow) string { return r.Family }),
		visible("n", func(r familyRow) cell { return number(outOf(r.N, r.Cases)) }),
		hiddenCount("cases", func(r familyRow) int64 { return r.Cases }),
		hiddenCount("n", func(r familyRow) int64 { return r.N }),
		hiddenCount("n_vulnerable", func(r familyRow) int64 { return r.NVulnerable }),
		hiddenCount("n_fixed", func(r familyRow) int64 { return r.NFixed }),
		rateColumn("recall", "recall", func(r familyRow) *float64 { return r.Recall }),
		hiddenRate("recall_lo", func(r familyRow) *float64 { return r.RecallLo }),
		hiddenRate("recall_hi", func(r familyRow) *float64 { return r.RecallHi }),
		rateColumn("silence", "silence", func(r familyRow) *float64 { return r.Silence }),
		hiddenRate("silence_lo", func(r familyRow) *float64 { return r.SilenceLo }),
		hiddenRate("silence_hi", func(r familyRow) *float64 { return r.SilenceHi }),
		signedColumn("J", "j", func(r familyRow) *float64 { return r.J }),
		visible("95 %", func(r familyRow) cell { return r.or(signedRange(r.JLo, r.JHi)) }),
		hiddenRate("j_lo", func(r familyRow) *float64 { return r.JLo }),
		hiddenRate("j_hi", func(r familyRow) *float64 { return r.JHi }),
		visible("worst..best", func(r familyRow) cell { return r.or(extremes(r.JWorst, r.JBest)) }),
		hiddenRate("j_worst", func(r familyRow) *float64 { return r.JWorst }),
		hiddenRate("j_best", func(r familyRow) *float64 { return r.JBest }),
	}
}

// ensembleColumns are those of K runs taken together.
func ensembleColumns() []column[familyRow] {
	return []column[familyRow]{
		signedColumn("j_vote", "j_vote", func(r familyRow) *float64 { return r.JVote }),
		hiddenRate("j_vote_lo", func(r familyRow) *float64 { return r.JVoteLo }),
		hiddenRate("j_vote_hi", func(r familyRow) *float64 { return r.JVoteHi }),
		rateColumn("pairs", "pair_accuracy", func(r familyRow) *float64 { return r.PairAccuracy }),
		hiddenCount("votes", func(r familyRow) int64 { return r.Votes }),
		hiddenCount("correct", func(r familyRow) int64 { return r.Correct }),
		hiddenCount("both_flagged", func(r familyRow) int64 { return r.BothFlagged }),
		hiddenCount("missed", func(r familyRow) int64 { return r.Missed }),
		hiddenCount("reversed", func(r familyRow) int64 { return r.Reversed }),
		signedColumn("bias", "bias", func(r familyRow) *float64 { return r.Bias }),
		visible("floor", func(r familyRow) cell { return r.or(outOf(r.Floor, r.FloorN)) }),
		hiddenCount("floor", func(r familyRow) int64 { return r.Floor }),
		hiddenCount("floor_n", func(r familyRow) int64 { return r.FloorN }),
		visible("distinct", func(r familyRow) cell { return r.or(perSide(r.DistinctTrajectories)) }),
		hiddenRate("distinct_trajectories", func(r familyRow) *float64 { return r.DistinctTrajectories }),
	}
}

// spentColumns are what did not count, and what it cost.
func spentColumns() []column[familyRow] {
	return []column[familyRow]{
		hiddenRate("coverage", func(r familyRow) *float64 { return r.Coverage }),
		hiddenCount("residual", func(r familyRow) int64 { return r.Residual }),
		{title: "unscorable", name: "unscorable",
			show: func(r familyRow) cell { return text(orDash(reasons(r.Unscorable, ", "))) },
			raw:  func(r familyRow) cell { return text(reasons(r.Unscorable, "; ")) }},
		hiddenCount("runs", func(r familyRow) int64 { return r.Runs }),
		hiddenCount("runs_ok", func(r familyRow) int64 { return r.RunsOK }),
		hiddenCount("runs_charged", func(r familyRow) int64 { return r.RunsCharged }),
		hiddenCount("runs_excused", func(r familyRow) int64 { return r.RunsExcused }),
		{title: "failed runs", name: "statuses",
			show: func(r familyRow) cell { return text(orDash(reasons(r.Statuses, ", "))) },
			raw:  func(r familyRow) cell { return text(reasons(r.Statuses, "; ")) }},
		hiddenCount("unmapped", func(r familyRow) int64 { return r.Unmapped }),
		{title: "tokens", name: "tokens",
			show: func(r familyRow) cell { return r.or(count(r.Tokens, r.TokensUnknown)) },
			raw:  func(r familyRow) cell { return number(exactInt(r.Tokens)) }},
		hiddenCount("tokens_unknown_runs", func(r familyRow) int64 { return r.TokensUnknown }),
		hidden("cached_tokens", func(r familyRow) cell { return number(exactInt(r.CachedTokens)) }),
		hiddenCount("cached_unknown_runs", func(r familyRow) int64 { return r.CachedUnknown }),
		hidden("reasoning_tokens", func(r familyRow) cell { return number(exactInt(r.ReasoningTokens)) }),
		hiddenCount("reasoning_unknown_runs", func(r familyRow) int64 { return r.ReasoningUnknown }),
		{title: "USD", name: "cost_usd_micros",
			show: func(r familyRow) cell { return r.or(dollars(r.CostUSDMicros, r.CostUnknown)) },
			raw:  func(r familyRow) cell { return number(exactInt(r.CostUSDMicros)) }},
		hiddenCount("cost_unknown_runs", func(r familyRow) int64 { return r.CostUnknown }),
	}
}

// extremes prints the bounds that the lost runs leave, where there are any.
func extremes(worst, best *float64) string {
	if worst == nil || best == nil {
		return unknown
	}
	if *worst == *best {
		return "-"
	}
	return signed(worst) + " .. " + signed(best)
}

func perSide(v *float64) string {
	if v == nil {
		return unknown
	}
	return strconv.FormatFloat(*v, 'f', 1, 64)
}
