// Package endpoint calls OpenAI-compatible endpoints for programs that know no
// HTTP.
//
// It is opinionated about evidence. The bytes of each request and each answer are
// what the ledger keeps, and an answer is read from those bytes alone: whether it
// comes from the wire or from the ledger makes no difference. Nothing is sent
// that is not recorded first, nothing is redirected, and nothing retried off the
// record, and no proxy of the environment stands between. Every call ends
// in exactly one status of the table in DESIGN section 5; an outage is never
// silence and a cut answer is never a verdict.
//
// It adapts to the endpoint, and says so. A refused parameter is learned once, kept
// for the plan and recorded; failures are tried again within a budget, each attempt
// on record; the callers of a client share what the endpoint said of its limits.
//
// The library go-openai builds and carries the requests. It never sees a key, the
// model's name, the messages or an answer that counts: its pitfalls
// (spec/libraries.md section 1.2) are all on the way out of, or back into, its
// structs.
package endpoint

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	openai "github.com/sashabaranov/go-openai"

	"github.com/youden-bench/youden/bench/budget"
	"github.com/youden-bench/youden/bench/ledger"
	"github.com/youden-bench/youden/detector"
	"github.com/youden-bench/youden/measurements"
)

// Client calls one model of one endpoint. It implements detector.Model.
type Client struct {
	opts      Options
	openai    *openai.Client
	transport *transport
	warnings  []string
	served    served
}

var _ detector.Model = (*Client)(nil)

// New checks the options and returns a client. Nothing is sent.
func New(o Options) (*Client, error) {
	base, warnings, err := o.check()
	if err != nil {
		return nil, fmt.Errorf("endpoint %s: %w", o.Name, err)
	}
	t, err := newTransport(o, base)
	if err == nil {
		err = t.remember(context.Background())
	}
	if err != nil {
		return nil, fmt.Errorf("endpoint %s: %w", o.Name, err)
	}
	config := openai.DefaultConfig("") // the transport sets the key on the wire
	config.BaseURL = o.BaseURL
	config.HTTPClient = t
	return &Client{opts: t.opts, openai: openai.NewClientWithConfig(config), transport: t, warnings: warnings}, nil
}

// Warnings are what New found doubtful but not wrong, in plain words.
func (c *Client) Warnings() []string { return c.warnings }

// Tell makes the client tell warn what is doubtful while calls are made: each thing
// once, never concurrently. It is called before the first call.
func (c *Client) Tell(warn func(string)) { c.transport.warn.tell = warn }

// Simulated reports whether the endpoint is a simulation, which every table and
// page has to say.
func (c *Client) Simulated() bool { return c.opts.Simulated }

// Redact removes the endpoint's key from a text. Recorded bytes are free of it
// already; a text that was decoded from them may spell it anew.
func (c *Client) Redact(text string) string {
	clean, found := c.transport.filter.Known([]byte(text))
	if !found {
		return text
	}
	return string(clean)
}

// CloseIdle closes connections that wait for another call.
func (c *Client) CloseIdle() { c.transport.closeIdle() }

// Drain ends all waits for another attempt, and refuses calls from now on; calls
// that are under way finish.
func (c *Client) Drain() { c.transport.throttle.close(errDrained) }

// Traffic is what became of the requests so far. parameters are the configured
// ones.
func (c *Client) Traffic(parameters map[string]any) measurements.Traffic {
	history, waits := c.transport.throttle.report()
	return measurements.Traffic{
		EffectiveParameters: c.transport.learning.effective(parameters),
		Learned:             c.transport.learning.known(),
		ConcurrencyHistory:  history,
		Served:              c.served.list(c.Redact),
		Waits:               waits,
	}
}

// Complete gets the answer to one request, with the attempts that it takes, or
// replays a recorded one. The context must carry the run's index (WithSample). An
// error is a status of the answer.
func (c *Client) Complete(ctx context.Context, req detector.Request) detector.Answer {
	k, ok := sampleOf(ctx)
	if !ok {
		return answer(detector.Config, "the request has no run index: wrap the context with endpoint.WithSample, so that the draw is recorded")
	}
	if bad := c.refuse(req); bad.Status != "" {
		return bad
	}
	x := &exchange{
		sample:   ledger.Sample{Scope: c.opts.Scope, Index: k},
		messages: req.Messages, prompt: prompt{req}, seed: req.Seed, maxTokens: c.limit(req),
	}
	defer x.borrow()()
	_, err := c.openai.CreateChatCompletion(withExchange(ctx, x), chatRequest(req))
	switch {
	case x.err != nil:
		return c.failed(ctx, x.err)
	case !x.done: // go-openai refused the request before the transport saw it
		return answer(detector.Config, c.transport.filter.String(fmt.Sprintf("the request could not be built: %v", err)))
	}
	return c.read(ctx, x)
}

// refuse returns the answer of a request that must not be sent.
func (c *Client) refuse(req detector.Request) detector.Answer {
	for i, m := range req.Messages {
		// encoding/json would replace the bytes, and the model would see another
		// program than the label was made for (spec/libraries.md 1.2, row 3).
		valid := utf8.ValidString(m.Content) && utf8.ValidString(m.Reasoning)
		for _, call := range m.ToolCalls {
			valid = valid && utf8.ValidString(call.Name) && utf8.ValidString(call.Arguments)
		}
		if !valid {
			return answer(detector.UnsupportedLanguage, fmt.Sprintf("message %d is not valid UTF-8 and was not sent: a repaired text would not be the one that was labelled", i+1))
		}
		if c.transport.holdsKey(m.Content) {
			return answer(detector.Config, fmt.Sprintf("message %d holds the value of the endpoint's own key and was not sent: take the key out of the corpus or the texts, and replace it at the provider", i+1))
		}
	}
	if req.Seed < 0 || req.Seed > 1<<53-1 {
		return answer(detector.Config, fmt.Sprintf("the seed %d is outside 0..2^53-1 and would not survive JSON", req.Seed))
	}
	return detector.Answer{}
}

// limit is the token limit of a request: its own, but never above the endpoint's.
func (c *Client) limit(req detector.Request) int {
	if req.MaxTokens > 0 {
		return min(req.MaxTokens, c.opts.MaxTokens)
	}
	return c.opts.MaxTokens
}

// failed is the answer when the ledger has none.
func (c *Client) failed(ctx context.Context, err error) detector.Answer {
	words := c.transport.filter.String(err.Error())
	var shut *shutError
	var refused *budget.RefusedError
	switch {
	case errors.As(err, &shut):
		return notSent(shut)
	case errors.As(err, &refused):
		return answer(detector.Cancelled, CauseBudget.detail(words))
	case errors.Is(err, errUnrecorded):
		return answer(detector.Cancelled, CauseUnrecorded.detail(words))
	case errors.Is(err, ledger.ErrIndeterminate):
		// It was sent by a process that is gone, and may have been billed: its
		// tokens and cost are unknown, not 0.
		a := answer(detector.Cancelled, CauseIndeterminate.detail(words))
		a.Attempts, a.Replayed = 1, true
		return a
	case errors.Is(err, budget.ErrDrained):
		return answer(detector.Cancelled, words)
	case ctx.Err() != nil && errors.Is(ctx.Err(), context.DeadlineExceeded):
		return answer(detector.Timeout, "the time for the run was over before the call was sent")
	case ctx.Err() != nil:
		return answer(detector.Cancelled, "stopped before the call was sent")
	}
	return answer(detector.Cancelled, CauseLedger.detail(words))
}

// read turns a durable outcome into an answer.
func (c *Client) read(ctx context.Context, x *exchange) detector.Answer {
	r, a := x.result, x.reading.Answer
	if r.Observation != nil {
		a.Started = time.Unix(0, r.Observation.Sent).UTC()
		a.Latency = time.Duration(r.Observation.Received - r.Observation.Sent)
	}
	a.Receipt = r.Attempt.ID.String()
	a.Attempts = x.earlier + x.sent()
	a.Replayed = r.Replayed
	if x.halted != nil {
		stopped := c.failed(ctx, x.halted)
		a.Status, a.Detail = stopped.Status, stopped.Detail+lastAttempt+a.Detail+")"
	}
	c.served.note(a, x.prompt.roughly(), c.opts, c.transport.warn)
	return a
}

// notSent is the answer of a call that found the endpoint shut.
func notSent(shut *shutError) detector.Answer {
	if shut.drained {
		return answer(detector.Cancelled, shut.words)
	}
	return answer(detector.RateLimited, CauseQuota.detail("not sent: "+strings.TrimPrefix(shut.words, CauseQuota.detail(""))))
}

func answer(s detector.Status, detail string) detector.Answer {
	return detector.Answer{Status: s, Detail: detail}
}
