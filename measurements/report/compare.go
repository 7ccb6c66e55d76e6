package report

import (
	"fmt"
	"html"
	"slices"
	"strings"

	"github.com/youden-bench/youden/measurements/compare"
)

// Comparison prints a comparison, its verdict first. Width is that of the
// terminal for tables, 0 = as wide as it gets. Markdown is fit for a comment on
// a pull request and for the step summary of a CI job. Every format prints the
// verdicts that the comparison holds and judges nothing itself.
func Comparison(c *compare.Comparison, f Format, width int) (string, error) {
	switch f {
	case Table:
		return comparisonPage(c, paper{text: Plain, table: func(g grid) string { return textTable(g, width) }, width: width}), nil
	case Markdown:
		return comparisonPage(c, paper{text: markdownText, table: markdownTable, markdown: true}), nil
	case JSON:
		return comparisonJSON(c)
	case CSV:
		return comparisonCSV(c)
	}
	_, err := ParseFormat(string(f))
	return "", err
}

// comparisonPage prints a comparison for people.
func comparisonPage(c *compare.Comparison, p paper) string {
	parts := []string{p.alert(headline(c)) + p.between() + p.lines(comparisonBanner(c))}
	for _, s := range comparedSlices(c) {
		parts = append(parts, p.heading(s.title())+p.table(shown(comparedColumns(changed(c)), s.rows)))
	}
	if hasRows(c) {
		parts = append(parts, p.lines(footnotes(c)))
	}
	if len(c.Gates) > 0 {
		parts = append(parts, p.heading(gatesTitle(c.Gates))+p.table(shown(gateColumns(), c.Gates)))
	}
	for _, list := range []struct {
		title string
		lines []string
	}{{"Regressions", failures(c)}, {"Worse, and not enough to fail", c.Warned}, {doubtTitle(c.Verdict), c.Reasons}, {"Warnings", c.Warnings}} {
		if len(list.lines) > 0 {
			parts = append(parts, p.heading(list.title)+p.lines(cut(list.lines)))
		}
	}
	if len(c.Cases) > 0 {
		parts = append(parts, p.folded(changedTitle(c), p.table(shown(changeColumns(c), firstChanges(c.Cases)))))
	}
	if c.Verdict != compare.Incomparable {
		parts = append(parts, p.lines(append(unmatched(c), missesLine(c))))
	}
	if slices.ContainsFunc(c.Floors, floorMoved) {
		parts = append(parts, p.heading("By severity floor: only findings from it on count")+p.table(shown(floorColumns(), c.Floors)))
	}
	parts = append(parts, p.heading("What was compared")+p.table(stacked(shown(factColumns(), facts(c)), p.width)))
	for _, last := range [][]string{differ(c), legend(c)} {
		if len(last) > 0 {
			parts = append(parts, p.lines(last))
		}
	}
	return strings.Join(parts, "\n")
}

// hasRows reports whether there is any row.
func hasRows(c *compare.Comparison) bool { return len(c.Slices)+len(c.Families) > 0 }

// doubtTitle heads the reasons: against comparing at all, or for not being able to
// say.
func doubtTitle(v compare.Verdict) string {
	if v == compare.Incomparable {
		return "Not comparable"
	}
	return "Unable to say"
}

// changed reports whether any case changed. Where none did, there is no column of
// changes to show, and no test to explain.
func changed(c *compare.Comparison) bool {
	return len(c.Cases) > 0 || slices.ContainsFunc(comparedRows(c), func(r comparedRow) bool { return r.Moved > 0 })
}

// legend explains the columns that were printed.
func legend(c *compare.Comparison) []string {
	var lines []string
	if hasRows(c) {
		lines = append(lines, rowLegend(c)...)
	}
	if len(c.Cases) > 0 {
		line := "hits, leaks: runs that found the bug, and that flagged the fix, of those that count"
		if voted(c) {
			line += "; vote: what their majority says of the pair"
		}
		lines = append(lines, line)
	}
	if slices.ContainsFunc(c.Gates, func(g compare.GateResult) bool { return g.Added }) {
		lines = append(lines, "(added): recall and silence are gated together, since one of them alone is won by a detector that flags everything, or nothing; alone = true in the file leaves the other out")
	}
	return lines
}

// alert is the one line that is read when nothing else is.
func (p paper) alert(line string) string {
	if p.markdown {
		verdict, rest, _ := strings.Cut(line, ":")
		return "> **" + p.text(verdict) + "**:" + p.text(rest) + "\n"
	}
	return p.text(line) + "\n"
}

// between parts two blocks that Markdown would run together.
func (p paper) between() string {
	if p.markdown {
		return "\n"
	}
	return ""
}

// lines prints lines of text from anywhere.
func (p paper) lines(list []string) string {
	safe := make([]string, len(list))
	for i, l := range list {
		safe[i] = wrap(p.text(l), p.width)
	}
	return p.paragraph(safe)
}

func (p paper) heading(title string) string {
	if p.markdown {
		return "### " + p.text(title) + "\n\n"
	}
	return p.text(title) + "\n"
}

// folded prints what only some want to read.
func (p paper) folded(title, body string) string {
	if p.markdown {
		return "<details>\n<summary>" + html.EscapeString(Plain(title)) + "</summary>\n\n" + body + "\n</details>\n"
	}
	return p.heading(title) + body
}

// sane is how many entries of a list a person is shown.
const sane = 20

// cut shortens a list, and says by how much.
func cut(list []string) []string {
	if len(list) <= sane {
		return list
	}
	short := append([]string(nil), list[:sane]...)
	return append(short, fmt.Sprintf("and %d more, all of them in the JSON", len(list)-sane))
}

// listed prints a list on one line, cut to a number of entries.
func listed(list []string, entries int, between string) string {
	if len(list) <= entries {
		return strings.Join(list, between)
	}
	return strings.Join(list[:entries], between) + fmt.Sprintf("%sand %d more", between, len(list)-entries)
}
