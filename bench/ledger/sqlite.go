package ledger

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"net/url"
	"os"
	"path/filepath"
	"sync"

	"github.com/ncruces/go-sqlite3"
)

// applicationID marks our files: "Youd" in ASCII.
const applicationID = 0x596f7564

// schemaVersion is SQLite's user_version.
const schemaVersion = 1

const schema = `
PRAGMA application_id = 1500476772;
PRAGMA user_version = 1;
CREATE TABLE leaf (n INTEGER PRIMARY KEY, record TEXT NOT NULL) STRICT;
CREATE TABLE body (sha BLOB PRIMARY KEY, size INTEGER NOT NULL, zstd INTEGER NOT NULL, data BLOB NOT NULL) STRICT;
`

// sqliteStore keeps leaves and bodies in one SQLite file. One connection writes
// and belongs to the committer, the other reads.
type sqliteStore struct {
	path string

	write      *sqlite3.Conn // nil when read-only
	insertLeaf *sqlite3.Stmt
	insertBody *sqlite3.Stmt

	mu       sync.Mutex // of read
	read     *sqlite3.Conn
	findBody *sqlite3.Stmt
	findLeaf *sqlite3.Stmt
}

// openSQLite opens the file at path; a writer makes it when it is missing. vfs
// names the SQLite VFS, for tests that break the disk.
func openSQLite(path, vfs string, readOnly bool) (*sqliteStore, error) {
	s := &sqliteStore{path: path}
	open := s.openWriter
	if readOnly {
		open = s.openReader
	}
	if err := open(vfs); err != nil {
		return nil, errors.Join(explain(path, err), s.Close())
	}
	return s, nil
}

// dsn is the file's name as a SQLite URI.
func dsn(path string, query url.Values) string {
	if abs, err := filepath.Abs(path); err == nil {
		path = abs
	}
	u := url.URL{Scheme: "file", OmitHost: true, Path: filepath.ToSlash(path), RawQuery: query.Encode()}
	return u.String()
}

func (s *sqliteStore) openWriter(vfs string) error {
	query := url.Values{"_pragma": {"busy_timeout(5000)"}}
	if vfs != "" {
		query.Set("vfs", vfs)
	}
	var err error
	if s.write, err = sqlite3.Open(dsn(s.path, query)); err != nil {
		return err
	}
	// FULL syncs the log at every commit; NORMAL would lose acknowledged calls
	// in a power cut. A larger checkpoint interval halves the syncs a call costs.
	if err := s.write.Exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 4000`); err != nil {
		return err
	}
	if err := s.ensureSchema(); err != nil {
		return err
	}
	if s.insertLeaf, _, err = s.write.Prepare(`INSERT INTO leaf (n, record) VALUES (?, ?)`); err != nil {
		return err
	}
	if s.insertBody, _, err = s.write.Prepare(`INSERT OR IGNORE INTO body (sha, size, zstd, data) VALUES (?, ?, ?, ?)`); err != nil {
		return err
	}
	if s.read, err = sqlite3.Open(dsn(s.path, query)); err != nil {
		return err
	}
	return s.prepareReads()
}

// ensureSchema makes the tables of a new file in one transaction, so that a
// crash leaves a whole schema or an empty file.
func (s *sqliteStore) ensureSchema() error {
	id, version, tables, err := identity(s.write)
	if err != nil {
		return err
	}
	if id == 0 && version == 0 && tables == 0 {
		if err := s.write.Exec("BEGIN IMMEDIATE;" + schema + "COMMIT"); err != nil {
			return err
		}
		return syncDir(filepath.Dir(s.path))
	}
	return checkIdentity(id, version)
}

// openReader opens the file without changing it. SQLite wants to make its index
// of the log beside the file; where the directory forbids that and no log is
// left, the file is complete by itself and is read as immutable.
func (s *sqliteStore) openReader(vfs string) error {
	if _, err := os.Stat(s.path); err != nil {
		return err
	}
	query := url.Values{"_pragma": {"busy_timeout(5000)"}, "mode": {"ro"}}
	if vfs != "" {
		query.Set("vfs", vfs)
	}
	err := s.readWith(query)
	if !errors.Is(err, sqlite3.CANTOPEN) && !errors.Is(err, sqlite3.READONLY) {
		return err
	}
	if _, stat := os.Stat(s.path + "-wal"); stat == nil {
		return fmt.Errorf("%w (its log %s-wal holds calls that are not in the file yet, and the directory does not let us read them: copy both elsewhere)", err, s.path)
	}
	query.Set("immutable", "1")
	return s.readWith(query)
}

func (s *sqliteStore) readWith(query url.Values) error {
	if err := s.read.Close(); err != nil {
		return err
	}
	var err error
	if s.read, err = sqlite3.OpenFlags(dsn(s.path, query), sqlite3.OPEN_READONLY|sqlite3.OPEN_URI); err != nil {
		return err
	}
	id, version, _, err := identity(s.read)
	if err != nil {
		return err
	}
	if err := checkIdentity(id, version); err != nil {
		return err
	}
	return s.prepareReads()
}

func (s *sqliteStore) prepareReads() error {
	var err error
	if s.findBody, _, err = s.read.Prepare(`SELECT size, zstd, data FROM body WHERE sha = ?`); err != nil {
		return err
	}
	s.findLeaf, _, err = s.read.Prepare(`SELECT record FROM leaf WHERE n = ?`)
	return err
}

func identity(c *sqlite3.Conn) (id, version, tables int, err error) {
	stmt, _, err := c.Prepare(`SELECT (SELECT * FROM pragma_application_id), (SELECT * FROM pragma_user_version), (SELECT count(*) FROM sqlite_schema)`)
	if err != nil {
		return 0, 0, 0, err
	}
	defer func() { err = errors.Join(err, stmt.Close()) }()
	if stmt.Step() {
		id, version, tables = stmt.ColumnInt(0), stmt.ColumnInt(1), stmt.ColumnInt(2)
	}
	return id, version, tables, stmt.Err()
}

func checkIdentity(id, version int) error {
	if id != applicationID {
		return errors.New("it is a SQLite database of another program: name another file")
	}
	if version != schemaVersion {
		return fmt.Errorf("it has schema %d and this program knows schema %d: use the version of youden that wrote it", version, schemaVersion)
	}
	return nil
}

// Append writes leaves and bodies in one transaction.
func (s *sqliteStore) Append(leaves []Leaf, bodies []Body) error {
	if s.write == nil {
		return explain(s.path, errors.New("it is open for reading only"))
	}
	tx, err := s.write.BeginImmediate()
	if err != nil {
		return explain(s.path, err)
	}
	if err := s.insert(leaves, bodies); err != nil {
		return explain(s.path, errors.Join(err, tx.Rollback()))
	}
	if err := tx.Commit(); err != nil {
		if s.write.GetAutocommit() {
			return explain(s.path, err)
		}
		return explain(s.path, errors.Join(err, tx.Rollback()))
	}
	return nil
}

func (s *sqliteStore) insert(leaves []Leaf, bodies []Body) error {
	for _, b := range bodies {
		if err := errors.Join(
			s.insertBody.BindBlob(1, b.SHA[:]), s.insertBody.BindInt64(2, b.Size),
			s.insertBody.BindBool(3, b.Zstd), s.insertBody.BindBlob(4, b.Data),
			s.insertBody.Exec()); err != nil {
			return err
		}
	}
	for _, l := range leaves {
		if err := errors.Join(
			s.insertLeaf.BindInt64(1, l.N), s.insertLeaf.BindRawText(2, l.Data),
			s.insertLeaf.Exec()); err != nil {
			return err
		}
	}
	return nil
}

// pageOfLeaves is how many leaves are read at a time: between pages the reader
// is free for others.
const pageOfLeaves = 1000

// Leaves yields the leaves from number first on.
func (s *sqliteStore) Leaves(ctx context.Context, first int64) iter.Seq2[Leaf, error] {
	return func(yield func(Leaf, error) bool) {
		for {
			page, err := s.leafPage(first)
			if err == nil {
				err = ctx.Err()
			}
			if err != nil {
				yield(Leaf{}, explain(s.path, err))
				return
			}
			for _, l := range page {
				if !yield(l, nil) {
					return
				}
			}
			if len(page) < pageOfLeaves {
				return
			}
			first = page[len(page)-1].N + 1
		}
	}
}

func (s *sqliteStore) leafPage(first int64) (page []Leaf, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	stmt, _, err := s.read.Prepare(`SELECT n, record FROM leaf WHERE n >= ? ORDER BY n LIMIT ?`)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, stmt.Close()) }()
	if err := errors.Join(stmt.BindInt64(1, first), stmt.BindInt(2, pageOfLeaves)); err != nil {
		return nil, err
	}
	for stmt.Step() {
		page = append(page, Leaf{N: stmt.ColumnInt64(0), Data: []byte(stmt.ColumnText(1))})
	}
	return page, stmt.Err()
}

// Leaf returns one leaf.
func (s *sqliteStore) Leaf(n int64) (Leaf, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.findLeaf.BindInt64(1, n); err != nil {
		return Leaf{}, explain(s.path, err)
	}
	l, found := Leaf{N: n}, s.findLeaf.Step()
	if found {
		l.Data = s.findLeaf.ColumnBlob(0, nil)
	}
	if err := errors.Join(s.findLeaf.Err(), s.findLeaf.Reset()); err != nil {
		return Leaf{}, explain(s.path, err)
	}
	if !found {
		return Leaf{}, ErrNoLeaf
	}
	return l, nil
}

// Body returns a stored body.
func (s *sqliteStore) Body(sha Digest) (Body, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.findBody.BindBlob(1, sha[:]); err != nil {
		return Body{}, explain(s.path, err)
	}
	b, found := Body{SHA: sha}, s.findBody.Step()
	if found {
		b.Size, b.Zstd, b.Data = s.findBody.ColumnInt64(0), s.findBody.ColumnBool(1), s.findBody.ColumnBlob(2, nil)
	}
	if err := errors.Join(s.findBody.Err(), s.findBody.Reset()); err != nil {
		return Body{}, explain(s.path, err)
	}
	if !found {
		return Body{}, ErrNoBody
	}
	return b, nil
}

// Close folds the log into the file, so that the file alone is the ledger.
func (s *sqliteStore) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var errs []error
	for _, stmt := range []*sqlite3.Stmt{s.findBody, s.findLeaf, s.insertLeaf, s.insertBody} {
		if stmt != nil {
			errs = append(errs, stmt.Close())
		}
	}
	errs = append(errs, s.read.Close(), s.write.Close())
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("closing the ledger %s: %w", s.path, err)
	}
	return nil
}

// explain says in plain words what is wrong with the file.
func explain(path string, err error) error {
	var hint string
	switch {
	case err == nil:
		return nil
	case errors.Is(err, sqlite3.NOTADB), errors.Is(err, sqlite3.CORRUPT):
		hint = ": the file is damaged or is no ledger; bring back a copy, or capture into a new directory"
	case errors.Is(err, sqlite3.FULL):
		hint = ": the disk is full; free some space and resume"
	case errors.Is(err, sqlite3.BUSY):
		hint = ": another process holds the database"
	case errors.Is(err, os.ErrNotExist):
		hint = ": is the path right?"
	}
	return fmt.Errorf("the ledger %s cannot be used: %w%s", path, err, hint)
}

// syncDir makes a new file's name durable.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	err = d.Sync()
	if os.PathSeparator == '\\' {
		err = nil // Windows has no such thing
	}
	return errors.Join(err, d.Close())
}
