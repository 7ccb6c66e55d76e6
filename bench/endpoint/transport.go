package endpoint

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"

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
// the request, lets the ledger decide whether to send it, makes the attempts that
// it takes and keeps what came back.
type transport struct {
	opts     Options
	base     ledger.Endpoint
	target   *url.URL
	fixed    object
	filter   *redact.Filter
	rules    rules
	learning learning
	throttle *throttle
	watchdog watchdog
	warn     *warnings
	rt       http.RoundTripper
	pool     *http.Transport // nil when the endpoint is in this process
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
	t := &transport{
		opts: o, base: base, target: target, fixed: fixed, filter: redact.NewFilter(o.Key), rt: o.Base,
		rules:    rules{fromReasoning: o.AnswerFromReasoning},
		learning: learning{pupil: o.pupil(), base: o.form()},
		throttle: newThrottle(o),
	}
	t.warn = &warnings{filter: t.filter}
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

// Do is called by go-openai, once for a call. What it returns says only whether
// there is an answer: the exchange holds it.
func (t *transport) Do(req *http.Request) (*http.Response, error) {
	x := exchangeOf(req.Context())
	if x == nil {
		return nil, errors.New("endpoint: the request does not come from Client.Complete and would not be recorded")
	}
	asked, err := bodyOf(req)
	if err == nil {
		err = t.ask(req.Context(), x, asked)
	}
	if err != nil {
		x.err = err
		return nil, err
	}
	x.done = true
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: io.NopCloser(strings.NewReader("{}")), Request: req}, nil
}

// bodyOf takes the body that go-openai made apart.
func bodyOf(req *http.Request) (object, error) {
	raw := bytes.NewBuffer(make([]byte, 0, max(req.ContentLength, 0)+bytes.MinRead))
	if _, err := raw.ReadFrom(req.Body); err != nil {
		return nil, fmt.Errorf("endpoint: reading the request: %w", err)
	}
	asked := parse(raw.Bytes()) // as encoding/json made it, so it is valid
	if asked == nil {
		return nil, errors.New("endpoint: the request is no JSON object")
	}
	return asked, nil
}

// complete adds what belongs to the endpoint and to the run to what the program
// asked, in the form that the endpoint takes.
func (t *transport) complete(x *exchange, asked object, f form) object {
	out := make(object, len(asked)+len(t.fixed)+4)
	for k, v := range asked {
		out[k] = v
	}
	for k, v := range t.fixed {
		out[k] = v
	}
	out["messages"] = x.encoded(f)
	field := t.learning.pupil.maxTokensField
	out[field] = strconv.AppendInt(nil, int64(x.maxTokens), 10)
	out["seed"] = strconv.AppendInt(nil, x.seed, 10)
	f.apply(out, field)
	return out
}

// interpret reads an answer from what is stored of it and of its request, and
// nothing else.
func (t *transport) interpret(x *exchange, status int, header map[string]string, body []byte, cut bool) reading {
	r := t.rules.interpret(status, header["content-type"], body, cut)
	if r.err == nil && (r.Status == detector.OK || r.Status.Class() == detector.Charged) {
		if words := cutPrompt(r.Usage, x.prompt, t.opts.PromptRatio); words != "" {
			r.Status, r.Detail = detector.Context, words
		}
	}
	r.CostMicros = t.opts.Price.cost(r.Usage)
	if r.Detail != "" {
		r.Detail = t.filter.String(r.Detail)
	}
	return r
}

// read reads the durable outcome of an attempt. A fresh answer was read when it
// arrived; any other is read from its bytes here, by the same code.
func (t *transport) read(x *exchange) reading {
	switch r := x.result; {
	case x.fresh != nil:
		return *x.fresh
	case r.Observation != nil:
		return t.interpret(x, r.Observation.HTTP, r.Observation.Header, r.Body, r.Observation.Cut)
	case r.NotSent != nil:
		return readAs(detector.Status(r.NotSent.Outcome), r.NotSent.Cause)
	default:
		return readAs(detector.Status(r.Indeterminate.Outcome), r.Indeterminate.Cause)
	}
}

func usageRecord(u detector.Usage) *ledger.Usage {
	if u == (detector.Usage{}) {
		return nil
	}
	return &ledger.Usage{Prompt: u.Prompt, Completion: u.Completion, Reasoning: u.Reasoning, Cached: u.Cached}
}
