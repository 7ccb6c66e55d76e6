package bench

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pelletier/go-toml/v2"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/youden-bench/youden/bench/endpoint"
	"github.com/youden-bench/youden/bench/ledger"
	"github.com/youden-bench/youden/detector"
	"github.com/youden-bench/youden/measurements"
)

const silentAnswer = `{"model":"m","choices":[{"message":{"content":"{\"findings\": []}"},"finish_reason":"stop"}]}`

// jobAgainst plans four runs against a handler.
func jobAgainst(t *testing.T, handler http.HandlerFunc) *Job {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	cfg, err := SelectEndpoint("x", "", map[string]EndpointConfig{"x": {BaseURL: server.URL + "/v1", Model: "m"}})
	require.NoError(t, err)
	job, err := Prepare(Request{
		Detector: "oneshot", EndpointName: "x", Endpoint: cfg, Runs: 1, Seed: 1, Split: "train", Limit: 2,
		Policy: measurements.Class, View: measurements.Charge, Concurrency: 2,
	}, detector.Core(), t.TempDir(), "capture")
	require.NoError(t, err)
	require.Equal(t, 4, job.Plan.Runs())
	return job
}

// What was learned is in the manifest, is told, and is what a comparison reads; a
// resumed capture sends nothing.
func TestACaptureRecordsWhatItLearned(t *testing.T) {
	var calls atomic.Int64
	job := jobAgainst(t, func(w http.ResponseWriter, req *http.Request) {
		calls.Add(1)
		var sent map[string]any
		_ = json.NewDecoder(req.Body).Decode(&sent)
		if _, has := sent["temperature"]; has {
			w.WriteHeader(http.StatusBadRequest)
			_, _ = w.Write([]byte(`{"error":{"message":"Unsupported value: 'temperature' does not support 0 with this model.","param":"temperature","code":"unsupported_value"}}`))
			return
		}
		_, _ = w.Write([]byte(silentAnswer))
	})
	dir := filepath.Join(t.TempDir(), "c")
	var told []string
	watch := Watch{Warn: func(text string) { told = append(told, text) }}
	out, err := job.Start(t.Context(), dir, measurements.Provenance{}, nil, watch)
	require.NoError(t, err)
	assert.Equal(t, Passed, out.Verdict(0))
	require.Len(t, told, 1)
	assert.Contains(t, told[0], "refuses temperature")

	c, err := measurements.Open(dir)
	require.NoError(t, err)
	m := c.Manifest()
	assert.InDelta(t, 0, m.Plan.Parameters["temperature"], 0, "the plan says what was asked for")
	assert.Nil(t, m.EffectiveParameters["temperature"])
	assert.Contains(t, m.EffectiveParameters, "temperature")
	assert.Equal(t, m.EffectiveParameters, m.Parameters())
	require.Len(t, m.Learned, 1)
	assert.Equal(t, "temperature", m.Learned[0].Parameter)
	require.NotEmpty(t, m.ConcurrencyHistory)
	assert.Equal(t, 2, m.ConcurrencyHistory[0].Limit)
	assert.Equal(t, []measurements.Served{{Model: "m", Answers: 4}}, m.Served)
	before, attempts := calls.Load(), int64(0)
	for row, err := range c.Runs() {
		require.NoError(t, err)
		attempts += row.Attempts
	}
	assert.Equal(t, before, attempts, "refusals are attempts of the runs that met them")

	req, err := RequestOf(dir)
	require.NoError(t, err)
	again, err := Prepare(req, detector.Core(), t.TempDir(), "resume")
	require.NoError(t, err)
	_, err = again.Resume(t.Context(), dir, nil, watch)
	require.NoError(t, err)
	assert.Equal(t, before, calls.Load())
	c, err = measurements.Open(dir)
	require.NoError(t, err)
	assert.Equal(t, m.EffectiveParameters, c.Manifest().EffectiveParameters)
	assert.Equal(t, m.Learned, c.Manifest().Learned)
	assert.Equal(t, m.Served, c.Manifest().Served)
}

// A quota ends the capture at once, says when it is over, and leaves it resumable.
func TestAQuotaStopsTheCapture(t *testing.T) {
	var calls atomic.Int64
	job := jobAgainst(t, func(w http.ResponseWriter, _ *http.Request) {
		if calls.Add(1) == 1 {
			_, _ = w.Write([]byte(silentAnswer))
			return
		}
		w.Header().Set("Retry-After", "7200")
		w.WriteHeader(http.StatusTooManyRequests)
	})
	begin := time.Now()
	out, err := job.Start(t.Context(), filepath.Join(t.TempDir(), "c"), measurements.Provenance{}, nil, Watch{})
	require.NoError(t, err)
	assert.Equal(t, RateLimited, out.Verdict(1))
	assert.Less(t, time.Since(begin), time.Minute)
	assert.LessOrEqual(t, calls.Load(), int64(3))
	_, when, found := strings.Cut(out.Stop.Detail, "it can go on after ")
	require.True(t, found, out.Stop.Detail)
	at, err := time.Parse(time.RFC3339, when)
	require.NoError(t, err)
	assert.InDelta(t, 7200, at.Sub(begin).Seconds(), 60)
}

// A stopped capture does not wait for its retries.
func TestStoppingEndsTheWaits(t *testing.T) {
	arrived := make(chan struct{}, 16)
	job := jobAgainst(t, func(w http.ResponseWriter, _ *http.Request) {
		arrived <- struct{}{}
		w.Header().Set("Retry-After", "100")
		w.WriteHeader(http.StatusTooManyRequests)
	})
	stop := make(chan struct{})
	go func() {
		<-arrived
		close(stop)
	}()
	begin := time.Now()
	out, err := job.Start(t.Context(), filepath.Join(t.TempDir(), "c"), measurements.Provenance{}, stop, Watch{})
	require.NoError(t, err)
	assert.Equal(t, Interrupted, out.Verdict(1))
	assert.Less(t, time.Since(begin), 30*time.Second)
}

func TestDialectOfTheConfiguration(t *testing.T) {
	var file struct {
		Endpoint map[string]EndpointConfig `toml:"endpoint"`
	}
	decoder := toml.NewDecoder(strings.NewReader(`
[endpoint.x]
base_url = "http://127.0.0.1:1/v1"
model = "fast"
aliases = { fast = "m-2026-11-30" }
allow_param_drop = false
stream = "on"
tool_content = "omit"
replay_reasoning = false
answer_from_reasoning = true
prompt_ratio = -1
max_tokens_field = "max_completion_tokens"
timeouts = { idle = "7s" }
retries = { max = 0, budget = "9s", max_wait = "8s" }
`)).DisallowUnknownFields()
	require.NoError(t, decoder.Decode(&file))
	got, err := SelectEndpoint("x", "", file.Endpoint)
	require.NoError(t, err)
	assert.Equal(t, "m-2026-11-30", got.Model)
	var o endpoint.Options
	got.speak(&o)
	assert.Equal(t, endpoint.Options{KeepParameters: true, Stream: "on", ToolContent: "omit", ForgetThoughts: true, AnswerFromReasoning: true, PromptRatio: -1}, o)
	timeouts, err := got.Timeouts.parse("x")
	require.NoError(t, err)
	assert.Equal(t, endpoint.Timeouts{Connect: 10 * time.Second, FirstByte: 5 * time.Minute, Idle: 7 * time.Second, Total: 10 * time.Minute}, timeouts, "all of them are visible")
	retry, err := got.Retries.parse("x")
	require.NoError(t, err)
	assert.Equal(t, endpoint.Retry{Max: -1, Budget: 9 * time.Second, MaxWait: 8 * time.Second}, retry)
	parameters := map[string]any{}
	got.parameters(parameters)
	assert.Equal(t, map[string]any{"answer_from_reasoning": true}, parameters)
	assert.False(t, got.MaxTokensFieldOpen)

	l, err := ledger.OpenStore(t.Context(), ledger.NewMemory(), ledger.Options{})
	require.NoError(t, err)
	_, err = got.Connect("x", l, "s", 1, nil)
	require.NoError(t, err)
	for want, change := range map[string]func(*EndpointConfig){
		"retries.max":      func(c *EndpointConfig) { n := -1; c.Retries.Max = &n },
		"retries.budget":   func(c *EndpointConfig) { c.Retries.Budget = "soon" },
		"retries.max_wait": func(c *EndpointConfig) { c.Retries.MaxWait = "-1s" },
		"timeouts.idle":    func(c *EndpointConfig) { c.Timeouts.Idle = "0s" },
		"stream is":        func(c *EndpointConfig) { c.Stream = "maybe" },
		"tool_content is":  func(c *EndpointConfig) { c.ToolContent = "none" },
	} {
		bad := got
		change(&bad)
		_, err := bad.Connect("x", l, "s", 1, nil)
		require.ErrorContains(t, err, want)
	}
	require.NoError(t, l.Close())

	open := EndpointConfig{BaseURL: "http://127.0.0.1:1/v1", Model: "m"}.withDefaults()
	assert.Equal(t, "max_tokens", open.MaxTokensField)
	assert.True(t, open.withDefaults().MaxTokensFieldOpen, "also when it was read back")
}
