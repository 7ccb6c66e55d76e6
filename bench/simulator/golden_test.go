package simulator

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// goldenFault names the fault that a server needs to be in to give the answer.
var goldenFault = map[string]string{
	"chat_refusal.json":                 "refusal",
	"chat_content_filter.json":          "content_filter",
	"error_429_rate_limit.json":         "rate_limit",
	"error_429_insufficient_quota.json": "insufficient_quota",
	"error_500_server_error.json":       "server_error",
	"error_503_overloaded.json":         "overloaded",
	"stream_error_midway.json":          "stream_error",
}

type goldenCase struct {
	File   string   `json:"file"`
	Method string   `json:"method"`
	Path   string   `json:"path"`
	Status int      `json:"status"`
	Stream bool     `json:"stream"`
	Checks []string `json:"checks"`
}

type goldenFile struct {
	Name    string `json:"name"`
	Request struct {
		Headers map[string]string `json:"headers"`
		Body    json.RawMessage   `json:"body"`
	} `json:"request"`
	Response struct {
		Headers map[string]string `json:"headers"`
		Body    json.RawMessage   `json:"body"`
	} `json:"response"`
}

func goldenDir(t *testing.T) string {
	t.Helper()
	root := os.Getenv("YOUDEN_GOLDEN")
	if root == "" {
		root = filepath.Join("testdata", "golden")
	}
	dir := filepath.Join(root, "openai_api")
	if _, err := os.Stat(filepath.Join(dir, "index.json")); err != nil {
		t.Skipf("no golden vectors: %v", err)
	}
	return dir
}

func readJSON(t *testing.T, file string, into any) {
	t.Helper()
	data, err := os.ReadFile(file)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(data, into), file)
}

func TestGoldenOpenAI(t *testing.T) {
	dir := goldenDir(t)
	var index struct {
		Cases []goldenCase `json:"cases"`
	}
	readJSON(t, filepath.Join(dir, "index.json"), &index)
	require.NotEmpty(t, index.Cases)
	for _, c := range index.Cases {
		t.Run(strings.TrimSuffix(c.File, ".json"), func(t *testing.T) {
			file := filepath.Join(dir, c.File)
			if _, err := os.Stat(file); err != nil {
				t.Skipf("vector %s is absent", c.File)
			}
			var g goldenFile
			readJSON(t, file, &g)
			runGolden(t, c, g)
		})
	}
}

// goldenRequest puts a model that is served, and a text of the size that the
// vector only speaks of, into a request.
func goldenRequest(t *testing.T, c goldenCase, g goldenFile) *http.Request {
	t.Helper()
	body := []byte(g.Request.Body)
	var text string
	if json.Unmarshal(body, &text) == nil {
		body = []byte(text) // a body that is not JSON
	}
	model := "sim-strong"
	if strings.Contains(c.File, "context_length") {
		model = "sim-small"
	}
	body = bytes.ReplaceAll(body, []byte("sim-detector-1"), []byte(model))
	body = bytes.ReplaceAll(body, []byte("sim-reasoner-1"), []byte("sim-reasoner"))
	body = regexp.MustCompile(`<9000 tokens>`).ReplaceAll(body, bytes.Repeat([]byte("word "), 9000))
	path := strings.ReplaceAll(c.Path, "sim-detector-1", "sim-strong")
	req := httptest.NewRequest(c.Method, "http://sim"+path, bytes.NewReader(body))
	for k, v := range g.Request.Headers {
		req.Header.Set(k, v)
	}
	if g.Request.Headers == nil {
		req.Header.Set("Authorization", "Bearer sk-test")
	}
	if strings.Contains(c.File, "missing_api_key") {
		req.Header.Del("Authorization") // the vector keeps a header its name denies
	}
	return req
}

func runGolden(t *testing.T, c goldenCase, g goldenFile) {
	s := newServer(t, Options{
		APIKey: "sk-test", Faults: goldenFault[c.File],
		ProfileFiles: []string{filepath.Join("testdata", "profiles", "sim-reasoner.json"), filepath.Join("testdata", "profiles", "sim-small.json")},
	})
	resp, err := Transport(s).RoundTrip(goldenRequest(t, c, g))
	require.NoError(t, err)
	body, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	assert.Equal(t, c.Status, resp.StatusCode, string(body))
	for name, want := range g.Response.Headers {
		got := resp.Header.Get(name)
		assert.NotEmpty(t, got, "header %s", name)
		if !strings.ContainsAny(want, "<") {
			assert.Equal(t, want, got, "header %s", name)
		}
	}
	assert.Equal(t, "true", resp.Header.Get("X-Simulated"))
	a := newGoldenAnswer(t, c, body)
	if len(g.Response.Body) > 0 && !c.Stream {
		assertSameShape(t, "$", mustAny(t, g.Response.Body), mustAny(t, body))
	}
	for _, check := range c.Checks {
		if !a.check(t, check) {
			t.Logf("not evaluated: %s", check)
		}
	}
}

func mustAny(t *testing.T, data []byte) any {
	t.Helper()
	var v any
	require.NoError(t, json.Unmarshal(data, &v), string(data))
	return v
}

// assertSameShape wants every key of the vector in the answer, with a value of
// the same kind. Lists are compared by their first elements.
func assertSameShape(t *testing.T, at string, want, got any) {
	t.Helper()
	switch w := want.(type) {
	case map[string]any:
		g, ok := got.(map[string]any)
		if !assert.True(t, ok, "%s is no object", at) {
			return
		}
		for k, v := range w {
			if assert.Contains(t, g, k, at) {
				assertSameShape(t, at+"."+k, v, g[k])
			}
		}
	case []any:
		g, ok := got.([]any)
		if assert.True(t, ok, "%s is no list", at) && len(w) > 0 && len(g) > 0 {
			assertSameShape(t, at+"[0]", w[0], g[0])
		}
	case nil:
		assert.Nil(t, got, at)
	default:
		if got != nil {
			assert.IsType(t, want, got, at)
		}
	}
}
