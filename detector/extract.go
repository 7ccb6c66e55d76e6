package detector

import "encoding/json"

// extractorVersion is part of every detector's hash: another reader of answers
// is another detector.
const extractorVersion = "extract/1"

// scanBudget bounds the bytes that extract looks at, as a multiple of the
// answer: without it an answer of unclosed braces would cost its square.
const scanBudget = 64

// extraction is what was found in an answer's text.
type extraction struct {
	reports int             // objects with a list "findings"
	last    json.RawMessage // that list in the last of them
	sawJSON bool            // some JSON object or array was there
}

// extract finds every JSON object in a text that may hold prose, fences and
// code around it. It is string-aware (a brace inside a string is no brace) and
// tries each candidate: an object that is no report is searched for one inside.
func extract(text string) extraction {
	var found extraction
	found.sawJSON = isComposite(text) && json.Valid([]byte(text))
	whole := found.sawJSON // then the first object is valid, and mostly all there is
	budget := scanBudget * (len(text) + 1)
	for i := 0; i < len(text) && budget > 0; i++ {
		if text[i] != '{' {
			continue
		}
		end, looked := closing(text[i:])
		budget -= looked
		if end < 0 || !whole && !json.Valid([]byte(text[i:i+end])) {
			continue
		}
		found.sawJSON = true
		if list, ok := findingsOf(text[i : i+end]); ok {
			found.reports++
			found.last = list
			i += end - 1
		}
	}
	return found
}

// closing returns the length of the balanced object at the start of s, or -1,
// and how many bytes it read.
func closing(s string) (end, looked int) {
	depth, inString := 0, false
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case inString && c == '\\':
			i++
		case c == '"':
			inString = !inString
		case inString:
		case c == '{' || c == '[':
			depth++
		case c == '}' || c == ']':
			if depth--; depth == 0 {
				return i + 1, i + 1
			}
		}
	}
	return -1, len(s)
}

func isComposite(text string) bool {
	for _, c := range text {
		switch c {
		case ' ', '\t', '\n', '\r':
			continue
		}
		return c == '{' || c == '['
	}
	return false
}

// findingsOf returns the list under the exact key "findings" of an object.
func findingsOf(object string) (json.RawMessage, bool) {
	var fields map[string]json.RawMessage
	if json.Unmarshal([]byte(object), &fields) != nil {
		return nil, false
	}
	list, ok := fields["findings"]
	return list, ok && len(list) > 0 && list[0] == '['
}
