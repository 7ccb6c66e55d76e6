package report

import (
	"fmt"
	"strconv"

	"github.com/youden-bench/youden/measurements/compare"
)

// Noise prints how much the runs of a capture disagree, as a table or as Markdown.
// Width is that of the terminal, 0 = as wide as it gets.
func Noise(n *compare.Noise, f Format, width int) (string, error) {
	return pageOf(f, width, func(on paper) []string { return noiseParts(n, on) })
}

func noiseParts(n *compare.Noise, on paper) []string {
	var parts []string
	if n.Simulated {
		parts = append(parts, on.lines([]string{SimulatedLine}))
	}
	parts = append(parts, on.table(shown(noiseColumns(), n.Families))+on.between()+on.lines([]string{
		"floor: cases whose runs disagree, of those with two runs or more; disagreement: the share of the run pairs of a side that do",
	}))
	if n.Splits > 0 {
		v := n.Verdicts
		parts = append(parts, on.lines([]string{
			fmt.Sprintf("A/A over %s into halves of %d runs: FAIL %d, WARN %d, INCONCLUSIVE %d, PASS %d",
				many(int64(n.Splits), "split"), n.Half, v[compare.Fail], v[compare.Warn], v[compare.Inconclusive], v[compare.Pass]),
			fmt.Sprintf("false FAILs: %d of %d, a share of %s, 95 %% interval at best [%s, %s]: splits share runs, and say less than as many captures would",
				v[compare.Fail], n.Splits, rate(n.FalseFail), rate(n.FalseLo), rate(n.FalseHi)),
		}))
	}
	if n.Gates != nil {
		parts = append(parts, on.heading("Gates between the halves")+on.table(shown(gateNoiseColumns(n.Splits), n.Gates.Gates))+on.between()+on.lines(gateNoiseNotes(n.Gates)))
	}
	if len(n.Warnings) > 0 {
		parts = append(parts, on.lines(n.Warnings))
	}
	return parts
}

func noiseColumns() []column[compare.NoiseRow] {
	return []column[compare.NoiseRow]{
		{title: "slice", key: true, show: func(r compare.NoiseRow) cell { return text(r.Slice) }},
		{title: "family", key: true, show: func(r compare.NoiseRow) cell { return text(r.Family) }},
		visible("cases", func(r compare.NoiseRow) cell { return number(strconv.Itoa(r.Cases)) }),
		visible("floor", func(r compare.NoiseRow) cell { return number(outOf(int64(r.Floor), int64(r.FloorN))) }),
		visible("disagreement", func(r compare.NoiseRow) cell { return number(rate(r.Disagreement)) }),
	}
}

func gateNoiseColumns(splits int) []column[compare.GateNoiseRow] {
	of := func(n int) cell { return number(outOf(int64(n), int64(splits))) }
	return []column[compare.GateNoiseRow]{
		{title: "gate", key: true, show: func(r compare.GateNoiseRow) cell { return text(r.Name) }},
		visible("asked", func(r compare.GateNoiseRow) cell { return text(r.Asked) }),
		visible("all runs", func(r compare.GateNoiseRow) cell { return text(string(r.Whole)) }),
		visible("failed", func(r compare.GateNoiseRow) cell {
			return of(r.Outcomes[compare.GateFail] + r.Outcomes[compare.GateNoData])
		}),
		visible("unsure", func(r compare.GateNoiseRow) cell { return of(r.Outcomes[compare.GateUnsure]) }),
		visible("false FAILs", func(r compare.GateNoiseRow) cell { return number(rate(r.FalseFail)) }),
	}
}

func gateNoiseNotes(g *compare.GateNoise) []string {
	var lines []string
	for _, r := range g.Gates {
		if r.Why != "" {
			lines = append(lines, fmt.Sprintf("gate %q raises no false alarm: %s", r.Name, r.Why))
		}
	}
	return append(lines, fmt.Sprintf("A/A of the gates: false FAILs of any gate %s; of gates or verdict, which is what CI would see, %s", rate(g.FalseFail), rate(g.Together)))
}
