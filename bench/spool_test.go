package bench

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/youden-bench/youden/detector"
	"github.com/youden-bench/youden/measurements"
)

// rowsWith are rows of any size, from a few bytes to more than is written at a time.
func rowsWith(i int) measurements.Rows {
	rows := measurements.Rows{Run: measurements.RunRow{RunID: fmt.Sprint(i), K: int64(i)}}
	for n := range i % 4 {
		rows.Steps = append(rows.Steps, measurements.StepRow{Step: int64(n), Text: strings.Repeat("x", i*i*100)})
	}
	return rows
}

// In whatever order runs end, their rows come back in plan order, as often as they are
// asked for, while others come.
func TestSpoolGivesRowsInPlanOrder(t *testing.T) {
	const runs = 90
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, spoolFile), []byte("left by a process that died"), 0o600))
	s, err := newSpool(dir, runs)
	require.NoError(t, err)
	if runtime.GOOS != "windows" {
		assert.NoFileExists(t, filepath.Join(dir, spoolFile), "nothing is left of it, whatever ends the process")
	}
	half := func(i int) bool { return i%2 == 0 }
	put := func(keep func(int) bool) {
		var workers sync.WaitGroup
		for _, i := range rand.Perm(runs) {
			if keep(i) {
				workers.Go(func() {
					rows := rowsWith(i)
					assert.NoError(t, s.put(i, &rows))
				})
			}
		}
		workers.Wait()
	}
	get := func(keep func(int) bool) (list []int) {
		for rows, err := range s.rows(keep) {
			require.NoError(t, err)
			i := int(rows.Run.K)
			require.Equal(t, rowsWith(i), rows)
			list = append(list, i)
		}
		return list
	}
	every := func(int) bool { return true }
	put(half)
	assert.Len(t, get(half), runs/2)
	for _, err := range s.rows(every) {
		if err != nil {
			require.ErrorIs(t, err, errNoRows, "a run that has not ended is no run without rows")
			break
		}
	}
	put(func(i int) bool { return !half(i) })
	all := get(every)
	require.Len(t, all, runs)
	for i, got := range all {
		require.Equal(t, i, got)
	}
	require.NoError(t, s.close())
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	assert.Empty(t, entries)
}

// Rows that cannot be kept end the capture: it would go on paying for what it loses.
func TestACaptureEndsWhenRowsCannotBeKept(t *testing.T) {
	_, err := newSpool(filepath.Join(t.TempDir(), "missing"), 1)
	require.Error(t, err)

	plan, _ := planOf(t, 2, 1)
	s, err := newSpool("", plan.Runs())
	require.NoError(t, err)
	require.NoError(t, s.file.Close()) // as good as a disk that fails
	st := &state{spool: s, projector: measurements.NewProjector(), causes: map[string]int{}, limit: 1}
	steps := []detector.Step{{Kind: detector.ModelStep, Text: strings.Repeat("x", spoolTail)}}
	st.finish(0, plan.Run(0), detector.Trajectory{Status: detector.OK, Steps: steps})
	assert.True(t, st.stopped())
	_, err = st.result(plan, 1, []int32{1, 2, 3})
	require.ErrorContains(t, err, "keeping rows until they are written")
	for _, err := range s.rows(func(int) bool { return true }) {
		require.Error(t, err)
	}
}

// The commonest cause of lost runs is told, however many there are.
func TestCommonestCause(t *testing.T) {
	st := &state{causes: map[string]int{}}
	assert.Empty(t, st.cause())
	for i := range 5000 {
		st.blame(fmt.Sprintf("request %d failed", i))
		st.blame([]string{"b: HTTP 500", "a: HTTP 500", "b: HTTP 500", ""}[i%4])
	}
	assert.LessOrEqual(t, len(st.causes), maxCauses)
	assert.Equal(t, "b: HTTP 500", st.cause())
}
