package endpoint

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/youden-bench/youden/detector"
)

// said is what a model's message holds.
type said struct {
	text      string
	reasoning string
	refusal   string
	replay    json.RawMessage // the member with the reasoning, as an object
	calls     []detector.ToolCall
	repairs   []string // what is not as it came, in words
	odd       bool     // the content is neither text nor parts
}

// The repairs of an answer.
const (
	repairedText      = "the answer was not valid UTF-8, and U+FFFD stands for what was not"
	repairedArguments = "the arguments of a tool call had more around their JSON object, which was taken off"
)

func (s *said) repair(words string) {
	if !slices.Contains(s.repairs, words) {
		s.repairs = append(s.repairs, words)
	}
}

// reasoningFields are the members that reasoning comes in as text: DeepSeek's and
// older vLLM's, then OpenRouter's and newer vLLM's. Some send both with one text.
var reasoningFields = []string{"reasoning_content", "reasoning"}

// take decodes a string and notes whether it had to be repaired.
func (s *said) take(raw json.RawMessage) string {
	text, _ := decodeText(raw)
	if repaired(raw, text) {
		s.repair(repairedText)
	}
	return text
}

// readMessage reads a message. Reasoning is what providers put into fields of its
// own, into parts of its own or between think tags; none of it is the answer
// (spec/peers.md section 3.1, rows 1 and 2).
func readMessage(m object) said {
	var s said
	s.refusal = s.take(m["refusal"])
	var thoughts []string
	think := func(text string) {
		if text != "" {
			thoughts = append(thoughts, text)
		}
	}
	for _, field := range reasoningFields {
		if reasoning := s.take(m[field]); reasoning != "" {
			think(reasoning)
			s.keep(field, reasoning)
			break
		}
	}
	if details := m["reasoning_details"]; len(items(details)) > 0 {
		s.keep("reasoning_details", json.RawMessage(bytes.ToValidUTF8(details, []byte("\uFFFD"))))
		if len(thoughts) == 0 {
			s.readDetails(m.list("reasoning_details"), think)
		}
	}
	switch raw := m["content"]; {
	case isNull(raw):
	case bytes.HasPrefix(raw, []byte(`"`)):
		s.text = s.take(raw)
	case bytes.HasPrefix(raw, []byte(`[`)):
		s.readParts(m.list("content"), think)
	default:
		s.odd = true
	}
	answer, thought := splitThinking(s.text)
	s.text = answer
	think(thought)
	s.reasoning = strings.Join(thoughts, "\n")
	s.readCalls(m)
	return s
}

// keep notes in which member the reasoning came. Providers that sign or demand their
// reasoning want it back there on the next turn (spec/peers.md section 3.2, row 1).
func (s *said) keep(field string, value any) {
	if raw, err := json.Marshal(map[string]any{field: value}); err == nil {
		s.replay = raw
	}
}

// readDetails reads OpenRouter's list of reasoning, whose members may be encrypted.
func (s *said) readDetails(details []json.RawMessage, think func(string)) {
	for _, raw := range details {
		part := parse(raw)
		think(s.take(part["text"]))
		think(s.take(part["summary"]))
	}
}

// readParts joins a content that is an array of parts.
func (s *said) readParts(parts []json.RawMessage, think func(string)) {
	var text strings.Builder
	for _, raw := range parts {
		part := parse(raw)
		switch part.text("type") {
		case "text", "output_text", "":
			text.WriteString(s.take(part["text"]))
		case "refusal":
			s.refusal += s.take(part["refusal"])
		case "thinking", "reasoning":
			for _, field := range []string{"thinking", "reasoning", "text"} {
				think(s.take(part[field]))
			}
			for _, inner := range part.list("thinking") { // Mistral nests text parts
				think(s.take(parse(inner)["text"]))
			}
		}
	}
	s.text = text.String()
}

// readCalls reads tool calls. Arguments stay the text that came, whether the
// server sent a string or an object (spec/libraries.md 1.2, row 19), unless the one
// repair makes them an object.
func (s *said) readCalls(m object) {
	for _, raw := range m.list("tool_calls") {
		call := parse(raw)
		function := parse(call["function"])
		if function == nil {
			continue
		}
		s.addCall(call.text("id"), function)
	}
	if function := parse(m["function_call"]); function != nil && len(s.calls) == 0 { // the form before tools
		s.addCall("", function)
	}
}

func (s *said) addCall(id string, function object) {
	call := detector.ToolCall{ID: id, Name: function.text("name"), Arguments: s.arguments(function["arguments"])}
	if fixed, ok := repairArguments(call.Arguments); ok {
		call.Arguments, call.Raw = fixed, call.Arguments
		s.repair(repairedArguments)
	}
	s.calls = append(s.calls, call)
}

func (s *said) arguments(raw json.RawMessage) string {
	switch {
	case isNull(raw):
		return ""
	case bytes.HasPrefix(raw, []byte(`"`)):
		return s.take(raw)
	}
	return string(raw)
}

// thinkTags open and close reasoning that a server did not take out of the text.
var thinkTags = []string{"think", "thinking"}

// splitThinking parts the reasoning at the start of a text from the answer after
// it. Without an end the whole text is reasoning. A text that has only the end
// comes from a chat template that opens the block itself; one that begins like an
// answer is left alone, since reports may quote such a tag.
func splitThinking(text string) (answer, reasoning string) {
	rest := strings.TrimLeft(text, " \t\r\n")
	var thoughts []string
	for {
		tag := leadingTag(rest)
		if tag == "" {
			break
		}
		inner := rest[len(tag)+2:]
		thought, after, closed := strings.Cut(inner, "</"+tag+">")
		thoughts = append(thoughts, strings.TrimSpace(thought))
		rest = strings.TrimLeft(after, " \t\r\n")
		if !closed {
			break
		}
	}
	if len(thoughts) > 0 {
		return rest, strings.Join(thoughts, "\n")
	}
	if strings.HasPrefix(rest, "{") || strings.HasPrefix(rest, "[") || strings.HasPrefix(rest, "```") {
		return text, ""
	}
	if thought, after, closed := strings.Cut(rest, "</think>"); closed && !strings.Contains(thought, "<think>") {
		return strings.TrimLeft(after, " \t\r\n"), strings.TrimSpace(thought)
	}
	return text, ""
}

func leadingTag(text string) string {
	for _, tag := range thinkTags {
		if strings.HasPrefix(text, "<"+tag+">") {
			return tag
		}
	}
	return ""
}
