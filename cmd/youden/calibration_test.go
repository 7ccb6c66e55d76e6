package main

import (
	"encoding/json"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/youden-bench/youden/corpus"
	"github.com/youden-bench/youden/measurements"
)

// standing is how a simulated model stands on the planted train split.
type standing struct {
	j, lo, hi float64
	mixed     float64 // share of sides whose runs disagree: on a hit, or on silence
	missed    float64 // share of pairs missed or leaked in some run
}

func measure(t *testing.T, model string) standing {
	t.Helper()
	dir := filepath.Join(t.TempDir(), model)
	code, out, stderr := youden(t, "capture", "--model", model, "--runs", "5", "--out", dir, "--format", "json", "--progress", "none")
	require.Equal(t, exitPass, code, stderr)
	var table struct {
		Totals struct {
			J  float64 `json:"j_pooled"`
			Lo float64 `json:"j_pooled_lo"`
			Hi float64 `json:"j_pooled_hi"`
		}
	}
	require.NoError(t, json.Unmarshal([]byte(out), &table))
	s := standing{j: table.Totals.J, lo: table.Totals.Lo, hi: table.Totals.Hi}

	c, err := measurements.Open(dir)
	require.NoError(t, err)
	right, runs := map[string]int{}, map[string]int{} // by case and side
	wrong := map[string]bool{}                        // by case
	for row, err := range c.Runs() {
		require.NoError(t, err)
		side := row.CaseID + "/" + row.Side
		ok := row.SilentClass
		if row.Side == string(corpus.Vulnerable) {
			ok = row.Hit
		}
		runs[side]++
		if ok != nil && *ok {
			right[side]++
		} else {
			wrong[row.CaseID] = true
		}
	}
	mixed := 0
	for side, n := range runs {
		if right[side] > 0 && right[side] < n {
			mixed++
		}
	}
	require.NotEmpty(t, runs)
	s.mixed = float64(mixed) / float64(len(runs))
	s.missed = float64(len(wrong)) / float64(len(runs)/2)
	t.Logf("%s: J %+.3f [%+.3f, %+.3f], mixed sides %.2f, pairs wrong in some run %.2f", model, s.j, s.lo, s.hi, s.mixed, s.missed)
	return s
}

// The planted pairs tell the simulated models apart, with room above the best of
// them: otherwise a search would have nothing to find, and no statistics of the
// bench could be tried on them.
func TestPlantedPairsTellTheSimulatedModelsApart(t *testing.T) {
	if testing.Short() || raceDetector {
		t.Skip("three captures of the train split, which the race detector makes slow; they run without it")
	}
	strong, weak, null := measure(t, "sim-strong"), measure(t, "sim-weak"), measure(t, "sim-null")
	assert.Greater(t, strong.lo, weak.hi, "sim-strong above sim-weak")
	assert.Greater(t, weak.lo, null.hi, "sim-weak above sim-null")
	for _, s := range []standing{strong, weak} {
		assert.GreaterOrEqual(t, s.mixed, 0.2)
		assert.LessOrEqual(t, s.mixed, 0.8)
	}
	assert.GreaterOrEqual(t, strong.missed, 1.0/3, "sim-strong leaves something to find")
}
