package report

import (
	"strconv"

	"github.com/youden-bench/youden/measurements/compare"
)

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
