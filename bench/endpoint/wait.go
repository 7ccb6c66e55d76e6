package endpoint

import (
	"math"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// maxAsked bounds how long an endpoint can ask to be left alone: a longer time is
// a misread number.
const maxAsked = 366 * 24 * time.Hour

// parseWait reads how long to wait from now, in any form that endpoints use:
// seconds ("2", "0.5"), durations ("1m30s", "350ms", "1d2h"), HTTP dates, RFC 3339
// times, and moments as seconds or milliseconds since 1970. A moment in the past is
// no wait at all.
func parseWait(text string, now time.Time) (time.Duration, bool) {
	if text = strings.TrimSpace(text); text == "" {
		return 0, false
	}
	if n, err := strconv.ParseFloat(text, 64); err == nil {
		switch {
		case !(n >= 0 && n < 1e14):
			return 0, false
		case n >= 1e11:
			return bounded(time.UnixMilli(int64(n)).Sub(now))
		case n >= 1e9:
			return bounded(time.Unix(int64(n), 0).Sub(now))
		case n > maxAsked.Seconds():
			return 0, false
		}
		return time.Duration(n * float64(time.Second)), true
	}
	if d, ok := parseUnits(text); ok {
		return bounded(d)
	}
	for _, layout := range []string{http.TimeFormat, time.RFC850, time.ANSIC, time.RFC3339} {
		if at, err := time.Parse(layout, text); err == nil {
			return bounded(at.Sub(now))
		}
	}
	return 0, false
}

func bounded(d time.Duration) (time.Duration, bool) { return max(d, 0), d <= maxAsked }

// units are what a number in a duration can count. Longer names come first.
var units = regexp.MustCompile(`^([0-9]+(?:\.[0-9]+)?)\s*(milliseconds?|ms|minutes?|mins?|seconds?|secs?|hours?|hrs?|days?|us|µs|ns|m|s|h|d)[\s,]*`)

// parseUnits reads "1m30s", and also days and spelt-out words, which
// time.ParseDuration does not know.
func parseUnits(text string) (time.Duration, bool) {
	var sum time.Duration
	rest := strings.ToLower(text)
	for found := false; ; found = true {
		m := units.FindStringSubmatch(rest)
		if m == nil {
			return sum, found && rest == ""
		}
		n, err := strconv.ParseFloat(m[1], 64)
		part := n * float64(unitOf(m[2]))
		if err != nil || part > float64(maxAsked) {
			return 0, false
		}
		sum += time.Duration(math.Round(part))
		rest = rest[len(m[0]):]
	}
}

func unitOf(name string) time.Duration {
	switch {
	case name == "ns":
		return time.Nanosecond
	case name == "us", name == "µs":
		return time.Microsecond
	case name == "ms", strings.HasPrefix(name, "milli"):
		return time.Millisecond
	case strings.HasPrefix(name, "m"):
		return time.Minute
	case strings.HasPrefix(name, "h"):
		return time.Hour
	case strings.HasPrefix(name, "d"):
		return 24 * time.Hour
	}
	return time.Second
}

// askedInWords finds the wait in an error's message, where many limits say it and
// nowhere else: "Please try again in 7m12s", "retry after 20 seconds".
var askedInWords = regexp.MustCompile(`(?i)\b(?:try again|retry|wait|available again|resets?)\s+(?:again\s+)?(?:in|after|for)\s+(?:about\s+)?((?:[0-9]+(?:\.[0-9]+)?\s*(?:milliseconds?|ms|minutes?|mins?|seconds?|secs?|hours?|hrs?|days?|m|s|h|d)\b?[\s,]*)+)`)

// asked returns how long an answer asks everybody to wait. The header made for it
// wins, then what the limits' headers say of an exhausted one, then the words of
// the error. at is when the answer was received; where the server says what time it
// has, its dates are read by its own clock.
func asked(header map[string]string, e *apiError, at time.Time) (time.Duration, bool) {
	now := serverTime(header, at)
	if text := header["retry-after-ms"]; text != "" {
		if n, err := strconv.ParseFloat(strings.TrimSpace(text), 64); err == nil && n >= 0 && n <= float64(maxAsked.Milliseconds()) {
			return time.Duration(n * float64(time.Millisecond)), true
		}
	}
	if d, ok := parseWait(header["retry-after"], now); ok {
		return d, true
	}
	longest, found := time.Duration(0), false
	for _, l := range limitHeaders {
		if left, ok := number(header[l.remaining]); !ok || left > 0 {
			continue
		}
		if d, ok := parseWait(header[l.reset], now); ok {
			longest, found = max(longest, d), true
		}
	}
	if found || e == nil {
		return longest, found
	}
	if d, ok := parseWait(e.wait, now); ok {
		return d, true
	}
	if m := askedInWords.FindStringSubmatch(e.message); m != nil {
		return parseUnits(strings.TrimSpace(m[1]))
	}
	return 0, false
}

// serverTime is what time the server has.
func serverTime(header map[string]string, at time.Time) time.Time {
	if header["date"] == "" {
		return at
	}
	if t, err := http.ParseTime(header["date"]); err == nil {
		return t
	}
	return at
}

func number(text string) (float64, bool) {
	if text == "" {
		return 0, false
	}
	n, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	return n, err == nil && n >= 0
}
