package main

import (
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/youden-bench/youden/bench/simulator"
	"github.com/youden-bench/youden/measurements/compare"
)

// Simulated models of which one is known to differ from another, or not to.
const (
	strongModel  = "sim-strong"
	driftedModel = "sim-drifted" // sim-strong, but for injection
	weakModel    = "sim-weak"
	nullModel    = "sim-null"
)

// shelf makes captures of simulated models over the planted train split at K = 5,
// each once. One simulated endpoint serves them all: its answers depend on the
// request alone, and what it has understood of the code costs three quarters of a
// capture's time.
type shelf struct {
	endpoint string
	folder   string
	long     bool // all seeds
	subjects map[string]*compare.Subject
}

func newShelf(t *testing.T) *shelf {
	t.Helper()
	handler, err := simulator.New(simulator.Options{})
	require.NoError(t, err)
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	return &shelf{
		endpoint: server.URL + "/v1", folder: t.TempDir(), long: os.Getenv("YOUDEN_LONG") != "",
		subjects: map[string]*compare.Subject{},
	}
}

// seeds is how many of them a test takes.
func (s *shelf) seeds(short, long int) int {
	if s.long {
		return long
	}
	return short
}

// capture makes a capture and returns its directory. The ledger goes: no comparison
// reads it, and those of all seeds would take a gigabyte.
func (s *shelf) capture(t *testing.T, model string, seed int) string {
	t.Helper()
	dir := filepath.Join(s.folder, fmt.Sprintf("%s-%d", model, seed))
	if _, err := os.Stat(dir); err == nil {
		return dir
	}
	code, _, stderr := youden(t, "capture", "--endpoint", s.endpoint, "--model", model, "--runs", "5", "--seed", fmt.Sprint(seed),
		"--out", dir, "--format", "json", "--progress", "none")
	require.Equal(t, exitPass, code, stderr)
	require.NoError(t, os.Remove(filepath.Join(dir, "ledger.db")))
	return dir
}

// control makes a capture of a control, which calls no model.
func (s *shelf) control(t *testing.T, name string) string {
	t.Helper()
	dir := filepath.Join(s.folder, name)
	code, _, stderr := youden(t, "capture", "--detector", "control:"+name, "--runs", "5", "--out", dir, "--format", "json", "--progress", "none")
	require.Equal(t, exitPass, code, stderr)
	return dir
}

// subject is a capture as compare reads it.
func (s *shelf) subject(t *testing.T, model string, seed int) *compare.Subject {
	t.Helper()
	dir := s.capture(t, model, seed)
	if s.subjects[dir] == nil {
		subject, err := compare.Load(dir, "", "")
		require.NoError(t, err)
		require.True(t, subject.Simulated, "the endpoint says what it is")
		s.subjects[dir] = subject
	}
	return s.subjects[dir]
}

// What comparisons say of simulated models whose difference is known. The long
// form takes all seeds.
func TestRegressionsOfSimulatedModels(t *testing.T) {
	if testing.Short() || raceDetector {
		t.Skip("captures of the train split, which the race detector makes slow; they run without it")
	}
	s := newShelf(t)
	t.Run("one family drifts", s.drift)
	t.Run("nothing but the seed differs", s.repeat)
	t.Run("five cases are lost", s.losses)
	t.Run("a capture and itself", s.itself)
	t.Run("controls", s.controls)
}
