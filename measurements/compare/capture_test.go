package compare_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/youden-bench/youden/measurements"
	"github.com/youden-bench/youden/measurements/compare"
)

// A capture whose rows cannot be is refused as a baseline of it would be: by hash cases
// are paired, and sums of what was spent stand in reports.
func TestCapturesThatCannotBe(t *testing.T) {
	s := size{pairs: 6, k: 3, families: 2}
	below := int64(-1)
	for name, tt := range map[string]struct {
		change func(rows []measurements.Rows)
		want   string
	}{
		"sound":           {func([]measurements.Rows) {}, ""},
		"no hash":         {func(rows []measurements.Rows) { eachOf(rows, 1, func(r *measurements.RunRow) { r.CaseHash = "" }) }, "hash of its own"},
		"two of one hash": {func(rows []measurements.Rows) { eachOf(rows, 6, func(r *measurements.RunRow) { r.CaseHash = "same" }) }, "hash of its own"},
		"negative cost":   {func(rows []measurements.Rows) { rows[0].Run.CostUSDMicros = &[]int64{-1 << 40}[0] }, "counts runs that cannot be"},
		"negative tokens": {func(rows []measurements.Rows) {
			eachOf(rows, 6, func(r *measurements.RunRow) { r.PromptTokens = &below })
		}, "counts runs that cannot be"},
	} {
		t.Run(name, func(t *testing.T) {
			var rows []measurements.Rows
			for i := range s.pairs {
				rows = s.pair(rows, i, edition{seed: 1})
			}
			tt.change(rows)
			dir := t.TempDir()
			c, err := measurements.Create(dir, s.manifest(edition{seed: 1}))
			require.NoError(t, err)
			require.NoError(t, c.Write(rows))
			require.NoError(t, c.Finish(measurements.Complete, measurements.Totals{}))
			_, err = compare.Load(dir, "", "")
			if tt.want == "" {
				require.NoError(t, err)
				return
			}
			var bad *compare.LoadError
			require.ErrorAs(t, err, &bad)
			assert.Contains(t, bad.Message, tt.want)
		})
	}
}

// eachOf changes all runs of the first cases.
func eachOf(rows []measurements.Rows, cases int, change func(*measurements.RunRow)) {
	seen := map[string]bool{}
	for i := range rows {
		r := &rows[i].Run
		if seen[r.CaseID] = true; len(seen) <= cases {
			change(r)
		}
	}
}
