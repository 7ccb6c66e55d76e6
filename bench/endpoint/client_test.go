package endpoint_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/youden-bench/youden/bench/endpoint"
	"github.com/youden-bench/youden/bench/ledger"
	"github.com/youden-bench/youden/bench/redact"
	"github.com/youden-bench/youden/detector"
)

const testKey = "sk-live-Zq8+/x9Qk2Lw71TTv0aa"

// plain is a complete answer as the documentation shows it.
const plain = `{"id":"c1","object":"chat.completion","created":1,"model":"m-1","choices":[{"index":0,"message":{"role":"assistant","content":"No finding.","refusal":null},"logprobs":null,"finish_reason":"stop"}],"usage":{"prompt_tokens":2048,"completion_tokens":4,"total_tokens":2052,"prompt_tokens_details":{"cached_tokens":1920},"completion_tokens_details":{"reasoning_tokens":0}},"system_fingerprint":"fp_1"}`

// recorder keeps the requests that reach a server.
type recorder struct {
	mu       sync.Mutex
	requests []recorded
}

type recorded struct {
	header http.Header
	body   []byte
	path   string
}

func (r *recorder) take(t *testing.T, req *http.Request) recorded {
	body, err := io.ReadAll(req.Body)
	assert.NoError(t, err)
	got := recorded{header: req.Header.Clone(), body: body, path: req.URL.Path}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.requests = append(r.requests, got)
	return got
}

func (r *recorder) count() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.requests)
}

// serve starts a server on loopback that answers with handler.
func serve(t *testing.T, handler http.HandlerFunc) (*httptest.Server, *recorder) {
	t.Helper()
	r := &recorder{}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		got := r.take(t, req)
		req.Body = io.NopCloser(strings.NewReader(string(got.body)))
		handler(w, req)
	}))
	t.Cleanup(s.Close)
	return s, r
}

func reply(status int, contentType, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", contentType)
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

func openLedger(t *testing.T, path string, opts ledger.Options) *ledger.Ledger {
	t.Helper()
	l, err := ledger.Open(context.Background(), path, opts)
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, l.Close()) })
	return l
}

func memoryLedger(t testing.TB) *ledger.Ledger {
	t.Helper()
	l, err := ledger.OpenStore(context.Background(), ledger.NewMemory(), ledger.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, l.Close()) })
	return l
}

func options(url string, l *ledger.Ledger) endpoint.Options {
	zero := 0.0
	return endpoint.Options{
		Name: "test", BaseURL: url + "/v1", Model: "o3-mini", Key: redact.NewSecret(testKey),
		Temperature: &zero, Ledger: l, Scope: "plan-1", Retry: endpoint.Retry{Max: -1},
	}
}

func client(t testing.TB, o endpoint.Options) *endpoint.Client {
	t.Helper()
	c, err := endpoint.New(o)
	require.NoError(t, err)
	t.Cleanup(c.CloseIdle)
	return c
}

func ask(text string) detector.Request {
	return detector.Request{Seed: 42, Messages: []detector.Message{
		{Role: detector.System, Content: "You audit code."}, {Role: detector.User, Content: text},
	}}
}

func complete(t testing.TB, c *endpoint.Client, k int, req detector.Request) detector.Answer {
	t.Helper()
	return c.Complete(endpoint.WithSample(context.Background(), k), req)
}

func TestCompleteReadsAnAnswer(t *testing.T) {
	s, r := serve(t, reply(200, "application/json", plain))
	o := options(s.URL, openLedger(t, filepath.Join(t.TempDir(), "ledger.db"), ledger.Options{}))
	cached := int64(75_000)
	o.Price = &endpoint.Price{PromptMicros: 150_000, CompletionMicros: 600_000, CachedMicros: &cached}
	a := complete(t, client(t, o), 0, ask("Audit"))
	assert.Equal(t, detector.OK, a.Status, a.Detail)
	assert.Equal(t, "No finding.", a.Text)
	assert.Equal(t, "stop", a.FinishReason)
	assert.Equal(t, "m-1", a.Model)
	assert.Equal(t, "fp_1", a.Fingerprint)
	assert.Equal(t, int64(2048), *a.Usage.Prompt)
	assert.Equal(t, int64(1920), *a.Usage.Cached)
	assert.Equal(t, int64(0), *a.Usage.Reasoning)
	assert.Equal(t, int64(166), *a.CostMicros) // (128*.15 + 1920*.075 + 4*.6) = 165.6
	assert.Equal(t, 1, a.Attempts)
	assert.Len(t, a.Receipt, 64)
	assert.Positive(t, a.Latency)
	assert.False(t, a.Replayed)
	assert.Equal(t, 1, r.count())
}

func TestWireBytes(t *testing.T) {
	s, r := serve(t, reply(200, "application/json", plain))
	o := options(s.URL, memoryLedger(t))
	o.ExtraBody = map[string]any{"thinking": map[string]string{"type": "disabled"}, "min_p": 0.0}
	c := client(t, o)
	req := ask("Audit")
	req.ResponseFormat, req.Schema = "json_schema", json.RawMessage(`{"type":"object","properties":{"z":{"type":"string"},"a":{"type":"integer"}}}`)
	req.Tools = []detector.Tool{{Name: "read_file", Description: "Read", Parameters: json.RawMessage(`{"type":"object","properties":{"path":{"type":"string"},"from":{"type":"integer"}}}`)}}
	req.Messages = append(req.Messages,
		detector.Message{Role: detector.Assistant, Reasoning: "hm", ToolCalls: []detector.ToolCall{{ID: "c1", Name: "read_file"}}},
		detector.Message{Role: detector.ToolRole, ToolCallID: "c1"})
	a := complete(t, c, 0, req)
	require.Equal(t, detector.OK, a.Status, a.Detail)
	got := r.requests[0]
	assert.Equal(t, `{"max_tokens":4096,"messages":[{"role":"system","content":"You audit code."},{"role":"user","content":"Audit"},{"role":"assistant","content":null,"reasoning_content":"hm","tool_calls":[{"id":"c1","type":"function","function":{"name":"read_file","arguments":"{}"}}]},{"role":"tool","content":"","tool_call_id":"c1"}],"min_p":0,"model":"o3-mini","response_format":{"type":"json_schema","json_schema":{"name":"answer","schema":{"type":"object","properties":{"z":{"type":"string"},"a":{"type":"integer"}}},"strict":true}},"seed":42,"stream":false,"temperature":0,"thinking":{"type":"disabled"},"tools":[{"function":{"name":"read_file","description":"Read","parameters":{"type":"object","properties":{"path":{"type":"string"},"from":{"type":"integer"}}}},"type":"function"}]}`, string(got.body))
	assert.Equal(t, "/v1/chat/completions", got.path)
	assert.Equal(t, "Bearer "+testKey, got.header.Get("Authorization"))
	assert.Regexp(t, `^[0-9a-f]{16}-1$`, got.header.Get("X-Youden-Attempt"))
	assert.Empty(t, got.header.Get("Idempotency-Key"))
	assert.Empty(t, got.header.Get("X-Idempotency-Key"))
}
