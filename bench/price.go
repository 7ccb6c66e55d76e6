package bench

import (
	"errors"
	"fmt"
	"math"

	"github.com/youden-bench/youden/bench/endpoint"
)

// PriceConfig is in USD per million tokens. Input and Output are needed, since a
// missing part would count as free; CachedInput and Reasoning are those of Input and
// Output unless they are given.
type PriceConfig struct {
	Input       *float64 `toml:"input,omitempty" json:"input,omitempty"`
	CachedInput *float64 `toml:"cached_input,omitempty" json:"cached_input,omitempty"`
	Output      *float64 `toml:"output,omitempty" json:"output,omitempty"`
	Reasoning   *float64 `toml:"reasoning,omitempty" json:"reasoning,omitempty"`

	// The older names of Input, Output and CachedInput, still read.
	Prompt     *float64 `toml:"prompt,omitempty" json:"prompt,omitempty"`
	Completion *float64 `toml:"completion,omitempty" json:"completion,omitempty"`
	Cached     *float64 `toml:"cached,omitempty" json:"cached,omitempty"`
}

// named returns the price under its present names.
func (p PriceConfig) named() (PriceConfig, error) {
	for _, key := range []struct {
		name, older string
		now         **float64
		was         **float64
	}{
		{"input", "prompt", &p.Input, &p.Prompt}, {"output", "completion", &p.Output, &p.Completion}, {"cached_input", "cached", &p.CachedInput, &p.Cached},
	} {
		if *key.now != nil && *key.was != nil {
			return p, fmt.Errorf("price has %s and %s, which is its older name; leave the older one off", key.name, key.older)
		}
		if *key.now == nil {
			*key.now = *key.was
		}
		*key.was = nil
	}
	return p, nil
}

// micros turns USD into whole micro-USD per million tokens, in which all costs
// are computed. No price is no price of zero.
func (p *PriceConfig) micros() (*endpoint.Price, error) {
	if p == nil {
		return nil, nil
	}
	named, err := p.named()
	if err != nil {
		return nil, err
	}
	if named.Input == nil || named.Output == nil {
		return nil, errors.New("price needs both input and output, in USD per million tokens")
	}
	var errs []error
	read := func(key string, usd *float64) *int64 {
		if usd == nil {
			return nil
		}
		micros, err := microUSD(key, *usd)
		errs = append(errs, err)
		return &micros
	}
	out := &endpoint.Price{
		PromptMicros: *read("input", named.Input), CompletionMicros: *read("output", named.Output),
		CachedMicros: read("cached_input", named.CachedInput), ReasoningMicros: read("reasoning", named.Reasoning),
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return out, nil
}

func microUSD(key string, usd float64) (int64, error) {
	if !(usd >= 0 && usd <= 1e6) {
		return 0, fmt.Errorf("price.%s = %v is no price in USD per million tokens", key, usd)
	}
	return int64(math.Round(usd * 1e6)), nil
}

// priced returns the endpoint with the price of the model that is asked, under Price
// alone. Price is that of the endpoint's own model: taking it for another one would
// make up what a capture costs.
func (c EndpointConfig) priced(asked string) EndpointConfig {
	price := c.Price
	if c.Model != "" && asked != c.pinned(c.Model) {
		price = nil
	}
	for _, name := range append(sortedKeys(c.Prices), asked) { // also under the name of an alias
		if own, ok := c.Prices[name]; ok && c.pinned(name) == asked {
			price = &own
		}
	}
	c.Price, c.Prices = price, nil
	return c
}

// checkPrices refuses prices of which a part is missing or none.
func (c EndpointConfig) checkPrices() error {
	_, err := c.Price.micros()
	errs := []error{err}
	for _, model := range sortedKeys(c.Prices) {
		price := c.Prices[model]
		if _, err := price.micros(); err != nil {
			errs = append(errs, fmt.Errorf("prices.%q: %w", model, err))
		}
	}
	return errors.Join(errs...)
}
