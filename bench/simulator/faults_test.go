package simulator

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func tryPost(t *testing.T, s *Server, attempt string) (status int, body []byte, err error) {
	t.Helper()
	raw, err := json.Marshal(simpleRequest("sim-strong", nil))
	require.NoError(t, err)
	req := httptest.NewRequest(http.MethodPost, "http://sim/v1/chat/completions", bytes.NewReader(raw))
	if attempt != "" {
		req.Header.Set("X-Youden-Attempt", attempt)
	}
	resp, err := Transport(s).RoundTrip(req)
	if err != nil {
		return 0, nil, err
	}
	body, err = io.ReadAll(resp.Body)
	require.NoError(t, resp.Body.Close())
	return resp.StatusCode, body, err
}

func TestFaultRates(t *testing.T) {
	for _, c := range []struct {
		plan     string
		low, top float64
	}{{"none", 0, 0}, {"flaky", .07, .13}, {"storm", .45, .55}} {
		p, err := loadFaults(c.plan)
		require.NoError(t, err)
		hit := 0
		for i := range 3000 {
			if p.draw(fmt.Sprintf("run%d-1", i), [32]byte{}).kind != "" {
				hit++
			}
		}
		share := float64(hit) / 3000
		assert.GreaterOrEqual(t, share, c.low, c.plan)
		assert.LessOrEqual(t, share, c.top, c.plan)
	}
}

func TestAnotherAttemptCanSucceed(t *testing.T) {
	p, err := loadFaults("storm")
	require.NoError(t, err)
	mended := 0
	for i := range 200 {
		first := p.draw(fmt.Sprintf("c%d-1", i), [32]byte{})
		assert.Equal(t, first, p.draw(fmt.Sprintf("c%d-1", i), [32]byte{}), "an attempt has one fate")
		if first.kind != "" && p.draw(fmt.Sprintf("c%d-2", i), [32]byte{}).kind == "" {
			mended++
		}
	}
	assert.Greater(t, mended, 30)
}

func TestAttemptsWithoutHeaderAreCounted(t *testing.T) {
	p, err := loadFaults("storm")
	require.NoError(t, err)
	kinds := map[faultKind]bool{}
	for range 40 {
		kinds[p.draw("", [32]byte{1}).kind] = true
	}
	assert.True(t, kinds[""])
	assert.Greater(t, len(kinds), 2)
}

func TestEveryFaultHasItsOwnFace(t *testing.T) {
	for _, c := range []struct {
		kind   faultKind
		status int
		broken bool // the body is cut or is no completion
	}{
		{faultRateLimit, 429, true}, {faultQuota, 429, true}, {faultServer, 500, true}, {faultOverloaded, 503, true},
		{faultReset, 0, true}, {faultCut, 200, true}, {faultGarbage, 200, true}, {faultHTML, 502, true},
		{faultSlow, 200, false}, {faultContext, 400, true}, {faultEmpty, 200, false}, {faultRefusal, 200, false}, {faultFilter, 200, false},
	} {
		t.Run(string(c.kind), func(t *testing.T) {
			s := newServer(t, Options{Faults: string(c.kind)})
			slept := false
			s.latency.sleep = func(context.Context, time.Duration) error { slept = true; return nil }
			status, body, err := tryPost(t, s, "a-1")
			assert.Equal(t, c.status, status)
			var done wireCompletion
			parsed := json.Unmarshal(body, &done) == nil && len(done.Choices) == 1
			assert.Equal(t, c.broken, err != nil || !parsed)
			assert.Equal(t, c.kind == faultSlow, slept)
			if parsed {
				ch := done.Choices[0]
				assert.Equal(t, c.kind == faultEmpty, ch.Message.Content != nil && *ch.Message.Content == "")
				assert.Equal(t, c.kind == faultRefusal, ch.Message.Refusal != nil)
				assert.Equal(t, c.kind == faultFilter, ch.FinishReason == "content_filter")
				assert.Equal(t, done.Usage.PromptTokens+done.Usage.CompletionTokens, done.Usage.TotalTokens)
			}
			assert.Equal(t, 1, s.Stats().Faults[string(c.kind)])
			if c.kind == faultCut {
				assert.Equal(t, 1, s.Stats().Calls, "a cut answer was made and would be billed")
				assert.Zero(t, s.Stats().Finished)
			}
		})
	}
}

func TestFaultPlanFiles(t *testing.T) {
	file := filepath.Join(t.TempDir(), "mine.json")
	require.NoError(t, os.WriteFile(file, []byte(`{"schema":"youden.simulator-faults/1","name":"mine","seed":"m","faults":[{"kind":"server_error","p":1}]}`), 0o600))
	s := newServer(t, Options{Faults: file})
	status, _, err := tryPost(t, s, "a-1")
	require.NoError(t, err)
	assert.Equal(t, 500, status)
	for _, bad := range []string{
		`{`, `{"schema":"other/1"}`,
		`{"schema":"youden.simulator-faults/1","faults":[{"kind":"meteor","p":0.1}]}`,
		`{"schema":"youden.simulator-faults/1","faults":[{"kind":"cut","p":0.8},{"kind":"reset","p":0.8}]}`,
		`{"schema":"youden.simulator-faults/1","faults":[{"kind":"cut","p":-1}]}`,
	} {
		require.NoError(t, os.WriteFile(file, []byte(bad), 0o600))
		_, err := New(Options{Faults: file})
		assert.Error(t, err, bad)
	}
	_, err = New(Options{Faults: "no-such-plan"})
	require.ErrorContains(t, err, "flaky")
}
