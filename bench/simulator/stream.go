package simulator

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
)

// The wire shapes follow golden/openai_api; keys that the hosted API sends as
// null are sent as null.

type wireCompletion struct {
	ID          string       `json:"id"`
	Object      string       `json:"object"`
	Created     int64        `json:"created"`
	Model       string       `json:"model"`
	Choices     []wireChoice `json:"choices"`
	Usage       usage        `json:"usage"`
	ServiceTier string       `json:"service_tier"`
	Fingerprint string       `json:"system_fingerprint"`
	Simulated   bool         `json:"simulated"`
}

type wireChoice struct {
	Index        int         `json:"index"`
	Message      wireMessage `json:"message"`
	Logprobs     *logprobs   `json:"logprobs"`
	FinishReason string      `json:"finish_reason"`
}

type wireMessage struct {
	Role        string         `json:"role"`
	Content     *string        `json:"content"`
	Refusal     *string        `json:"refusal"`
	Annotations []string       `json:"annotations"`
	ToolCalls   []wireToolCall `json:"tool_calls,omitempty"`
}

type wireToolCall struct {
	Index    *int         `json:"index,omitempty"`
	ID       string       `json:"id,omitempty"`
	Type     string       `json:"type,omitempty"`
	Function wireFunction `json:"function"`
}

type wireFunction struct {
	Name      string `json:"name,omitempty"`
	Arguments string `json:"arguments"`
}

func (c *completion) wire() wireCompletion {
	out := wireCompletion{
		ID: c.id, Object: "chat.completion", Created: created, Model: c.model,
		Usage: c.usage, ServiceTier: "default", Fingerprint: c.fingerprint, Simulated: true,
	}
	for i, ch := range c.choices {
		m := wireMessage{Role: "assistant", Content: ch.content, Refusal: ch.refusal, Annotations: []string{}}
		for _, call := range ch.calls {
			m.ToolCalls = append(m.ToolCalls, wireToolCall{ID: call.id, Type: "function", Function: wireFunction{call.name, call.arguments}})
		}
		out.Choices = append(out.Choices, wireChoice{Index: i, Message: m, Logprobs: ch.logprobs, FinishReason: ch.finish})
	}
	return out
}

// send puts the completion on the wire, whole or as events, and breaks off
// where a fault says so.
func (s *Server) send(w http.ResponseWriter, r *http.Request, q *chatRequest, c *completion, f fault) error {
	var buf bytes.Buffer
	if q.stream {
		if err := c.events(&buf, q, f); err != nil {
			return err
		}
		w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
		w.Header().Set("Cache-Control", "no-cache")
	} else {
		enc := json.NewEncoder(&buf)
		enc.SetEscapeHTML(false)
		if err := enc.Encode(c.wire()); err != nil {
			return fmt.Errorf("encode completion: %w", err)
		}
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Content-Length", strconv.Itoa(buf.Len()))
	}
	data := buf.Bytes()
	if f.kind == faultCut {
		data = data[:len(data)*3/5]
	}
	if _, err := w.Write(data); err != nil {
		return fmt.Errorf("write completion: %w", err)
	}
	if flusher, ok := w.(http.Flusher); ok {
		flusher.Flush()
	}
	if f.kind == faultCut {
		return errCut
	}
	return r.Context().Err()
}

type wireChunk struct {
	ID          string            `json:"id"`
	Object      string            `json:"object"`
	Created     int64             `json:"created"`
	Model       string            `json:"model"`
	ServiceTier string            `json:"service_tier"`
	Fingerprint string            `json:"system_fingerprint"`
	Choices     []wireChunkChoice `json:"choices"`
}

type wireChunkChoice struct {
	Index        int             `json:"index"`
	Delta        json.RawMessage `json:"delta"`
	Logprobs     *logprobs       `json:"logprobs"`
	FinishReason *string         `json:"finish_reason"`
}

// chunkTokens is how many tokens travel in one event.
const chunkTokens = 4

type eventWriter struct {
	buf   *bytes.Buffer
	base  wireChunk
	usage bool
	err   error
}

func (e *eventWriter) event(v any) {
	data, err := json.Marshal(v)
	if err != nil && e.err == nil {
		e.err = fmt.Errorf("encode event: %w", err)
	}
	e.buf.WriteString("data: ")
	e.buf.Write(data)
	e.buf.WriteString("\n\n")
}

func (e *eventWriter) chunk(choices []wireChunkChoice, u *usage) {
	c := e.base
	c.Choices = choices
	if !e.usage {
		e.event(c)
		return
	}
	e.event(struct {
		wireChunk
		Usage *usage `json:"usage"`
	}{c, u})
}

func (e *eventWriter) delta(i int, delta any, finish *string, lp *logprobs) {
	raw, err := json.Marshal(delta)
	if err != nil && e.err == nil {
		e.err = fmt.Errorf("encode delta: %w", err)
	}
	e.chunk([]wireChunkChoice{{Index: i, Delta: raw, Logprobs: lp, FinishReason: finish}}, nil)
}

// events writes the completion as server-sent events: role, pieces, finish,
// usage if asked for, [DONE].
func (c *completion) events(buf *bytes.Buffer, q *chatRequest, f fault) error {
	e := &eventWriter{buf: buf, usage: q.includeUsage, base: wireChunk{
		ID: c.id, Object: "chat.completion.chunk", Created: created, Model: c.model,
		ServiceTier: "default", Fingerprint: c.fingerprint,
	}}
	for i := range c.choices {
		e.choice(i, &c.choices[i])
	}
	if f.kind == faultStreamError {
		e.event(map[string]*apiError{"error": failure(0, "server_error", "", "The server had an error while processing your request.")})
		return e.err
	}
	for i := range c.choices {
		e.delta(i, struct{}{}, &c.choices[i].finish, nil)
	}
	if q.includeUsage {
		e.chunk([]wireChunkChoice{}, &c.usage)
	}
	buf.WriteString("data: [DONE]\n\n")
	return e.err
}

func (e *eventWriter) choice(i int, ch *choice) {
	empty := ""
	first := map[string]any{"role": "assistant", "content": &empty, "refusal": nil}
	if ch.content == nil {
		first["content"] = nil
	}
	e.delta(i, first, nil, nil)
	switch {
	case ch.content != nil:
		e.pieces(i, "content", *ch.content, ch.logprobs)
	case ch.refusal != nil:
		e.pieces(i, "refusal", *ch.refusal, nil)
	}
	for k, call := range ch.calls {
		e.call(i, k, call)
	}
}

func (e *eventWriter) pieces(i int, key, text string, lp *logprobs) {
	tokens := splitTokens(text)
	for at := 0; at < len(tokens); at += chunkTokens {
		end := min(at+chunkTokens, len(tokens))
		piece := ""
		for _, t := range tokens[at:end] {
			piece += t
		}
		var part *logprobs
		if lp != nil {
			part = &logprobs{Content: lp.Content[at:end]}
		}
		e.delta(i, map[string]string{key: piece}, nil, part)
	}
}

// call sends id, type and name in the first fragment of an index only.
func (e *eventWriter) call(i, k int, call toolCall) {
	head := wireToolCall{Index: &k, ID: call.id, Type: "function", Function: wireFunction{Name: call.name}}
	e.delta(i, map[string]any{"tool_calls": []wireToolCall{head}}, nil, nil)
	tokens := splitTokens(call.arguments)
	for at := 0; at < len(tokens); at += chunkTokens {
		piece := ""
		for _, t := range tokens[at:min(at+chunkTokens, len(tokens))] {
			piece += t
		}
		e.delta(i, map[string]any{"tool_calls": []wireToolCall{{Index: &k, Function: wireFunction{Arguments: piece}}}}, nil, nil)
	}
}
