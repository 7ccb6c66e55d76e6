package doctor

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/youden-bench/youden/bench/redact"
	"github.com/youden-bench/youden/bench/simulator"
	"github.com/youden-bench/youden/measurements"
)

// server answers as an endpoint that honours everything, but for what is changed.
type server struct {
	dropped map[string]bool   // fields that have no effect
	refused map[string]string // fields that are an error, with its message
	noisy   bool              // answers differ whatever is asked
	cached  bool              // one answer, whatever is asked
	loaded  string            // answers under any name, as this model
	bare    bool              // reports no usage
	context int               // 0 = unlimited; tokens of four bytes
	cuts    bool              // cuts prompts that do not fit, instead of refusing them
	fails   int               // the call that fails with 500, from 1
	asked   []map[string]any
}

func (s *server) RoundTrip(r *http.Request) (*http.Response, error) {
	status, contentType, body := s.answer(r)
	return &http.Response{
		StatusCode: status, Header: http.Header{"Content-Type": {contentType}}, Request: r,
		Body: io.NopCloser(strings.NewReader(body)),
	}, nil
}

func failed(status int, message string) (int, string, string) {
	raw, _ := json.Marshal(map[string]any{"error": map[string]any{"message": message, "type": "invalid_request_error", "param": nil, "code": nil}})
	return status, "application/json", string(raw)
}

func (s *server) answer(r *http.Request) (int, string, string) {
	if r.Method == http.MethodGet {
		if !strings.HasSuffix(r.URL.Path, "/models") {
			return failed(404, "not found")
		}
		return 200, "application/json", `{"object":"list","data":[{"id":"m","object":"model","meta":{"n_ctx":4096}}]}`
	}
	raw, _ := io.ReadAll(r.Body)
	var q map[string]any
	if json.Unmarshal(raw, &q) != nil {
		return failed(400, "no JSON")
	}
	s.asked = append(s.asked, q)
	if s.fails == len(s.asked) {
		return failed(500, "boom")
	}
	for field, message := range s.refused {
		if q[field] != nil {
			return failed(400, message)
		}
	}
	for field := range s.dropped {
		delete(q, field)
	}
	if q["model"] != "m" && s.loaded == "" {
		return failed(404, "no such model")
	}
	prompt := fmt.Sprint(q["messages"])
	tokens := len(prompt) / 4
	if s.context > 0 && tokens > s.context {
		if !s.cuts {
			return failed(400, fmt.Sprintf("This model's maximum context length is %d tokens", s.context))
		}
		tokens = s.context
	}
	return s.generate(q, prompt, tokens)
}

func number(v any, otherwise float64) float64 {
	if n, ok := v.(float64); ok {
		return n
	}
	return otherwise
}

func (s *server) generate(q map[string]any, prompt string, tokens int) (int, string, string) {
	var words []string
	voice := "greedy"
	if t := number(q["temperature"], 1); t > 0 {
		voice = fmt.Sprintf("warm%v", q["seed"])
		if q["seed"] == nil {
			voice = fmt.Sprintf("unseeded%d", len(s.asked))
		}
	}
	if s.noisy {
		voice = fmt.Sprintf("noise%d", len(s.asked))
	}
	if s.cached {
		voice = "cached"
	}
	for i := range 40 {
		words = append(words, fmt.Sprintf("%s word%s", voice, strings.Repeat("x", i)))
	}
	text := strings.Join(words, " ")
	if stop, ok := q["stop"].([]any); ok {
		text, _, _ = strings.Cut(text, fmt.Sprint(stop[0]))
	}
	if f, ok := q["response_format"].(map[string]any); ok {
		text = map[string]string{"json_object": `{"a":1}`, "json_schema": `{"sea":"calm"}`}[fmt.Sprint(f["type"])]
	}
	message := map[string]any{"role": "assistant", "content": text}
	finish := "stop"
	if choice := q["tool_choice"]; q["tools"] != nil && !strings.Contains(prompt, "degrees") && (choice == "required" || !s.dropped["tools"]) {
		message["content"] = nil
		message["tool_calls"] = []map[string]any{{"id": "c1", "type": "function", "function": map[string]any{"name": "get_weather", "arguments": `{"city":"Oslo"}`}}}
		finish, text = "tool_calls", ""
	}
	completion := len(strings.Fields(text)) + 1
	for _, field := range []string{"max_tokens", "max_completion_tokens"} {
		if limit := int(number(q[field], 1e6)); completion > limit {
			message["content"] = strings.Join(strings.Fields(text)[:limit-1], " ")
			completion, finish = limit, "length"
		}
	}
	usage := map[string]any{"prompt_tokens": tokens, "completion_tokens": completion, "total_tokens": tokens + completion}
	name := "m"
	if s.loaded != "" {
		name = s.loaded
	}
	choice := map[string]any{"index": 0, "message": message, "finish_reason": finish, "logprobs": nil}
	if q["logprobs"] == true {
		choice["logprobs"] = map[string]any{"content": []any{map[string]any{"token": "a"}}}
	}
	choices := []any{choice}
	for range int(number(q["n"], 1)) - 1 {
		choices = append(choices, choice)
	}
	top := map[string]any{"id": "x", "object": "chat.completion", "model": name, "choices": choices}
	if !s.bare {
		top["usage"] = usage
	}
	raw, _ := json.Marshal(top)
	if q["stream"] == true {
		return 200, "text/event-stream", s.events(raw, usage, q["stream_options"] != nil)
	}
	return 200, "application/json", string(raw)
}

func (s *server) events(whole []byte, usage any, counted bool) string {
	var b bytes.Buffer
	fmt.Fprintf(&b, ": waiting\n\ndata: %s\n\n", `{"choices":[{"index":0,"delta":{"content":"a"}}]}`)
	if counted && !s.bare {
		raw, _ := json.Marshal(map[string]any{"choices": []any{}, "usage": usage})
		fmt.Fprintf(&b, "data: %s\n\n", raw)
	}
	b.WriteString("data: [DONE]\n\n")
	return b.String()
}

func patient(rt http.RoundTripper) Patient {
	return Patient{
		Record: measurements.EndpointRecord{Name: "x", BaseURL: "http://127.0.0.1:1/v1", Model: "m"}, Base: rt,
		Now:        func() time.Time { return time.Date(2026, 11, 30, 9, 0, 0, 0, time.UTC) },
		CostMicros: func(p, c int64) *int64 { n := p + 2*c; return &n },
	}
}

const (
	honoured = measurements.Honoured
	accepted = measurements.Accepted
	ignored  = measurements.Ignored
	refused  = measurements.Refused
	unknown  = measurements.Unprobed
)

// allOf is what is found of a server that honours everything.
func allOf(but map[string]measurements.Treatment) map[string]measurements.Treatment {
	out := map[string]measurements.Treatment{}
	for _, name := range []string{
		"models", "max_tokens", "max_completion_tokens", "temperature", "seed", "response_format.json_object", "response_format.json_schema",
		"tools", "tool_choice", "tool_results", "stream", "stream_usage", "usage", "stop", "logprobs", "n", "model",
	} {
		out[name] = honoured
	}
	out["usage.cached_tokens"], out["usage.reasoning_tokens"] = ignored, ignored
	for name, t := range but {
		out[name] = t
	}
	return out
}

func drops(fields ...string) map[string]bool {
	out := map[string]bool{}
	for _, f := range fields {
		out[f] = true
	}
	return out
}

func TestOddServers(t *testing.T) {
	type treats = map[string]measurements.Treatment
	for _, c := range []struct {
		name   string
		server *server
		but    treats
		advice string
	}{
		{"an upright one", &server{}, nil, ""},
		{"drops temperature", &server{dropped: drops("temperature")}, treats{"temperature": ignored}, ""},
		{"drops the seed", &server{dropped: drops("seed")}, treats{"seed": ignored}, ""},
		{"is noisy", &server{noisy: true}, treats{"temperature": accepted, "seed": ignored, "stop": accepted}, "does not make answers repeat"},
		{"drops both", &server{dropped: drops("seed", "temperature")}, treats{"temperature": accepted, "seed": ignored, "stop": accepted}, ""},
		{"gives one answer", &server{cached: true}, treats{"temperature": accepted, "seed": accepted}, "one answer K times"},
		{"knows max_tokens only", &server{dropped: drops("max_completion_tokens")}, treats{"max_completion_tokens": ignored}, ""},
		{"knows max_completion_tokens only", &server{refused: map[string]string{"max_tokens": "use max_completion_tokens"}}, treats{"max_tokens": refused}, "max_tokens_field"},
		{"refuses temperature", &server{refused: map[string]string{"temperature": "unsupported"}}, treats{"temperature": refused, "seed": accepted, "stop": unknown}, "takes no temperature"},
		{"refuses the seed", &server{refused: map[string]string{"seed": "unknown field"}}, treats{"temperature": accepted, "seed": refused, "stop": unknown}, ""},
		{"drops formats", &server{dropped: drops("response_format")}, treats{"response_format.json_object": ignored, "response_format.json_schema": ignored}, "do not rely on it"},
		{"refuses formats", &server{refused: map[string]string{"response_format": "no"}}, treats{"response_format.json_object": refused, "response_format.json_schema": refused}, ""},
		{"drops tools", &server{dropped: drops("tools", "tool_choice")}, treats{"tools": accepted, "tool_choice": ignored, "tool_results": unknown}, ""},
		{"refuses tools", &server{refused: map[string]string{"tools": "no tools"}}, treats{"tools": refused, "tool_choice": refused, "tool_results": unknown}, ""},
		{"refuses tool_choice", &server{refused: map[string]string{"tool_choice": "no"}}, treats{"tool_choice": refused}, ""},
		{"does not stream", &server{dropped: drops("stream")}, treats{"stream": ignored, "stream_usage": unknown}, ""},
		{"counts no stream", &server{dropped: drops("stream_options")}, treats{"stream_usage": ignored}, ""},
		{"counts nothing", &server{bare: true}, treats{"usage": ignored, "stream_usage": ignored}, ""},
		{"does not stop", &server{dropped: drops("stop")}, treats{"stop": ignored}, ""},
		{"has no logprobs", &server{dropped: drops("logprobs")}, treats{"logprobs": ignored}, ""},
		{"gives one choice", &server{dropped: drops("n")}, treats{"n": ignored}, ""},
		{"answers under any name", &server{loaded: "tiny"}, treats{"model": ignored}, "any model name"},
		{"stumbles once", &server{fails: 8}, treats{"response_format.json_object": unknown}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := patient(c.server)
			got, err := Examine(context.Background(), p, Options{})
			require.NoError(t, err)
			found := map[string]measurements.Treatment{}
			for _, f := range got.Features {
				found[f.Name] = f.Treatment
			}
			assert.Equal(t, allOf(c.but), found, "%+v", got.Features)
			if c.advice != "" {
				assert.Contains(t, strings.Join(got.Advice, "\n"), c.advice)
			}
			assert.EqualValues(t, 4096, *got.ContextTokens)
			assert.Equal(t, len(c.server.asked), got.Calls)
			estimate := p.Estimate(0)
			assert.LessOrEqual(t, got.Calls, estimate.Calls)
			if c.server.fails > 0 {
				assert.Equal(t, 1, got.Failed)
			} else {
				assert.Zero(t, got.Failed)
			}
			if !c.server.bare {
				assert.LessOrEqual(t, *got.PromptTokens, estimate.PromptTokens)
				assert.Equal(t, *got.PromptTokens+2**got.CompletionTokens, *got.CostUSDMicros)
			} else {
				assert.Nil(t, got.CostUSDMicros, "what was not counted is unknown")
			}
		})
	}
}

// What no limit holds is not asked of a stranger.
func TestNoLimitHolds(t *testing.T) {
	unlimited := &server{dropped: drops("max_tokens", "max_completion_tokens")}
	p := patient(unlimited)
	p.Record.BaseURL = "https://api.example.com/v1"
	got, err := Examine(context.Background(), p, Options{})
	require.NoError(t, err)
	assert.Equal(t, 2, got.Calls)
	assert.Equal(t, ignored, got.Treats("max_tokens"))
	assert.Equal(t, unknown, got.Treats("temperature"))
	assert.Contains(t, strings.Join(got.Advice, "\n"), "not asked")

	got, err = Examine(context.Background(), patient(&server{dropped: drops("max_tokens", "max_completion_tokens")}), Options{})
	require.NoError(t, err)
	assert.Equal(t, honoured, got.Treats("temperature"), "on this machine it is")
}

func TestLongPrompts(t *testing.T) {
	for _, c := range []struct {
		name   string
		server *server
		want   measurements.Treatment
	}{
		{"taken", &server{}, honoured},
		{"refused", &server{context: 2000}, refused},
		{"cut", &server{context: 2000, cuts: true}, ignored},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := Examine(context.Background(), patient(c.server), Options{LongPrompt: 10_000})
			require.NoError(t, err)
			assert.Equal(t, c.want, got.Treats("long_prompt"))
		})
	}
	for text, want := range map[string]int64{
		"This model's maximum context length is 128000 tokens. However": 128000,
		"the request exceeds the available context size (512 tokens)":   512,
		`{"error":{"n_prompt_tokens":4000,"n_ctx":512}}`:                512,
	} {
		got := contextSaid(text)
		require.NotNil(t, got, text)
		assert.Equal(t, want, *got)
	}
	assert.Nil(t, contextSaid("no"))
}

// An endpoint that lets nobody in has no record, and says nothing of the key.
func TestNothingIsAnswered(t *testing.T) {
	const key = "sk-test-4f9d21c7b3a8"
	for name, rt := range map[string]http.RoundTripper{
		"the key is wrong": answering(401, `{"error":{"message":"Incorrect API key provided: `+key+`"}}`),
		"no such model":    answering(404, `{"error":{"message":"no model"}}`),
		"HTML":             answering(200, "<html>welcome</html>"),
		"a redirect":       answering(302, ""),
		"nobody listens":   broken{},
	} {
		t.Run(name, func(t *testing.T) {
			p := patient(rt)
			p.Key = redact.NewSecret(key)
			_, err := Examine(context.Background(), p, Options{})
			require.ErrorIs(t, err, ErrNoAnswer)
			assert.NotContains(t, err.Error(), key)
		})
	}
}

// A server that repeats the key everywhere gets none of it into the record.
func TestKeyIsInNoRecord(t *testing.T) {
	const key = "sk-test-4f9d21c7b3a8"
	p := patient(&server{loaded: "model-" + key, refused: map[string]string{"logprobs": "no logprobs for " + key}})
	p.Key = redact.NewSecret(key)
	got, err := Examine(context.Background(), p, Options{})
	require.NoError(t, err)
	raw, err := json.Marshal(got)
	require.NoError(t, err)
	assert.NotContains(t, string(raw), key)
	var b bytes.Buffer
	require.NoError(t, Write(&b, got))
	assert.NotContains(t, b.String(), key)
}

func answering(status int, body string) http.RoundTripper {
	return roundTrip(func(r *http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: status, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(body)), Request: r}, nil
	})
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

type broken struct{}

func (broken) RoundTrip(*http.Request) (*http.Response, error) {
	return nil, errors.New("connection refused")
}

// The simulated endpoint honours what it is strict about.
func TestSimulatedEndpoint(t *testing.T) {
	s, err := simulator.New(simulator.Options{})
	require.NoError(t, err)
	for _, model := range []string{"sim-strong", "sim-null"} {
		p := patient(simulator.Transport(s))
		p.Record.Model, p.Simulated = model, true
		got, err := Examine(context.Background(), p, Options{LongPrompt: 140_000})
		require.NoError(t, err)
		assert.Zero(t, got.Failed)
		for _, f := range got.Features {
			switch f.Name {
			case "temperature", "seed", "stop": // its models are noisy at 0 too
			case "long_prompt":
				assert.Equal(t, refused, f.Treatment)
			default:
				assert.Equal(t, honoured, f.Treatment, "%s of %s: %s", f.Name, model, f.Detail)
			}
		}
		assert.EqualValues(t, 128000, *got.ContextTokens)
		estimate := p.Estimate(140_000)
		assert.LessOrEqual(t, *got.PromptTokens, estimate.PromptTokens)
		assert.LessOrEqual(t, *got.CompletionTokens, estimate.CompletionTokens)
		again, err := Examine(context.Background(), p, Options{LongPrompt: 140_000})
		require.NoError(t, err)
		assert.Equal(t, got, again)
	}
}

func TestLoopback(t *testing.T) {
	for base, want := range map[string]bool{
		"http://127.0.0.1:8080/v1": true, "http://localhost/v1": true, "http://[::1]:1/v1": true, "http://gpu.localhost/v1": true,
		"https://api.example.com/v1": false, "http://10.0.0.3/v1": false, "http://localhost.example.com/v1": false, "://": false,
	} {
		assert.Equal(t, want, Patient{Record: measurements.EndpointRecord{BaseURL: base}}.Loopback(), base)
	}
}

// Answers of any shape are read without a fall.
func FuzzReply(f *testing.F) {
	for _, seed := range []string{
		`{"choices":[{"message":{"content":[{"text":"a"}],"tool_calls":[{"id":1}]}}]}`, `{"error":"x"}`, `{"detail":[{"msg":"x"}]}`, `[]`, ``,
		"data: {\"usage\":{\"prompt_tokens\":1}}\n\ndata: [DONE]\n",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		r := &reply{status: 200, body: body}
		r.read(body)
		_ = r.why()
		events, _, _ := readEvents(body)
		assert.LessOrEqual(t, events, len(body))
		contextSaid(string(body))
		contextIn(body)
		middleWord(r.content)
	})
}
