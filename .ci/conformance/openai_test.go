package conformance

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/shared"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const model = "sim-strong"

// code is something a simulated detector has something to say about.
const code = "Audit this for injection and report findings as JSON.\n```python\nimport os\nfrom flask import request\n\ndef run():\n    os.system('ls ' + request.args.get('dir'))\n```"

// client is OpenAI's own, without its retries, whose answers are inspected.
func client(base string, through http.RoundTripper, more ...option.RequestOption) openai.Client {
	options := []option.RequestOption{
		option.WithBaseURL(base), option.WithAPIKey(apiKey), option.WithMaxRetries(0),
		option.WithHTTPClient(&http.Client{Transport: through}),
	}
	return openai.NewClient(append(options, more...)...)
}

// ask is a request; change alters it.
func ask(text string, change func(*openai.ChatCompletionNewParams)) openai.ChatCompletionNewParams {
	p := openai.ChatCompletionNewParams{
		Model:    model,
		Messages: []openai.ChatCompletionMessageParamUnion{openai.UserMessage(text)},
		Seed:     openai.Int(7), Temperature: openai.Float(0),
	}
	if change != nil {
		change(&p)
	}
	return p
}

func complete(t *testing.T, c openai.Client, p openai.ChatCompletionNewParams) *openai.ChatCompletion {
	t.Helper()
	answer, err := c.Chat.Completions.New(context.Background(), p)
	require.NoError(t, err)
	require.NotEmpty(t, answer.Choices)
	return answer
}

func TestOpenAIModels(t *testing.T) {
	c := client(simulate(t), inspected(t))
	list, err := c.Models.List(context.Background())
	require.NoError(t, err)
	assert.EqualValues(t, "list", list.Object)
	require.NotEmpty(t, list.Data)
	for _, listed := range list.Data {
		one, err := c.Models.Get(context.Background(), listed.ID)
		require.NoError(t, err)
		assert.Equal(t, listed.ID, one.ID)
		assert.EqualValues(t, "model", one.Object)
		assert.NotZero(t, one.Created)
		assert.Equal(t, "simulated", one.OwnedBy)
	}
}

func TestOpenAICompletion(t *testing.T) {
	c := client(simulate(t, "--cache"), inspected(t))
	a := complete(t, c, ask(code, nil))
	assert.EqualValues(t, "chat.completion", a.Object)
	assert.True(t, strings.HasPrefix(a.ID, "chatcmpl-"))
	assert.NotZero(t, a.Created)
	assert.Equal(t, model, a.Model)
	assert.Contains(t, a.RawJSON(), `"system_fingerprint":"fp_`)
	choice := a.Choices[0]
	assert.NotEmpty(t, choice.Message.Content)
	assert.Equal(t, "stop", choice.FinishReason)
	assert.EqualValues(t, "assistant", choice.Message.Role)
	// Clients tell a key that is null from one that is absent.
	for _, key := range []struct{ of, name string }{{choice.Message.RawJSON(), "refusal"}, {choice.RawJSON(), "logprobs"}} {
		var keys map[string]json.RawMessage
		require.NoError(t, json.Unmarshal([]byte(key.of), &keys))
		assert.Contains(t, keys, key.name)
	}

	u := a.Usage
	assert.Equal(t, u.TotalTokens, u.PromptTokens+u.CompletionTokens)
	assert.Positive(t, u.PromptTokens)
	assert.Positive(t, u.CompletionTokens)
	assert.LessOrEqual(t, u.CompletionTokensDetails.ReasoningTokens, u.CompletionTokens)
	long := ask(strings.Repeat("x = 1\n", 3000)+code, nil)
	assert.Zero(t, complete(t, c, long).Usage.PromptTokensDetails.CachedTokens)
	again := complete(t, c, long).Usage
	assert.Positive(t, again.PromptTokensDetails.CachedTokens)
	assert.LessOrEqual(t, again.PromptTokensDetails.CachedTokens, again.PromptTokens)
}

// Of a hosted model nobody may assume it; a simulated answer is a function of the
// request alone.
func TestOpenAISeeds(t *testing.T) {
	c := client(simulate(t), inspected(t))
	sampled := func(seed int64, temperature float64) string {
		return complete(t, c, ask(code, func(p *openai.ChatCompletionNewParams) {
			p.Seed, p.Temperature = openai.Int(seed), openai.Float(temperature)
		})).RawJSON()
	}
	assert.Equal(t, sampled(7, 1), sampled(7, 1))
	distinct := map[string]bool{}
	for seed := range int64(8) {
		var a openai.ChatCompletion
		require.NoError(t, json.Unmarshal([]byte(sampled(seed, 1)), &a))
		distinct[a.Choices[0].Message.Content] = true
	}
	t.Logf("T = 1, seeds 0..7: %d distinct answers", len(distinct))
	assert.Greater(t, len(distinct), 1)
}

func TestOpenAILimits(t *testing.T) {
	c := client(simulate(t), inspected(t))
	for name, limit := range map[string]func(*openai.ChatCompletionNewParams){
		"max_completion_tokens": func(p *openai.ChatCompletionNewParams) { p.MaxCompletionTokens = openai.Int(3) },
		"max_tokens":            func(p *openai.ChatCompletionNewParams) { p.MaxTokens = openai.Int(3) },
	} {
		t.Run(name, func(t *testing.T) {
			a := complete(t, c, ask(code, limit))
			assert.LessOrEqual(t, a.Usage.CompletionTokens, int64(3))
			assert.Equal(t, "length", a.Choices[0].FinishReason)
		})
	}
}

func TestOpenAIChoicesLogprobsStop(t *testing.T) {
	c := client(simulate(t), inspected(t))
	a := complete(t, c, ask(code, func(p *openai.ChatCompletionNewParams) {
		p.N, p.Logprobs, p.TopLogprobs = openai.Int(2), openai.Bool(true), openai.Int(2)
		p.Temperature = openai.Float(1)
	}))
	require.Len(t, a.Choices, 2)
	for i, choice := range a.Choices {
		assert.EqualValues(t, i, choice.Index)
		var joined []byte
		for _, token := range choice.Logprobs.Content {
			require.Len(t, token.TopLogprobs, 2)
			assert.LessOrEqual(t, token.Logprob, 0.0)
			for _, b := range token.Bytes {
				joined = append(joined, byte(b))
			}
		}
		assert.Equal(t, choice.Message.Content, string(joined), "the tokens' bytes are the content")
	}

	whole := complete(t, c, ask(code, nil)).Choices[0].Message.Content
	require.Contains(t, whole, `"line"`)
	for name, stop := range map[string]openai.ChatCompletionNewParamsStopUnion{
		"one": {OfString: openai.String(`"line"`)}, "several": {OfStringArray: []string{"never said", `"line"`}},
	} {
		t.Run("stop "+name, func(t *testing.T) {
			a := complete(t, c, ask(code, func(p *openai.ChatCompletionNewParams) { p.Stop = stop }))
			before, _, _ := strings.Cut(whole, `"line"`)
			assert.Equal(t, before, a.Choices[0].Message.Content)
			assert.Equal(t, "stop", a.Choices[0].FinishReason)
		})
	}
}

func TestOpenAIResponseFormat(t *testing.T) {
	c := client(simulate(t), inspected(t))
	schema := map[string]any{
		"type": "object", "additionalProperties": false, "required": []string{"verdict", "line", "confidence"},
		"properties": map[string]any{
			"verdict":    map[string]any{"type": "string", "enum": []string{"vulnerable", "safe"}},
			"line":       map[string]any{"type": "integer"},
			"confidence": map[string]any{"type": "number"},
		},
	}
	parsed := 0
	for seed := range int64(10) {
		a := complete(t, c, ask(code, func(p *openai.ChatCompletionNewParams) {
			p.Seed, p.Temperature = openai.Int(seed), openai.Float(1)
			p.ResponseFormat.OfJSONSchema = &shared.ResponseFormatJSONSchemaParam{
				JSONSchema: shared.ResponseFormatJSONSchemaJSONSchemaParam{Name: "verdict", Strict: openai.Bool(true), Schema: schema},
			}
		}))
		m := a.Choices[0].Message
		if m.Refusal != "" {
			assert.Empty(t, m.Content)
			continue
		}
		require.NoError(t, validate(schema, m.Content))
		parsed++
	}
	assert.Positive(t, parsed)

	a := complete(t, c, ask(code, func(p *openai.ChatCompletionNewParams) {
		p.ResponseFormat.OfJSONObject = &shared.ResponseFormatJSONObjectParam{}
	}))
	assert.True(t, json.Valid([]byte(a.Choices[0].Message.Content)))
}

// failure is the error of a request that must fail.
func failure(t *testing.T, c openai.Client, p openai.ChatCompletionNewParams) *openai.Error {
	t.Helper()
	_, err := c.Chat.Completions.New(context.Background(), p)
	var e *openai.Error
	require.ErrorAs(t, err, &e)
	return e
}

func TestOpenAIErrors(t *testing.T) {
	ctx := context.Background()
	through := inspected(t)
	base := simulate(t, "--key-env", "CONFORMANCE_KEY")
	c := client(base, through)

	e := failure(t, c, ask(strings.Repeat("word ", 400_000), nil))
	assert.Equal(t, []any{400, "context_length_exceeded", "invalid_request_error", "messages"}, []any{e.StatusCode, e.Code, e.Type, e.Param})
	e = failure(t, c, ask(code, func(p *openai.ChatCompletionNewParams) { p.Model = "gpt-nowhere" }))
	assert.Equal(t, []any{404, "model_not_found"}, []any{e.StatusCode, e.Code})
	e = failure(t, c, ask(code, func(p *openai.ChatCompletionNewParams) { p.Messages = []openai.ChatCompletionMessageParamUnion{} }))
	assert.Equal(t, []any{400, "messages"}, []any{e.StatusCode, e.Param})
	e = failure(t, client(base, through, option.WithAPIKey("sk-wrong")), ask(code, nil))
	assert.Equal(t, []any{401, "invalid_api_key"}, []any{e.StatusCode, e.Code})
	_, err := c.Models.Get(ctx, "gpt-nowhere")
	require.ErrorAs(t, err, &e)
	assert.Equal(t, []any{404, "model_not_found"}, []any{e.StatusCode, e.Code})
	require.ErrorAs(t, c.Get(ctx, "nowhere", nil, nil), &e)
	assert.Equal(t, 404, e.StatusCode)

	if through.contract != nil {
		for _, body := range []string{`{"model":`, `{"model":"sim-strong"}`, ``, `[]`} {
			status, contentType, answer := post(t, base, apiKey, body)
			assert.Equal(t, http.StatusBadRequest, status, body)
			n, err := through.contract.checkAnswer("/v1/chat/completions", status, contentType, answer)
			require.NoError(t, err)
			through.documents += n
		}
	}
}
