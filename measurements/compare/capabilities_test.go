package compare

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/youden-bench/youden/measurements"
)

func probed(treatments map[string]measurements.Treatment) *measurements.Capabilities {
	c := &measurements.Capabilities{Schema: measurements.CapabilitiesSchema}
	for _, name := range []string{"temperature", "max_tokens", "seed", "response_format.json_schema", "stream"} {
		c.Features = append(c.Features, measurements.Feature{Name: name, Treatment: treatments[name]})
	}
	return c
}

func TestCapabilitiesThatDiffer(t *testing.T) {
	const seen, dropped, refused, unseen = measurements.Honoured, measurements.Ignored, measurements.Refused, measurements.Accepted
	type treats = map[string]measurements.Treatment
	all := treats{"temperature": seen, "max_tokens": seen, "seed": seen, "response_format.json_schema": seen, "stream": seen}
	with := func(name string, t measurements.Treatment) treats {
		out := treats{}
		for k, v := range all {
			out[k] = v
		}
		out[name] = t
		return out
	}
	for _, c := range []struct {
		name            string
		updated         treats
		model           string
		vary            Vary
		reason, warning string
	}{
		{"the same", all, "m", "", "", ""},
		{"temperature is dropped", with("temperature", dropped), "m", "", "temperature: honoured and ignored", ""},
		{"temperature is refused", with("temperature", refused), "m", "", "temperature: honoured and refused", ""},
		{"its effect was not seen", with("temperature", unseen), "m", "", "", ""},
		{"it was not asked", with("temperature", measurements.Unprobed), "m", "", "", ""},
		{"by another model", with("temperature", dropped), "m2", "", "", "temperature: honoured and ignored"},
		{"and the parameters vary", with("temperature", dropped), "m", VaryParams, "", "temperature: honoured and ignored"},
		{"and the detector varies", with("max_tokens", dropped), "m", VaryDetector, "max_tokens: honoured and ignored", ""},
		{"a field that no request carried", with("stream", dropped), "m", VaryDetector, "", "stream: honoured and ignored"},
		{"a form that no request asked for", with("response_format.json_schema", dropped), "m", "", "", "json_schema: honoured and ignored"},
	} {
		t.Run(c.name, func(t *testing.T) {
			parameters := map[string]any{"temperature": 0.0, "max_tokens": 4096, "response_format": ""}
			a := Identity{Parameters: parameters, Endpoint: measurements.EndpointRecord{Model: "m"}, Capabilities: probed(all)}
			b := Identity{Parameters: parameters, Endpoint: measurements.EndpointRecord{Model: c.model}, Capabilities: probed(c.updated)}
			reasons, warnings := incomparable(a, b, c.vary)
			about := func(list []string, text string) {
				t.Helper()
				if text == "" {
					for _, line := range list {
						assert.NotContains(t, line, "treatment")
					}
					return
				}
				require.NotEmpty(t, list)
				assert.Contains(t, list[len(list)-1], text)
			}
			about(reasons, c.reason)
			if c.warning == "" {
				about(warnings, "")
			} else {
				found := false
				for _, line := range warnings {
					found = found || assert.ObjectsAreEqual("the endpoint's treatment of ", line[:min(len(line), 28)])
				}
				assert.True(t, found, "%v", warnings)
			}
			b.Capabilities = nil
			reasons, warnings = incomparable(a, b, c.vary)
			about(reasons, "")
			about(warnings, "")
		})
	}
}

// A form of answer that both asked for is one they rely on, whether the parameters
// come from a file or not.
func TestWhatRequestsRelyOn(t *testing.T) {
	var read map[string]any
	require.NoError(t, json.Unmarshal([]byte(`{"response_format":"json_schema","temperature":0,"max_tokens":4096,"top_p":null}`), &read))
	for feature, want := range map[string]bool{
		"response_format.json_schema": true, "response_format.json_object": false, "temperature": true,
		"max_tokens": true, "max_completion_tokens": false, "seed": false, "top_p": false,
	} {
		assert.Equal(t, want, reliesOn(read, feature), feature)
	}
}
