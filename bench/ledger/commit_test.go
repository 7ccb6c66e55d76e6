package ledger

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// gatedStore lets the test hold the disk: each Append announces itself with the
// number of its leaves and waits.
type gatedStore struct {
	*Memory
	entered chan int
	release chan error
}

func (g *gatedStore) Append(leaves []Leaf, bodies []Body) error {
	if g.entered != nil {
		g.entered <- len(leaves)
		if err := <-g.release; err != nil {
			return err
		}
	}
	return g.Memory.Append(leaves, bodies)
}

// openGated opens a ledger whose store waits from then on.
func openGated(t *testing.T) (*Ledger, *gatedStore) {
	t.Helper()
	g := &gatedStore{Memory: NewMemory()}
	l, err := OpenStore(t.Context(), g, Options{})
	require.NoError(t, err)
	g.entered, g.release = make(chan int), make(chan error)
	return l, g
}

// No byte is sent before its dispatch is durable, and no answer is returned
// before it is (spec/ledger.md I2, I9). A call waits for the disk twice.
func TestADurableRecordComesFirst(t *testing.T) {
	l, g := openGated(t)
	events := make(chan string, 3)
	go func() {
		_, err := l.Do(context.Background(), plan, call("q"), func(context.Context, Attempt) SendResult {
			events <- "sent"
			return got(200, "answer", true)
		})
		assert.NoError(t, err)
		events <- "returned"
	}()
	assert.Equal(t, 1, <-g.entered)
	assert.Empty(t, events, "sent before the dispatch was durable")
	g.release <- nil
	assert.Equal(t, "sent", <-events)
	assert.Equal(t, 1, <-g.entered)
	assert.Empty(t, events, "returned before the answer was durable")
	g.release <- nil
	assert.Equal(t, "returned", <-events)
	require.NoError(t, l.Close())
}

func TestWaitingWritersShareATransaction(t *testing.T) {
	l, g := openGated(t)
	var callers sync.WaitGroup
	do := func(index uint32) {
		_, err := l.Do(context.Background(), Sample{Scope: "p", Index: index}, call("q"), func(context.Context, Attempt) SendResult { return got(200, "a", true) })
		assert.NoError(t, err)
	}
	callers.Go(func() { do(0) })
	require.Equal(t, 1, <-g.entered) // the disk is busy with the first
	for i := range 31 {
		callers.Go(func() { do(uint32(i + 1)) })
	}
	for len(l.write.queue) < 31 { // all others wait in the queue
		runtime.Gosched()
	}
	g.release <- nil
	assert.GreaterOrEqual(t, <-g.entered, 31, "the first caller may join them again")
	done := make(chan struct{})
	go func() { callers.Wait(); close(done) }()
	g.release <- nil
	for {
		select {
		case <-g.entered:
			g.release <- nil
		case <-done:
			require.NoError(t, l.Close())
			return
		}
	}
}

// An answer that could not be recorded is not returned, and waiters fail too.
func TestALostAnswerIsNoResult(t *testing.T) {
	l, g := openGated(t)
	cause := errors.New("the disk is gone")
	failed := make(chan error)
	go func() {
		r, err := l.Do(context.Background(), plan, call("q"), func(context.Context, Attempt) SendResult { return got(200, "answer", true) })
		assert.Nil(t, r.Body)
		failed <- err
	}()
	<-g.entered
	g.release <- nil
	<-g.entered
	g.release <- cause
	err := <-failed
	require.ErrorIs(t, err, ErrPoisoned)
	require.ErrorIs(t, err, cause)
	_, err = l.Do(t.Context(), Sample{Scope: "p"}, call("q"), neverSend(t))
	require.ErrorIs(t, err, ErrPoisoned)
	require.NoError(t, l.Close())

	// What a new writer finds is a dispatch without an answer.
	g.entered = nil
	l, err = OpenStore(t.Context(), g, Options{})
	require.NoError(t, err)
	_, err = l.Do(t.Context(), plan, call("q"), neverSend(t))
	require.ErrorIs(t, err, ErrIndeterminate)
	require.NoError(t, l.Close())
}
