package report

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/youden-bench/youden/measurements/compare"
	"github.com/youden-bench/youden/measurements/stats"
)

// Power prints what a comparison could find, as a table or as Markdown. Width is
// that of the terminal, 0 = as wide as it gets.
func Power(p *compare.Power, f Format, width int) (string, error) {
	return pageOf(f, width, func(on paper) []string { return powerParts(p, on) })
}

// pageOf prints parts in a format that people read.
func pageOf(f Format, width int, parts func(paper) []string) (string, error) {
	switch f {
	case Table:
		return strings.Join(parts(paper{text: Plain, table: func(g grid) string { return textTable(g, width) }, width: width}), "\n"), nil
	case Markdown:
		return strings.Join(parts(paper{text: markdownText, table: markdownTable, markdown: true}), "\n"), nil
	}
	return "", fmt.Errorf("format %q is for tables of captures; use table, markdown or json", f)
}

func powerParts(p *compare.Power, on paper) []string {
	head := []string{fmt.Sprintf("%s, OLD at K %d against a NEW at K %d: %s", many(int64(p.Cases), "pair"), p.OldK, p.NewK, overallPower(p))}
	if p.Simulated {
		head = append([]string{SimulatedLine}, head...)
	}
	parts := []string{on.lines(head)}
	if anyKnown(p) {
		parts = append(parts, on.table(shown(churnColumns(), p.Churns))+on.between()+on.lines(churnNotes))
	}
	if sure(p) {
		parts = append(parts, on.heading(fmt.Sprintf("What a drop of J takes, at churn %s", asked(p.Churn)))+
			on.table(shown(dropColumns(), p.Drops))+on.between()+on.lines(dropNotes(p)))
	}
	if tested := slices.DeleteFunc(slices.Clone(p.Families), untestable); len(tested) > 0 && anyKnown(p) {
		parts = append(parts, on.heading("The smallest drop of one family alone that is found")+on.table(shown(powerFamilyColumns(), tested)))
	}
	return append(parts, on.lines(powerNotes(p)))
}

// anyKnown reports whether the variance is known under any assumption, and sure
// whether it is under the one asked for.
func anyKnown(p *compare.Power) bool {
	return slices.ContainsFunc(p.Churns, func(c compare.PowerChurn) bool { return c.RuledOut != nil })
}

func sure(p *compare.Power) bool {
	return slices.ContainsFunc(p.Drops, func(d compare.PowerDrop) bool { return d.Found != nil })
}

func untestable(f compare.PowerFamily) bool { return f.Cases < stats.MinFamily }

func overallPower(p *compare.Power) string {
	switch {
	case p.Detectable != nil:
		return fmt.Sprintf("an overall drop of %s or more is found with 80 %% power", dropOf(p.Detectable))
	case sure(p):
		return "no overall drop could be found"
	}
	return "what could be found is not known"
}

func powerNotes(p *compare.Power) []string {
	lines := slices.Clone(p.Warnings)
	small := 0
	for _, f := range p.Families {
		if untestable(f) {
			small++
		}
	}
	if small > 0 {
		lines = append(lines, fmt.Sprintf("with fewer than %d cases, and so not tested: %s; cases of your own would help, and so would --split all, which opens the sealed holdout", stats.MinFamily, families(small)))
	}
	return append(lines, "what cases change by is assumed; compare takes it from both captures, so its \"detectable\" may differ a little")
}

// churnNotes explain the columns of an assumption.
var churnNotes = []string{
	"churn: the variance of the cases' true changes, which is an assumption: 0 for the same detector, .05 for an edit that moves cases up and down",
	"ruled out: the drop that --mode noninferior rules out where J does not change: that mode passes once it is below .05",
	"removable: the share of the variance that more runs in both could remove; at churn 0 only runs differ, so it is 1.00; below .10 buy cases and not runs",
}

func churnColumns() []column[compare.PowerChurn] {
	return []column[compare.PowerChurn]{
		visible("churn", func(c compare.PowerChurn) cell { return number(asked(c.Churn)) }),
		visible("detectable", func(c compare.PowerChurn) cell { return dropOr(c.Detectable, "none") }),
		visible("ruled out", func(c compare.PowerChurn) cell { return dropOr(c.RuledOut, unknown) }),
		visible("removable", func(c compare.PowerChurn) cell { return number(rate(c.Removable)) }),
	}
}

func dropColumns() []column[compare.PowerDrop] {
	return []column[compare.PowerDrop]{
		visible("drop", func(d compare.PowerDrop) cell { return number(asked(d.Drop)) }),
		visible("chance", func(d compare.PowerDrop) cell { return number(rate(d.Found)) }),
		visible("cases needed", func(d compare.PowerDrop) cell { return enough(d.Cases, d.Found) }),
		visible("or runs of NEW", func(d compare.PowerDrop) cell { return enough(d.Runs, d.Found) }),
		visible("or runs of both", func(d compare.PowerDrop) cell { return enough(d.Both, d.Found) }),
	}
}

// enough prints a number that is needed for 80 % power. Where the chance is not
// known, neither is that.
func enough(n *int, found *float64) cell {
	switch {
	case n != nil:
		return number(strconv.Itoa(*n))
	case found == nil:
		return text(unknown)
	}
	return text("none will do")
}

func dropNotes(p *compare.Power) []string {
	lines := []string{fmt.Sprintf("chance: that it is found as planned; the rest: what a chance of .80 takes, in cases, or in runs a side of NEW (OLD stays at %d), or in runs a side of both", p.OldK)}
	for _, d := range p.Drops {
		if d.Why != "" {
			lines = append(lines, fmt.Sprintf("a drop of %s: %s", asked(d.Drop), d.Why))
		}
	}
	return lines
}

func powerFamilyColumns() []column[compare.PowerFamily] {
	return []column[compare.PowerFamily]{
		{title: "slice", key: true, show: func(f compare.PowerFamily) cell { return text(f.Slice) }},
		{title: "family", key: true, show: func(f compare.PowerFamily) cell { return text(f.Family) }},
		visible("cases", func(f compare.PowerFamily) cell { return number(strconv.Itoa(f.Cases)) }),
		visible("detectable", func(f compare.PowerFamily) cell { return dropOr(f.Detectable, "none") }),
	}
}

func dropOr(v *float64, otherwise string) cell {
	if v == nil {
		return text(otherwise)
	}
	return number(dropOf(v))
}

// asked prints a number as it was asked for: to hundredths, or as fine as it is.
func asked(v float64) string {
	exactly := strconv.FormatFloat(v, 'f', -1, 64)
	if _, decimals, _ := strings.Cut(exactly, "."); len(decimals) <= 2 {
		return hundredth(v)
	}
	return strings.TrimPrefix(exactly, "0")
}
