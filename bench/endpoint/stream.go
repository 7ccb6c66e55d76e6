package endpoint

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/youden-bench/youden/detector"
)

// isStream reports whether a server streamed although it was asked not to; some
// gateways can do nothing else (spec/peers.md section 3.2, row 60).
func isStream(contentType string, text []byte) bool {
	return strings.HasPrefix(contentType, "text/event-stream") || bytes.HasPrefix(text, []byte("data:")) ||
		bytes.HasPrefix(text, []byte("event:")) || bytes.HasPrefix(text, []byte(":")) // a comment
}

// streamed reads a recorded event stream as the completion it would have been.
// Both the end mark and a finish_reason are required: a server that closes early
// looks like one that is done (spec/libraries.md 1.2, row 20).
func (r rules) streamed(text []byte) reading {
	var s stream
	failed := false // the event is called "error", whatever it holds
	for line := range bytes.Lines(text) {
		line = bytes.TrimRight(line, "\r\n")
		data, found := bytes.CutPrefix(line, []byte("data:"))
		if name, named := bytes.CutPrefix(line, []byte("event:")); named {
			failed = string(bytes.TrimSpace(name)) == "error"
		}
		if !found {
			continue // comments that keep the connection, and blank lines
		}
		data = bytes.TrimSpace(data)
		if string(data) == "[DONE]" {
			s.done = true
			break
		}
		chunk := document(data)
		if chunk == nil {
			return readAs(detector.Transient, "the stream holds an event of broken JSON")
		}
		if failed || chunk.has("error") {
			return fault(detector.Answer{}, 0, errorIn(chunk))
		}
		s.add(chunk)
	}
	if !s.done || s.finish == nil {
		return readAs(detector.Transient, "the stream broke off before its end")
	}
	o, err := s.completion()
	if err != nil {
		return readAs(detector.Transient, fmt.Sprintf("the stream does not make a message: %v", err))
	}
	return r.completion(o)
}

// stream is what the chunks of the first choice add up to.
type stream struct {
	head      object // members of the whole, from the last chunk that has them
	text      strings.Builder
	reasoning strings.Builder
	field     string // the member that the reasoning comes in
	details   []json.RawMessage
	refusal   strings.Builder
	calls     []streamedCall
	finish    json.RawMessage
	done      bool
}

type streamedCall struct {
	ID       string `json:"id"`
	Function struct {
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
	} `json:"function"`
	index int64
}

func (s *stream) add(chunk object) {
	if s.head == nil {
		s.head = object{}
	}
	for _, name := range []string{"model", "provider", "system_fingerprint", "usage"} {
		if chunk.has(name) {
			s.head[name] = chunk[name]
		}
	}
	choice := firstChoice(chunk.list("choices"))
	if n := choice.integer("index"); choice == nil || n != nil && *n != 0 {
		return // the usage chunk has no choice
	}
	if choice.has("finish_reason") {
		s.finish = choice["finish_reason"]
	}
	delta := parse(choice["delta"])
	s.text.WriteString(delta.text("content"))
	s.refusal.WriteString(delta.text("refusal"))
	for _, field := range reasoningFields {
		if text := delta.text(field); text != "" {
			s.reasoning.WriteString(text)
			s.field = field
			break
		}
	}
	s.details = append(s.details, delta.list("reasoning_details")...)
	for i, raw := range delta.list("tool_calls") {
		s.addCall(int64(i), parse(raw))
	}
}

// addCall merges a fragment of a tool call by its index: the id and the name come
// with the first one, arguments piece by piece.
func (s *stream) addCall(position int64, fragment object) {
	index := position
	if n := fragment.integer("index"); n != nil {
		index = *n
	}
	at := -1
	for i := range s.calls {
		if s.calls[i].index == index {
			at = i
		}
	}
	if at < 0 {
		s.calls = append(s.calls, streamedCall{index: index})
		at = len(s.calls) - 1
	}
	call, function := &s.calls[at], parse(fragment["function"])
	if id := fragment.text("id"); id != "" {
		call.ID = id
	}
	if name := function.text("name"); name != "" {
		call.Function.Name = name
	}
	call.Function.Arguments += function.text("arguments")
}

// completion makes the body that the server would have sent in one piece.
func (s *stream) completion() (object, error) {
	members := map[string]any{"content": s.text.String(), "refusal": s.refusal.String(), "tool_calls": s.calls}
	if s.field != "" {
		members[s.field] = s.reasoning.String()
	}
	if len(s.details) > 0 {
		members["reasoning_details"] = s.details
	}
	message, err := json.Marshal(members)
	if err != nil {
		return nil, err
	}
	choices, err := json.Marshal([]object{{"message": message, "finish_reason": s.finish}})
	if err != nil {
		return nil, err
	}
	o := object{"choices": choices}
	for name, raw := range s.head {
		o[name] = raw
	}
	return o, nil
}
