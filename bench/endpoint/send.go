package endpoint

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"strings"
	"sync/atomic"
	"time"

	"github.com/youden-bench/youden/bench/ledger"
	"github.com/youden-bench/youden/bench/redact"
)

// sending is what one attempt sends, and for whom.
type sending struct {
	x       *exchange
	request object
	form    form
	body    []byte // the request, encoded
	slot    *slot
}

// send puts one attempt on the wire and says what became of it.
func (t *transport) send(ctx context.Context, a ledger.Attempt, s *sending) ledger.SendResult {
	defer t.watchdog.watch(t)()
	within, clock := t.opts.Timeouts.start(ctx)
	defer clock.stop()
	var connected atomic.Bool
	within = httptrace.WithClientTrace(within, &httptrace.ClientTrace{
		GotConn:      func(httptrace.GotConnInfo) { connected.Store(true) },
		WroteRequest: func(httptrace.WroteRequestInfo) { clock.expect(firstByte, t.opts.Timeouts.FirstByte) },
	})
	req, err := http.NewRequestWithContext(within, http.MethodPost, t.target.String(), bytes.NewReader(s.body))
	if err != nil {
		return ledger.SendResult{NotSent: t.failure(ctx, within, err, nil)}
	}
	t.setHeaders(req, a)
	if t.pool == nil { // nothing tells when the request was written
		clock.expect(firstByte, t.opts.Timeouts.FirstByte)
	}
	sent := t.opts.Clock()
	resp, err := t.rt.RoundTrip(req)
	if err != nil {
		f := t.failure(ctx, within, err, nil)
		if !connected.Load() && (t.pool != nil || neverConnected(err)) {
			return ledger.SendResult{NotSent: f}
		}
		return ledger.SendResult{Unknown: f}
	}
	raw, cut, err := readBody(resp, clock, t.opts.Timeouts)
	if err != nil {
		return ledger.SendResult{Unknown: t.failure(ctx, within, err, raw)}
	}
	clean, redacted := t.filter.Known(raw)
	got := &ledger.Got{
		HTTP: resp.StatusCode, Header: keep(resp.Header, t.filter), Body: clean, Cut: cut, Redacted: redacted,
		Sent: sent, Received: t.opts.Clock(),
	}
	t.receive(s, got)
	return ledger.SendResult{Got: got}
}

// receive reads an answer when it arrives, completes its record and tells the others
// what it says to all.
func (t *transport) receive(s *sending, got *ledger.Got) {
	r := t.interpret(s.x, got.HTTP, got.Header, got.Body, got.Cut)
	s.x.fresh = &r
	status, after := got.HTTP, time.Duration(0)
	if r.err != nil { // a header of a good answer is the limits' affair
		after, _ = asked(got.Header, r.err, got.Received)
		if r.code != 0 {
			status = r.code
		}
	}
	// What holds for all is known before the slot is free for the next one.
	lesson := t.lesson(s.request, s.form, r)
	if lesson != 0 {
		t.learn(lesson, r)
	}
	if e := t.quota(r, got.Header, got.Received); e != nil {
		t.throttle.close(e)
	}
	s.slot.answer(got.Header, status, after)
	// A refusal that teaches settles its bytes: they are not sent again, and the
	// lesson can be learned from the ledger.
	got.Final = settles(r.Status) || lesson != 0
	got.Outcome, got.Usage, got.CostMicros = string(r.Status), usageRecord(r.Usage), r.CostMicros
}

// setHeaders replaces all headers. NewRequest sets GetBody, which lets net/http move
// to another connection when the one from the pool turned out closed before a byte
// was written. With an Idempotency-Key it would also resend a request that was
// executed, so there never is one (spec/ledger.md section 3.2).
func (t *transport) setHeaders(req *http.Request, a ledger.Attempt) {
	req.Header = http.Header{
		"Content-Type": {"application/json"}, "Accept": {"application/json"},
		"User-Agent": {"youden"}, attemptHeader: {a.Header()},
	}
	if !t.opts.Key.IsZero() {
		req.Header.Set("Authorization", "Bearer "+t.opts.Key.Reveal())
	}
}

// readBody reads the whole body, up to the limit, and requires its end. On an
// error it returns what arrived.
func readBody(resp *http.Response, clock *stopwatch, timeouts Timeouts) (raw []byte, cut bool, err error) {
	// Closing before the end drops the connection, which is what an oversize
	// answer is worth. After the end there is nothing that could fail.
	defer resp.Body.Close()
	clock.expect(moreBytes, timeouts.Idle)
	var from io.Reader = &lively{resp.Body, clock, timeouts}
	if !resp.Uncompressed && strings.EqualFold(resp.Header.Get("Content-Encoding"), "gzip") {
		if from, err = gzip.NewReader(from); err != nil {
			return nil, false, fmt.Errorf("the answer says it is gzip and is not: %w", err)
		}
	}
	size := min(max(resp.ContentLength, 0), maxResponse) + bytes.MinRead
	buffer := bytes.NewBuffer(make([]byte, 0, size))
	_, err = buffer.ReadFrom(io.LimitReader(from, maxResponse+1))
	raw = buffer.Bytes()
	if len(raw) > maxResponse {
		return raw[:maxResponse], true, nil
	}
	if err != nil {
		return raw, false, fmt.Errorf("the answer broke off after %d bytes: %w", len(raw), err)
	}
	return raw, false, nil
}

// kept are the headers of an answer that are evidence. No cookies, nothing that
// could identify an account.
var kept = []string{
	"content-type", "date", "retry-after", "retry-after-ms", "x-should-retry", "x-request-id",
	"openai-processing-ms", "openai-version", "x-simulated",
	"x-ratelimit-limit-requests", "x-ratelimit-remaining-requests", "x-ratelimit-reset-requests",
	"x-ratelimit-limit-tokens", "x-ratelimit-remaining-tokens", "x-ratelimit-reset-tokens",
	"x-ratelimit-limit", "x-ratelimit-remaining", "x-ratelimit-reset",
	"ratelimit-limit", "ratelimit-remaining", "ratelimit-reset",
}

// keptAs maps the names as net/http has them to ours.
var keptAs = func() map[string]string {
	out := make(map[string]string, len(kept))
	for _, name := range kept {
		out[http.CanonicalHeaderKey(name)] = name
	}
	return out
}()

func keep(h http.Header, filter *redact.Filter) map[string]string {
	out := make(map[string]string, len(h))
	for canonical, values := range h {
		if name, ok := keptAs[canonical]; ok && len(values) > 0 && values[0] != "" {
			out[name] = strings.ToValidUTF8(filter.String(values[0]), "\uFFFD") // as JSON will keep it
		}
	}
	return out
}
