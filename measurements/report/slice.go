package report

import (
	"fmt"
	"github.com/youden-bench/youden/measurements"
)

// sliceRow is a slice of a capture, or all of them.
type sliceRow struct {
	measurements.Aggregate
	name    string
	capture *measurements.Summary
}

func sliceColumns() []column[sliceRow] {
	columns := captureColumns(func(r sliceRow) *measurements.Summary { return r.capture })
	num := func(title, name string, of func(sliceRow) *float64, show func(*float64) string) column[sliceRow] {
		return column[sliceRow]{title: title, name: name,
			show: func(r sliceRow) cell { return r.or(show(of(r))) },
			raw:  func(r sliceRow) cell { return number(exact(of(r))) }}
	}
	return append(columns,
		word("slice", "slice", true, func(r sliceRow) string { return r.name }),
		visible("n", func(r sliceRow) cell { return number(outOf(r.N, r.Cases)) }),
		hiddenCount("cases", func(r sliceRow) int64 { return r.Cases }),
		hiddenCount("n", func(r sliceRow) int64 { return r.N }),
		num("recall", "recall", func(r sliceRow) *float64 { return r.Recall }, rate),
		num("silence", "silence", func(r sliceRow) *float64 { return r.Silence }, rate),
		num("pooled J", "j_pooled", func(r sliceRow) *float64 { return r.JPooled }, signed),
		visible("95 %", func(r sliceRow) cell { return r.or(signedRange(r.JPooledLo, r.JPooledHi)) }),
		num("", "j_pooled_lo", func(r sliceRow) *float64 { return r.JPooledLo }, signed),
		num("", "j_pooled_hi", func(r sliceRow) *float64 { return r.JPooledHi }, signed),
		num("macro J", "j_macro", func(r sliceRow) *float64 { return r.JMacro }, signed),
		visible("families", func(r sliceRow) cell { return number(macroFamilies(r.Aggregate)) }),
		hiddenCount("j_macro_families", func(r sliceRow) int64 { return int64(r.JMacroFamilies) }),
		num("j_vote", "j_vote", func(r sliceRow) *float64 { return r.JVote }, signed),
		num("pairs", "pair_accuracy", func(r sliceRow) *float64 { return r.PairAccuracy }, rate),
		num("bias", "bias", func(r sliceRow) *float64 { return r.Bias }, signed),
		visible("floor", func(r sliceRow) cell { return r.or(outOf(r.Floor, r.FloorN)) }),
		hiddenCount("floor", func(r sliceRow) int64 { return r.Floor }),
		hiddenCount("floor_n", func(r sliceRow) int64 { return r.FloorN }),
		column[sliceRow]{title: "unscorable", name: "unscorable",
			show: func(r sliceRow) cell { return text(orDash(reasons(r.Unscorable, ", "))) },
			raw:  func(r sliceRow) cell { return text(reasons(r.Unscorable, "; ")) }},
	)
}

func (r sliceRow) or(s string) cell {
	if r.capture.Status == measurements.Unrun {
		return text(string(measurements.Unrun))
	}
	return number(s)
}

func macroFamilies(a measurements.Aggregate) string {
	return fmt.Sprintf("%d of %d", a.JMacroFamilies, a.JMacroFamilies+a.JMacroNull)
}
