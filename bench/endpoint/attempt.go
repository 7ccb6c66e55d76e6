package endpoint

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/youden-bench/youden/bench/ledger"
	"github.com/youden-bench/youden/detector"
)

// ask makes the attempts of one call. The exchange holds the last one's outcome; an
// error means that there is none.
func (t *transport) ask(ctx context.Context, x *exchange, asked object) error {
	if found, err := t.replay(ctx, x, asked); found || err != nil {
		return err
	}
	x.tries.retry = t.opts.Retry
	for {
		f := t.learning.form()
		if again, err := t.attempt(ctx, x, t.complete(x, asked, f), f); !again {
			return err
		}
	}
}

// replay finds an answer that the call got in an older form of the request, before
// the endpoint had taught all of its lessons. It must not be paid again.
func (t *transport) replay(ctx context.Context, x *exchange, asked object) (found bool, err error) {
	for f := range t.learning.older {
		request := t.complete(x, asked, f)
		call := t.call(request.encode())
		if !t.opts.Ledger.Settled(x.sample, call) {
			continue
		}
		if x.result, err = t.opts.Ledger.Do(ctx, x.sample, call, refuseToSend); err != nil {
			return false, err
		}
		if x.reading = t.read(x); t.lesson(request, f, x.reading) == 0 {
			return true, nil
		}
		x.outdate()
	}
	return false, nil
}

// refuseToSend stands for the sender where the answer is known to be recorded.
func refuseToSend(context.Context, ledger.Attempt) ledger.SendResult {
	return ledger.SendResult{NotSent: &ledger.Failure{Outcome: string(detector.Transient), Cause: "the recorded answer is gone"}}
}

func (t *transport) call(body []byte) ledger.Call {
	return ledger.Call{Adapter: adapter, Endpoint: t.base, Method: http.MethodPost, Path: callPath, Body: body}.Hashed()
}

// errUnrecorded says that a call has no recorded answer, and that only those count.
var errUnrecorded = errors.New("the call has no recorded answer")

// attempt makes one attempt, or replays a recorded answer, and says whether another
// one is to follow.
func (t *transport) attempt(ctx context.Context, x *exchange, request object, f form) (again bool, err error) {
	call := t.call(request.encode())
	s := &sending{x: x, request: request, form: f, body: call.Body}
	send := refuseToSend
	if !t.opts.Ledger.Settled(x.sample, call) {
		if recalls(ctx) {
			return false, errUnrecorded
		}
		if s.slot, err = t.throttle.enter(ctx, x.prompt.roughly()); err != nil {
			return false, x.halt(err)
		}
		defer s.slot.leave()
		send = func(ctx context.Context, a ledger.Attempt) ledger.SendResult { return t.send(ctx, a, s) }
	}
	x.fresh = nil
	result, err := t.paid(ctx, x, call, s, send)
	if errors.Is(err, errLater) {
		return true, nil
	}
	if err != nil {
		return false, x.halt(err)
	}
	x.result = result
	x.reading = t.read(x)
	if lesson := t.lesson(request, f, x.reading); lesson != 0 {
		t.learn(lesson, x.reading)
		x.outdate()
		return true, nil
	}
	if s.slot != nil {
		s.slot.leave()
	}
	t.weigh(x)
	return t.further(ctx, x)
}

// weigh changes the status of an answer where more is known of the endpoint than the
// answer says.
func (t *transport) weigh(x *exchange) {
	o := x.result.Observation
	if o == nil {
		return
	}
	if e := t.quota(x.reading, o.Header, time.Unix(0, o.Received)); e != nil {
		x.reading.Status, x.reading.Detail = detector.RateLimited, e.words
	}
	// Where a model answered before, a page comes from a gateway in trouble. Where none
	// ever did, the address is wrong, and the next thousand calls meet the same page.
	if standing, _ := t.throttle.standing(); x.reading.page && standing.unproven {
		x.reading.Status = detector.Config
	}
}

// lesson returns what a refusal teaches that the form of the request did not know
// yet: an endpoint that goes on refusing teaches nothing more.
func (t *transport) lesson(request object, f form, r reading) form {
	if lesson := t.learning.pupil.lesson(request, r); !f.has(lesson) {
		return lesson
	}
	return 0
}

// learn takes a lesson, and says so once.
func (t *transport) learn(lesson form, r reading) {
	said := t.filter.String(r.err.message)
	if t.learning.add(lesson, said) {
		words := lessonWords[lesson]
		t.warn.once(fmt.Sprintf("lesson %d", lesson), fmt.Sprintf("endpoint %s refuses %s (%s): %s from now on; captures with other parameters are not comparable",
			t.opts.Name, words[0], clip(said, 160), words[1]))
	}
}

// quota says whether an endpoint told that more calls are of no use for longer than
// anyone should wait; nil = it did not.
func (t *transport) quota(r reading, header map[string]string, received time.Time) *shutError {
	busy := r.Status == detector.Transient && (r.code == http.StatusServiceUnavailable || overloaded(r.code))
	if r.err == nil || r.Status != detector.RateLimited && !busy {
		return nil
	}
	after, known := asked(header, r.err, received)
	spent := CauseOf(r.Answer) == CauseQuota
	tooLong := known && after > t.opts.Retry.MaxWait || !known && r.err.ofTheDay()
	if !spent && !tooLong {
		return nil
	}
	e := &shutError{words: r.Detail}
	if !spent {
		e.words = CauseQuota.detail(r.Detail)
	}
	if known && after > 0 {
		e.until = received.Add(after)
	}
	e.words += e.untilWords()
	return e
}

// further decides about another attempt and waits for it.
func (t *transport) further(ctx context.Context, x *exchange) (again bool, err error) {
	m := mishapOf(x.result, x.reading, t.opts.Ledger.RetriesIndeterminate())
	if m == noMishap {
		if x.reading.err == nil && settles(x.reading.Status) {
			t.throttle.prove(x.result.Replayed)
		}
		return false, nil
	}
	now := t.opts.Clock()
	standing, floor := t.throttle.standing()
	after, again := x.tries.next(m, standing, now, floor, t.opts.Random())
	if deadline, set := ctx.Deadline(); set && again && now.Add(after).After(deadline) {
		again = false
	}
	if !again {
		t.throttle.gaveUp()
		x.reading.Detail += x.tries.summary(now)
		return false, nil
	}
	if err := t.throttle.pause(ctx, after, &t.throttle.waits.retry); err != nil {
		return false, x.halt(err)
	}
	return true, nil
}
