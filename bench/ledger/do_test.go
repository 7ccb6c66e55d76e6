package ledger

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func call(body string) Call {
	return Call{
		Adapter:  AdapterID{Name: "test", Version: "1"},
		Endpoint: Endpoint{Scheme: "http", Host: "127.0.0.1", Port: "80", BasePath: "/v1"},
		Method:   "POST", Path: "/chat/completions", Body: []byte(body),
	}
}

// got is a complete answer that settles the sample or not.
func got(status int, body string, settles bool) SendResult {
	at := time.Unix(1700000000, 5)
	cost := int64(7)
	return SendResult{Got: &Got{
		HTTP: status, Header: map[string]string{"content-type": "application/json"}, Body: []byte(body),
		Final: settles, Outcome: "ok", CostMicros: &cost, Sent: at, Received: at.Add(time.Second),
	}}
}

func unknown(partial string) SendResult {
	return SendResult{Unknown: &Failure{Outcome: "timeout", Cause: "no answer in time", Partial: []byte(partial)}}
}

func refused() SendResult {
	return SendResult{NotSent: &Failure{Outcome: "transient", Cause: "connection refused"}}
}

// script sends prepared results in order and counts.
type script struct {
	results []SendResult
	sent    []Attempt
}

func (s *script) send(_ context.Context, a Attempt) SendResult {
	s.sent = append(s.sent, a)
	return s.results[len(s.sent)-1]
}

func neverSend(t *testing.T) Send {
	return func(context.Context, Attempt) SendResult {
		t.Error("a call was sent that must not be")
		return SendResult{}
	}
}

func open(t testing.TB, path string, opts Options) *Ledger {
	t.Helper()
	l, err := Open(context.Background(), path, opts)
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, l.Close()) })
	return l
}

func tempPath(t testing.TB) string { return filepath.Join(t.TempDir(), "ledger.db") }

// records returns all leaves, decoded.
func records(t *testing.T, l *Ledger) []Record {
	t.Helper()
	var out []Record
	for leaf, err := range l.Leaves(t.Context()) {
		require.NoError(t, err)
		require.EqualValues(t, len(out)+1, leaf.N)
		r, err := leaf.Record()
		require.NoError(t, err)
		out = append(out, r)
	}
	return out
}

var plan = Sample{Scope: "plan", Index: 3}

func TestDoReplays(t *testing.T) {
	path := tempPath(t)
	l := open(t, path, Options{})
	s := script{results: []SendResult{got(200, "answer", true)}}
	first, err := l.Do(t.Context(), plan, call("q"), s.send)
	require.NoError(t, err)
	assert.False(t, first.Replayed)
	assert.Equal(t, 1, first.Sent)
	for _, opts := range []Options{{}, {ReadOnly: true}} {
		again, err := l.Do(t.Context(), plan, call("q"), neverSend(t))
		require.NoError(t, err)
		assert.True(t, again.Replayed)
		assert.Equal(t, first.Body, again.Body)
		assert.Equal(t, first.Observation, again.Observation)
		assert.Equal(t, first.Attempt.ID, again.Attempt.ID)
		assert.Equal(t, 1, again.Sent)
		require.NoError(t, l.Close())
		l = open(t, path, opts)
	}
	again, err := l.Do(t.Context(), plan, call("q"), neverSend(t))
	require.NoError(t, err)
	assert.True(t, again.Replayed)
	_, err = l.Do(t.Context(), Sample{Scope: "plan", Index: 4}, call("q"), neverSend(t))
	require.ErrorIs(t, err, ErrReadOnly)
}

func TestDifferentSamplesAreDifferentDraws(t *testing.T) {
	l := open(t, tempPath(t), Options{})
	sends := 0
	send := func(context.Context, Attempt) SendResult {
		sends++
		return got(200, fmt.Sprint("answer ", sends), true)
	}
	seen := map[string]bool{}
	for _, s := range []Sample{{Scope: "a"}, {Scope: "b"}, {Scope: "a", Index: 1}, {Scope: "a", Epoch: 1}} {
		r, err := l.Do(t.Context(), s, call("q"), send)
		require.NoError(t, err)
		seen[string(r.Body)] = true
	}
	other := call("q")
	other.Endpoint.Port = "81"
	r, err := l.Do(t.Context(), Sample{Scope: "a"}, other, send)
	require.NoError(t, err)
	seen[string(r.Body)] = true
	assert.Len(t, seen, 5)
	_, err = l.Do(t.Context(), Sample{Scope: "a", Call: other.Digest()}, call("q"), neverSend(t))
	require.ErrorContains(t, err, "the sample is of call")
}

func TestAnAnswerThatSettlesNothingIsNotReplayed(t *testing.T) {
	path := tempPath(t)
	l := open(t, path, Options{})
	s := script{results: []SendResult{got(429, "slow down", false), got(503, "busy", false), got(200, "answer", true)}}
	for i, want := range []int{429, 503, 200} {
		r, err := l.Do(t.Context(), plan, call("q"), s.send)
		require.NoError(t, err)
		assert.Equal(t, want, r.Observation.HTTP)
		assert.EqualValues(t, i+1, r.Attempt.Seq)
		assert.Equal(t, i+1, r.Sent)
		require.NoError(t, l.Close())
		l = open(t, path, Options{})
	}
	require.Nil(t, s.sent[0].Parent)
	assert.Equal(t, s.sent[0].ID, *s.sent[1].Parent)
	assert.Equal(t, s.sent[1].ID, *s.sent[2].Parent)
	assert.Equal(t, s.sent[2].WireID()+"-3", s.sent[2].Header())
	r, err := l.Do(t.Context(), plan, call("q"), neverSend(t))
	require.NoError(t, err)
	assert.Equal(t, "answer", string(r.Body))
	assert.Equal(t, 3, r.Sent)
}

func TestNotSentIsNoCall(t *testing.T) {
	l := open(t, tempPath(t), Options{})
	s := script{results: []SendResult{refused(), got(200, "answer", true)}}
	r, err := l.Do(t.Context(), plan, call("q"), s.send)
	require.NoError(t, err)
	assert.Equal(t, "connection refused", r.NotSent.Cause)
	assert.Equal(t, 0, r.Sent)
	spend, err := l.Spend(t.Context())
	require.NoError(t, err)
	assert.Equal(t, Spend{}, spend)
	r, err = l.Do(t.Context(), plan, call("q"), s.send)
	require.NoError(t, err)
	assert.Equal(t, 1, r.Sent)
	assert.EqualValues(t, 2, r.Attempt.Seq)
}

func TestIndeterminateStops(t *testing.T) {
	path := tempPath(t)
	l := open(t, path, Options{})
	s := script{results: []SendResult{unknown("half an ans")}}
	r, err := l.Do(t.Context(), plan, call("q"), s.send)
	require.NoError(t, err)
	require.NotNil(t, r.Indeterminate)
	partial, err := l.Body(*r.Indeterminate.Partial)
	require.NoError(t, err)
	assert.Equal(t, "half an ans", string(partial))
	for range 2 {
		_, err = l.Do(t.Context(), plan, call("q"), neverSend(t))
		require.ErrorIs(t, err, ErrIndeterminate)
		require.NoError(t, l.Close())
		l = open(t, path, Options{})
	}
	spend, err := l.Spend(t.Context())
	require.NoError(t, err)
	assert.Equal(t, Spend{Calls: 1, Indeterminate: 1}, spend)
}

func TestIndeterminateRetriesOnlyByPolicyAndSaysSo(t *testing.T) {
	l := open(t, tempPath(t), Options{Indeterminate: Retry})
	s := script{results: []SendResult{unknown(""), got(200, "answer", true)}}
	first, err := l.Do(t.Context(), plan, call("q"), s.send)
	require.NoError(t, err)
	r, err := l.Do(t.Context(), plan, call("q"), s.send)
	require.NoError(t, err)
	assert.Equal(t, "answer", string(r.Body))
	assert.Equal(t, 2, r.Sent)
	var entries []Entry
	for e, err := range l.Attempts(t.Context()) {
		require.NoError(t, err)
		entries = append(entries, e)
	}
	require.Len(t, entries, 2)
	assert.Equal(t, first.Attempt.ID, entries[0].Dispatch.Attempt)
	assert.NotNil(t, entries[0].Indeterminate)
	require.NotNil(t, entries[0].Resolution, "the second attempt must have been authorised")
	assert.Equal(t, "policy", entries[0].Resolution.Actor)
	assert.NotNil(t, entries[1].Observation)
	spend, err := l.Spend(t.Context())
	require.NoError(t, err)
	assert.EqualValues(t, 2, spend.Calls)
	assert.EqualValues(t, 1, spend.Indeterminate)
	assert.EqualValues(t, 7, *spend.CostMicros)
}

func TestCancelledBeforeDispatchRecordsNothing(t *testing.T) {
	l := open(t, tempPath(t), Options{})
	before := len(records(t, l))
	ctx, cancel := context.WithCancelCause(t.Context())
	cause := errors.New("ctrl-c")
	cancel(cause)
	_, err := l.Do(ctx, plan, call("q"), neverSend(t))
	require.ErrorIs(t, err, cause)
	assert.Len(t, records(t, l), before)
}

func TestCancelledBetweenDispatchAndSendIsNotSent(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	l := open(t, tempPath(t), Options{hook: func(point string) {
		if point == "dispatched" {
			cancel()
		}
	}})
	r, err := l.Do(ctx, plan, call("q"), neverSend(t))
	require.NoError(t, err)
	require.NotNil(t, r.NotSent)
	assert.Equal(t, "cancelled", r.NotSent.Outcome)
}

func TestOneSendForManyCallers(t *testing.T) {
	joining := make(chan struct{}, 32)
	l := open(t, tempPath(t), Options{hook: func(point string) {
		if point == "joined" {
			joining <- struct{}{}
		}
	}})
	entered, release := make(chan struct{}), make(chan struct{})
	var callers sync.WaitGroup
	var joined atomic.Int32
	do := func(send Send) {
		r, err := l.Do(t.Context(), plan, call("q"), send)
		assert.NoError(t, err)
		assert.Equal(t, "answer", string(r.Body))
		if r.Joined {
			joined.Add(1)
		}
	}
	callers.Go(func() {
		do(func(context.Context, Attempt) SendResult {
			close(entered)
			<-release
			return got(200, "answer", true)
		})
	})
	<-entered
	for range 31 {
		callers.Go(func() { do(neverSend(t)) })
	}
	for range 31 {
		<-joining
	}
	close(release)
	callers.Wait()
	assert.EqualValues(t, 31, joined.Load())
}

func TestAJoinerOutlivesALeaderThatWasCancelled(t *testing.T) {
	joining := make(chan struct{})
	l := open(t, tempPath(t), Options{hook: func(point string) {
		if point == "joined" {
			close(joining)
		}
	}})
	// A leader that ended before its dispatch.
	f := &flight{done: make(chan struct{}), none: true, err: context.Canceled}
	id := Sample{Scope: "plan", Index: 3, Call: call("q").Digest()}.Digest()
	l.flights[id] = f
	done := make(chan Result)
	go func() {
		r, err := l.Do(t.Context(), plan, call("q"), func(context.Context, Attempt) SendResult { return got(200, "own", true) })
		assert.NoError(t, err)
		done <- r
	}()
	<-joining
	l.mu.Lock()
	delete(l.flights, id)
	l.mu.Unlock()
	close(f.done)
	r := <-done
	assert.Equal(t, "own", string(r.Body))
	assert.False(t, r.Joined)
}

func TestAJoinerCanLeave(t *testing.T) {
	l := open(t, tempPath(t), Options{})
	entered, release := make(chan struct{}), make(chan struct{})
	leader := make(chan struct{})
	go func() {
		defer close(leader)
		_, err := l.Do(t.Context(), plan, call("q"), func(context.Context, Attempt) SendResult {
			close(entered)
			<-release
			return got(200, "answer", true)
		})
		assert.NoError(t, err)
	}()
	<-entered
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := l.Do(ctx, plan, call("q"), neverSend(t))
	require.ErrorIs(t, err, context.Canceled)
	close(release)
	<-leader
}

func TestAPanicOfTheAdapterIsIndeterminate(t *testing.T) {
	l := open(t, tempPath(t), Options{})
	require.PanicsWithValue(t, "boom", func() {
		_, _ = l.Do(t.Context(), plan, call("q"), func(context.Context, Attempt) SendResult { panic("boom") })
	})
	_, err := l.Do(t.Context(), plan, call("q"), neverSend(t))
	require.ErrorIs(t, err, ErrIndeterminate)
}

func TestAnAdapterThatSaysNothingIsIndeterminate(t *testing.T) {
	l := open(t, tempPath(t), Options{})
	r, err := l.Do(t.Context(), plan, call("q"), func(context.Context, Attempt) SendResult { return SendResult{} })
	require.NoError(t, err)
	assert.NotNil(t, r.Indeterminate)
}

func TestClosedLedgerTakesNoCalls(t *testing.T) {
	l := open(t, tempPath(t), Options{})
	require.NoError(t, l.Close())
	_, err := l.Do(t.Context(), plan, call("q"), neverSend(t))
	require.ErrorIs(t, err, ErrClosed)
	require.NoError(t, l.Close())
}

func TestManyCallersManySamples(t *testing.T) {
	path := tempPath(t)
	l := open(t, path, Options{})
	var callers sync.WaitGroup
	for g := range 32 {
		callers.Go(func() {
			for i := range 20 {
				body := fmt.Sprintf("q%d", i)
				r, err := l.Do(t.Context(), Sample{Scope: "plan", Index: uint32(g)}, call(body), func(context.Context, Attempt) SendResult {
					return got(200, fmt.Sprintf("%s by %d", body, g), true)
				})
				assert.NoError(t, err)
				assert.Equal(t, fmt.Sprintf("%s by %d", body, g), string(r.Body))
			}
		})
	}
	callers.Wait()
	spend, err := l.Spend(t.Context())
	require.NoError(t, err)
	assert.EqualValues(t, 640, spend.Calls)
	assert.EqualValues(t, 640*7, *spend.CostMicros)
	require.NoError(t, l.Close())
	l = open(t, path, Options{ReadOnly: true})
	for i := range 20 {
		r, err := l.Do(t.Context(), Sample{Scope: "plan", Index: 31}, call(fmt.Sprintf("q%d", i)), neverSend(t))
		require.NoError(t, err)
		assert.Equal(t, fmt.Sprintf("q%d by 31", i), string(r.Body))
	}
}

// A gate is asked where something would be sent, and nowhere else; what it refuses
// leaves no record.
func TestGate(t *testing.T) {
	path := tempPath(t)
	l := open(t, path, Options{})
	why := errors.New("too dear")
	before := len(records(t, l))
	_, err := l.DoIf(t.Context(), plan, call("q"), func(context.Context) error { return why }, neverSend(t))
	require.ErrorIs(t, err, why)
	assert.Len(t, records(t, l), before)
	asked := 0
	gate := func(context.Context) error { asked++; return nil }
	s := script{results: []SendResult{got(429, "slow down", false), unknown(""), got(200, "answer", true)}}
	for range 2 {
		_, err = l.DoIf(t.Context(), plan, call("q"), gate, s.send)
		require.NoError(t, err)
	}
	assert.Equal(t, 2, asked, "once an attempt")
	_, err = l.DoIf(t.Context(), plan, call("q"), gate, neverSend(t))
	require.ErrorIs(t, err, ErrIndeterminate)
	assert.Equal(t, 2, asked, "an attempt that nobody may repeat needs no leave")
	require.NoError(t, l.Close())
	l = open(t, path, Options{Indeterminate: Retry})
	_, err = l.DoIf(t.Context(), plan, call("q"), gate, s.send)
	require.NoError(t, err)
	assert.Equal(t, 3, asked)
	r, err := l.DoIf(t.Context(), plan, call("q"), gate, neverSend(t))
	require.NoError(t, err)
	assert.True(t, r.Replayed)
	assert.Equal(t, 3, asked, "a replay costs nothing")
}

// One leader asks for all who join it; when it is refused, each of them asks for
// itself.
func TestGateOfOneForMany(t *testing.T) {
	joining := make(chan struct{}, 8)
	l := open(t, tempPath(t), Options{hook: func(point string) {
		if point == "joined" {
			joining <- struct{}{}
		}
	}})
	var asked, refusals atomic.Int32
	entered, release := make(chan struct{}), make(chan struct{})
	gate := func(context.Context) error {
		if asked.Add(1) == 1 {
			close(entered)
			<-release
			return errors.New("too dear")
		}
		return nil
	}
	var callers sync.WaitGroup
	do := func() {
		_, err := l.DoIf(t.Context(), plan, call("q"), gate, func(context.Context, Attempt) SendResult { return got(200, "answer", true) })
		if err != nil {
			refusals.Add(1)
		}
	}
	callers.Go(do)
	<-entered
	for range 8 {
		callers.Go(do)
	}
	for range 8 {
		<-joining
	}
	close(release)
	callers.Wait()
	assert.EqualValues(t, 1, refusals.Load())
	assert.EqualValues(t, 2, asked.Load())
}
