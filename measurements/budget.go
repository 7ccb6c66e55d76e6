package measurements

import "encoding/json"

// BudgetRecord says what a capture was allowed to come to, over all processes that
// worked on it, and what it had come to when it ended. A cap that is nil is none.
type BudgetRecord struct {
	MaxCostUSDMicros *int64 `json:"max_cost_usd_micros"`
	MaxCalls         *int64 `json:"max_calls"`
	MaxTokens        *int64 `json:"max_tokens"`
	MaxTimeMS        *int64 `json:"max_time_ms"`

	CostUSDMicros *int64 `json:"cost_usd_micros"` // nil = the model has no price
	Calls         int64  `json:"calls"`           // attempts that reached the endpoint or may have
	Tokens        int64  `json:"tokens"`
	TimeMS        int64  `json:"time_ms"`

	// The part of these that nobody knows, and that is counted at its worst.
	UnknownCostUSDMicros *int64 `json:"unknown_cost_usd_micros"`
	UnknownCalls         int64  `json:"unknown_calls"`
	UnknownTokens        int64  `json:"unknown_tokens"`

	Overruns int    `json:"overruns"`          // attempts that came to more than was reserved for them
	Stopped  string `json:"stopped,omitempty"` // why nothing more was sent; "" = it was enough
}

// Allow replaces what the capture was asked for, whose caps a resume may raise.
// Finish writes it down.
func (c *Capture) Allow(request json.RawMessage) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.manifest.Request = request
}

// Spent says what the capture was allowed and came to. Finish writes it down.
func (c *Capture) Spent(b *BudgetRecord) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.manifest.Budget = b
}
