package endpoint_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/youden-bench/youden/bench/endpoint"
	"github.com/youden-bench/youden/detector"
)

// picky refuses requests that have any of the parameters, in their order, with the
// given answer for each.
func picky(refusals ...any) func(int, map[string]any) reply200 {
	return func(_ int, sent map[string]any) reply200 {
		for i := 0; i+1 < len(refusals); i += 2 {
			if _, has := sent[refusals[i].(string)]; has {
				return refusals[i+1].(reply200)
			}
		}
		return good()
	}
}

func unsupported(param, text string) reply200 {
	return refuse(400, `{"error":{"message":"`+text+`","type":"invalid_request_error","param":"`+param+`","code":"unsupported_parameter"}}`)
}

func refused(text string) reply200 { return refuse(400, apiError("", "invalid_request_error", text)) }

var (
	noMaxTokens   = unsupported("max_tokens", "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.")
	noTemperature = refuse(400, `{"error":{"message":"Unsupported value: 'temperature' does not support 0 with this model. Only the default (1) value is supported.","type":"invalid_request_error","param":"temperature","code":"unsupported_value"}}`)
)

func format(name string) func(*detector.Detector) {
	return func(d *detector.Detector) { d.ResponseFormat = name }
}

// parameterQuirks are about parameters that an endpoint does not take (spec/peers.md
// section 3.1 and rows 10 to 12 of 3.2).
var parameterQuirks = []quirk{
	{
		name: "max_tokens is called max_completion_tokens", from: "3.1, row 10: OpenAI", serve: picky("max_tokens", noMaxTokens),
		status: detector.OK, attempts: 2, learned: []string{"max_tokens"}, warning: "refuses max_tokens",
		effective: map[string]any{"max_tokens": absent, "max_completion_tokens": 4096},
		check: func(t *testing.T, _ detector.Answer, sent []map[string]any) {
			assert.NotContains(t, sent[1], "max_tokens")
			assert.EqualValues(t, 4096, sent[1]["max_completion_tokens"])
		},
	},
	{
		name: "max_completion_tokens is unknown", from: "row 10: older servers",
		serve:   picky("max_completion_tokens", refused("Unrecognized request argument supplied: max_completion_tokens")),
		options: func(o *endpoint.Options) { o.MaxTokensField = "max_completion_tokens" },
		status:  detector.Config, attempts: 1, // the configuration wins
	},
	{
		name: "neither field for the limit", from: "row 10",
		serve:  picky("max_tokens", noMaxTokens, "max_completion_tokens", unsupported("max_completion_tokens", "Unsupported parameter: max_completion_tokens")),
		status: detector.Config, attempts: 2, learned: []string{"max_tokens"},
		effective: map[string]any{"max_tokens": absent, "max_completion_tokens": 4096},
	},
	{
		name: "max_tokens is too large", from: "OpenAI",
		serve:  picky("max_tokens", refuse(400, `{"error":{"message":"max_tokens is too large: 4096. This model supports at most 2048 completion tokens.","type":"invalid_request_error","param":"max_tokens","code":"invalid_value"}}`)),
		status: detector.Config, attempts: 1,
	},
	{
		name: "no temperature", from: "3.1, row 11: OpenAI", serve: picky("temperature", noTemperature),
		status: detector.OK, attempts: 2, learned: []string{"temperature"}, effective: map[string]any{"temperature": nil},
		check: func(t *testing.T, _ detector.Answer, sent []map[string]any) {
			assert.NotContains(t, sent[1], "temperature")
		},
	},
	{
		name: "no temperature, and it must stay", from: "row 11", serve: picky("temperature", noTemperature),
		options: func(o *endpoint.Options) { o.KeepParameters = true },
		status:  detector.Config, attempts: 1,
	},
	{
		name: "only one temperature", from: "Kimi", serve: picky("temperature", refused("invalid temperature: only 1 is allowed for this model")),
		status: detector.OK, attempts: 2, learned: []string{"temperature"}, effective: map[string]any{"temperature": nil},
	},
	{
		name: "two parameters, one after the other", from: "3.1", serve: picky("max_tokens", noMaxTokens, "temperature", noTemperature),
		status: detector.OK, attempts: 3, learned: []string{"max_tokens", "temperature"},
		effective: map[string]any{"max_tokens": absent, "max_completion_tokens": 4096, "temperature": nil},
	},
	{
		name: "no seed", from: "row 12", serve: picky("seed", refused("property 'seed' is unsupported")),
		status: detector.OK, attempts: 2, learned: []string{"seed"}, effective: map[string]any{"seed": nil},
		check: func(t *testing.T, _ detector.Answer, sent []map[string]any) { assert.NotContains(t, sent[1], "seed") },
	},
	{
		name: "a seed of 32 bits", from: "Gemini", serve: picky("seed", refuse(400, `[{"error":{"code":400,"message":"Invalid value at 'generation_config.seed' (TYPE_INT32), 9007199254740991","status":"INVALID_ARGUMENT"}}]`)),
		status: detector.OK, attempts: 2, learned: []string{"seed"}, effective: map[string]any{"seed": nil},
	},
	{
		name: "no seed, says pydantic", from: "Mistral", serve: picky("seed", refuse(422, `{"object":"error","message":{"detail":[{"type":"extra_forbidden","loc":["body","seed"],"msg":"Extra inputs are not permitted"}]}}`)),
		status: detector.OK, attempts: 2, learned: []string{"seed"}, effective: map[string]any{"seed": nil},
	},
	{
		name: "no seed, says FastAPI", from: "spec/libraries.md 1.2, row 10", serve: picky("seed", refuse(422, `{"detail":[{"loc":["body","seed"],"msg":"extra fields not permitted","type":"value_error.extra"}]}`)),
		status: detector.OK, attempts: 2, learned: []string{"seed"}, effective: map[string]any{"seed": nil},
	},
	{
		name: "no json_object", from: "row 12: LM Studio", program: format("json_object"),
		serve:  picky("response_format", refuse(400, `{"error":"'response_format.type' must be 'json_schema' or 'text'"}`)),
		status: detector.OK, attempts: 2, learned: []string{"response_format"}, effective: map[string]any{"response_format": nil},
	},
	{
		name: "no json_schema, but json_object", from: "row 12", ask: schemaQuestion(),
		serve: func(_ int, sent map[string]any) reply200 {
			if f, _ := sent["response_format"].(map[string]any); f["type"] == "json_schema" {
				return refused("This response_format type is unavailable now")
			}
			return good()
		},
		status: detector.OK, attempts: 2, learned: []string{"response_format"},
		check: func(t *testing.T, _ detector.Answer, sent []map[string]any) {
			assert.Equal(t, map[string]any{"type": "json_object"}, sent[1]["response_format"])
		},
	},
	{
		name: "no format of any kind", from: "row 12", ask: schemaQuestion(),
		serve:  picky("response_format", refused("Structured output is not supported: unknown field response_format")),
		status: detector.OK, attempts: 3, learned: []string{"response_format", "response_format"}, effective: map[string]any{"response_format": nil},
	},
	{
		name: "only streams", from: "row 60: Qwen", learned: []string{"stream"}, effective: map[string]any{"stream": true},
		serve: func(_ int, sent map[string]any) reply200 {
			if sent["stream"] != true {
				return refused("This model only support stream mode, please enable the stream parameter to access the model.")
			}
			return reply200{body: chunks("stop", delta(finding)) + "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":9,\"completion_tokens\":3}}\n\ndata: [DONE]\n\n"}
		},
		status: detector.OK, attempts: 2,
		check: func(t *testing.T, a detector.Answer, sent []map[string]any) {
			assert.Equal(t, map[string]any{"include_usage": true}, sent[1]["stream_options"], "usage is asked for (row 6)")
			assert.EqualValues(t, 9, *a.Usage.Prompt)
		},
	},
	{
		name: "only streams, and may not", from: "row 60", serve: script(refused("stream must be true")),
		options: func(o *endpoint.Options) { o.Stream = "off" },
		status:  detector.Config, attempts: 1,
	},
	{
		name: "streams as configured, without options", from: "rows 6 and 60", learned: []string{"stream_options"},
		options:   func(o *endpoint.Options) { o.Stream = "on" },
		serve:     picky("stream_options", refused("Unknown parameter: 'stream_options'.")),
		effective: map[string]any{"stream": true},
		status:    detector.OK, attempts: 2,
		check: func(t *testing.T, _ detector.Answer, sent []map[string]any) { assert.Equal(t, true, sent[1]["stream"]) },
	},
	{
		name: "a field of the operator's own", from: "row 12",
		serve:   picky("parallel_tool_calls", refused("Unknown parameter: 'parallel_tool_calls'.")),
		options: func(o *endpoint.Options) { o.ExtraBody = map[string]any{"parallel_tool_calls": false} },
		status:  detector.Config, attempts: 1, detail: "parallel_tool_calls",
	},
	{
		name: "only what was configured is sent", from: "row 12", serve: script(good()), status: detector.OK, attempts: 1,
		options: func(o *endpoint.Options) { o.Temperature = nil },
		check: func(t *testing.T, _ detector.Answer, sent []map[string]any) {
			var names []string
			for name := range sent[0] {
				names = append(names, name)
			}
			assert.ElementsMatch(t, []string{"model", "messages", "max_tokens", "seed", "stream"}, names)
		},
	},
}

func schemaQuestion() *detector.Request {
	q := ask("q")
	q.ResponseFormat, q.Schema = "json_schema", []byte(`{"type":"object"}`)
	return &q
}

// toolTurn is a conversation in which the model called a tool.
func toolTurn(change func(*detector.Message)) *detector.Request {
	q := ask("q")
	turn := detector.Message{Role: detector.Assistant, ToolCalls: []detector.ToolCall{{ID: "c1", Name: "read_file", Arguments: `{"path":"a"}`}}}
	if change != nil {
		change(&turn)
	}
	q.Messages = append(q.Messages, turn, detector.Message{Role: detector.ToolRole, ToolCallID: "c1", Content: "text"})
	return &q
}

// turn returns the assistant's turn of a request.
func turn(sent map[string]any) map[string]any { return sent["messages"].([]any)[2].(map[string]any) }

// arguments returns those of the turn's only call.
func sentArguments(sent map[string]any) any {
	return turn(sent)["tool_calls"].([]any)[0].(map[string]any)["function"].(map[string]any)["arguments"]
}

func strict(text string, bad func(content any, there bool) bool) func(int, map[string]any) reply200 {
	return func(_ int, sent map[string]any) reply200 {
		content, there := turn(sent)["content"]
		if bad(content, there) {
			return refused(text)
		}
		return good()
	}
}

// conversationQuirks are about earlier turns that go back to the endpoint
// (spec/peers.md section 3.2, rows 1, 7, 8 and 9).
var conversationQuirks = []quirk{
	{
		name: "null beside tool calls", from: "row 7: the documented form", ask: toolTurn(nil),
		serve: strict("x", func(c any, there bool) bool { return !there || c != nil }), status: detector.OK, attempts: 1,
	},
	{
		name: "an empty text beside tool calls", from: "row 7: vLLM", ask: toolTurn(nil),
		serve:  strict("Input should be a valid string: messages.2.content", func(c any, there bool) bool { return c != "" }),
		status: detector.OK, attempts: 2, learned: []string{"messages.content"}, effective: map[string]any{"tool_content": "empty"},
	},
	{
		name: "no content beside tool calls", from: "row 7: Ollama", ask: toolTurn(nil),
		serve:  strict("invalid message content type: <nil>", func(c any, there bool) bool { return there }),
		status: detector.OK, attempts: 3, learned: []string{"messages.content", "messages.content"}, effective: map[string]any{"tool_content": "omit"},
	},
	{
		name: "no content beside tool calls, as configured", from: "row 7", ask: toolTurn(nil),
		options: func(o *endpoint.Options) { o.ToolContent = "omit" }, effective: map[string]any{"tool_content": "omit"},
		serve:  strict("x", func(_ any, there bool) bool { return there }),
		status: detector.OK, attempts: 1,
	},
	{
		name: "reasoning goes back into its own field", from: "row 1: DeepSeek",
		ask: toolTurn(func(m *detector.Message) { m.Replay = []byte(`{"reasoning_content":"hm"}`) }),
		serve: func(_ int, sent map[string]any) reply200 {
			if turn(sent)["reasoning_content"] != "hm" {
				return refused("The reasoning_content in the thinking mode must be passed back to the API.")
			}
			return good()
		},
		status: detector.OK, attempts: 1,
	},
	{
		name: "reasoning of a router goes back whole", from: "row 1: OpenRouter", serve: script(good()),
		ask: toolTurn(func(m *detector.Message) {
			m.Replay = []byte(`{"reasoning_details":[{"type":"reasoning.encrypted","data":"x"}]}`)
		}),
		status: detector.OK, attempts: 1,
		check: func(t *testing.T, _ detector.Answer, sent []map[string]any) {
			assert.Equal(t, []any{map[string]any{"type": "reasoning.encrypted", "data": "x"}}, turn(sent[0])["reasoning_details"])
		},
	},
	{
		name: "reasoning must not go back", from: "row 1: the first DeepSeek R1", learned: []string{"messages.reasoning"}, effective: map[string]any{"replay_reasoning": false},
		ask: toolTurn(func(m *detector.Message) { m.Reasoning = "hm" }),
		serve: func(_ int, sent map[string]any) reply200 {
			if _, there := turn(sent)["reasoning_content"]; there {
				return refused("reasoning_content should not be in the messages: unknown field")
			}
			return good()
		},
		status: detector.OK, attempts: 2,
	},
	{
		name: "reasoning is refused, and there is none", from: "row 1", serve: script(refused("reasoning_content is not permitted")),
		ask:    toolTurn(func(m *detector.Message) { m.Content = `{"reasoning_content": "of the user"}` }),
		status: detector.Config, attempts: 1,
	},
	{
		name: "reasoning is refused for ever", from: "row 1", serve: script(refused("reasoning_content is not permitted")),
		ask:    toolTurn(func(m *detector.Message) { m.Reasoning = "hm" }),
		status: detector.Config, attempts: 2, learned: []string{"messages.reasoning"}, effective: map[string]any{"replay_reasoning": false},
	},
	{
		name: "reasoning stays here, as configured", from: "row 1", serve: script(good()),
		ask:     toolTurn(func(m *detector.Message) { m.Reasoning = "hm" }),
		options: func(o *endpoint.Options) { o.ForgetThoughts = true }, effective: map[string]any{"replay_reasoning": false},
		status: detector.OK, attempts: 1,
		check: func(t *testing.T, _ detector.Answer, sent []map[string]any) {
			assert.NotContains(t, turn(sent[0]), "reasoning_content")
		},
	},
	{
		name: "malformed arguments go back in an envelope", from: "row 8", serve: script(good()),
		ask:    toolTurn(func(m *detector.Message) { m.ToolCalls[0].Arguments = `{"path": "a` }),
		status: detector.OK, attempts: 1,
		check: func(t *testing.T, _ detector.Answer, sent []map[string]any) {
			assert.Equal(t, `{"malformed_arguments":"{\"path\": \"a"}`, sentArguments(sent[0]))
		},
	},
	{
		name: "arguments that are a list go back in an envelope", from: "row 8", serve: script(good()),
		ask:    toolTurn(func(m *detector.Message) { m.ToolCalls[0].Arguments = `[1]` }),
		status: detector.OK, attempts: 1,
		check: func(t *testing.T, _ detector.Answer, sent []map[string]any) {
			assert.Equal(t, `{"malformed_arguments":"[1]"}`, sentArguments(sent[0]))
		},
	},
	{
		name: "a stray quote after the arguments", from: "row 9", ask: toolTurn(nil),
		serve:  said(`{"content":null,"tool_calls":[{"id":"a","function":{"name":"f","arguments":"{\"path\":\"a\"}\""}}]}`, "tool_calls"),
		status: detector.OK, attempts: 1, detail: "repaired: the arguments",
		check: func(t *testing.T, a detector.Answer, _ []map[string]any) {
			assert.Equal(t, `{"path":"a"}`, a.ToolCalls[0].Arguments)
			assert.Equal(t, `{"path":"a"}"`, a.ToolCalls[0].Raw)
		},
	},
	{
		name: "arguments that no repair helps", from: "row 9", ask: toolTurn(nil),
		serve:  said(`{"content":null,"tool_calls":[{"id":"a","function":{"name":"f","arguments":"{\"path\":"}}]}`, "tool_calls"),
		status: detector.OK, attempts: 1,
		check: func(t *testing.T, a detector.Answer, _ []map[string]any) {
			assert.Equal(t, `{"path":`, a.ToolCalls[0].Arguments, "as they came")
			assert.Empty(t, a.ToolCalls[0].Raw)
		},
	},
}

// dialectQuirks are the rows of spec/endpoints.md section 3.3 that are not above.
var dialectQuirks = []quirk{
	{name: "a code that is a number", from: "vLLM, llama.cpp", serve: script(refuse(404, `{"error":{"message":"no such model","type":"NotFoundError","param":null,"code":404}}`)), status: detector.Config, attempts: 1},
	{name: "no code at all", from: "aimock", serve: script(refuse(404, `{"error":{"message":"no fixture","type":"not_found"}}`)), status: detector.Config, attempts: 1},
	{name: "a type of its own", from: "Ollama", serve: script(refuse(404, `{"error":{"message":"model not found","type":"api_error","param":null,"code":null}}`)), status: detector.Config, attempts: 1},
	{name: "an error in plain text", from: "Ollama", serve: script(refuse(404, "404 page not found")), status: detector.Config, attempts: 1, detail: "/v1"},
	{name: "a flat error", from: "vLLM", serve: script(refuse(400, `{"object":"error","message":"bad","type":"BadRequestError","code":400}`)), status: detector.Config, attempts: 1},
	{name: "a context error of another type", from: "llama.cpp", serve: script(refuse(400, `{"error":{"code":400,"message":"exceeds","type":"exceed_context_size_error","n_prompt_tokens":60003,"n_ctx":512}}`)), status: detector.Context, attempts: 1},
	{name: "bad JSON is a 500", from: "llama.cpp", serve: script(refuse(500, `{"error":{"code":500,"message":"parse error","type":"server_error"}}`), good()), status: detector.OK, attempts: 2, waited: 250_000_000},
	{
		name: "a named tool ends with stop", from: "the documentation", ask: toolTurn(nil),
		serve: said(`{"content":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{}"}}]}`, "stop"), status: detector.OK, attempts: 1,
	},
	{
		name: "an index in calls that are no stream, and no content key", from: "llm-d-inference-sim", ask: toolTurn(nil),
		serve:  said(`{"role":"assistant","tool_calls":[{"index":0,"id":"a","type":"function","function":{"name":"f","arguments":"{}"}}]}`, "tool_calls"),
		status: detector.OK, attempts: 1,
		check: func(t *testing.T, a detector.Answer, _ []map[string]any) { assert.Len(t, a.ToolCalls, 1) },
	},
	{
		name: "calls in pieces, merged by index", from: "aimock", ask: toolTurn(nil),
		serve: script(reply200{body: chunks("tool_calls",
			`{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":""}},{"index":1,"id":"b","function":{"name":"g","arguments":"{"}}]}`,
			`{"tool_calls":[{"index":1,"function":{"arguments":"}"}},{"index":0,"function":{"arguments":"{}"}}]}`) + "data: [DONE]\n\n"}),
		status: detector.OK, attempts: 1,
		check: func(t *testing.T, a detector.Answer, _ []map[string]any) {
			assert.Equal(t, []detector.ToolCall{{ID: "a", Name: "f", Arguments: "{}"}, {ID: "b", Name: "g", Arguments: "{}"}}, a.ToolCalls)
		},
	},
	{
		name: "no refusal, logprobs and details", from: "most servers", serve: script(reply200{body: `{"model":"m","choices":[{"message":{"content":"{\"findings\":[]}"},"finish_reason":"stop"}],"usage":{"prompt_tokens":5,"completion_tokens":1}}`}),
		status: detector.OK, attempts: 1,
		check: func(t *testing.T, a detector.Answer, _ []map[string]any) {
			assert.Nil(t, a.Usage.Cached, "unknown, not 0")
			assert.Nil(t, a.Usage.Reasoning)
		},
	},
	{
		name: "cached tokens in DeepSeek's words", from: "DeepSeek", serve: script(reply200{body: `{"model":"m","choices":[{"message":{"content":"{\"findings\":[]}"},"finish_reason":"stop"}],"usage":{"prompt_tokens":5,"completion_tokens":1,"prompt_cache_hit_tokens":4}}`}),
		status: detector.OK, attempts: 1,
		check: func(t *testing.T, a detector.Answer, _ []map[string]any) { assert.EqualValues(t, 4, *a.Usage.Cached) },
	},
	{
		name: "content in parts", from: "Mistral", serve: said(`{"content":[{"type":"thinking","thinking":[{"type":"text","text":"VULN: yes"}]},{"type":"text","text":"{\"findings\":[]}"}]}`, "stop"),
		status: detector.OK, attempts: 1,
		check: func(t *testing.T, a detector.Answer, _ []map[string]any) { assert.Equal(t, `{"findings":[]}`, a.Text) },
	},
	{name: "another word for stop", from: "gateways", serve: said(`{"content":"{\"findings\":[]}"}`, "end_turn"), status: detector.OK, attempts: 1},
	{
		name: "an unknown reason to stop", from: "spec/libraries.md 1.2, row 5", serve: said(`{"content":"{\"findings\":[]}"}`, "abort"),
		status: detector.Transient, attempts: 3, waited: 750_000_000, detail: `"abort"`,
	},
	{name: "chunks with usage null", from: "the documentation", serve: script(reply200{body: "data: {\"model\":\"m\",\"usage\":null,\"choices\":[{\"index\":0,\"delta\":{\"content\":\"{\\\"findings\\\":[]}\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n"}), status: detector.OK, attempts: 1},
}
