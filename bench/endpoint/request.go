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

// nothing stands for an empty text: go-openai leaves out an empty content, and
// servers answer 400 or take another branch of the chat template (row 2).
const nothing = "(empty)"

// chatRequest builds what the program asked for. What the endpoint adds is the
// transport's affair.
func chatRequest(req detector.Request) openai.ChatCompletionRequest {
	out := openai.ChatCompletionRequest{Model: placeholderModel, ResponseFormat: responseFormat(req)}
	for _, m := range req.Messages {
		out.Messages = append(out.Messages, chatMessage(m))
	}
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

func chatMessage(m detector.Message) openai.ChatCompletionMessage {
	out := openai.ChatCompletionMessage{
		Role: string(m.Role), Content: m.Content, ReasoningContent: m.Reasoning, ToolCallID: m.ToolCallID,
	}
	for _, c := range m.ToolCalls {
		arguments := c.Arguments
		if arguments == "" {
			arguments = "{}"
		}
		out.ToolCalls = append(out.ToolCalls, openai.ToolCall{
			ID: c.ID, Type: openai.ToolTypeFunction,
			Function: openai.FunctionCall{Name: c.Name, Arguments: arguments},
		})
	}
	if out.Content == "" && len(out.ToolCalls) == 0 {
		out.Content = nothing
	}
	return out
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
