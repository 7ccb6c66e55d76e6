package endpoint

import (
	"encoding/json"
	"regexp"
	"strings"
)

// isObject reports whether text is one JSON object and nothing else.
func isObject(text string) bool { return document([]byte(text)) != nil }

// What a server's parser leaves around the arguments of a tool call: quotes, code
// fences, the tags of a chat template, a bracket too many (spec/peers.md section
// 3.2, row 9).
var (
	junkBefore = regexp.MustCompile("^(?:[\\s\"'`]|json|<[^<>{}]*>)*$")
	junkAfter  = regexp.MustCompile("^(?:[\\s\"'`}\\]]|<[^<>{}]*>)*$")
)

// repairArguments is the one repair of arguments that are no JSON object: when
// nothing but such remains stands around a complete object, the object is taken. An
// object that was encoded twice counts as one in quotes. What would need more than
// that stays as it came, for the program to refuse.
func repairArguments(text string) (fixed string, ok bool) {
	trimmed := strings.TrimSpace(text)
	if trimmed == "" || isObject(trimmed) {
		return "", false
	}
	if inner, quoted := decodeText([]byte(trimmed)); quoted && json.Valid([]byte(trimmed)) {
		return inner, isObject(inner)
	}
	start := strings.IndexByte(trimmed, '{')
	if start < 0 || !junkBefore.MatchString(trimmed[:start]) {
		return "", false
	}
	var object json.RawMessage
	d := json.NewDecoder(strings.NewReader(trimmed[start:]))
	if d.Decode(&object) != nil || !junkAfter.MatchString(trimmed[start+int(d.InputOffset()):]) {
		return "", false
	}
	return string(object), true
}

// malformed is the member under which arguments that are no object go back to the
// server. Servers parse the arguments of earlier turns, and one broken call would
// make each later request fail with 400 (row 8).
const malformed = "malformed_arguments"

// sendable returns arguments as a server takes them.
func sendable(arguments string) string {
	switch {
	case arguments == "":
		return "{}"
	case isObject(arguments):
		return arguments
	}
	envelope, err := json.Marshal(map[string]string{malformed: arguments})
	if err != nil { // a string always marshals
		return "{}"
	}
	return string(envelope)
}
