package endpoint

import (
	"errors"
	"math/big"

	"github.com/youden-bench/youden/detector"
)

// Price is what a million tokens cost, in micro-USD.
type Price struct {
	PromptMicros     int64
	CompletionMicros int64
	CachedMicros     *int64 // of prompt tokens that the provider had cached; nil = PromptMicros
}

func (p *Price) check() error {
	if p != nil && (p.PromptMicros < 0 || p.CompletionMicros < 0 || p.CachedMicros != nil && *p.CachedMicros < 0) {
		return errors.New("price must not be negative")
	}
	return nil
}

// cost returns micro-USD, rounded half up once at the end, or nil when the price
// or the number of tokens is unknown. Cached tokens are part of the prompt's; when
// the provider does not say how many there were, all are charged in full, since
// spend must not be reported too low.
func (p *Price) cost(u detector.Usage) *int64 {
	if p == nil || u.Prompt == nil || u.Completion == nil {
		return nil
	}
	prompt, cached := *u.Prompt, int64(0)
	cachedPrice := p.PromptMicros
	if u.Cached != nil {
		cached = min(*u.Cached, prompt)
	}
	if p.CachedMicros != nil {
		cachedPrice = *p.CachedMicros
	}
	// Integers of any size: a broken provider reports absurd numbers.
	sum := new(big.Int)
	for _, part := range [][2]int64{{prompt - cached, p.PromptMicros}, {cached, cachedPrice}, {*u.Completion, p.CompletionMicros}} {
		sum.Add(sum, new(big.Int).Mul(big.NewInt(part[0]), big.NewInt(part[1])))
	}
	sum.Add(sum, big.NewInt(500_000))
	sum.Quo(sum, big.NewInt(1_000_000))
	if !sum.IsInt64() {
		return nil
	}
	micros := sum.Int64()
	return &micros
}
