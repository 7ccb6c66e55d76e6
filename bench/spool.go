package bench

import (
	"errors"
	"fmt"
	"iter"
	"math"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/youden-bench/youden/measurements"
)

// spoolFile is where a capture's rows wait; its name is that of a file which a
// process that died may have left.
const spoolFile = "rows.tmp"

// spool keeps the rows of runs on the disk, in the order in which the runs end, until
// they are written in plan order: of a run it holds where its rows are. It is no
// record. What was paid for is in the ledger, and when the process dies its rows are
// made again from there.
type spool struct {
	mu   sync.Mutex
	file *os.File
	at   []int64 // by index in the plan: where its rows begin
	long []int32 // how many bytes they are; 0 = the run has not ended
	tail []byte  // what is not in the file yet
	size int64   // of the file
	err  error   // of the first write that failed
}

// spoolTail is how much is written at a time.
const spoolTail = 256 << 10

// newSpool makes a spool for so many runs in a directory; "" is that of the system for
// temporary files. Where the system allows it, the file is out of sight at once and
// gone with the process, whatever ends it.
func newSpool(dir string, runs int) (*spool, error) {
	var f *os.File
	var err error
	if dir == "" {
		f, err = os.CreateTemp("", "youden-*-"+spoolFile)
	} else {
		f, err = os.OpenFile(filepath.Join(dir, spoolFile), os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600)
	}
	if err != nil {
		return nil, fmt.Errorf("making the file where rows wait until they are written: %w", err)
	}
	_ = os.Remove(f.Name()) // Windows keeps it until it is closed
	return &spool{file: f, at: make([]int64, runs), long: make([]int32, runs), tail: make([]byte, 0, spoolTail)}, nil
}

// packs are buffers for the rows of one run.
var packs = sync.Pool{New: func() any { return new([]byte) }}

// put keeps the rows of run i.
func (s *spool) put(i int, rows *measurements.Rows) error {
	b := packs.Get().(*[]byte)
	defer packs.Put(b)
	*b = rows.Append((*b)[:0])
	s.mu.Lock()
	defer s.mu.Unlock()
	s.at[i], s.long[i] = s.size+int64(len(s.tail)), int32(min(len(*b), math.MaxInt32)) //nolint:gosec // answers have a limit of 5 MB
	s.tail = append(s.tail, *b...)
	if len(s.tail) < spoolTail/2 {
		return s.err
	}
	return s.flush()
}

// flush writes the tail. The lock is held.
func (s *spool) flush() error {
	if s.err != nil {
		return s.err
	}
	n, err := s.file.WriteAt(s.tail, s.size)
	if err != nil {
		s.err = fmt.Errorf("keeping rows until they are written: %w", err)
		return s.err
	}
	s.size += int64(n)
	s.tail = s.tail[:0]
	return nil
}

// errNoRows says that a run has not ended.
var errNoRows = errors.New("a run has no rows")

// rows yields the rows of the runs that keep says yes to, in plan order.
func (s *spool) rows(keep func(i int) bool) iter.Seq2[measurements.Rows, error] {
	return func(yield func(measurements.Rows, error) bool) {
		s.mu.Lock()
		defer s.mu.Unlock()
		if err := s.flush(); err != nil {
			yield(measurements.Rows{}, err)
			return
		}
		var packed []byte
		for i, size := range s.long {
			if !keep(i) {
				continue
			}
			var rows measurements.Rows
			err := errNoRows
			if size > 0 {
				packed = slices.Grow(packed[:0], int(size))[:size]
				if _, err = s.file.ReadAt(packed, s.at[i]); err == nil {
					err = rows.Unpack(packed)
				}
			}
			if err != nil {
				yield(measurements.Rows{}, fmt.Errorf("reading the rows of run %d of the plan: %w", i, err))
				return
			}
			if !yield(rows, nil) {
				return
			}
		}
	}
}

// close forgets the rows.
func (s *spool) close() error {
	err := s.file.Close()
	_ = os.Remove(s.file.Name()) // mostly gone already
	return err
}
