package endpoint

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/youden-bench/youden/detector"
)

// A refusal teaches about what was sent, and only when it is about that. The texts
// are those of servers.
func TestLessons(t *testing.T) {
	all := `{"max_tokens":4096,"temperature":0,"seed":7,"stream":false,"response_format":{"type":"json_object"},"messages":[]}`
	schema := `{"max_tokens":4096,"response_format":{"type":"json_schema"},"messages":[]}`
	streamed := `{"max_tokens":4096,"stream":true,"stream_options":{"include_usage":true},"messages":[]}`
	turn := func(content string) string {
		return `{"messages":[{"role":"assistant",` + content + `"tool_calls":[{"id":"a"}]}]}`
	}
	say := func(text string) string {
		raw, _ := json.Marshal(map[string]any{"error": map[string]any{"message": text, "type": "invalid_request_error"}})
		return string(raw)
	}
	for name, c := range map[string]struct {
		sent   string
		status int
		body   string
		want   form
	}{
		"OpenAI":                     {all, 400, `{"error":{"message":"Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.","param":"max_tokens","code":"unsupported_parameter"}}`, swapMaxTokens},
		"the other field is named":   {all, 400, say("max_tokens is gone, please use max_completion_tokens"), swapMaxTokens},
		"too many tokens":            {all, 400, say("max_tokens must be less than or equal to 2048"), 0},
		"too many tokens, says vLLM": {all, 400, say("'max_tokens' or 'max_completion_tokens' is too large: 4096. This model's maximum context length is 4096 tokens"), 0},
		"temperature":                {all, 400, say("temperature is not supported with reasoning models"), dropTemperature},
		"temperature of TGI":         {all, 422, `{"error":"Input validation error: ` + "`temperature`" + ` must be strictly positive","error_type":"validation"}`, dropTemperature},
		"a place where it is hot":    {all, 400, say("the room temperatures are wrong"), 0},
		"temperature was not sent":   {schema, 400, say("temperature is not supported"), 0},
		"seed by its place":          {all, 422, `{"detail":[{"loc":["body","seed"],"msg":"extra fields not permitted"}]}`, dropSeed},
		"seed of Cohere":             {all, 400, `{"message":"invalid request: seed must be less than 4294967295"}`, dropSeed},
		"seed in another word":       {all, 400, say("unsupported: seeded and reseed"), 0},
		"json_object":                {all, 400, say("'messages' must contain the word 'json' in some form, to use 'response_format' of type 'json_object'."), formatText},
		"json_schema":                {schema, 400, say("This response_format type is unavailable now"), formatObject},
		"structured outputs":         {schema, 400, say("This model does not support structured outputs"), formatObject},
		"a grammar":                  {schema, 400, say("failed to parse grammar"), formatObject},
		"only streams":               {all, 400, say("Streaming only: stream must be true for this model"), streamOn},
		"non-streaming":              {all, 400, say("parameter.enable_thinking must be set to false for non-streaming calls: stream"), streamOn},
		"streams already":            {streamed, 400, say("stream must be true"), 0},
		"stream options":             {streamed, 400, say("Unknown parameter: 'stream_options'."), dropStreamOptions},
		"null content":               {turn(`"content":null,`), 400, say("messages.1.content: Input should be a valid string"), callContentEmpty},
		"empty content":              {turn(`"content":"",`), 400, say("messages: text content blocks must be non-empty"), callContentOmit},
		"no content":                 {turn(``), 400, say("content must be a string"), 0},
		"content elsewhere":          {`{"messages":[{"role":"user","content":null}]}`, 400, say("content must be a string"), 0},
		"reasoning":                  {`{"messages":[{"reasoning_content":"x"}]}`, 400, say("reasoning_content is not permitted"), dropReasoning},
		"a server error":             {all, 500, say("temperature is not supported"), 0},
		"a filter":                   {all, 400, `{"error":{"message":"temperature is not supported","code":"content_filter"}}`, 0},
		"another error":              {all, 400, say("bad request"), 0},
		"no error":                   {all, 200, `{"choices":[{"message":{"content":"temperature is not supported"}}]}`, 0},
		"an error of 400 inside":     {all, 200, `{"error":{"message":"temperature is not supported","code":400}}`, dropTemperature},
	} {
		t.Run(name, func(t *testing.T) {
			p := pupil{maxTokensField: fieldMaxTokens, swaps: true, drops: true, streams: true, callContent: true}
			r := rules{}.interpret(c.status, "application/json", []byte(c.body), false)
			assert.Equal(t, c.want, p.lesson(document([]byte(c.sent)), r), r.Detail)
			if c.want != dropStreamOptions && c.want != dropReasoning {
				assert.Zero(t, pupil{maxTokensField: fieldMaxTokens}.lesson(document([]byte(c.sent)), r), "where nothing may be changed")
			}
		})
	}
}

func TestEveryLessonChangesTheRequestOnce(t *testing.T) {
	sent := func(f form) string {
		messages := encodeMessages(nil, []detector.Message{{Role: detector.Assistant, Reasoning: "x", ToolCalls: []detector.ToolCall{{ID: "a"}}}}, f)
		o := document([]byte(`{"max_tokens":9,"temperature":0,"seed":7,"stream":false,"response_format":{"type":"json_schema"}}`))
		o["messages"] = messages
		f.apply(o, fieldMaxTokens)
		return string(o.encode())
	}
	seen := map[string]form{}
	for lesson := range lessonWords {
		base := form(0)
		if lesson == dropStreamOptions {
			base = streamOn
		}
		text := sent(base | lesson)
		assert.NotEqual(t, sent(base), text, "%v", lessonWords[lesson])
		other, twice := seen[text]
		assert.False(t, twice, "%v and %v", lessonWords[lesson], lessonWords[other])
		seen[text] = lesson
	}
	assert.Len(t, seen, 10)
}

func TestSubsets(t *testing.T) {
	var got []form
	for f := range (dropSeed | swapMaxTokens).subsets {
		got = append(got, f)
	}
	assert.Equal(t, []form{0, swapMaxTokens, dropSeed}, got, "all but the whole")
	for range form(0).subsets {
		t.Fatal("nothing was learned")
	}
}
