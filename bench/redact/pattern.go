package redact

// pattern is the shape of a kind of key: a prefix at the start of a word, then
// at least min bytes of a class. Shapes are matched by hand and not by regular
// expressions because a stream must know where an unfinished match began.
type pattern struct {
	prefix string
	fold   bool // the prefix matches in any case
	keep   int  // bytes of the prefix that stay, so that a reader sees what it was
	class  func(byte) bool
	min    int
}

// The shapes that leaked in peers' logs and in the documentation of providers
// (spec/peers.md section 3.2, row 47). They are few: each one too many blinds a
// reader to plain text.
var patterns = []pattern{
	{prefix: "sk-", class: isKeyByte, min: 12},
	{prefix: "bearer ", fold: true, keep: len("bearer "), class: isTokenByte, min: 8},
	{prefix: "AKIA", class: isUpperByte, min: 16},
	{prefix: "ASIA", class: isUpperByte, min: 16},
	{prefix: "AIza", class: isKeyByte, min: 30},
	{prefix: "ghp_", class: isKeyByte, min: 20},
	{prefix: "gho_", class: isKeyByte, min: 20},
	{prefix: "ghu_", class: isKeyByte, min: 20},
	{prefix: "ghs_", class: isKeyByte, min: 20},
	{prefix: "ghr_", class: isKeyByte, min: 20},
	{prefix: "github_pat_", class: isKeyByte, min: 20},
	{prefix: "glpat-", class: isKeyByte, min: 16},
	{prefix: "hf_", class: isKeyByte, min: 20},
	{prefix: "xoxb-", class: isKeyByte, min: 12},
	{prefix: "xoxp-", class: isKeyByte, min: 12},
}

func isLetterOrDigit(b byte) bool {
	return b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b >= '0' && b <= '9'
}

func isKeyByte(b byte) bool { return isLetterOrDigit(b) || b == '-' || b == '_' }

// isTokenByte is the token68 of RFC 9110 section 11.2.
func isTokenByte(b byte) bool {
	return isKeyByte(b) || b == '.' || b == '~' || b == '+' || b == '/' || b == '='
}

func isUpperByte(b byte) bool { return b >= 'A' && b <= 'Z' || b >= '0' && b <= '9' }

// at matches the pattern at the start of s. more says that s may go on later.
func (p *pattern) at(s []byte, more bool) (keep, length int, v verdict) {
	for i := range len(p.prefix) {
		if i == len(s) {
			if more {
				return 0, 0, open
			}
			return 0, 0, noMatch
		}
		b := s[i]
		if p.fold && b >= 'A' && b <= 'Z' {
			b += 'a' - 'A'
		}
		if b != p.prefix[i] {
			return 0, 0, noMatch
		}
	}
	end := len(p.prefix)
	for end < len(s) && p.class(s[end]) {
		end++
	}
	if end == len(s) && more {
		return p.keep, end, open
	}
	if end-len(p.prefix) < p.min {
		return 0, 0, noMatch
	}
	return p.keep, end, match
}
