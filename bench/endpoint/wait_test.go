package endpoint

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

func TestParseWait(t *testing.T) {
	now := time.Date(2026, 11, 30, 9, 15, 0, 0, time.UTC)
	for text, want := range map[string]time.Duration{
		"0": 0, "2": 2 * time.Second, " 2 ": 2 * time.Second, "0.5": 500 * time.Millisecond, "120": 2 * time.Minute,
		"1s": time.Second, "350ms": 350 * time.Millisecond, "1m30s": 90 * time.Second, "6m0s": 6 * time.Minute,
		"2m59.56s": 179560 * time.Millisecond, "1h0m1s": time.Hour + time.Second, "1d2h": 26 * time.Hour, "20 seconds": 20 * time.Second,
		"1 minute, 5 seconds": 65 * time.Second, "90us": 90 * time.Microsecond, "5MS": 5 * time.Millisecond,
		"Mon, 30 Nov 2026 09:15:07 GMT": 7 * time.Second, "Monday, 30-Nov-26 09:15:07 GMT": 7 * time.Second, "Mon Nov 30 09:15:07 2026": 7 * time.Second,
		"2026-11-30T09:16:00Z": time.Minute, "2026-11-30T10:16:00+01:00": time.Minute, "2020-11-30T09:16:00Z": 0,
		"1796030130": 30 * time.Second, "1796030130500": 30500 * time.Millisecond, "1700000000": 0,
	} {
		got, ok := parseWait(text, now)
		assert.True(t, ok, text)
		assert.Equal(t, want, got, text)
	}
	for _, text := range []string{"", "soon", "-1", "1x", "s", "NaN", "Inf", "1e300", "1m30", "99999999", "1000d", "2126-11-30T09:16:00Z", "<int>", "0x10p3000"} {
		got, ok := parseWait(text, now)
		assert.False(t, ok, "%q is %s", text, got)
	}
}

func TestWhatAnAnswerAsksFor(t *testing.T) {
	at := time.Date(2026, 11, 30, 9, 15, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		header map[string]string
		e      *apiError
		want   time.Duration
		none   bool
	}{
		"nothing":                   {none: true},
		"an error without a word":   {e: &apiError{message: "slow down"}, none: true},
		"milliseconds win":          {header: map[string]string{"retry-after-ms": "1500", "retry-after": "9"}, want: 1500 * time.Millisecond},
		"broken milliseconds":       {header: map[string]string{"retry-after-ms": "x", "retry-after": "9"}, want: 9 * time.Second},
		"a date by its own clock":   {header: map[string]string{"date": "Mon, 30 Nov 2026 12:00:00 GMT", "retry-after": "Mon, 30 Nov 2026 12:00:04 GMT"}, want: 4 * time.Second},
		"a date by ours":            {header: map[string]string{"retry-after": "Mon, 30 Nov 2026 09:15:04 GMT"}, want: 4 * time.Second},
		"the longest used-up limit": {header: map[string]string{"x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": "2s", "x-ratelimit-remaining-tokens": "0", "x-ratelimit-reset-tokens": "7s", "x-ratelimit-remaining": "3", "x-ratelimit-reset": "50"}, want: 7 * time.Second},
		"a limit that is not used":  {header: map[string]string{"x-ratelimit-remaining-requests": "1", "x-ratelimit-reset-requests": "2s"}, e: &apiError{}, none: true},
		"the IETF's":                {header: map[string]string{"ratelimit-remaining": "0", "ratelimit-reset": "5"}, want: 5 * time.Second},
		"the body's field":          {e: &apiError{wait: "34s", message: "try again in 1s"}, want: 34 * time.Second},
		"words":                     {e: &apiError{message: "Please try again in 1m30s. Visit"}, want: 90 * time.Second},
		"words of Azure":            {e: &apiError{message: "Please retry after 20 seconds."}, want: 20 * time.Second},
		"words of Gemini":           {e: &apiError{message: "Please retry in 34.074824224s."}, want: 34074824224},
		"words about something":     {e: &apiError{message: "try again in 5 easy steps"}, none: true},
	} {
		got, ok := asked(c.header, c.e, at)
		assert.Equal(t, !c.none, ok, name)
		assert.Equal(t, c.want, got, name)
	}
}

func FuzzParseWait(f *testing.F) {
	for _, seed := range []string{"2", "1m30s", "Mon, 30 Nov 2026 09:15:07 GMT", "1796030130500", "2026-11-30T09:16:00Z", "1 day", "9999999999d", "1e13"} {
		f.Add(seed)
	}
	now := time.Date(2026, 11, 30, 9, 15, 0, 0, time.UTC)
	f.Fuzz(func(t *testing.T, text string) {
		for _, read := range []func() (time.Duration, bool){
			func() (time.Duration, bool) { return parseWait(text, now) },
			func() (time.Duration, bool) {
				return asked(map[string]string{"retry-after-ms": text, "date": text}, &apiError{message: "try again in " + text, wait: text}, now)
			},
		} {
			if d, ok := read(); ok && (d < 0 || d > maxAsked) {
				t.Fatalf("%q asks to wait for %s", text, d)
			}
		}
	})
}
