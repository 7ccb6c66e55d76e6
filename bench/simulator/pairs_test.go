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
	return pairsIn(t, "pairs")
}

// generalPairs reads testdata/general: pairs of all kinds, and apart from them
// the half that nobody looked at while the lexicon was worked on.
func generalPairs(t testing.TB) (all, development, heldOut []pair) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", "general", "held-out.list"))
	require.NoError(t, err)
	held := strings.Fields(string(data))
	all = pairsIn(t, "general")
	for _, p := range all {
		if contains(held, p.id) {
			heldOut = append(heldOut, p)
		} else {
			development = append(development, p)
		}
	}
	require.Len(t, heldOut, len(held))
	return all, development, heldOut
}

func pairsIn(t testing.TB, dir string) []pair {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("testdata", dir, "*.txt"))
	require.NoError(t, err)
	require.GreaterOrEqual(t, len(files), 14)
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
	p := pair{id: id, family: family, vulnerable: side{}, fixed: side{}}
	n := 0 // lines of the vulnerable file
	for _, line := range lines[1:] {
		require.GreaterOrEqual(t, len(line), 2, "%s: %q", id, line)
		mark, code := line[:2], line[2:]
		if mark == ">|" {
			path, n = strings.TrimSpace(code), 0
			continue
		}
		if mark != "F|" {
			p.vulnerable[path] += code + "\n"
			n++
		}
		if mark != "V|" {
			p.fixed[path] += code + "\n"
		}
		last := len(p.spans) - 1
		switch {
		case mark != "V|" && mark != "S|":
		case last >= 0 && p.spans[last].File == path && p.spans[last].End == n-1:
			p.spans[last].End = n
		default:
			p.spans = append(p.spans, span{path, n, n})
		}
	}
	require.NotEmpty(t, p.spans, id)
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
