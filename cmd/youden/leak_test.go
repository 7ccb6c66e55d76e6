package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/youden-bench/youden/bench"
)

// The simulated models may know nothing of the embedded cases: no id, no group,
// no directory and no line of their code stands in the simulator's sources.
func TestSimulatorKnowsNoFixture(t *testing.T) {
	c, err := bench.LoadCorpus("")
	require.NoError(t, err)
	var sources strings.Builder
	lines := map[string]bool{}
	root := filepath.Join("..", "..", "bench", "simulator")
	require.NoError(t, filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(name)
		sources.Write(data)
		sources.WriteByte('\n')
		for _, line := range strings.Split(string(data), "\n") {
			lines[strings.TrimSpace(line)] = true
		}
		return err
	}))
	text := sources.String()
	require.Contains(t, text, "package simulator")
	for _, k := range c.Cases {
		assert.NotContains(t, text, k.ID)
		assert.NotContains(t, text, `"`+k.Group+`"`)
		assert.NotContains(t, text, k.ContentHash())
		for _, span := range k.Spans {
			file, ok := k.Vulnerable.File(span.File)
			require.True(t, ok)
			for _, line := range strings.Split(string(file.Text), "\n")[span.Start-1 : span.End] {
				if line = strings.TrimSpace(line); len(line) > 24 {
					assert.False(t, lines[line], "%s: the line %q stands in the simulator", k.ID, line)
				}
			}
		}
	}
}
