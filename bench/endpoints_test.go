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

// What may hold a secret is refused before it can be written down, and the
// refusal does not repeat it.
func TestSettingsThatMayHoldASecret(t *testing.T) {
	nan := math.NaN()
	for name, c := range map[string]EndpointConfig{
		"password":    {BaseURL: "http://bob:hunter2secret@127.0.0.1:9/v1"},
		"query":       {BaseURL: "http://127.0.0.1:9/v1?key=hunter2secret"},
		"fragment":    {BaseURL: "http://127.0.0.1:9/v1#hunter2secret"},
		"scheme":      {BaseURL: "ftp://bob:hunter2secret@127.0.0.1/v1"},
		"unparsable":  {BaseURL: "http://hunter2secret:x\x7f@/"},
		"no host":     {BaseURL: "http:///v1"},
		"port":        {BaseURL: "http://127.0.0.1:999999/v1"},
		"pasted key":  {BaseURL: "http://127.0.0.1:9/v1", APIKeyEnv: "sk-hunter2secret"},
		"temperature": {BaseURL: "http://127.0.0.1:9/v1", Temperature: &nan},
		"no JSON":     {BaseURL: "http://127.0.0.1:9/v1", ExtraBody: map[string]any{"x": nan}},
	} {
		err := c.Validate()
		require.Error(t, err, name)
		assert.NotContains(t, err.Error(), "hunter2secret", name)
	}
	_, err := SelectEndpoint("http://bob:hunter2secret@127.0.0.1:9/v1", "m", nil)
	require.Error(t, err)
	assert.NotContains(t, err.Error(), "hunter2secret")
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
