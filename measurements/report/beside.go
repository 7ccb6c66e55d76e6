package report

import (
	"fmt"
	"strings"

	"github.com/youden-bench/youden/measurements"
)

// alike reports whether captures may stand side by side: a simulated capture
// beside a real one would invite a comparison, and so would numbers of two
// corpora.
func alike(captures []measurements.Summary) bool {
	for _, s := range captures[1:] {
		if s.Simulated != captures[0].Simulated || s.Plan.Corpus.Hash != captures[0].Plan.Corpus.Hash ||
			s.Plan.Targeted != captures[0].Plan.Targeted {
			return false
		}
	}
	return true
}

// besideRow is a family in several captures; a nil entry lacks it.
type besideRow struct {
	slice, family string
	of            []*familyRow
}

// sideBySide prints one table with a group of columns for each capture. It is
// no comparison: that needs the cases both scored, and `youden compare`.
func sideBySide(captures []measurements.Summary, p paper) string {
	var lines []string
	for i := range captures {
		b := banner(&captures[i], p.text)
		lines = append(lines, letter(i)+": "+strings.Join(b, "; "))
	}
	out := p.paragraph(lines) + "\n" + p.table(shown(besideColumns(len(captures)), besideRows(captures))) + "\n"
	lines = nil
	for i := range captures {
		if captures[i].Status == measurements.Unrun {
			lines = append(lines, letter(i)+": unrun")
			continue
		}
		for _, l := range pooledLines(&captures[i], p.text) {
			lines = append(lines, letter(i)+": "+l)
		}
	}
	lines = append(lines, differences(captures)...)
	lines = append(lines, "each capture is shown over its own cases; for a difference use `youden compare`")
	return out + p.paragraph(lines)
}

func letter(i int) string {
	if i < 26 {
		return string(rune('A' + i))
	}
	return fmt.Sprintf("#%d", i+1)
}

// differences name what else differs than the detector or the model.
func differences(captures []measurements.Summary) []string {
	var lines []string
	differ := func(what string, of func(measurements.Summary) string) {
		for _, s := range captures[1:] {
			if of(s) != of(captures[0]) {
				lines = append(lines, "the captures differ in their "+what)
				return
			}
		}
	}
	differ("K", func(s measurements.Summary) string { return fmt.Sprint(s.Plan.K) })
	differ("policy", func(s measurements.Summary) string { return string(s.Policy) })
	differ("view", func(s measurements.Summary) string { return string(s.View) })
	differ("scorer", func(s measurements.Summary) string { return s.Plan.Scorer.Hash })
	return lines
}

func besideColumns(captures int) []column[besideRow] {
	columns := []column[besideRow]{
		{title: "slice", key: true, show: func(r besideRow) cell { return text(r.slice) }},
		{title: "family", key: true, show: func(r besideRow) cell { return text(r.family) }},
	}
	for i := range captures {
		of := func(title string, f func(familyRow) cell) column[besideRow] {
			return column[besideRow]{title: letter(i) + " " + title, show: func(r besideRow) cell {
				if r.of[i] == nil {
					return text("-")
				}
				return f(*r.of[i])
			}}
		}
		columns = append(columns,
			of("n", func(r familyRow) cell { return number(outOf(r.N, r.Cases)) }),
			of("recall", func(r familyRow) cell { return r.or(rate(r.Recall)) }),
			of("silence", func(r familyRow) cell { return r.or(rate(r.Silence)) }),
			of("J", func(r familyRow) cell { return r.or(signed(r.J)) }),
			of("95 %", func(r familyRow) cell { return r.or(signedRange(r.JLo, r.JHi)) }),
		)
	}
	return columns
}

// besideRows lists the families of all captures, by slice and family.
func besideRows(captures []measurements.Summary) []besideRow {
	var rows []besideRow
	for i := range captures {
		for _, f := range familyRows(&captures[i]) {
			at := place(rows, f.Slice, f.Family)
			if at == len(rows) || rows[at].slice != f.Slice || rows[at].family != f.Family {
				rows = append(rows[:at:at], append([]besideRow{{f.Slice, f.Family, make([]*familyRow, len(captures))}}, rows[at:]...)...)
			}
			rows[at].of[i] = &f
		}
	}
	return rows
}

// place finds where a slice and family stands, or belongs, in sorted rows.
func place(rows []besideRow, slice, family string) int {
	for i, r := range rows {
		if r.slice > slice || (r.slice == slice && r.family >= family) {
			return i
		}
	}
	return len(rows)
}
