package conformance

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/youden-bench/youden/bench/endpoint"
	"github.com/youden-bench/youden/bench/ledger"
	"github.com/youden-bench/youden/detector"
)

// fixtures are what the mock answers, by the name of the model.
const fixtures = `{"fixtures":[
{"match":{"model":"m-good"},"response":{"content":"{\"findings\":[]}"}},
{"match":{"model":"m-prose"},"response":{"content":"Looks good to me."}},
{"match":{"model":"m-cut"},"response":{"content":"{\"findings\":[{","finishReason":"length"}},
{"match":{"model":"m-filtered"},"response":{"content":"x","finishReason":"content_filter"}},
{"match":{"model":"m-limited"},"response":{"error":{"message":"slow down","type":"rate_limit_error","code":"rate_limit_exceeded"},"status":429,"retryAfter":1}},
{"match":{"model":"m-down"},"response":{"error":{"message":"boom","type":"server_error"},"status":500}},
{"match":{"model":"m-long"},"response":{"error":{"message":"This model's maximum context length is 100 tokens","type":"invalid_request_error","code":"context_length_exceeded"},"status":400}},
{"match":{"model":"m-tools","userMessage":"weather","hasToolResult":true},"response":{"content":"It is 7 C in Oslo and 9 C in Bergen."}},
{"match":{"model":"m-tools","userMessage":"weather","hasToolResult":false},"response":{"toolCalls":[
  {"name":"get_weather","arguments":{"city":"Oslo"}},{"name":"get_weather","arguments":{"city":"Bergen"}}]}}
]}`

// mock starts aimock on a port and returns its base URL, or skips the test.
func mock(t *testing.T, port int, flags ...string) string {
	t.Helper()
	program := filepath.Join("npm", "node_modules", "@copilotkit", "aimock", "dist", "cli.js")
	if _, err := os.Stat(program); err != nil {
		t.Skip("aimock is not installed: (cd .ci/conformance/npm && npm ci)")
	}
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("node is not installed")
	}
	file := filepath.Join(t.TempDir(), "fixtures.json")
	require.NoError(t, os.WriteFile(file, []byte(fixtures), 0o600))
	cmd := exec.Command(node, append([]string{program, "-p", fmt.Sprint(port), "-f", file, "--validate-on-load", "--strict"}, flags...)...)
	cmd.Env = environment(t)
	return serve(t, cmd) + "/v1"
}

// freePort is one that nobody listens on, so that a server can come back to it.
func freePort(t *testing.T) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	port := l.Addr().(*net.TCPAddr).Port
	require.NoError(t, l.Close())
	return port
}

// What the mock answers ends in its own class, and only what a model did is
// charged to it.
func TestAimockAnswers(t *testing.T) {
	base := mock(t, freePort(t))
	for _, c := range []struct {
		model, status string
		code          int
	}{
		{"m-good", "ok", 0},
		{"m-prose", "bad_format", 0},
		{"m-cut", "truncated", 0},
		{"m-filtered", "filtered", 5},
		{"m-limited", "rate_limited", 7},
		{"m-down", "transient", 5},
		{"m-long", "context", 5},
		{"m-unknown", "transient", 5},
	} {
		t.Run(c.model, func(t *testing.T) {
			dir := configure(t, base, c.model, patient)
			ended := capture(t, dir, "c")
			assert.Equal(t, c.code, ended.code, ended.stderr)
			_, list := rows(t, filepath.Join(dir, "c"), ended.stdout)
			assert.Equal(t, map[string]int{c.status: len(list)}, statusCounts(list))
			for _, r := range list {
				if c.status == "ok" && r.Hit != nil {
					assert.False(t, *r.Hit)
				}
			}
		})
	}
}

// Chaos that the mock makes of good answers: each in its class, and when it is
// over the capture is completed.
func TestAimockChaos(t *testing.T) {
	for _, c := range []struct {
		flag, status string
		code         int
	}{
		{"--chaos-drop", "transient", 5},
		{"--chaos-malformed", "transient", 5},
		{"--chaos-disconnect", "transient", 5},
		{"--chaos-ratelimit", "rate_limited", 7},
	} {
		t.Run(c.flag, func(t *testing.T) {
			port := freePort(t)
			dir := configure(t, fmt.Sprintf("http://127.0.0.1:%d/v1", port), "m-good", patient)
			t.Run("under chaos", func(t *testing.T) {
				mock(t, port, c.flag, "1")
				ended := capture(t, dir, "c")
				assert.Equal(t, c.code, ended.code, ended.stderr)
				_, list := rows(t, filepath.Join(dir, "c"), ended.stdout)
				assert.Equal(t, map[string]int{c.status: len(list)}, statusCounts(list))
			})
			t.Run("after it", func(t *testing.T) {
				mock(t, port)
				resumed := youden(t, dir, "resume", "c", "--indeterminate", "retry", "--format", "json", "--progress", "none")
				assert.Equal(t, 0, resumed.code, resumed.stderr)
				said, list := rows(t, filepath.Join(dir, "c"), resumed.stdout)
				assert.Equal(t, "complete", said.Status)
				assert.Equal(t, map[string]int{"ok": len(list)}, statusCounts(list))
			})
		})
	}
}

// A conversation with tools, at the level that detector programs see: two calls at
// once, their results, and the answer. The mock's journal says what was really sent.
func TestAimockToolLoop(t *testing.T) {
	base := mock(t, freePort(t))
	l, err := ledger.OpenStore(context.Background(), ledger.NewMemory(), ledger.Options{})
	require.NoError(t, err)
	zero := 0.0
	c, err := endpoint.New(endpoint.Options{
		Name: "peer", BaseURL: base, Model: "m-tools", Temperature: &zero, MaxTokens: 200, Ledger: l, Scope: "conformance",
	})
	require.NoError(t, err)
	defer func() { c.CloseIdle(); require.NoError(t, l.Close()) }()

	var m detector.Model = c
	req := detector.Request{
		Seed:     7,
		Messages: []detector.Message{{Role: detector.User, Content: "What is the weather in Oslo and Bergen?"}},
		Tools: []detector.Tool{{Name: "get_weather", Description: "The weather in a city.",
			Parameters: json.RawMessage(`{"type":"object","properties":{"city":{"type":"string"}},"required":["city"]}`)}},
	}
	ctx := endpoint.WithSample(context.Background(), 0)
	first := m.Complete(ctx, req)
	require.Equal(t, detector.OK, first.Status, first.Detail)
	require.Len(t, first.ToolCalls, 2)
	assert.Equal(t, "tool_calls", first.FinishReason)
	next := req
	next.Messages = append(next.Messages, detector.Message{Role: detector.Assistant, Content: first.Text, ToolCalls: first.ToolCalls})
	for i, call := range first.ToolCalls {
		assert.Equal(t, "get_weather", call.Name)
		assert.JSONEq(t, fmt.Sprintf(`{"city":%q}`, []string{"Oslo", "Bergen"}[i]), call.Arguments)
		next.Messages = append(next.Messages, detector.Message{Role: detector.ToolRole, ToolCallID: call.ID, Content: ""})
	}
	last := m.Complete(ctx, next)
	require.Equal(t, detector.OK, last.Status, last.Detail)
	assert.Empty(t, last.ToolCalls)
	assert.Contains(t, last.Text, "7 C in Oslo")

	sent := journal(t, base)
	require.Len(t, sent, 2)
	assert.Equal(t, "m-tools", sent[1]["model"])
	assert.EqualValues(t, 0, sent[1]["temperature"])
	assert.EqualValues(t, 7, sent[1]["seed"])
	messages := sent[1]["messages"].([]any)
	require.Len(t, messages, 4)
	assistant := messages[1].(map[string]any)
	assert.Nil(t, assistant["content"])
	assert.Len(t, assistant["tool_calls"], 2)
	for i, call := range first.ToolCalls {
		result := messages[2+i].(map[string]any)
		assert.Equal(t, call.ID, result["tool_call_id"])
		assert.Equal(t, "", result["content"], "an empty result is sent, not left out")
	}
	replayed := m.Complete(ctx, next)
	assert.True(t, replayed.Replayed)
	assert.Equal(t, last.Text, replayed.Text)
	assert.Len(t, journal(t, base), 2)
}

// journal is the bodies of the requests that the mock has had.
func journal(t *testing.T, base string) []map[string]any {
	t.Helper()
	resp, err := http.Get(strings.TrimSuffix(base, "/v1") + "/__aimock/journal?limit=100")
	require.NoError(t, err)
	raw, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	var entries []struct {
		Body map[string]any `json:"body"`
	}
	require.NoError(t, json.Unmarshal(raw, &entries), string(raw))
	var bodies []map[string]any
	for _, e := range entries {
		bodies = append(bodies, e.Body)
	}
	return bodies
}
