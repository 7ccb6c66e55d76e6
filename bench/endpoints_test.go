package bench

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestSelectEndpoint(t *testing.T) {
	half := 0.5
	configured := map[string]EndpointConfig{
		"hosted":  {BaseURL: "https://api.example.com/v1", Model: "m", Temperature: &half},
		"nomodel": {BaseURL: "https://api.example.com/v1"},
		"nourl":   {Model: "m"},
	}
	got, err := SelectEndpoint("hosted", "", configured)
	require.NoError(t, err)
	assert.Equal(t, "m", got.Model)
	assert.InDelta(t, 0.5, *got.Temperature, 0)
	assert.Equal(t, 4096, got.MaxTokens)
	assert.False(t, got.Simulated)

	got, err = SelectEndpoint("hosted", "other", configured)
	require.NoError(t, err)
	assert.Equal(t, "other", got.Model)

	got, err = SelectEndpoint(SimulatorName, "", nil)
	require.NoError(t, err)
	assert.True(t, got.Embedded())
	assert.True(t, got.Simulated)
	assert.InDelta(t, 0, *got.Temperature, 0)

	got, err = SelectEndpoint("http://127.0.0.1:1/v1", "sim-weak", nil)
	require.NoError(t, err)
	assert.True(t, got.Simulated, "a simulated model on a port is simulated")
	assert.False(t, got.Embedded())

	for name, want := range map[string]string{"nomodel": "--model", "nourl": "base_url", "nowhere": "hosted, nomodel, nourl, simulator"} {
		_, err = SelectEndpoint(name, "", configured)
		assert.ErrorContains(t, err, want)
	}
}

func TestPrices(t *testing.T) {
	cached := 0.07
	got, err := (&PriceConfig{Prompt: 0.27, Completion: 1.1, Cached: &cached}).micros("x")
	require.NoError(t, err)
	assert.EqualValues(t, 270000, got.PromptMicros)
	assert.EqualValues(t, 1100000, got.CompletionMicros)
	assert.EqualValues(t, 70000, *got.CachedMicros)
	none, err := (*PriceConfig)(nil).micros("x")
	require.NoError(t, err)
	assert.Nil(t, none, "no price is no price of zero")
	for _, bad := range []PriceConfig{{Prompt: -1}, {Completion: math.NaN()}, {Prompt: math.Inf(1)}} {
		_, err := bad.micros("x")
		assert.ErrorContains(t, err, "endpoint x")
	}
}

func TestTimeouts(t *testing.T) {
	got, err := TimeoutConfig{Total: "90s"}.parse("x")
	require.NoError(t, err)
	assert.InDelta(t, 90, got.Total.Seconds(), 0)
	for _, bad := range []string{"90", "-1s", "0s", "soon"} {
		_, err := TimeoutConfig{Connect: bad}.parse("x")
		assert.ErrorContains(t, err, "timeouts.connect", bad)
	}
}
