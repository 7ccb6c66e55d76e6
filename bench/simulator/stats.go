package simulator

import (
	"encoding/hex"
	"encoding/json"
	"sync"
)

// Stats counts what a server did since it started.
type Stats struct {
	// Requests is every request to chat/completions that passed the key check,
	// whatever became of it.
	Requests int `json:"requests"`
	// Calls is the requests answered by a completion, which is what a hosted
	// API bills, even if the client never got all of it.
	Calls int `json:"calls"`
	// Finished is the calls whose last byte was handed to the connection.
	Finished int `json:"finished"`
	// Refused is the requests answered by an error or by an injected fault.
	Refused int            `json:"refused"`
	ByModel map[string]int `json:"by_model"`
	// ByRequest counts calls per SHA-256 of the request body (hex), so that a
	// test can show that no finished call was paid twice.
	ByRequest map[string]int `json:"by_request"`
	// Attempts is the highest attempt number seen per X-Youden-Attempt id.
	Attempts map[string]int `json:"attempts"`
	// Faults counts injected faults by kind.
	Faults map[string]int `json:"faults"`
}

type tally struct {
	mu sync.Mutex
	s  Stats
}

func newTally() *tally {
	return &tally{s: Stats{ByModel: map[string]int{}, ByRequest: map[string]int{}, Attempts: map[string]int{}, Faults: map[string]int{}}}
}

func (t *tally) add(change func(*Stats)) {
	t.mu.Lock()
	defer t.mu.Unlock()
	change(&t.s)
}

func (t *tally) snapshot() Stats {
	t.mu.Lock()
	defer t.mu.Unlock()
	out := t.s
	for _, m := range []*map[string]int{&out.ByModel, &out.ByRequest, &out.Attempts, &out.Faults} {
		copied := make(map[string]int, len(*m))
		for k, v := range *m {
			copied[k] = v
		}
		*m = copied
	}
	return out
}

func (t *tally) called(model string, body [32]byte) {
	t.add(func(s *Stats) {
		s.Calls++
		s.ByModel[model]++
		s.ByRequest[hex.EncodeToString(body[:])]++
	})
}

// json is what GET /-/stats answers.
func (s Stats) json() ([]byte, error) { return json.MarshalIndent(s, "", " ") }
