package endpoint

import (
	"context"
	"encoding/json"

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
	messages  json.RawMessage
	seed      int64
	maxTokens int

	done   bool // result holds
	result ledger.Result
	answer *detector.Answer // as read when it arrived, nil when it was not this exchange that sent
	err    error
}

func withExchange(ctx context.Context, x *exchange) context.Context {
	return context.WithValue(ctx, exchangeKey{}, x)
}

func exchangeOf(ctx context.Context) *exchange {
	x, _ := ctx.Value(exchangeKey{}).(*exchange)
	return x
}
