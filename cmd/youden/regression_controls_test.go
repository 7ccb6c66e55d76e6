package main

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/youden-bench/youden/measurements/compare"
)

// controls: a detector that flags everything and one that flags nothing fail
// against whatever stands as baseline, even one that is as worthless.
func (s *shelf) controls(t *testing.T) {
	always, never := s.control(t, "always"), s.control(t, "never")
	baselines := map[string]string{}
	t.Chdir(t.TempDir()) // baselines stand where the command runs
	for name, dir := range map[string]string{
		strongModel: s.capture(t, strongModel, 1), weakModel: s.capture(t, weakModel, 1), nullModel: s.capture(t, nullModel, 1),
	} {
		code, _, stderr := youden(t, "baseline", "set", dir, "--name", name)
		require.Equal(t, exitPass, code, stderr)
		baselines["capture of "+name] = dir
		baselines["baseline of "+name] = filepath.Join(compare.Folder, name+".json")
	}
	check := func(name, before, after string) {
		t.Run(name, func(t *testing.T) {
			code, c := compared(t, before, after)
			assert.Equal(t, compare.Fail, c.Verdict, "%q", c.Reasons)
			assert.Equal(t, exitRegression, code)
			assert.NotEmpty(t, c.Regressions, "a FAIL says what it is about")
		})
	}
	for name, before := range baselines {
		check("always against "+name, before, always)
		check("never against "+name, before, never)
	}
	check("always against never", never, always)
	check("never against always", always, never)
}
