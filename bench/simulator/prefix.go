package simulator

import (
	"hash/fnv"
	"sync"
)

// Hosted caches keep prefixes of at least 1024 tokens in steps of 128
// (golden/openai_api/chat_cached_prompt.json).
const (
	prefixMinimum = 1024
	prefixStep    = 128
	prefixLimit   = 1 << 18 // remembered prefixes; beyond it the cache starts anew
)

// prefixCache remembers prompt prefixes. It is the one part of an answer that
// depends on earlier requests, which is why it is off unless asked for.
type prefixCache struct {
	mu    sync.Mutex
	known map[uint64]bool
}

// cached returns how many leading tokens of the request were seen before, and
// remembers it.
func (c *prefixCache) cached(model string, q *chatRequest) int {
	h := fnv.New64a()
	h.Write([]byte(model))
	var marks []uint64
	n := 0
	for _, m := range q.messages {
		h.Write([]byte("\x00" + m.role + "\x00"))
		n += messageTokens
		for _, tok := range splitTokens(m.text) {
			h.Write([]byte(tok))
			n++
			if n >= prefixMinimum+len(marks)*prefixStep {
				marks = append(marks, h.Sum64())
			}
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.known == nil || len(c.known) > prefixLimit {
		c.known = map[uint64]bool{}
	}
	best := 0
	for i, mark := range marks {
		if c.known[mark] {
			best = prefixMinimum + i*prefixStep
		}
		c.known[mark] = true
	}
	return best
}
