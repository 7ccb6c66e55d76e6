package endpoint_test

import (
	"fmt"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/youden-bench/youden/bench/endpoint"
	"github.com/youden-bench/youden/bench/ledger"
	"github.com/youden-bench/youden/bench/simulator"
	"github.com/youden-bench/youden/detector"
)

// faultClasses is the class of each fault that the simulated endpoint injects: its
// status, and the words that tell it from the others of that status.
var faultClasses = []struct {
	kind     string
	stream   bool
	status   detector.Status
	words    string
	cause    endpoint.Cause
	attempts int
}{
	{kind: "rate_limit", status: detector.RateLimited, words: "HTTP 429 Too Many Requests: rate_limit_exceeded", attempts: 5},
	{kind: "insufficient_quota", status: detector.RateLimited, words: "insufficient_quota", cause: endpoint.CauseQuota, attempts: 1},
	{kind: "server_error", status: detector.Transient, words: "HTTP 500", attempts: 5},
	{kind: "overloaded", status: detector.Transient, words: "HTTP 503", attempts: 5},
	{kind: "reset", status: detector.Transient, words: "the connection failed", attempts: 5},
	{kind: "cut", status: detector.Transient, words: "broke off after", attempts: 5},
	{kind: "stream_error", stream: true, status: detector.Transient, words: "an error in the answer", attempts: 5},
	{kind: "garbage", status: detector.Transient, words: "broken JSON", attempts: 3},
	{kind: "html", status: detector.Transient, words: "HTTP 502", attempts: 5},
	{kind: "slow", status: detector.OK, attempts: 1},
	{kind: "context", status: detector.Context, words: "context_length_exceeded", attempts: 1},
	{kind: "empty", status: detector.Empty, attempts: 1},
	{kind: "refusal", status: detector.Refused, words: "the model refused", attempts: 1},
	{kind: "content_filter", status: detector.Filtered, words: "content filter", attempts: 1},
}

// Every injected fault ends in its own class, over the wire and in the process, and
// none of them becomes a score.
func TestEveryFaultEndsInItsOwnClass(t *testing.T) {
	seen := map[string]string{}
	for _, f := range faultClasses {
		class := fmt.Sprint(f.status, " ", f.words)
		require.Empty(t, seen[class], "%s and %s end in one class", f.kind, seen[class])
		seen[class] = f.kind
		for _, wire := range []bool{false, true} {
			t.Run(fmt.Sprint(f.kind, " wire ", wire), func(t *testing.T) {
				server, err := simulator.New(simulator.Options{Faults: f.kind})
				require.NoError(t, err)
				l, err := ledger.OpenStore(t.Context(), ledger.NewMemory(), ledger.Options{Indeterminate: ledger.Retry})
				require.NoError(t, err)
				t.Cleanup(func() { assert.NoError(t, l.Close()) })
				b := &bench{time: &virtual{now: time.Unix(1_800_000_000, 0)}, ledger: l, quirk: quirk{options: func(o *endpoint.Options) {
					o.Model, o.Retry.Max = "sim-strong", 4
					if f.stream {
						o.Stream = "on"
					}
					if !wire {
						o.Base, o.Canonical = simulator.Transport(server), "http://simulator.invalid/v1"
					}
				}}}
				b.url = "http://simulator.invalid"
				if wire {
					s := httptest.NewServer(server)
					t.Cleanup(s.Close)
					b.url = s.URL
				}
				a, traj := b.run(t, b.client(t))
				assert.Equal(t, f.status, traj.Status, traj.Detail)
				assert.Contains(t, traj.Detail, f.words)
				assert.Equal(t, f.cause, endpoint.CauseOf(a))
				assert.Equal(t, f.attempts, a.Attempts)
				noScore(t, traj)
				attemptsOnRecord(t, l, a)
			})
		}
	}
}

// In a storm, half of all attempts go wrong. What a retry mends is mended, and only
// what the model is said to have done stays.
func TestAStormIsRiddenOut(t *testing.T) {
	server, err := simulator.New(simulator.Options{Faults: "storm"})
	require.NoError(t, err)
	l, err := ledger.OpenStore(t.Context(), ledger.NewMemory(), ledger.Options{Indeterminate: ledger.Retry})
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, l.Close()) })
	now := &virtual{now: time.Unix(1_800_000_000, 0)}
	o := options("http://simulator.invalid", l)
	o.Model, o.Base, o.Canonical = "sim-strong", simulator.Transport(server), "http://simulator.invalid/v1"
	o.Clock, o.Wait, o.Retry = now.clock, now.wait, endpoint.Retry{}
	c := client(t, o)
	statuses, attempts := map[detector.Status]int{}, 0
	const calls = 300
	for k := range calls {
		a := complete(t, c, k, ask("Audit"))
		statuses[a.Status]++
		attempts += a.Attempts
	}
	stays := statuses[detector.OK] + statuses[detector.Empty] + statuses[detector.Refused] + statuses[detector.Filtered]
	assert.GreaterOrEqual(t, stays, calls-6, "%v", statuses) // garbage, three times in a row
	assert.Positive(t, statuses[detector.Refused])
	assert.Greater(t, attempts, calls*3/2)
	stats := server.Stats()
	assert.EqualValues(t, attempts, stats.Requests, "every request is an attempt on record")
}
