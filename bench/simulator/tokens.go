package simulator

import (
	"unicode"
	"unicode/utf8"
)

// The token counter is our own: a run of letters or digits costs one token for
// every four characters begun, every other visible character costs one, blanks
// are free, and so is the line break after them. Code and prose come to about
// four characters a token. It is exact in the sense that usage always equals
// what it says about the text that was sent and received; it does not agree
// with any vendor's tokenizer.
const charactersPerToken = 4

// messageTokens is what a message costs beside its text, for role and framing.
const messageTokens = 3

func countTokens(s string) int {
	n := 0
	for rest := s; rest != ""; {
		size := nextToken(rest)
		if size.counted {
			n++
		}
		rest = rest[size.bytes:]
	}
	return n
}

type tokenSize struct {
	bytes   int
	counted bool
}

// nextToken measures the first token of s; blanks come back uncounted.
func nextToken(s string) tokenSize {
	r, w := utf8.DecodeRuneInString(s)
	if unicode.IsSpace(r) {
		return tokenSize{w, false}
	}
	if !isWordRune(r) {
		return tokenSize{w, true}
	}
	end := w
	for n := 1; n < charactersPerToken && end < len(s); n++ {
		r, w := utf8.DecodeRuneInString(s[end:])
		if !isWordRune(r) {
			break
		}
		end += w
	}
	return tokenSize{end, true}
}

func isWordRune(r rune) bool {
	return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r)
}

// cutTokens returns the longest prefix of s that costs at most limit tokens,
// and whether anything was cut.
func cutTokens(s string, limit int) (string, bool) {
	n, at := 0, 0
	for at < len(s) {
		size := nextToken(s[at:])
		if size.counted {
			if n == limit {
				return s[:at], true
			}
			n++
		}
		at += size.bytes
	}
	return s, false
}

// splitTokens cuts s into pieces whose concatenation is s, each with at most
// one counted token and the blanks before it.
func splitTokens(s string) []string {
	var out []string
	start, at := 0, 0
	for at < len(s) {
		size := nextToken(s[at:])
		at += size.bytes
		if size.counted {
			out = append(out, s[start:at])
			start = at
		}
	}
	if start < len(s) {
		out = append(out, s[start:])
	}
	return out
}
