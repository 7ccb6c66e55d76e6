package kstrl

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// goldenFile reads a vector file from YOUDEN_GOLDEN, or from testdata.
func goldenFile(t *testing.T, name string) []byte {
	t.Helper()
	root := os.Getenv("YOUDEN_GOLDEN")
	if root == "" {
		root = filepath.Join("testdata", "golden")
	}
	data, err := os.ReadFile(filepath.Join(root, "kstrl", name))
	if os.IsNotExist(err) {
		t.Skipf("no golden vectors: %v", err)
	}
	require.NoError(t, err)
	return data
}

// recorded is a recorded baseline, which is not part of the project: it is read
// in place from YOUDEN_GOLDEN, or from the shared folder.
func recorded(t *testing.T, name string) string {
	t.Helper()
	require.Equal(t, filepath.Base(name), name)
	root := os.Getenv("YOUDEN_GOLDEN")
	if root == "" {
		shared := os.Getenv("YOUDEN_SHARED")
		if shared == "" {
			shared = filepath.Join(moduleRoot(t), "..", "shared")
		}
		root = filepath.Join(shared, "golden")
	}
	file := filepath.Join(root, "kstrl", name)
	if _, err := os.Stat(file); os.IsNotExist(err) {
		t.Skipf("no recorded baseline (set YOUDEN_GOLDEN or YOUDEN_SHARED): %v", err)
	}
	return file
}

func moduleRoot(t *testing.T) string {
	t.Helper()
	dir, err := os.Getwd()
	require.NoError(t, err)
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		parent := filepath.Dir(dir)
		require.NotEqual(t, dir, parent, "no go.mod above the package")
		dir = parent
	}
}

// vector is one golden case, field by field: shapes differ.
type vector map[string]json.RawMessage

func vectors(t *testing.T, name string) []vector {
	t.Helper()
	var all []vector
	require.NoError(t, json.Unmarshal(goldenFile(t, name), &all))
	require.NotEmpty(t, all)
	return all
}

func (v vector) has(names ...string) bool {
	for _, n := range names {
		if _, ok := v[n]; !ok {
			return false
		}
	}
	return true
}

func (v vector) text(name string) string {
	var s string
	if json.Unmarshal(v[name], &s) != nil {
		return string(v[name])
	}
	return s
}

// facts compares a list of facts with the golden one. A fact of ours may say
// more than the vector, which then does not speak of it; exactly forbids that.
func facts(t *testing.T, want json.RawMessage, got any, exactly bool, what string) {
	t.Helper()
	encoded, err := json.Marshal(got)
	require.NoError(t, err)
	var w, g []map[string]any
	require.NoError(t, json.Unmarshal(want, &w), what)
	require.NoError(t, json.Unmarshal(encoded, &g), what)
	require.Len(t, g, len(w), what)
	for i := range g {
		for key := range g[i] {
			if _, said := w[i][key]; !said && !exactly {
				delete(g[i], key)
			}
		}
	}
	assert.Equal(t, w, g, what)
}

// judge compares an outcome with all that a vector says of it, and skips by
// name what is left over.
func (v vector) judge(t *testing.T, o Outcome, exactly bool) {
	t.Helper()
	var left []string
	for name, want := range v {
		switch name {
		case "name", "old", "new":
		case "exit_code":
			assert.JSONEq(t, string(want), string(mustJSON(t, o.ExitCode)), name)
		case "regressions":
			facts(t, want, o.Regressions, exactly, name)
		case "warnings":
			facts(t, want, o.Warnings, exactly, name)
		case "newly_missed":
			assert.JSONEq(t, string(want), string(mustJSON(t, o.NewlyMissed)), name)
		case "role_rates":
			facts(t, want, o.RoleRates, exactly, name)
		case "category_rates":
			facts(t, want, o.CategoryRates, exactly, name)
		case "old_role_rates":
			v.rates(t, name, o, func(r RoleRate) *float64 { return r.Old })
		case "new_role_rates":
			v.rates(t, name, o, func(r RoleRate) *float64 { return r.New })
		default:
			left = append(left, name)
		}
	}
	if len(left) > 0 && !t.Failed() {
		sort.Strings(left)
		t.Skipf("the vector says what this test does not know: %s; the rest holds", strings.Join(left, ", "))
	}
}

func (v vector) rates(t *testing.T, name string, o Outcome, side func(RoleRate) *float64) {
	t.Helper()
	var want map[string]float64
	require.NoError(t, json.Unmarshal(v[name], &want))
	got := map[string]float64{}
	for _, r := range o.RoleRates {
		if rate := side(r); rate != nil {
			got[r.Role] = *rate
		}
	}
	assert.Equal(t, want, got, name)
}

func mustJSON(t *testing.T, v any) []byte {
	t.Helper()
	b, err := json.Marshal(v)
	require.NoError(t, err)
	return b
}

func TestGoldenCompareExpected(t *testing.T) {
	for i, v := range vectors(t, "compare_expected.json") {
		t.Run(v.text("old")+"_"+v.text("new"), func(t *testing.T) {
			if !v.has("old", "new", "exit_code", "regressions", "warnings", "newly_missed") {
				t.Skipf("vector %d is of an unknown shape", i)
			}
			o, err := CompareFiles(recorded(t, v.text("old")), recorded(t, v.text("new")))
			require.NoError(t, err)
			v.judge(t, o, true)
			assert.Empty(t, o.LoadWarnings)
		})
	}
}

func TestGoldenCompareSynthetic(t *testing.T) {
	for i, v := range vectors(t, "compare_synthetic.json") {
		t.Run(v.text("name"), func(t *testing.T) {
			refused := v.has("kstrl_crash") || v.has("load_error")
			if !v.has("old", "new", "exit_code") || !refused && !v.has("regressions", "warnings", "newly_missed") {
				t.Skipf("vector %d is of an unknown shape", i)
			}
			dir := t.TempDir()
			older, newer := filepath.Join(dir, "old.json"), filepath.Join(dir, "new.json")
			require.NoError(t, os.WriteFile(older, v["old"], 0o600))
			require.NoError(t, os.WriteFile(newer, v["new"], 0o600))
			o, err := CompareFiles(older, newer)
			if refused {
				// What crashes the reference, with the exit code of a regression, is
				// a file that cannot be loaded.
				var load *LoadError
				require.ErrorAs(t, err, &load)
				assert.NotEmpty(t, load.Remedy)
				assert.Equal(t, ExitLoadError, o.ExitCode)
				return
			}
			require.NoError(t, err)
			v.judge(t, o, false)
		})
	}
}

// TestGoldenReportRecorded writes the recorded files of version 2 again from
// their runs: the same bytes.
func TestGoldenReportRecorded(t *testing.T) {
	for _, name := range []string{"baseline-20260720-113835.json", "baseline-20260729-154010.json"} {
		t.Run(name, func(t *testing.T) {
			file := recorded(t, name)
			want, err := os.ReadFile(file)
			require.NoError(t, err)
			var doc struct {
				Model, Timestamp string
				Runs             int `json:"runs_per_fixture"`
				Fixtures         []struct {
					Role, Category, CWE *string
					ID                  string `json:"fixture_id"`
					Runs                []Run
				}
			}
			require.NoError(t, json.Unmarshal(want, &doc))
			b, err := Parse(file, want, Strict)
			require.NoError(t, err)
			at, err := time.Parse(stampLayout, doc.Timestamp)
			require.NoError(t, err)
			r := Report{Model: doc.Model, Time: at, RunsPerFixture: doc.Runs, Negatives: b.Negatives}
			for _, f := range doc.Fixtures {
				r.Fixtures = append(r.Fixtures, Record{Role: *f.Role, ID: f.ID, Category: f.Category, CWE: f.CWE, Runs: f.Runs})
			}
			require.NotEmpty(t, r.Fixtures)
			require.NotEmpty(t, r.Negatives)
			var got bytes.Buffer
			require.NoError(t, r.Write(&got))
			assert.Equal(t, string(want), got.String())
			assert.Equal(t, name, r.Name())
		})
	}
}

// TestGoldenRecordedStrict: what the reference itself wrote is nowhere odd.
func TestGoldenRecordedStrict(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(filepath.Dir(recorded(t, "baseline-20260720-113835.json")), "baseline-*.json"))
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			strict, err := Load(file, Strict)
			require.NoError(t, err)
			lenient, err := Load(file, Lenient)
			require.NoError(t, err)
			assert.Equal(t, lenient.Fixtures, strict.Fixtures)
			assert.Empty(t, lenient.Warnings)
			assert.Equal(t, "haiku", strict.Model)
		})
	}
}

func TestLoadNamesFileAndCause(t *testing.T) {
	file := filepath.Join(t.TempDir(), "absent.json")
	_, err := Load(file, Lenient)
	require.ErrorIs(t, err, os.ErrNotExist)
	var load *LoadError
	require.True(t, errors.As(err, &load))
	assert.Equal(t, file, load.File)
	assert.Contains(t, err.Error(), "check the path")
	o, err := CompareFiles(file, file)
	require.Error(t, err)
	assert.Equal(t, ExitLoadError, o.ExitCode)
}
