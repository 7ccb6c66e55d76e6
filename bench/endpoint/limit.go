package endpoint

import "time"

// limitHeaders are the names under which endpoints say how much of a limit is left
// and when it is whole again: OpenAI's pairs, the plain ones of OpenRouter, and the
// draft of the IETF.
var limitHeaders = []struct {
	remaining, reset string
	tokens           bool
}{
	{"x-ratelimit-remaining-requests", "x-ratelimit-reset-requests", false},
	{"x-ratelimit-remaining-tokens", "x-ratelimit-reset-tokens", true},
	{"x-ratelimit-remaining", "x-ratelimit-reset", false},
	{"ratelimit-remaining", "ratelimit-reset", false},
}

// credit is what a limit still allows until it is whole again.
type credit struct {
	left  float64
	until time.Time // zero = nothing is known
}

// note takes what an answer says of the limit. Servers count when they admit a call,
// so what was sent after the call that is answered is taken off; within one window
// the smaller word counts, since answers overtake each other.
func (c *credit) note(left, after float64, now, until time.Time) {
	left = max(0, left-after)
	if now.Before(c.until) {
		left = min(left, c.left)
	}
	c.left, c.until = left, until
}

// blockedUntil returns when need can be spent: a time before now = at once.
func (c *credit) blockedUntil(need float64, now time.Time) time.Time {
	if !now.Before(c.until) || c.left >= need {
		return time.Time{}
	}
	return c.until
}

func (c *credit) spend(need float64) { c.left -= need }

// budgets are the limits of an endpoint that are nearly used up.
type budgets struct {
	requests, tokens credit
}

// note reads the limits' headers. A limit that is far from exhausted, or that comes
// back only after patience, is left to the endpoint to enforce: a header of a
// successful answer never stops a capture.
//
// tokens is the size of a call's prompt, callers how many there are, and after how
// many calls were sent since the one that is answered.
func (b *budgets) note(header map[string]string, tokens float64, callers, after int, now time.Time, patience time.Duration) {
	for _, l := range limitHeaders {
		left, ok := number(header[l.remaining])
		if !ok {
			continue
		}
		reset, ok := parseWait(header[l.reset], serverTime(header, now))
		if !ok || reset <= 0 || reset > patience {
			continue
		}
		c, perCall := &b.requests, 1.0
		if l.tokens {
			c, perCall = &b.tokens, tokens
		}
		if left > 2*float64(callers)*perCall {
			continue
		}
		c.note(left, perCall*float64(after), now, now.Add(reset))
	}
}

// blockedUntil returns when a call of so many tokens fits.
func (b *budgets) blockedUntil(tokens float64, now time.Time) time.Time {
	until := b.requests.blockedUntil(1, now)
	if t := b.tokens.blockedUntil(tokens, now); t.After(until) {
		until = t
	}
	return until
}

func (b *budgets) spend(tokens float64) {
	b.requests.spend(1)
	b.tokens.spend(tokens)
}
