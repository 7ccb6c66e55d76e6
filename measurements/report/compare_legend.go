package report

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/youden-bench/youden/measurements/compare"
)

// rowLegend explains the columns of the rows: tests and their limits only where
// there was something to test.
func rowLegend(c *compare.Comparison) []string {
	lines := []string{"J = recall + silence - 1 over single runs, on the n cases that both scored; 95 % intervals, not adjusted for the number of families"}
	if changed(c) {
		lines[0] += "; moved: cases whose J changed; deltas are NEW - OLD"
		lines = append(lines,
			"p general: did the detector change in general? Overall sign-flip, two-sided. Of a family max-T: does its drop stand out from the other families? A drop that all share is the overall row's, and a lone family has nothing to stand out from (n/a)",
			"p here: did it get worse on these cases and runs? Exact over runs, of families by Holm; it may warn and never fails alone",
			limitsLine(compare.LimitsOf(c)))
	}
	return append(lines, "detectable: the smallest drop of J that is found with 80 % power, which is what an unchanged row is worth; none: no drop at all")
}

// limitsLine says what the p-values and the drops were held against.
func limitsLine(l compare.Limits) string {
	line := fmt.Sprintf("limits: overall FAIL p general < %s with a drop of J of %s, or p < %s with one of recall or silence of %s; family FAIL p general <= %s and p here < %s with a drop of %[7]s; WARN p here < %[8]s, of a family with a drop of %[7]s",
		limit(l.Overall), limit(l.Margin), limit(l.Side), limit(l.SideDrop), limit(l.Family), limit(l.FamilyExact), limit(l.FamilyDrop), limit(l.Exact))
	if l.Slices > 1 {
		line += fmt.Sprintf("; the p are divided among %d slices", l.Slices)
	}
	return line
}

// limit prints a limit as it is, or to three digits.
func limit(v float64) string {
	text := strings.TrimPrefix(strconv.FormatFloat(v, 'g', 3, 64), "0")
	if strings.Contains(text, ".") && len(text) < len(".00") {
		text += "0" // .2 is .20, as in the tables
	}
	return text
}
