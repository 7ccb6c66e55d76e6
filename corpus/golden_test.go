package corpus

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

type vector struct {
	ID, Level     string
	Input, Expect json.RawMessage
}

// goldenVectors reads scoring/cases.json from YOUDEN_GOLDEN, or from testdata.
func goldenVectors(t *testing.T) []vector {
	t.Helper()
	dir := os.Getenv("YOUDEN_GOLDEN")
	if dir == "" {
		dir = filepath.Join("testdata", "golden")
	}
	data, err := os.ReadFile(filepath.Join(dir, "scoring", "cases.json"))
	if os.IsNotExist(err) {
		t.Skip("no golden file scoring/cases.json")
	}
	require.NoError(t, err)
	var document struct{ Cases []vector }
	require.NoError(t, json.Unmarshal(data, &document))
	return document.Cases
}

// has reports whether a JSON object has all of the keys.
func has(object json.RawMessage, keys ...string) bool {
	var m map[string]json.RawMessage
	if json.Unmarshal(object, &m) != nil {
		return false
	}
	for _, key := range keys {
		if _, ok := m[key]; !ok {
			return false
		}
	}
	return true
}

func (v vector) read(t *testing.T, input, expect any) {
	t.Helper()
	if json.Unmarshal(v.Input, input) != nil || json.Unmarshal(v.Expect, expect) != nil {
		t.Skipf("vector %s has an unknown shape", v.ID)
	}
}

func TestGoldenImport(t *testing.T) {
	for _, v := range goldenVectors(t) {
		if v.Level != "import" {
			continue
		}
		t.Run(v.ID, func(t *testing.T) {
			switch {
			case has(v.Input, "text") && has(v.Expect, "lines"):
				goldenLines(t, v)
			case has(v.Input, "file_lines", "span"):
				goldenSpan(t, v)
			case has(v.Input, "same"):
				goldenSides(t, v)
			default:
				t.Skipf("vector %s is not about loading a corpus", v.ID)
			}
		})
	}
}

func goldenLines(t *testing.T, v vector) {
	var input struct{ Text string }
	var expect struct{ Lines int }
	v.read(t, &input, &expect)
	assert.Equal(t, expect.Lines, File{Text: []byte(input.Text)}.Lines())
}

func goldenSpan(t *testing.T, v vector) {
	var input struct {
		FileLines int `json:"file_lines"`
		Span      [2]int
	}
	var expect struct{ Unscorable *string }
	v.read(t, &input, &expect)
	text := strings.Repeat("x\n", input.FileLines)
	c := &Case{Task: TaskAudit, Language: "go", Vulnerable: side("a.go", text), Fixed: side("a.go", text+"y\n"),
		Spans: []Span{{"a.go", input.Span[0], input.Span[1]}}}
	reason, _ := c.Unscorable(Vulnerable)
	want := ""
	if expect.Unscorable != nil {
		want = *expect.Unscorable
	}
	assert.Equal(t, want, string(reason))
}

func goldenSides(t *testing.T, v vector) {
	var input struct{ Same bool }
	var expect struct{ Reject *string }
	v.read(t, &input, &expect)
	c := &Case{Task: TaskAudit, Language: "go", Vulnerable: side("a.go", "x\r\n"), Fixed: side("a.go", "x\n"), Spans: []Span{{"a.go", 1, 1}}}
	if !input.Same {
		c.Fixed = side("a.go", "y\n")
	}
	reason, detail := c.Unscorable(Vulnerable)
	if expect.Reject == nil {
		assert.Equal(t, Scorable, reason)
		return
	}
	assert.Equal(t, LabelDefect, reason)
	rejected, _, _ := strings.Cut(detail, ":")
	assert.Equal(t, *expect.Reject, rejected)
}

func TestGoldenGroups(t *testing.T) {
	for _, v := range goldenVectors(t) {
		if !has(v.Input, "pairs") || !has(v.Expect, "groups") {
			continue
		}
		t.Run(v.ID, func(t *testing.T) {
			var input struct {
				Pairs []struct{ ID, Hash, Commit, Repo string }
			}
			var expect struct{ Groups [][]string }
			v.read(t, &input, &expect)
			keys := make([][]string, len(input.Pairs))
			for i, p := range input.Pairs {
				keys[i] = origin{repo: p.Repo, commit: p.Commit}.keys(p.Hash)
			}
			members := map[int][]string{}
			var order []int
			for i, g := range groupsOf(keys) {
				if members[g] == nil {
					order = append(order, g)
				}
				members[g] = append(members[g], input.Pairs[i].ID)
			}
			var groups [][]string
			for _, g := range order {
				groups = append(groups, members[g])
			}
			assert.ElementsMatch(t, expect.Groups, groups)
		})
	}
}

// TestGoldenPaths takes from the vectors of vulnerable runs what they say about
// paths: a detected finding names the file of a span, however it is spelt.
func TestGoldenPaths(t *testing.T) {
	for _, v := range goldenVectors(t) {
		if v.Level != "vulnerable_run" || !has(v.Input, "pair", "run") || !has(v.Expect, "outcome") {
			continue
		}
		var input struct {
			Pair struct{ Spans []struct{ File string } }
			Run  struct{ Findings []struct{ File string } }
		}
		var expect struct{ Outcome string }
		if json.Unmarshal(v.Input, &input) != nil || json.Unmarshal(v.Expect, &expect) != nil || expect.Outcome != "detected" || len(input.Run.Findings) != 1 {
			continue
		}
		t.Run(v.ID, func(t *testing.T) {
			s := &Side{}
			var files []string
			for _, span := range input.Pair.Spans {
				s.Files = append(s.Files, File{Path: span.File})
				files = append(files, span.File)
			}
			assert.Contains(t, files, NormalizePath(input.Run.Findings[0].File, s))
			assert.Contains(t, files, NormalizePath(input.Run.Findings[0].File, nil))
		})
	}
}
