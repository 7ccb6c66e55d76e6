package simulator

import (
	"context"
	"fmt"
	"math"
	"time"
)

// LatencyMode says what becomes of the time an answer takes.
type LatencyMode string

const (
	// LatencyVirtual reports the time in openai-processing-ms and does not wait.
	LatencyVirtual LatencyMode = "virtual"
	// LatencyReal waits for it.
	LatencyReal LatencyMode = "real"
)

// latency turns a mode into a wait. A mode may also be a duration ("50ms"):
// every answer then takes exactly that long.
type latency struct {
	wait  bool
	fixed time.Duration
	sleep func(context.Context, time.Duration) error
}

func newLatency(mode LatencyMode) (*latency, error) {
	l := &latency{sleep: sleep}
	switch mode {
	case "", LatencyVirtual:
	case LatencyReal:
		l.wait = true
	default:
		d, err := time.ParseDuration(string(mode))
		if err != nil || d < 0 {
			return nil, fmt.Errorf("simulator: latency %q is none of virtual, real or a duration such as 50ms", mode)
		}
		l.wait, l.fixed = true, d
	}
	return l, nil
}

// of draws the time of an answer: log-normal, keyed by the request, so that it
// too is the same every time.
func (l *latency) of(p *profile, c *completion) time.Duration {
	if l.fixed > 0 {
		return l.fixed
	}
	k := p.Latency
	ms := k.FirstTokenMS*math.Exp(k.Sigma*gauss(p.Seed, "first token", c.id)) +
		k.PerTokenMS*float64(c.usage.CompletionTokens)*math.Exp(k.Sigma*gauss(p.Seed, "per token", c.id))
	return time.Duration(ms * float64(time.Millisecond))
}

func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}
