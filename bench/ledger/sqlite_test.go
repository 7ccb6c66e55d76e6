package ledger

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/ncruces/go-sqlite3"
	"github.com/ncruces/go-sqlite3/vfs"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// brokenDisk is SQLite's own VFS until its countdown ends: from then on every
// write and sync fails.
type brokenDisk struct {
	vfs.VFSFilename
	left  atomic.Int64 // operations until the disk breaks; negative = never
	cause error
	noLog bool // the directory lets nobody make the log
}

func (d *brokenDisk) OpenFilename(name *vfs.Filename, flags vfs.OpenFlag) (vfs.File, vfs.OpenFlag, error) {
	if d.noLog && flags&vfs.OPEN_WAL != 0 {
		return nil, flags, sqlite3.CANTOPEN
	}
	f, flags, err := d.VFSFilename.OpenFilename(name, flags)
	if err != nil {
		return nil, flags, err
	}
	return &brokenFile{File: f, disk: d}, flags, nil
}

func (d *brokenDisk) broken() error {
	if d.left.Load() < 0 {
		return nil
	}
	if d.left.Add(-1) <= 0 {
		d.left.Store(1) // stays broken
		return d.cause
	}
	return nil
}

type brokenFile struct {
	vfs.File
	disk *brokenDisk
}

func (f *brokenFile) SharedMemory() vfs.SharedMemory {
	if m, ok := f.File.(vfs.FileSharedMemory); ok {
		return m.SharedMemory()
	}
	return nil
}

func (f *brokenFile) WriteAt(p []byte, off int64) (int, error) {
	if err := f.disk.broken(); err != nil {
		return 0, err
	}
	return f.File.WriteAt(p, off)
}

func (f *brokenFile) Sync(flags vfs.SyncFlag) error {
	if err := f.disk.broken(); err != nil {
		return err
	}
	return f.File.Sync(flags)
}

func newBrokenDisk(t *testing.T, cause error) (*brokenDisk, Options) {
	t.Helper()
	inner, ok := vfs.Find("os").(vfs.VFSFilename)
	require.True(t, ok, "the VFS named os is not the one this test wraps")
	d := &brokenDisk{VFSFilename: inner, cause: cause}
	d.left.Store(-1)
	name := "broken-" + strings.ReplaceAll(t.Name(), "/", "-")
	vfs.Register(name, d)
	t.Cleanup(func() { vfs.Unregister(name) })
	return d, Options{vfs: name}
}

// A failing disk poisons the ledger: no call is sent and none returns, whichever
// write fails (spec/ledger.md I19).
func TestAFailingDiskPoisons(t *testing.T) {
	d, opts := newBrokenDisk(t, sqlite3.IOERR_WRITE)
	sentSome := false
	for n := int64(1); ; n++ {
		require.Less(t, n, int64(200), "some countdown must outlast the call")
		path := tempPath(t)
		l, err := Open(t.Context(), path, opts)
		require.NoError(t, err)
		d.left.Store(n)
		sends := 0
		_, err = l.Do(t.Context(), plan, call("q"), func(context.Context, Attempt) SendResult { sends++; return got(200, "a", true) })
		if err == nil {
			d.left.Store(-1)
			require.NoError(t, l.Close())
			break
		}
		sentSome = sentSome || sends > 0
		require.ErrorIs(t, err, ErrPoisoned)
		require.ErrorContains(t, err, "open the ledger again")
		require.ErrorIs(t, l.Err(), ErrPoisoned)
		_, err = l.Do(t.Context(), Sample{Scope: "plan", Index: 9}, call("q"), neverSend(t))
		require.ErrorIs(t, err, ErrPoisoned)
		d.left.Store(-1)
		_ = l.Close() // what it can still say is of no use

		// On a whole disk nothing that was sent is sent again.
		if sends > 0 {
			l = open(t, path, Options{})
			r, err := l.Do(t.Context(), plan, call("q"), neverSend(t))
			if err == nil {
				assert.True(t, r.Replayed)
			} else {
				require.ErrorIs(t, err, ErrIndeterminate)
			}
			require.NoError(t, l.Close())
		}
	}
	assert.True(t, sentSome, "some countdown must end after the send")
}

func TestFullDiskSaysSo(t *testing.T) {
	d, opts := newBrokenDisk(t, sqlite3.FULL)
	l := open(t, tempPath(t), opts)
	d.left.Store(1)
	_, err := l.Do(t.Context(), plan, call("q"), neverSend(t))
	require.ErrorContains(t, err, "the disk is full")
	d.left.Store(-1)
}

func TestDamagedFilesGivePlainErrors(t *testing.T) {
	write := func(t *testing.T, data []byte) string {
		path := tempPath(t)
		require.NoError(t, os.WriteFile(path, data, 0o600))
		return path
	}
	whole := func(t *testing.T) []byte {
		path := tempPath(t)
		l := open(t, path, Options{})
		for i := range 50 {
			_, err := l.Do(t.Context(), Sample{Scope: "p", Index: uint32(i)}, call(strings.Repeat("q", i)), func(context.Context, Attempt) SendResult { return got(200, "answer", true) })
			require.NoError(t, err)
		}
		require.NoError(t, l.Close())
		data, err := os.ReadFile(path)
		require.NoError(t, err)
		return data
	}
	t.Run("garbage", func(t *testing.T) {
		path := write(t, []byte(strings.Repeat("this is no database ", 500)))
		for _, opts := range []Options{{}, {ReadOnly: true}} {
			_, err := Open(t.Context(), path, opts)
			require.ErrorContains(t, err, "the file is damaged or is no ledger")
			require.ErrorContains(t, err, path)
		}
	})
	t.Run("pages overwritten", func(t *testing.T) {
		data := whole(t)
		for i := 4096; i < len(data); i++ {
			data[i] = 0xA5
		}
		_, err := Open(t.Context(), write(t, data), Options{})
		require.ErrorContains(t, err, "damaged")
	})
	t.Run("another program's database", func(t *testing.T) {
		path := tempPath(t)
		c, err := sqlite3.Open(path)
		require.NoError(t, err)
		require.NoError(t, c.Exec(`CREATE TABLE other (x)`))
		require.NoError(t, c.Close())
		_, err = Open(t.Context(), path, Options{})
		require.ErrorContains(t, err, "a SQLite database of another program")
	})
	t.Run("another schema", func(t *testing.T) {
		path := write(t, whole(t))
		change(t, path, `PRAGMA user_version = 2`)
		_, err := Open(t.Context(), path, Options{})
		require.ErrorContains(t, err, "use the version of youden that wrote it")
	})
	t.Run("a leaf is gone", func(t *testing.T) {
		path := write(t, whole(t))
		change(t, path, `DELETE FROM leaf WHERE n = 7`)
		_, err := Open(t.Context(), path, Options{})
		require.ErrorContains(t, err, "leaf 7 is missing")
	})
	t.Run("a leaf is no record", func(t *testing.T) {
		path := write(t, whole(t))
		change(t, path, `UPDATE leaf SET record = '{' WHERE n = 7`)
		_, err := Open(t.Context(), path, Options{})
		require.ErrorContains(t, err, "leaf 7 does not decode")
	})
	t.Run("an attempt ends twice", func(t *testing.T) {
		path := write(t, whole(t))
		change(t, path, `INSERT INTO leaf SELECT max(n) + 1, (SELECT record FROM leaf WHERE n = 4) FROM leaf`)
		_, err := Open(t.Context(), path, Options{})
		require.ErrorContains(t, err, "ends twice")
	})
	t.Run("a body was changed", func(t *testing.T) {
		path := write(t, whole(t))
		change(t, path, `UPDATE body SET zstd = 0, data = CAST('forged' AS BLOB) WHERE size = 6`)
		l := open(t, path, Options{})
		_, err := l.Do(t.Context(), Sample{Scope: "p", Index: 9}, call(strings.Repeat("q", 9)), neverSend(t))
		require.ErrorContains(t, err, "has other bytes than when it was written")
	})
	t.Run("missing", func(t *testing.T) {
		_, err := Open(t.Context(), tempPath(t), Options{ReadOnly: true})
		require.ErrorIs(t, err, os.ErrNotExist)
		require.ErrorContains(t, err, "is the path right?")
		_, err = Open(t.Context(), filepath.Join(t.TempDir(), "no", "such", "dir"), Options{})
		require.ErrorContains(t, err, "lock file")
	})
}

func change(t *testing.T, path, sql string) {
	t.Helper()
	c, err := sqlite3.Open(path)
	require.NoError(t, err)
	require.NoError(t, c.Exec(sql))
	require.NoError(t, c.Close())
}

func TestOneWriter(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "ledger.db")
	l := open(t, path, Options{})
	link := filepath.Join(dir, "link.db")
	require.NoError(t, os.Symlink(path, link))
	for _, p := range []string{path, link} {
		_, err := Open(t.Context(), p, Options{})
		var locked *LockedError
		require.ErrorAs(t, err, &locked)
		assert.Equal(t, os.Getpid(), locked.PID)
		require.ErrorContains(t, err, "is being written by the process with id")
	}
	reader := open(t, path, Options{ReadOnly: true}) // readers are welcome
	assert.Len(t, records(t, reader), 2)
	require.NoError(t, l.Close())
	again := open(t, path, Options{})
	require.NoError(t, again.Close())
}

func TestAClosedLedgerIsOneFile(t *testing.T) {
	path := tempPath(t)
	l := open(t, path, Options{})
	_, err := l.Do(t.Context(), plan, call("q"), func(context.Context, Attempt) SendResult { return got(200, "answer", true) })
	require.NoError(t, err)
	require.NoError(t, l.Close())
	assert.NoFileExists(t, path+"-wal")
	assert.NoFileExists(t, path+"-shm")

	dir := filepath.Join(t.TempDir(), "read only")
	require.NoError(t, os.Mkdir(dir, 0o700))
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	copied := filepath.Join(dir, "a?b%20#.db") // a name that a URI could take apart
	require.NoError(t, os.WriteFile(copied, data, 0o400))
	require.NoError(t, os.Chmod(dir, 0o500))
	t.Cleanup(func() { assert.NoError(t, os.Chmod(dir, 0o700)) })
	reader := open(t, copied, Options{ReadOnly: true})
	r, err := reader.Do(t.Context(), plan, call("q"), neverSend(t))
	require.NoError(t, err)
	assert.Equal(t, "answer", string(r.Body))
}

// A user who is no administrator cannot make the log's index in a directory that
// is read-only; the file alone is read then, but only if no log is beside it.
func TestReadingWhereNothingCanBeMade(t *testing.T) {
	path := tempPath(t)
	l := open(t, path, Options{})
	_, err := l.Do(t.Context(), plan, call("q"), func(context.Context, Attempt) SendResult { return got(200, "answer", true) })
	require.NoError(t, err)
	require.NoError(t, l.Close())
	d, opts := newBrokenDisk(t, nil)
	d.noLog, opts.ReadOnly = true, true
	reader := open(t, path, opts)
	_, err = reader.Do(t.Context(), plan, call("q"), neverSend(t))
	require.NoError(t, err)
	require.NoError(t, reader.Close())

	require.NoError(t, os.WriteFile(path+"-wal", []byte("calls"), 0o600))
	_, err = Open(t.Context(), path, opts)
	require.ErrorContains(t, err, "copy both elsewhere")
}

func TestBodiesAreStoredOnceAndSmall(t *testing.T) {
	path := tempPath(t)
	l := open(t, path, Options{})
	text := strings.Repeat("the same line of a program\n", 5000)
	for k := range 20 {
		_, err := l.Do(t.Context(), Sample{Scope: "p", Index: uint32(k)}, call(text), func(context.Context, Attempt) SendResult { return got(200, "answer", true) })
		require.NoError(t, err)
	}
	require.NoError(t, l.Close())
	info, err := os.Stat(path)
	require.NoError(t, err)
	assert.Less(t, info.Size(), int64(100_000), "20 requests of 135 kB")
	c, err := sqlite3.Open(path)
	require.NoError(t, err)
	stmt, _, err := c.Prepare(`SELECT count(*) FROM body`)
	require.NoError(t, err)
	require.True(t, stmt.Step())
	assert.Equal(t, 2, stmt.ColumnInt(0))
	require.NoError(t, errors.Join(stmt.Close(), c.Close()))
}

func TestDurabilityIsNotOptional(t *testing.T) {
	l := open(t, tempPath(t), Options{})
	s := l.store.(*sqliteStore)
	for pragma, want := range map[string]string{"journal_mode": "wal", "synchronous": "2"} {
		stmt, _, err := s.write.Prepare("PRAGMA " + pragma)
		require.NoError(t, err)
		require.True(t, stmt.Step())
		assert.Equal(t, want, stmt.ColumnText(0), pragma)
		require.NoError(t, stmt.Close())
	}
}
