package endpoint

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/youden-bench/youden/measurements"
)

func throttleOf(concurrency int) *throttle {
	return newThrottle(Options{Concurrency: concurrency, Clock: time.Now, Wait: wait, Retry: Retry{}.Defaults()})
}

func entered(t *testing.T, th *throttle) *slot {
	t.Helper()
	s, err := th.enter(t.Context(), 0)
	require.NoError(t, err)
	return s
}

// crowd keeps callers calling for a while; each call takes a second and is answered
// by answer, which sees how many are under way.
func crowd(t *testing.T, th *throttle, callers int, d time.Duration, answer func(inFlight int) (status int)) (calls, most int) {
	var mu sync.Mutex
	var all sync.WaitGroup
	now := 0
	end := time.Now().Add(d)
	for range callers {
		all.Go(func() {
			for time.Now().Before(end) {
				s, err := th.enter(t.Context(), 0)
				if err != nil {
					return
				}
				if !time.Now().Before(end) {
					s.leave()
					return
				}
				mu.Lock()
				now++
				calls++
				most = max(most, now)
				status := answer(now)
				mu.Unlock()
				<-time.After(time.Second)
				mu.Lock()
				now--
				mu.Unlock()
				s.answer(nil, status, 0)
			}
		})
	}
	all.Wait()
	return calls, most
}

func TestTheLimitDoublesUntilItIsReached(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		th := throttleOf(32)
		calls, most := crowd(t, th, 100, 5*time.Second, func(int) int { return 200 })
		assert.Equal(t, 32, most, "never above the concurrency")
		assert.InDelta(t, 8+16+32+32+32, calls, 4, "8, 16 and 32 a round")
		history, _ := th.report()
		assert.Equal(t, "start", history[0].Why)
		assert.Equal(t, 8, history[0].Limit)
		assert.Equal(t, 32, history[len(history)-1].Limit)
	})
}

func TestTheLimitFollowsTheEndpoint(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const room = 12
		th := throttleOf(64)
		refused := 0
		calls, _ := crowd(t, th, 64, 200*time.Second, func(inFlight int) int {
			if inFlight > room {
				refused++
				return http.StatusTooManyRequests
			}
			return http.StatusOK
		})
		assert.Greater(t, float64(calls-refused), 0.6*room*200, "most of the room is used")
		assert.Less(t, float64(refused), 0.15*float64(calls), "few calls are refused")
		history, _ := th.report()
		cuts := 0
		for i, c := range history {
			if c.Why == "rate_limit" {
				cuts++
				assert.Equal(t, max(1, history[i-1].Limit/2), c.Limit, "halved")
			} else if cuts > 0 {
				assert.Equal(t, history[i-1].Limit+1, c.Limit, "by one")
			}
		}
		assert.Greater(t, cuts, 3)
		assert.LessOrEqual(t, len(history), measurements.MaxConcurrencyHistory)
	})
}

func TestOneBurstIsOneCut(t *testing.T) {
	th := throttleOf(8)
	var slots []*slot
	for range 8 {
		slots = append(slots, entered(t, th))
	}
	for _, s := range slots {
		s.answer(nil, http.StatusTooManyRequests, 0)
	}
	history, _ := th.report()
	require.Len(t, history, 2)
	assert.Equal(t, 4, history[1].Limit)
	entered(t, th).answer(nil, 529, 0)
	history, _ = th.report()
	assert.Equal(t, 2, history[2].Limit)
	for range 4 {
		entered(t, th).answer(nil, http.StatusTooManyRequests, 0)
	}
	history, _ = th.report()
	assert.Equal(t, 1, history[len(history)-1].Limit, "never below one")
}

func TestTheLimitGrowsOnlyWhileItHolds(t *testing.T) {
	th := throttleOf(32)
	for range 100 { // one caller, of eight that could be
		entered(t, th).answer(nil, 200, 0)
	}
	history, _ := th.report()
	assert.Len(t, history, 1)
	for range 20 { // failures are no reason to ask for more
		var slots []*slot
		for range 8 {
			slots = append(slots, entered(t, th))
		}
		for _, s := range slots {
			s.answer(nil, http.StatusInternalServerError, 0)
		}
	}
	history, _ = th.report()
	assert.Len(t, history, 1)
}

// What an endpoint asks of one caller holds for all.
func TestAskedWaitsAreShared(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		th := throttleOf(4)
		entered(t, th).answer(nil, http.StatusTooManyRequests, 10*time.Second)
		entered2 := make(chan time.Duration, 3)
		start := time.Now()
		for range 3 {
			go func() {
				s, err := th.enter(t.Context(), 0)
				if assert.NoError(t, err) {
					entered2 <- time.Since(start)
					s.leave()
				}
			}()
		}
		for range 3 {
			assert.Equal(t, 10*time.Second, <-entered2)
		}
		_, waits := th.report()
		assert.EqualValues(t, 30_000, waits.LimitMS)
		// A shorter wait does not shorten it, and one beyond all patience is not
		// waited for here.
		entered(t, th).answer(nil, http.StatusTooManyRequests, time.Minute)
		th.mu.Lock()
		th.inFlight++
		th.mu.Unlock()
		(&slot{t: th}).answer(nil, http.StatusTooManyRequests, time.Second)
		_, floor := th.standing()
		assert.Equal(t, time.Minute, floor)
		th.mu.Lock()
		th.inFlight++
		th.mu.Unlock()
		(&slot{t: th}).answer(nil, http.StatusTooManyRequests, time.Hour)
		_, floor = th.standing()
		assert.Equal(t, time.Minute, floor)
	})
}

// window is an endpoint that takes so many calls a minute, and says in each answer
// how many are left.
type window struct {
	limit, left int
	end         time.Time
	refused     int
}

func (w *window) take() (header map[string]string, status int) {
	if now := time.Now(); !now.Before(w.end) {
		w.left, w.end = w.limit, now.Add(time.Minute)
	}
	status = http.StatusOK
	if w.left--; w.left < 0 {
		w.left, w.refused, status = 0, w.refused+1, http.StatusTooManyRequests
	}
	return map[string]string{
		"x-ratelimit-remaining-requests": fmt.Sprint(w.left), "x-ratelimit-reset-requests": time.Until(w.end).String(),
	}, status
}

func TestLimitsAreRespectedAheadOfTheirRefusal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		th := throttleOf(8)
		w := &window{limit: 20}
		var mu sync.Mutex
		var callers sync.WaitGroup
		start := time.Now()
		for range 8 {
			callers.Go(func() {
				for range 10 {
					s, err := th.enter(t.Context(), 0)
					if !assert.NoError(t, err) {
						return
					}
					mu.Lock()
					header, status := w.take()
					mu.Unlock()
					<-time.After(2 * time.Second)
					s.answer(header, status, 0)
				}
			})
		}
		callers.Wait()
		assert.Zero(t, w.refused, "80 calls against 20 a minute, and none is refused")
		assert.Less(t, time.Since(start), 8*time.Minute)
	})
}

func TestTokensAreRespectedToo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		th := throttleOf(4)
		first := entered(t, th)
		first.tokens = 500
		first.answer(map[string]string{"x-ratelimit-remaining-tokens": "900", "x-ratelimit-reset-tokens": "6s"}, 200, 0)
		start := time.Now()
		small, err := th.enter(t.Context(), 500)
		require.NoError(t, err)
		assert.Zero(t, time.Since(start), "it fits")
		large, err := th.enter(t.Context(), 500)
		require.NoError(t, err)
		assert.Equal(t, 6*time.Second, time.Since(start), "900 are not two times 500")
		small.leave()
		large.leave()
	})
}

func TestLimitsOfGoodAnswersNeverStopACapture(t *testing.T) {
	th := throttleOf(4)
	for _, header := range []map[string]string{
		{"x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": "6h0m0s"},
		{"x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": "whenever"},
		{"x-ratelimit-remaining-requests": "0"},
		{"x-ratelimit-remaining-requests": "x", "x-ratelimit-reset-requests": "1s"},
		{"x-ratelimit-remaining-requests": "9999", "x-ratelimit-reset-requests": "6ms"},
	} {
		entered(t, th).answer(header, 200, 0)
		assert.Zero(t, th.budgets.requests.until, "%v", header)
	}
}

// A caller that gives up passes its turn on.
func TestACallerThatLeavesTheQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		th := throttleOf(1)
		s := entered(t, th)
		ctx, cancel := context.WithCancel(t.Context())
		left := make(chan error)
		go func() {
			_, err := th.enter(ctx, 0)
			left <- err
		}()
		synctest.Wait()
		got := make(chan *slot)
		go func() { got <- entered(t, th) }()
		synctest.Wait()
		cancel()
		assert.ErrorIs(t, <-left, context.Canceled)
		s.leave()
		s.leave() // once is enough
		(<-got).leave()
		assert.Zero(t, th.inFlight)
		assert.Empty(t, th.queue)
	})
}

func TestAShutEndpointEndsAllWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		th := throttleOf(1)
		s := entered(t, th)
		s.answer(nil, http.StatusTooManyRequests, time.Minute)
		errs := make(chan error)
		for range 3 {
			go func() {
				_, err := th.enter(t.Context(), 0)
				errs <- err
			}()
		}
		synctest.Wait()
		th.close(&shutError{words: "no money", until: time.Now().Add(time.Hour)})
		for range 3 {
			assert.ErrorContains(t, <-errs, "no money")
		}
		_, err := th.enter(t.Context(), 0)
		require.ErrorContains(t, err, "no money")
		<-time.After(time.Hour)
		entered(t, th).leave()
	})
}

func TestTheHistoryIsBounded(t *testing.T) {
	th := throttleOf(10_000)
	th.slowStart = false
	for range 200 {
		for range 40 {
			th.limit++
			th.record("grow")
		}
		th.limit = max(1, float64(int(th.limit)/2))
		th.record("rate_limit")
	}
	history, _ := th.report()
	assert.LessOrEqual(t, len(history), measurements.MaxConcurrencyHistory)
	assert.Equal(t, int(th.limit), history[len(history)-1].Limit, "the end is there")
}
