package endpoint

import (
	"errors"
	"fmt"
	"math"
	"net/http"
	"time"

	"github.com/youden-bench/youden/bench/ledger"
	"github.com/youden-bench/youden/detector"
)

// Retry says how often and how long a call is tried again.
type Retry struct {
	Max     int           // further attempts of a call; 0 = 10, negative = none
	Budget  time.Duration // from a call's first failure to its last attempt; 0 = 5 min
	MaxWait time.Duration // an endpoint that asks for longer ends the capture; 0 = 2 min

	patient bool // rate limits are bounded by the budget alone
}

// Defaults returns the settings with the default in place of each 0.
func (r Retry) Defaults() Retry {
	if r.Max == 0 {
		r.Max, r.patient = 10, true
	}
	if r.Budget == 0 {
		r.Budget = 5 * time.Minute
	}
	if r.MaxWait == 0 {
		r.MaxWait = 2 * time.Minute
	}
	return r
}

func (r *Retry) check() error {
	*r = r.Defaults()
	if r.Budget < 0 || r.MaxWait < 0 {
		return errors.New("the retries' budget and longest wait must not be negative")
	}
	return nil
}

const (
	firstBackoff = 500 * time.Millisecond
	maxBackoff   = 30 * time.Second
	// A broken answer and one that came too late may have been billed, and the
	// next one will be (spec/peers.md sections 3.1 and 3.2, row 22).
	maxDamaged = 2
	maxLate    = 1
	// Where nobody ever listened, the address is wrong more often than the server is
	// about to start; where no answer was ever good, it is seldom a matter of minutes.
	maxNobody   = 2
	maxUnproven = 6
)

// standing is what is known of the endpoint beyond the call.
type standing struct {
	nobody   bool // it never answered at all
	unproven bool // it never gave a good answer
	down     bool // it failed as many calls in a row as there are callers
}

// mishap says why an attempt gave no answer that counts, as far as another attempt
// depends on it.
type mishap int

const (
	noMishap mishap = iota // an answer, or an error that stays
	limited                // too fast or too many
	failing                // the endpoint says that it failed
	damaged                // a success that cannot be read
	unsent                 // nothing reached the endpoint
	lost                   // sent, and the connection broke
	late                   // sent, and no answer in time
)

// mishapOf classifies the end of an attempt. An observed error is safe to try
// again; a call of unknown fate is so only where the ledger may (spec/ledger.md
// section 3.2).
func mishapOf(r ledger.Result, a reading, retriesUnknown bool) mishap {
	switch {
	case r.Observation != nil:
		return mishapOfAnswer(r.Observation.Header["x-should-retry"], a)
	case r.NotSent != nil && (a.Status == detector.Transient || a.Status == detector.Timeout):
		return unsent
	case r.Indeterminate != nil && retriesUnknown && a.Status == detector.Timeout:
		return late
	case r.Indeterminate != nil && retriesUnknown && a.Status == detector.Transient:
		return lost
	}
	return noMishap
}

func mishapOfAnswer(shouldRetry string, a reading) mishap {
	switch {
	case a.err != nil && shouldRetry == "false", CauseOf(a.Answer) == CauseQuota:
		return noMishap
	case a.Status == detector.RateLimited:
		return limited
	case a.Status == detector.Transient && a.err != nil:
		return failing
	case a.Status == detector.Transient:
		return damaged
	case a.err != nil && shouldRetry == "true" && a.code >= http.StatusBadRequest && a.Status == detector.Config:
		return failing
	}
	return noMishap
}

// tries is one call's way through its attempts.
type tries struct {
	retry  Retry
	began  time.Time // of the first failure
	n      int       // further attempts so far
	counts [late + 1]int
}

// next says whether there is another attempt, and after what time. floor is how
// long the endpoint asked everybody to wait, jitter a random number in [0, 1): the
// callers that were turned away together must not come back together.
func (t *tries) next(m mishap, s standing, now time.Time, floor time.Duration, jitter float64) (after time.Duration, again bool) {
	if t.began.IsZero() {
		t.began = now
	}
	t.counts[m]++
	if t.counts[m] > t.limit(m, s, floor) {
		return 0, false
	}
	after = floor + time.Duration(jitter*float64(backoff(t.n)))
	if now.Add(after).Sub(t.began) > t.retry.Budget {
		return 0, false
	}
	t.n++
	return after, true
}

// limit is how many mishaps of a kind may be followed by another attempt.
func (t *tries) limit(m mishap, s standing, floor time.Duration) int {
	used := t.n
	if t.retry.patient {
		used -= t.counts[limited]
	}
	limit := t.retry.Max - used + t.counts[m] - 1
	if m == limited && t.retry.patient {
		limit = math.MaxInt
	}
	switch {
	case s.down:
		return 0
	case m == damaged:
		return min(limit, maxDamaged)
	case m == late:
		return min(limit, maxLate)
	case m == unsent && s.nobody:
		return min(limit, maxNobody)
	case s.unproven && floor == 0:
		return min(limit, maxUnproven)
	}
	return limit
}

// backoff is the longest wait before the n-th further attempt, counted from 0.
func backoff(n int) time.Duration {
	if n > 6 {
		return maxBackoff
	}
	return min(firstBackoff<<n, maxBackoff)
}

// summary says that a call was given up, for the detail of its answer.
func (t *tries) summary(now time.Time) string {
	if t.n == 0 {
		return ""
	}
	return fmt.Sprintf(" (given up after %d further attempts in %s)", t.n, now.Sub(t.began).Round(100*time.Millisecond))
}
