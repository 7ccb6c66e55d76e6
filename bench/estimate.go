package bench

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/youden-bench/youden/bench/budget"
	"github.com/youden-bench/youden/bench/endpoint"
	"github.com/youden-bench/youden/bench/ledger"
	"github.com/youden-bench/youden/detector"
	"github.com/youden-bench/youden/measurements/compare"
)

// expectedAnswer is the part of the token limit that an answer is expected to take,
// where nothing was measured yet. The expected cost says so.
const expectedAnswer = 4

// longestSeed is the seed with the most digits.
const longestSeed = 1<<53 - 1

// bytesPerToken is what source code and English come to with common tokenizers.
const bytesPerToken = 4

// Estimate is what a plan comes to before anything is sent: the first call of each
// run. A program that goes on asking makes more of them.
type Estimate struct {
	Calls        int64
	PromptTokens int64         // expected
	Limit        int64         // tokens of all answers at their limit
	Worst        budget.Amount // as it will be reserved
	Fresh        budget.Amount // worst case of fresh runs of every family, where the plan has looks
	CostExpected *int64        // micro-USD; nil = the model has no price
	CostWorst    *int64
	smallest     budget.Amount // worst case of a single call
}

// gauge stands in the place of a budget: it notes what would be reserved, and lets
// nothing be sent.
type gauge struct {
	client *endpoint.Client
	limit  int // tokens of an answer
	sum    Estimate
}

var errGauged = errors.New("only planned")

// Complete measures a request.
func (g *gauge) Complete(ctx context.Context, req detector.Request) detector.Answer {
	before := g.sum.Calls
	a := g.client.Complete(ctx, req)
	if g.sum.Calls == before {
		return a // it would not have been sent
	}
	bytes, limit := 0, g.limit
	for _, m := range req.Messages {
		bytes += len(m.Content)
	}
	if req.MaxTokens > 0 {
		limit = min(limit, req.MaxTokens)
	}
	g.sum.PromptTokens += int64(bytes / bytesPerToken)
	g.sum.Limit += int64(limit)
	return a
}

// Reserve notes the worst case of an attempt.
func (g *gauge) Reserve(_ context.Context, worst budget.Amount) (*budget.Reservation, error) {
	if g.sum.Calls == 0 || worst.Micros < g.sum.smallest.Micros || worst.Micros == g.sum.smallest.Micros && worst.Tokens < g.sum.smallest.Tokens {
		g.sum.smallest = worst
	}
	g.sum.Calls++
	g.sum.Worst = g.sum.Worst.Plus(worst)
	return nil, errGauged
}

// Settle has nothing to do: nothing is reserved.
func (g *gauge) Settle(*budget.Reservation, *budget.Amount) {}

// Estimate measures the plan with the client that will carry it out, which sends
// nothing.
func (j *Job) Estimate(ctx context.Context) (e Estimate, err error) {
	l, err := ledger.OpenStore(ctx, ledger.NewMemory(), ledger.Options{})
	if err != nil {
		return e, fmt.Errorf("estimating the plan: %w", err)
	}
	defer func() { err = errors.Join(err, l.Close()) }()
	cfg := j.Request.Endpoint
	g := &gauge{limit: cfg.MaxTokens}
	if g.client, err = cfg.Connect(j.Request.EndpointName, l, "estimate", 1, g); err != nil {
		return e, fmt.Errorf("estimating the plan: %w", err)
	}
	for i := 0; i < j.Plan.Runs(); i += j.Plan.K {
		if cell := j.Plan.Run(i); cell.Reason == "" {
			target := j.Plan.target(cell)
			target.Seed = longestSeed // so that no other draw of the side is longer
			j.Program.Run(endpoint.WithSample(ctx, cell.K), target, g)
		}
	}
	price, err := cfg.Price.micros()
	if err != nil {
		return e, err
	}
	e = g.sum.times(int64(j.Plan.K), price)
	if len(j.Plan.Looks) > 0 {
		e.Fresh = g.sum.Worst.Times(compare.FreshRuns)
	}
	return e, nil
}

// times is the estimate of k draws of all that was measured, at a price.
func (e Estimate) times(k int64, price *endpoint.Price) Estimate {
	e.Calls, e.PromptTokens, e.Limit, e.Worst = e.Calls*k, e.PromptTokens*k, e.Limit*k, e.Worst.Times(k)
	if price != nil {
		expected := budget.Micros(e.PromptTokens, price.PromptMicros) + budget.Micros(e.Limit/expectedAnswer, price.CompletionMicros)
		e.CostExpected, e.CostWorst = &expected, &e.Worst.Micros
	}
	return e
}

// calls says how many calls a plan takes at least, one a run.
func (e Estimate) calls(p *Plan) string {
	if len(p.Looks) == 0 {
		return fmt.Sprintf("%d calls", e.Calls)
	}
	draw := e.Calls / int64(p.K)
	return fmt.Sprintf("%d calls if it stops at the first look, %d if it makes all planned runs, %d with fresh runs of every family",
		draw*int64(p.Looks[0]), e.Calls, e.Calls+draw*compare.FreshRuns)
}

func (e Estimate) write(w io.Writer, p *Plan, caps budget.Caps) {
	all := ""
	if len(p.Looks) > 0 {
		all = "; for all planned runs"
	}
	fmt.Fprintf(w, "estimate: at least %s%s, about %d prompt tokens (at most %d), at most %d completion tokens\n",
		e.calls(p), all, e.PromptTokens, e.Worst.Tokens-e.Limit, e.Limit)
	fmt.Fprintf(w, "cost: %s\n", e.cost())
	fmt.Fprintf(w, "caps: %s%s\n", caps, e.beyond(caps))
}

func (e Estimate) cost() string {
	if e.CostExpected == nil {
		return "unknown, the model has no price"
	}
	const digit = 100 // micro-USD: an expectation has no finer ones
	return fmt.Sprintf("about %s expected, with answers of a quarter of the token limit; %s at worst",
		budget.USD((*e.CostExpected+digit-1)/digit*digit), budget.USD(*e.CostWorst))
}

// beyond says whether a plan is expected to fit its caps.
func (e Estimate) beyond(caps budget.Caps) string {
	expected := budget.Amount{Calls: e.Calls, Tokens: e.PromptTokens + e.Limit/expectedAnswer}
	if e.CostExpected != nil {
		expected.Micros = *e.CostExpected
	}
	switch {
	case !caps.Any():
		return ""
	case !caps.Hold(expected):
		return "; too little for the plan: the capture would stop before its end, and could be resumed"
	case !caps.Hold(e.Worst.Plus(e.Fresh)):
		return "; enough for what is expected, and not for the worst case"
	}
	return "; enough for the worst case"
}
