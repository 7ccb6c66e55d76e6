package endpoint

import (
	"context"
	"errors"
	"fmt"

	"github.com/youden-bench/youden/bench/budget"
	"github.com/youden-bench/youden/bench/ledger"
	"github.com/youden-bench/youden/detector"
)

// Budget is asked about each attempt that would be sent, and about no replay.
// *budget.Budget is one.
type Budget interface {
	// Reserve sets the worst case of an attempt aside, or refuses it.
	Reserve(ctx context.Context, worst budget.Amount) (*budget.Reservation, error)
	// Settle says what the attempt came to; nil = nobody knows.
	Settle(r *budget.Reservation, actual *budget.Amount)
}

// errLater says that an attempt was held back by what was learned of the endpoint
// while it waited for the budget.
var errLater = errors.New("another attempt taught that this one must not be sent now")

// paid makes one attempt of a call, or replays its answer. Each attempt is reserved by
// itself, whatever it is for, just before its dispatch is recorded, and settled once its
// outcome is. So a replay and an answer that another caller's attempt brings reserve
// nothing, and no reservation is held while a call waits for its turn or for another
// attempt. What the budget does not allow is not sent, and leaves no record.
func (t *transport) paid(ctx context.Context, x *exchange, call ledger.Call, s *sending, send ledger.Send) (result ledger.Result, err error) {
	var held *budget.Reservation
	var actual *budget.Amount // nil = nobody knows
	if t.opts.Budget != nil {
		defer func() { t.opts.Budget.Settle(held, actual) }() // also when something panics
	}
	result, err = t.opts.Ledger.DoIf(ctx, x.sample, call, func(ctx context.Context) (err error) {
		if t.opts.Budget != nil {
			held, err = t.opts.Budget.Reserve(ctx, worst(len(call.Body), s.request, t.opts.Price, t.opts.MaxTokens))
		}
		if err == nil && (t.learning.form() != s.form || !t.throttle.open()) {
			actual, err = &budget.Amount{}, errLater
		}
		return err
	}, send)
	if err == nil {
		actual = cameTo(result.Observation, result.NotSent, t.opts.Price)
	}
	return result, err
}

// addedTokens is how much a server is taken to add to a prompt: the chat template,
// what it says about tools, a system prompt of its own.
const addedTokens = 1024

// worst is the most that one attempt with a body of this size can come to. No
// tokenizer makes more tokens of a text than it has bytes: those that know a text at
// all fall back to its bytes. The JSON around and inside the texts is longer than
// what a template makes of it, and what the server adds besides is allowed for. The
// answer is as long as the body allows, or limit where it says nothing.
func worst(size int, body object, price *Price, limit int) budget.Amount {
	prompt, completion := int64(size)+addedTokens, int64(-1)
	for _, field := range []string{fieldMaxTokens, fieldMaxCompletionTokens} {
		if n := body.integer(field); n != nil {
			completion = max(completion, *n)
		}
	}
	if completion < 0 {
		completion = int64(limit)
	}
	return budget.Amount{Micros: price.AtMost(prompt, completion), Calls: 1, Tokens: prompt + completion}
}

// cameTo is what an attempt came to, by what the ledger has of it; nil where nobody
// knows. A usage without a prompt is none: some servers report zeros.
func cameTo(o *ledger.Observation, notSent *ledger.NotSent, price *Price) *budget.Amount {
	switch {
	case notSent != nil:
		return &budget.Amount{}
	case o == nil:
		return nil
	}
	u := o.Usage
	if u == nil || u.Prompt == nil || u.Completion == nil || *u.Prompt == 0 {
		if unbilled(o.HTTP) {
			return &budget.Amount{Calls: 1}
		}
		return nil
	}
	a := budget.Amount{Calls: 1, Tokens: *u.Prompt + *u.Completion}
	if u.Reasoning != nil && *u.Reasoning > *u.Completion {
		a.Tokens += *u.Reasoning // counted side by side, see Price.cost
	}
	if price == nil {
		return &a
	}
	micros := price.cost(detector.Usage{Prompt: u.Prompt, Completion: u.Completion, Reasoning: u.Reasoning, Cached: u.Cached})
	if micros == nil {
		return nil
	}
	a.Micros = *micros
	return &a
}

// unbilled reports whether an answer of this status says that no model was asked
// (spec/ledger.md section 3.2). After a 408, a 409 or a 5xx one may have been.
func unbilled(status int) bool {
	return status >= 300 && status < 500 && status != 408 && status != 409 && status != 499
}

// Spent is what all attempts of a ledger came to, at a price. Those that were sent
// and of which nobody knows what they came to count at their worst. limit is the
// token limit of answers where a request names none.
func Spent(ctx context.Context, l *ledger.Ledger, price *Price, limit int) (budget.Past, error) {
	s := tally{ledger: l, price: price, limit: limit, requests: map[ledger.Digest]ledger.Digest{}}
	for leaf, err := range l.Leaves(ctx) {
		var r ledger.Record
		if err == nil {
			r, err = leaf.Record()
		}
		if err == nil {
			err = s.add(r)
		}
		if err != nil {
			return budget.Past{}, fmt.Errorf("adding up what was spent: %w", err)
		}
	}
	s.past.Active = s.span.sum()
	return s.past, nil
}

// tally adds up what attempts came to.
type tally struct {
	ledger   *ledger.Ledger
	price    *Price
	limit    int
	past     budget.Past
	span     span
	requests map[ledger.Digest]ledger.Digest // of the attempts without an outcome
}

func (s *tally) add(r ledger.Record) error {
	s.span.add(r)
	var attempt ledger.Digest
	switch {
	case r.Dispatch != nil:
		s.requests[r.Dispatch.Attempt] = r.Dispatch.Request
		return nil
	case r.Observation != nil:
		attempt = r.Observation.Attempt
	case r.NotSent != nil:
		attempt = r.NotSent.Attempt
	case r.Indeterminate != nil:
		attempt = r.Indeterminate.Attempt
	default:
		return nil
	}
	request := s.requests[attempt]
	delete(s.requests, attempt)
	if a := cameTo(r.Observation, r.NotSent, s.price); a != nil {
		s.past.Known = s.past.Known.Plus(*a)
		return nil
	}
	body, err := s.ledger.Body(request)
	if err != nil {
		return err
	}
	s.past.Unknown = s.past.Unknown.Plus(worst(len(body), document(body), s.price, s.limit))
	return nil
}

// Loopback reports whether a base URL leads to this machine.
func Loopback(baseURL string) bool {
	e, err := ledger.ParseEndpoint(baseURL)
	return err == nil && isLoopback(e.Host)
}
