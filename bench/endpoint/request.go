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

// wireMessage is a message as it is sent. It takes the place of go-openai's,
// which leaves out an empty content: servers answer 400 to a tool result without
// one, or take another branch of the chat template (row 2).
type wireMessage struct {
	Role             detector.Role `json:"role"`
	Content          *string       `json:"content"`
	ReasoningContent string        `json:"reasoning_content,omitempty"`
	ToolCalls        []wireCall    `json:"tool_calls,omitempty"`
	ToolCallID       string        `json:"tool_call_id,omitempty"`
}

type wireCall struct {
	ID       string          `json:"id"`
	Type     openai.ToolType `json:"type"`
	Function struct {
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
	} `json:"function"`
}

// encodeMessages encodes messages with their exact texts. Only an assistant's
// turn that is nothing but tool calls has no content, which the API writes as
// null; and arguments that are no text at all become an empty object, since
// servers parse them.
func encodeMessages(messages []detector.Message) (json.RawMessage, error) {
	out := make([]wireMessage, len(messages))
	for i, m := range messages {
		w := wireMessage{Role: m.Role, Content: &m.Content, ReasoningContent: m.Reasoning, ToolCallID: m.ToolCallID}
		for _, c := range m.ToolCalls {
			call := wireCall{ID: c.ID, Type: openai.ToolTypeFunction}
			call.Function.Name, call.Function.Arguments = c.Name, c.Arguments
			if c.Arguments == "" {
				call.Function.Arguments = "{}"
			}
			w.ToolCalls = append(w.ToolCalls, call)
		}
		if m.Content == "" && len(w.ToolCalls) > 0 {
			w.Content = nil
		}
		out[i] = w
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false) // code is full of < and &
	if err := e.Encode(out); err != nil {
		return nil, fmt.Errorf("encoding the messages: %w", err)
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
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
