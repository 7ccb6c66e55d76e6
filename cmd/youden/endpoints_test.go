package main

import (
	"encoding/json"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/youden-bench/youden/measurements"
)

// captureAgainst captures six runs against a base URL and returns the exit code,
// the printed JSON and the rows.
func captureAgainst(t *testing.T, baseURL string, args ...string) (code int, printed map[string]any, runs []measurements.RunRow, stderr string) {
	t.Helper()
	dir, config := filepath.Join(t.TempDir(), "c"), filepath.Join(t.TempDir(), "youden.toml")
	write(t, config, "[endpoint.x]\nbase_url = \""+baseURL+"\"\nmodel = \"m\"\nretries = { max = 0 }\n")
	code, out, stderr := youden(t, append([]string{
		"capture", "--config", config, "--endpoint", "x", "--limit", "3", "--runs", "1",
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
	finding, err := json.Marshal(`{"findings": [{"family": "injection", "file": "` + key + `", "line": 1, "cwe": "` + key + `", "explanation": "the key is ` + key + `"}]}`)
	require.NoError(t, err)
	for name, answer := range map[string]struct {
		status int
		body   string
		code   int
	}{
		"refused":  {401, `{"error":{"message":"Incorrect API key provided: ` + key + `","type":"invalid_request_error","param":null,"code":"invalid_api_key"}}`, exitIncomplete},
		"answered": {200, `{"id":"` + key + `","object":"chat.completion","created":1,"model":"` + key + `","system_fingerprint":"` + key + `","choices":[{"index":0,"finish_reason":"stop","message":{"role":"assistant","content":` + string(finding) + `}}]}`, exitPass},
		"broken":   {200, `{"choices": [` + key, exitIncomplete},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("YOUDEN_TEST_KEY", key)
			t.Chdir(t.TempDir())
			var seen atomic.Value
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				seen.Store(r.Header.Get("Authorization"))
				w.Header().Set("Content-Type", "application/json")
				w.Header().Set("X-Request-Id", key)
				w.WriteHeader(answer.status)
				_, _ = w.Write([]byte(answer.body))
			}))
			defer server.Close()
			write(t, "youden.toml", "[endpoint.x]\nbase_url = \""+server.URL+"/v1\"\nmodel = \"m\"\napi_key_env = \"YOUDEN_TEST_KEY\"\nretries = { max = 0 }\n")
			code, out, stderr := youden(t, "capture", "--endpoint", "x", "--family", "injection", "--limit", "4", "--runs", "4", "--out", "c", "--progress", "plain")
			assert.Equal(t, answer.code, code, stderr)
			assert.Equal(t, "Bearer "+key, seen.Load())
			assert.NotContains(t, out+stderr, key)
			t.Setenv("YOUDEN_TEST_KEY", "") // nobody knows any more what to take out
			for _, args := range renderings("c") {
				_, out, stderr := youden(t, args...)
				assert.NotContains(t, out+stderr, key, args)
			}
			for name, text := range files(t, ".") {
				assert.NotContains(t, text, key, name)
			}
		})
	}
}

// renderings are command lines that show a capture in every way there is.
func renderings(dir string) [][]string {
	lines := [][]string{
		{"baseline", "set", dir}, {"baseline", "show", "main"}, {"export", dir, "--as", "kstrl-v2"}, {"score", dir},
		{"compare", dir, dir, "--junit", "junit.xml"}, {"noise", dir}, {"power", dir}, {"resume", dir, "--progress", "plain"},
	}
	for _, format := range []string{"table", "markdown", "json", "csv"} {
		lines = append(lines, []string{"compare", dir, dir, "--format", format})
		for _, by := range []string{"slice", "family", "case", "run"} {
			lines = append(lines, []string{"show", dir, "--format", format, "--by", by})
		}
	}
	return lines
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

// serve answers every request with one status and body.
func serve(t *testing.T, status int, body string) (baseURL string) {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_, _ = w.Write([]byte(body))
	}))
	t.Cleanup(server.Close)
	return server.URL + "/v1"
}

// completion is a chat completion with this content.
func completion(t *testing.T, content string) string {
	t.Helper()
	text, err := json.Marshal(content)
	require.NoError(t, err)
	return `{"id":"x","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,"finish_reason":"stop","message":{"role":"assistant","content":` + string(text) + `}}]}`
}

// Nothing that an endpoint says can move the cursor or recolour the terminal.
func TestHostileTextIsInert(t *testing.T) {
	const hostile = "\x1b[31mred\x1b]0;title\x07\u202eevil"
	message, err := json.Marshal(hostile)
	require.NoError(t, err)
	finding := `{"findings": [{"family": "` + `injection", "file": "x", "line": 1, "explanation": ` + string(message) + `, "cwe": ` + string(message) + `}]}`
	for name, url := range map[string]string{
		"error":  serve(t, 400, `{"error":{"message":`+string(message)+`,"type":"x","param":null,"code":null}}`),
		"answer": serve(t, 200, completion(t, finding)),
		"prose":  serve(t, 200, completion(t, hostile)),
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "c")
			_, out, stderr := youden(t, "capture", "--endpoint", url, "--model", "m", "--limit", "1", "--runs", "1", "--out", dir, "--progress", "plain")
			_, byRun, _ := youden(t, "show", "--by", "run", dir)
			for _, text := range []string{out, stderr, byRun} {
				assert.NotContains(t, text, "\x1b")
				assert.NotContains(t, text, "\x07")
				assert.NotContains(t, text, "\u202e")
			}
		})
	}
	_, _, stderr := youden(t, "show", "no\x1b[31msuch")
	assert.NotContains(t, stderr, "\x1b")
}

// A model that spells the key in escapes puts it into no file: what a reader
// decodes is cleaned again.
func TestKeySpelledInEscapesReachesNoSink(t *testing.T) {
	const key = "sk-live-Zq8w7Xy9Kk3LmN0"
	t.Setenv("YOUDEN_TEST_KEY", key)
	escaped := `\u0073k-live-Zq8w7Xy9Kk3LmN0`
	work := t.TempDir()
	config := filepath.Join(work, "youden.toml")
	url := serve(t, 200, completion(t, `{"findings": [{"family": "`+escaped+`", "file": "`+escaped+`", "line": 1, "explanation": "`+escaped+`", "tags": ["`+escaped+`"]}]}`))
	write(t, config, "[endpoint.x]\nbase_url = \""+url+"\"\nmodel = \"m\"\napi_key_env = \"YOUDEN_TEST_KEY\"\n")
	dir := filepath.Join(work, "c")
	code, out, stderr := youden(t, "capture", "--config", config, "--endpoint", "x", "--limit", "1", "--runs", "1", "--out", dir, "--progress", "none")
	require.Equal(t, exitPass, code, stderr)
	c, err := measurements.Open(dir)
	require.NoError(t, err)
	rows := 0
	for f, err := range c.Findings() {
		require.NoError(t, err)
		rows++
		text, err := json.Marshal(f)
		require.NoError(t, err)
		assert.NotContains(t, string(text), key)
	}
	assert.Equal(t, 2, rows)
	assert.NotContains(t, out+stderr, key)
}

// Settings are checked before a directory is made for them.
func TestWrongSettingsLeaveNoDirectory(t *testing.T) {
	work := t.TempDir()
	for name, text := range map[string]string{
		"unset key":   "[endpoint.x]\nbase_url = \"http://127.0.0.1:9/v1\"\nmodel = \"m\"\napi_key_env = \"YOUDEN_NO_SUCH_KEY\"\n",
		"pasted key":  "[endpoint.x]\nbase_url = \"http://127.0.0.1:9/v1\"\nmodel = \"m\"\napi_key_env = \"sk-proj-0123456789\"\n",
		"password":    "[endpoint.x]\nbase_url = \"http://bob:hunter2secret@127.0.0.1:9/v1\"\nmodel = \"m\"\n",
		"half price":  "[endpoint.x]\nbase_url = \"http://127.0.0.1:9/v1\"\nmodel = \"m\"\nprice = { prompt = 1 }\n",
		"timeout":     "[endpoint.x]\nbase_url = \"http://127.0.0.1:9/v1\"\nmodel = \"m\"\ntimeouts = { total = \"soon\" }\n",
		"extra body":  "[endpoint.x]\nbase_url = \"http://127.0.0.1:9/v1\"\nmodel = \"m\"\nextra_body = { seed = 1 }\n",
		"temperature": "[endpoint.x]\nbase_url = \"http://127.0.0.1:9/v1\"\nmodel = \"m\"\ntemperature = 5\n",
	} {
		t.Run(name, func(t *testing.T) {
			config, dir := filepath.Join(work, name+".toml"), filepath.Join(work, name)
			write(t, config, text)
			code, out, stderr := youden(t, "capture", "--config", config, "--endpoint", "x", "--out", dir)
			assert.Equal(t, exitUsage, code)
			assert.NoDirExists(t, dir)
			for _, secret := range []string{"hunter2secret", "sk-proj-0123456789"} {
				assert.NotContains(t, out+stderr, secret)
			}
		})
	}
}

// A price makes a cost, and a capture of label defects is no fault of the endpoint.
func TestCaptureOfNothingScorable(t *testing.T) {
	work := t.TempDir()
	write(t, filepath.Join(work, "catalog.toml"), `version = 1
slice = "x"
[[case]]
id = "a"
group = "a"
split = "feedback"
task = "audit"
language = "python"
family = "injection"
cwe = "CWE-78"
vetted = { level = "read" }
dir = "a"
explanation = "x"
trap = "y"
[[case.span]]
file = "app.py"
start = 1
end = 99
`)
	write(t, filepath.Join(work, "a", "vulnerable", "app.py"), "x = 1\n")
	write(t, filepath.Join(work, "a", "fixed", "app.py"), "x = 2\n")
	code, out, stderr := youden(t, "capture", "--corpus", work, "--out", filepath.Join(work, "c"), "--progress", "none")
	assert.Equal(t, exitIncomplete, code)
	assert.Contains(t, out, "label_defect")
	assert.Contains(t, stderr, "corpus lint")
	assert.NotContains(t, stderr, "lost to the endpoint")
}
