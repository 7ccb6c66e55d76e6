package report

import (
	"fmt"
	"strings"

	"github.com/youden-bench/youden/measurements/compare"
)

func changeColumns(c *compare.Comparison) []column[compare.CaseChange] {
	columns := []column[compare.CaseChange]{
		{title: "case", key: true, show: func(c compare.CaseChange) cell { return text(c.ID) }},
		visible("delta", func(c compare.CaseChange) cell { return number(signed(&c.D)) }),
		visible("hits", func(c compare.CaseChange) cell { return text(step(c.OldHits, c.NewHits)) }),
		visible("leaks", func(c compare.CaseChange) cell { return text(step(c.OldLeaks, c.NewLeaks)) }),
	}
	if voted(c) {
		columns = append(columns, visible("vote", func(c compare.CaseChange) cell { return text(flip(c)) }))
	}
	columns = append(columns, visible("family", func(c compare.CaseChange) cell { return text(c.Family) }))
	if len(c.Slices) > 1 {
		columns = append(columns, visible("slice", func(c compare.CaseChange) cell { return text(c.Slice) }))
	}
	return columns
}

// step prints a count before and after; a side that the case does not have is
// not a count of nothing.
func step(before, after compare.Count) string {
	if before.Counted == 0 && after.Counted == 0 {
		return "-"
	}
	return outOf(int64(before.Positive), int64(before.Counted)) + " to " + outOf(int64(after.Positive), int64(after.Counted))
}

// flip prints what the majority of the runs said, where it changed.
func flip(c compare.CaseChange) string {
	if c.OldVote == c.NewVote {
		return orDash(c.NewVote)
	}
	return orUnknown(c.OldVote) + " to " + orUnknown(c.NewVote)
}

// fewestVotes is how many runs a side a majority takes.
const fewestVotes = 3

// voted reports whether both have runs enough for votes to mean something.
func voted(c *compare.Comparison) bool {
	return (c.Old.K == nil || *c.Old.K >= fewestVotes) && (c.New.K == nil || *c.New.K >= fewestVotes)
}

// changedTitle counts the cases that changed, and those whose vote did.
func changedTitle(c *compare.Comparison) string {
	fell, rose, traded, flipped, tied := 0, 0, 0, 0, 0
	cases := c.Cases
	for _, c := range cases {
		switch {
		case c.D < 0:
			fell++
		case c.D > 0:
			rose++
		default:
			traded++
		}
		if c.OldVote != c.NewVote {
			flipped++
			if c.OldHits.Tied() || c.NewHits.Tied() || c.OldLeaks.Tied() || c.NewLeaks.Tied() {
				tied++
			}
		}
	}
	said := fmt.Sprintf("%d fell, %d rose", fell, rose)
	if traded > 0 {
		said += fmt.Sprintf(", %d traded hits for leaks", traded)
	}
	if voted(c) {
		said += fmt.Sprintf(", %s flipped", many(int64(flipped), "vote"))
	}
	if voted(c) && tied > 0 {
		said += fmt.Sprintf(", %d by a tie, which counts against the detector", tied)
	}
	title := fmt.Sprintf("Cases that changed: %d (%s)", len(cases), said)
	if len(cases) > sane {
		title += fmt.Sprintf("; %d shown, all in the JSON", sane)
	}
	return title
}

func firstChanges(cases []compare.CaseChange) []compare.CaseChange {
	return cases[:min(sane, len(cases))]
}

// unmatched lists the cases that are in no average.
func unmatched(c *compare.Comparison) []string {
	var lines, none []string
	for _, list := range []struct {
		name, what string
		ids        []string
	}{
		{"added", "in NEW alone", c.Added},
		{"removed", "in OLD alone", c.Removed},
		{"changed", "of the same name, with other content or labels", c.Changed},
		{"unscored", "in both, not scored by one", c.Unscored},
	} {
		if len(list.ids) == 0 {
			none = append(none, list.name)
			continue
		}
		lines = append(lines, fmt.Sprintf("%s (%s; in no average): %d: %s", list.name, list.what, len(list.ids), listed(list.ids, sane, ", ")))
	}
	if len(none) > 0 {
		lines = append(lines, "no case is "+either(none))
	}
	return lines
}

// either joins alternatives.
func either(words []string) string {
	last := len(words) - 1
	if last == 0 {
		return words[0]
	}
	return strings.Join(words[:last], ", ") + " or " + words[last]
}

// missesLine says whether the two miss the same bugs.
func missesLine(c *compare.Comparison) string {
	m := c.Misses
	votes := m.Votes()
	switch {
	case !voted(c):
		return fmt.Sprintf("correlated misses: %s, votes take %d runs a side", unknown, fewestVotes)
	case votes == 0:
		return "correlated misses: " + unknown + ", no vulnerable side has a vote in both"
	}
	line := fmt.Sprintf("correlated misses, by vote over %s: missed by both %d, by OLD alone %d, by NEW alone %d, by neither %d",
		many(int64(votes), "vulnerable side"), m.Both, m.OldOnly, m.NewOnly, m.Neither)
	if m.Ties > 0 {
		line += fmt.Sprintf("; %s counted as missed", many(int64(m.Ties), "tie"))
	}
	return line
}

// floorMoved reports whether a rate of the row changed.
func floorMoved(r compare.FloorRow) bool {
	return rate(r.OldRecall) != rate(r.NewRecall) || rate(r.OldSilence) != rate(r.NewSilence)
}

func floorColumns() []column[compare.FloorRow] {
	num := func(title string, of func(compare.FloorRow) string) column[compare.FloorRow] {
		return visible(title, func(r compare.FloorRow) cell { return number(of(r)) })
	}
	return []column[compare.FloorRow]{
		{title: "from", key: true, show: func(r compare.FloorRow) cell { return text(r.Floor) }},
		num("n", func(r compare.FloorRow) string { return fmt.Sprint(r.N) }),
		num("recall", func(r compare.FloorRow) string { return rate(r.OldRecall) + " to " + rate(r.NewRecall) }),
		num("silence", func(r compare.FloorRow) string { return rate(r.OldSilence) + " to " + rate(r.NewSilence) }),
		num("J", func(r compare.FloorRow) string { return signed(r.Old) + " to " + signed(r.New) }),
		num("delta J", func(r compare.FloorRow) string { return signed(r.Delta) }),
	}
}
