package endpoint

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/youden-bench/youden/bench/ledger"
	"github.com/youden-bench/youden/bench/redact"
	"github.com/youden-bench/youden/detector"
)

// adapter is what the ledger knows this code as. The version rises when the same
// body would reach the server as another request.
var adapter = ledger.AdapterID{Name: "openai-chat", Version: "1"}

const (
	// maxResponse is where an answer becomes oversize (DESIGN section 5).
	maxResponse   = 5 << 20
	attemptHeader = "X-Youden-Attempt"
	callPath      = "/chat/completions"
)

// transport stands under go-openai in the place of an HTTP client. It completes
// the request, lets the ledger decide whether to send it, sends it at most once
// and keeps what came back.
type transport struct {
	opts   Options
	base   ledger.Endpoint
	target *url.URL
	fixed  object
	filter *redact.Filter
	rt     http.RoundTripper
	pool   *http.Transport // nil when the endpoint is in this process
}

func newTransport(o Options, base ledger.Endpoint) (*transport, error) {
	target, err := o.target()
	if err != nil {
		return nil, err
	}
	fixed, err := o.fixedFields()
	if err != nil {
		return nil, err
	}
	t := &transport{opts: o, base: base, target: target, fixed: fixed, filter: redact.NewFilter(o.Key), rt: o.Base}
	if t.rt == nil {
		t.pool = o.newRoundTripper()
		t.rt = t.pool
	}
	return t, nil
}

func (t *transport) closeIdle() {
	if t.pool != nil {
		t.pool.CloseIdleConnections()
	}
}

// minKey is the length from which a key is searched for in prompts: shorter ones
// are placeholders for servers that want none, and occur in any text.
const minKey = 8

func (t *transport) holdsKey(text string) bool {
	key := t.opts.Key.Reveal()
	return len(key) >= minKey && strings.Contains(text, key)
}

// Do is called by go-openai. It returns the recorded answer as a response of its
// own, whoever sent it and whenever.
func (t *transport) Do(req *http.Request) (*http.Response, error) {
	x := exchangeOf(req.Context())
	if x == nil {
		return nil, errors.New("endpoint: the request does not come from Client.Complete and would not be recorded")
	}
	body, err := t.complete(req, x)
	if err != nil {
		x.err = err
		return nil, err
	}
	call := ledger.Call{Adapter: adapter, Endpoint: t.base, Method: http.MethodPost, Path: callPath, Body: body}
	x.result, x.err = t.attempt(req.Context(), x, call)
	if x.err != nil {
		return nil, x.err
	}
	x.done = true
	if x.result.Observation == nil {
		return nil, errors.New("endpoint: the call has no answer")
	}
	return response(req, x.result), nil
}

// complete adds what belongs to the endpoint and to the run to the body that
// go-openai made, in canonical form.
func (t *transport) complete(req *http.Request, x *exchange) ([]byte, error) {
	raw := bytes.NewBuffer(make([]byte, 0, max(req.ContentLength, 0)+bytes.MinRead))
	if _, err := raw.ReadFrom(req.Body); err != nil {
		return nil, fmt.Errorf("endpoint: reading the request: %w", err)
	}
	f := parse(raw.Bytes()) // as encoding/json made it, so it is valid
	if f == nil {
		return nil, errors.New("endpoint: the request is no JSON object")
	}
	for k, v := range t.fixed {
		f[k] = v
	}
	f["messages"] = x.messages
	f[t.opts.MaxTokensField] = strconv.AppendInt(nil, int64(x.maxTokens), 10)
	f["seed"] = strconv.AppendInt(nil, x.seed, 10)
	return f.encode(), nil
}

// send puts one attempt on the wire and says what became of it.
func (t *transport) send(ctx context.Context, x *exchange, a ledger.Attempt, body []byte) ledger.SendResult {
	within, cancel := context.WithTimeout(ctx, t.opts.Timeouts.Total)
	defer cancel()
	var connected atomic.Bool
	within = httptrace.WithClientTrace(within, &httptrace.ClientTrace{
		GotConn: func(httptrace.GotConnInfo) { connected.Store(true) },
	})
	req, err := http.NewRequestWithContext(within, http.MethodPost, t.target.String(), bytes.NewReader(body))
	if err != nil {
		return ledger.SendResult{NotSent: t.failure(ctx, err, nil)}
	}
	// NewRequest sets GetBody, which lets net/http move to another connection
	// when the one from the pool turned out closed before a byte was written.
	// With an Idempotency-Key it would also resend a request that was executed,
	// so there never is one (spec/ledger.md section 3.2).
	req.Header = http.Header{
		"Content-Type": {"application/json"}, "Accept": {"application/json"},
		"User-Agent": {"youden"}, attemptHeader: {a.Header()},
	}
	if !t.opts.Key.IsZero() {
		req.Header.Set("Authorization", "Bearer "+t.opts.Key.Reveal())
	}
	sent := t.opts.Clock()
	resp, err := t.rt.RoundTrip(req)
	if err != nil {
		f := t.failure(ctx, err, nil)
		if !connected.Load() && (t.pool != nil || neverConnected(err)) {
			return ledger.SendResult{NotSent: f}
		}
		return ledger.SendResult{Unknown: f}
	}
	raw, cut, err := readBody(resp)
	if err != nil {
		return ledger.SendResult{Unknown: t.failure(ctx, err, raw)}
	}
	received := t.opts.Clock()
	clean, redacted := t.filter.Known(raw)
	header := keep(resp.Header, t.filter)
	read := t.interpret(resp.StatusCode, header, clean, cut)
	x.answer = &read
	return ledger.SendResult{Got: &ledger.Got{
		HTTP: resp.StatusCode, Header: header, Body: clean, Cut: cut, Redacted: redacted,
		Final: settles(read.Status), Outcome: string(read.Status),
		Usage: usageRecord(read.Usage), CostMicros: read.CostMicros, Sent: sent, Received: received,
	}}
}

// interpret reads an answer from what is stored of it, and nothing else.
func (t *transport) interpret(status int, header map[string]string, body []byte, cut bool) detector.Answer {
	a := interpret(status, header["content-type"], body, cut)
	a.CostMicros = t.opts.Price.cost(a.Usage)
	a.Detail = t.filter.String(a.Detail)
	return a
}

// readBody reads the whole body, up to the limit, and requires its end. On an
// error it returns what arrived.
func readBody(resp *http.Response) (raw []byte, cut bool, err error) {
	// Closing before the end drops the connection, which is what an oversize
	// answer is worth. After the end there is nothing that could fail.
	defer resp.Body.Close()
	var from io.Reader = resp.Body
	if !resp.Uncompressed && strings.EqualFold(resp.Header.Get("Content-Encoding"), "gzip") {
		if from, err = gzip.NewReader(resp.Body); err != nil {
			return nil, false, fmt.Errorf("the answer says it is gzip and is not: %w", err)
		}
	}
	raw, err = io.ReadAll(io.LimitReader(from, maxResponse+1))
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
}

func keep(h http.Header, filter *redact.Filter) map[string]string {
	out := map[string]string{}
	for _, name := range kept {
		if v := h.Get(name); v != "" {
			out[name] = strings.ToValidUTF8(filter.String(v), "\uFFFD") // as JSON will keep it
		}
	}
	return out
}

// response makes the recorded answer look like one from the wire.
func response(req *http.Request, r ledger.Result) *http.Response {
	h := http.Header{}
	for k, v := range r.Observation.Header {
		h.Set(k, v)
	}
	return &http.Response{
		Status:     fmt.Sprintf("%d %s", r.Observation.HTTP, http.StatusText(r.Observation.HTTP)),
		StatusCode: r.Observation.HTTP,
		Proto:      "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Header: h,
		Body: io.NopCloser(bytes.NewReader(r.Body)), ContentLength: int64(len(r.Body)), Request: req,
	}
}

func usageRecord(u detector.Usage) *ledger.Usage {
	if u == (detector.Usage{}) {
		return nil
	}
	return &ledger.Usage{Prompt: u.Prompt, Completion: u.Completion, Reasoning: u.Reasoning, Cached: u.Cached}
}
