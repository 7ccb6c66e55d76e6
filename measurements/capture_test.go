package measurements

import (
	"iter"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func collect[T any](t *testing.T, rows iter.Seq2[T, error]) []T {
	t.Helper()
	var all []T
	for r, err := range rows {
		require.NoError(t, err)
		all = append(all, r)
	}
	return all
}

func TestCaptureRoundTrip(t *testing.T) {
	rows := sampleRows(9, 5)
	c := sampleCapture(t, rows, 5)

	opened, err := Open(c.Dir())
	require.NoError(t, err)
	runs := collect(t, opened.Runs())
	require.Len(t, runs, len(rows))
	var steps []StepRow
	var findings []FindingRow
	for i, r := range rows {
		if len(r.Run.Accept) == 0 {
			r.Run.Accept = runs[i].Accept // nil and empty lists are the same in Parquet
		}
		assert.Equal(t, r.Run, runs[i], "in plan order")
		steps = append(steps, r.Steps...)
		findings = append(findings, r.Findings...)
	}
	assert.Equal(t, steps, collect(t, opened.Steps()))
	got := collect(t, opened.Findings())
	require.Len(t, got, len(findings))
	for i := range got {
		assert.Equal(t, findings[i].Label, got[i].Label)
		assert.Equal(t, findings[i].InSpan, got[i].InSpan)
		assert.Equal(t, findings[i].Confidence, got[i].Confidence)
	}
	scores := collect(t, opened.Scores())
	want := ScoreAll(PlanRecord{K: 5}, runsOf(rows))
	require.Len(t, scores, len(want))
	for i := range want {
		assert.Equal(t, want[i].J, scores[i].J)
		assert.Equal(t, want[i].Family, scores[i].Family)
		assert.Equal(t, want[i].RunsAre, scores[i].RunsAre)
	}
	s, err := opened.Summary(Class, Charge)
	require.NoError(t, err)
	require.NoError(t, c.Finish(Complete, s.Totals))
	again, err := Open(c.Dir())
	require.NoError(t, err)
	assert.Equal(t, Complete, again.Manifest().Status)
	assert.Equal(t, GradeSimulated, again.Manifest().Grade)
	assert.Equal(t, s.Totals.Calls, again.Manifest().Totals.Calls)
	leftovers, err := filepath.Glob(filepath.Join(c.Dir(), "*.tmp"))
	require.NoError(t, err)
	assert.Empty(t, leftovers)
}

func TestCreateRefusesADirectoryInUse(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "notes.txt"), []byte("mine"), 0o644))
	_, err := Create(dir, sampleManifest(0, 5))
	assert.ErrorContains(t, err, "not empty")
}

func TestACaptureJustCreatedIsUnrun(t *testing.T) {
	m := sampleManifest(4, 2)
	m.Plan.Policy, m.Plan.View = "", ""
	created, err := Create(filepath.Join(t.TempDir(), "captures", "one"), m)
	require.NoError(t, err)
	c, err := Open(created.Dir())
	require.NoError(t, err)
	assert.Equal(t, Running, c.Manifest().Status)
	assert.Equal(t, []string{"class", "charge"}, []string{string(c.Manifest().Plan.Policy), string(c.Manifest().Plan.View)})
	s, err := c.Summary(Class, Charge)
	require.NoError(t, err)
	assert.Equal(t, Unrun, s.Status)
	assert.Equal(t, GradeUnrun, s.Grade)
	assert.Nil(t, s.Totals.JPooled)
	assert.Nil(t, s.Totals.ErrorRate)
}

func TestTotals(t *testing.T) {
	runs := append(pairOf("a", "+++++", "....x"), pairOf("b", "+++!x", ".....")...)
	cancelled := lettered("c", "injection", true, "fixed", "xxxxx")
	for i := range cancelled {
		cancelled[i].Status = "cancelled"
	}
	m := sampleManifest(40, 5)
	m.Status = Complete
	s := Summarize(m, append(runs, cancelled...), Class, Charge)
	assert.Equal(t, int64(25), s.Totals.Runs)
	assert.Equal(t, int64(40), s.Totals.RunsPlanned)
	assert.Equal(t, Partial, s.Status, "runs are missing, whatever the manifest says")
	assert.Equal(t, []int64{2, 20}, []int64{s.Totals.Errors, s.Totals.Dispatched}, "what was cancelled unsent was not dispatched")
	assert.InDelta(t, .1, *s.Totals.ErrorRate, 1e-12)
	assert.Equal(t, []int64{17, 1, 7}, []int64{s.Totals.RunsOK, s.Totals.RunsCharged, s.Totals.RunsExcused})
	assert.Equal(t, map[string]int64{"transient": 2, "bad_format": 1, "cancelled": 5}, s.Totals.Statuses)
	assert.Equal(t, map[string]int64{"unrun": 1}, s.Totals.Unscorable)
	assert.Equal(t, 1, s.Totals.JMacroFamilies)
	assert.LessOrEqual(t, *s.Totals.JPooledLo, *s.Totals.JPooled)
	m.Simulated = false
	assert.Equal(t, GradePartial, Summarize(m, runs, Class, Charge).Grade)
}

// The overall interval is never narrower than the t interval of the pairs, nor
// than the pooled one.
func TestPooledJTakesTheWiderInterval(t *testing.T) {
	agree := append(pairOf("a", "+++++", "....."), pairOf("b", "+++++", ".....")...)
	s := Summarize(sampleManifest(20, 5), agree, Class, Charge)
	assert.Equal(t, 1.0, *s.Totals.JPooled)
	assert.Less(t, *s.Totals.JPooledLo, .5, "two cases that agree prove little")
	assert.NotEmpty(t, s.Warnings)
	opposed := append(pairOf("a", "+++++", "....."), pairOf("b", ".....", "+++++")...)
	o := Summarize(sampleManifest(20, 5), opposed, Class, Charge)
	assert.Equal(t, []float64{-1, 1}, []float64{*o.Totals.JPooledLo, *o.Totals.JPooledHi}, "t with one degree of freedom")
}
