package compare

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A baseline that nobody measured is refused, whichever of its values is edited.
func TestBaselineRefusesEdits(t *testing.T) {
	raw, err := Baseline("main", measured(5, steady()))
	require.NoError(t, err)
	sound := string(raw)
	for name, c := range map[string]struct{ old, new, want string }{
		"runs of the plan":    {`"k": 5`, `"k": 1000000000000`, "has k 1000000000000"},
		"no runs of the plan": {`"k": 5`, `"k": 0`, "has k 0"},
		"runs of a side":      {`"vulnerable":{"k":5,"counted":5`, `"vulnerable":{"k":1000000000000,"counted":1000000000000`, `case "crypto-0" has counts`},
		"trajectories":        {`"trajectories":1`, `"trajectories":1000000000000`, `case "crypto-0" has counts`},
		"grade":               {`"grade": "E3"`, `"grade": "E9"`, "grade"},
		"grade with controls": {`"grade": "E3"`, `"grade": "E\u001b"`, "grade"},
		"status":              {`"grade": "E3"`, `"grade": "E3", "status": "done"`, "status"},
		"policy":              {`"policy": "class"`, `"policy": "lax"`, "policy"},
		"view":                {`"view": "charge"`, `"view": ""`, "view"},
		"spend":               {`"calls": 0`, `"calls": -1`, "counts runs"},
		"cost":                {`"cost_usd_micros": null`, `"cost_usd_micros": -5`, "counts runs"},
		"cached tokens":       {`"cached_tokens": null`, `"cached_tokens": -5`, "counts runs"},
		"unknown cached":      {`"cached_unknown_runs": 0`, `"cached_unknown_runs": -1`, "counts runs"},
		"reasoning tokens":    {`"reasoning_tokens": null`, `"reasoning_tokens": -5`, "counts runs"},
		"unknown reasoning":   {`"reasoning_unknown_runs": 0`, `"reasoning_unknown_runs": -1`, "counts runs"},
		"negative latency":    {`"latency_p50_ms": null`, `"latency_p50_ms": -1`, "latency"},
		"absurd latency":      {`"latency_p95_ms": null`, `"latency_p95_ms": 1e12`, "latency"},
		"models":              {`"models": null`, `"models": {"m": -1}`, "counts runs"},
		"a treatment":         {`"grade": "E3"`, `"grade": "E3", "capabilities": {"schema": "youden.capabilities/1", "features": [{"name": "seed", "treatment": "\u001bfine"}]}`, "capability record"},
		"a key twice":         {`"grade": "E3"`, `"grade": "E3", "grade": "E5"`, `"grade" twice`},
		"a key in capitals":   {`"grade": "E3"`, `"grade": "E3", "Grade": "E5"`, `"grade" twice`},
		"a key of a case":     {`"family":"crypto"`, `"family":"crypto","family":"path"`, `"family" twice`},
	} {
		t.Run(name, func(t *testing.T) {
			require.Contains(t, sound, c.old)
			_, err := readBaseline("b.json", []byte(strings.Replace(sound, c.old, c.new, 1)))
			var bad *LoadError
			require.ErrorAs(t, err, &bad)
			assert.Contains(t, bad.Message, c.want)
			assert.NotContains(t, bad.Message, "\x1b")
		})
	}
	for _, rest := range []string{"{}", "x", sound} {
		_, err := readBaseline("b.json", []byte(sound+rest))
		assert.ErrorContains(t, err, "goes on behind the baseline")
	}
	// Models are somebody else's names, which capitals tell apart.
	_, err = readBaseline("b.json", []byte(strings.Replace(sound, `"models": null`, `"models": {"m": 1, "M": 2}`, 1)))
	assert.NoError(t, err)
	_, err = readBaseline("b.json", []byte(sound+" \n"))
	assert.NoError(t, err)
}
