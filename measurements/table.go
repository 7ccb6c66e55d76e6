package measurements

import (
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress/zstd"
)

// The files of a capture.
const (
	manifestFile = "capture.json"
	runsFile     = "runs.parquet"
	stepsFile    = "steps.parquet"
	findingsFile = "findings.parquet"
	scoresFile   = "scores.parquet"
)

// Keys of the key-value metadata of each Parquet file: its schema, and the
// write it belongs to, which is the same in the four files of one write.
const (
	schemaKey = "youden.schema"
	writeKey  = "youden.write"
)

// A row group is what a reader and the writer hold in memory: it ends after so many
// rows, or so many bytes, whichever is first.
const (
	rowsPerGroup  = 10_000
	bytesPerGroup = 4 << 20
	rowsPerChunk  = 256
	bytesPerChunk = 256 << 10
	rowsPerRead   = 256
)

// compression needs 4 MB a level above; at that of the library it is 16 MB more of
// memory for 1 % less of a file.
var compression = zstd.Codec{Level: zstd.SpeedFastest}

// tableSchema is the schema name of a file, such as youden.capture/1#runs.parquet.
func tableSchema(name string) string { return Schema + "#" + name }

// tableWriter writes rows as one Parquet file, in groups of a bounded size. Errors
// may appear only at its end, so every one is checked and the writer is thrown away.
type tableWriter[T any] struct {
	name       string
	out        *parquet.GenericWriter[T]
	chunk      []T
	chunkBytes int // of texts
	groupBytes int // of texts in the open row group
}

func newTableWriter[T any](w io.Writer, name string) *tableWriter[T] {
	return &tableWriter[T]{name: name, out: parquet.NewGenericWriter[T](w,
		parquet.Compression(&compression),
		parquet.MaxRowsPerRowGroup(rowsPerGroup),
		parquet.KeyValueMetadata(schemaKey, tableSchema(name)))}
}

// add takes a row that holds some bytes of text.
func (t *tableWriter[T]) add(row T, bytes int) error {
	t.chunk = append(t.chunk, row)
	if t.chunkBytes += bytes; len(t.chunk) < rowsPerChunk && t.chunkBytes < bytesPerChunk {
		return nil
	}
	return t.flush()
}

// flush writes the rows that wait, and ends the row group once it is large.
func (t *tableWriter[T]) flush() (err error) {
	defer t.explain(&err)
	defer contain(&err)
	if len(t.chunk) == 0 {
		return nil
	}
	if _, err := t.out.Write(t.chunk); err != nil {
		return err
	}
	t.groupBytes += t.chunkBytes
	clear(t.chunk)
	t.chunk, t.chunkBytes = t.chunk[:0], 0
	if t.groupBytes < bytesPerGroup {
		return nil
	}
	t.groupBytes = 0
	return t.out.Flush()
}

// end writes what waits and names the write that the file belongs to.
func (t *tableWriter[T]) end(write string) (err error) {
	if err := t.flush(); err != nil {
		return err
	}
	defer t.explain(&err)
	defer contain(&err)
	t.out.SetKeyValueMetadata(writeKey, write)
	return t.out.Close()
}

func (t *tableWriter[T]) explain(err *error) {
	if *err != nil {
		*err = fmt.Errorf("%s: %w", t.name, *err)
	}
}

// table is an open Parquet file of rows T.
type table[T any] struct {
	path string
	file *os.File
	pq   *parquet.File
}

// openTable opens and checks a file: a renamed or missing column would read as
// zeros without any error.
func openTable[T any](dir, name string) (t *table[T], err error) {
	path := filepath.Join(dir, name)
	f, err := openRegular(path)
	if err != nil {
		return nil, fmt.Errorf("opening %s: %w", path, err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(&DamagedError{File: path, Err: err}, f.Close())
		}
	}()
	defer contain(&err)
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	pq, err := parquet.OpenFile(f, info.Size())
	if err != nil {
		return nil, err
	}
	if got, _ := pq.Lookup(schemaKey); got != tableSchema(name) {
		return nil, fmt.Errorf("its schema is %q, this program reads %q", got, tableSchema(name))
	}
	var row T
	if err := sameColumns(parquet.SchemaOf(row), pq.Schema()); err != nil {
		return nil, err
	}
	return &table[T]{path: path, file: f, pq: pq}, nil
}

// sameColumns checks that every column we read is there, with its type. Further
// columns are ignored, and a nullable one may be absent: it is unknown then.
func sameColumns(want, got *parquet.Schema) error {
	for _, path := range want.Columns() {
		w, _ := want.Lookup(path...)
		g, ok := got.Lookup(path...)
		if !ok {
			if w.Node.Optional() && len(path) == 1 {
				continue
			}
			return fmt.Errorf("column %v is missing", path)
		}
		if w.Node.Type().String() != g.Node.Type().String() ||
			w.MaxDefinitionLevel != g.MaxDefinitionLevel || w.MaxRepetitionLevel != g.MaxRepetitionLevel {
			return fmt.Errorf("column %v is %s, not %s", path, g.Node, w.Node)
		}
	}
	return nil
}

func (t *table[T]) write() string {
	id, _ := t.pq.Lookup(writeKey)
	return id
}

func (t *table[T]) close() error { return t.file.Close() }

// rows streams the rows: a file of steps does not fit in memory.
func (t *table[T]) rows() iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var zero T
		reader, err := t.reader()
		if err != nil {
			yield(zero, err)
			return
		}
		for {
			batch, err := readBatch(reader)
			for _, row := range batch {
				if !yield(row, nil) {
					return
				}
			}
			if errors.Is(err, io.EOF) {
				return
			}
			if err == nil && len(batch) == 0 {
				err = io.ErrNoProgress
			}
			if err != nil {
				yield(zero, &DamagedError{File: t.path, Err: err})
				return
			}
		}
	}
}

func (t *table[T]) reader() (r *parquet.GenericReader[T], err error) {
	defer contain(&err)
	return parquet.NewGenericReader[T](t.pq), nil
}

// readBatch returns rows and an error together: Read gives io.EOF with the last
// rows.
func readBatch[T any](r *parquet.GenericReader[T]) (batch []T, err error) {
	defer contain(&err)
	rows := make([]T, rowsPerRead)
	n, err := r.Read(rows)
	return rows[:n], err
}

// contain turns a panic of the Parquet library into an error: a damaged file
// must not end the program.
func contain(err *error) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("the file cannot be read or written as Parquet: %v", p)
	}
}

// DamagedError says that a file of a capture cannot be used.
type DamagedError struct {
	File string
	Err  error
}

func (e *DamagedError) Error() string {
	return fmt.Sprintf("%s is damaged or of another version: %v; `youden resume` writes it anew from the ledger", e.File, e.Err)
}

func (e *DamagedError) Unwrap() error { return e.Err }
