package endpoint

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/youden-bench/youden/measurements"
)

// firstLimit is how many calls are under way before anything is known of an
// endpoint.
const firstLimit = 8

// throttle decides when an attempt may be sent. All callers of a client share it,
// since they share the endpoint: what it told one of them holds for all.
//
// The number of calls under way follows the endpoint as TCP follows a network: it
// doubles with every round until the first rate limit, then grows by one a round,
// is halved at a rate limit, and grows only while it is what holds callers back.
type throttle struct {
	clock    func() time.Time
	wait     func(context.Context, time.Duration) error
	ceiling  int
	patience time.Duration

	mu        sync.Mutex
	limit     float64
	slowStart bool
	inFlight  int
	queue     []chan struct{} // callers that wait for a slot, the first one first
	sends     int             // so far
	cuts      int             // of the limit, so far
	notBefore time.Time       // what the endpoint asked for
	budgets   budgets
	shut      *shutError // nil = open
	life      context.Context
	end       context.CancelCauseFunc
	givenUp   int  // calls in a row that ended in an error of the endpoint
	answered  bool // in whatever way
	proven    bool // with an answer that counts
	history   []measurements.ConcurrencyChange
	waits     struct{ slot, limit, retry time.Duration }
}

// shutError says why nothing more is sent.
type shutError struct {
	words   string
	until   time.Time // zero = unknown
	drained bool      // by the operator, not by the endpoint
}

func (e *shutError) Error() string { return e.words }

func newThrottle(o Options) *throttle {
	t := &throttle{clock: o.Clock, wait: o.Wait, ceiling: o.Concurrency, patience: o.Retry.MaxWait, slowStart: true}
	t.limit = float64(min(firstLimit, o.Concurrency))
	t.life, t.end = context.WithCancelCause(context.Background())
	return t
}

// slot is the right to have one attempt under way.
type slot struct {
	t         *throttle
	left      bool
	saturated bool // it was the last one
	cuts      int
	seq       int
	tokens    float64
}

// enter waits until an attempt with a prompt of that many tokens may be sent.
func (t *throttle) enter(ctx context.Context, tokens float64) (*slot, error) {
	for {
		t.mu.Lock()
		now := t.clock()
		if err := t.refusal(now); err != nil {
			t.mu.Unlock()
			return nil, err
		}
		if until := t.blockedUntil(tokens, now); until.After(now) {
			t.wake() // a smaller call may fit
			t.mu.Unlock()
			if err := t.pause(ctx, until.Sub(now), &t.waits.limit); err != nil {
				return nil, err
			}
			continue
		}
		if t.inFlight < int(t.limit) {
			s := t.take(tokens)
			t.record("start")
			t.mu.Unlock()
			return s, nil
		}
		turn := make(chan struct{})
		t.queue = append(t.queue, turn)
		life := t.life
		t.mu.Unlock()
		if err := t.await(ctx, life, turn, now); err != nil {
			return nil, err
		}
	}
}

// take gives out a slot. The lock is held.
func (t *throttle) take(tokens float64) *slot {
	t.inFlight++
	t.sends++
	t.budgets.spend(tokens)
	return &slot{
		t: t, cuts: t.cuts, seq: t.sends, tokens: tokens,
		saturated: t.inFlight >= int(t.limit),
	}
}

// open reports whether the endpoint takes attempts now: it may have asked to be left
// alone, or been shut, since a slot was given out.
func (t *throttle) open() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.shut == nil && !t.notBefore.After(t.clock())
}

func (t *throttle) blockedUntil(tokens float64, now time.Time) time.Time {
	until := t.budgets.blockedUntil(tokens, now)
	if t.notBefore.After(until) {
		until = t.notBefore
	}
	return until
}

// await waits for a turn. Whoever leaves the queue without having used its turn
// passes it on.
func (t *throttle) await(ctx, life context.Context, turn chan struct{}, since time.Time) error {
	var err error
	select {
	case <-turn:
	case <-ctx.Done():
		err = context.Cause(ctx)
	case <-life.Done():
		err = context.Cause(life)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.waits.slot += t.clock().Sub(since)
	if err != nil {
		if i := slices.Index(t.queue, turn); i >= 0 {
			t.queue = slices.Delete(t.queue, i, i+1)
		} else {
			t.wake()
		}
	}
	return err
}

// wake calls those who wait for the free slots. The lock is held.
func (t *throttle) wake() {
	n := min(int(t.limit)-t.inFlight, len(t.queue))
	for range n {
		close(t.queue[0])
		t.queue = t.queue[1:]
	}
}

// pause waits for d, or until the caller or the endpoint is done with, and adds the
// time to sum.
func (t *throttle) pause(ctx context.Context, d time.Duration, sum *time.Duration) error {
	t.mu.Lock()
	life, start := t.life, t.clock()
	t.mu.Unlock()
	within, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(life, func() { cancel(context.Cause(life)) })()
	err := t.wait(within, d)
	t.mu.Lock()
	*sum += t.clock().Sub(start)
	t.mu.Unlock()
	if err != nil {
		return context.Cause(within)
	}
	return nil
}

// wait is the natural way to let time pass.
func wait(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// leave gives the slot back, once.
func (s *slot) leave() {
	s.t.mu.Lock()
	defer s.t.mu.Unlock()
	s.release()
}

func (s *slot) release() {
	if !s.left {
		s.left = true
		s.t.inFlight--
		s.t.wake()
	}
}

// answer takes what an answer says to all callers and gives the slot back.
func (s *slot) answer(header map[string]string, status int, asked time.Duration) {
	t := s.t
	t.mu.Lock()
	defer t.mu.Unlock()
	now := t.clock()
	t.answered = true
	t.budgets.note(header, s.tokens, t.ceiling, t.sends-s.seq, now, t.patience)
	if asked > 0 && asked <= t.patience {
		if until := now.Add(asked); until.After(t.notBefore) {
			t.notBefore = until
		}
	}
	switch {
	case overloaded(status):
		t.cut(s)
	case status < 400 && (s.saturated || len(t.queue) > 0) && int(t.limit) < t.ceiling:
		t.grow()
	}
	s.release()
}

// overloaded reports whether a status says that there are too many calls: 529 is
// Anthropic's word.
func overloaded(status int) bool { return status == http.StatusTooManyRequests || status == 529 }

// cut halves the limit, once for all the calls that were under way together.
func (t *throttle) cut(s *slot) {
	if s.cuts != t.cuts {
		return
	}
	t.cuts++
	t.slowStart = false
	t.limit = max(1, float64(int(t.limit)/2))
	t.record("rate_limit")
}

func (t *throttle) grow() {
	if t.slowStart {
		t.limit++
	} else {
		t.limit += 1 / t.limit
	}
	t.limit = min(t.limit, float64(t.ceiling))
	t.record("grow")
}

// record writes a change of the limit down. The lock is held.
func (t *throttle) record(why string) {
	limit := int(t.limit)
	if n := len(t.history); n > 0 && (t.history[n-1].Limit == limit || why == "start") {
		return
	}
	if len(t.history) >= measurements.MaxConcurrencyHistory {
		t.history = thinned(t.history)
	}
	t.history = append(t.history, measurements.ConcurrencyChange{At: t.clock().UTC(), Limit: limit, InFlight: t.inFlight, Why: why})
}

// thinned drops every other step of growth, and when there is none the older half:
// the cuts tell the story.
func thinned(h []measurements.ConcurrencyChange) []measurements.ConcurrencyChange {
	out := h[:0:0]
	odd := false
	for _, c := range h {
		if c.Why == "grow" {
			if odd = !odd; odd {
				continue
			}
		}
		out = append(out, c)
	}
	if len(out) > len(h)*3/4 {
		out = out[len(out)/2:]
	}
	return out
}

// refusal says whether nothing is sent any more. The lock is held. A quota whose
// end is known is over then.
func (t *throttle) refusal(now time.Time) error {
	if t.shut == nil {
		return nil
	}
	if t.shut.until.IsZero() || now.Before(t.shut.until) {
		return t.shut
	}
	t.shut = nil
	t.life, t.end = context.WithCancelCause(context.Background())
	return nil
}

// close ends all waits and refuses what comes after.
func (t *throttle) close(e *shutError) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.shut == nil || e.drained {
		t.shut = e
		t.end(e)
	}
}

// gaveUp counts a call that ended in an error of the endpoint in spite of all.
func (t *throttle) gaveUp() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.givenUp++
}

// prove counts a good answer. One from the ledger shows that the endpoint is the right
// one, and not that it is up.
func (t *throttle) prove(replayed bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.proven = true
	if !replayed {
		t.givenUp = 0
	}
}

// standing says what is known of the endpoint, and for how long it still wants to be
// left alone. When as many calls in a row were given up as there are callers, each of
// the many others would only wait out its own retries.
func (t *throttle) standing() (s standing, floor time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return standing{nobody: !t.answered, unproven: !t.proven, down: t.givenUp >= t.ceiling}, max(0, t.notBefore.Sub(t.clock()))
}

func (e *shutError) untilWords() string {
	if e.until.IsZero() {
		return ""
	}
	return fmt.Sprintf("; it can go on after %s", e.until.UTC().Format(time.RFC3339))
}

// errDrained is why waits end when the operator stops a capture.
var errDrained = &shutError{words: "stopped by the operator before another attempt", drained: true}

// report is the history so far and the sums of the waits.
func (t *throttle) report() ([]measurements.ConcurrencyChange, *measurements.Waits) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Clone(t.history), &measurements.Waits{
		SlotMS: t.waits.slot.Milliseconds(), LimitMS: t.waits.limit.Milliseconds(), RetryMS: t.waits.retry.Milliseconds(),
	}
}
