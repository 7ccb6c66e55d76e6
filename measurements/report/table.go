package report

import (
	"strings"
	"unicode/utf8"
)

// gap stands between columns.
const gap = "  "

// textTable aligns a grid. When it is wider than width, it is broken into
// blocks that repeat the key columns: nothing is cut off.
func textTable(g grid, width int) string {
	if len(g.rows) == 0 {
		return "(no rows)\n"
	}
	lines := make([][]cell, 0, len(g.rows)+1)
	head := make([]cell, len(g.titles))
	for i, t := range g.titles {
		head[i] = text(t)
	}
	lines = append(lines, head)
	for _, r := range g.rows {
		line := make([]cell, len(r))
		for i, c := range r {
			line[i] = cell{Plain(c.text), c.number}
		}
		lines = append(lines, line)
	}
	widths := make([]int, len(g.titles))
	for _, l := range lines {
		for i, c := range l {
			widths[i] = max(widths[i], utf8.RuneCountInString(c.text))
		}
	}
	var blocks []string
	for _, b := range split(widths, g.keys, width) {
		blocks = append(blocks, block(lines, widths, b))
	}
	return strings.Join(blocks, "\n")
}

// split chooses the columns of each block.
func split(widths []int, keys, width int) [][]int {
	var lead []int
	used := 0
	for i := range keys {
		lead = append(lead, i)
		used += widths[i] + len(gap)
	}
	current, size := append([]int(nil), lead...), used
	var blocks [][]int
	for i := keys; i < len(widths); i++ {
		if width > 0 && size+widths[i] > width && len(current) > keys {
			blocks = append(blocks, current)
			current, size = append([]int(nil), lead...), used
		}
		current = append(current, i)
		size += widths[i] + len(gap)
	}
	return append(blocks, current)
}

func block(lines [][]cell, widths []int, columns []int) string {
	var b strings.Builder
	for _, l := range lines {
		var row strings.Builder
		for at, i := range columns {
			if at > 0 {
				row.WriteString(gap)
			}
			pad := strings.Repeat(" ", widths[i]-utf8.RuneCountInString(l[i].text))
			if rightAligned(lines, i) {
				row.WriteString(pad + l[i].text)
			} else {
				row.WriteString(l[i].text + pad)
			}
		}
		b.WriteString(strings.TrimRight(row.String(), " "))
		b.WriteByte('\n')
	}
	return b.String()
}

// rightAligned reports whether a column holds numbers, in any of its rows.
func rightAligned(lines [][]cell, column int) bool {
	for _, l := range lines[1:] {
		if l[column].number {
			return true
		}
	}
	return false
}

// markdownTable prints a grid as a Markdown table.
func markdownTable(g grid) string {
	if len(g.rows) == 0 {
		return "(no rows)\n"
	}
	var b strings.Builder
	b.WriteString("|")
	for _, t := range g.titles {
		b.WriteString(" " + markdownText(t) + " |")
	}
	b.WriteString("\n|")
	for i := range g.titles {
		if numeric(g, i) {
			b.WriteString(" --: |")
		} else {
			b.WriteString(" --- |")
		}
	}
	b.WriteByte('\n')
	for _, r := range g.rows {
		b.WriteString("|")
		for _, c := range r {
			b.WriteString(" " + c.markdown() + " |")
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func numeric(g grid, column int) bool {
	for _, r := range g.rows {
		if r[column].number {
			return true
		}
	}
	return false
}

func (c cell) markdown() string {
	if c.number {
		return c.text
	}
	return markdownText(c.text)
}
