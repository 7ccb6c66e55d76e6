package endpoint_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/youden-bench/youden/bench/budget"
	"github.com/youden-bench/youden/bench/endpoint"
	"github.com/youden-bench/youden/bench/ledger"
	"github.com/youden-bench/youden/detector"
)

// answering is an answer that says how many tokens it took.
func answering(prompt, completion int64) string {
	return fmt.Sprintf(`{"choices":[{"index":0,"message":{"role":"assistant","content":"No finding."},"finish_reason":"stop"}],"usage":{"prompt_tokens":%d,"completion_tokens":%d}}`, prompt, completion)
}

func capped(micros int64) *budget.Budget { return budget.New(budget.Caps{Micros: &micros}, time.Now) }

var perToken = &endpoint.Price{PromptMicros: 1_000_000, CompletionMicros: 2_000_000}

// watched notes the worst cases that are reserved.
type watched struct {
	*budget.Budget
	mu    sync.Mutex
	worst []budget.Amount
}

func (w *watched) Reserve(ctx context.Context, worst budget.Amount) (*budget.Reservation, error) {
	w.mu.Lock()
	w.worst = append(w.worst, worst)
	w.mu.Unlock()
	return w.Budget.Reserve(ctx, worst)
}

// 64 callers against a cap that fits 10 worst-case answers: exactly 10 calls when
// answers cost the worst case, more when they cost half, and the cap is never
// crossed, by the server's own count.
func TestSixtyFourCallersAgainstACap(t *testing.T) {
	const limit = 100
	const together = 8 // calls that are under way before an endpoint has shown that it takes more
	for name, c := range map[string]struct {
		part  int64 // of the worst case
		calls int
	}{"the worst case": {1, 10}, "half": {2, 19}} {
		t.Run(name, func(t *testing.T) {
			var billed, arrived, under atomic.Int64
			var worst budget.Amount
			all := make(chan struct{})
			s, r := serve(t, func(w http.ResponseWriter, req *http.Request) {
				if arrived.Add(1) == together {
					close(all) // the first ones are under way at once
				}
				<-all
				under.Add(1)
				assert.LessOrEqual(t, under.Load(), int64(10))
				billed.Add(worst.Micros / c.part)
				w.Header().Set("Content-Type", "application/json")
				under.Add(-1)
				_, _ = io.WriteString(w, answering((worst.Tokens-limit)/c.part, limit/c.part))
			})
			o := options(s.URL, openLedger(t, filepath.Join(t.TempDir(), "ledger.db"), ledger.Options{}))
			o.MaxTokens, o.Price = limit, perToken
			gauge := &watched{Budget: capped(0)}
			o.Budget, o.Concurrency = gauge, 64
			refused := complete(t, client(t, o), 1000, ask("Audit"))
			require.Equal(t, endpoint.CauseBudget, endpoint.CauseOf(refused))
			require.Zero(t, r.count())
			worst = gauge.worst[0]
			require.Zero(t, (worst.Tokens-limit)%c.part, "the halves are whole")

			most := 10 * worst.Micros
			b := capped(most)
			o.Budget = b
			model := client(t, o)
			var callers sync.WaitGroup
			answers := make([]detector.Answer, 64)
			for k := range answers {
				callers.Go(func() { answers[k] = complete(t, model, k, ask("Audit")) })
			}
			callers.Wait()
			assert.Equal(t, c.calls, r.count())
			assert.LessOrEqual(t, billed.Load(), most)
			assert.Equal(t, billed.Load(), b.State().Spent.Micros)
			ok := 0
			for _, a := range answers {
				if a.Status == detector.OK {
					ok++
					continue
				}
				assert.Equal(t, detector.Cancelled, a.Status)
				assert.Equal(t, endpoint.CauseBudget, endpoint.CauseOf(a), a.Detail)
				assert.Contains(t, a.Detail, "not sent: the budget of $")
				assert.Zero(t, a.Attempts)
			}
			assert.Equal(t, c.calls, ok)
			past, err := endpoint.Spent(t.Context(), o.Ledger, perToken, limit)
			require.NoError(t, err)
			assert.Equal(t, b.State().Spent, past.Known, "the ledger says the same")
			assert.Zero(t, past.Unknown)

			// What is recorded is replayed for nothing, also when nothing is left.
			o.Budget = capped(0)
			again := client(t, o)
			for k, a := range answers {
				if a.Status == detector.OK {
					assert.True(t, complete(t, again, k, ask("Audit")).Replayed)
				}
			}
			assert.Equal(t, c.calls, r.count())
		})
	}
}

// An endpoint that does not keep the token limit is found out by its first answer:
// its bill is counted, and nothing is sent that could cross the cap again.
func TestAnAnswerBeyondItsReservation(t *testing.T) {
	s, r := serve(t, reply(200, "application/json", answering(50, 5120)))
	o := options(s.URL, memoryLedger(t))
	o.MaxTokens, o.Price = 20, perToken
	b := capped(20_000)
	o.Budget = b
	c := client(t, o)
	require.Equal(t, detector.OK, complete(t, c, 0, ask("q")).Status)
	state := b.State()
	assert.Equal(t, budget.Amount{Micros: 50 + 2*5120, Calls: 1, Tokens: 5170}, state.Spent)
	require.Len(t, state.Overruns, 1)
	assert.Contains(t, state.Overruns[0].String(), "does the endpoint keep its token limit?")
	a := complete(t, c, 1, ask("q"))
	assert.Equal(t, endpoint.CauseBudget, endpoint.CauseOf(a))
	assert.Contains(t, a.Detail, "raised because an earlier call used more than was reserved")
	assert.Equal(t, 1, r.count())
}

// What fails is counted at what it can have cost, and what reached nobody not at all.
func TestWhatFailsAgainstABudget(t *testing.T) {
	dead, r := serve(t, reply(429, "application/json", `{"error":{"message":"slow down","code":"rate_limit_exceeded"}}`))
	o := options(dead.URL, memoryLedger(t))
	o.Price, o.MaxTokens = perToken, 100
	b := capped(1_000_000)
	o.Budget = b
	c := client(t, o)
	complete(t, c, 0, ask("q"))
	assert.Equal(t, budget.Amount{Calls: 1}, b.State().Spent, "nobody bills a 429")
	c.CloseIdle()
	dead.Close()
	refused := complete(t, c, 1, ask("q"))
	require.Equal(t, endpoint.CauseRefused, endpoint.CauseOf(refused))
	assert.Equal(t, budget.Amount{Calls: 1}, b.State().Spent, "nothing was sent")
	assert.Equal(t, 1, r.count())

	broken, _ := serve(t, reply(500, "application/json", `{"error":{"message":"boom"}}`))
	o.BaseURL = broken.URL + "/v1"
	complete(t, client(t, o), 2, ask("q"))
	state := b.State()
	assert.Equal(t, int64(2), state.Spent.Calls)
	assert.Equal(t, state.Spent.Micros, state.Unknown.Micros, "a model may have answered before the 500")
	assert.Positive(t, state.Unknown.Micros)

	past, err := endpoint.Spent(t.Context(), o.Ledger, perToken, 1)
	require.NoError(t, err)
	assert.Equal(t, budget.Amount{Calls: 1}, past.Known)
	assert.Equal(t, state.Unknown, past.Unknown, "the request says what was reserved for it")
}

// Ctrl-C sends away who waits for the budget, and the end of the time too.
func TestWhoWaitsForTheBudgetCanBeStopped(t *testing.T) {
	entered, release := make(chan struct{}), make(chan struct{})
	s, r := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		close(entered)
		<-release
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, answering(10, 1))
	})
	o := options(s.URL, memoryLedger(t))
	one := int64(1)
	b := budget.New(budget.Caps{Calls: &one}, time.Now)
	o.Budget = b
	c := client(t, o)
	var callers sync.WaitGroup
	var first, waits, cut detector.Answer
	callers.Go(func() { first = complete(t, c, 0, ask("q")) })
	<-entered
	ctx, cancel := context.WithCancelCause(t.Context())
	asked := make(chan struct{}, 1)
	o.Budget = &noted{b, asked}
	slow := client(t, o)
	callers.Go(func() { cut = slow.Complete(endpoint.WithSample(ctx, 1), ask("q")) })
	<-asked
	cancel(&budget.RefusedError{Flag: "--max-time", Cap: "1m0s"})
	callers.Go(func() { waits = complete(t, slow, 2, ask("q")) })
	<-asked
	for b.State().Waiting == 0 {
		runtime.Gosched() // it has been asked, and is about to wait
	}
	b.Drain()
	close(release)
	callers.Wait()
	assert.Equal(t, detector.OK, first.Status)
	assert.Equal(t, "not sent: the budget of 1m0s is spent", cut.Detail)
	assert.Equal(t, "stopped before the call was sent", waits.Detail)
	assert.Equal(t, detector.Cancelled, waits.Status)
	assert.Equal(t, 1, r.count())
}

// noted tells when the budget is asked.
type noted struct {
	*budget.Budget
	asked chan struct{}
}

func (n *noted) Reserve(ctx context.Context, worst budget.Amount) (*budget.Reservation, error) {
	n.asked <- struct{}{}
	return n.Budget.Reserve(ctx, worst)
}

// A ledger that cannot say what a request was does not make it free.
func TestSpentNeedsTheRequests(t *testing.T) {
	s, _ := serve(t, reply(500, "application/json", `{}`))
	o := options(s.URL, memoryLedger(t))
	complete(t, client(t, o), 0, ask("q"))
	past, err := endpoint.Spent(t.Context(), o.Ledger, nil, 4096)
	require.NoError(t, err)
	assert.Equal(t, int64(1), past.Unknown.Calls)
	assert.Greater(t, past.Unknown.Tokens, int64(4096))
	_, err = endpoint.Spent(t.Context(), bodiless(t, o), nil, 4096)
	require.ErrorIs(t, err, ledger.ErrNoBody)
}

// bodiless is a ledger of the same call whose store has lost the bodies.
func bodiless(t *testing.T, o endpoint.Options) *ledger.Ledger {
	t.Helper()
	l, err := ledger.OpenStore(context.Background(), &forgetful{ledger.NewMemory()}, ledger.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, l.Close()) })
	o.Ledger = l
	complete(t, client(t, o), 0, ask("q"))
	return l
}

type forgetful struct{ *ledger.Memory }

func (*forgetful) Body(ledger.Digest) (ledger.Body, error) { return ledger.Body{}, ledger.ErrNoBody }
