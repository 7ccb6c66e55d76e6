package bench

import (
	"encoding/json"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestPrices(t *testing.T) {
	full := &PriceConfig{Input: to(0.27), CachedInput: to(0.07), Output: to(1.1), Reasoning: to(2.5)}
	got, err := full.micros()
	require.NoError(t, err)
	assert.EqualValues(t, 270_000, got.PromptMicros)
	assert.EqualValues(t, 1_100_000, got.CompletionMicros)
	assert.EqualValues(t, 70_000, *got.CachedMicros)
	assert.EqualValues(t, 2_500_000, *got.ReasoningMicros)
	plain, err := usd(0, 0).micros()
	require.NoError(t, err)
	assert.Nil(t, plain.CachedMicros)
	assert.Nil(t, plain.ReasoningMicros)
	none, err := (*PriceConfig)(nil).micros()
	require.NoError(t, err)
	assert.Nil(t, none, "no price is no price of zero")
	for _, bad := range []PriceConfig{
		{Input: to(-1.0), Output: to(1.0)}, {Input: to(1.0), Output: to(math.NaN())}, {Input: to(math.Inf(1)), Output: to(1.0)},
		{Input: to(1.0)}, {Output: to(1.0)}, {}, {Input: to(1.0), Output: to(1.0), CachedInput: to(-1.0)},
		{Input: to(1.0), Output: to(1.0), Reasoning: to(2e6)}, {Input: to(1.0), Prompt: to(1.0), Output: to(1.0)},
	} {
		_, err := bad.micros()
		assert.ErrorContains(t, err, "price")
	}
}

// A capture of an older version names its price otherwise.
func TestOlderNamesOfAPrice(t *testing.T) {
	var c EndpointConfig
	require.NoError(t, json.Unmarshal([]byte(`{"base_url":"http://127.0.0.1:9/v1","model":"m","price":{"prompt":0.27,"completion":1.1,"cached":0.07},"timeouts":{}}`), &c))
	require.NoError(t, c.Validate())
	got, err := c.Price.micros()
	require.NoError(t, err)
	now, err := (&PriceConfig{Input: to(0.27), Output: to(1.1), CachedInput: to(0.07)}).micros()
	require.NoError(t, err)
	assert.Equal(t, now, got)
}

// The price is that of the model that is asked, and of no other.
func TestThePriceIsTheModels(t *testing.T) {
	configured := map[string]EndpointConfig{
		"x":    {BaseURL: "https://api.example.com/v1", Model: "own", Price: usd(1, 2), Prices: map[string]PriceConfig{"other": *usd(3, 4)}},
		"any":  {BaseURL: "https://api.example.com/v1", Price: usd(5, 6)},
		"none": {BaseURL: "https://api.example.com/v1", Model: "own"},
		"alias": {
			BaseURL: "https://api.example.com/v1", Model: "fast", Price: usd(1, 2), Prices: map[string]PriceConfig{"slow": *usd(3, 4), "third-1": *usd(5, 6)},
			DialectConfig: DialectConfig{Aliases: map[string]string{"fast": "own-1", "slow": "other-1", "third": "third-1"}},
		},
		"both":        {BaseURL: "https://api.example.com/v1", Model: "own", Price: usd(1, 2), Prices: map[string]PriceConfig{"own": *usd(7, 8)}},
		SimulatorName: {Price: usd(9, 10)},
	}
	for _, c := range []struct {
		endpoint, model string
		input           float64 // 0 = unknown
	}{
		{"x", "", 1}, {"x", "own", 1}, {"x", "other", 3}, {"x", "third", 0}, {"any", "m", 5}, {"none", "", 0}, {"both", "", 7},
		{"alias", "", 1}, {"alias", "own-1", 1}, {"alias", "slow", 3}, {"alias", "other-1", 3}, {"alias", "third", 5}, {"alias", "fourth", 0},
		{SimulatorName, "", 9}, {SimulatorName, "sim-weak", 9},
	} {
		got, err := SelectEndpoint(c.endpoint, c.model, configured)
		require.NoError(t, err)
		assert.Nil(t, got.Prices, "only what holds is recorded")
		if c.input == 0 {
			assert.Nil(t, got.Price, "%v", c)
			continue
		}
		require.NotNil(t, got.Price, "%v", c)
		assert.InDelta(t, c.input, *got.Price.Input, 0, "%v", c)
	}
	got, err := SelectEndpoint(SimulatorName, "", configured)
	require.NoError(t, err)
	assert.True(t, got.Embedded())
	assert.Equal(t, DefaultSimulatedModel, got.Model)
	configured["x"].Prices["other"] = PriceConfig{Input: to(1.0)}
	_, err = SelectEndpoint("x", "other", configured)
	require.ErrorContains(t, err, "output")
	require.ErrorContains(t, configured["x"].Validate(), `prices."other"`)
}
