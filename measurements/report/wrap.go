package report

import (
	"strings"
	"unicode/utf8"
)

// wrap breaks a line at its spaces, so that no part is wider than width where a
// space allows it; what follows the first part is indented. 0 = no limit.
func wrap(line string, width int) string {
	const indent = "  "
	if width <= 0 || utf8.RuneCountInString(line) <= width {
		return line
	}
	var b strings.Builder
	used := 0
	for i, word := range strings.Split(line, " ") {
		size := utf8.RuneCountInString(word)
		switch {
		case i == 0:
		case used+1+size > width:
			b.WriteString("\n" + indent)
			used = len(indent)
		default:
			b.WriteByte(' ')
			used++
		}
		b.WriteString(word)
		used += size
	}
	return b.String()
}
