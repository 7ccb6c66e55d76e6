package simulator

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func simpleRequest(model string, more map[string]any) map[string]any {
	out := map[string]any{"model": model, "messages": []map[string]any{{"role": "user", "content": "Find injection.\n```python\nimport os\nos.system(request.args.get('x'))\n```"}}}
	for k, v := range more {
		out[k] = v
	}
	return out
}

func TestProfiles(t *testing.T) {
	assert.Equal(t, []string{"sim-drifted", "sim-null", "sim-reflector", "sim-strong", "sim-weak"}, Models())
	seen := map[string]bool{}
	for _, name := range Models() {
		hash, err := ProfileHash(name)
		require.NoError(t, err)
		assert.Len(t, hash, 64)
		assert.False(t, seen[hash], "two profiles share a hash")
		seen[hash] = true
	}
	_, err := ProfileHash("gpt-5")
	require.ErrorContains(t, err, "sim-strong")
	_, err = New(Options{Profiles: []string{"sim-nope"}})
	require.Error(t, err)
	for _, bad := range []string{`{`, `{"schema":"x"}`, `{"schema":"youden.simulator-profile/1","name":"real-model"}`, `{"colour":1}`} {
		_, err := parseProfile("test", []byte(bad))
		assert.Error(t, err, bad)
	}
}

func TestProfileHashCoversItsFiles(t *testing.T) {
	data, err := embedded.ReadFile("profiles/sim-strong.json")
	require.NoError(t, err)
	whole, err := parseProfile("test", data)
	require.NoError(t, err)
	less, err := parseProfile("test", bytes.Replace(data, []byte(`"lexicon.json",`), nil, 1))
	require.NoError(t, err)
	sum := sha256.Sum256(data)
	assert.NotEqual(t, whole.hash, less.hash)
	assert.NotEqual(t, whole.hash, hex.EncodeToString(sum[:]))
}

func TestEverythingSaysSimulated(t *testing.T) {
	s := newServer(t, Options{})
	for _, model := range Models() {
		r := post(t, s, simpleRequest(model, nil))
		require.Equal(t, 200, r.status, string(r.body))
		var c wireCompletion
		require.NoError(t, json.Unmarshal(r.body, &c))
		hash, err := ProfileHash(model)
		require.NoError(t, err)
		assert.Equal(t, "fp_sim_"+hash[:12], c.Fingerprint)
		assert.True(t, c.Simulated)
		assert.Equal(t, "true", r.header.Get("X-Simulated"))
	}
}

func TestRoutes(t *testing.T) {
	s := newServer(t, Options{Profiles: []string{"sim-strong"}, APIKey: "k"})
	for _, c := range []struct {
		method, path, key string
		status            int
	}{
		{"GET", "/v1/models", "k", 200},
		{"GET", "/v1/models/sim-strong", "k", 200},
		{"GET", "/v1/models/sim-weak", "k", 404},
		{"GET", "/v1/models", "x", 401},
		{"GET", "/v1/models", "", 401},
		{"POST", "/v1/models", "k", 405},
		{"GET", "/v1/chat/completions", "k", 405},
		{"GET", "/", "k", 404},
		{"GET", "/-/stats", "", 200},
	} {
		req := httptest.NewRequest(c.method, "http://sim"+c.path, nil)
		if c.key != "" {
			req.Header.Set("Authorization", "Bearer "+c.key)
		}
		w := httptest.NewRecorder()
		s.ServeHTTP(w, req)
		assert.Equal(t, c.status, w.Code, "%s %s", c.method, c.path)
		assert.True(t, json.Valid(w.Body.Bytes()))
	}
}

func TestBadRequests(t *testing.T) {
	s := newServer(t, Options{})
	user := []map[string]any{{"role": "user", "content": "x"}}
	for _, c := range []struct {
		name, param string
		body        any
	}{
		{"an array", "", []byte(`[]`)},
		{"null", "", []byte(`null`)},
		{"no model", "model", map[string]any{"messages": user}},
		{"model is a number", "model", map[string]any{"model": 3, "messages": user}},
		{"messages is text", "messages", map[string]any{"model": "sim-strong", "messages": "x"}},
		{"no messages", "messages", map[string]any{"model": "sim-strong", "messages": []any{}}},
		{"unknown role", "messages.[0].role", map[string]any{"model": "sim-strong", "messages": []map[string]any{{"role": "boss", "content": "x"}}}},
		{"no content", "messages.[0].content", map[string]any{"model": "sim-strong", "messages": []map[string]any{{"role": "user"}}}},
		{"an image", "messages.[0].content", map[string]any{"model": "sim-strong", "messages": []map[string]any{{"role": "user", "content": []map[string]any{{"type": "image_url"}}}}}},
		{"too hot", "temperature", simpleRequest("sim-strong", map[string]any{"temperature": 3})},
		{"n of 0", "n", simpleRequest("sim-strong", map[string]any{"n": 0})},
		{"max_tokens of 0", "max_tokens", simpleRequest("sim-strong", map[string]any{"max_tokens": 0})},
		{"logprobs missing", "top_logprobs", simpleRequest("sim-strong", map[string]any{"top_logprobs": 2})},
		{"unknown format", "response_format.type", simpleRequest("sim-strong", map[string]any{"response_format": map[string]any{"type": "xml"}})},
		{"choice without tools", "tool_choice", simpleRequest("sim-strong", map[string]any{"tool_choice": "required"})},
		{"five stops", "stop", simpleRequest("sim-strong", map[string]any{"stop": []string{"a", "b", "c", "d", "e"}})},
		{"no stops", "stop", simpleRequest("sim-strong", map[string]any{"stop": []string{}})},
		{"top_p above 1", "top_p", simpleRequest("sim-strong", map[string]any{"top_p": 1.5})},
		{"an unknown effort", "reasoning_effort", simpleRequest("sim-strong", map[string]any{"reasoning_effort": "vast"})},
		{"metadata is text", "metadata", simpleRequest("sim-strong", map[string]any{"metadata": "a"})},
		{"a format without a type", "response_format.type", simpleRequest("sim-strong", map[string]any{"response_format": map[string]any{}})},
		{"a schema without a name", "response_format.json_schema.name", simpleRequest("sim-strong", map[string]any{"response_format": map[string]any{"type": "json_schema", "json_schema": map[string]any{"schema": map[string]any{"type": "object"}}}})},
		{"a tool without a type", "tools[0].type", simpleRequest("sim-strong", map[string]any{"tools": []map[string]any{{"function": map[string]any{"name": "f"}}}})},
		{"a named tool without a type", "tool_choice.type", simpleRequest("sim-strong", map[string]any{"tools": []map[string]any{toolSpec("f")}, "tool_choice": map[string]any{"function": map[string]any{"name": "f"}}})},
		{"no parts", "messages.[0].content", map[string]any{"model": "sim-strong", "messages": []map[string]any{{"role": "user", "content": []any{}}}}},
		{"a part without text", "messages.[0].content[0].text", map[string]any{"model": "sim-strong", "messages": []map[string]any{{"role": "user", "content": []map[string]any{{"type": "text"}}}}}},
		{"a call without a function", "messages.[0].tool_calls[0].function", map[string]any{"model": "sim-strong", "messages": []map[string]any{{"role": "assistant", "tool_calls": []map[string]any{{"id": "c", "type": "function"}}}}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := post(t, s, c.body)
			require.Equal(t, 400, r.status, string(r.body))
			var e struct {
				Error struct {
					Param *string `json:"param"`
					Type  string  `json:"type"`
				} `json:"error"`
			}
			require.NoError(t, json.Unmarshal(r.body, &e))
			assert.Equal(t, "invalid_request_error", e.Error.Type)
			if c.param == "" {
				assert.Nil(t, e.Error.Param)
			} else if assert.NotNil(t, e.Error.Param) {
				assert.Equal(t, c.param, *e.Error.Param)
			}
		})
	}
	assert.Equal(t, 413, post(t, s, bytes.Repeat([]byte(" "), maxBodyBytes+1)).status)
	assert.Zero(t, s.Stats().Calls)
}

func TestSameBytes(t *testing.T) {
	one, two := newServer(t, Options{}), newServer(t, Options{Latency: LatencyVirtual})
	req := simpleRequest("sim-weak", map[string]any{"seed": 5, "temperature": 0.7, "n": 3})
	first := post(t, one, req)
	post(t, two, simpleRequest("sim-weak", map[string]any{"seed": 6}))
	again := post(t, two, req)
	assert.Equal(t, string(first.body), string(again.body))
	assert.Equal(t, first.header, again.header)
	other := post(t, one, simpleRequest("sim-weak", map[string]any{"seed": 6, "temperature": 0.7, "n": 3}))
	assert.NotEqual(t, string(first.body), string(other.body))
}

func TestConcurrencyChangesNothing(t *testing.T) {
	pairs := ownPairs(t)[:4]
	var bodies [][]byte
	for i, p := range pairs {
		for k := range 3 {
			raw, err := json.Marshal(map[string]any{"model": []string{"sim-strong", "sim-weak", "sim-null"}[k], "seed": k,
				"messages": detectorMessages(t, goodInstruction, goodChecklist, []side{p.vulnerable, p.fixed}[i%2])})
			require.NoError(t, err)
			bodies = append(bodies, raw)
		}
	}
	alone := make([]string, len(bodies))
	s := newServer(t, Options{})
	for i, b := range bodies {
		alone[i] = string(post(t, s, b).body)
	}
	fresh := newServer(t, Options{})
	var wg sync.WaitGroup
	for round := range 3 {
		for i := range bodies {
			wg.Add(1)
			go func() {
				defer wg.Done()
				at := (i*7 + round) % len(bodies)
				assert.Equal(t, alone[at], string(post(t, fresh, bodies[at]).body))
			}()
		}
	}
	wg.Wait()
	assert.Equal(t, 3*len(bodies), fresh.Stats().Calls)
}

func TestStats(t *testing.T) {
	s := newServer(t, Options{})
	body, err := json.Marshal(simpleRequest("sim-strong", nil))
	require.NoError(t, err)
	post(t, s, body, "X-Youden-Attempt", "abc-1")
	post(t, s, body, "X-Youden-Attempt", "abc-2")
	post(t, s, simpleRequest("sim-weak", nil), "X-Youden-Attempt", "d-e-1")
	post(t, s, simpleRequest("sim-nope", nil))
	sum := sha256.Sum256(body)
	st := s.Stats()
	assert.Equal(t, 4, st.Requests)
	assert.Equal(t, 3, st.Calls)
	assert.Equal(t, 3, st.Finished)
	assert.Equal(t, 1, st.Refused)
	assert.Equal(t, map[string]int{"sim-strong": 2, "sim-weak": 1}, st.ByModel)
	assert.Equal(t, 2, st.ByRequest[hex.EncodeToString(sum[:])])
	assert.Equal(t, map[string]int{"abc": 2, "d-e": 1}, st.Attempts)
	st.ByModel["sim-strong"] = 9
	assert.Equal(t, 2, s.Stats().ByModel["sim-strong"], "a snapshot is a copy")

	w := httptest.NewRecorder()
	s.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "http://sim/-/stats", nil))
	var shown Stats
	require.NoError(t, json.Unmarshal(w.Body.Bytes(), &shown))
	assert.Equal(t, s.Stats(), shown)
	assert.Contains(t, w.Body.String(), `"calls": 3`)
}

func TestLimitsAndStops(t *testing.T) {
	s := newServer(t, Options{ProfileFiles: []string{filepath.Join("testdata", "profiles", "sim-small.json")}})
	read := func(more map[string]any) wireCompletion {
		r := post(t, s, simpleRequest("sim-strong", more))
		require.Equal(t, 200, r.status, string(r.body))
		var c wireCompletion
		require.NoError(t, json.Unmarshal(r.body, &c))
		return c
	}
	whole := read(nil)
	text := *whole.Choices[0].Message.Content
	assert.Equal(t, countTokens(text), whole.Usage.CompletionTokens)
	for _, field := range []string{"max_tokens", "max_completion_tokens"} {
		c := read(map[string]any{field: 4})
		cut := *c.Choices[0].Message.Content
		assert.Equal(t, "length", c.Choices[0].FinishReason)
		assert.Equal(t, 4, c.Usage.CompletionTokens)
		assert.Equal(t, 4, countTokens(cut))
		assert.True(t, strings.HasPrefix(text, cut))
	}
	stopped := read(map[string]any{"stop": "findings"})
	assert.NotContains(t, *stopped.Choices[0].Message.Content, "findings")
	assert.Equal(t, "stop", stopped.Choices[0].FinishReason)
	many := read(map[string]any{"n": 4, "temperature": 1.5})
	assert.Len(t, many.Choices, 4)
	assert.Equal(t, whole.Usage.PromptTokens, many.Usage.PromptTokens)
	assert.Equal(t, text, *read(map[string]any{"messages": []map[string]any{{"role": "user", "content": []map[string]any{{"type": "text", "text": "Find injection.\n```python\nimport os\nos.system(request.args.get('x'))\n```"}}}}}).Choices[0].Message.Content, "parts read as text")
}

func TestPrefixCache(t *testing.T) {
	long := strings.Repeat("one two three. ", 350)
	body := func(tail string) map[string]any {
		return map[string]any{"model": "sim-strong", "messages": []map[string]any{{"role": "system", "content": long}, {"role": "user", "content": tail}}}
	}
	cachedOf := func(r reply) (cached, prompt int) {
		var c wireCompletion
		require.NoError(t, json.Unmarshal(r.body, &c))
		return c.Usage.Prompt.CachedTokens, c.Usage.PromptTokens
	}
	s := newServer(t, Options{Cache: true})
	n, _ := cachedOf(post(t, s, body("a")))
	assert.Zero(t, n)
	n, prompt := cachedOf(post(t, s, body("b")))
	assert.GreaterOrEqual(t, n, 1024)
	assert.Zero(t, (n-1024)%128)
	assert.Less(t, n, prompt)
	off := newServer(t, Options{})
	post(t, off, body("a"))
	n, _ = cachedOf(post(t, off, body("a")))
	assert.Zero(t, n)
}

func TestLatency(t *testing.T) {
	_, err := New(Options{Latency: "soon"})
	require.Error(t, err)
	for _, c := range []struct {
		mode   LatencyMode
		sleeps int
	}{{"", 0}, {LatencyVirtual, 0}, {LatencyReal, 1}, {"250ms", 1}} {
		s := newServer(t, Options{Latency: c.mode})
		var slept []time.Duration
		s.latency.sleep = func(_ context.Context, d time.Duration) error {
			slept = append(slept, d)
			return nil
		}
		r := post(t, s, simpleRequest("sim-strong", nil))
		require.Len(t, slept, c.sleeps, c.mode)
		assert.NotEqual(t, "1", r.header.Get("Openai-Processing-Ms"))
		if c.mode == "250ms" {
			assert.Equal(t, 250*time.Millisecond, slept[0])
		}
	}
	s := newServer(t, Options{Latency: "1h"})
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	assert.ErrorIs(t, s.latency.sleep(ctx, time.Hour), context.Canceled)
}

func TestStreamSaysTheSame(t *testing.T) {
	s := newServer(t, Options{})
	for _, model := range []string{"sim-strong", "sim-reflector"} {
		whole := post(t, s, simpleRequest(model, map[string]any{"seed": 3}))
		var c wireCompletion
		require.NoError(t, json.Unmarshal(whole.body, &c))
		r := post(t, s, simpleRequest(model, map[string]any{"seed": 3, "stream": true, "stream_options": map[string]any{"include_usage": true}}))
		events, done := parseEvents(t, r.body)
		require.True(t, done)
		var text strings.Builder
		for _, e := range events[:len(events)-1] {
			if piece, ok := delta(e)["content"].(string); ok {
				text.WriteString(piece)
			}
		}
		assert.Equal(t, *c.Choices[0].Message.Content, text.String())
		assert.EqualValues(t, c.Usage.TotalTokens, events[len(events)-1]["usage"].(map[string]any)["total_tokens"])
		assert.Equal(t, "text/event-stream; charset=utf-8", r.header.Get("Content-Type"))
	}
}

func roundTripError(t *testing.T, h http.Handler, req *http.Request) error {
	t.Helper()
	resp, err := Transport(h).RoundTrip(req)
	if err == nil {
		require.NoError(t, resp.Body.Close())
	}
	return err
}

func TestTransport(t *testing.T) {
	slow := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	ctx, cancel := context.WithCancel(context.Background())
	req := httptest.NewRequestWithContext(ctx, http.MethodGet, "http://sim/", nil)
	cancel()
	require.ErrorIs(t, roundTripError(t, slow, req), context.Canceled)

	ctx, cancel = context.WithCancel(context.Background())
	started := make(chan struct{})
	go func() { <-started; cancel() }()
	waits := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { close(started); <-r.Context().Done() })
	require.ErrorIs(t, roundTripError(t, waits, httptest.NewRequestWithContext(ctx, http.MethodGet, "http://sim/", nil)), context.Canceled)

	aborts := http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
	require.Error(t, roundTripError(t, aborts, httptest.NewRequest(http.MethodGet, "http://sim/", nil)))

	resp, err := Transport(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, "half")
		panic(http.ErrAbortHandler)
	})).RoundTrip(httptest.NewRequest(http.MethodGet, "http://sim/", nil))
	require.NoError(t, err)
	data, err := io.ReadAll(resp.Body)
	assert.Equal(t, "half", string(data))
	require.ErrorIs(t, err, io.ErrUnexpectedEOF)
	require.NoError(t, resp.Body.Close())

	echo := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		w.WriteHeader(http.StatusTeapot)
		_, _ = w.Write(b)
	})
	resp, err = Transport(echo).RoundTrip(httptest.NewRequest(http.MethodPost, "http://sim/x", strings.NewReader("abc")))
	require.NoError(t, err)
	data, err = io.ReadAll(resp.Body)
	require.NoError(t, err)
	assert.Equal(t, "abc", string(data))
	assert.Equal(t, http.StatusTeapot, resp.StatusCode)
	require.NoError(t, resp.Body.Close())
}

func TestOverASocket(t *testing.T) {
	s := newServer(t, Options{Faults: "reset"})
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Skipf("no loopback socket: %v", err)
	}
	srv := &httptest.Server{Listener: listener, Config: &http.Server{Handler: s}}
	srv.Start()
	defer srv.Close()
	body, err := json.Marshal(simpleRequest("sim-strong", nil))
	require.NoError(t, err)
	resp, err := srv.Client().Post(srv.URL+"/v1/chat/completions", "application/json", bytes.NewReader(body))
	if err == nil {
		require.NoError(t, resp.Body.Close())
	}
	require.Error(t, err)
	resp, err = srv.Client().Get(srv.URL + "/v1/models")
	require.NoError(t, err)
	assert.Equal(t, 200, resp.StatusCode)
	require.NoError(t, resp.Body.Close())
}
