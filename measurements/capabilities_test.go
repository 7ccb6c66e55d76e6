package measurements

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func someCapabilities() *Capabilities {
	n := int64(7)
	return &Capabilities{
		Schema: CapabilitiesSchema, ProbedAt: time.Date(2026, 11, 30, 9, 0, 0, 0, time.UTC),
		Endpoint: EndpointRecord{Name: "x", BaseURL: "http://127.0.0.1:1/v1", Model: "m"}, ContextTokens: &n, Calls: 3, PromptTokens: &n,
		Features: []Feature{{"temperature", Honoured, "seen"}, {"seed", Ignored, "seen"}}, Advice: []string{"advice"},
	}
}

func TestCapabilitiesRoundTrip(t *testing.T) {
	want := someCapabilities()
	raw, err := json.Marshal(want)
	require.NoError(t, err)
	file := filepath.Join(t.TempDir(), "c.json")
	require.NoError(t, os.WriteFile(file, raw, 0o600))
	got, err := ReadCapabilities(file)
	require.NoError(t, err)
	assert.Equal(t, want, got)
	assert.Equal(t, Ignored, got.Treats("seed"))
	assert.Equal(t, Unprobed, got.Treats("nowhere"))
	assert.Equal(t, Unprobed, (*Capabilities)(nil).Treats("seed"))
	assert.Nil(t, (*Capabilities)(nil).Brief())
	brief := got.Brief()
	assert.Equal(t, []Feature{{Name: "temperature", Treatment: Honoured}, {Name: "seed", Treatment: Ignored}}, brief.Features)
	assert.Empty(t, brief.Advice)
	assert.Zero(t, brief.Calls)
	assert.True(t, got.Of(EndpointRecord{Name: "other", BaseURL: "http://127.0.0.1:1/v1", Model: "m"}))
	assert.False(t, got.Of(EndpointRecord{Name: "x", BaseURL: "http://127.0.0.1:1/v1", Model: "m2"}))
}

func TestCapabilitiesThatAreNone(t *testing.T) {
	for name, text := range map[string]string{
		"empty": ``, "no JSON": `{`, "another schema": `{"schema":"youden.capture/1"}`,
		"an unknown verdict":   `{"schema":"youden.capabilities/1","features":[{"name":"seed","treatment":"fine"}]}`,
		"a feature twice":      `{"schema":"youden.capabilities/1","features":[{"name":"seed","treatment":"ignored"},{"name":"seed","treatment":"honoured"}]}`,
		"a feature of no name": `{"schema":"youden.capabilities/1","features":[{"treatment":"ignored"}]}`,
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "c.json")
			require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
			_, err := ReadCapabilities(file)
			require.ErrorContains(t, err, "youden doctor")
		})
	}
	_, err := ReadCapabilities(filepath.Join(t.TempDir(), "absent"))
	require.ErrorIs(t, err, os.ErrNotExist)
}

func FuzzParseCapabilities(f *testing.F) {
	raw, err := json.Marshal(someCapabilities())
	require.NoError(f, err)
	f.Add(raw)
	f.Add([]byte(`{"schema":"youden.capabilities/1"}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		c, err := parseCapabilities(raw)
		if err != nil {
			return
		}
		again, err := json.Marshal(c)
		require.NoError(t, err)
		_, err = parseCapabilities(again)
		require.NoError(t, err)
	})
}
