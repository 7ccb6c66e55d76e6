package compare

import (
	"fmt"
	"strings"
)

// hundredths writes a number in a text as the tables do: .07, 1.00, -.07.
func hundredths(v float64) string {
	text := fmt.Sprintf("%.2f", v)
	switch text, negative := strings.CutPrefix(text, "-"); {
	case text == "0.00":
		return ".00"
	case negative:
		return "-" + strings.TrimPrefix(text, "0")
	}
	return strings.TrimPrefix(text, "0")
}

// Signed writes a change as the tables do: +.07, -.07, .00.
func Signed(v float64) string {
	text := hundredths(v)
	if v > 0 && text != ".00" {
		return "+" + text
	}
	return text
}

// many counts things in words.
func many(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
