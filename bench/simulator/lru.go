package simulator

import (
	"container/list"
	"sync"
)

// lru keeps the last few results of a pure function. K runs of a side show the
// same code, so most of the work is done once.
type lru[V any] struct {
	mu    sync.Mutex
	limit int
	order *list.List
	items map[[32]byte]*list.Element
}

type lruItem[V any] struct {
	key   [32]byte
	value V
}

func newLRU[V any](limit int) *lru[V] {
	return &lru[V]{limit: limit, order: list.New(), items: map[[32]byte]*list.Element{}}
}

// get returns the value of key, computing it if needed. Two callers may
// compute the same value at once; it is pure, so either will do.
func (c *lru[V]) get(key [32]byte, compute func() V) V {
	c.mu.Lock()
	if e, ok := c.items[key]; ok {
		c.order.MoveToFront(e)
		v := e.Value.(*lruItem[V]).value
		c.mu.Unlock()
		return v
	}
	c.mu.Unlock()
	v := compute()
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, ok := c.items[key]; !ok {
		c.items[key] = c.order.PushFront(&lruItem[V]{key, v})
		for c.order.Len() > c.limit {
			last := c.order.Back()
			c.order.Remove(last)
			delete(c.items, last.Value.(*lruItem[V]).key)
		}
	}
	return v
}
