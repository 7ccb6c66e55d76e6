package report

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/youden-bench/youden/measurements/compare"
)

// Gates prints the gates of a capture that is compared with nothing, for people.
func Gates(gates compare.GateResults, f Format, width int) string {
	p := paper{text: Plain, table: func(g grid) string { return textTable(g, width) }, width: width}
	if f == Markdown {
		p = paper{text: markdownText, table: markdownTable, markdown: true}
	}
	page := p.heading(gatesTitle(gates)) + p.table(shown(gateColumns(), gates))
	if lines := slices.Concat(gates.Regressions(), gates.Doubts()); len(lines) > 0 {
		page += "\n" + p.lines(lines)
	}
	return page
}

// GateLines says of each gate in a line for a terminal what it came to.
func GateLines(gates compare.GateResults) (lines []string) {
	for _, g := range gates {
		lines = append(lines, Plain(fmt.Sprintf("gate %q (%s): %s: %s", gateName(g), g.Asked, gateVerdict(g), g.Reason)))
	}
	return lines
}

// gatesTitle heads the gates with their file and how many of them hold.
func gatesTitle(gates compare.GateResults) string {
	held := 0
	for _, g := range gates {
		if g.Outcome == compare.GatePass {
			held++
		}
	}
	return "Gates of " + gates[0].File + ": " + outOf(int64(held), int64(len(gates))) + " hold"
}

func gateColumns() []column[compare.GateResult] {
	return []column[compare.GateResult]{
		{title: "gate", key: true, show: func(g compare.GateResult) cell { return text(gateName(g)) }},
		visible("verdict", func(g compare.GateResult) cell { return text(gateVerdict(g)) }),
		visible("value", func(g compare.GateResult) cell { return number(orUnknown(g.Shown())) }),
		visible("asked", func(g compare.GateResult) cell { return text(g.Asked) }),
		visible("n", func(g compare.GateResult) cell { return number(strconv.Itoa(g.N)) }),
		visible("metric", func(g compare.GateResult) cell { return text(gateOf(g)) }),
	}
}

func gateName(g compare.GateResult) string {
	if g.Added {
		return g.Name + " (added)"
	}
	return g.Name
}

// gateVerdict is that of the gate, and whether it fails for want of data.
func gateVerdict(g compare.GateResult) string {
	if g.Outcome == compare.GateNoData {
		return string(g.Verdict()) + " (no data)"
	}
	return string(g.Verdict())
}

// gateOf says what the gate measures.
func gateOf(g compare.GateResult) string {
	if g.Metric == "" {
		return "runs of " + g.Scope
	}
	return g.Metric + " of " + g.Scope
}
