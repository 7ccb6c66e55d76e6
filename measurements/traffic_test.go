package measurements

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

func TestSessionsOfACaptureAddUp(t *testing.T) {
	c := &Capture{}
	change := func(n int) []ConcurrencyChange {
		var out []ConcurrencyChange
		for i := range n {
			out = append(out, ConcurrencyChange{At: time.Unix(int64(i), 0), Limit: i + 1, Why: "grow"})
		}
		return out
	}
	c.Observe(Traffic{ConcurrencyHistory: change(2), Served: []Served{{Model: "a", Answers: 3}}, Waits: &Waits{SlotMS: 1, LimitMS: 2, RetryMS: 3}})
	c.Observe(Traffic{ConcurrencyHistory: change(3), Served: []Served{{Model: "a", Answers: 5}}, Waits: &Waits{SlotMS: 10, LimitMS: 20, RetryMS: 30}})
	m := c.Manifest()
	assert.Equal(t, append(change(2), change(3)...), m.ConcurrencyHistory)
	assert.Equal(t, []Served{{Model: "a", Answers: 5}}, m.Served, "a resumed capture reads its answers again")
	assert.Equal(t, &Waits{SlotMS: 11, LimitMS: 22, RetryMS: 33}, m.Waits)
	c.Observe(Traffic{ConcurrencyHistory: change(MaxConcurrencyHistory)})
	assert.Equal(t, change(MaxConcurrencyHistory), c.Manifest().ConcurrencyHistory)
}

func TestEffectiveParametersWin(t *testing.T) {
	m := Manifest{Plan: PlanRecord{Parameters: map[string]any{"temperature": 0.0}}}
	assert.Equal(t, m.Plan.Parameters, m.Parameters(), "of a capture that tells no others")
	m.EffectiveParameters = map[string]any{"temperature": nil}
	assert.Equal(t, map[string]any{"temperature": nil}, m.Parameters())
}
