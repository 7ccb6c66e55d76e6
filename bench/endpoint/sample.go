package endpoint

import (
	"context"
	"encoding/json"
	"sync"

	"github.com/youden-bench/youden/bench/ledger"
	"github.com/youden-bench/youden/detector"
)

type (
	sampleKey   struct{}
	exchangeKey struct{}
)

// WithSample says which of the K runs the calls below ctx belong to. k is part of
// a call's identity: without it K runs would be one answer replayed K times.
func WithSample(ctx context.Context, k int) context.Context {
	return context.WithValue(ctx, sampleKey{}, k)
}

type recallKey struct{}

// Recall lets the calls below ctx have recorded answers only: whatever would have to
// be sent ends at once, with CauseUnrecorded.
func Recall(ctx context.Context) context.Context {
	return context.WithValue(ctx, recallKey{}, true)
}

func recalls(ctx context.Context) bool { return ctx.Value(recallKey{}) != nil }

func sampleOf(ctx context.Context) (uint32, bool) {
	k, ok := ctx.Value(sampleKey{}).(int)
	if !ok || k < 0 || int64(k) > 1<<32-1 {
		return 0, false
	}
	return uint32(k), true
}

// exchange carries one call from Complete through go-openai to the transport and
// its outcome back.
type exchange struct {
	sample    ledger.Sample
	messages  []detector.Message
	prompt    prompt
	seed      int64
	maxTokens int

	encodedAs form            // of raw
	raw       json.RawMessage // the messages as last encoded

	done    bool // result and reading hold
	result  ledger.Result
	reading reading
	fresh   *reading // as read when it arrived, nil when it was not this exchange that sent
	earlier int      // attempts in other forms of the request
	tries   tries
	halted  error // why there was no further attempt, though there should be
	err     error
}

// encoded returns the messages in a form, which seldom differs from the last one.
func (x *exchange) encoded(f form) json.RawMessage {
	f &= dropReasoning | callContentEmpty | callContentOmit
	if len(x.raw) == 0 || x.encodedAs != f {
		x.raw, x.encodedAs = encodeMessages(x.raw[:0], x.messages, f), f
	}
	return x.raw
}

// buffers are for the messages of a call, which are copied into its body and then
// not needed: prompts are most of what a call allocates.
var buffers = sync.Pool{New: func() any { return new([]byte) }}

// borrow gives the exchange a buffer; what it returns gives that back.
func (x *exchange) borrow() (end func()) {
	b := buffers.Get().(*[]byte)
	x.raw = (*b)[:0]
	return func() {
		*b = x.raw
		x.raw = nil
		if cap(*b) <= 1<<20 {
			buffers.Put(b)
		}
	}
}

// sent is how many attempts reached the endpoint or may have. Those that a crash of
// this program left open are in the ledger and its spend. They are no retries that
// the endpoint made necessary, and a resumed capture must equal one that was never
// killed.
func (x *exchange) sent() int { return x.result.Sent - x.result.Orphans }

// outdate counts the attempts in a form of the request that the endpoint does not take
// among the earlier ones: there will be others in another form.
func (x *exchange) outdate() {
	x.earlier += x.sent()
	x.result.Sent, x.result.Orphans = 0, 0
}

// halt ends the attempts. With an earlier outcome that is what the call came to; the
// exchange says what prevented more.
func (x *exchange) halt(err error) error {
	if x.result.Attempt.ID.IsZero() {
		return err
	}
	x.halted = err
	return nil
}

func withExchange(ctx context.Context, x *exchange) context.Context {
	return context.WithValue(ctx, exchangeKey{}, x)
}

func exchangeOf(ctx context.Context) *exchange {
	x, _ := ctx.Value(exchangeKey{}).(*exchange)
	return x
}
