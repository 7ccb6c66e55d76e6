package measurements

import (
	"slices"
	"time"
)

// Traffic is what became of a capture's requests on their way: how they had to be
// changed, how many were under way at once, and who answered. It describes the
// endpoint; no score depends on it.
type Traffic struct {
	// EffectiveParameters are the plan's parameters as they were sent in the end.
	// A comparison reads them, not the plan's.
	EffectiveParameters map[string]any      `json:"effective_parameters,omitempty"`
	Learned             []Learned           `json:"learned,omitempty"`
	ConcurrencyHistory  []ConcurrencyChange `json:"concurrency_history,omitempty"`
	Served              []Served            `json:"served,omitempty"`
	Waits               *Waits              `json:"waits,omitempty"`
}

// Learned is a change of the requests that a refusal of the endpoint asked for.
type Learned struct {
	Parameter string `json:"parameter"`
	Now       string `json:"now"`  // what is done instead
	Said      string `json:"said"` // the endpoint's words
}

// ConcurrencyChange is a new limit of the calls under way at once.
type ConcurrencyChange struct {
	At       time.Time `json:"at"`
	Limit    int       `json:"limit"`
	InFlight int       `json:"in_flight"`
	Why      string    `json:"why"` // start, grow, rate_limit
}

// MaxConcurrencyHistory bounds the history of a capture, over all its sessions.
const MaxConcurrencyHistory = 256

// Served counts the answers of one backend, as it names itself; "" = it did not.
type Served struct {
	Model       string `json:"model,omitempty"`
	Provider    string `json:"provider,omitempty"`
	Fingerprint string `json:"fingerprint,omitempty"`
	Answers     int    `json:"answers"`
}

// Waits is how long callers waited inside this program, summed over them: no part
// of any latency.
type Waits struct {
	SlotMS  int64 `json:"slot_ms"`  // for one of the calls under way to end
	LimitMS int64 `json:"limit_ms"` // for the time that the endpoint had named
	RetryMS int64 `json:"retry_ms"` // before another attempt
}

// Parameters are the parameters that the requests of the capture had.
func (m Manifest) Parameters() map[string]any {
	if m.EffectiveParameters != nil {
		return m.EffectiveParameters
	}
	return m.Plan.Parameters
}

// Observe keeps what a session saw; Finish writes it down. Sessions of a resumed
// capture add up: the history grows, what was answered is told anew.
func (c *Capture) Observe(t Traffic) {
	c.mu.Lock()
	defer c.mu.Unlock()
	old := c.manifest.Traffic
	t.ConcurrencyHistory = slices.Concat(old.ConcurrencyHistory, t.ConcurrencyHistory)
	if over := len(t.ConcurrencyHistory) - MaxConcurrencyHistory; over > 0 {
		t.ConcurrencyHistory = t.ConcurrencyHistory[over:]
	}
	if old.Waits != nil && t.Waits != nil {
		t.Waits = &Waits{
			SlotMS:  old.Waits.SlotMS + t.Waits.SlotMS,
			LimitMS: old.Waits.LimitMS + t.Waits.LimitMS,
			RetryMS: old.Waits.RetryMS + t.Waits.RetryMS,
		}
	}
	c.manifest.Traffic = t
}
