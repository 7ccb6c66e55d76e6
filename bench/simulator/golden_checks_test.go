package simulator

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// goldenAnswer is an answer with the readings that the checks speak of.
type goldenAnswer struct {
	c      goldenCase
	raw    []byte
	body   map[string]any
	events []map[string]any
	done   bool
}

func newGoldenAnswer(t *testing.T, c goldenCase, body []byte) *goldenAnswer {
	t.Helper()
	a := &goldenAnswer{c: c, raw: body}
	if !c.Stream || c.Status != 200 {
		require.NoError(t, json.Unmarshal(body, &a.body), string(body))
		return a
	}
	a.events, a.done = parseEvents(t, body)
	return a
}

func parseEvents(t testing.TB, body []byte) (events []map[string]any, done bool) {
	t.Helper()
	for _, part := range strings.Split(strings.TrimSuffix(string(body), "\n\n"), "\n\n") {
		data, ok := strings.CutPrefix(part, "data: ")
		require.True(t, ok, "event %q", part)
		require.False(t, done, "an event after [DONE]")
		if data == "[DONE]" {
			done = true
			continue
		}
		var e map[string]any
		require.NoError(t, json.Unmarshal([]byte(data), &e), data)
		events = append(events, e)
	}
	return events, done
}

func (a *goldenAnswer) choice() map[string]any {
	return a.body["choices"].([]any)[0].(map[string]any)
}

func (a *goldenAnswer) message() map[string]any { return a.choice()["message"].(map[string]any) }

func (a *goldenAnswer) usage(path ...string) float64 {
	v := a.body["usage"]
	for _, p := range path {
		v = v.(map[string]any)[p]
	}
	return v.(float64)
}

var errorCheck = regexp.MustCompile(`^error\.(type|code|param) == (?:'([^']*)'|(None))$`)

// check evaluates one check; false means that it has no meaning for a server
// alone (it tells a client what to think).
func (a *goldenAnswer) check(t *testing.T, text string) bool {
	t.Helper()
	if m := errorCheck.FindStringSubmatch(text); m != nil {
		got := a.body["error"].(map[string]any)[m[1]]
		if m[3] == "None" {
			assert.Nil(t, got, text)
		} else {
			assert.Equal(t, m[2], got, text)
		}
		return true
	}
	if f, ok := goldenChecks[text]; ok {
		f(t, a)
		return true
	}
	return false
}

var goldenChecks = map[string]func(*testing.T, *goldenAnswer){
	"id starts chatcmpl-": func(t *testing.T, a *goldenAnswer) {
		assert.True(t, strings.HasPrefix(a.body["id"].(string), "chatcmpl-"))
	},
	"object == chat.completion":        func(t *testing.T, a *goldenAnswer) { assert.Equal(t, "chat.completion", a.body["object"]) },
	"created is unix seconds int":      func(t *testing.T, a *goldenAnswer) { assert.Greater(t, a.body["created"], 1.6e9) },
	"choices[0].finish_reason == stop": func(t *testing.T, a *goldenAnswer) { assert.Equal(t, "stop", a.choice()["finish_reason"]) },
	"finish_reason == stop":            func(t *testing.T, a *goldenAnswer) { assert.Equal(t, "stop", a.choice()["finish_reason"]) },
	"finish_reason == length":          func(t *testing.T, a *goldenAnswer) { assert.Equal(t, "length", a.choice()["finish_reason"]) },
	"finish_reason == tool_calls":      func(t *testing.T, a *goldenAnswer) { assert.Equal(t, "tool_calls", a.choice()["finish_reason"]) },
	"message.content string":           func(t *testing.T, a *goldenAnswer) { assert.IsType(t, "", a.message()["content"]) },
	"message.refusal present (null)":   func(t *testing.T, a *goldenAnswer) { assert.Contains(t, a.message(), "refusal") },
	"logprobs present (null)":          func(t *testing.T, a *goldenAnswer) { assert.Contains(t, a.choice(), "logprobs") },
	"content is null (present)": func(t *testing.T, a *goldenAnswer) {
		assert.Contains(t, a.message(), "content")
		assert.Nil(t, a.message()["content"])
	},
	"no tool_calls key":                          func(t *testing.T, a *goldenAnswer) { assert.NotContains(t, a.message(), "tool_calls") },
	"completion_tokens <= limit":                 func(t *testing.T, a *goldenAnswer) { assert.LessOrEqual(t, a.usage("completion_tokens"), 2.0) },
	"the stop text is not in content":            func(t *testing.T, a *goldenAnswer) { assert.NotContains(t, a.message()["content"], ".") },
	"choices.length == n":                        func(t *testing.T, a *goldenAnswer) { assert.Len(t, a.body["choices"], 2) },
	"at least one tool call":                     func(t *testing.T, a *goldenAnswer) { assert.NotEmpty(t, a.message()["tool_calls"]) },
	"body.object == 'list'":                      func(t *testing.T, a *goldenAnswer) { assert.Equal(t, "list", a.body["object"]) },
	"body.id == requested id":                    func(t *testing.T, a *goldenAnswer) { assert.Equal(t, "sim-strong", a.body["id"]) },
	"then data: [DONE]":                          func(t *testing.T, a *goldenAnswer) { assert.True(t, a.done) },
	"first delta has role":                       func(t *testing.T, a *goldenAnswer) { assert.Equal(t, "assistant", delta(a.events[0])["role"]) },
	"exactly one when parallel_tool_calls=false": func(t *testing.T, a *goldenAnswer) { assert.Len(t, a.message()["tool_calls"], 1) },
	"usage.total == prompt+completion": func(t *testing.T, a *goldenAnswer) {
		assert.Equal(t, a.usage("prompt_tokens")+a.usage("completion_tokens"), a.usage("total_tokens"))
	},
	"usage.prompt_tokens_details.cached_tokens <= prompt_tokens": func(t *testing.T, a *goldenAnswer) {
		assert.LessOrEqual(t, a.usage("prompt_tokens_details", "cached_tokens"), a.usage("prompt_tokens"))
	},
	"usage.completion_tokens_details.reasoning_tokens <= completion_tokens": func(t *testing.T, a *goldenAnswer) {
		assert.LessOrEqual(t, a.usage("completion_tokens_details", "reasoning_tokens"), a.usage("completion_tokens"))
	},
	"index 0..n-1": func(t *testing.T, a *goldenAnswer) {
		for i, c := range a.body["choices"].([]any) {
			assert.EqualValues(t, i, c.(map[string]any)["index"])
		}
	},
	"JSON.parse(content) validates against the schema": func(t *testing.T, a *goldenAnswer) {
		var v struct {
			Verdict string `json:"verdict"`
			Line    *int   `json:"line"`
		}
		dec := json.NewDecoder(strings.NewReader(a.message()["content"].(string)))
		dec.DisallowUnknownFields()
		require.NoError(t, dec.Decode(&v))
		assert.Contains(t, []string{"vulnerable", "safe"}, v.Verdict)
	},
	"content null and refusal non-empty: count as REFUSED, never as 'safe'": func(t *testing.T, a *goldenAnswer) {
		assert.Nil(t, a.message()["content"])
		assert.NotEmpty(t, a.message()["refusal"])
	},
	"treat as an invalid trial, not as a verdict": func(t *testing.T, a *goldenAnswer) {
		assert.Equal(t, "content_filter", a.choice()["finish_reason"])
	},
	"logprobs.content[].token,logprob<=0,bytes,top_logprobs": func(t *testing.T, a *goldenAnswer) {
		for _, one := range logprobsOf(a) {
			assert.LessOrEqual(t, one["logprob"], 0.0)
			assert.Contains(t, one, "bytes")
			assert.Contains(t, one, "top_logprobs")
		}
	},
	"concatenated bytes == content": func(t *testing.T, a *goldenAnswer) {
		var got []byte
		for _, one := range logprobsOf(a) {
			for _, b := range one["bytes"].([]any) {
				got = append(got, byte(b.(float64)))
			}
		}
		assert.Equal(t, a.message()["content"], string(got))
	},
	"len(top_logprobs) <= top_logprobs requested (0..20)": func(t *testing.T, a *goldenAnswer) {
		for _, one := range logprobsOf(a) {
			assert.LessOrEqual(t, len(one["top_logprobs"].([]any)), 2)
		}
	},
	"name == report": func(t *testing.T, a *goldenAnswer) {
		assert.Equal(t, "report", firstCall(a)["function"].(map[string]any)["name"])
	},
	"each tool_calls[]: id non-empty unique, type==function, function.name in tools, function.arguments is a STRING holding JSON": func(t *testing.T, a *goldenAnswer) {
		seen := map[any]bool{}
		for _, c := range a.message()["tool_calls"].([]any) {
			call := c.(map[string]any)
			assert.NotEmpty(t, call["id"])
			assert.False(t, seen[call["id"]])
			seen[call["id"]] = true
			assert.Equal(t, "function", call["type"])
			f := call["function"].(map[string]any)
			assert.Contains(t, []any{"read_file", "report"}, f["name"])
			assert.True(t, json.Valid([]byte(f["arguments"].(string))))
		}
	},
	"all four keys present": func(t *testing.T, a *goldenAnswer) {
		for _, k := range []string{"message", "type", "param", "code"} {
			assert.Contains(t, a.body["error"], k)
		}
	},
	"every data[]: id,object=='model',created int,owned_by string": func(t *testing.T, a *goldenAnswer) {
		for _, m := range a.body["data"].([]any) {
			model := m.(map[string]any)
			assert.Equal(t, "model", model["object"])
			assert.Equal(t, "simulated", model["owned_by"])
			assert.NotEmpty(t, model["id"])
			assert.IsType(t, 1.0, model["created"])
		}
	},
	"same id, created, model in all chunks": func(t *testing.T, a *goldenAnswer) {
		for _, e := range a.events {
			for _, k := range []string{"id", "created", "model"} {
				assert.Equal(t, a.events[0][k], e[k])
			}
		}
	},
	"last delta {} with finish_reason": func(t *testing.T, a *goldenAnswer) {
		last := a.events[len(a.events)-1]
		assert.Empty(t, delta(last))
		assert.NotNil(t, last["choices"].([]any)[0].(map[string]any)["finish_reason"])
	},
	"no usage key without include_usage": func(t *testing.T, a *goldenAnswer) {
		for _, e := range a.events {
			assert.NotContains(t, e, "usage")
		}
	},
	"all chunks but the last carry usage:null": func(t *testing.T, a *goldenAnswer) {
		for i, e := range a.events {
			require.Contains(t, e, "usage")
			assert.Equal(t, i == len(a.events)-1, e["usage"] != nil)
		}
	},
	"the last chunk before [DONE] has choices:[] and usage": func(t *testing.T, a *goldenAnswer) {
		last := a.events[len(a.events)-1]
		assert.Equal(t, []any{}, last["choices"])
		assert.NotNil(t, last["usage"])
		assert.True(t, a.done)
	},
	"an event with an error key and no [DONE]: the trial FAILED, partial text is not a result": func(t *testing.T, a *goldenAnswer) {
		assert.Contains(t, a.events[len(a.events)-1], "error")
		assert.False(t, a.done)
	},
	"id/type/name only in the first fragment of an index": func(t *testing.T, a *goldenAnswer) {
		seen := map[float64]bool{}
		for _, f := range fragments(a) {
			i := f["index"].(float64)
			_, hasID := f["id"]
			assert.Equal(t, !seen[i], hasID)
			seen[i] = true
		}
	},
	"arguments fragments concatenate per index": func(t *testing.T, a *goldenAnswer) {
		joined := map[float64]string{}
		for _, f := range fragments(a) {
			joined[f["index"].(float64)] += f["function"].(map[string]any)["arguments"].(string)
		}
		require.NotEmpty(t, joined)
		for _, text := range joined {
			assert.True(t, json.Valid([]byte(text)), text)
		}
	},
}

func delta(event map[string]any) map[string]any {
	return event["choices"].([]any)[0].(map[string]any)["delta"].(map[string]any)
}

func logprobsOf(a *goldenAnswer) []map[string]any {
	var out []map[string]any
	for _, one := range a.choice()["logprobs"].(map[string]any)["content"].([]any) {
		out = append(out, one.(map[string]any))
	}
	return out
}

func firstCall(a *goldenAnswer) map[string]any {
	return a.message()["tool_calls"].([]any)[0].(map[string]any)
}

func fragments(a *goldenAnswer) []map[string]any {
	var out []map[string]any
	for _, e := range a.events {
		if len(e["choices"].([]any)) == 0 {
			continue
		}
		if calls, ok := delta(e)["tool_calls"].([]any); ok {
			for _, c := range calls {
				out = append(out, c.(map[string]any))
			}
		}
	}
	return out
}
