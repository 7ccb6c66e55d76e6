package conformance

import (
	"encoding/json"
	"maps"
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

type object = map[string]any

// changed is a good request with one thing changed.
func changed(change object) []byte {
	request := object{"model": model, "messages": []object{{"role": "user", "content": "hello"}}}
	maps.Copy(request, change)
	raw, err := json.Marshal(request)
	if err != nil {
		panic(err)
	}
	return raw
}

func function(name any) object { return object{"type": "function", "function": object{"name": name}} }

func called(id, arguments any) []object {
	return []object{
		{"role": "user", "content": "hello"},
		{"role": "assistant", "content": nil, "tool_calls": []object{{"id": id, "type": "function", "function": object{"name": "f", "arguments": arguments}}}},
		{"role": "tool", "tool_call_id": id, "content": "result"},
	}
}

// What OpenAI's schema refuses the simulated endpoint refuses too, in the shape of
// an error, and what the schema allows it answers.
func TestRequestsByTheSchema(t *testing.T) {
	contract := openContract(t)
	base := simulate(t)
	hello := object{"role": "user", "content": "hello"}
	tools := []object{function("f")}
	for _, c := range []struct {
		name   string
		change object
	}{
		{"plain", nil},
		// The schema allows null for stop and top_logprobs in one place and forbids it
		// in another.
		{"nulls", object{"temperature": nil, "max_tokens": nil, "seed": nil, "n": nil, "stream": nil, "stream_options": nil, "logprobs": nil}},
		{"developer and system", object{"messages": []object{{"role": "developer", "content": "d"}, {"role": "system", "content": "s"}, hello}}},
		{"content in parts", object{"messages": []object{{"role": "user", "content": []object{{"type": "text", "text": "hello"}}}}}},
		{"no content parts", object{"messages": []object{{"role": "user", "content": []object{}}}}},
		{"a part of an unknown type", object{"messages": []object{{"role": "user", "content": []object{{"type": "smell", "text": "x"}}}}}},
		{"a part without text", object{"messages": []object{{"role": "user", "content": []object{{"type": "text"}}}}}},
		{"a name", object{"messages": []object{{"role": "user", "content": "hello", "name": "ann"}}}},
		{"content is a number", object{"messages": []object{{"role": "user", "content": 3}}}},
		{"content is null", object{"messages": []object{{"role": "user", "content": nil}}}},
		{"no messages", object{"messages": []object{}}},
		{"messages is text", object{"messages": "hello"}},
		{"an unknown role", object{"messages": []object{{"role": "boss", "content": "x"}}}},
		{"no role", object{"messages": []object{{"content": "x"}}}},
		{"hot", object{"temperature": "hot"}},
		{"too hot", object{"temperature": 2.5}},
		{"below zero", object{"temperature": -0.1}},
		{"hottest", object{"temperature": 2}},
		{"top_p", object{"top_p": 0.5}},
		{"top_p above 1", object{"top_p": 1.5}},
		{"top_p is text", object{"top_p": "half"}},
		{"frequency_penalty", object{"frequency_penalty": 1, "presence_penalty": -1}},
		{"frequency_penalty above 2", object{"frequency_penalty": 3}},
		{"presence_penalty below -2", object{"presence_penalty": -3}},
		{"no choices", object{"n": 0}},
		{"too many choices", object{"n": 129}},
		{"half a choice", object{"n": 1.5}},
		{"max_tokens is text", object{"max_tokens": "all"}},
		{"half a token", object{"max_completion_tokens": 1.5}},
		{"seed is text", object{"seed": "seven"}},
		{"a negative seed", object{"seed": -7}},
		{"stop is a number", object{"stop": 3}},
		{"five stops", object{"stop": []string{"a", "b", "c", "d", "e"}}},
		{"no stops", object{"stop": []string{}}},
		{"stream is text", object{"stream": "yes"}},
		{"stream_options is text", object{"stream": true, "stream_options": "usage"}},
		{"include_usage is text", object{"stream": true, "stream_options": object{"include_usage": "yes"}}},
		{"logprobs is a number", object{"logprobs": 2}},
		{"top_logprobs above 20", object{"logprobs": true, "top_logprobs": 21}},
		{"tools", object{"tools": tools, "tool_choice": "auto", "parallel_tool_calls": false}},
		{"tools is an object", object{"tools": function("f")}},
		{"a tool without a name", object{"tools": []object{{"type": "function", "function": object{}}}}},
		{"a tool without a function", object{"tools": []object{{"type": "function"}}}},
		{"a tool without a type", object{"tools": []object{{"function": object{"name": "f"}}}}},
		{"a tool of an unknown type", object{"tools": []object{{"type": "spell", "function": object{"name": "f"}}}}},
		{"a tool's name is a number", object{"tools": []object{function(3)}}},
		{"a tool's parameters are text", object{"tools": []object{{"type": "function", "function": object{"name": "f", "parameters": "none"}}}}},
		{"an unknown tool_choice", object{"tools": tools, "tool_choice": "maybe"}},
		{"a named tool", object{"tools": tools, "tool_choice": function("f")}},
		{"a named tool without a type", object{"tools": tools, "tool_choice": object{"function": object{"name": "f"}}}},
		{"a named tool without a name", object{"tools": tools, "tool_choice": object{"type": "function", "function": object{}}}},
		{"parallel_tool_calls is text", object{"tools": tools, "parallel_tool_calls": "no"}},
		{"a tool's result", object{"messages": called("c1", "{}"), "tools": tools}},
		{"a call without an id", object{"messages": []object{hello, {"role": "assistant", "tool_calls": []object{{"type": "function", "function": object{"name": "f", "arguments": "{}"}}}}}, "tools": tools}},
		{"a call without a function", object{"messages": []object{hello, {"role": "assistant", "tool_calls": []object{{"id": "c1", "type": "function"}}}, {"role": "tool", "tool_call_id": "c1", "content": "x"}}, "tools": tools}},
		{"arguments are an object", object{"messages": called("c1", object{}), "tools": tools}},
		{"an id is a number", object{"messages": called(1, "{}"), "tools": tools}},
		{"a result without an id", object{"messages": []object{hello, {"role": "tool", "content": "x"}}, "tools": tools}},
		{"text", object{"response_format": object{"type": "text"}}},
		{"json_object", object{"response_format": object{"type": "json_object"}, "messages": []object{{"role": "user", "content": "answer in JSON"}}}},
		{"json_schema", object{"response_format": object{"type": "json_schema", "json_schema": object{"name": "n", "strict": true, "schema": object{"type": "object", "properties": object{"a": object{"type": "string"}}, "required": []string{"a"}, "additionalProperties": false}}}}},
		{"json_schema without a name", object{"response_format": object{"type": "json_schema", "json_schema": object{"schema": object{"type": "object"}}}}},
		{"json_schema without itself", object{"response_format": object{"type": "json_schema"}}},
		{"json_schema's schema is text", object{"response_format": object{"type": "json_schema", "json_schema": object{"name": "n", "schema": "any"}}}},
		{"an unknown format", object{"response_format": object{"type": "yaml"}}},
		{"a format without a type", object{"response_format": object{}}},
		{"response_format is text", object{"response_format": "json"}},
		{"user", object{"user": "ann", "metadata": object{"a": "b"}, "store": false, "service_tier": "auto", "reasoning_effort": "low"}},
		{"metadata is text", object{"metadata": "a"}},
		{"logit_bias", object{"logit_bias": object{"50256": -100}}},
		{"logit_bias is a list", object{"logit_bias": []int{1}}},
		{"an unknown service_tier", object{"service_tier": "royal"}},
		{"an unknown reasoning_effort", object{"reasoning_effort": "vast"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			body := changed(c.change)
			refused := contract.check("CreateChatCompletionRequest", body)
			status, contentType, answer := post(t, base, "", string(body))
			want := http.StatusOK
			if refused != nil {
				want = http.StatusBadRequest
			}
			assert.Equal(t, want, status, "%s\nanswer: %s\nschema: %v", body, answer, refused)
			_, err := contract.checkAnswer("/v1/chat/completions", status, contentType, answer)
			require.NoError(t, err)
		})
	}
}
