package measurements

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var errDisk = errors.New("no space left on device")

// brokenDisk fails at its failAt-th operation and at all that follow, as a full
// disk does.
type brokenDisk struct {
	osDisk
	operations, failAt int
	log                []string
}

func (d *brokenDisk) step(what string) error {
	d.operations++
	d.log = append(d.log, what)
	if d.operations >= d.failAt {
		return errDisk
	}
	return nil
}

func (d *brokenDisk) Create(name string) (outFile, error) {
	if err := d.step("create"); err != nil {
		return nil, err
	}
	f, err := d.osDisk.Create(name)
	return &brokenFile{f, d}, err
}

func (d *brokenDisk) Rename(from, to string) error {
	if err := d.step("rename"); err != nil {
		return err
	}
	return d.osDisk.Rename(from, to)
}

func (d *brokenDisk) SyncDir(string) error {
	return d.step("syncdir")
}

type brokenFile struct {
	outFile
	disk *brokenDisk
}

func (f *brokenFile) Write(p []byte) (int, error) {
	if err := f.disk.step("write"); err != nil {
		return 0, err
	}
	return f.outFile.Write(p)
}

func (f *brokenFile) Sync() error {
	return f.disk.step("sync")
}

func (f *brokenFile) Close() error {
	err := f.outFile.Close()
	if broken := f.disk.step("close"); broken != nil {
		return broken
	}
	return err
}

func filesOf(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	for _, name := range []string{manifestFile, runsFile, stepsFile, findingsFile, scoresFile} {
		raw, err := os.ReadFile(filepath.Join(dir, name))
		require.NoError(t, err)
		files[name] = string(raw)
	}
	return files
}

// failurePoints are the operations at which a write may fail differently: each
// of them, but of a row of writes only the first and the last.
func failurePoints(log []string) []int {
	var points []int
	for i, what := range log {
		inside := what == "write" && i > 0 && log[i-1] == "write" && i+1 < len(log) && log[i+1] == "write"
		if !inside {
			points = append(points, i+1)
		}
	}
	return points
}

// Every operation of a write fails once. Until the first rename the old files
// are untouched; between two renames the mixture is found when it is opened.
func TestFailedWritesLeaveTheOldFiles(t *testing.T) {
	before, after := sampleRows(1, 1), sampleRows(2, 1)
	c := sampleCapture(t, before, 1)
	old := filesOf(t, c.Dir())
	healthy := &brokenDisk{failAt: 1 << 30}
	c.disk = healthy
	require.NoError(t, c.Write(after))
	points := failurePoints(healthy.log)
	require.GreaterOrEqual(t, len(points), 19, "four files are created, written, synced, closed and renamed")
	for _, failAt := range points {
		t.Run(fmt.Sprintf("%d-%s", failAt, healthy.log[failAt-1]), func(t *testing.T) {
			for name, raw := range old {
				require.NoError(t, os.WriteFile(filepath.Join(c.Dir(), name), []byte(raw), 0o644))
			}
			d := &brokenDisk{failAt: failAt}
			c.disk = d
			require.ErrorIs(t, c.Write(after), errDisk)
			renames := 0
			for _, what := range d.log[:failAt-1] {
				if what == "rename" {
					renames++
				}
			}
			_, err := Open(c.Dir())
			switch renames {
			case 0:
				assert.Equal(t, old, filesOf(t, c.Dir()))
				assert.NoError(t, err)
			case 4:
				assert.NoError(t, err, "all files are new; only their durability is unsure")
			default:
				var damaged *DamagedError
				require.ErrorAs(t, err, &damaged)
				again, err := Reopen(c.Dir())
				require.NoError(t, err)
				require.NoError(t, again.Write(after), "writing again heals it")
				reopened, err := Open(c.Dir())
				require.NoError(t, err)
				assert.Len(t, collect(t, reopened.Runs()), len(after))
			}
		})
	}
}

func TestFailedFinishKeepsTheManifest(t *testing.T) {
	for failAt := 1; failAt <= 6; failAt++ {
		c := sampleCapture(t, sampleRows(1, 1), 1)
		c.disk = &brokenDisk{failAt: failAt}
		require.ErrorIs(t, c.Finish(Complete, Totals{}), errDisk, "operation %d", failAt)
		assert.Equal(t, Running, c.Manifest().Status)
		m, err := readManifest(filepath.Join(c.Dir(), manifestFile))
		require.NoError(t, err)
		if failAt <= 5 {
			assert.Equal(t, Running, m.Status, "operation %d came before the rename", failAt)
		}
	}
}
