package endpoint

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"
)

// phase is what a call is waiting for.
type phase string

const (
	firstByte phase = "the first byte of the answer"
	moreBytes phase = "more of the answer"
	theEnd    phase = "the whole answer"
)

// overdueError says what did not come in time.
type overdueError struct {
	phase phase
	after time.Duration
}

func (e *overdueError) Error() string {
	return fmt.Sprintf("waited %s for %s", e.after, e.phase)
}

// stopwatch ends a call that waits too long for its next sign of life. The total
// time runs beside it, and no sign of life prolongs that.
type stopwatch struct {
	cancel context.CancelCauseFunc
	total  *time.Timer

	mu    sync.Mutex
	over  bool
	timer *time.Timer
	phase phase
	limit time.Duration
}

// start begins the time of one attempt.
func (t Timeouts) start(ctx context.Context) (context.Context, *stopwatch) {
	within, cancel := context.WithCancelCause(ctx)
	total := time.AfterFunc(t.Total, func() { cancel(&overdueError{theEnd, t.Total}) })
	return within, &stopwatch{cancel: cancel, total: total}
}

// expect waits for something new. That the request was written may be told after the
// answer began, and then says nothing.
func (s *stopwatch) expect(p phase, limit time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.over || p == firstByte && s.phase == moreBytes {
		return
	}
	s.phase, s.limit = p, limit
	if s.timer == nil {
		s.timer = time.AfterFunc(limit, s.expire)
		return
	}
	s.timer.Reset(limit)
}

func (s *stopwatch) expire() {
	s.mu.Lock()
	e := &overdueError{s.phase, s.limit}
	s.mu.Unlock()
	s.cancel(e)
}

// stop ends all timers.
func (s *stopwatch) stop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.over = true
	if s.timer != nil {
		s.timer.Stop()
	}
	s.total.Stop()
	s.cancel(nil)
}

// lively reads a body and takes each byte as a sign of life: blank lines and
// comments of a queue too (spec/peers.md section 3.2, row 25).
type lively struct {
	from     io.Reader
	clock    *stopwatch
	timeouts Timeouts
}

func (l *lively) Read(p []byte) (int, error) {
	n, err := l.from.Read(p)
	if n > 0 {
		l.clock.expect(moreBytes, l.timeouts.Idle)
	}
	return n, err
}

// overdue returns what ended a call early, if that was its stopwatch.
func overdue(ctx context.Context) (*overdueError, bool) {
	var e *overdueError
	ok := errors.As(context.Cause(ctx), &e)
	return e, ok
}
