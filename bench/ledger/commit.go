package ledger

import (
	"errors"
	"fmt"
	"sync"
	"time"
)

// maxBatch bounds a transaction, so that one large burst does not keep the first
// of its writers waiting.
const maxBatch = 256

// pace is the least time from one transaction to the next. Calls that answer after
// 50 ms come one by one; waiting for the next of them takes a sixth off the
// processor time of a call and 1 to 2 % off their number (measurements/SPEED.md). A
// store that is no file costs nothing to write and is not waited for.
const pace = 2 * time.Millisecond

// ErrPoisoned says that a write failed before. What is durable and what is not
// can only be told by opening the ledger again.
var ErrPoisoned = errors.New("the ledger takes no more writes")

// committer is the one goroutine that writes. All writers that wait when it
// turns to them share a transaction, and so a wait for the disk.
type committer struct {
	store Store
	pace  time.Duration
	queue chan *write
	done  chan struct{}

	mu     sync.Mutex
	next   int64 // number of the next leaf
	broken error
}

type write struct {
	records [][]byte
	bodies  []Body
	ack     chan error
	first   int64 // number of the first leaf, set before ack
}

func newCommitter(store Store, next int64, pace time.Duration) *committer {
	c := &committer{store: store, pace: pace, next: next, queue: make(chan *write, maxBatch), done: make(chan struct{})}
	go c.run()
	return c
}

// append makes records and bodies durable and returns the number of the first
// leaf.
func (c *committer) append(bodies []Body, records ...Record) (int64, error) {
	w := &write{bodies: bodies, ack: make(chan error, 1), records: make([][]byte, len(records))}
	for i, r := range records {
		data, err := r.encode()
		if err != nil {
			return 0, err
		}
		w.records[i] = data
	}
	c.queue <- w
	err := <-w.ack
	return w.first, err
}

func (c *committer) run() {
	defer close(c.done)
	var last time.Time
	for w := range c.queue {
		if c.pace > 0 {
			time.Sleep(c.pace - time.Since(last))
			last = time.Now()
		}
		batch := []*write{w}
	gather:
		for len(batch) < maxBatch {
			select {
			case w, ok := <-c.queue:
				if !ok {
					break gather
				}
				batch = append(batch, w)
			default:
				break gather
			}
		}
		err := c.commit(batch)
		for _, w := range batch {
			w.ack <- err
		}
	}
}

func (c *committer) commit(batch []*write) error {
	if err := c.err(); err != nil {
		return err
	}
	var leaves []Leaf
	var bodies []Body
	n := c.next
	for _, w := range batch {
		w.first = n
		for _, data := range w.records {
			leaves = append(leaves, Leaf{N: n, Data: data})
			n++
		}
		bodies = append(bodies, w.bodies...)
	}
	if err := c.store.Append(leaves, bodies); err != nil {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.broken = fmt.Errorf("%w since a write failed (%w): see to the disk, then open the ledger again", ErrPoisoned, err)
		return c.broken
	}
	c.next = n
	return nil
}

func (c *committer) err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.broken
}

// close waits until everything is written. No append may follow.
func (c *committer) close() {
	close(c.queue)
	<-c.done
}
