package simulator

import (
	"bytes"
	"encoding/json"
	"fmt"
	"sort"
	"strings"
)

// chatRequest is a request to /v1/chat/completions after all checks.
type chatRequest struct {
	raw           []byte
	model         string
	messages      []message
	temperature   float64
	maxTokens     int // 0: not given
	usesMaxTokens bool
	seed          string
	n             int
	stop          []string
	stream        bool
	includeUsage  bool
	logprobs      bool
	topLogprobs   int
	tools         []tool
	toolChoice    toolChoice
	parallel      bool
	format        string // text, json_object, json_schema
	schema        *schema
}

type message struct {
	role       string
	text       string
	toolCalls  []toolCall
	toolCallID string
}

type toolCall struct {
	id, name, arguments string
}

type tool struct {
	name, description string
	parameters        *schema
}

type toolChoice struct {
	mode string // auto, none, required, named
	name string
}

// fields is one JSON object, read key by key so that a wrong type is blamed on
// its parameter, as the hosted API does.
type fields map[string]json.RawMessage

func (f fields) has(key string) bool {
	v, ok := f[key]
	return ok && string(bytes.TrimSpace(v)) != "null"
}

func kindOf(raw json.RawMessage) string {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 {
		return "nothing"
	}
	switch raw[0] {
	case '"':
		return "a string"
	case '{':
		return "an object"
	case '[':
		return "an array"
	case 't', 'f':
		return "a boolean"
	case 'n':
		return "null"
	}
	return "a number"
}

func (f fields) read(key, path, want string, into any) *apiError {
	if !f.has(key) {
		return nil
	}
	if err := json.Unmarshal(f[key], into); err != nil {
		return invalidType(path, want, kindOf(f[key]))
	}
	return nil
}

func parseChat(body []byte) (*chatRequest, *apiError) {
	var f fields
	if err := json.Unmarshal(body, &f); err != nil || f == nil {
		return nil, invalid("", "", "We could not parse the JSON body of your request.")
	}
	q := &chatRequest{raw: body, temperature: 1, n: 1, parallel: true, format: "text"}
	if !f.has("model") {
		return nil, missing("model")
	}
	if !f.has("messages") {
		return nil, missing("messages")
	}
	for _, read := range []func(fields) *apiError{q.readScalars, readUnused, q.readStop, q.readFormat, q.readTools, q.readMessages} {
		if err := read(f); err != nil {
			return nil, err
		}
	}
	return q, nil
}

func (q *chatRequest) readScalars(f fields) *apiError {
	var legacy, modern *int
	var seed *int64
	var options struct {
		IncludeUsage bool `json:"include_usage"`
	}
	for _, r := range []struct {
		key, want string
		into      any
	}{
		{"model", "a string", &q.model},
		{"temperature", "a decimal", &q.temperature},
		{"max_tokens", "an integer", &legacy},
		{"max_completion_tokens", "an integer", &modern},
		{"seed", "an integer", &seed},
		{"n", "an integer", &q.n},
		{"stream", "a boolean", &q.stream},
		{"stream_options", "an object", &options},
		{"logprobs", "a boolean", &q.logprobs},
		{"top_logprobs", "an integer", &q.topLogprobs},
		{"parallel_tool_calls", "a boolean", &q.parallel},
	} {
		if err := f.read(r.key, r.key, r.want, r.into); err != nil {
			return err
		}
	}
	q.includeUsage = options.IncludeUsage
	q.usesMaxTokens = legacy != nil
	for _, limit := range []*int{legacy, modern} {
		if limit == nil {
			continue
		}
		if *limit < 1 {
			return invalidValue("max_tokens", "must be at least 1.")
		}
		q.maxTokens = *limit
	}
	if seed != nil {
		q.seed = fmt.Sprint(*seed)
	}
	switch {
	case q.temperature < 0 || q.temperature > 2:
		return invalidValue("temperature", "must be between 0 and 2.")
	case q.n < 1 || q.n > 128:
		return invalidValue("n", "must be between 1 and 128.")
	case q.topLogprobs < 0 || q.topLogprobs > 20:
		return invalidValue("top_logprobs", "must be between 0 and 20.")
	case q.topLogprobs > 0 && !q.logprobs:
		return invalidValue("top_logprobs", "needs 'logprobs' to be true.")
	}
	return nil
}

func (q *chatRequest) readStop(f fields) *apiError {
	if !f.has("stop") {
		return nil
	}
	var one string
	if json.Unmarshal(f["stop"], &one) == nil {
		q.stop = []string{one}
	} else if err := f.read("stop", "stop", "a string or an array of strings", &q.stop); err != nil {
		return err
	}
	if len(q.stop) < 1 || len(q.stop) > 4 {
		return invalidValue("stop", "must hold between 1 and 4 sequences.")
	}
	return nil
}

func (q *chatRequest) readFormat(f fields) *apiError {
	var format struct {
		Type       string `json:"type"`
		JSONSchema *struct {
			Name   string          `json:"name"`
			Schema json.RawMessage `json:"schema"`
		} `json:"json_schema"`
	}
	if err := f.read("response_format", "response_format", "an object", &format); err != nil {
		return err
	}
	switch format.Type {
	case "":
		if f.has("response_format") {
			return missing("response_format.type")
		}
	case "text":
	case "json_object":
		q.format = format.Type
	case "json_schema":
		q.format = format.Type
		if format.JSONSchema == nil || len(format.JSONSchema.Schema) == 0 {
			return missing("response_format.json_schema")
		}
		if format.JSONSchema.Name == "" {
			return missing("response_format.json_schema.name")
		}
		s, err := parseSchema(format.JSONSchema.Schema)
		if err != nil {
			return invalidValue("response_format.json_schema.schema", "%v", err)
		}
		q.schema = s
	default:
		return invalidValue("response_format.type", "%q is none of text, json_object, json_schema.", format.Type)
	}
	return nil
}

func (q *chatRequest) readMessages(f fields) *apiError {
	var list []fields
	if err := f.read("messages", "messages", "an array of objects", &list); err != nil {
		return err
	}
	if len(list) == 0 {
		return invalidValue("messages", "must hold at least one message.")
	}
	open := map[string]bool{} // tool calls that wait for an answer
	for i, raw := range list {
		at := fmt.Sprintf("messages.[%d]", i)
		m, err := readMessage(raw, at)
		if err != nil {
			return err
		}
		switch {
		case m.role == "tool" && !open[m.toolCallID]:
			return invalid("", at+".role", "Invalid parameter: messages with role 'tool' must be a response to a preceding message with 'tool_calls'.")
		case m.role == "tool":
			delete(open, m.toolCallID)
		case len(open) > 0:
			return unanswered(at, open)
		}
		for _, c := range m.toolCalls {
			open[c.id] = true
		}
		q.messages = append(q.messages, m)
	}
	if len(open) > 0 {
		return unanswered(fmt.Sprintf("messages.[%d]", len(list)-1), open)
	}
	return nil
}

func unanswered(at string, open map[string]bool) *apiError {
	var ids []string
	for id := range open {
		ids = append(ids, id)
	}
	sort.Strings(ids)
	return invalid("", at+".role", "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: %s", strings.Join(ids, ", "))
}

func readMessage(raw fields, at string) (message, *apiError) {
	var m message
	for _, r := range []struct {
		key  string
		into *string
	}{{"role", &m.role}, {"tool_call_id", &m.toolCallID}} {
		if err := raw.read(r.key, at+"."+r.key, "a string", r.into); err != nil {
			return m, err
		}
	}
	switch m.role {
	case "system", "developer", "user", "assistant", "tool":
	case "":
		return m, missing(at + ".role")
	default:
		return m, invalidValue(at+".role", "%q is none of system, developer, user, assistant, tool.", m.role)
	}
	if err := m.readContent(raw, at); err != nil {
		return m, err
	}
	return m, m.readCalls(raw, at)
}

func (m *message) readCalls(raw fields, at string) *apiError {
	var calls []struct {
		ID       string `json:"id"`
		Type     string `json:"type"`
		Function *struct {
			Name      string `json:"name"`
			Arguments string `json:"arguments"`
		} `json:"function"`
	}
	if err := raw.read("tool_calls", at+".tool_calls", "an array of objects", &calls); err != nil {
		return err
	}
	for i, c := range calls {
		call := fmt.Sprintf("%s.tool_calls[%d]", at, i)
		switch {
		case c.ID == "":
			return missing(call + ".id")
		case c.Type != "function":
			return invalidValue(call+".type", "%q is not function.", c.Type)
		case c.Function == nil:
			return missing(call + ".function")
		}
		m.toolCalls = append(m.toolCalls, toolCall{c.ID, c.Function.Name, c.Function.Arguments})
	}
	return nil
}

func (m *message) readContent(raw fields, at string) *apiError {
	if !raw.has("content") {
		if m.role == "assistant" {
			return nil
		}
		return missing(at + ".content")
	}
	if json.Unmarshal(raw["content"], &m.text) == nil {
		return nil
	}
	var parts []struct {
		Type string  `json:"type"`
		Text *string `json:"text"`
	}
	if err := raw.read("content", at+".content", "a string or an array of objects", &parts); err != nil {
		return err
	}
	if len(parts) == 0 {
		return invalidValue(at+".content", "must hold at least one part.")
	}
	var text strings.Builder
	for i, p := range parts {
		switch {
		case p.Type != "text":
			return invalidValue(at+".content", "parts of type %q are not supported by this model.", p.Type)
		case p.Text == nil:
			return missing(fmt.Sprintf("%s.content[%d].text", at, i))
		}
		text.WriteString(*p.Text)
	}
	m.text = text.String()
	return nil
}

// promptTokens counts what the request costs to read.
func (q *chatRequest) promptTokens() int {
	n := messageTokens
	for _, m := range q.messages {
		n += messageTokens + countTokens(m.text)
		for _, c := range m.toolCalls {
			n += messageTokens + countTokens(c.name) + countTokens(c.arguments)
		}
	}
	for _, t := range q.tools {
		n += messageTokens + countTokens(t.name) + countTokens(t.description) + countTokens(t.parameters.text)
	}
	return n
}
