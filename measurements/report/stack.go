package report

import "unicode/utf8"

// stacked breaks the cells of a table that is too wide over lines of their own, so
// that its columns stay side by side. 0 = no limit.
func stacked(g grid, width int) grid {
	free := width
	widest := 0
	for i := range g.titles {
		size := utf8.RuneCountInString(g.titles[i])
		for _, r := range g.rows {
			size = max(size, utf8.RuneCountInString(Plain(r[i].text)))
		}
		if i < g.keys {
			free -= size + len(gap)
		} else {
			widest = max(widest, size)
		}
	}
	columns := len(g.titles) - g.keys
	if width <= 0 || columns == 0 {
		return g
	}
	each := (free - (columns-1)*len(gap)) / columns
	if widest <= each || each < narrowest {
		return g
	}
	out := grid{titles: g.titles, keys: g.keys}
	for _, r := range g.rows {
		out.rows = append(out.rows, stackRow(r, g.keys, each)...)
	}
	return out
}

// narrowest is the least width of a column that can be read.
const narrowest = 16

// stackRow breaks one row: its keys stand on the first line alone.
func stackRow(r []cell, keys, width int) [][]cell {
	var lines [][]cell
	for i, c := range r {
		parts := []string{c.text}
		if i >= keys {
			parts = breakText(Plain(c.text), width)
		}
		for n, part := range parts {
			if n == len(lines) {
				lines = append(lines, make([]cell, len(r)))
			}
			lines[n][i] = cell{part, c.number}
		}
	}
	return lines
}

// breakText cuts a text into parts of at most width, at spaces where there are any.
func breakText(line string, width int) []string {
	var parts []string
	rest := []rune(line)
	for len(rest) > width {
		at, next := width, width
		for i := width; i > 0; i-- {
			if rest[i] == ' ' {
				at, next = i, i+1
				break
			}
		}
		parts = append(parts, string(rest[:at]))
		rest = rest[next:]
	}
	return append(parts, string(rest))
}
