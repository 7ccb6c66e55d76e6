package family

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// dashes are the signs that models and word processors put where a hyphen is
// meant.
const dashes = "-\u2010\u2011\u2012\u2013\u2014\u2212"

// fold makes spellings of one label equal: case, and runs of spaces,
// underscores and hyphens.
func fold(label string) string {
	return strings.Join(strings.FieldsFunc(strings.ToLower(label), isSeparator), " ")
}

func isSeparator(r rune) bool {
	return r == '_' || unicode.IsSpace(r) || strings.ContainsRune(dashes, r)
}

// maxDigits bounds the number of a CWE; the list ends below 2000.
const maxDigits = 5

// ParseCWE reads the number of a CWE in any usual spelling: "CWE-89",
// "cwe 089", "CWE_89", "CWE89", "CWE-89: SQL injection", "CWE-89 (SQLi)". A bare
// number is not a CWE, and neither is a text that names two different ones: a
// detector must not gain by listing what it could have meant.
func ParseCWE(s string) (int, bool) {
	cwe, rest, ok := cutCWE(strings.TrimSpace(s))
	if !ok {
		return 0, false
	}
	lower := strings.ToLower(rest)
	for {
		i := strings.Index(lower, "cwe")
		if i < 0 {
			return cwe, true
		}
		if other, _, ok := cutCWE(lower[i:]); ok && other != cwe {
			return 0, false
		}
		lower = lower[i+len("cwe"):]
	}
}

// cutCWE reads a CWE at the start of s and returns what follows.
func cutCWE(s string) (cwe int, rest string, ok bool) {
	if len(s) < 3 || !strings.EqualFold(s[:3], "cwe") {
		return 0, "", false
	}
	digits := strings.TrimLeftFunc(s[3:], func(r rune) bool { return isSeparator(r) || r == ':' || r == '#' })
	end := strings.IndexFunc(digits, func(r rune) bool { return r < '0' || r > '9' })
	if end < 0 {
		end = len(digits)
	}
	rest = digits[end:]
	number := strings.TrimLeft(digits[:end], "0")
	if number == "" || len(number) > maxDigits {
		return 0, "", false
	}
	if next, _ := utf8.DecodeRuneInString(rest); unicode.IsLetter(next) || unicode.IsDigit(next) {
		return 0, "", false // "CWE-89x" is no spelling of 89
	}
	for _, r := range number {
		cwe = cwe*10 + int(r-'0')
	}
	return cwe, rest, true
}
