package report

import (
	"fmt"
	"strings"
	"time"

	"github.com/youden-bench/youden/detector"
	"github.com/youden-bench/youden/measurements"
	"github.com/youden-bench/youden/measurements/compare"
)

// SimulatedLine stands above every simulated number.
const SimulatedLine = "SIMULATED: a simulated endpoint answered; these numbers say nothing about a model"

// banner says what a table is about.
func banner(s *measurements.Summary, esc func(string) string) []string {
	var lines []string
	if s.Simulated {
		lines = append(lines, SimulatedLine)
	}
	lines = append(lines, fmt.Sprintf("capture %s: %s%s, grade %s", esc(s.ID), progress(s), lossy(s), esc(s.Grade)))
	p := s.Plan
	lines = append(lines,
		fmt.Sprintf("detector %s, model %s at %s", named(esc, p.Detector.Name, p.Detector.Hash), orUnknown(esc(p.Endpoint.Model)), orUnknown(esc(p.Endpoint.Name))),
		fmt.Sprintf("corpus %s, split %s, K %d%s, seed %d, policy %s, view %s%s",
			named(esc, p.Corpus.Source, p.Corpus.Hash), orUnknown(esc(p.Split)), p.K, smoke(p.K), p.Seed, esc(string(s.Policy)), esc(string(s.View)), targeted(p.Targeted)))
	if looks := p.Sequential; looks != nil {
		lines = append(lines, fmt.Sprintf("compared with %s while it grew: %s", esc(looks.Against), orUnknown(esc(looks.Verdict))))
	}
	return lines
}

// smoke marks captures of too few runs to become a baseline.
func smoke(k int) string {
	if measurements.Smoke(k) {
		return " (smoke)"
	}
	return ""
}

func targeted(b bool) string {
	if b {
		return "; TARGETED at regions: comparable with targeted captures only"
	}
	return ""
}

// progress says how far a capture came.
func progress(s *measurements.Summary) string {
	switch {
	case s.Status == measurements.Unrun:
		return "unrun"
	case s.Totals.Runs < s.Totals.RunsPlanned || s.Status != measurements.Complete:
		return fmt.Sprintf("%s %d/%d", s.Status, answered(s), s.Totals.RunsPlanned)
	}
	return string(s.Status)
}

// lossy says of a capture that it lost so many runs that no gate would take it.
func lossy(s *measurements.Summary) string {
	if r := s.Totals.ErrorRate; s.Status == measurements.Unrun || r == nil || *r <= compare.DefaultMaxErrorRate {
		return ""
	}
	return fmt.Sprintf(" with %s of its runs lost to endpoint or network", outOf(s.Totals.Errors, s.Totals.Dispatched))
}

// answered counts the runs that came to an end; one that was cancelled did not.
func answered(s *measurements.Summary) int64 {
	return s.Totals.Runs - s.Totals.Statuses[string(detector.Cancelled)]
}

func named(esc func(string) string, name, hash string) string {
	if hash == "" {
		return orUnknown(esc(name))
	}
	return fmt.Sprintf("%s (%s)", orUnknown(esc(name)), esc(hash[:min(8, len(hash))]))
}

func orUnknown(s string) string {
	if s == "" {
		return unknown
	}
	return s
}

// notes say what the table could not.
func notes(s *measurements.Summary, by By, esc func(string) string) []string {
	var lines []string
	if s.Status == measurements.Unrun {
		lines = append(lines, "unrun: no run of this capture gave an answer, so there is no number to show")
		if s.Totals.Runs == 0 {
			lines = append(lines, "the capture has not ended: its ledger may hold answers, `youden resume` goes on with them")
		}
	} else {
		lines = append(lines, pooledLines(s, esc)...)
		if l := sampling(s); l != "" {
			lines = append(lines, l)
		}
	}
	lines = append(lines, spendLine(s))
	if s.Budget != nil {
		lines = append(lines, budgetLine(s.Budget, esc))
	}
	lines = append(lines, errorLine(s))
	if len(s.LeftOut) > 0 {
		var parts []string
		for _, l := range s.LeftOut {
			parts = append(parts, fmt.Sprintf("%d (%s)", l.Cases, esc(l.Reason)))
		}
		lines = append(lines, "cases left out: "+strings.Join(parts, ", "))
	}
	if s.Openings > 0 {
		lines = append(lines, fmt.Sprintf("openings of the holdout so far: %d", s.Openings))
	}
	if n := s.Totals.Residual; n > 0 {
		lines = append(lines, fmt.Sprintf("known residual: %s, scored under region on the fixed side", many(n, "case")))
	}
	for _, w := range s.Warnings {
		lines = append(lines, esc(w))
	}
	if s.Status != measurements.Unrun {
		lines = append(lines, legends[by]...)
	}
	return lines
}

// pooledLines print pooled and macro J, never one without the other, and the
// slices before any total over them.
func pooledLines(s *measurements.Summary, esc func(string) string) []string {
	var lines []string
	for _, a := range s.Slices {
		lines = append(lines, fmt.Sprintf("slice %s: %s", esc(a.Slice), bothJ(a)))
	}
	if len(s.Slices) != 1 {
		lines = append(lines, "all slices: "+bothJ(s.Totals.Aggregate))
	}
	return lines
}

func bothJ(a measurements.Aggregate) string {
	text := fmt.Sprintf("pooled J %s %s over %s, macro J %s over %s",
		signed(a.JPooled), signedRange(a.JPooledLo, a.JPooledHi), many(a.N, "case"), signed(a.JMacro), families(a.JMacroFamilies))
	if a.JMacroNull > 0 {
		text += fmt.Sprintf(" (%d without a J)", a.JMacroNull)
	}
	return text
}

func many(n int64, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

func families(n int) string {
	if n == 1 {
		return "1 family"
	}
	return fmt.Sprintf("%d families", n)
}

// sampling says what the K runs of a side are.
func sampling(s *measurements.Summary) string {
	t := s.Totals
	if t.RunsAre == nil || t.DistinctTrajectories == nil {
		return ""
	}
	if *t.RunsAre == measurements.Repeats {
		return fmt.Sprintf("the %d runs of a side took the same steps, and only their answers can differ: one investigation, asked %[1]d times", s.Plan.K)
	}
	return fmt.Sprintf("the %d runs of a side are an ensemble of investigations: %s distinct trajectories a side",
		s.Plan.K, perSide(t.DistinctTrajectories))
}

func spendLine(s *measurements.Summary) string {
	t := s.Totals
	line := fmt.Sprintf("%s, %s, %s tokens%s, USD %s", many(t.Runs, "run"), many(t.Calls, "call"),
		count(t.Tokens, t.TokensUnknown), cached(t.Spend), dollars(t.CostUSDMicros, t.CostUnknown))
	var missing []string
	if t.TokensUnknown > 0 {
		missing = append(missing, fmt.Sprintf("tokens of %s unknown", many(t.TokensUnknown, "run")))
	}
	if t.CostUnknown > 0 {
		missing = append(missing, fmt.Sprintf("cost of %s unknown", many(t.CostUnknown, "run")))
	}
	if len(missing) > 0 {
		line += " (" + strings.Join(missing, ", ") + ")"
	}
	return line
}

// cached tells apart the tokens of the prompts that the provider had cached, where
// there were any.
func cached(s measurements.Spend) string {
	if s.CachedTokens == nil || *s.CachedTokens == 0 {
		return ""
	}
	return fmt.Sprintf(" (%s of the prompts cached)", count(s.CachedTokens, s.CachedUnknown))
}

// budgetLine says what was allowed and what the capture came to. That is what its
// ledger says: attempts that brought no run an answer count too.
func budgetLine(b *measurements.BudgetRecord, esc func(string) string) string {
	var parts []string
	add := func(limit *int64, used int64, print func(int64) string) {
		if limit != nil {
			parts = append(parts, fmt.Sprintf("%s of %s", print(used), print(*limit)))
		}
	}
	money := func(v int64) string { return "USD " + dollars(&v, 0) }
	if b.CostUSDMicros != nil {
		add(b.MaxCostUSDMicros, *b.CostUSDMicros, money)
	}
	add(b.MaxCalls, b.Calls, func(n int64) string { return many(n, "call") })
	add(b.MaxTokens, b.Tokens, func(n int64) string { return many(n, "token") })
	add(b.MaxTimeMS, b.TimeMS, func(ms int64) string { return (time.Duration(ms) * time.Millisecond).String() })
	line := "budget: " + strings.Join(parts, ", ")
	if b.UnknownCalls > 0 {
		line += fmt.Sprintf("; of it %s whose usage nobody knows, counted at the worst", many(b.UnknownCalls, "call"))
		if b.UnknownCostUSDMicros != nil && b.MaxCostUSDMicros != nil {
			line += " (" + money(*b.UnknownCostUSDMicros) + ")"
		}
	}
	if b.Overruns > 0 {
		line += fmt.Sprintf("; %s came to more than was reserved", many(int64(b.Overruns), "call"))
	}
	if b.Stopped != "" {
		line += "; stopped: " + esc(b.Stopped)
	}
	return line
}

func errorLine(s *measurements.Summary) string {
	t := s.Totals
	if t.ErrorRate == nil {
		return "errors of endpoint or network: n/a, no run has ended"
	}
	return fmt.Sprintf("errors of endpoint or network: %s (error rate %s); charged to the detector: %d",
		outOf(t.Errors, t.Dispatched), rate(t.ErrorRate), t.RunsCharged)
}

// legends explain the columns of each view.
var legends = map[By][]string{
	ByFamily: {
		"n: cases that count of those planned. J = recall + silence - 1 over single runs, with its 95 % interval",
		"worst..best: J if every run that does not count were wrong, or right. bias: recall - silence, above 0 over-flags",
		"j_vote, pairs: the majority of K runs, an ensemble of K, not comparable with J. floor: cases whose runs disagree",
	},
	ByCase: {
		"hits, leaks: runs that found the bug, and that flagged the fix, of those that count. y: hit rate - leak rate, its mean is J",
		"vote: what the majority of K runs says, ties against the detector; unscorable: why a case does not count",
	},
	ByRun: {
		"outcome: by the rules, before a policy. right: found at a labelled place, or silent on the fix, under the policy and view above",
	},
}
