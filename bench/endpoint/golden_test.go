package endpoint_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/youden-bench/youden/detector"
)

func goldenFiles(t *testing.T, pattern string) []string {
	t.Helper()
	dir := os.Getenv("YOUDEN_GOLDEN")
	if dir == "" {
		dir = filepath.Join("testdata", "golden")
	}
	files, err := filepath.Glob(filepath.Join(dir, "openai_api", pattern))
	require.NoError(t, err)
	if len(files) == 0 {
		t.Skipf("no golden files %s under %s", pattern, dir)
	}
	return files
}

// goldenCase is a documented request with its answer.
type goldenCase struct {
	Request struct {
		Path string `json:"path"`
	} `json:"request"`
	Response struct {
		Status  int               `json:"status"`
		Headers map[string]string `json:"headers"`
		Body    json.RawMessage   `json:"body"`
		Events  []json.RawMessage `json:"events"`
		Done    string            `json:"done"`
	} `json:"response"`
}

// documented is what the bodies say, read with the documented struct.
type documented struct {
	Model   string `json:"model"`
	Choices []struct {
		Index   int `json:"index"`
		Message struct {
			Content   *string `json:"content"`
			Refusal   *string `json:"refusal"`
			ToolCalls []struct {
				ID       string `json:"id"`
				Function struct {
					Name      string `json:"name"`
					Arguments string `json:"arguments"`
				} `json:"function"`
			} `json:"tool_calls"`
		} `json:"message"`
		FinishReason string `json:"finish_reason"`
	} `json:"choices"`
	Usage *struct {
		Prompt     int64 `json:"prompt_tokens"`
		Completion int64 `json:"completion_tokens"`
		Prompts    *struct {
			Cached *int64 `json:"cached_tokens"`
		} `json:"prompt_tokens_details"`
		Completions *struct {
			Reasoning *int64 `json:"reasoning_tokens"`
		} `json:"completion_tokens_details"`
	} `json:"usage"`
	Error *struct {
		Code any    `json:"code"`
		Type string `json:"type"`
	} `json:"error"`
}

// send makes a server answer with that and returns how the client reads it.
func send(t *testing.T, status int, headers map[string]string, body string) detector.Answer {
	t.Helper()
	s, _ := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		for k, v := range headers {
			w.Header().Set(k, v)
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	})
	return complete(t, client(t, options(s.URL, memoryLedger(t))), 0, ask("q"))
}

func TestGoldenAnswers(t *testing.T) {
	for _, file := range goldenFiles(t, "chat_*.json") {
		t.Run(filepath.Base(file), func(t *testing.T) {
			c := readGolden[goldenCase](t, file)
			if len(c.Response.Body) == 0 {
				t.Skip("a case of unknown shape")
			}
			checkDocumented(t, send(t, c.Response.Status, c.Response.Headers, string(c.Response.Body)), c.Response.Body)
		})
	}
}

// checkDocumented compares an answer with the body it was read from.
func checkDocumented(t *testing.T, a detector.Answer, body []byte) {
	t.Helper()
	var d documented
	require.NoError(t, json.Unmarshal(body, &d))
	require.NotEmpty(t, d.Choices)
	choice := d.Choices[0]
	for _, c := range d.Choices {
		if c.Index == 0 {
			choice = c
		}
	}
	want := detector.OK
	switch {
	case choice.FinishReason == "length":
		want = detector.Truncated
	case choice.FinishReason == "content_filter":
		want = detector.Filtered
	case choice.Message.Refusal != nil && *choice.Message.Refusal != "":
		want = detector.Refused
	}
	assert.Equal(t, want, a.Status, a.Detail)
	assert.Equal(t, d.Model, a.Model)
	assert.Equal(t, choice.FinishReason, a.FinishReason)
	if choice.Message.Content != nil {
		assert.Equal(t, *choice.Message.Content, a.Text)
	} else {
		assert.Empty(t, a.Text)
	}
	require.Len(t, a.ToolCalls, len(choice.Message.ToolCalls))
	for i, call := range choice.Message.ToolCalls {
		assert.Equal(t, detector.ToolCall{ID: call.ID, Name: call.Function.Name, Arguments: call.Function.Arguments}, a.ToolCalls[i])
	}
	if d.Usage == nil {
		assert.Equal(t, detector.Usage{}, a.Usage)
		return
	}
	want2 := detector.Usage{Prompt: &d.Usage.Prompt, Completion: &d.Usage.Completion}
	if d.Usage.Prompts != nil {
		want2.Cached = d.Usage.Prompts.Cached
	}
	if d.Usage.Completions != nil {
		want2.Reasoning = d.Usage.Completions.Reasoning
	}
	assert.Equal(t, want2, a.Usage)
}

func TestGoldenErrors(t *testing.T) {
	for _, file := range goldenFiles(t, "error_*.json") {
		t.Run(filepath.Base(file), func(t *testing.T) {
			c := readGolden[goldenCase](t, file)
			a := send(t, c.Response.Status, c.Response.Headers, string(c.Response.Body))
			assert.Equal(t, documentedStatus(t, c.Response.Status, c.Response.Body), a.Status, a.Detail)
			assert.NotEmpty(t, a.Detail)
		})
	}
}

// documentedStatus says what an error of the documentation means.
func documentedStatus(t *testing.T, status int, body []byte) detector.Status {
	t.Helper()
	var d documented
	require.NoError(t, json.Unmarshal(body, &d))
	require.NotNil(t, d.Error)
	switch {
	case d.Error.Code == "context_length_exceeded" || d.Error.Type == "exceed_context_size_error" || strings.Contains(string(body), "maximum context length"):
		return detector.Context
	case status == 401 || status == 403:
		return detector.Auth
	case status == 429 || status == 402:
		return detector.RateLimited
	case status >= 500 || status == 408 || status == 409:
		return detector.Transient
	}
	return detector.Config
}

// A server that streams although it was not asked to is read all the same, and a
// stream without its end is no answer.
func TestGoldenStreams(t *testing.T) {
	for _, file := range goldenFiles(t, "stream_*.json") {
		t.Run(filepath.Base(file), func(t *testing.T) {
			c := readGolden[goldenCase](t, file)
			if len(c.Response.Events) == 0 {
				t.Skip("a case of unknown shape")
			}
			var body strings.Builder
			broken := false
			for _, e := range c.Response.Events {
				var line bytes.Buffer
				require.NoError(t, json.Compact(&line, e))
				fmt.Fprintf(&body, ": keep-alive\n\ndata: %s\n\n", line.String())
				var d documented
				require.NoError(t, json.Unmarshal(e, &d))
				broken = broken || d.Error != nil
			}
			cut := send(t, c.Response.Status, c.Response.Headers, body.String())
			assert.NotEqual(t, detector.OK, cut.Status, "without its end")
			body.WriteString(c.Response.Done + "\n\n")
			a := send(t, c.Response.Status, c.Response.Headers, body.String())
			if broken {
				assert.Equal(t, detector.Transient, a.Status, a.Detail)
				return
			}
			require.Equal(t, detector.OK, a.Status, a.Detail)
			text, calls := joined(t, c.Response.Events)
			assert.Equal(t, text, a.Text)
			assert.Equal(t, calls, a.ToolCalls)
		})
	}
}

// joined adds up the documented deltas of choice 0.
func joined(t *testing.T, events []json.RawMessage) (text string, calls []detector.ToolCall) {
	t.Helper()
	for _, e := range events {
		var chunk struct {
			Choices []struct {
				Delta struct {
					Content   string `json:"content"`
					ToolCalls []struct {
						Index    int    `json:"index"`
						ID       string `json:"id"`
						Function struct {
							Name      string `json:"name"`
							Arguments string `json:"arguments"`
						} `json:"function"`
					} `json:"tool_calls"`
				} `json:"delta"`
			} `json:"choices"`
		}
		require.NoError(t, json.Unmarshal(e, &chunk))
		if len(chunk.Choices) == 0 {
			continue
		}
		text += chunk.Choices[0].Delta.Content
		for _, c := range chunk.Choices[0].Delta.ToolCalls {
			for len(calls) <= c.Index {
				calls = append(calls, detector.ToolCall{})
			}
			call := &calls[c.Index]
			call.ID += c.ID
			call.Name += c.Function.Name
			call.Arguments += c.Function.Arguments
		}
	}
	return text, calls
}

// peer is a file of answers recorded from another server.
type peer struct {
	Cases map[string]struct {
		Status  int               `json:"status"`
		Headers map[string]string `json:"headers"`
		Body    string            `json:"body"`
	} `json:"cases"`
}

func TestGoldenPeers(t *testing.T) {
	for _, file := range goldenFiles(t, filepath.Join("peers", "*.json")) {
		for name, c := range readGolden[peer](t, file).Cases {
			t.Run(strings.TrimSuffix(filepath.Base(file), ".json")+"/"+name, func(t *testing.T) {
				delete(c.Headers, "content-length")
				a := send(t, c.Status, c.Headers, c.Body)
				switch {
				case strings.HasSuffix(c.Body, "…"): // the recording itself is cut
					assert.Equal(t, detector.Transient, a.Status, a.Detail)
				case c.Status != 200:
					assert.Equal(t, documentedStatus(t, c.Status, []byte(c.Body)), a.Status, a.Detail)
				case strings.HasPrefix(c.Body, "data:"):
					want := detector.OK
					if strings.Contains(c.Body, `"finish_reason":"length"`) {
						want = detector.Truncated
					}
					assert.Equal(t, want, a.Status, a.Detail)
					assert.True(t, a.Text != "" || len(a.ToolCalls) > 0)
				default:
					checkDocumented(t, a, []byte(c.Body))
				}
			})
		}
	}
}

func readGolden[T any](t *testing.T, file string) T {
	t.Helper()
	data, err := os.ReadFile(file)
	require.NoError(t, err)
	var v T
	require.NoError(t, json.Unmarshal(data, &v), file)
	return v
}
