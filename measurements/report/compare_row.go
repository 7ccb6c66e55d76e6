package report

import (
	"math"
	"strconv"
	"strings"

	"github.com/youden-bench/youden/measurements/compare"
)

// comparedRow is a slice of a comparison, or one of its families.
type comparedRow struct {
	compare.Row
}

// comparedRows lists each slice with its families below it.
func comparedRows(c *compare.Comparison) []comparedRow {
	var rows []comparedRow
	known := map[string]bool{}
	for _, s := range c.Slices {
		known[s.Slice] = true
		rows = append(rows, comparedRow{s})
		for _, f := range c.Families {
			if f.Slice == s.Slice {
				rows = append(rows, comparedRow{f})
			}
		}
	}
	for _, f := range c.Families {
		if !known[f.Slice] {
			rows = append(rows, comparedRow{f})
		}
	}
	return rows
}

// overall is the name of the row of a whole slice.
const overall = "(overall)"

func (r comparedRow) name() string {
	if r.Family == "" {
		return overall
	}
	return r.Family
}

// unchanged reports whether the row found no difference, which is worth as much
// as the smallest difference that it could have found.
func (r comparedRow) unchanged() bool {
	return r.Verdict == compare.Pass || r.Verdict == compare.Inconclusive
}

// comparedSlice is a slice with the rows that belong to it.
type comparedSlice struct {
	name    string
	decides bool
	rows    []comparedRow
}

func (s comparedSlice) title() string {
	if s.decides {
		return "Slice " + s.name
	}
	return "Slice " + s.name + ": shown, and deciding nothing"
}

// comparedSlices groups the rows, which are judged slice by slice.
func comparedSlices(c *compare.Comparison) []comparedSlice {
	var list []comparedSlice
	for _, r := range comparedRows(c) {
		if len(list) == 0 || list[len(list)-1].name != r.Slice {
			list = append(list, comparedSlice{name: r.Slice, decides: r.Decides})
		}
		s := &list[len(list)-1]
		s.rows = append(s.rows, r)
	}
	return list
}

// comparedColumns are in the order in which they are needed: a narrow terminal
// breaks the table, and its first block says what happened.
func comparedColumns(changed bool) []column[comparedRow] {
	columns := []column[comparedRow]{
		{title: "family", key: true, show: func(r comparedRow) cell { return text(r.name()) }},
		{title: "verdict", key: true, show: func(r comparedRow) cell { return text(string(r.Verdict)) }},
		visible("n", func(r comparedRow) cell { return number(strconv.Itoa(r.N)) }),
	}
	if changed {
		columns = append(columns, changeOfRow()...)
	}
	return append(columns,
		visible("detectable", func(r comparedRow) cell { return r.foundFrom() }),
		visible("old J", func(r comparedRow) cell { return number(estimate(r.Old, r.OldLo, r.OldHi)) }),
		visible("new J", func(r comparedRow) cell { return number(estimate(r.New, r.NewLo, r.NewHi)) }),
	)
}

// changeOfRow are the columns of what changed, and of its tests.
func changeOfRow() []column[comparedRow] {
	return []column[comparedRow]{
		visible("moved", func(r comparedRow) cell { return number(strconv.Itoa(r.Moved)) }),
		visible("delta J", func(r comparedRow) cell { return number(estimate(r.Delta, r.Lo, r.Hi)) }),
		visible("p general", func(r comparedRow) cell { return pValue(r.P) }),
		visible("p here", func(r comparedRow) cell { return pValue(r.PCases) }),
		visible("d recall", func(r comparedRow) cell { return number(signed(r.DeltaRecall)) }),
		visible("d silence", func(r comparedRow) cell { return number(signed(r.DeltaSilence)) }),
	}
}

func (r comparedRow) foundFrom() cell {
	switch {
	case !r.unchanged():
		return text("-")
	case r.Detectable == nil:
		return text("none")
	}
	return number(dropOf(r.Detectable))
}

// estimate prints a number with its interval.
func estimate(v, lo, hi *float64) string {
	if v == nil {
		return unknown
	}
	if lo == nil || hi == nil {
		return signed(v) + " [" + unknown + "]"
	}
	return signed(v) + " " + signedRange(lo, hi)
}

// smallestP is the least p-value that is printed: a test has no more to say.
const smallestP = .001

// pValue prints a p-value to three digits, and one that is small as what it is
// below: .000 would be a claim that no test makes.
func pValue(p *float64) cell {
	switch {
	case p == nil:
		return text(unknown)
	case *p < smallestP:
		return text("<.001")
	}
	thousandths := math.Round(*p * 1000)
	if *p < 1 {
		thousandths = min(thousandths, 999)
	}
	return number(strings.TrimPrefix(strconv.FormatFloat(thousandths/1000, 'f', 3, 64), "0"))
}

// dropOf prints a drop that can be found, rounded up: no smaller one can.
func dropOf(v *float64) string {
	hundredths := math.Ceil(*v*100 - 1e-9)
	return strings.TrimPrefix(strconv.FormatFloat(hundredths/100, 'f', 2, 64), "0")
}
