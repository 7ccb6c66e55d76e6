package budget

import (
	"context"
	"errors"
	"math"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func to[T any](v T) *T { return &v }

func micros(n int64) Caps { return Caps{Micros: &n} }

// still is a clock that stands.
func still() time.Time { return time.Unix(1_800_000_000, 0) }

func reserve(t *testing.T, b *Budget, worst Amount) *Reservation {
	t.Helper()
	r, err := b.Reserve(t.Context(), worst)
	require.NoError(t, err)
	return r
}

func refused(t *testing.T, b *Budget, worst Amount) *RefusedError {
	t.Helper()
	_, err := b.Reserve(t.Context(), worst)
	var e *RefusedError
	require.ErrorAs(t, err, &e)
	return e
}

func TestWithoutCapsEverythingFits(t *testing.T) {
	b := New(Caps{}, still)
	r := reserve(t, b, Amount{math.MaxInt64, 1, math.MaxInt64})
	b.Settle(r, nil)
	b.Settle(reserve(t, b, Amount{math.MaxInt64, 1, 1}), &Amount{math.MaxInt64, 1, 1})
	assert.Equal(t, Amount{math.MaxInt64, 2, math.MaxInt64}, b.State().Spent, "a sum that does not fit is not small")
}

func TestACapMayBeReachedAndNotCrossed(t *testing.T) {
	for name, c := range map[string]struct {
		caps Caps
		one  Amount
		text string
	}{
		"cost":   {Caps{Micros: to(int64(1_000_000))}, Amount{250_000, 1, 10}, "the budget of $1.00 is spent"},
		"calls":  {Caps{Calls: to(int64(4))}, Amount{9, 1, 10}, "the budget of 4 calls is spent"},
		"tokens": {Caps{Tokens: to(int64(40))}, Amount{9, 1, 10}, "the budget of 40 tokens is spent"},
		"all":    {Caps{to(int64(9999)), to(int64(4)), to(int64(9999)), to(time.Hour)}, Amount{9, 1, 10}, "the budget of 4 calls is spent"},
	} {
		t.Run(name, func(t *testing.T) {
			b := New(c.caps, still)
			for range 4 {
				b.Settle(reserve(t, b, c.one), &c.one)
			}
			assert.EqualError(t, refused(t, b, c.one), c.text)
			assert.Equal(t, c.one.Times(4), b.State().Spent)
		})
	}
}

func TestWhatARefusalSays(t *testing.T) {
	b := New(micros(1_000_000), still)
	assert.EqualError(t, refused(t, b, Amount{Micros: 1_200_000}), "the budget of $1.00 does not hold the next call, which may come to $1.20")
	b.Settle(reserve(t, b, Amount{Micros: 987_100}), &Amount{Micros: 987_100})
	e := refused(t, b, Amount{Micros: 31_200})
	assert.EqualError(t, e, "the budget of $1.00 is spent: $0.9871 so far, and the next call may come to $0.0312")
	assert.Equal(t, "--max-cost", e.Flag)
	b.Settle(reserve(t, b, Amount{Micros: 1}), &Amount{Micros: 100_000, Calls: 1})
	assert.EqualError(t, refused(t, b, Amount{Micros: 1}), "the budget of $1.00 is spent: $1.0871 so far")
	none := New(micros(0), still)
	assert.EqualError(t, refused(t, none, Amount{Micros: 1}), "the budget of $0.00 does not hold the next call, which may come to $0.000001")
}

// What was not needed, or not sent, is free again; what nobody knows is spent.
func TestSettle(t *testing.T) {
	b := New(micros(100), still)
	worst := Amount{60, 1, 5}
	b.Settle(reserve(t, b, worst), &Amount{})
	assert.Equal(t, Amount{}, b.State().Spent, "not sent")
	r := reserve(t, b, worst)
	assert.Equal(t, worst, b.State().Held)
	b.Settle(r, &Amount{30, 1, 2})
	b.Settle(r, &Amount{30, 1, 2})
	b.Settle(nil, nil)
	assert.Equal(t, Amount{30, 1, 2}, b.State().Spent, "once")
	assert.Equal(t, Amount{}, b.State().Held)
	b.Settle(reserve(t, b, worst), nil)
	s := b.State()
	assert.Equal(t, Amount{90, 2, 7}, s.Spent)
	assert.Equal(t, worst, s.Unknown)
	_ = refused(t, b, worst)
	b.Settle(reserve(t, b, Amount{10, 1, 1}), &Amount{-5, -1, -1})
	assert.Equal(t, Amount{90, 2, 7}, b.State().Spent, "no attempt pays back")
}

func TestThePastCounts(t *testing.T) {
	b := New(micros(100), still)
	b.Count(Past{Known: Amount{50, 3, 9}, Unknown: Amount{20, 1, 4}})
	assert.Equal(t, Amount{70, 4, 13}, b.State().Spent)
	assert.Equal(t, Amount{20, 1, 4}, b.State().Unknown)
	_ = refused(t, b, Amount{Micros: 31})
	reserve(t, b, Amount{Micros: 30})
}

// An attempt that came to more than its reservation is counted in full and told, and
// what follows, or is under way, is held at as much more.
func TestOverrun(t *testing.T) {
	b := New(Caps{Micros: to(int64(1000)), Tokens: to(int64(10_000))}, still)
	under := reserve(t, b, Amount{100, 1, 40})
	r := reserve(t, b, Amount{100, 1, 40})
	b.Settle(r, &Amount{250, 1, 100})
	s := b.State()
	assert.Equal(t, Amount{250, 1, 100}, s.Spent)
	assert.Equal(t, Amount{250, 1, 100}, s.Held, "the one under way may do the same")
	require.Len(t, s.Overruns, 1)
	assert.Equal(t, "a call used 100 tokens where at most 40 were reserved: does the endpoint keep its token limit?", s.Overruns[0].String())
	b.Settle(under, &Amount{250, 1, 100})
	assert.Len(t, b.State().Overruns, 1, "it is covered by now")
	e := refused(t, b, Amount{201, 1, 40})
	assert.EqualError(t, e, "the budget of $0.001 is spent: $0.0005 so far, and the next call may come to $0.000503, raised because an earlier call used more than was reserved for it")
	b.Settle(reserve(t, b, Amount{200, 1, 40}), nil)
	assert.Equal(t, int64(1000), b.State().Spent.Micros, "what is unknown counts as raised")
	assert.Equal(t, "a call cost $0.000002 where at most $0.000001 was reserved: does the endpoint keep its token limit?", Overrun{Amount{1, 1, 1}, Amount{2, 1, 1}}.String())
}

// A refusal is final only when nothing under way can free enough.
func TestWhoWaitsIsServedOrRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := New(micros(100), time.Now)
		first := reserve(t, b, Amount{Micros: 80})
		type end struct {
			r   *Reservation
			err error
		}
		ask := func(n int64) chan end {
			ch := make(chan end, 1)
			go func() {
				r, err := b.Reserve(t.Context(), Amount{Micros: n})
				ch <- end{r, err}
			}()
			synctest.Wait()
			return ch
		}
		large, small, larger := ask(90), ask(30), ask(60)
		assert.Empty(t, large)
		assert.Empty(t, small)
		b.Settle(first, &Amount{Micros: 20, Calls: 1})
		synctest.Wait()
		e := <-large
		var refusal *RefusedError
		require.ErrorAs(t, e.err, &refusal)
		got := <-small
		require.NoError(t, got.err)
		assert.Empty(t, larger, "30 under way may still free what it needs")
		b.Settle(got.r, &Amount{})
		synctest.Wait()
		require.NoError(t, (<-larger).err)
	})
}

func TestWhoLeavesTakesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := New(micros(100), time.Now)
		first := reserve(t, b, Amount{Micros: 100})
		ctx, cancel := context.WithCancelCause(t.Context())
		left, drained := make(chan error, 1), make(chan error, 1)
		go func() { _, err := b.Reserve(ctx, Amount{Micros: 100}); left <- err }()
		synctest.Wait()
		why := errors.New("enough")
		cancel(why)
		assert.ErrorIs(t, <-left, why)
		_, err := b.Reserve(ctx, Amount{})
		require.ErrorIs(t, err, why)
		go func() { _, err := b.Reserve(t.Context(), Amount{Micros: 100}); drained <- err }()
		synctest.Wait()
		b.Drain()
		assert.ErrorIs(t, <-drained, ErrDrained)
		b.Settle(first, &Amount{})
		b.Settle(reserve(t, b, Amount{Micros: 100}), &Amount{})
	})
}

// Whoever leaves in the moment of being served gives back what they got.
func TestLeavingAndBeingServedAtOnce(t *testing.T) {
	b := New(micros(100), still)
	w := b.ask(Amount{Micros: 100})
	require.NotNil(t, w.got)
	require.ErrorIs(t, b.abandon(w, context.Canceled), context.Canceled)
	assert.Equal(t, Amount{}, b.State().Held)
	reserve(t, b, Amount{Micros: 100})
}

func TestTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := New(Caps{Time: to(10 * time.Second)}, time.Now)
		b.Count(Past{Active: 2 * time.Second})
		r := reserve(t, b, Amount{Calls: 1})
		time.Sleep(3 * time.Second)
		b.Settle(r, &Amount{Calls: 1})
		b.Settle(reserve(t, b, Amount{Calls: 1}), &Amount{})
		time.Sleep(time.Second)
		b.Settle(reserve(t, b, Amount{Calls: 1}), &Amount{Calls: 1})
		time.Sleep(time.Second)
		assert.EqualError(t, refused(t, b, Amount{Calls: 1}), "the budget of 10s is spent: 7s so far, and the next call may come to 3s", "7 s are gone, and one that was answered took 3")
		assert.Equal(t, 7*time.Second, b.State().Elapsed)
		ctx, cancel := b.Within(t.Context())
		defer cancel()
		<-ctx.Done()
		assert.Equal(t, 10*time.Second, b.State().Elapsed)
		var e *RefusedError
		require.ErrorAs(t, context.Cause(ctx), &e)
		assert.Equal(t, "--max-time", e.Flag)
		open, free := New(Caps{}, time.Now).Within(t.Context())
		free()
		assert.ErrorIs(t, context.Cause(open), context.Canceled)
	})
}

// 64 callers against a cap that fits 10 worst cases: 10 when all cost the worst
// case, more when they cost half.
func TestSixtyFourCallers(t *testing.T) {
	for name, c := range map[string]struct{ cost, calls int64 }{"worst": {100, 10}, "half": {50, 19}, "free": {0, 64}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := New(micros(1000), time.Now)
				var sent, under, most atomic.Int64
				var callers sync.WaitGroup
				for n := range 64 {
					callers.Go(func() {
						r, err := b.Reserve(t.Context(), Amount{Micros: 100, Calls: 1})
						if err != nil {
							return
						}
						sent.Add(1)
						now := under.Add(1)
						for old := most.Load(); now > old && !most.CompareAndSwap(old, now); old = most.Load() {
						}
						time.Sleep(time.Duration(1+n%7) * time.Millisecond)
						s := b.State()
						assert.LessOrEqual(t, s.Spent.Micros+s.Held.Micros, int64(1000))
						under.Add(-1)
						b.Settle(r, &Amount{Micros: c.cost, Calls: 1})
					})
				}
				callers.Wait()
				assert.Equal(t, c.calls, sent.Load())
				assert.Equal(t, int64(10), most.Load())
				assert.Equal(t, Amount{Micros: c.calls * c.cost, Calls: c.calls}, b.State().Spent)
			})
		})
	}
}

func TestCaps(t *testing.T) {
	assert.Equal(t, "none", Caps{}.String())
	assert.False(t, Caps{}.Any())
	all := Caps{to(int64(1_500_000)), to(int64(1)), to(int64(1000)), to(time.Minute)}
	assert.True(t, all.Any())
	require.NoError(t, all.Check())
	assert.Equal(t, "$1.50, 1 call, 1000 tokens, 1m0s", all.String())
	require.ErrorContains(t, micros(-1).Check(), "--max-cost")
	require.ErrorContains(t, Caps{Time: to(-time.Second)}.Check(), "--max-time")
}
