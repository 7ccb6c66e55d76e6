package budget

import "math"

// Amount is what attempts come to, in the units that can be capped beside time.
type Amount struct {
	Micros int64 `json:"cost_usd_micros"` // USD millionths; 0 also where nothing is priced, which no cap on money allows
	Calls  int64 `json:"calls"`
	Tokens int64 `json:"tokens"` // of prompts and answers together
}

// Plus adds amounts. A sum that does not fit is the largest there is: it must never
// look small.
func (a Amount) Plus(b Amount) Amount {
	return Amount{plus(a.Micros, b.Micros), plus(a.Calls, b.Calls), plus(a.Tokens, b.Tokens)}
}

// Times is n of the amount.
func (a Amount) Times(n int64) Amount {
	return Amount{scale(a.Micros, n, 1), scale(a.Calls, n, 1), scale(a.Tokens, n, 1)}
}

// valid replaces what no attempt can cost.
func (a Amount) valid() Amount {
	return Amount{max(a.Micros, 0), max(a.Calls, 0), max(a.Tokens, 0)}
}

func plus(a, b int64) int64 {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}

// Micros is what so many tokens cost at a price in micro-USD for a million of them,
// rounded up.
func Micros(tokens, perMillion int64) int64 { return scale(tokens, perMillion, 1_000_000) }
