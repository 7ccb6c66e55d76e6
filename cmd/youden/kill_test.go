package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/youden-bench/youden/bench/ledger"
	"github.com/youden-bench/youden/measurements"
)

func write(t *testing.T, name, text string) {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Dir(name), 0o755))
	require.NoError(t, os.WriteFile(name, []byte(text), 0o600))
}

// files returns the bytes of every file below dir, by name.
func files(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	require.NoError(t, filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(name)
		out[name] = string(data)
		return err
	}))
	return out
}

// simulated starts `youden simulate` in a process of its own on a free port.
func simulated(t *testing.T, args ...string) (baseURL string) {
	t.Helper()
	cmd := binary(t, append([]string{"simulate", "--addr", "127.0.0.1:0"}, args...)...)
	stdout, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	line, err := bufio.NewReader(stdout).ReadString('\n')
	require.NoError(t, err)
	_, rest, ok := strings.Cut(line, "http://")
	require.True(t, ok, line)
	address, _, ok := strings.Cut(rest, "/v1")
	require.True(t, ok, line)
	return "http://" + address + "/v1"
}

// table is the rows of a capture, each as JSON without the columns of times and
// of identities of attempts.
func table(t *testing.T, dir string) map[string][]string {
	t.Helper()
	c, err := measurements.Open(dir)
	require.NoError(t, err)
	out := map[string][]string{}
	add := func(name string, row any) {
		raw, err := json.Marshal(row)
		require.NoError(t, err)
		fields := map[string]any{}
		require.NoError(t, json.Unmarshal(raw, &fields))
		for _, column := range []string{"StartedAt", "LatencyMS", "Receipt", "LatencyMSMean", "started_at", "latency_ms", "receipt"} {
			delete(fields, column)
		}
		raw, err = json.Marshal(fields)
		require.NoError(t, err)
		out[name] = append(out[name], string(raw))
	}
	for row, err := range c.Runs() {
		require.NoError(t, err)
		add("runs", row)
	}
	for row, err := range c.Steps() {
		require.NoError(t, err)
		add("steps", row)
	}
	for row, err := range c.Findings() {
		require.NoError(t, err)
		add("findings", row)
	}
	for row, err := range c.Scores() {
		require.NoError(t, err)
		add("scores", row)
	}
	return out
}

func sameTables(t *testing.T, want, got string) {
	t.Helper()
	a, b := table(t, want), table(t, got)
	for _, name := range []string{"runs", "steps", "findings", "scores"} {
		require.NotEmpty(t, a[name], name)
		require.Len(t, b[name], len(a[name]), name)
		for i := range a[name] {
			require.Equal(t, a[name][i], b[name][i], "%s row %d", name, i)
		}
	}
}

// One seed gives one capture: at any concurrency, in this process or over a port.
func TestCapturesOfOneSeedAreIdentical(t *testing.T) {
	work := t.TempDir()
	first := filepath.Join(work, "first")
	common := []string{"--progress", "none", "--runs", "2", "--limit", "16"}
	code, _, stderr := youden(t, append([]string{"capture", "--out", first, "--concurrency", "1"}, common...)...)
	require.Equal(t, exitPass, code, stderr)
	wide := filepath.Join(work, "wide")
	code, _, stderr = youden(t, append([]string{"capture", "--out", wide, "--concurrency", "32"}, common...)...)
	require.Equal(t, exitPass, code, stderr)
	sameTables(t, first, wide)

	port := filepath.Join(work, "port")
	code, _, stderr = youden(t, append([]string{"capture", "--out", port, "--endpoint", simulated(t), "--model", "sim-strong"}, common...)...)
	require.Equal(t, exitPass, code, stderr)
	sameTables(t, first, port)

	other := filepath.Join(work, "other")
	code, _, stderr = youden(t, append([]string{"capture", "--out", other, "--seed", "2"}, common...)...)
	require.Equal(t, exitPass, code, stderr)
	assert.NotEqual(t, table(t, first)["steps"], table(t, other)["steps"], "the comparison sees another seed")
}

// kill -9 loses nothing that was paid for, and nothing is paid twice.
func TestKilledCaptureResumesToTheSame(t *testing.T) {
	work := t.TempDir()
	whole, killed := filepath.Join(work, "whole"), filepath.Join(work, "killed")
	code, _, stderr := youden(t, "capture", "--out", whole, "--limit", "20", "--progress", "none")
	require.Equal(t, exitPass, code, stderr)

	baseURL := simulated(t, "--latency", "25ms") // so that each kill finds calls under way
	args := []string{"capture", "--out", killed, "--endpoint", baseURL, "--model", "sim-strong", "--limit", "20", "--concurrency", "4", "--progress", "none"}
	for kill := range 5 {
		cmd := binary(t, args...)
		cmd.Dir = work
		require.NoError(t, cmd.Start())
		waitForCalls(t, baseURL, calls(t, baseURL)+6)
		require.NoError(t, cmd.Process.Kill())
		err := cmd.Wait()
		require.Error(t, err, "kill %d came too late to interrupt anything", kill)
		args = []string{"resume", killed, "--progress", "none"}
	}
	cmd := binary(t, args...)
	cmd.Dir = work
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, string(out))
	sameTables(t, whole, killed)
	paidOnce(t, baseURL, filepath.Join(killed, "ledger.db"))
}

// paidOnce checks the endpoint's own count against the ledger: every answer that
// the ledger holds was asked for once, and what was asked for besides is on
// record as indeterminate.
func paidOnce(t *testing.T, baseURL, file string) {
	t.Helper()
	l, err := ledger.Open(context.Background(), file, ledger.Options{ReadOnly: true})
	require.NoError(t, err)
	defer func() { require.NoError(t, l.Close()) }()
	observed, open := 0, 0
	for entry, err := range l.Attempts(context.Background()) {
		require.NoError(t, err)
		if entry.Observation != nil {
			observed++
		} else {
			open++
		}
	}
	seen := calls(t, baseURL)
	assert.GreaterOrEqual(t, seen, observed)
	assert.LessOrEqual(t, seen, observed+open, "a finished call was asked for again")
	assert.LessOrEqual(t, open, 5*4, "at most the calls under way at each kill are open")
}

func calls(t *testing.T, baseURL string) int {
	t.Helper()
	resp, err := http.Get(strings.TrimSuffix(baseURL, "/v1") + "/-/stats")
	require.NoError(t, err)
	defer resp.Body.Close()
	var stats struct {
		Calls int `json:"calls"`
	}
	require.NoError(t, json.NewDecoder(resp.Body).Decode(&stats))
	return stats.Calls
}

// waitForCalls polls the endpoint's counter; each poll is a round trip.
func waitForCalls(t *testing.T, baseURL string, want int) {
	t.Helper()
	for range 100000 {
		if calls(t, baseURL) >= want {
			return
		}
	}
	t.Fatalf("the endpoint never saw %d calls", want)
}

// Ctrl-C ends a capture as partial, with every answer kept.
func TestInterruptFinalisesWhatExists(t *testing.T) {
	work := t.TempDir()
	dir := filepath.Join(work, "c")
	baseURL := simulated(t, "--latency", "20ms")
	cmd := binary(t, "capture", "--out", dir, "--endpoint", baseURL, "--model", "sim-strong", "--concurrency", "2",
		"--progress", "none", "--format", "json")
	require.NoError(t, cmd.Start())
	waitForCalls(t, baseURL, 5)
	require.NoError(t, cmd.Process.Signal(os.Interrupt))
	err := cmd.Wait()
	var exit *exec.ExitError
	require.ErrorAs(t, err, &exit)
	assert.Equal(t, exitInterrupted, exit.ExitCode())
	c, err := measurements.Open(dir)
	require.NoError(t, err)
	assert.Equal(t, measurements.Partial, c.Manifest().Status)
	got := map[string]int{}
	for row, err := range c.Runs() {
		require.NoError(t, err)
		got[row.Status]++
	}
	assert.Positive(t, got["cancelled"])
	assert.Equal(t, calls(t, baseURL), got["ok"]+got["bad_format"]+got["bad_schema"]+got["truncated"]+got["refused"], fmt.Sprint(got))

	code, _, stderr := youden(t, "resume", dir, "--progress", "none")
	assert.Equal(t, exitPass, code, stderr)
}

// On an endpoint that is not simulated a call whose fate a crash left open is
// not sent again unless the operator says so, and its run has no number.
func TestCallsOfUnknownFateWaitForTheOperator(t *testing.T) {
	work := t.TempDir()
	arrived := make(chan struct{}, 100)
	var hold atomic.Bool
	hold.Store(true)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // only then does the server notice a peer that is gone
		arrived <- struct{}{}
		if hold.Load() {
			<-r.Context().Done() // until the process that asked is dead
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"id":"x","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,"finish_reason":"stop","message":{"role":"assistant","content":"{\"findings\": []}"}}]}`))
	}))
	defer server.Close()
	dir := filepath.Join(work, "c")
	cmd := binary(t, "capture", "--out", dir, "--endpoint", server.URL+"/v1", "--model", "m", "--limit", "2", "--runs", "1", "--concurrency", "1", "--progress", "none")
	require.NoError(t, cmd.Start())
	<-arrived
	require.NoError(t, cmd.Process.Kill())
	require.Error(t, cmd.Wait())
	hold.Store(false)

	code, out, stderr := youden(t, "resume", dir, "--progress", "none")
	assert.Equal(t, exitIncomplete, code)
	assert.Contains(t, out, "partial 3/4")
	assert.Contains(t, stderr, "--indeterminate retry")
	c, err := measurements.Open(dir)
	require.NoError(t, err)
	for row, err := range c.Runs() {
		require.NoError(t, err)
		if row.Status == "cancelled" {
			assert.Nil(t, row.CostUSDMicros, "it may have been billed")
			assert.Nil(t, row.PromptTokens)
		}
	}
	assert.Len(t, arrived, 3, "the open call was not sent again")

	code, out, stderr = youden(t, "resume", dir, "--indeterminate", "retry", "--progress", "none")
	assert.Equal(t, exitPass, code, stderr)
	assert.Contains(t, out, "complete")
	assert.Len(t, arrived, 4, "and now it was, alone")
}

// A ledger that is not the capture's own knows nothing of what was paid for.
func TestResumeRefusesAnotherLedger(t *testing.T) {
	work := t.TempDir()
	dir, other := filepath.Join(work, "c"), filepath.Join(work, "d")
	for _, d := range []string{dir, other} {
		code, _, stderr := youden(t, "capture", "--out", d, "--limit", "2", "--runs", "1", "--progress", "none")
		require.Equal(t, exitPass, code, stderr)
	}
	file := filepath.Join(dir, "ledger.db")
	good, err := os.ReadFile(file)
	require.NoError(t, err)
	foreign, err := os.ReadFile(filepath.Join(other, "ledger.db"))
	require.NoError(t, err)
	for name, content := range map[string][]byte{"missing": nil, "empty": {}, "another": foreign} {
		t.Run(name, func(t *testing.T) {
			require.NoError(t, os.Remove(file))
			if content != nil {
				require.NoError(t, os.WriteFile(file, content, 0o600))
			} else {
				t.Cleanup(func() { require.NoError(t, os.WriteFile(file, good, 0o600)) })
			}
			code, _, stderr := youden(t, "resume", dir, "--progress", "none")
			assert.Equal(t, exitUsage, code)
			assert.Contains(t, stderr, "ledger")
			assert.Contains(t, stderr, "pay for its calls again")
		})
	}
	require.NoError(t, os.WriteFile(file, good, 0o600))
	code, _, stderr := youden(t, "resume", dir, "--progress", "none")
	assert.Equal(t, exitPass, code, stderr)
}

// Output that nobody could read is no success.
func TestLostOutputIsAnError(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip("no /dev/full on this system")
	}
	defer func() { _ = full.Close() }()
	for _, args := range [][]string{{"corpus", "lint"}, {"detector", "show", "bare"}, {"capture", "--print-config"}, {"capture", "--dry-run"}} {
		var stderr strings.Builder
		assert.Equal(t, exitUsage, run(args, full, &stderr), "%v", args)
		assert.Contains(t, stderr.String(), "no space left")
	}
}
