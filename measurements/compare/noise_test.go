package compare

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/youden-bench/youden/corpus"
	"github.com/youden-bench/youden/measurements"
)

// written is a capture of pairs in two families at K runs a side. Of pair i, run k
// of the vulnerable side hits when hits says so; no fixed side leaks.
func written(t *testing.T, pairs, k int, hits func(i, k int) bool) string {
	t.Helper()
	dir := t.TempDir()
	c, err := measurements.Create(dir, measurements.Manifest{ID: "c", Plan: measurements.PlanRecord{K: k, Runs: 2 * pairs * k, Scorer: measurements.DefaultRules().Record()}})
	require.NoError(t, err)
	var rows []measurements.Rows
	for i := range pairs {
		for _, side := range []corpus.SideName{corpus.Vulnerable, corpus.Fixed} {
			for run := range k {
				hit, silent := hits(i, run), true
				r := measurements.RunRow{
					RunID: fmt.Sprintf("%d-%s-%d", i, side, run), CaseID: fmt.Sprintf("c%d", i), CaseHash: fmt.Sprintf("h%d", i), Slice: "s", Family: fmt.Sprintf("f%d", i%2),
					Pair: true, Side: string(side), K: int64(run), Status: "ok", Counts: "yes",
				}
				if side == corpus.Vulnerable {
					r.Hit = &hit
				} else {
					r.SilentStrict, r.SilentClass, r.SilentRegion = &silent, &silent, &silent
				}
				rows = append(rows, measurements.Rows{Run: r})
			}
		}
	}
	require.NoError(t, c.Write(rows))
	require.NoError(t, c.Finish(measurements.Complete, measurements.Totals{Spend: measurements.Spend{Runs: int64(len(rows)), RunsOK: int64(len(rows))}, RunsPlanned: int64(len(rows))}))
	return dir
}

func noise(t *testing.T, dir string, gates string) *Noise {
	t.Helper()
	o := Options{}
	if gates != "" {
		o.Gates = readGates(t, gates)
	}
	n, err := MeasureNoise(dir, "", "", 1, o)
	require.NoError(t, err)
	return n
}

func TestHalvesUseEveryRun(t *testing.T) {
	for _, c := range []struct{ k, wanted, splits int }{{4, 200, 6}, {5, 200, 30}, {6, 200, 20}, {20, 200, 200}} {
		list := halves(c.k, c.wanted, 1)
		assert.Len(t, list, c.splits, "K = %d", c.k)
		used := map[int]bool{}
		for _, split := range list {
			assert.Len(t, split, c.k)
			assert.Equal(t, c.k/2, strings.Count(split, string(firstHalf)))
			assert.Equal(t, c.k/2, strings.Count(split, string(secondHalf)))
			for run := range split {
				used[run] = used[run] || split[run] != leftOver
			}
		}
		assert.Len(t, used, c.k)
		assert.NotContains(t, used, false)
		assert.Equal(t, list, halves(c.k, c.wanted, 1), "the seed decides")
	}
}

// Every third run of a pair misses: level gates near the rate fail now and then,
// and this is no fault of the detector.
func TestNoiseOfGates(t *testing.T) {
	dir := written(t, 12, 6, func(i, k int) bool { return (i+k)%3 != 0 })
	n := noise(t, dir, one("metric = 'recall'", "min = 0.6", "alone = true")+
		"[[gate]]\nname = 'never reached'\nmetric = 'recall'\nmin = 0.9\nalone = true\n"+
		"[[gate]]\nname = 'sure'\nmetric = 'silence'\nmin = 0.9\nalone = true\n"+
		"[[gate]]\nname = 'one case'\nmin_pass = '4/6'\ncase = 'c0'\n")
	require.Equal(t, 20, n.Splits)
	sum := 0
	for _, count := range n.Verdicts {
		sum += count
	}
	assert.Equal(t, n.Splits, sum)
	require.NotNil(t, n.Gates)
	rows := map[string]GateNoiseRow{}
	for _, r := range n.Gates.Gates {
		rows[r.Name] = r
		total := 0
		for _, count := range r.Outcomes {
			total += count
		}
		assert.Equal(t, n.Splits, total, r.Name)
	}
	assert.Equal(t, GatePass, rows["g"].Whole)
	assert.InDelta(t, float64(rows["g"].Outcomes[GateFail])/20, *rows["g"].FalseFail, 1e-12)
	assert.Equal(t, GateFail, rows["never reached"].Whole)
	assert.Nil(t, rows["never reached"].FalseFail)
	assert.Contains(t, rows["never reached"].Why, "it does not hold on all runs either: recall of all cases is .667")
	assert.Zero(t, *rows["sure"].FalseFail)
	assert.InDelta(t, .2, *rows["one case"].FalseFail, 1e-12, "4 of 20 halves have both of its misses, and 2 of 3 must be right")
	assert.GreaterOrEqual(t, *n.Gates.FalseFail, *rows["one case"].FalseFail)
	assert.GreaterOrEqual(t, *n.Gates.Together, max(*n.Gates.FalseFail, *n.FalseFail))
	said := strings.Join(n.Warnings, "\n")
	assert.Contains(t, said, "gates fail more often between halves")
	for name, r := range rows {
		advised := r.FalseFail != nil && *r.FalseFail > often
		assert.Equal(t, advised, strings.Contains(said, fmt.Sprintf("gate %q failed in %d of 20 splits although nothing changed: ask for less", name, r.Outcomes[GateFail])), name)
	}
	require.NotNil(t, n.FalseHi)
	assert.True(t, *n.FalseLo <= *n.FalseFail && *n.FalseFail < *n.FalseHi, "20 splits are not sure of any share")
}

// The verdicts are those of the comparison alone, whatever the gates say.
func TestGatesAndVerdictAreApart(t *testing.T) {
	dir := written(t, 12, 4, func(i, k int) bool { return (i+k)%3 != 0 })
	alone := noise(t, dir, "")
	assert.Nil(t, alone.Gates)
	gated := noise(t, dir, one("metric = 'recall'", "min = 0.99", "alone = true"))
	assert.Equal(t, alone.Verdicts, gated.Verdicts)
	assert.Zero(t, *gated.Gates.FalseFail)
	assert.InDelta(t, *alone.FalseFail, *gated.Gates.Together, 1e-12)
}

func TestNoiseTakesNoBaseline(t *testing.T) {
	name := filepath.Join(t.TempDir(), "main.json")
	require.NoError(t, os.WriteFile(name, []byte("{}"), 0o600))
	_, err := MeasureNoise(name, "", "", 1, Options{})
	assert.ErrorContains(t, err, "name the folder of a capture")
}

func TestNoiseRefusesGatesThatDoNotFit(t *testing.T) {
	dir := written(t, 4, 4, func(int, int) bool { return true })
	_, err := MeasureNoise(dir, "", "", 1, Options{Gates: readGates(t, one("metric = 'recall'", "min = 0.5", "family = 'nope'"))})
	assert.ErrorContains(t, err, `there is no family "nope"`)
}

// A gate that halves could never pass is named, and counts for nothing.
func TestGatesThatHalvesCannotJudge(t *testing.T) {
	dir := written(t, 12, 20, func(i, k int) bool { return (i*7+k*3)%20 != 0 })
	whole, err := Load(dir, "", "")
	require.NoError(t, err)
	gates := readGates(t, one("metric = 'recall.lo'", "min = 0.5", "alone = true"))
	shape := ShapeOf(whole).Against(whole)
	require.NoError(t, gates.Check(shape))
	shape.K, shape.OldK = 1, 1
	shape.Cases = shape.Cases[:2]
	assert.Contains(t, gates.unfit(shape)[0], "could never pass")
	runs := readGates(t, one("min_pass = '15/20'"))
	assert.Equal(t, []string{""}, runs.unfit(shape), "a share of runs is meant in proportion")
}
