package conformance

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/youden-bench/youden/measurements"
)

// configure writes a youden.toml with one endpoint, called peer, and returns the
// folder that it lies in.
func configure(t *testing.T, base, modelName, more string) string {
	t.Helper()
	dir := t.TempDir()
	text := fmt.Sprintf("[endpoint.peer]\nbase_url = %q\nmodel = %q\n%s", base, modelName, more)
	if !strings.Contains(more, "[endpoint.peer.retries]") {
		// What is asserted is what each fault comes to, so nothing is tried again.
		text += "[endpoint.peer.retries]\nmax = 0\n"
	}
	require.NoError(t, os.WriteFile(filepath.Join(dir, "youden.toml"), []byte(text), 0o600))
	return dir
}

// capture captures over a few cases against the endpoint peer.
func capture(t *testing.T, dir, out string, more ...string) outcome {
	t.Helper()
	return youden(t, dir, append([]string{
		"capture", "--endpoint", "peer", "--limit", "4", "--runs", "2", "--concurrency", "16",
		"--out", out, "--format", "json", "--progress", "none",
	}, more...)...)
}

// printed is what a capture says of itself.
type printed struct {
	Status   string `json:"status"`
	Grade    string `json:"grade"`
	Families []map[string]any
	Totals   struct {
		Runs     int64            `json:"runs"`
		Planned  int64            `json:"runs_planned"`
		OK       int64            `json:"ok"`
		Charged  int64            `json:"charged"`
		Excused  int64            `json:"excused"`
		Attempts int64            `json:"attempts"`
		Statuses map[string]int64 `json:"statuses"`
	} `json:"totals"`
}

// rows reads the runs of a capture and requires that what was printed is what they
// add up to, and that no run without an answer says anything about its case.
func rows(t *testing.T, dir, stdout string) (printed, []measurements.RunRow) {
	t.Helper()
	var p printed
	require.NoError(t, json.Unmarshal([]byte(stdout), &p), stdout)
	c, err := measurements.Open(dir)
	require.NoError(t, err)
	var list []measurements.RunRow
	counts := map[string]int64{}
	statuses := map[string]int64{}
	attempts := int64(0)
	for row, err := range c.Runs() {
		require.NoError(t, err)
		list = append(list, row)
		counts[row.Counts]++
		attempts += row.Attempts
		if row.Status != "ok" {
			statuses[row.Status]++
		}
		if row.Counts == "excused" {
			assert.Nil(t, row.Hit, "a run that is %s is a score", row.Status)
			assert.Nil(t, row.SilentStrict)
			assert.Nil(t, row.SilentClass)
			assert.Nil(t, row.SilentRegion)
			assert.Nil(t, row.Findings)
		}
	}
	require.NotEmpty(t, list)
	assert.EqualValues(t, len(list), p.Totals.Runs)
	assert.EqualValues(t, len(list), p.Totals.Planned)
	assert.Equal(t, counts["yes"], p.Totals.OK)
	assert.Equal(t, counts["charged"], p.Totals.Charged)
	assert.Equal(t, counts["excused"], p.Totals.Excused)
	assert.Equal(t, attempts, p.Totals.Attempts)
	if len(statuses) > 0 {
		assert.Equal(t, statuses, p.Totals.Statuses)
	}
	if p.Totals.OK+p.Totals.Charged == 0 {
		assert.Equal(t, "unrun", p.Status)
		assert.Equal(t, "E0", p.Grade)
		for _, f := range p.Families {
			for _, number := range []string{"recall", "silence", "j", "j_lo", "j_hi", "j_vote", "pair_accuracy"} {
				assert.Nil(t, f[number], number)
			}
		}
	}
	return p, list
}

// measured is what a run says, without when and how it was asked.
func measured(list []measurements.RunRow) []string {
	out := make([]string, len(list))
	for i, r := range list {
		text, err := json.Marshal([]any{r.CaseID, r.Side, r.K, r.Status, r.Outcome, r.Hit, r.SilentStrict, r.SilentClass, r.SilentRegion, r.Findings, r.PromptTokens, r.CompletionTokens, r.TrajectoryHash, r.FinishReason})
		if err != nil {
			panic(err)
		}
		out[i] = string(text)
	}
	return out
}

// statuses counts runs by status.
func statusCounts(list []measurements.RunRow) map[string]int {
	counts := map[string]int{}
	for _, r := range list {
		counts[r.Status]++
	}
	return counts
}
