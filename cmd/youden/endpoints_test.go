package main

import (
	"encoding/json"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/youden-bench/youden/measurements"
)

// captureAgainst captures six runs against a base URL and returns the exit code,
// the printed JSON and the rows.
func captureAgainst(t *testing.T, baseURL string, args ...string) (code int, printed map[string]any, runs []measurements.RunRow, stderr string) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "c")
	code, out, stderr := youden(t, append([]string{
		"capture", "--endpoint", baseURL, "--model", "m", "--limit", "3", "--runs", "1",
		"--out", dir, "--format", "json", "--progress", "none",
	}, args...)...)
	require.NotEmpty(t, out, stderr)
	require.NoError(t, json.Unmarshal([]byte(out), &printed), out)
	c, err := measurements.Open(dir)
	require.NoError(t, err)
	for row, err := range c.Runs() {
		require.NoError(t, err)
		runs = append(runs, row)
	}
	return code, printed, runs, stderr
}

// A failing endpoint gives its own status in every run and never a number.
func TestEndpointsThatFail(t *testing.T) {
	dead, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	deadURL := "http://" + dead.Addr().String() + "/v1"
	require.NoError(t, dead.Close())

	answers := func(status int, contentType, body string) string {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", contentType)
			w.WriteHeader(status)
			_, _ = w.Write([]byte(body))
		}))
		t.Cleanup(server.Close)
		return server.URL + "/v1"
	}
	for _, c := range []struct {
		name, url, status string
		code              int
	}{
		{"dead port", deadURL, "transient", exitIncomplete},
		{"wrong key", answers(401, "application/json", `{"error":{"message":"Incorrect API key provided","type":"invalid_request_error","param":null,"code":"invalid_api_key"}}`), "auth", exitIncomplete},
		{"HTML", answers(200, "text/html", "<!doctype html><html><body>Welcome</body></html>"), "config", exitIncomplete},
		{"HTML 404", answers(404, "text/html", "<html>not found</html>"), "config", exitIncomplete},
		{"server error", answers(500, "application/json", `{"error":{"message":"boom","type":"server_error","param":null,"code":null}}`), "transient", exitIncomplete},
		{"rate limit", answers(429, "application/json", `{"error":{"message":"slow down","type":"rate_limit_error","param":null,"code":"rate_limit_exceeded"}}`), "rate_limited", exitRateLimited},
	} {
		t.Run(c.name, func(t *testing.T) {
			code, printed, runs, stderr := captureAgainst(t, c.url)
			assert.Equal(t, c.code, code, stderr)
			require.Len(t, runs, 6)
			for _, r := range runs {
				assert.Equal(t, c.status, r.Status)
				assert.Nil(t, r.Hit)
				assert.Nil(t, r.SilentClass)
				if r.Attempts > 0 {
					assert.Nil(t, r.CostUSDMicros, "what a failed call cost is unknown")
				}
			}
			assert.Equal(t, "unrun", printed["status"])
			assert.Equal(t, "E0", printed["grade"])
			families, ok := printed["families"].([]any)
			require.True(t, ok)
			for _, f := range families {
				for _, number := range []string{"recall", "silence", "j", "j_lo", "j_hi", "j_vote", "pair_accuracy"} {
					assert.Nil(t, f.(map[string]any)[number], number)
				}
			}
			totals, ok := printed["totals"].(map[string]any)
			require.True(t, ok)
			assert.Nil(t, totals["j_pooled"])
			assert.Nil(t, totals["j_macro"])
			if c.status == "config" {
				assert.Contains(t, stderr, "start a new one")
			} else {
				assert.Contains(t, stderr, "youden resume")
			}
		})
	}
}

// Prose is the detector's own failure: it is charged, and J is at its worst.
func TestProseIsChargedAtTheWorst(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"id":"x","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,"finish_reason":"stop","message":{"role":"assistant","content":"Looks good to me."}}],"usage":{"prompt_tokens":1,"completion_tokens":1,"total_tokens":2}}`))
	}))
	defer server.Close()
	code, printed, runs, stderr := captureAgainst(t, server.URL+"/v1")
	assert.Equal(t, exitPass, code, stderr)
	for _, r := range runs {
		assert.Equal(t, "bad_format", r.Status)
	}
	totals, ok := printed["totals"].(map[string]any)
	require.True(t, ok)
	assert.InDelta(t, -1.0, totals["j_pooled"], 0)
}

// The key reaches the endpoint and nothing else.
func TestKeyReachesNoSink(t *testing.T) {
	const key = "sk-test-4f9d21c7b3a8"
	t.Setenv("YOUDEN_TEST_KEY", key)
	var seen string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		seen = r.Header.Get("Authorization")
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusUnauthorized)
		_, _ = w.Write([]byte(`{"error":{"message":"Incorrect API key provided: ` + key + `","type":"invalid_request_error","param":null,"code":"invalid_api_key"}}`))
	}))
	defer server.Close()
	work := t.TempDir()
	config := filepath.Join(work, "youden.toml")
	write(t, config, "[endpoint.x]\nbase_url = \""+server.URL+"/v1\"\nmodel = \"m\"\napi_key_env = \"YOUDEN_TEST_KEY\"\n")
	code, out, stderr := youden(t, "capture", "--config", config, "--endpoint", "x", "--limit", "2", "--runs", "1",
		"--concurrency", "1", "--out", filepath.Join(work, "c"), "--progress", "plain")
	assert.Equal(t, exitIncomplete, code)
	assert.Equal(t, "Bearer "+key, seen)
	assert.NotContains(t, out, key)
	assert.NotContains(t, stderr, key)
	for name, text := range files(t, work) {
		assert.NotContains(t, text, key, name)
	}
}

// An endpoint that says it is simulated makes the capture simulated, whatever
// the configuration takes it for.
func TestSimulatedEndpointUnderAnotherName(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"id":"x","object":"chat.completion","created":1,"model":"m","system_fingerprint":"fp_sim_0123456789ab","choices":[{"index":0,"finish_reason":"stop","message":{"role":"assistant","content":"{\"findings\": []}"}}]}`))
	}))
	defer server.Close()
	_, printed, runs, stderr := captureAgainst(t, server.URL+"/v1")
	assert.Equal(t, true, printed["simulated"], stderr)
	assert.Equal(t, "E2", printed["grade"])
	for _, r := range runs {
		assert.True(t, r.Simulated)
		assert.Nil(t, r.PromptTokens, "usage that was not reported is unknown")
	}
}
