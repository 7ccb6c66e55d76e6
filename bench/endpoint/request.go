package endpoint

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"

	openai "github.com/sashabaranov/go-openai"

	"github.com/youden-bench/youden/detector"
)

// placeholderModel goes through go-openai instead of the model's name: by the
// prefix of a name it refuses requests that the server would take
// (spec/libraries.md 1.2, row 11). The transport puts the name in.
const placeholderModel = "placeholder"

// chatRequest builds what the program asked for, except the messages. What the
// endpoint adds is the transport's affair.
func chatRequest(req detector.Request) openai.ChatCompletionRequest {
	out := openai.ChatCompletionRequest{Model: placeholderModel, ResponseFormat: responseFormat(req)}
	for _, t := range req.Tools {
		parameters := t.Parameters // raw, so that the order of properties is kept
		if len(parameters) == 0 {
			parameters = json.RawMessage(`{"type":"object","properties":{}}`)
		}
		out.Tools = append(out.Tools, openai.Tool{
			Type:     openai.ToolTypeFunction,
			Function: &openai.FunctionDefinition{Name: t.Name, Description: t.Description, Parameters: parameters},
		})
	}
	return out
}

// encodeMessages encodes messages with their exact texts. They do not go through
// go-openai, which leaves out an empty content: servers answer 400 to a tool result
// without one, or take another branch of the chat template (row 2). Only an
// assistant's turn that is nothing but tool calls has no content, which the API
// writes as null unless the form says otherwise; and arguments that are no object
// become one, since servers parse them.
func encodeMessages(b []byte, messages []detector.Message, f form) json.RawMessage {
	size := 2
	for _, m := range messages {
		size += len(m.Content) + len(m.Content)/16 + len(m.Reasoning) + len(m.Replay) + 256*(1+len(m.ToolCalls))
	}
	b = append(slices.Grow(b, size), '[')
	for i, m := range messages {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendMessage(b, m, f)
	}
	return append(b, ']')
}

func appendMessage(b []byte, m detector.Message, f form) []byte {
	b = appendQuoted(append(b, `{"role":`...), string(m.Role))
	switch {
	case m.Content != "" || len(m.ToolCalls) == 0:
		b = appendQuoted(append(b, `,"content":`...), m.Content)
	case f.callContent() == contentEmpty:
		b = append(b, `,"content":""`...)
	case f.callContent() != contentOmit:
		b = append(b, `,"content":null`...)
	}
	if !f.has(dropReasoning) {
		b = appendReasoning(b, m)
	}
	for i, c := range m.ToolCalls {
		b = append(b, map[bool]string{true: `,"tool_calls":[`, false: `,`}[i == 0]...)
		b = appendQuoted(append(b, `{"id":`...), c.ID)
		b = appendQuoted(append(b, `,"type":"function","function":{"name":`...), c.Name)
		b = appendQuoted(append(b, `,"arguments":`...), sendable(c.Arguments))
		b = append(b, `}}`...)
	}
	if len(m.ToolCalls) > 0 {
		b = append(b, ']')
	}
	if m.ToolCallID != "" {
		b = appendQuoted(append(b, `,"tool_call_id":`...), m.ToolCallID)
	}
	return append(b, '}')
}

// appendReasoning puts earlier reasoning into the member that it came in.
func appendReasoning(b []byte, m detector.Message) []byte {
	if m.Replay == nil {
		if m.Reasoning != "" {
			b = appendQuoted(append(b, `,"reasoning_content":`...), m.Reasoning)
		}
		return b
	}
	members := document(m.Replay)
	for _, field := range reasoningFields {
		if text := members.text(field); text != "" {
			b = appendQuoted(append(b, `,"`+field+`":`...), text)
		}
	}
	if details := members["reasoning_details"]; len(items(details)) > 0 {
		b = append(append(b, `,"reasoning_details":`...), details...)
	}
	return b
}

func responseFormat(req detector.Request) *openai.ChatCompletionResponseFormat {
	switch req.ResponseFormat {
	case "":
		return nil
	case string(openai.ChatCompletionResponseFormatTypeJSONSchema):
		return &openai.ChatCompletionResponseFormat{
			Type: openai.ChatCompletionResponseFormatTypeJSONSchema,
			JSONSchema: &openai.ChatCompletionResponseFormatJSONSchema{
				Name: "answer", Schema: req.Schema, Strict: true,
			},
		}
	}
	return &openai.ChatCompletionResponseFormat{Type: openai.ChatCompletionResponseFormatType(req.ResponseFormat)}
}

// fixedFields are those that are the same in every request of the client.
func (o *Options) fixedFields() (object, error) {
	values := map[string]any{"model": o.Model}
	for k, v := range o.ExtraBody {
		values[k] = v
	}
	if o.Temperature != nil {
		values["temperature"] = *o.Temperature
	}
	out := object{}
	for k, v := range values {
		raw, err := json.Marshal(v)
		if err != nil {
			return nil, fmt.Errorf("the field %q of the request is no JSON: %w", k, err)
		}
		out[k] = raw
	}
	return out, nil
}

// encode writes the members in the order of their names, so that equal requests
// are equal bytes.
func (o object) encode() []byte {
	size := 2
	for k, v := range o {
		size += len(k) + len(v) + 4
	}
	b := bytes.NewBuffer(make([]byte, 0, size))
	b.WriteByte('{')
	for i, k := range sortedKeys(o) {
		if i > 0 {
			b.WriteByte(',')
		}
		name, err := json.Marshal(k)
		if err != nil { // a string always marshals
			continue
		}
		b.Write(name)
		b.WriteByte(':')
		b.Write(o[k])
	}
	b.WriteByte('}')
	return b.Bytes()
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
