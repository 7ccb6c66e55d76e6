package compare_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
)

// duckDB runs SQL in Node.js, where CI has installed it.
type duckDB struct{ folder, program, macros string }

// findDuckDB returns nil, and says so, where it is not installed.
func findDuckDB(b *testing.B) *duckDB {
	b.Helper()
	folder, err := filepath.Abs("../../.ci/duckdb")
	require.NoError(b, err)
	macros, err := filepath.Abs("testdata/large/aggregate.sql")
	require.NoError(b, err)
	_, lacksNode := exec.LookPath("node")
	_, lacksModule := os.Stat(filepath.Join(folder, "node_modules", "@duckdb", "node-api"))
	if lacksNode != nil || lacksModule != nil {
		b.Logf("without DuckDB: install node, and run `npm ci` in .ci/duckdb (%v, %v)", lacksNode, lacksModule)
		return nil
	}
	return &duckDB{folder, "testdata/large/aggregate.mjs", macros}
}

// aggregated is what DuckDB says of two captures, and the seconds it took for the
// rates by family, and for all else that a comparison sums up.
type aggregated struct {
	Version  string
	Families []struct {
		Slice, Family string
		N             int
		Old, New      float64
	}
	Rates, Further float64
	cpu            float64
}

func (d duckDB) aggregate(b *testing.B, old, updated string, k int) (a aggregated) {
	b.Helper()
	program, err := os.Open(d.program)
	require.NoError(b, err)
	defer func() { require.NoError(b, program.Close()) }()
	cmd := exec.Command("node", "--input-type=module", "-", old, updated, strconv.Itoa(k))
	cmd.Dir, cmd.Stdin, cmd.Env = d.folder, program, append(os.Environ(), "AGGREGATE_SQL="+d.macros)
	out, cpu := output(b, cmd)
	require.NoError(b, json.Unmarshal(out, &a))
	a.cpu = cpu
	return a
}

// beside takes the times of DuckDB, once it has come to the same numbers.
func (m *measured) beside(b *testing.B, a aggregated) {
	b.Helper()
	m.duck = a
	require.Len(b, a.Families, len(m.Rows))
	for _, f := range a.Families {
		want := m.Rows[f.Slice+" "+f.Family]
		require.Equal(b, want.N, f.N, "%s %s", f.Slice, f.Family)
		require.InDelta(b, want.Old, f.Old, 1e-9)
		require.InDelta(b, want.New, f.New, 1e-9)
	}
}
