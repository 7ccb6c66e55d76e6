package kstrl

import (
	"math"
	"strconv"
	"strings"
	"unicode"
)

// wholeText reads a whole number as Python's int() reads text, but for digits
// outside ASCII: blanks around it, a sign, single underscores between digits.
func wholeText(s string) (int64, bool) {
	s = strings.TrimFunc(s, func(r rune) bool { return unicode.IsSpace(r) || r >= 0x1c && r <= 0x1f })
	digits := strings.TrimLeft(s, "+-")
	if len(s)-len(digits) > 1 || digits == "" {
		return 0, false
	}
	for i, part := range strings.Split(digits, "_") {
		if part == "" || strings.Trim(part, "0123456789") != "" {
			return 0, false
		}
		if i == 0 {
			digits = part
		} else {
			digits += part
		}
	}
	n, err := strconv.ParseInt(digits, 10, 64)
	if strings.HasPrefix(s, "-") {
		n = -n
	}
	return n, err == nil
}

// isWhole says whether a JSON number is an int in Python.
func isWhole(literal string) bool { return !strings.ContainsAny(literal, ".eE") }

// numberText writes a JSON number as Python's str() does.
func numberText(literal string) string {
	if literal == "-0" {
		return "0"
	}
	if isWhole(literal) {
		return literal
	}
	// Out of range is an infinity here as there.
	f, _ := strconv.ParseFloat(literal, 64)
	return floatText(f)
}

// floatText writes a float as Python's repr() does: the shortest digits that
// read back, never without a point or an exponent, which begins at 1e16 and
// below 1e-4.
func floatText(f float64) string {
	switch {
	case math.IsNaN(f):
		return "nan"
	case math.IsInf(f, 0):
		return strings.TrimPrefix(strings.ToLower(strconv.FormatFloat(f, 'g', -1, 64)), "+")
	}
	if size := math.Abs(f); size != 0 && (size < 1e-4 || size >= 1e16) {
		return strconv.FormatFloat(f, 'e', -1, 64)
	}
	s := strconv.FormatFloat(f, 'f', -1, 64)
	if !strings.Contains(s, ".") {
		s += ".0"
	}
	return s
}
