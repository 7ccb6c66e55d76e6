package ledger

import (
	"context"
	"errors"
	"iter"
	"sync"
)

// Store keeps leaves and bodies. Append is called by one goroutine at a time;
// the rest may be called beside it.
type Store interface {
	// Append makes leaves and bodies durable together, or neither. Leaves are
	// numbered by the caller without gaps; a body already there is left alone.
	Append(leaves []Leaf, bodies []Body) error
	// Leaves yields the leaves from number first on, in order.
	Leaves(ctx context.Context, first int64) iter.Seq2[Leaf, error]
	// Leaf returns one leaf, or ErrNoLeaf.
	Leaf(n int64) (Leaf, error)
	// Body returns a stored body, or ErrNoBody.
	Body(sha Digest) (Body, error)
	Close() error
}

// ErrNoBody and ErrNoLeaf say that something is not in the store.
var (
	ErrNoBody = errors.New("the body is not in the ledger")
	ErrNoLeaf = errors.New("the leaf is not in the ledger")
)

// Body is the bytes of a request or a response as they are stored.
type Body struct {
	SHA  Digest // SHA-256 of the original bytes
	Size int64  // of the original
	Zstd bool   // Data is compressed
	Data []byte
}

// Memory is a Store that forgets everything when the process ends: for tests
// and for measuring what durability costs.
type Memory struct {
	mu     sync.Mutex
	leaves []Leaf
	bodies map[Digest]Body
}

// NewMemory returns an empty Memory.
func NewMemory() *Memory { return &Memory{bodies: map[Digest]Body{}} }

// Append keeps leaves and bodies.
func (m *Memory) Append(leaves []Leaf, bodies []Body) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.leaves = append(m.leaves, leaves...)
	for _, b := range bodies {
		if _, found := m.bodies[b.SHA]; !found {
			m.bodies[b.SHA] = b
		}
	}
	return nil
}

// Leaves yields the leaves there are when it is called.
func (m *Memory) Leaves(_ context.Context, first int64) iter.Seq2[Leaf, error] {
	m.mu.Lock()
	leaves := m.leaves[:len(m.leaves):len(m.leaves)]
	m.mu.Unlock()
	return func(yield func(Leaf, error) bool) {
		for _, l := range leaves {
			if l.N >= first && !yield(l, nil) {
				return
			}
		}
	}
}

// Leaf returns one leaf.
func (m *Memory) Leaf(n int64) (Leaf, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if n < 1 || n > int64(len(m.leaves)) {
		return Leaf{}, ErrNoLeaf
	}
	return m.leaves[n-1], nil
}

// Body returns a stored body.
func (m *Memory) Body(sha Digest) (Body, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	b, found := m.bodies[sha]
	if !found {
		return Body{}, ErrNoBody
	}
	return b, nil
}

// Close keeps everything: a Memory can be opened again, as a file can.
func (m *Memory) Close() error { return nil }
