package endpoint_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/youden-bench/youden/bench/budget"
	"github.com/youden-bench/youden/bench/endpoint"
	"github.com/youden-bench/youden/detector"
)

const slowDown = `{"error":{"message":"slow down","code":"rate_limit_exceeded"}}`

func ofCalls(n int64) *budget.Budget { return budget.New(budget.Caps{Calls: &n}, time.Now) }

// inTurn serves one handler after the other, and the last one for ever.
func inTurn(handlers ...http.HandlerFunc) http.HandlerFunc {
	var mu sync.Mutex
	return func(w http.ResponseWriter, req *http.Request) {
		mu.Lock()
		next := handlers[0]
		if len(handlers) > 1 {
			handlers = handlers[1:]
		}
		mu.Unlock()
		next(w, req)
	}
}

// Each attempt is reserved and settled by itself; the waits between them hold nothing.
func TestEachAttemptIsReserved(t *testing.T) {
	s, r := serve(t, inTurn(reply(429, "application/json", slowDown), reply(503, "application/json", `{}`), reply(200, "application/json", answering(10, 5))))
	o := options(s.URL, memoryLedger(t))
	b := &watched{Budget: ofCalls(3)}
	o.Budget, o.Retry, o.MaxTokens = b, endpoint.Retry{}, 50
	waits := 0
	o.Wait = func(context.Context, time.Duration) error {
		waits++
		state := b.State()
		assert.Zero(t, state.Held, "a wait holds nothing")
		assert.Equal(t, int64(waits), state.Spent.Calls, "what was sent is settled")
		return nil
	}
	a := complete(t, client(t, o), 0, ask("q"))
	require.Equal(t, detector.OK, a.Status, a.Detail)
	assert.Equal(t, 3, a.Attempts)
	assert.Equal(t, 3, r.count())
	assert.Equal(t, 2, waits)
	require.Len(t, b.worst, 3)
	state := b.State()
	assert.Equal(t, budget.Amount{Calls: 3, Tokens: b.worst[1].Tokens + 15}, state.Spent, "a 429 costs nothing, a 503 its worst, an answer itself")
	assert.Equal(t, b.worst[1], state.Unknown)

	o.Budget = ofCalls(0)
	replayed := complete(t, client(t, o), 0, ask("q"))
	assert.True(t, replayed.Replayed, "a replay reserves nothing")
	assert.Equal(t, detector.OK, replayed.Status)
	assert.Equal(t, 3, replayed.Attempts)
}

// A further attempt that the budget refuses ends the call as one that the budget
// stopped, with what was tried on record; a larger budget goes on with it.
func TestARefusedRetryIsTheBudgets(t *testing.T) {
	for name, c := range map[string]struct {
		status int
		body   string
	}{
		"too fast": {429, slowDown}, "broken": {500, `{"error":{"message":"boom"}}`}, "no answer": {200, `{"choices":[]}`},
	} {
		t.Run(name, func(t *testing.T) {
			s, r := serve(t, inTurn(reply(c.status, "application/json", c.body), reply(c.status, "application/json", c.body), reply(200, "application/json", answering(10, 5))))
			o := options(s.URL, memoryLedger(t))
			o.Budget, o.Retry, o.Wait = ofCalls(2), endpoint.Retry{}, func(context.Context, time.Duration) error { return nil }
			a := complete(t, client(t, o), 0, ask("q"))
			assert.Equal(t, detector.Cancelled, a.Status)
			assert.Equal(t, endpoint.CauseBudget, endpoint.CauseOf(a))
			assert.Regexp(t, `^not sent: the budget of 2 calls is spent \(the last attempt: .+\)$`, a.Detail)
			assert.Equal(t, "the budget of 2 calls is spent", endpoint.ReasonOf(a))
			assert.Equal(t, 2, a.Attempts)
			assert.NotEmpty(t, a.Receipt)
			assert.Equal(t, 2, r.count())

			o.Budget = ofCalls(1)
			a = complete(t, client(t, o), 0, ask("q"))
			assert.Equal(t, detector.OK, a.Status, a.Detail)
			assert.Equal(t, 3, a.Attempts)
			assert.Equal(t, 3, r.count())
		})
	}
}

// The end of the time in a wait is the budget's, not the endpoint's fault.
func TestTheTimeEndsInAWait(t *testing.T) {
	s, r := serve(t, reply(429, "application/json", slowDown))
	ctx, end := context.WithCancelCause(t.Context())
	o := options(s.URL, memoryLedger(t))
	o.Budget, o.Retry = ofCalls(10), endpoint.Retry{}
	o.Wait = func(ctx context.Context, _ time.Duration) error {
		end(&budget.RefusedError{Flag: "--max-time", Cap: "1m0s"})
		<-ctx.Done()
		return ctx.Err()
	}
	a := client(t, o).Complete(endpoint.WithSample(ctx, 0), ask("q"))
	assert.Equal(t, detector.Cancelled, a.Status)
	assert.Equal(t, endpoint.CauseBudget, endpoint.CauseOf(a))
	assert.Equal(t, "the budget of 1m0s is spent", endpoint.ReasonOf(a))
	assert.Equal(t, 1, a.Attempts)
	assert.Equal(t, 1, r.count())
}

// Who waits for a turn at the endpoint holds nothing of the budget.
func TestWhoWaitsForATurnHoldsNothing(t *testing.T) {
	entered, release := make(chan struct{}), make(chan struct{})
	s, r := serve(t, func(w http.ResponseWriter, req *http.Request) {
		entered <- struct{}{}
		<-release
		reply(200, "application/json", answering(10, 5))(w, req)
	})
	o := options(s.URL, memoryLedger(t))
	b := &watched{Budget: ofCalls(8)}
	o.Budget, o.Concurrency = b, 1
	c := client(t, o)
	var callers sync.WaitGroup
	for k := range 8 {
		callers.Go(func() { assert.Equal(t, detector.OK, complete(t, c, k, ask("q")).Status) })
	}
	for range 8 {
		<-entered
		held := b.State().Held.Calls
		assert.Positive(t, held)
		assert.LessOrEqual(t, held, int64(2), "one under way, and one whose answer is being recorded")
		release <- struct{}{}
	}
	callers.Wait()
	assert.Equal(t, 8, r.count())
	assert.Len(t, b.worst, 8)
}

// pupils is a server that refuses max_tokens, as said by the answer to the first call.
func pupils(first func()) http.HandlerFunc {
	return func(w http.ResponseWriter, req *http.Request) {
		raw, _ := io.ReadAll(req.Body)
		var sent map[string]any
		_ = json.Unmarshal(raw, &sent)
		if _, old := sent["max_tokens"]; old {
			first()
			reply(400, "application/json", noMaxTokens.body)(w, req)
			return
		}
		reply(200, "application/json", answering(10, 5))(w, req)
	}
}

// A lesson costs the request that was refused. What the ledger teaches costs nothing,
// and a call that the budget stops between the two has sent one request.
func TestLessonsAndTheBudget(t *testing.T) {
	s, r := serve(t, pupils(func() {}))
	o := options(s.URL, memoryLedger(t))
	b := ofCalls(1)
	o.Budget = b
	a := complete(t, client(t, o), 0, ask("q"))
	assert.Equal(t, detector.Cancelled, a.Status)
	assert.Equal(t, endpoint.CauseBudget, endpoint.CauseOf(a), a.Detail)
	assert.Equal(t, 1, a.Attempts)
	assert.Equal(t, budget.Amount{Calls: 1}, b.State().Spent, "a refused request is a call and costs nothing")

	again := &watched{Budget: ofCalls(1)}
	o.Budget = again
	a = complete(t, client(t, o), 0, ask("q"))
	assert.Equal(t, detector.OK, a.Status, a.Detail)
	assert.Equal(t, 2, a.Attempts)
	assert.Len(t, again.worst, 1, "what was learned before is not asked again")
	assert.Equal(t, 2, r.count())

	o.Budget = ofCalls(0)
	assert.True(t, complete(t, client(t, o), 0, ask("q")).Replayed)
}

// What is learned while a call waits for the budget holds for it too: it is not sent in
// the form that is refused.
func TestWhoWaitsForTheBudgetLearns(t *testing.T) {
	const callers = 8
	o := options("http://127.0.0.1:9", memoryLedger(t))
	o.MaxTokens, o.Price = 100, perToken
	gauge := &watched{Budget: capped(0)}
	o.Budget = gauge
	complete(t, client(t, o), 1000, ask("q"))
	b := capped(gauge.worst[0].Micros + 1000) // one worst case, and the few tokens of all answers
	refused := 0                              // never at once: one is under way
	s, r := serve(t, pupils(func() {
		refused++
		for b.State().Waiting < callers-1 {
			runtime.Gosched()
		}
	}))
	o.BaseURL, o.Budget, o.Concurrency = s.URL+"/v1", b, callers
	c := client(t, o)
	var all sync.WaitGroup
	for k := range callers {
		all.Go(func() {
			a := complete(t, c, k, ask("q"))
			assert.Equal(t, detector.OK, a.Status, a.Detail)
		})
	}
	all.Wait()
	assert.Equal(t, 1, refused)
	assert.Equal(t, callers+1, r.count())
	assert.Equal(t, int64(callers+1), b.State().Spent.Calls)
	assert.Zero(t, b.State().Held)
}

// Callers of one draw share an attempt, and its reservation.
func TestWhoJoinsReservesNothing(t *testing.T) {
	entered, release := make(chan struct{}), make(chan struct{})
	s, r := serve(t, func(w http.ResponseWriter, req *http.Request) {
		close(entered)
		<-release
		reply(200, "application/json", answering(10, 5))(w, req)
	})
	o := options(s.URL, memoryLedger(t))
	b := &watched{Budget: ofCalls(1)}
	o.Budget = b
	c := client(t, o)
	var callers sync.WaitGroup
	callers.Go(func() { assert.Equal(t, detector.OK, complete(t, c, 0, ask("q")).Status) })
	<-entered
	for range 3 {
		callers.Go(func() { assert.Equal(t, detector.OK, complete(t, c, 0, ask("q")).Status) })
	}
	close(release)
	callers.Wait()
	assert.Equal(t, 1, r.count())
	assert.Len(t, b.worst, 1)
}
