// Package budget keeps a capture within its caps of money, calls, tokens and time.
//
// It is opinionated about what may be promised. Before an attempt is sent, the most
// that it can come to is reserved; it is refused when that would cross a cap, and
// what it did not need is free again once its outcome is known. So no cap is ever
// crossed, at any concurrency, as long as the worst case is one; and where an
// attempt turns out to have come to more, that is counted in full, reported, and
// every later reservation is raised by as much. What an attempt came to and nobody
// knows counts as its whole reservation: spend is never reported too low. An attempt
// that does not fit now waits while those under way may still free enough for it. A
// refusal is final.
//
// Money is whole micro-USD. The package knows no endpoint and no price: its caller
// says what an attempt can come to.
package budget

import (
	"context"
	"slices"
	"sync"
	"time"
)

// Budget is shared by all who spend from it.
type Budget struct {
	caps       Caps
	dimensions []dimension
	now        func() time.Time
	started    time.Time

	mu       sync.Mutex
	before   time.Duration // that earlier processes took
	spent    Amount
	unknown  Amount // the part of spent that is a worst case, because nobody knows better
	held     map[*Reservation]struct{}
	reserved Amount // the sum of held
	raise    raise
	overruns []Overrun
	longest  time.Duration // of the attempts that were answered
	waiting  []*waiter
}

// Reservation is what is set aside for one attempt until it is settled.
type Reservation struct {
	worst Amount // as it was estimated
	held  Amount // as it is set aside
	since time.Time
}

// waiter is an attempt that does not fit now. done is closed once it got its
// reservation or its refusal.
type waiter struct {
	worst Amount
	done  chan struct{}
	got   *Reservation
	err   error
}

// Past is what was spent before, by earlier processes.
type Past struct {
	Known   Amount
	Unknown Amount        // worst cases of attempts of which nobody knows what they came to
	Active  time.Duration // that these processes took
}

// State is what a budget has come to.
type State struct {
	Caps     Caps
	Spent    Amount
	Unknown  Amount // the part of Spent that is a worst case, because nobody knows better
	Held     Amount // for attempts under way
	Waiting  int    // attempts that do not fit now
	Elapsed  time.Duration
	Overruns []Overrun // those that went further beyond their reservation than any before
}

// New returns a budget of which nothing is spent. Its time begins now.
func New(caps Caps, now func() time.Time) *Budget {
	return &Budget{
		caps: caps, dimensions: caps.dimensions(), now: now, started: now(),
		held: map[*Reservation]struct{}{}, raise: unraised,
	}
}

// Count adds what was spent before.
func (b *Budget) Count(p Past) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.spent = b.spent.Plus(p.Known).Plus(p.Unknown)
	b.unknown = b.unknown.Plus(p.Unknown)
	b.before += p.Active
	b.serve()
}

// State returns what the budget has come to.
func (b *Budget) State() State {
	b.mu.Lock()
	defer b.mu.Unlock()
	return State{
		Caps: b.caps, Spent: b.spent, Unknown: b.unknown, Held: b.reserved, Waiting: len(b.waiting),
		Elapsed: b.elapsed(), Overruns: slices.Clone(b.overruns),
	}
}

// Reserve sets the worst case of an attempt aside. Where that does not fit it waits
// until it does, until nothing under way can free enough any more (RefusedError),
// until Drain (ErrDrained), or until ctx ends (its cause).
func (b *Budget) Reserve(ctx context.Context, worst Amount) (*Reservation, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	w := b.ask(worst)
	select {
	case <-w.done:
		return w.got, w.err
	case <-ctx.Done():
	}
	return nil, b.abandon(w, context.Cause(ctx))
}

// Settle ends a reservation with what the attempt came to: zero when it was not
// sent, nil when nobody knows, which spends the whole reservation. A second end of a
// reservation, and one of nil, change nothing.
func (b *Budget) Settle(r *Reservation, actual *Amount) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if _, open := b.held[r]; !open {
		return
	}
	if actual == nil {
		b.spent, b.unknown = b.spent.Plus(r.held), b.unknown.Plus(r.held)
	} else {
		b.came(r, actual.valid())
	}
	b.release(r)
	b.serve()
}

// came counts what is known of an attempt.
func (b *Budget) came(r *Reservation, actual Amount) {
	b.spent = b.spent.Plus(actual)
	if actual.Calls > 0 {
		b.longest = max(b.longest, b.now().Sub(r.since))
	}
	if actual.Micros <= r.held.Micros && actual.Tokens <= r.held.Tokens {
		return
	}
	b.overruns = append(b.overruns, Overrun{Reserved: r.held, Actual: actual})
	b.raise.learn(r.worst, actual)
	for other := range b.held {
		other.held = b.raise.of(other.worst)
	}
}

// release takes a reservation away. The sum is made anew: an overrun may have
// changed all of it.
func (b *Budget) release(r *Reservation) {
	delete(b.held, r)
	b.reserved = Amount{}
	for other := range b.held {
		b.reserved = b.reserved.Plus(other.held)
	}
}

// Drain sends away who waits: they have not been sent, and somebody wants to stop.
func (b *Budget) Drain() {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, w := range b.waiting {
		w.err = ErrDrained
		close(w.done)
	}
	b.waiting = nil
}

// Within is ctx, cancelled once the time that is left is over, if time is capped; the
// cause is then a RefusedError. It is no deadline: whoever is cut off by it was not
// too slow.
func (b *Budget) Within(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	if b.caps.Time == nil {
		return ctx, func() { cancel(nil) }
	}
	b.mu.Lock()
	left := *b.caps.Time - b.elapsed()
	b.mu.Unlock()
	end := time.AfterFunc(left, func() { cancel(b.timeIsUp()) })
	return ctx, func() { end.Stop(); cancel(nil) }
}

// ask decides at once, or puts the attempt on the list of those that wait.
func (b *Budget) ask(worst Amount) *waiter {
	b.mu.Lock()
	defer b.mu.Unlock()
	w := &waiter{worst: worst.valid(), done: make(chan struct{})}
	if !b.decide(w) {
		b.waiting = append(b.waiting, w)
	}
	return w
}

// abandon takes an attempt off the list whose caller left; what it got meanwhile is
// free again.
func (b *Budget) abandon(w *waiter, cause error) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.waiting = slices.DeleteFunc(b.waiting, func(other *waiter) bool { return other == w })
	if w.got != nil {
		b.release(w.got)
		b.serve()
	}
	return cause
}

// serve decides about those that wait, in the order in which they came. A smaller
// one may pass a larger one, which loses nothing: what it waits for is still there
// to be freed, or its refusal is.
func (b *Budget) serve() {
	b.waiting = slices.DeleteFunc(b.waiting, b.decide)
}

// decide grants or refuses what can be, and reports whether it did.
func (b *Budget) decide(w *waiter) bool {
	now := b.now()
	if b.timeRunsOut(now) {
		w.err = b.timeRefusal(now)
		close(w.done)
		return true
	}
	need := b.raise.of(w.worst)
	fits := true
	for _, d := range b.dimensions {
		if d.cap == nil {
			continue
		}
		if plus(d.of(b.spent), d.of(need)) > *d.cap {
			w.err = b.refusal(d, need, d.of(need) > d.of(w.worst))
			close(w.done)
			return true
		}
		fits = fits && plus(plus(d.of(b.spent), d.of(b.reserved)), d.of(need)) <= *d.cap
	}
	if fits {
		w.got = &Reservation{worst: w.worst, held: need, since: now}
		b.held[w.got] = struct{}{}
		b.reserved = b.reserved.Plus(need)
		close(w.done)
	}
	return fits
}

func (b *Budget) refusal(d dimension, need Amount, raised bool) *RefusedError {
	e := &RefusedError{Flag: d.flag, Cap: d.print(*d.cap), Raised: raised}
	used := d.of(b.spent)
	if used > 0 && used != *d.cap {
		e.Used = d.print(used)
	}
	if used == 0 || used < *d.cap {
		e.Needed = d.print(d.of(need))
	}
	return e
}

func (b *Budget) elapsed() time.Duration { return b.before + b.now().Sub(b.started) }

// timeRunsOut reports whether an attempt that begins now may not end in time. The
// longest attempt that was answered so far stands for the worst case: before there
// is one, only the end itself refuses.
func (b *Budget) timeRunsOut(now time.Time) bool {
	return b.caps.Time != nil && b.before+now.Sub(b.started)+b.longest >= *b.caps.Time
}

func (b *Budget) timeRefusal(now time.Time) *RefusedError {
	e := b.timeIsUp()
	if gone := b.before + now.Sub(b.started); gone < *b.caps.Time {
		e.Used, e.Needed = gone.Round(time.Millisecond).String(), b.longest.Round(time.Millisecond).String()
	}
	return e
}

func (b *Budget) timeIsUp() *RefusedError {
	return &RefusedError{Flag: "--max-time", Cap: b.caps.Time.String()}
}
