package endpoint

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"pgregory.net/rapid"
)

func TestBackoff(t *testing.T) {
	var got []time.Duration
	for n := range 9 {
		got = append(got, backoff(n))
	}
	s := time.Second
	assert.Equal(t, []time.Duration{s / 2, s, 2 * s, 4 * s, 8 * s, 16 * s, 30 * s, 30 * s, 30 * s}, got)
}

func TestHowOftenACallIsTriedAgain(t *testing.T) {
	known := standing{}
	for name, c := range map[string]struct {
		retry    Retry
		mishap   mishap
		standing standing
		floor    time.Duration
		want     int
	}{
		"as configured":                  {Retry{Max: 3}, failing, known, 0, 3},
		"not at all":                     {Retry{Max: -1}, failing, known, 0, 0},
		"ten times":                      {Retry{}, failing, known, 0, 10},
		"lost":                           {Retry{}, lost, known, 0, 10},
		"a broken answer":                {Retry{}, damaged, known, 0, 2},
		"a broken answer, once":          {Retry{Max: 1}, damaged, known, 0, 1},
		"an answer too late":             {Retry{}, late, known, 0, 1},
		"nobody there":                   {Retry{}, unsent, standing{nobody: true, unproven: true}, 0, 2},
		"somebody was there":             {Retry{}, unsent, known, 0, 10},
		"never a good answer":            {Retry{}, failing, standing{unproven: true}, 0, 6},
		"limited from the start":         {Retry{}, limited, standing{unproven: true}, 0, 6},
		"limited from the start, asked":  {Retry{}, limited, standing{unproven: true}, 10 * time.Second, 14},
		"limited, until the time is up":  {Retry{Budget: time.Minute}, limited, known, 10 * time.Second, 5},
		"limited, as often as it may":    {Retry{Max: 2}, limited, known, time.Second, 2},
		"the endpoint is down":           {Retry{}, limited, standing{down: true}, 0, 0},
		"the time is up at once":         {Retry{Budget: time.Second}, limited, known, 2 * time.Second, 0},
		"failing, until the time is up":  {Retry{Budget: 5 * time.Second}, failing, known, 0, 4},
		"longer than it is worth asking": {Retry{}, limited, known, 10 * time.Minute, 0},
	} {
		t.Run(name, func(t *testing.T) {
			now := time.Unix(0, 0)
			tr := tries{retry: c.retry.Defaults()}
			n := 0
			for ; n < 1000; n++ {
				after, again := tr.next(c.mishap, c.standing, now, c.floor, 0.5)
				if !again {
					break
				}
				assert.GreaterOrEqual(t, after, c.floor)
				now = now.Add(after)
			}
			assert.Equal(t, c.want, n)
			assert.LessOrEqual(t, now.Sub(time.Unix(0, 0)), tr.retry.Budget)
		})
	}
}

// Whatever happens to a call, its attempts end within the budget, and no wait is
// shorter than what the endpoint asked for or longer than that and the backoff.
func TestRetriesEnd(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		retry := Retry{Max: rapid.IntRange(-1, 20).Draw(t, "max"), Budget: time.Duration(rapid.Int64Range(1, 600).Draw(t, "budget")) * time.Second}.Defaults()
		tr := tries{retry: retry}
		start := time.Unix(0, 0)
		now := start
		for n := 0; ; n++ {
			floor := time.Duration(rapid.Int64Range(0, 30_000).Draw(t, "floor")) * time.Millisecond
			jitter := rapid.Float64Range(0, 0.999).Draw(t, "jitter")
			m := mishap(rapid.IntRange(int(limited), int(late)).Draw(t, "mishap"))
			after, again := tr.next(m, standing{}, now, floor, jitter)
			if !again {
				break
			}
			if after < floor || after > floor+maxBackoff {
				t.Fatalf("waits %s for a floor of %s", after, floor)
			}
			if now = now.Add(after + time.Second); n > 10_000 {
				t.Fatal("it never ends")
			}
		}
		if over := now.Sub(start) - retry.Budget; over > time.Second {
			t.Fatalf("%s over the budget", over)
		}
	})
}
