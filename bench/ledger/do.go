package ledger

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"time"
)

// SendResult is what an adapter says of one attempt: exactly one of its fields
// is set.
type SendResult struct {
	Got     *Got
	NotSent *Failure
	Unknown *Failure
}

// Got is a complete HTTP answer of any status.
type Got struct {
	HTTP       int
	Header     map[string]string // an allow-list: no credentials
	Body       []byte
	Cut        bool // the body went on, we stopped reading
	Redacted   bool
	Final      bool   // settles the sample; otherwise a later Do tries again
	Outcome    string // the adapter's word for it
	Usage      *Usage
	CostMicros *int64
	Sent       time.Time
	Received   time.Time
}

// Failure is an attempt without a complete answer.
type Failure struct {
	Outcome string // the adapter's word for it
	Cause   string // in plain words, without secrets
	Partial []byte // what arrived of the answer
}

// Send sends an attempt. It is called at most once for each attempt.
type Send func(ctx context.Context, a Attempt) SendResult

// Gate is asked before an attempt is recorded: whether it may be sent at all, which
// may take a while. An error ends the call, and nothing of it is recorded.
type Gate func(ctx context.Context) error

// Result is a durable answer of Do: the attempt it comes from, and exactly one
// of Observation, NotSent and Indeterminate.
type Result struct {
	Attempt       Attempt
	Observation   *Observation
	Body          []byte // of the observation; shared, not to be changed
	NotSent       *NotSent
	Indeterminate *Indeterminate
	Replayed      bool // from the ledger, nothing was sent
	Joined        bool // from a call of this process that was under way
	Sent          int  // attempts of the sample so far that may have reached the endpoint
	Orphans       int  // those of them whose process ended before their answer came
}

// ErrIndeterminate says that the sample's last attempt was sent and nobody knows
// what became of it. The ledger's policy does not allow another one.
var ErrIndeterminate = errors.New("an earlier attempt of this call was sent and nobody knows what became of it; resume with --indeterminate retry to send it again, knowing that it may be paid twice")

// flight is a call under way in this process.
type flight struct {
	done   chan struct{}
	result Result
	err    error
	none   bool // ended before anything was recorded; a waiter tries by itself
}

// Do returns the answer of a sample. A recorded one is replayed; one that is
// under way is waited for; else call is recorded, sent once and its outcome
// recorded, all durably, before Do returns. An error means that there is no
// durable answer; when ctx ends before the dispatch is recorded, nothing is.
func (l *Ledger) Do(ctx context.Context, s Sample, c Call, send Send) (Result, error) {
	return l.DoIf(ctx, s, c, nil, send)
}

// DoIf is Do with a gate, which is asked only where Do would send: not for an answer
// that is replayed or that a call under way will bring.
func (l *Ledger) DoIf(ctx context.Context, s Sample, c Call, gate Gate, send Send) (Result, error) {
	request := c.request()
	call := c.digest(request)
	if s.Call.IsZero() {
		s.Call = call
	} else if s.Call != call {
		return Result{}, fmt.Errorf("the sample is of call %s and the call given is %s", s.Call, call)
	}
	id := s.Digest()
	for {
		f, leads, err := l.admit(id)
		if err != nil {
			return Result{}, err
		}
		if leads {
			d := draw{Ledger: l, id: id, sample: s, call: c, request: request}
			d.run(ctx, f, gate, send)
			return f.result, f.err
		}
		l.at("joined")
		select {
		case <-f.done:
		case <-ctx.Done():
			return Result{}, context.Cause(ctx)
		}
		if f.none {
			continue
		}
		joined := f.result
		joined.Joined = f.err == nil
		return joined, f.err
	}
}

// admit returns the flight of a sample, and whether the caller has to lead it.
func (l *Ledger) admit(id Digest) (f *flight, leads bool, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if f, under := l.flights[id]; under {
		return f, false, nil
	}
	if l.closed {
		return nil, false, ErrClosed
	}
	if err := l.Err(); err != nil {
		return nil, false, err
	}
	f = &flight{done: make(chan struct{})}
	l.flights[id] = f
	l.live.Add(1)
	return f, true, nil
}

// draw is one leader's way through Do.
type draw struct {
	*Ledger
	id      Digest
	sample  Sample
	call    Call
	request Digest
}

func (d *draw) run(ctx context.Context, f *flight, gate Gate, send Send) {
	defer func() {
		d.mu.Lock()
		delete(d.flights, d.id)
		d.mu.Unlock()
		close(f.done)
		d.live.Done()
	}()
	f.err = errors.New("the call ended without an outcome") // if send panics
	before := d.state()
	switch {
	case before != nil && before.state == settled:
		f.result, f.err = d.replay(*before)
	case d.opts.ReadOnly:
		f.err = ErrReadOnly
	case before != nil && before.state == indeterminate && d.opts.Indeterminate != Retry:
		f.err = ErrIndeterminate
	case ctx.Err() != nil:
		f.none, f.err = true, context.Cause(ctx)
	default:
		if gate != nil {
			if err := gate(ctx); err != nil {
				f.none, f.err = true, err
				return
			}
		}
		f.result, f.err = d.attempt(ctx, before, send)
	}
}

// state returns what is known of the sample. The flight owns it until it ends.
func (d *draw) state() *sampleState {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.find(d.id)
}

func (d *draw) setState(s sampleState) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.keep(d.id, s)
}

// attempt makes and sends the sample's next attempt.
func (d *draw) attempt(ctx context.Context, before *sampleState, send Send) (Result, error) {
	a, known, err := d.dispatch(before)
	if err != nil {
		return Result{}, err
	}
	d.at("dispatched")
	var sent SendResult
	if ctx.Err() != nil {
		sent.NotSent = &Failure{Outcome: "cancelled", Cause: "the call was cancelled before it was sent"}
	} else {
		sent = d.send(ctx, a, known, send)
	}
	d.at("sent")
	r, err := d.record(a, known, sent)
	if err != nil {
		return Result{}, err
	}
	d.at("observed")
	return r, nil
}

// dispatch records the next attempt and its request, durably.
func (d *draw) dispatch(before *sampleState) (Attempt, sampleState, error) {
	known := sampleState{seq: 1, sent: 1, state: dispatching}
	var parent *Digest
	var records []Record
	now := d.now()
	if before != nil {
		parent = &before.last
		known.seq, known.sent, known.orphans = before.seq+1, before.sent+1, before.orphans
		if before.state == indeterminate {
			records = append(records, Record{At: now, Resolution: &Resolution{
				Attempt: before.last, To: "retry", Actor: "policy", Reason: "indeterminate = retry",
			}})
		}
	}
	a := newAttempt(d.Ledger.id, d.id, known.seq, parent)
	known.last = a.ID
	records = append(records, Record{At: now, Dispatch: &Dispatch{
		Attempt: a.ID, Seq: a.Seq, Parent: parent, Generation: d.generation,
		Sample: d.id, Scope: d.sample.Scope, Index: d.sample.Index, Epoch: d.sample.Epoch,
		Call: d.sample.Call, Adapter: d.call.Adapter, Endpoint: d.call.Endpoint,
		Method: d.call.Method, Path: d.call.Path, Request: d.request,
	}})
	if _, err := d.write.append([]Body{d.codec.pack(d.call.Body, d.request)}, records...); err != nil {
		return Attempt{}, sampleState{}, fmt.Errorf("recording a call before it is sent: %w", err)
	}
	d.setState(known)
	return a, known, nil
}

// send calls the adapter. If that panics, the attempt's fate is recorded before
// the panic goes on.
func (d *draw) send(ctx context.Context, a Attempt, known sampleState, send Send) (sent SendResult) {
	returned := false
	defer func() {
		if !returned {
			// The panic is the error to see, not a second one here.
			_, _ = d.record(a, known, SendResult{Unknown: &Failure{Outcome: "transient", Cause: "the adapter panicked"}})
		}
	}()
	sent = send(ctx, a)
	returned = true
	return sent
}

// record makes the outcome of an attempt durable.
func (d *draw) record(a Attempt, known sampleState, sent SendResult) (Result, error) {
	r := Result{Attempt: a}
	record := Record{At: d.now()}
	var bodies []Body
	switch {
	case sent.Got != nil:
		body := d.codec.pack(sent.Got.Body, sha256.Sum256(sent.Got.Body))
		bodies = append(bodies, body)
		r.Observation, r.Body = observation(a, sent.Got, body.SHA), sent.Got.Body
		record.Observation = r.Observation
		known.state = answered
		if sent.Got.Final {
			known.state = settled
		}
	case sent.NotSent != nil:
		r.NotSent = &NotSent{Attempt: a.ID, Outcome: sent.NotSent.Outcome, Cause: sent.NotSent.Cause}
		record.NotSent = r.NotSent
		known.state = notSent
		known.sent--
	default:
		r.Indeterminate = &Indeterminate{Attempt: a.ID, Outcome: "transient", Cause: "the adapter did not say what became of the call"}
		if f := sent.Unknown; f != nil {
			r.Indeterminate.Outcome, r.Indeterminate.Cause = f.Outcome, f.Cause
			if len(f.Partial) > 0 {
				body := d.codec.pack(f.Partial, sha256.Sum256(f.Partial))
				bodies = append(bodies, body)
				r.Indeterminate.Partial = &body.SHA
			}
		}
		record.Indeterminate = r.Indeterminate
		known.state = indeterminate
	}
	n, err := d.write.append(bodies, record)
	if err != nil {
		return Result{}, fmt.Errorf("recording the outcome of a call: %w", err)
	}
	known.leaf = n
	d.setState(known)
	r.Sent, r.Orphans = int(known.sent), int(known.orphans)
	return r, nil
}

func observation(a Attempt, g *Got, response Digest) *Observation {
	return &Observation{
		Attempt: a.ID, HTTP: g.HTTP, Header: g.Header, Response: response, Cut: g.Cut, Redacted: g.Redacted,
		Final: g.Final, Outcome: g.Outcome, Usage: g.Usage, CostMicros: g.CostMicros,
		Sent: g.Sent.UnixNano(), Received: g.Received.UnixNano(),
	}
}

// replay reads the sample's answer back.
func (d *draw) replay(known sampleState) (Result, error) {
	r := Result{
		Attempt:  Attempt{Sample: d.id, Seq: known.seq},
		Replayed: true, Sent: int(known.sent), Orphans: int(known.orphans),
	}
	record, err := d.leaf(known.leaf)
	if err != nil {
		return Result{}, fmt.Errorf("replaying a recorded call: %w", err)
	}
	if record.Observation == nil {
		return Result{}, fmt.Errorf("replaying a recorded call: leaf %d is no observation: the ledger is damaged", known.leaf)
	}
	r.Observation, r.Attempt.ID = record.Observation, record.Observation.Attempt
	if r.Body, err = d.Body(record.Observation.Response); err != nil {
		return Result{}, fmt.Errorf("replaying a recorded call: %w", err)
	}
	return r, nil
}
