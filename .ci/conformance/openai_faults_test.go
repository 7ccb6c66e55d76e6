package conformance

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"github.com/openai/openai-go/v3/option"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Each injected fault reaches OpenAI's client as what it stands for.
func TestOpenAIFaults(t *testing.T) {
	for _, c := range []struct {
		fault      string
		status     int
		kind, code string
		retryAfter string
	}{
		{"rate_limit", http.StatusTooManyRequests, "requests", "rate_limit_exceeded", "2"},
		{"insufficient_quota", http.StatusTooManyRequests, "insufficient_quota", "insufficient_quota", ""},
		{"server_error", http.StatusInternalServerError, "server_error", "", ""},
		{"overloaded", http.StatusServiceUnavailable, "server_error", "", "1"},
		{"context", http.StatusBadRequest, "invalid_request_error", "context_length_exceeded", ""},
	} {
		t.Run(c.fault, func(t *testing.T) {
			e := failure(t, client(simulate(t, "--faults", c.fault), inspected(t)), ask(code, nil))
			assert.Equal(t, []any{c.status, c.kind, c.code}, []any{e.StatusCode, e.Type, e.Code})
			assert.Equal(t, c.retryAfter, e.Response.Header.Get("Retry-After"))
			assert.NotEmpty(t, e.Message)
		})
	}
	for _, fault := range []string{"reset", "cut", "garbage", "html"} {
		t.Run(fault, func(t *testing.T) {
			c := client(simulate(t, "--faults", fault), http.DefaultTransport)
			_, err := c.Chat.Completions.New(context.Background(), ask(code, nil))
			assert.Error(t, err)
		})
	}
	through := inspected(t)
	filtered := complete(t, client(simulate(t, "--faults", "content_filter"), through), ask(code, nil)).Choices[0]
	assert.Equal(t, "content_filter", filtered.FinishReason)
	refused := complete(t, client(simulate(t, "--faults", "refusal"), through), ask(code, nil)).Choices[0]
	assert.NotEmpty(t, refused.Message.Refusal)
	assert.Empty(t, refused.Message.Content)
	empty := complete(t, client(simulate(t, "--faults", "empty"), through), ask(code, nil)).Choices[0]
	assert.Empty(t, empty.Message.Content)
	assert.Equal(t, "stop", empty.FinishReason)
}

// A stream that breaks off is an error to OpenAI's client, never a short answer.
func TestOpenAIStreamFaults(t *testing.T) {
	for _, fault := range []string{"cut", "stream_error", "reset"} {
		t.Run(fault, func(t *testing.T) {
			c := client(simulate(t, "--faults", fault), inspected(t))
			s := c.Chat.Completions.NewStreaming(context.Background(), ask(code, nil))
			finished := false
			for s.Next() {
				for _, choice := range s.Current().Choices {
					finished = finished || choice.FinishReason != ""
				}
			}
			assert.Error(t, s.Err())
			assert.False(t, finished)
		})
	}
}

// OpenAI's client retries by the headers it is given, and gets through.
func TestOpenAIRetries(t *testing.T) {
	plan := filepath.Join(t.TempDir(), "plan.json")
	require.NoError(t, os.WriteFile(plan, []byte(`{"schema":"youden.simulator-faults/1","name":"third","about":"a third of the attempts fail","seed":"third","retry_after_ms":20,"slow_ms":0,
		"faults":[{"kind":"rate_limit","p":0.17},{"kind":"overloaded","p":0.17}]}`), 0o600))
	base := simulate(t, "--faults", plan)
	c := client(base, inspected(t), option.WithMaxRetries(8))
	const calls = 30
	for i := range calls {
		a := complete(t, c, ask(fmt.Sprintf("%s\n# %d", code, i), nil))
		assert.Equal(t, "stop", a.Choices[0].FinishReason)
	}
	assert.Greater(t, requests(t, base), calls, "no attempt failed")
	t.Logf("%d calls took %d requests", calls, requests(t, base))
}
