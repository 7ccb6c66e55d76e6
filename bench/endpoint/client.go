// Package endpoint calls OpenAI-compatible endpoints for programs that know no
// HTTP.
//
// It is opinionated about evidence. The bytes of each request and each answer are
// what the ledger keeps, and an answer is read from those bytes alone: whether it
// comes from the wire or from the ledger makes no difference. Nothing is sent
// that is not recorded first, nothing is retried or redirected behind the
// caller's back, and no proxy of the environment stands between. Every call ends
// in exactly one status of the table in DESIGN section 5; an outage is never
// silence and a cut answer is never a verdict.
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
	"time"
	"unicode/utf8"

	openai "github.com/sashabaranov/go-openai"

	"github.com/youden-bench/youden/bench/budget"
	"github.com/youden-bench/youden/bench/ledger"
	"github.com/youden-bench/youden/detector"
)

// Client calls one model of one endpoint. It implements detector.Model.
type Client struct {
	opts      Options
	openai    *openai.Client
	transport *transport
	warnings  []string
}

var _ detector.Model = (*Client)(nil)

// New checks the options and returns a client. Nothing is sent.
func New(o Options) (*Client, error) {
	base, warnings, err := o.check()
	if err != nil {
		return nil, fmt.Errorf("endpoint %s: %w", o.Name, err)
	}
	t, err := newTransport(o, base)
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

// Simulated reports whether the endpoint is a simulation, which every table and
// page has to say.
func (c *Client) Simulated() bool { return c.opts.Simulated }

// Redact removes the endpoint's key from a text. Recorded bytes are free of it
// already; a text that was decoded from them may spell it anew.
func (c *Client) Redact(text string) string {
	clean, _ := c.transport.filter.Known([]byte(text))
	return string(clean)
}

// CloseIdle closes connections that wait for another call.
func (c *Client) CloseIdle() { c.transport.closeIdle() }

// Complete sends one request, once, and reads its answer; or replays a recorded
// one. The context must carry the run's index (WithSample). An error is a status
// of the answer.
func (c *Client) Complete(ctx context.Context, req detector.Request) detector.Answer {
	k, ok := sampleOf(ctx)
	if !ok {
		return answer(detector.Config, "the request has no run index: wrap the context with endpoint.WithSample, so that the draw is recorded")
	}
	if bad := c.refuse(req); bad.Status != "" {
		return bad
	}
	messages, err := encodeMessages(req.Messages)
	if err != nil {
		return answer(detector.Config, fmt.Sprintf("the request could not be built: %v", err))
	}
	x := &exchange{
		sample:   ledger.Sample{Scope: c.opts.Scope, Index: k},
		messages: messages, seed: req.Seed, maxTokens: c.limit(req),
	}
	_, err = c.openai.CreateChatCompletion(withExchange(ctx, x), chatRequest(req))
	switch {
	case x.err != nil:
		return c.failed(ctx, x.err)
	case !x.done: // go-openai refused the request before the transport saw it
		return answer(detector.Config, c.transport.filter.String(fmt.Sprintf("the request could not be built: %v", err)))
	}
	return c.read(x)
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
	var refused *budget.RefusedError
	switch {
	case errors.As(err, &refused):
		return answer(detector.Cancelled, CauseBudget.detail(words))
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

// read turns a durable outcome into an answer. A fresh answer was read when it
// arrived; any other is read from its bytes here, by the same code.
func (c *Client) read(x *exchange) detector.Answer {
	r := x.result
	var a detector.Answer
	switch {
	case r.Observation != nil:
		if x.answer != nil {
			a = *x.answer
		} else {
			a = c.transport.interpret(r.Observation.HTTP, r.Observation.Header, r.Body, r.Observation.Cut)
		}
		a.Started = time.Unix(0, r.Observation.Sent).UTC()
		a.Latency = time.Duration(r.Observation.Received - r.Observation.Sent)
	case r.NotSent != nil:
		a = answer(detector.Status(r.NotSent.Outcome), r.NotSent.Cause)
	case r.Indeterminate != nil:
		a = answer(detector.Status(r.Indeterminate.Outcome), r.Indeterminate.Cause)
	}
	a.Receipt = r.Attempt.ID.String()
	// Attempts that a crash of this program left open are in the ledger and its
	// spend. They are no retries that the endpoint made necessary, and a resumed
	// capture must equal one that was never killed.
	a.Attempts = r.Sent - r.Orphans
	a.Replayed = r.Replayed
	return a
}

func answer(s detector.Status, detail string) detector.Answer {
	return detector.Answer{Status: s, Detail: detail}
}
