package endpoint

import (
	"encoding/json"
	"math"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/youden-bench/youden/detector"
)

func interpret(status int, contentType string, body []byte, cut bool) detector.Answer {
	return rules{}.interpret(status, contentType, body, cut).Answer
}

// body wraps a message into a completion.
func body(message string) []byte {
	return []byte(`{"choices":[{"index":0,"message":` + message + `,"finish_reason":"stop"}]}`)
}

func TestReasoningIsNeverTheAnswer(t *testing.T) {
	for name, c := range map[string]struct{ message, text, reasoning string }{
		"field":               {`{"content":"VULN: no","reasoning_content":"VULN: yes?"}`, "VULN: no", "VULN: yes?"},
		"field of OpenRouter": {`{"content":"VULN: no","reasoning":"VULN: yes?"}`, "VULN: no", "VULN: yes?"},
		"both fields":         {`{"content":"VULN: no","reasoning":"same","reasoning_content":"same"}`, "VULN: no", "same"},
		"think block":         {`{"content":"<think>VULN: yes?</think>VULN: no"}`, "VULN: no", "VULN: yes?"},
		"blanks around":       {`{"content":"\n <think>\nVULN: yes?\n</think>\n\nVULN: no"}`, "VULN: no", "VULN: yes?"},
		"two blocks":          {`{"content":"<think>a</think><thinking>b</thinking> c"}`, "c", "a\nb"},
		"only the end":        {`{"content":"VULN: yes?\n</think>\nVULN: no"}`, "VULN: no", "VULN: yes?"},
		"a quoted end":        {`{"content":"{\"explanation\":\"emits </think>\"}"}`, `{"explanation":"emits </think>"}`, ""},
		"a fenced quote":      {"{\"content\":\"```json\\n</think>\\n```\"}", "```json\n</think>\n```", ""},
		"a block later on":    {`{"content":"no <think>x</think>"}`, "no <think>x</think>", ""},
		"parts":               {`{"content":[{"type":"thinking","thinking":[{"type":"text","text":"hm"}]},{"type":"text","text":"a"},{"type":"text","text":"b"}]}`, "ab", "hm"},
		"reasoning part":      {`{"content":[{"type":"reasoning","text":"hm"},{"type":"output_text","text":"a"},{"type":"image"}]}`, "a", "hm"},
	} {
		t.Run(name, func(t *testing.T) {
			a := interpret(200, "", body(c.message), false)
			require.Equal(t, detector.OK, a.Status, a.Detail)
			assert.Equal(t, c.text, a.Text)
			assert.Equal(t, c.reasoning, a.Reasoning)
		})
	}
}

func TestToolCallsKeepTheirArguments(t *testing.T) {
	a := interpret(200, "", body(`{"content":"","tool_calls":[
		{"id":"a","type":"function","function":{"name":"f","arguments":"{\"x\": 1"}},
		{"id":"b","index":1,"function":{"name":"g","arguments":{"z":1, "a":2}}},
		{"id":"c","function":{"name":"h"}}, {"id":"d"}, 7]}`), false)
	assert.Equal(t, detector.OK, a.Status)
	assert.Equal(t, []detector.ToolCall{
		{ID: "a", Name: "f", Arguments: `{"x": 1`}, {ID: "b", Name: "g", Arguments: `{"z":1, "a":2}`}, {ID: "c", Name: "h"},
	}, a.ToolCalls)
	a = interpret(200, "", body(`{"content":null,"function_call":{"name":"f","arguments":"{}"}}`), false)
	assert.Equal(t, []detector.ToolCall{{Name: "f", Arguments: "{}"}}, a.ToolCalls)
}

func TestNamesAreExact(t *testing.T) {
	a := interpret(200, "", body(`{"content":"A","Content":"B","REFUSAL":"no"}`), false)
	assert.Equal(t, "A", a.Text)
	assert.Equal(t, detector.OK, a.Status)
}

func TestTheChoiceOfIndexZero(t *testing.T) {
	a := interpret(200, "", []byte(`{"choices":[{"index":1,"message":{"content":"second"},"finish_reason":"stop"},{"index":0,"message":{"content":"first"},"finish_reason":"stop"}]}`), false)
	assert.Equal(t, "first", a.Text)
}

func TestRepairedTextSaysSo(t *testing.T) {
	for name, c := range map[string]struct {
		content, text string
		repaired      bool
	}{
		"bytes":          {"\"a\xffb\"", "a\uFFFDb", true},
		"half a pair":    {`"a\ud835b"`, "a\uFFFDb", true},
		"its own U+FFFD": {"\"a\uFFFDb\"", "a\uFFFDb", false},
		"its own escape": {`"a\uFFFDb"`, "a\uFFFDb", false},
		"clean":          {`"a\ud835\udc00b"`, "a\U0001D400b", false},
	} {
		t.Run(name, func(t *testing.T) {
			a := interpret(200, "", body(`{"content":`+c.content+`}`), false)
			assert.Equal(t, detector.OK, a.Status)
			assert.Equal(t, c.text, a.Text)
			assert.Equal(t, c.repaired, strings.HasPrefix(a.Detail, "repaired: "), a.Detail)
		})
	}
}

func TestUsageThatIsAbsentIsUnknown(t *testing.T) {
	read := func(usage string) detector.Usage {
		return interpret(200, "", []byte(`{"choices":[{"message":{"content":"x"}}],"usage":`+usage+`}`), false).Usage
	}
	n := func(v int64) *int64 { return &v }
	assert.Equal(t, detector.Usage{}, read(`null`))
	assert.Equal(t, detector.Usage{}, read(`{}`))
	assert.Equal(t, detector.Usage{}, read(`{"prompt_tokens":-1,"completion_tokens":1.5,"prompt_tokens_details":[]}`))
	assert.Equal(t, detector.Usage{Prompt: n(0), Completion: n(0)}, read(`{"prompt_tokens":0,"completion_tokens":0}`))
	assert.Equal(t, detector.Usage{Prompt: n(9), Completion: n(2), Cached: n(8)}, read(`{"prompt_tokens":9,"completion_tokens":2,"prompt_cache_hit_tokens":8,"prompt_cache_miss_tokens":1}`))
	assert.Equal(t, detector.Usage{Prompt: n(9), Cached: n(0), Reasoning: n(5)}, read(`{"prompt_tokens":9,"prompt_tokens_details":{"cached_tokens":0},"completion_tokens_details":{"reasoning_tokens":5}}`))
}

func TestCost(t *testing.T) {
	n := func(v int64) *int64 { return &v }
	full := &Price{PromptMicros: 1_000_000, CompletionMicros: 2_000_000}
	cheap := &Price{PromptMicros: 1_000_000, CompletionMicros: 2_000_000, CachedMicros: n(100_000)}
	for name, c := range map[string]struct {
		price *Price
		usage detector.Usage
		want  *int64
	}{
		"no price":             {nil, detector.Usage{Prompt: n(1), Completion: n(1)}, nil},
		"no prompt count":      {full, detector.Usage{Completion: n(1)}, nil},
		"no completion count":  {full, detector.Usage{Prompt: n(1)}, nil},
		"plain":                {full, detector.Usage{Prompt: n(10), Completion: n(3)}, n(16)},
		"cached at full price": {full, detector.Usage{Prompt: n(10), Completion: n(3), Cached: n(10)}, n(16)},
		"cached apart":         {cheap, detector.Usage{Prompt: n(20), Completion: n(3), Cached: n(10)}, n(17)},
		"cached unknown":       {cheap, detector.Usage{Prompt: n(20), Completion: n(3)}, n(26)},
		"more cached than is":  {cheap, detector.Usage{Prompt: n(10), Completion: n(0), Cached: n(99)}, n(1)},
		"half up":              {&Price{PromptMicros: 500_000}, detector.Usage{Prompt: n(1), Completion: n(0)}, n(1)},
		"below half":           {&Price{PromptMicros: 499_999}, detector.Usage{Prompt: n(1), Completion: n(0)}, n(0)},
		"rounded once":         {&Price{PromptMicros: 300_000, CompletionMicros: 300_000}, detector.Usage{Prompt: n(1), Completion: n(1)}, n(1)},
		"free":                 {&Price{}, detector.Usage{Prompt: n(5), Completion: n(5)}, n(0)},
		"absurd":               {full, detector.Usage{Prompt: n(math.MaxInt64), Completion: n(math.MaxInt64)}, nil},
	} {
		assert.Equal(t, c.want, c.price.cost(c.usage), name)
	}
}

func TestSplitThinkingLosesNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		reasoning := strings.TrimSpace(rapid.StringMatching(`[a-z{}< \n]{0,20}`).Draw(t, "reasoning"))
		text := strings.TrimLeft(rapid.StringMatching(`[a-z{}\n ]{0,20}`).Draw(t, "text"), " \n")
		gotText, gotReasoning := splitThinking("<think>" + reasoning + "</think>" + text)
		if gotText != text || gotReasoning != reasoning {
			t.Fatalf("%q and %q", gotText, gotReasoning)
		}
	})
}

func FuzzInterpret(f *testing.F) {
	for _, seed := range []string{
		string(body(`{"content":"<think>a</think>b","tool_calls":[{"function":{"arguments":{}}}]}`)),
		`{"error":{"code":"429","message":["x"]}}`, `data: {"choices":[{"delta":{"content":"x"},"finish_reason":"stop"}]}` + "\n\ndata: [DONE]\n",
		`<html>`, "", "\xff", `{"choices":[{"index":-1,"message":{"content":[{"type":"text","text":"\ud835"}]},"finish_reason":"length"}],"usage":{"prompt_tokens":1e3}}`,
		`[{"error":{}}]`, `{"choices":[null,{"message":null}]}`,
	} {
		f.Add(200, "application/json", []byte(seed))
		f.Add(429, "text/event-stream", []byte(seed))
	}
	f.Fuzz(func(t *testing.T, status int, contentType string, body []byte) {
		a := interpret(status, contentType, body, false)
		if _, known := a.Status.Row(); !known {
			t.Fatalf("status %q is not in the table", a.Status)
		}
		if (a.Status == detector.OK) != (a.Detail == "" || strings.HasPrefix(a.Detail, "repaired: ")) {
			t.Fatalf("status %q with detail %q", a.Status, a.Detail)
		}
		if a.Status == detector.OK && (status < 200 || status > 299 || strings.TrimSpace(a.Text) == "" && len(a.ToolCalls) == 0) {
			t.Fatalf("an answer out of nothing: %+v", a)
		}
		for _, text := range append([]string{a.Text, a.Reasoning, a.Model, a.FinishReason}, arguments(a)...) {
			if !utf8.ValidString(text) {
				t.Fatalf("%q is not valid UTF-8", text)
			}
		}
		if b := interpret(status, contentType, body, false); b.Status != a.Status || b.Text != a.Text || b.Detail != a.Detail {
			t.Fatal("the same bytes read in two ways")
		}
	})
}

func arguments(a detector.Answer) []string {
	var out []string
	for _, c := range a.ToolCalls {
		out = append(out, c.Name, c.ID)
	}
	return out
}

// FuzzParse compares the cutting of valid JSON with encoding/json.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		`{"a":1}`, ` { "a\n" : [1, {"b":"}]\"\\"}] , "c":null,"a\n":-1.5e3 } `, `{}`, `[]`, `[1,"a,b",{},[],true]`, `"x"`, `{"":{"":""}}`, `[{"a":[{}]},2 ]`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		var members map[string]json.RawMessage
		err := json.Unmarshal(text, &members)
		o := document(text)
		if (err == nil && members != nil) != (o != nil) {
			t.Fatalf("encoding/json says %v, and the object is %v", err, o)
		}
		if o != nil && len(o) != len(members) {
			t.Fatalf("%d members, not %d", len(o), len(members))
		}
		for name, raw := range members {
			if string(raw) != string(o[name]) {
				t.Fatalf("member %q is %q, not %q", name, o[name], raw)
			}
		}
		var list []json.RawMessage
		if json.Unmarshal(text, &list) != nil {
			return
		}
		got := items(text)
		if len(got) != len(list) {
			t.Fatalf("%d items, not %d", len(got), len(list))
		}
		for i := range list {
			if string(got[i]) != string(list[i]) {
				t.Fatalf("item %d is %q, not %q", i, got[i], list[i])
			}
		}
	})
}
