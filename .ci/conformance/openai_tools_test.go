package conformance

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/shared"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// tour is a prompt about files that a model can only see by reading them.
const tour = "Audit the repository for injection. Files: app/run.py, app/db.py, app/views.py. Read each with the tools, then report."

var toolSchemas = map[string]map[string]any{
	"read_file": {"type": "object", "properties": map[string]any{"path": map[string]any{"type": "string"}}, "required": []string{"path"}},
	"grep":      {"type": "object", "properties": map[string]any{"pattern": map[string]any{"type": "string"}}, "required": []string{"pattern"}},
}

func withTools(p *openai.ChatCompletionNewParams) {
	for _, name := range []string{"read_file", "grep"} {
		p.Tools = append(p.Tools, openai.ChatCompletionFunctionTool(shared.FunctionDefinitionParam{Name: name, Parameters: toolSchemas[name]}))
	}
}

func choose(mode string) openai.ChatCompletionToolChoiceOptionUnionParam {
	return openai.ChatCompletionToolChoiceOptionUnionParam{OfAuto: openai.String(mode)}
}

func named(name string) openai.ChatCompletionToolChoiceOptionUnionParam {
	return openai.ToolChoiceOptionFunctionToolChoice(openai.ChatCompletionNamedToolChoiceFunctionParam{Name: name})
}

// checkCalls requires what every answer with tool calls must have.
func checkCalls(t *testing.T, m openai.ChatCompletionMessage) {
	t.Helper()
	require.NotEmpty(t, m.ToolCalls)
	ids := map[string]bool{}
	for _, call := range m.ToolCalls {
		assert.False(t, ids[call.ID], "an id twice")
		ids[call.ID] = call.ID != ""
		assert.True(t, ids[call.ID])
		assert.EqualValues(t, "function", call.Type)
		require.Contains(t, toolSchemas, call.Function.Name)
		assert.NoError(t, validate(toolSchemas[call.Function.Name], call.Function.Arguments))
	}
	var keys map[string]json.RawMessage
	require.NoError(t, json.Unmarshal([]byte(m.RawJSON()), &keys))
	assert.Equal(t, "null", string(keys["content"]), "content stands there and is null beside tool calls")
}

func TestOpenAIToolChoice(t *testing.T) {
	c := client(simulate(t), inspected(t))
	for _, mode := range []string{"auto", "required"} {
		a := complete(t, c, ask(tour, func(p *openai.ChatCompletionNewParams) { withTools(p); p.ToolChoice = choose(mode) }))
		checkCalls(t, a.Choices[0].Message)
		assert.Equal(t, "tool_calls", a.Choices[0].FinishReason, mode)
	}
	for name := range toolSchemas {
		a := complete(t, c, ask(tour, func(p *openai.ChatCompletionNewParams) { withTools(p); p.ToolChoice = named(name) }))
		checkCalls(t, a.Choices[0].Message)
		require.Len(t, a.Choices[0].Message.ToolCalls, 1)
		assert.Equal(t, name, a.Choices[0].Message.ToolCalls[0].Function.Name)
		assert.Contains(t, []string{"stop", "tool_calls"}, a.Choices[0].FinishReason)
	}
	a := complete(t, c, ask(tour, func(p *openai.ChatCompletionNewParams) { withTools(p); p.ToolChoice = choose("none") }))
	assert.Empty(t, a.Choices[0].Message.ToolCalls)
	assert.NotEmpty(t, a.Choices[0].Message.Content)
	several := 0
	for seed := range int64(40) {
		for _, parallel := range []bool{true, false} {
			a := complete(t, c, ask(tour, func(p *openai.ChatCompletionNewParams) {
				withTools(p)
				p.Seed, p.Temperature, p.ParallelToolCalls = openai.Int(seed), openai.Float(1), openai.Bool(parallel)
			}))
			if n := len(a.Choices[0].Message.ToolCalls); parallel && n > 1 {
				several++
			} else {
				assert.LessOrEqual(t, n, 1)
			}
		}
	}
	assert.Positive(t, several, "no parallel calls in 40 answers, so their absence proves nothing")
}

// A whole loop: calls, results, until the model answers.
func TestOpenAIToolLoop(t *testing.T) {
	c := client(simulate(t), inspected(t))
	p := ask(tour, withTools)
	for turn := range 20 {
		m := complete(t, c, p).Choices[0].Message
		p.Messages = append(p.Messages, m.ToParam())
		if len(m.ToolCalls) == 0 {
			assert.Positive(t, turn, "the first turn read nothing")
			assert.NotEmpty(t, m.Content+m.Refusal)
			return
		}
		for _, call := range m.ToolCalls {
			p.Messages = append(p.Messages, openai.ToolMessage("1: import os\n2: os.system(request.args['x'])", call.ID))
		}
	}
	t.Fatal("no answer after 20 turns")
}

func TestOpenAIToolMessagesOutOfPlace(t *testing.T) {
	c := client(simulate(t), inspected(t))
	m := complete(t, c, ask(tour, func(p *openai.ChatCompletionNewParams) { withTools(p); p.ToolChoice = choose("required") })).Choices[0].Message
	e := failure(t, c, ask(tour, func(p *openai.ChatCompletionNewParams) {
		withTools(p)
		p.Messages = append(p.Messages, openai.ToolMessage("text", "call_nobody_made"))
	}))
	assert.Equal(t, 400, e.StatusCode)
	e = failure(t, c, ask(tour, func(p *openai.ChatCompletionNewParams) {
		withTools(p)
		p.Messages = append(p.Messages, m.ToParam(), openai.UserMessage("and?"))
	}))
	assert.Equal(t, 400, e.StatusCode)
	assert.Contains(t, e.Message, m.ToolCalls[0].ID)
}

// streamed reads a stream to its end with OpenAI's accumulator.
func streamed(t *testing.T, c openai.Client, p openai.ChatCompletionNewParams) (openai.ChatCompletion, []openai.ChatCompletionChunk) {
	t.Helper()
	s := c.Chat.Completions.NewStreaming(context.Background(), p)
	var all openai.ChatCompletionAccumulator
	var chunks []openai.ChatCompletionChunk
	for s.Next() {
		chunk := s.Current()
		require.True(t, all.AddChunk(chunk), "the accumulator refuses %s", chunk.RawJSON())
		chunks = append(chunks, chunk)
	}
	require.NoError(t, s.Err())
	require.NotEmpty(t, chunks)
	return all.ChatCompletion, chunks
}

// A stream, put together by OpenAI's accumulator, is the answer in one piece.
func TestOpenAIStreams(t *testing.T) {
	c := client(simulate(t), inspected(t))
	for name, change := range map[string]func(*openai.ChatCompletionNewParams){
		"text":    nil,
		"tools":   func(p *openai.ChatCompletionNewParams) { withTools(p); p.Messages[0] = openai.UserMessage(tour) },
		"cut":     func(p *openai.ChatCompletionNewParams) { p.MaxCompletionTokens = openai.Int(5) },
		"choices": func(p *openai.ChatCompletionNewParams) { p.N, p.Temperature = openai.Int(2), openai.Float(1) },
		"logprobs": func(p *openai.ChatCompletionNewParams) {
			p.Logprobs, p.TopLogprobs = openai.Bool(true), openai.Int(1)
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := ask(code, change)
			whole := complete(t, c, p)
			plain, chunks := streamed(t, c, p)
			for _, chunk := range chunks {
				assert.Equal(t, chunks[0].ID, chunk.ID)
				assert.EqualValues(t, "chat.completion.chunk", chunk.Object)
				assert.NotContains(t, chunk.RawJSON(), `"usage"`)
			}
			p.StreamOptions.IncludeUsage = openai.Bool(true)
			counted, chunks := streamed(t, c, p)
			last := chunks[len(chunks)-1]
			assert.Empty(t, last.Choices)
			assert.Equal(t, whole.Usage.TotalTokens, last.Usage.TotalTokens)
			for _, chunk := range chunks[:len(chunks)-1] {
				assert.Contains(t, chunk.RawJSON(), `"usage":null`)
			}
			for _, got := range []openai.ChatCompletion{plain, counted} {
				require.Len(t, got.Choices, len(whole.Choices))
				for i, choice := range got.Choices {
					want := whole.Choices[i]
					assert.Equal(t, want.Message.Content, choice.Message.Content)
					assert.Equal(t, want.FinishReason, choice.FinishReason)
					assert.Len(t, choice.Logprobs.Content, len(want.Logprobs.Content))
					require.Len(t, choice.Message.ToolCalls, len(want.Message.ToolCalls))
					for k, call := range choice.Message.ToolCalls {
						assert.Equal(t, want.Message.ToolCalls[k].Function.Name, call.Function.Name)
						assert.Equal(t, want.Message.ToolCalls[k].Function.Arguments, call.Function.Arguments)
						assert.NotEmpty(t, call.ID)
					}
				}
			}
		})
	}
}

// The events end with [DONE], which no client hands on.
func TestStreamEndsInDone(t *testing.T) {
	base := simulate(t)
	_, contentType, body := post(t, base, "", `{"model":"sim-strong","stream":true,"messages":[{"role":"user","content":"hello"}]}`)
	assert.Contains(t, contentType, "text/event-stream")
	assert.Regexp(t, `\n\ndata: \[DONE\]\n\n$`, string(body))
}
