package endpoint

import (
	"bytes"
	"encoding/json"
	"strings"
	"unicode/utf8"
)

// object is a JSON object taken apart with exact names: encoding/json would let
// "Content" overwrite "content" in a struct (spec/libraries.md 1.2, row 16).
//
// A document is checked once, as a whole, by document. What lies inside is then
// known to be valid and is only cut at its borders: decoding each level of an
// answer with encoding/json would scan its text ten times over.
type object map[string]json.RawMessage

// document reads text as one JSON object and nothing after it; anything else is
// nil.
func document(text []byte) object {
	if !json.Valid(text) {
		return nil
	}
	return parse(text)
}

// parse cuts a valid object into members; another value, or none, is nil. Of
// members with the same name the last one counts, as in encoding/json.
func parse(raw json.RawMessage) object {
	i := skipBlank(raw, 0)
	if i == len(raw) || raw[i] != '{' {
		return nil
	}
	o := object{}
	for i = skipBlank(raw, i+1); i < len(raw) && raw[i] != '}'; i = skipComma(raw, i) {
		end := skipValue(raw, i)
		name := decodeString(raw[i:end])
		i = skipBlank(raw, end) + 1 // the colon
		i = skipBlank(raw, i)
		end = skipValue(raw, i)
		o[name] = raw[i:end:end]
		i = end
	}
	return o
}

// items cuts a valid array into items; another value is nil.
func items(raw json.RawMessage) []json.RawMessage {
	i := skipBlank(raw, 0)
	if i == len(raw) || raw[i] != '[' {
		return nil
	}
	var out []json.RawMessage
	for i = skipBlank(raw, i+1); i < len(raw) && raw[i] != ']'; i = skipComma(raw, i) {
		end := skipValue(raw, i)
		out = append(out, raw[i:end:end])
		i = end
	}
	return out
}

func skipBlank(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\n' || b[i] == '\t' || b[i] == '\r') {
		i++
	}
	return i
}

// skipComma goes from the end of a member to the next one or the closing bracket.
func skipComma(b []byte, i int) int {
	i = skipBlank(b, i)
	if i < len(b) && b[i] == ',' {
		i = skipBlank(b, i+1)
	}
	return i
}

// skipValue returns the end of the value that begins at b[i].
func skipValue(b []byte, i int) int {
	depth := 0
	for i < len(b) {
		switch b[i] {
		case '"':
			i = skipString(b, i)
		case '{', '[':
			depth++
			i++
		case '}', ']':
			depth--
			i++
		default:
			i++
			for i < len(b) && depth == 0 && !strings.ContainsRune(",:]} \n\t\r", rune(b[i])) {
				i++
			}
		}
		if depth == 0 {
			return i
		}
	}
	return len(b)
}

func skipString(b []byte, i int) int {
	for i++; i < len(b); i++ {
		switch b[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(b)
}

func isNull(raw json.RawMessage) bool { return len(raw) == 0 || string(raw) == "null" }

// has reports whether the member is there and not null.
func (o object) has(name string) bool { return !isNull(o[name]) }

// text returns a string member; anything else is "".
func (o object) text(name string) string {
	s, _ := decodeText(o[name])
	return s
}

// maxCount is the largest count that an endpoint can mean: a number above it is
// no count of tokens, and sums of such would overflow.
const maxCount = 1 << 40

// integer returns a whole, non-negative number; anything else is nil.
func (o object) integer(name string) *int64 {
	var n int64
	if isNull(o[name]) || json.Unmarshal(o[name], &n) != nil || n < 0 || n > maxCount {
		return nil
	}
	return &n
}

// list returns the items of an array; anything else is nil.
func (o object) list(name string) []json.RawMessage { return items(o[name]) }

// decodeText returns the text of a string; anything else is not ok.
func decodeText(raw json.RawMessage) (text string, ok bool) {
	if len(raw) < 2 || raw[0] != '"' {
		return "", false
	}
	return decodeString(raw), true
}

// decodeString decodes a valid JSON string into valid UTF-8.
func decodeString(raw []byte) string {
	if len(raw) >= 2 && bytes.IndexByte(raw, '\\') < 0 && utf8.Valid(raw) {
		return string(raw[1 : len(raw)-1])
	}
	var s string
	if json.Unmarshal(raw, &s) != nil { // the document was valid, so this is none of its strings
		return ""
	}
	return s
}

// repaired reports whether decoding raw had to put U+FFFD for bytes that are no
// UTF-8 or for half of a surrogate pair.
func repaired(raw json.RawMessage, decoded string) bool {
	if !strings.ContainsRune(decoded, utf8.RuneError) {
		return false
	}
	own := bytes.Count(raw, []byte("\uFFFD")) + bytes.Count(bytes.ToLower(raw), []byte(`\ufffd`))
	return strings.Count(decoded, "\uFFFD") > own
}
