package endpoint

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/youden-bench/youden/detector"
)

// said is what a model's message holds.
type said struct {
	text      string
	reasoning string
	refusal   string
	calls     []detector.ToolCall
	repaired  bool // some text was not valid UTF-8
	odd       bool // the content is neither text nor parts
}

// take decodes a string and notes whether it had to be repaired.
func (s *said) take(raw json.RawMessage) string {
	text, _ := decodeText(raw)
	s.repaired = s.repaired || repaired(raw, text)
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
	if reasoning := s.take(m["reasoning_content"]); reasoning != "" {
		think(reasoning)
	} else { // OpenRouter and newer vLLM; some send both with the same text
		think(s.take(m["reasoning"]))
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
// server sent a string or an object (spec/libraries.md 1.2, row 19).
func (s *said) readCalls(m object) {
	for _, raw := range m.list("tool_calls") {
		call := parse(raw)
		function := parse(call["function"])
		if function == nil {
			continue
		}
		s.calls = append(s.calls, detector.ToolCall{ID: call.text("id"), Name: function.text("name"), Arguments: s.arguments(function["arguments"])})
	}
	if function := parse(m["function_call"]); function != nil && len(s.calls) == 0 { // the form before tools
		s.calls = append(s.calls, detector.ToolCall{Name: function.text("name"), Arguments: s.arguments(function["arguments"])})
	}
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
