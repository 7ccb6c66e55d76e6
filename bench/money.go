package bench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/youden-bench/youden/bench/budget"
	"github.com/youden-bench/youden/bench/endpoint"
	"github.com/youden-bench/youden/bench/ledger"
	"github.com/youden-bench/youden/measurements"
)

// BudgetError says why nothing was sent: the caps hold not even one call, or there
// are none and the endpoint may send a bill.
type BudgetError struct{ reason string }

func (e *BudgetError) Error() string { return e.reason + "; nothing was sent" }

// mayBill reports whether the endpoint is somebody else's and the operator has said
// nothing of what a capture may come to.
func (r Request) mayBill() bool {
	return !r.Caps.Any() && !r.Uncapped && !r.Endpoint.Embedded() && !endpoint.Loopback(r.Endpoint.BaseURL)
}

// needsCaps is the refusal to send anything elsewhere without caps.
func (r Request) needsCaps(estimate string) *BudgetError {
	return &BudgetError{fmt.Sprintf("endpoint %s (%s) is not on this machine and may send a bill, and nothing says what the capture may come to (%s); give --max-cost USD, --max-calls N, --max-tokens N or --max-time D, or --yes for no cap",
		r.EndpointName, r.Endpoint.Public(), estimate)}
}

// checkPriced refuses a cap on money that nothing could be held against.
func (r Request) checkPriced() error {
	if r.Caps.Micros == nil || r.Endpoint.Price != nil {
		return nil
	}
	return fmt.Errorf("--max-cost needs a price, and endpoint %s has none for model %s: add price to [endpoint.%s] of youden.toml, or [endpoint.%s.prices.%q] for another model than its own; or cap with --max-calls or --max-tokens",
		r.EndpointName, r.Endpoint.Model, r.EndpointName, r.EndpointName, r.Endpoint.Model)
}

// afford refuses, before anything is made or sent, a plan of which not even one call
// may be sent. A job that spends from the budget of another has been looked at.
func (j *Job) afford(ctx context.Context) error {
	req := j.Request
	if j.budget != nil || !j.callsModel() || !req.mayBill() && !req.Caps.Any() {
		return nil
	}
	e, err := j.Estimate(ctx)
	if err != nil {
		return err
	}
	if req.mayBill() {
		return req.needsCaps(fmt.Sprintf("at least %s, about %d prompt tokens, cost %s", e.calls(j.Plan), e.PromptTokens, e.cost()))
	}
	if e.Calls > 0 && !req.Caps.Hold(e.smallest) {
		return &BudgetError{fmt.Sprintf("the budget of %s does not hold a single call: the smallest may take %s", req.Caps, worstText(e))}
	}
	return nil
}

func worstText(e Estimate) string {
	text := fmt.Sprintf("%d tokens", e.smallest.Tokens)
	if e.CostWorst != nil {
		text += ", " + budget.USD(e.smallest.Micros)
	}
	return text
}

// openBudget counts what the ledger of the capture in dir says was spent before, and
// that of its fresh runs. The captures of a job share one budget: that of the fresh
// runs is open when theirs is. Of its calls each request that was sent is one: also
// those that the endpoint refused, and further attempts.
func (j *Job) openBudget(ctx context.Context, l *ledger.Ledger, dir string) error {
	if !j.Request.Caps.Any() || j.budget != nil {
		return nil
	}
	opened := budget.New(j.Request.Caps, time.Now)
	if err := j.countSpent(ctx, opened, l); err != nil {
		return err
	}
	for _, folder := range freshFolders(dir) {
		file := filepath.Join(dir, folder, LedgerFile)
		if _, err := os.Stat(file); err != nil {
			continue // nothing was sent
		}
		fresh, err := ledger.Open(ctx, file, ledger.Options{Indeterminate: j.indeterminate()})
		if err != nil {
			return err
		}
		if err := errors.Join(j.countSpent(ctx, opened, fresh), fresh.Close()); err != nil {
			return err
		}
	}
	j.budget = opened
	return nil
}

// countSpent counts what a ledger says was spent.
func (j *Job) countSpent(ctx context.Context, b *budget.Budget, l *ledger.Ledger) error {
	cfg := j.Request.Endpoint
	price, err := cfg.Price.micros()
	if err != nil {
		return err
	}
	past, err := endpoint.Spent(ctx, l, price, cfg.MaxTokens)
	if err != nil {
		return err
	}
	b.Count(past)
	return nil
}

// spendsFrom is the budget as a client takes it: no budget is no interface.
func (j *Job) spendsFrom() endpoint.Budget {
	if j.budget == nil {
		return nil
	}
	return j.budget
}

// withinTime ends ctx with the time of the budget.
func (j *Job) withinTime(ctx context.Context) (context.Context, context.CancelFunc) {
	if j.budget == nil {
		return ctx, func() {}
	}
	return j.budget.Within(ctx)
}

// tellOverruns passes progress on, and notes beside it each attempt that came to
// more than was reserved for it.
func (j *Job) tellOverruns(watch Watch) func(Progress) {
	if j.budget == nil {
		return watch.Progress
	}
	told := len(j.budget.State().Overruns)
	return func(p Progress) {
		overruns := j.budget.State().Overruns
		for _, o := range overruns[told:] {
			watch.note("budget: " + o.String() + " It counts in full, and every later call is reserved at as much more.")
		}
		told = len(overruns)
		if watch.Progress != nil {
			watch.Progress(p)
		}
	}
}

// budgetRecord is what the manifest says of the budget; nil without caps.
func (j *Job) budgetRecord(stop Stop) *measurements.BudgetRecord {
	if j.budget == nil {
		return nil
	}
	s := j.budget.State()
	r := &measurements.BudgetRecord{
		MaxCostUSDMicros: s.Caps.Micros, MaxCalls: s.Caps.Calls, MaxTokens: s.Caps.Tokens,
		Calls: s.Spent.Calls, Tokens: s.Spent.Tokens, TimeMS: s.Elapsed.Milliseconds(),
		UnknownCalls: s.Unknown.Calls, UnknownTokens: s.Unknown.Tokens, Overruns: len(s.Overruns),
	}
	if stop.Budget {
		r.Stopped = stop.Detail
	}
	if s.Caps.Time != nil {
		ms := s.Caps.Time.Milliseconds()
		r.MaxTimeMS = &ms
	}
	if j.Request.Endpoint.Price != nil {
		r.CostUSDMicros, r.UnknownCostUSDMicros = &s.Spent.Micros, &s.Unknown.Micros
	}
	return r
}
