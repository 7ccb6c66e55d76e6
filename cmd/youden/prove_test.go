package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/youden-bench/youden/bench"
)

type proofs struct {
	Schema                  string
	Proved, Failed, Skipped int
	Proofs                  []struct{ Case, Tool, Status, Swapped, Reason string }
}

func readProofs(t *testing.T, out string) proofs {
	t.Helper()
	var p proofs
	require.NoError(t, json.Unmarshal([]byte(out), &p))
	assert.Equal(t, "youden.proof/1", p.Schema)
	return p
}

// Without any interpreter every proof of the embedded cases is named, skipped
// and counted, none is called proved, and the exit code says incomplete.
func TestProveWithoutInterpreters(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	code, out, stderr := youden(t, "corpus", "prove", "--format", "json")
	require.Equal(t, exitIncomplete, code, stderr)
	p := readProofs(t, out)
	c, err := bench.LoadCorpus("")
	require.NoError(t, err)
	var want []string
	for _, k := range c.Cases {
		if k.Proof != nil {
			want = append(want, k.ID)
		}
	}
	var got []string
	for _, one := range p.Proofs {
		got = append(got, one.Case)
		assert.Equal(t, "skipped", one.Status)
		assert.NotEmpty(t, one.Reason)
	}
	assert.Equal(t, want, got)
	assert.Equal(t, len(want), p.Skipped)
	assert.GreaterOrEqual(t, p.Skipped, 30)
	assert.Zero(t, p.Proved+p.Failed)

	code, out, _ = youden(t, "corpus", "prove")
	assert.Equal(t, exitIncomplete, code)
	assert.Contains(t, out, "0 proved, 0 failed")
	for _, tool := range []string{"Python 3", "Node.js", "Go"} {
		assert.Contains(t, out, "proofs were not run and say nothing: "+tool+" is not here")
	}
}

// The embedded cases of the language whose tool surely is here are proved, and
// not with their sides exchanged. All languages together are a stage of CI.
func TestProveEmbeddedGo(t *testing.T) {
	if testing.Short() || raceDetector {
		t.Skip("compiles programs, and has run without the race detector")
	}
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("no go on the path")
	}
	c, err := bench.LoadCorpus("")
	require.NoError(t, err)
	var ids []string
	for _, k := range c.Cases {
		if k.Proof != nil && k.Language == "go" && len(ids) < 3 && k.Family != "injection" {
			ids = append(ids, k.ID)
		}
	}
	require.NotEmpty(t, ids)
	t.Setenv("TMPDIR", t.TempDir())
	code, out, stderr := youden(t, "corpus", "prove", "--self-test", "--format", "json", "--case", strings.Join(ids, ","))
	left, err := os.ReadDir(os.Getenv("TMPDIR"))
	require.NoError(t, err)
	assert.Empty(t, left, "nothing that a proof started writes after it has ended")
	require.Equal(t, exitPass, code, out+stderr)
	p := readProofs(t, out)
	assert.Equal(t, len(ids), p.Proved)
	for _, one := range p.Proofs {
		assert.Equal(t, "failed", one.Swapped, one.Case)
	}
}
