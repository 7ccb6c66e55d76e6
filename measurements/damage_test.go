package measurements

import (
	"bytes"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var tables = []string{runsFile, stepsFile, findingsFile, scoresFile}

// readAll opens a capture and reads every row, as a command would.
func readAll(dir string) error {
	c, err := Open(dir)
	if err != nil {
		return err
	}
	for _, err := range c.Steps() {
		if err != nil {
			return err
		}
	}
	for _, err := range c.Findings() {
		if err != nil {
			return err
		}
	}
	for _, err := range c.Scores() {
		if err != nil {
			return err
		}
	}
	if _, err := c.Tallies(Class, Charge); err != nil {
		return err
	}
	_, err = c.Summary(Class, Charge)
	return err
}

func TestTruncatedFilesGiveErrors(t *testing.T) {
	c := sampleCapture(t, sampleRows(3, 2), 2)
	for _, name := range tables {
		path := filepath.Join(c.Dir(), name)
		whole, err := os.ReadFile(path)
		require.NoError(t, err)
		for _, n := range []int{0, 3, 8, len(whole) / 2, len(whole) - 3} {
			require.NoError(t, os.WriteFile(path, whole[:n], 0o644))
			err := readAll(c.Dir())
			var damaged *DamagedError
			require.ErrorAs(t, err, &damaged, "%s cut to %d bytes", name, n)
			assert.Contains(t, err.Error(), name)
			assert.Contains(t, err.Error(), "youden resume")
		}
		require.NoError(t, os.WriteFile(path, whole, 0o644))
	}
	require.NoError(t, readAll(c.Dir()))
}

func TestManifestsThatAreRefused(t *testing.T) {
	tests := map[string]struct{ old, updated, want string }{
		"another version":   {Schema, "youden.capture/2", "use the version of youden"},
		"an unknown status": {`"running"`, `"flying"`, "status"},
		"no runs a side":    {`"k": 2`, `"k": 0`, "k is 0"},
		"too many runs":     {`"k": 2`, `"k": 2000000000`, "k is"},
		"an unknown policy": {`"policy": "class"`, `"policy": "kind"`, "policy"},
		"an unknown view":   {`"view": "charge"`, `"view": "hide"`, "view"},
		"no JSON":           {"{", "[", "no manifest"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			c, err := Create(t.TempDir()+"/c", sampleManifest(4, 2))
			require.NoError(t, err)
			path := filepath.Join(c.Dir(), manifestFile)
			raw, err := os.ReadFile(path)
			require.NoError(t, err)
			require.Contains(t, string(raw), tt.old)
			require.NoError(t, os.WriteFile(path, []byte(strings.Replace(string(raw), tt.old, tt.updated, 1)), 0o644))
			_, err = Open(c.Dir())
			require.ErrorContains(t, err, tt.want)
			assert.ErrorContains(t, err, manifestFile)
		})
	}
	_, err := Open(t.TempDir())
	assert.ErrorContains(t, err, "name the directory")
}

// writeForeign puts a file of other rows in the place of a table.
func writeForeign[T any](t *testing.T, path, schema, write string, rows []T) {
	t.Helper()
	var b bytes.Buffer
	w := parquet.NewGenericWriter[T](&b, parquet.KeyValueMetadata(schemaKey, schema), parquet.KeyValueMetadata(writeKey, write))
	_, err := w.Write(rows)
	require.NoError(t, err)
	require.NoError(t, w.Close())
	require.NoError(t, os.WriteFile(path, b.Bytes(), 0o644))
}

func TestColumnsAreChecked(t *testing.T) {
	type renamed struct {
		RunID string `parquet:"runId"`
	}
	type retyped struct {
		RunRow
		K string `parquet:"k"`
	}
	type extended struct {
		RunRow
		Extra string `parquet:"extra"`
	}
	c := sampleCapture(t, sampleRows(1, 2), 2)
	path := filepath.Join(c.Dir(), runsFile)
	table, err := openTable[RunRow](c.Dir(), runsFile)
	require.NoError(t, err)
	id := table.write()
	require.NoError(t, table.close())

	writeForeign(t, path, tableSchema(runsFile), id, []renamed{{"r"}})
	_, err = Open(c.Dir())
	assert.ErrorContains(t, err, "missing")

	writeForeign(t, path, tableSchema(stepsFile), id, runsOf(sampleRows(1, 2)))
	_, err = Open(c.Dir())
	assert.ErrorContains(t, err, "its schema is")

	writeForeign(t, path, tableSchema(runsFile), id, []retyped{{K: "2"}})
	_, err = Open(c.Dir())
	assert.ErrorContains(t, err, "[k]")

	rows := runsOf(sampleRows(1, 2))
	more := make([]extended, len(rows))
	for i, r := range rows {
		more[i] = extended{r, "new"}
	}
	writeForeign(t, path, tableSchema(runsFile), id, more)
	opened, err := Open(c.Dir())
	require.NoError(t, err, "a column more is an addition")
	assert.Equal(t, rows[1].RunID, collect(t, opened.Runs())[1].RunID)
}

func TestRowsThatWouldCountTwiceAreRefused(t *testing.T) {
	rows := sampleRows(1, 2)
	c, err := Create(t.TempDir()+"/c", sampleManifest(4, 2))
	require.NoError(t, err)
	require.ErrorContains(t, c.Write(append(rows, rows[0])), "twice")
	rows[0].Run.Side = "left"
	require.ErrorContains(t, c.Write(rows), "side")
}

func TestWritesAreReproducible(t *testing.T) {
	rows := sampleRows(5, 3)
	a, b := sampleCapture(t, rows, 3), sampleCapture(t, rows, 3)
	for _, name := range tables {
		x, err := os.ReadFile(filepath.Join(a.Dir(), name))
		require.NoError(t, err)
		y, err := os.ReadFile(filepath.Join(b.Dir(), name))
		require.NoError(t, err)
		assert.True(t, bytes.Equal(x, y), name)
	}
}

func FuzzOpenManifest(f *testing.F) {
	m := sampleManifest(4, 2)
	m.Schema, m.Status = Schema, Running
	m.Plan.Corpus.Strata = []Stratum{{Slice: "s", Family: "path", Pairs: 2}}
	raw, err := json.Marshal(m)
	require.NoError(f, err)
	f.Add(raw)
	f.Add([]byte(`{"schema":"youden.capture/1","plan":{"k":-1}}`))
	f.Add([]byte("{"))
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, raw []byte) {
		require.NoError(t, os.WriteFile(filepath.Join(dir, manifestFile), raw, 0o644))
		if c, err := Open(dir); err == nil {
			if _, err := c.Summary(Class, Charge); err != nil {
				t.Fatalf("a manifest that opens has a summary: %v", err)
			}
		}
	})
}

// FuzzOpenTable overwrites some bytes of one of the files and cuts it.
func FuzzOpenTable(f *testing.F) {
	c := sampleCapture(f, sampleRows(2, 2), 2)
	whole := map[string][]byte{}
	for _, name := range tables {
		raw, err := os.ReadFile(filepath.Join(c.Dir(), name))
		require.NoError(f, err)
		whole[name] = raw
	}
	for i := range tables {
		f.Add(i, 4, -1, []byte{0xff, 0xff})
		f.Add(i, -40, -1, []byte{0})
		f.Add(i, 100, 400, []byte("PAR1"))
	}
	f.Fuzz(func(t *testing.T, which, at, size int, patch []byte) {
		name := tables[uint(which)%uint(len(tables))]
		raw := bytes.Clone(whole[name])
		if at < 0 {
			at += len(raw)
		}
		if at >= 0 && at < len(raw) {
			copy(raw[at:], patch)
		}
		if size >= 0 && size < len(raw) {
			raw = raw[:size]
		}
		require.NoError(t, os.WriteFile(filepath.Join(c.Dir(), name), raw, 0o644))
		_ = readAll(c.Dir()) // any error will do; a panic will not
		require.NoError(t, os.WriteFile(filepath.Join(c.Dir(), name), whole[name], 0o644))
	})
}

func BenchmarkWrite(b *testing.B) {
	rows := sampleRows(60, 5)
	c := sampleCapture(b, rows, 5)
	b.ReportAllocs()
	for b.Loop() {
		require.NoError(b, c.Write(rows))
	}
}

func BenchmarkSummary(b *testing.B) {
	c := sampleCapture(b, sampleRows(60, 5), 5)
	b.ReportAllocs()
	for b.Loop() {
		_, err := c.Summary(Class, Charge)
		require.NoError(b, err)
	}
}

func BenchmarkProject(b *testing.B) {
	c := cell()
	run := sampleRun(c.Case, true, sampleTime)
	b.ReportAllocs()
	for b.Loop() {
		Project(c, run, true)
	}
}

// Rows of another capture are never shown under this one's header.
func TestRowsThatDoNotFitThePlan(t *testing.T) {
	rows := sampleRows(3, 5)
	for name, change := range map[string]func(*Manifest){
		"smaller K":  func(m *Manifest) { m.Plan.K = 3 },
		"fewer runs": func(m *Manifest) { m.Plan.Runs = len(rows) - 1 },
	} {
		t.Run(name, func(t *testing.T) {
			m := sampleManifest(len(rows), 5)
			change(&m)
			c, err := Create(filepath.Join(t.TempDir(), "c"), m)
			require.NoError(t, err)
			require.NoError(t, c.Write(rows))
			_, err = c.Summary(Class, Charge)
			var damaged *DamagedError
			require.ErrorAs(t, err, &damaged)
			assert.ErrorContains(t, err, "different captures")
		})
	}
}

// One simulated row makes the whole capture simulated, whatever its manifest says.
func TestOneSimulatedRowIsEnough(t *testing.T) {
	rows := sampleRows(3, 1)
	runs := make([]RunRow, len(rows))
	for i, r := range rows {
		runs[i] = r.Run
		runs[i].Simulated = i == 2
	}
	m := sampleManifest(len(rows), 1)
	m.Simulated = false
	s := Summarize(m, runs, Class, Charge)
	assert.True(t, s.Simulated)
	assert.Equal(t, GradeSimulated, s.Grade)
}

// A sum that cannot be right is unknown, never negative.
func TestAbsurdUsageIsUnknown(t *testing.T) {
	huge, minus := int64(math.MaxInt64), int64(-5)
	for name, values := range map[string][]*int64{"overflow": {&huge, &huge}, "negative": {&minus}} {
		var s sum
		for _, v := range values {
			s.add(v)
		}
		assert.Nil(t, s.value(), name)
	}
}
