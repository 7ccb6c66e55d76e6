package endpoint

import (
	"encoding/binary"
	"encoding/json"
	"math/bits"
)

// appendQuoted appends s as a JSON string, byte for byte as encoding/json writes it
// without its escapes for HTML: code is full of < and &. It looks at eight bytes at a
// time, since prompts are long and few of their bytes need an escape.
func appendQuoted(b []byte, s string) []byte {
	b = append(b, '"')
	for i := 0; i < len(s); {
		n := plainPrefix(s[i:])
		b = append(b, s[i:i+n]...)
		if i += n; i == len(s) {
			break
		}
		switch c := s[i]; c {
		case '"', '\\':
			b = append(b, '\\', c)
		case '\n':
			b = append(b, '\\', 'n')
		case '\t':
			b = append(b, '\\', 't')
		case '\r':
			b = append(b, '\\', 'r')
		default: // a control character, or text outside ASCII
			n := oddPrefix(s[i:])
			b = appendOdd(b, s[i:i+n])
			i += n
			continue
		}
		i++
	}
	return append(b, '"')
}

const (
	ones  = 0x0101010101010101
	highs = 0x8080808080808080
)

// plainPrefix is how many bytes at the start of s are ASCII that stands for itself.
func plainPrefix(s string) int {
	i := 0
	for ; i+8 <= len(s); i += 8 {
		w := binary.LittleEndian.Uint64([]byte(s[i : i+8]))
		// A byte's high bit is set below where it is 0x80 or more, less than a
		// blank, a quote or a backslash: the usual test for a zero byte, after
		// what is looked for was made zero.
		quote, slash := w^(ones*'"'), w^(ones*'\\')
		odd := (w | (w - ones*' ') | (quote - ones) | (slash - ones)) & highs
		if odd != 0 {
			return i + bits.TrailingZeros64(odd)/8
		}
	}
	for ; i < len(s); i++ {
		if isOdd(s[i]) || s[i] == '"' || s[i] == '\\' {
			break
		}
	}
	return i
}

func isOdd(c byte) bool { return c < ' ' || c >= 0x80 }

// oddPrefix is how many bytes at the start of s are control characters or outside
// ASCII.
func oddPrefix(s string) int {
	i := 0
	for i < len(s) && isOdd(s[i]) {
		i++
	}
	return i
}

func appendOdd(b []byte, s string) []byte {
	quoted, err := json.Marshal(s)
	if err != nil { // a string always marshals
		return b
	}
	return append(b, quoted[1:len(quoted)-1]...)
}
