package measurements

import (
	"errors"
	"iter"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// long yields rows whose steps hold so many bytes of text each, and then an error if
// there is one.
func long(rows []Rows, size int, end error) iter.Seq2[Rows, error] {
	return func(yield func(Rows, error) bool) {
		for _, r := range rows {
			r.Steps = append([]StepRow(nil), r.Steps...)
			for i := range r.Steps {
				r.Steps[i].Text = strings.Repeat("answer ", size/7)
			}
			if !yield(r, nil) {
				return
			}
		}
		if end != nil {
			yield(Rows{}, end)
		}
	}
}

// However long the answers are, what a reader and the writer hold of them is bounded:
// a row group ends after so many bytes, or so many rows.
func TestRowGroupsAreBounded(t *testing.T) {
	rows := sampleRows(10, 5)
	c, err := Create(t.TempDir()+"/capture", sampleManifest(len(rows), 5))
	require.NoError(t, err)
	const size = 300_000
	require.NoError(t, c.WriteFrom(long(rows, size, nil)))
	table, err := openTable[StepRow](c.Dir(), stepsFile)
	require.NoError(t, err)
	defer func() { require.NoError(t, table.close()) }()
	require.GreaterOrEqual(t, len(rows), 100)
	for _, group := range table.pq.RowGroups() {
		assert.LessOrEqual(t, group.NumRows()*size, int64(bytesPerGroup+bytesPerChunk+size))
	}
	runs := manyCapture(t, 2000, 6)
	big, err := openTable[RunRow](runs.Dir(), runsFile)
	require.NoError(t, err)
	defer func() { require.NoError(t, big.close()) }()
	require.Greater(t, len(big.pq.RowGroups()), 1)
	for _, group := range big.pq.RowGroups() {
		assert.LessOrEqual(t, group.NumRows(), int64(rowsPerGroup))
	}
}

// Rows that pass by are written as rows in memory are, byte for byte.
func TestRowsThatPassByAreWrittenAsOthers(t *testing.T) {
	rows := sampleRows(4, 3)
	a, b := sampleCapture(t, rows, 3), sampleCapture(t, rows, 3)
	require.NoError(t, b.WriteFrom(func(yield func(Rows, error) bool) {
		for _, r := range rows {
			var back Rows
			require.NoError(t, back.Unpack(r.Append(nil)))
			if !yield(back, nil) {
				return
			}
		}
	}))
	old, now := filesOf(t, a.Dir()), filesOf(t, b.Dir())
	for _, name := range []string{runsFile, stepsFile, findingsFile, scoresFile} {
		assert.Equal(t, old[name], now[name], name)
	}
}

// Rows that break off leave the files as they were, and nothing beside them.
func TestRowsThatBreakOffLeaveTheOldFiles(t *testing.T) {
	rows := sampleRows(3, 2)
	c := sampleCapture(t, rows, 2)
	old := filesOf(t, c.Dir())
	lost := errors.New("the rows are lost")
	require.ErrorIs(t, c.WriteFrom(long(rows, 100_000, lost)), lost)
	assert.Equal(t, old, filesOf(t, c.Dir()))
	left, err := filepath.Glob(filepath.Join(c.Dir(), "*.tmp"))
	require.NoError(t, err)
	assert.Empty(t, left)
}

// A summary that reads the file column by column is the one of its rows.
func TestSummaryOfAFileIsThatOfItsRows(t *testing.T) {
	for seed := range uint64(3) {
		runs := mixedRuns(60, 5, seed)
		c := captureOf(t, runs, nil)
		for _, p := range Policies() {
			for _, v := range Views() {
				got, err := c.Summary(p, v)
				require.NoError(t, err)
				want := Summarize(c.Manifest(), runs, p, v)
				want.Runs = nil
				require.Equal(t, want, got)
			}
		}
		loaded, err := c.LoadRuns()
		require.NoError(t, err)
		assert.Len(t, loaded, len(runs))
	}
}
