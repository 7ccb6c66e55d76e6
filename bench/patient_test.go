package bench

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// What a probe may cost is never told too low, and what is unknown is no 0.
func TestPatientIsPriced(t *testing.T) {
	in, out := 0.27, 1.10
	cfg := EndpointConfig{BaseURL: "http://127.0.0.1:1/v1", Model: "m", Price: &PriceConfig{Input: &in, Output: &out}}.withDefaults()
	p, err := cfg.Patient("x")
	require.NoError(t, err)
	assert.EqualValues(t, 1, *p.CostMicros(1, 0), "0.27 micro-USD")
	assert.EqualValues(t, 270_000+1_100_000, *p.CostMicros(1_000_000, 1_000_000))
	cached, reasoning := 0.02, 3.30
	cfg.Price = &PriceConfig{Input: &in, CachedInput: &cached, Output: &out, Reasoning: &reasoning}
	p, err = cfg.Patient("x")
	require.NoError(t, err)
	assert.EqualValues(t, 270_000+3_300_000, *p.CostMicros(1_000_000, 1_000_000), "nothing is cached, and all of it may be reasoning")
	cfg.Price = nil
	p, err = cfg.Patient("x")
	require.NoError(t, err)
	assert.Nil(t, p.CostMicros(1, 1))
	assert.Nil(t, p.Estimate(0).CostMicros)
	cfg.APIKeyEnv = "YOUDEN_TEST_NO_SUCH_KEY"
	_, err = cfg.Patient("x")
	require.Error(t, err)
}

func TestCapabilitiesFile(t *testing.T) {
	for _, c := range []struct{ name, model, want string }{
		{"hosted", "gpt-4.1", "hosted-gpt-4.1.json"},
		{"http://127.0.0.1:8080/v1", "qwen/qwen3:8b", "127.0.0.1-8080-qwen-qwen3-8b.json"},
		{"..", "../../etc", "-etc.json"},
	} {
		assert.Equal(t, filepath.Join("capabilities", c.want), EndpointConfig{Model: c.model}.CapabilitiesFile(c.name))
	}
}
