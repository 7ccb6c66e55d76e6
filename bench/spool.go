package bench

import (
	"encoding/binary"
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
	at   []uint32 // by index in the plan: the block where its rows begin, from 1; 0 = the run has not ended
	tail []byte   // what is not in the file yet
	size int64    // of the file
	err  error    // of the first write that failed
}

// block is what the rows of a run begin at a multiple of: four bytes a run say where
// in a file of 64 GB they are. Their length stands before them.
const (
	block      = 16
	lengthSize = 4
)

var errSpoolFull = errors.New("the file where rows wait has 64 GB: capture fewer runs at a time")

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
	return &spool{file: f, at: make([]uint32, runs), tail: make([]byte, 0, spoolTail)}, nil
}

// packs are buffers for the rows of one run.
var packs = sync.Pool{New: func() any { return new([]byte) }}

// put keeps the rows of run i.
func (s *spool) put(i int, rows *measurements.Rows) error {
	b := packs.Get().(*[]byte)
	defer packs.Put(b)
	*b = rows.Append(append((*b)[:0], make([]byte, lengthSize)...))
	binary.LittleEndian.PutUint32(*b, uint32(len(*b)-lengthSize)) //nolint:gosec // answers have a limit of 5 MB
	*b = append(*b, make([]byte, (block-len(*b)%block)%block)...)
	s.mu.Lock()
	defer s.mu.Unlock()
	at := (s.size+int64(len(s.tail)))/block + 1
	if at > math.MaxUint32 {
		return errSpoolFull
	}
	s.at[i] = uint32(at)
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
		for i := range s.at {
			if !keep(i) {
				continue
			}
			var rows measurements.Rows
			var err error
			if packed, err = s.read(i, packed); err == nil {
				err = rows.Unpack(packed)
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

// read reads the packed rows of a run into a buffer. The lock is held, and nothing is
// in the tail.
func (s *spool) read(i int, buffer []byte) ([]byte, error) {
	if s.at[i] == 0 {
		return buffer, errNoRows
	}
	at := int64(s.at[i]-1) * block
	var length [lengthSize]byte
	if _, err := s.file.ReadAt(length[:], at); err != nil {
		return buffer, err
	}
	size := int(binary.LittleEndian.Uint32(length[:]))
	if at+lengthSize+int64(size) > s.size {
		return buffer, errors.New("it ends before them: something else has written to it")
	}
	buffer = slices.Grow(buffer[:0], size)[:size]
	_, err := s.file.ReadAt(buffer, at+lengthSize)
	return buffer, err
}

// close forgets the rows.
func (s *spool) close() error {
	err := s.file.Close()
	_ = os.Remove(s.file.Name()) // mostly gone already
	return err
}
