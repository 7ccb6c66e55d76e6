package main

import (
	"strconv"
	"strings"
	"unicode"
)

// inert makes text of a corpus or a file safe to print: nothing in it can move
// the cursor, recolour the terminal or reverse the direction of a line.
func inert(text string) string {
	var b strings.Builder
	for _, r := range text {
		if r == '\t' || unicode.IsPrint(r) {
			b.WriteRune(r)
			continue
		}
		quoted := strconv.QuoteRuneToASCII(r)
		b.WriteString(quoted[1 : len(quoted)-1])
	}
	return b.String()
}
