package report

import (
	"fmt"
	"html"
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
		return comparisonPage(c, paper{text: Plain, table: func(g grid) string { return textTable(g, width) }}), nil
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
	if len(c.Slices)+len(c.Families) > 0 {
		parts = append(parts, p.table(shown(comparedColumns(), comparedRows(c))), p.lines(footnotes(c)))
	}
	for _, list := range []struct {
		title string
		lines []string
	}{{"Regressions", c.Regressions}, {"Unable to say", c.Reasons}, {"Warnings", c.Warnings}} {
		if len(list.lines) > 0 {
			parts = append(parts, p.heading(list.title)+p.lines(cut(list.lines)))
		}
	}
	if len(c.Cases) > 0 {
		parts = append(parts, p.folded(changedTitle(c.Cases), p.table(shown(changeColumns(), firstChanges(c.Cases)))))
	}
	if c.Verdict != compare.Incomparable {
		parts = append(parts, p.lines(append(unmatched(c), missesLine(c.Misses))))
	}
	if len(c.Floors) > 0 {
		parts = append(parts, p.heading("By severity floor: only findings from it on count")+p.table(shown(floorColumns(), c.Floors)))
	}
	parts = append(parts, p.heading("What was compared")+p.table(shown(factColumns(), facts(c))))
	last := drift(c)
	if len(c.Slices)+len(c.Families) > 0 {
		last = append(last, comparedLegend...)
	}
	if len(last) > 0 {
		parts = append(parts, p.lines(last))
	}
	return strings.Join(parts, "\n")
}

// comparedLegend explains the columns of the rows.
var comparedLegend = []string{
	"J = recall + silence - 1 over single runs, with 95 % intervals, on the cases that both scored; delta, recall and silence are NEW - OLD",
	"p general: did the detector change in general? Overall sign-flip, two-sided; of a family max-T over all families, for a drop",
	"p these cases: did it get worse on these cases and runs? Exact over runs, families by Holm; it may warn and never fails alone",
	"found from: the smallest drop that would have been found, which is what an unchanged row is worth; none: no drop at all",
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
		safe[i] = p.text(l)
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
