package main

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/youden-bench/youden/measurements/compare"
)

// compared runs the command and reads its JSON.
func compared(t *testing.T, before, after string) (code int, c compare.Comparison) {
	t.Helper()
	code, out, stderr := youden(t, "compare", before, after, "--format", "json")
	require.NoError(t, json.Unmarshal([]byte(out), &c), stderr)
	return code, c
}

// itself: a capture differs from itself by nothing, in no row.
func (s *shelf) itself(t *testing.T) {
	for _, model := range []string{strongModel, weakModel, nullModel} {
		t.Run(model, func(t *testing.T) {
			dir := s.capture(t, model, 1)
			code, c := compared(t, dir, dir)
			assert.Equal(t, exitPass, code)
			assert.Equal(t, compare.Pass, c.Verdict)
			assert.Empty(t, c.Regressions)
			assert.Empty(t, c.Cases, "no case changed")
			require.NotEmpty(t, c.Slices)
			for _, row := range append(c.Slices, c.Families...) {
				require.NotNil(t, row.Delta, "%s %s", row.Slice, row.Family)
				assert.Zero(t, *row.Delta, "%s %s", row.Slice, row.Family)
				assert.Zero(t, row.Moved, "%s %s", row.Slice, row.Family)
				assert.Contains(t, []compare.Verdict{compare.Pass, compare.Untested}, row.Verdict, "%s %s", row.Slice, row.Family)
			}
		})
	}
}
