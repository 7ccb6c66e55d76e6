package main

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/youden-bench/youden/bench"
	"github.com/youden-bench/youden/corpus"
)

// ownLine is the length from which a line of code is somebody's own and no
// idiom of a language: shorter ones stand in many programs.
const ownLine = 36

// The simulated models may know nothing of the embedded cases: no id and no group
// stands below the simulator's directory, and no file and no line of their code,
// of either side and in whatever quotes, in what its answers are made of. What
// this cannot see is a rule that fits one case alone; the README says on what the
// models were worked out.
func TestSimulatorKnowsNoFixture(t *testing.T) {
	c, err := bench.LoadCorpus("")
	require.NoError(t, err)
	all, shipped := simulatorSources(t, true), simulatorSources(t, false)
	require.Contains(t, shipped, "package simulator")
	known := windows(shipped, ownLine)
	idioms := linesOfSeveralCases(c)
	for _, k := range c.Cases {
		for _, told := range append(knownNames(k, all), knownCode(k, shipped, known, idioms)...) {
			t.Errorf("%s: %q stands in the simulator", k.ID, told)
		}
	}
}

// knownNames lists the names of a case that stand in a text.
func knownNames(k *corpus.Case, text string) []string {
	var found []string
	for _, name := range []string{k.ID, `"` + k.Group + `"`, k.ContentHash()} {
		if strings.Contains(text, name) {
			found = append(found, name)
		}
	}
	return found
}

// knownCode lists the files and lines of a case that stand in a text.
func knownCode(k *corpus.Case, text string, known, idioms map[string]bool) []string {
	var found []string
	for _, side := range k.Sides() {
		for _, f := range k.Side(side).Files {
			if strings.Count(f.Path, "/") > 1 && strings.Contains(text, path.Join(path.Base(path.Dir(f.Path)), path.Base(f.Path))) {
				found = append(found, f.Path)
			}
			for _, line := range strings.Split(string(f.Text), "\n") {
				line = collapse(line)
				if len(line) >= ownLine && !idioms[line] && known[line[:ownLine]] && strings.Contains(text, line) {
					found = append(found, line)
				}
			}
		}
	}
	return found
}

// The guard itself notices each kind of leak.
func TestLeaksIntoTheSimulatorAreNoticed(t *testing.T) {
	c, err := bench.LoadCorpus("")
	require.NoError(t, err)
	idioms := linesOfSeveralCases(c)
	k := c.Cases[0]
	var own string
	for _, line := range strings.Split(string(k.Fixed.Files[0].Text), "\n") {
		if line = collapse(line); len(line) >= ownLine && !idioms[line] && len(line) > len(own) {
			own = line
		}
	}
	require.NotEmpty(t, own)
	for _, leak := range []string{
		k.ID, `the "` + k.Group + `" case`, k.ContentHash(), `pattern := "` + own + `"`, "\t" + strings.ReplaceAll(own, " ", "  "),
	} {
		text := "package simulator // " + leak
		text = collapse(text)
		assert.NotEmpty(t, append(knownNames(k, text), knownCode(k, text, windows(text, ownLine), idioms)...), leak)
	}
	assert.Empty(t, append(knownNames(k, "package simulator"), knownCode(k, "package simulator", nil, idioms)...))
}

// simulatorSources is the text of the simulator; without all, only that of which
// answers are made: no test, and no pair that only a test reads.
func simulatorSources(t *testing.T, all bool) string {
	t.Helper()
	var sources strings.Builder
	root := filepath.Join("..", "..", "bench", "simulator")
	require.NoError(t, filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if d.IsDir() && d.Name() == "testdata" && !all {
			return filepath.SkipDir
		}
		if err != nil || d.IsDir() || !all && strings.HasSuffix(name, "_test.go") {
			return err
		}
		data, err := os.ReadFile(name)
		sources.Write(data)
		sources.WriteByte('\n')
		return err
	}))
	// A line inside a Go or JSON string has its quotes escaped.
	return collapse(sources.String() + strings.NewReplacer(`\"`, `"`, `\\`, `\`).Replace(sources.String()))
}

func collapse(text string) string { return strings.Join(strings.Fields(text), " ") }

// windows is the set of all runs of n bytes of a text.
func windows(text string, n int) map[string]bool {
	set := make(map[string]bool, len(text))
	for i := 0; i+n <= len(text); i++ {
		set[text[i:i+n]] = true
	}
	return set
}

// linesOfSeveralCases are idioms: what two authors wrote alike is nobody's own.
func linesOfSeveralCases(c *corpus.Corpus) map[string]bool {
	first, several := map[string]string{}, map[string]bool{}
	for _, k := range c.Cases {
		for _, side := range k.Sides() {
			for _, f := range k.Side(side).Files {
				for _, line := range strings.Split(string(f.Text), "\n") {
					line = collapse(line)
					if owner, seen := first[line]; seen && owner != k.ID {
						several[line] = true
					} else if !seen {
						first[line] = k.ID
					}
				}
			}
		}
	}
	return several
}
