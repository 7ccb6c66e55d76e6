package endpoint

import (
	"errors"
	"math"
	"math/big"

	"github.com/youden-bench/youden/detector"
)

// Price is what a million tokens cost, in micro-USD.
type Price struct {
	PromptMicros     int64
	CompletionMicros int64
	CachedMicros     *int64 // of prompt tokens that the provider had cached; nil = PromptMicros
	ReasoningMicros  *int64 // of the reasoning before an answer; nil = CompletionMicros
}

func (p *Price) check() error {
	if p != nil && (p.PromptMicros < 0 || p.CompletionMicros < 0 || p.cached() < 0 || p.reasoning() < 0) {
		return errors.New("price must not be negative")
	}
	return nil
}

func (p *Price) cached() int64 {
	if p.CachedMicros == nil {
		return p.PromptMicros
	}
	return *p.CachedMicros
}

func (p *Price) reasoning() int64 {
	if p.ReasoningMicros == nil {
		return p.CompletionMicros
	}
	return *p.ReasoningMicros
}

// cost returns micro-USD, rounded half up once at the end, or nil when the price
// or the number of tokens is unknown. Cached tokens are part of the prompt's and
// reasoning is part of the completion's; where the provider does not say how many
// there were, all cost the higher price, since spend must not be reported too low.
// More reasoning than completion cannot be a part of it: there are servers that
// count the two side by side.
func (p *Price) cost(u detector.Usage) *int64 {
	if p == nil || u.Prompt == nil || u.Completion == nil {
		return nil
	}
	prompt, cached := *u.Prompt, int64(0)
	if u.Cached != nil {
		cached = min(*u.Cached, prompt)
	}
	said, thought := *u.Completion, int64(0)
	switch {
	case u.Reasoning == nil && p.reasoning() > p.CompletionMicros:
		said, thought = 0, said
	case u.Reasoning == nil:
	case *u.Reasoning > said:
		thought = *u.Reasoning
	default:
		said, thought = said-*u.Reasoning, *u.Reasoning
	}
	sum := millionths(500_000, [][2]int64{
		{prompt - cached, p.PromptMicros}, {cached, p.cached()}, {said, p.CompletionMicros}, {thought, p.reasoning()},
	})
	if !sum.IsInt64() {
		return nil
	}
	micros := sum.Int64()
	return &micros
}

// AtMost is the most that so many tokens can cost, in micro-USD, rounded up; no price
// costs nothing.
func (p *Price) AtMost(prompt, completion int64) int64 {
	if p == nil {
		return 0
	}
	sum := millionths(999_999, [][2]int64{
		{prompt, max(p.PromptMicros, p.cached())}, {completion, max(p.CompletionMicros, p.reasoning())},
	})
	if !sum.IsInt64() {
		return math.MaxInt64
	}
	return sum.Int64()
}

// millionths adds up tokens times their price for a million of them. Integers of any
// size: a broken provider reports absurd numbers.
func millionths(rounding int64, parts [][2]int64) *big.Int {
	sum := big.NewInt(rounding)
	for _, part := range parts {
		sum.Add(sum, new(big.Int).Mul(big.NewInt(part[0]), big.NewInt(part[1])))
	}
	return sum.Quo(sum, big.NewInt(1_000_000))
}
