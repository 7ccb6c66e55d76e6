package simulator

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// ownPairs reads testdata/pairs; its README says how they are marked.
func ownPairs(t testing.TB) []pair {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("testdata", "pairs", "*.txt"))
	require.NoError(t, err)
	require.GreaterOrEqual(t, len(files), 28)
	var out []pair
	for _, file := range files {
		data, err := os.ReadFile(file)
		require.NoError(t, err)
		out = append(out, parsePair(t, strings.TrimSuffix(filepath.Base(file), ".txt"), string(data)))
	}
	return out
}

func parsePair(t testing.TB, id, text string) pair {
	t.Helper()
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	family, path, ok := strings.Cut(lines[0], " ")
	require.True(t, ok, id)
	p := pair{id: id, family: family}
	var vulnerable, fixed []string
	for _, line := range lines[1:] {
		require.GreaterOrEqual(t, len(line), 2, "%s: %q", id, line)
		mark, code := line[:2], line[2:]
		if mark != "F|" {
			vulnerable = append(vulnerable, code)
		}
		if mark != "V|" {
			fixed = append(fixed, code)
		}
		n := len(vulnerable)
		switch {
		case mark != "V|" && mark != "S|":
		case len(p.spans) > 0 && p.spans[len(p.spans)-1].End == n-1:
			p.spans[len(p.spans)-1].End = n
		default:
			p.spans = append(p.spans, span{path, n, n})
		}
	}
	require.NotEmpty(t, p.spans, id)
	p.vulnerable = side{path: strings.Join(vulnerable, "\n") + "\n"}
	p.fixed = side{path: strings.Join(fixed, "\n") + "\n"}
	return p
}

func ownPair(t testing.TB, id string) pair {
	t.Helper()
	for _, p := range ownPairs(t) {
		if p.id == id {
			return p
		}
	}
	require.Fail(t, "no pair "+id)
	return pair{}
}
