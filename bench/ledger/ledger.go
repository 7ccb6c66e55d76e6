// Package ledger records calls of endpoints durably, so that none is paid twice.
//
// It is opinionated about what may be said after a crash. A call is recorded
// before its first byte leaves and its answer is recorded before anyone sees it;
// so a recorded answer is replayed and never asked for again, and a call that was
// sent and has no answer is indeterminate, which is not the same as not sent. It
// is never sent again silently: the ledger's policy says so, and that is recorded
// too. Draws with different indices are different samples, so that K runs stay K
// measurements.
//
// Everything the ledger knows is a sequence of numbered records that only grows,
// and bodies named by their hash. What it says of a sample is computed from them.
// Package ledger knows no HTTP and no prices: the adapter that sends says what
// came back, what it cost and whether it settles the sample.
//
// The rules and the crash matrix are in spec/ledger.md section 3.
package ledger

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"
)

// schemaName is in the first record of each ledger.
const schemaName = "youden.ledger/1"

// Policy says what to do with a sample whose last attempt is indeterminate.
type Policy int

// Stop leaves the sample unrun until somebody decides. Retry sends another
// attempt, and records that the policy allowed it; the endpoint may then have
// executed the call twice.
const (
	Stop Policy = iota
	Retry
)

// Options say how a ledger is opened. The zero value is the cautious choice.
type Options struct {
	Indeterminate Policy
	ReadOnly      bool             // replay only; nothing is written, not even recovery
	Clock         func() time.Time // nil = time.Now

	pace time.Duration      // least time between transactions
	vfs  string             // SQLite's VFS, for tests
	hook func(point string) // called at the points of the crash matrix, for tests
}

// Ledger is an open ledger. Its methods may be called at the same time.
type Ledger struct {
	opts  Options
	store Store
	codec *codec
	lock  *writerLock // nil when read-only or not a file
	write *committer  // nil when read-only

	id         Digest // of the store
	generation uint64

	mu      sync.Mutex
	closed  bool
	samples map[Digest]*sampleState // those without their answer
	settled map[shortID]settledSample
	flights map[Digest]*flight
	live    sync.WaitGroup
}

// ErrReadOnly says that a call is not recorded and this ledger may not send.
var ErrReadOnly = errors.New("the ledger is open for reading only, and this call is not in it")

// ErrClosed says that the ledger was closed.
var ErrClosed = errors.New("the ledger is closed")

// Open opens the ledger in the file at path for one writer, making it when it is
// missing, and settles what an earlier process left open.
func Open(ctx context.Context, path string, opts Options) (*Ledger, error) {
	var lock *writerLock
	if !opts.ReadOnly {
		var err error
		if lock, err = lockWriter(path); err != nil {
			return nil, err
		}
	}
	store, err := openSQLite(path, opts.vfs, opts.ReadOnly)
	if err != nil {
		return nil, errors.Join(err, lock.release())
	}
	opts.pace = pace
	l, err := OpenStore(ctx, store, opts)
	if err != nil {
		return nil, errors.Join(err, store.Close(), lock.release())
	}
	l.lock = lock
	return l, nil
}

// OpenStore opens a ledger over any Store. The ledger closes the store. That
// there is one writer is the caller's affair.
func OpenStore(ctx context.Context, store Store, opts Options) (*Ledger, error) {
	codec, err := newCodec()
	if err != nil {
		return nil, err
	}
	if opts.Clock == nil {
		opts.Clock = time.Now
	}
	l := &Ledger{
		opts: opts, store: store, codec: codec,
		samples: map[Digest]*sampleState{}, settled: map[shortID]settledSample{}, flights: map[Digest]*flight{},
	}
	next, open, err := l.load(ctx)
	if err != nil {
		return nil, err
	}
	if opts.ReadOnly {
		return l, nil
	}
	l.write = newCommitter(store, next, opts.pace)
	if err := l.recover(open); err != nil {
		l.write.close()
		return nil, err
	}
	return l, nil
}

// load reads all leaves into the state of the samples. It returns the number of
// the next leaf and the attempts that have no outcome.
func (l *Ledger) load(ctx context.Context) (next int64, open []Digest, err error) {
	next = 1
	live := liveAttempts{samples: map[Digest]Digest{}}
	for leaf, err := range l.store.Leaves(ctx, 1) {
		if err != nil {
			return 0, nil, fmt.Errorf("reading the ledger: %w", err)
		}
		if leaf.N != next {
			return 0, nil, fmt.Errorf("reading the ledger: leaf %d is missing: the ledger is damaged", next)
		}
		next++
		record, err := leaf.Record()
		if err != nil {
			return 0, nil, fmt.Errorf("reading the ledger: %w", err)
		}
		if err := l.apply(leaf.N, record, &live); err != nil {
			return 0, nil, fmt.Errorf("reading the ledger: leaf %d: %w: the ledger is damaged", leaf.N, err)
		}
	}
	return next, live.unsettled(), nil
}

// recover becomes the writer: it opens a new generation and records that the
// attempts which an older one left open are indeterminate. One transaction, so
// that a crash in it changes nothing (spec/ledger.md I20).
func (l *Ledger) recover(open []Digest) error {
	now := l.now()
	var records []Record
	if l.id.IsZero() {
		if _, err := rand.Read(l.id[:]); err != nil {
			return fmt.Errorf("making the id of a new ledger: %w", err)
		}
		records = append(records, Record{At: now, Store: &StoreMade{ID: l.id, Schema: schemaName}})
	}
	l.generation++
	records = append(records, Record{At: now, Open: &Opened{Generation: l.generation, PID: os.Getpid()}})
	for _, a := range open {
		records = append(records, Record{At: now, Indeterminate: &Indeterminate{
			Attempt: a, Outcome: "transient", Cause: "the process ended while the call was under way", Orphan: true,
		}})
	}
	if _, err := l.write.append(nil, records...); err != nil {
		return fmt.Errorf("opening the ledger for writing: %w", err)
	}
	for _, s := range l.samples {
		if s.state == dispatching {
			s.state = indeterminate
			s.orphans++
		}
	}
	return nil
}

// Err says why the ledger takes no more calls, or nil.
func (l *Ledger) Err() error {
	if l.write == nil {
		return nil
	}
	return l.write.err()
}

// Close refuses new calls, waits for those under way and lets go of the file.
// Cancel their contexts first if it must not take long.
func (l *Ledger) Close() error {
	l.mu.Lock()
	if l.closed {
		l.mu.Unlock()
		return nil
	}
	l.closed = true
	l.mu.Unlock()
	l.live.Wait()
	if l.write != nil {
		l.write.close()
	}
	l.codec.close()
	return errors.Join(l.store.Close(), l.lock.release())
}

func (l *Ledger) now() int64 { return l.opts.Clock().UnixNano() }

func (l *Ledger) at(point string) {
	if l.opts.hook != nil {
		l.opts.hook(point)
	}
}
