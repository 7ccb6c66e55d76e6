package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/youden-bench/youden/measurements"
)

// A cap holds over any number of processes, also killed ones: what they had under
// way may have been paid, and counts.
func TestKilledCaptureKeepsItsCap(t *testing.T) {
	work := t.TempDir()
	dir := filepath.Join(work, "c")
	baseURL := simulated(t, "--latency", "25ms") // so that each kill finds calls under way
	args := []string{"capture", "--out", dir, "--endpoint", baseURL, "--model", "sim-strong", "--limit", "20", "--concurrency", "4", "--max-calls", "40", "--progress", "none"}
	for kill := range 3 {
		cmd := binary(t, args...)
		cmd.Dir = work
		require.NoError(t, cmd.Start())
		waitForCalls(t, baseURL, calls(t, baseURL)+6)
		require.NoError(t, cmd.Process.Kill())
		require.Error(t, cmd.Wait(), "kill %d came too late to interrupt anything", kill)
		args = []string{"resume", dir, "--progress", "none"}
	}
	for range 2 {
		code, _, stderr := youden(t, "resume", dir, "--progress", "none")
		require.Equal(t, exitBudget, code, stderr)
		assert.Contains(t, stderr, "the budget of 40 calls is spent")
	}
	seen := calls(t, baseURL)
	assert.LessOrEqual(t, seen, 40)
	assert.GreaterOrEqual(t, seen, 40-3*4, "only what was under way at a kill may count and not have arrived")
	c, err := measurements.Open(dir)
	require.NoError(t, err)
	assert.Equal(t, int64(40), c.Manifest().Budget.Calls)

	code, _, stderr := youden(t, "resume", dir, "--max-calls", "none", "--progress", "none")
	require.Equal(t, exitPass, code, stderr)
	paidOnce(t, baseURL, filepath.Join(dir, "ledger.db"))
}

// What a capture elsewhere may come to is said and refused without any connection.
func TestElsewhereNeedsACap(t *testing.T) {
	work := t.TempDir()
	config, dir := filepath.Join(work, "youden.toml"), filepath.Join(work, "c")
	write(t, config, "[endpoint.x]\nbase_url = \"http://192.0.2.1:9/v1\"\nmodel = \"m\"\n")
	code, _, stderr := youden(t, "capture", "--config", config, "--endpoint", "x", "--limit", "2", "--out", dir)
	assert.Equal(t, exitBudget, code)
	assert.Contains(t, stderr, "at least 20 calls")
	_, err := os.Stat(dir)
	assert.ErrorIs(t, err, os.ErrNotExist)
}
