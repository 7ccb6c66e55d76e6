package budget

import (
	"fmt"
	"math"
	"math/bits"
)

// Overrun is an attempt that came to more than was reserved for it: an endpoint
// that ignores the token limit, or counts what nobody sent.
type Overrun struct{ Reserved, Actual Amount }

func (o Overrun) String() string {
	if o.Actual.Tokens > o.Reserved.Tokens {
		return fmt.Sprintf("a call used %d tokens where at most %d were reserved: does the endpoint keep its token limit?", o.Actual.Tokens, o.Reserved.Tokens)
	}
	return fmt.Sprintf("a call cost %s where at most %s was reserved: does the endpoint keep its token limit?", USD(o.Actual.Micros), USD(o.Reserved.Micros))
}

// raise is by how much estimates were too low, in thousandths and at least 1000.
type raise struct{ micros, tokens int64 }

var unraised = raise{thousand, thousand}

const thousand = 1000

// learn raises as far as an attempt went beyond what was estimated for it.
func (r *raise) learn(estimated, actual Amount) {
	r.micros = max(r.micros, scale(actual.Micros, thousand, max(estimated.Micros, 1)))
	r.tokens = max(r.tokens, scale(actual.Tokens, thousand, max(estimated.Tokens, 1)))
}

func (r raise) of(a Amount) Amount {
	return Amount{scale(a.Micros, r.micros, thousand), a.Calls, scale(a.Tokens, r.tokens, thousand)}
}

// scale is x*n/d, rounded up; what does not fit is the largest there is.
func scale(x, n, d int64) int64 {
	hi, lo := bits.Mul64(uint64(x), uint64(n))
	lo, carry := bits.Add64(lo, uint64(d-1), 0)
	hi += carry
	if hi >= uint64(d) {
		return math.MaxInt64
	}
	q, _ := bits.Div64(hi, lo, uint64(d))
	if q > math.MaxInt64 {
		return math.MaxInt64
	}
	return int64(q)
}
