package compare_test

import (
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/youden-bench/youden/measurements/compare"
)

// What a large comparison takes is what each further pair and each further run
// takes. Times belong to a machine; these do not.
func TestComparisonsTakeLittleOfEachPairAndRun(t *testing.T) {
	// Families of two dozen cases and more: what could be found in small ones is tried
	// out, which takes something for each family and nothing for each case.
	few, pairs := size{1500, 3, 14}, size{2000, 3, 14}
	pair := pairs.cost(t).less(few.cost(t)).over(float64(pairs.pairs - few.pairs))
	t.Logf("a pair in both captures: %+v", pair)
	assert.Less(t, pair.loading, 30.0, "allocations while captures are read")
	assert.Less(t, pair.held, 1400.0, "bytes held of them")
	if !compare.Raced { // the race detector allocates too
		assert.Less(t, pair.comparing, 100.0, "allocations while they are compared")
	}

	few, runs := size{150, 5, 14}, size{150, 15, 14}
	run := runs.cost(t).less(few.cost(t)).over(float64(2 * 2 * few.pairs * (runs.k - few.k)))
	t.Logf("a run: %+v", run)
	assert.Less(t, run.loading, .4, "allocations while captures are read")
	assert.Less(t, run.held, 8.0, "bytes held of them")
}

// cost is allocations while two captures are read, bytes that are then held, and
// allocations while they are compared.
type cost struct{ loading, held, comparing float64 }

func (c cost) less(d cost) cost {
	return cost{c.loading - d.loading, c.held - d.held, c.comparing - d.comparing}
}

func (c cost) over(n float64) cost {
	return cost{c.loading / n, c.held / n, c.comparing / n}
}

func (s size) cost(t *testing.T) (c cost) {
	t.Helper()
	old, updated := filepath.Join(t.TempDir(), "old"), filepath.Join(t.TempDir(), "new")
	require.NoError(t, s.capture(old, edition{seed: 1}))
	require.NoError(t, s.capture(updated, edition{seed: 2, late: true}))
	_, _, err := compare.LoadBoth(old, updated, "", "") // what is made once
	require.NoError(t, err)
	start := memory()
	before, after, err := compare.LoadBoth(old, updated, "", "")
	require.NoError(t, err)
	loaded := memory()
	compare.Compare(before, after, compare.Options{})
	done := memory()
	runtime.KeepAlive(before)
	runtime.KeepAlive(after)
	return cost{
		loading: float64(loaded.Mallocs - start.Mallocs), held: float64(loaded.HeapAlloc) - float64(start.HeapAlloc),
		comparing: float64(done.Mallocs - loaded.Mallocs),
	}
}

func memory() (m runtime.MemStats) {
	runtime.GC()
	runtime.GC() // the first leaves what pools still hold
	runtime.ReadMemStats(&m)
	return m
}
