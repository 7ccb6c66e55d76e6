package measurements

import (
	"fmt"
	"iter"
)

// TallyRuns tallies rows that pass by as Tallies does those of a capture, with plan m.
func TallyRuns(m Manifest, runs iter.Seq2[RunRow, error], p Part) (Tallied, error) {
	t := newTallying(p, m)
	roll := roll{plan: &m.Plan}
	for row, err := range runs {
		e := row.entry()
		number := 0
		if err == nil {
			number, err = roll.enter(&e)
		}
		if err != nil {
			return Tallied{}, fmt.Errorf("tallying the runs of a capture: %w", err)
		}
		t.add(number, &e)
	}
	return t.result(), nil
}

// Replan says what the looks left of the plan: K runs a side, and so many in all.
// Finish writes it down.
func (c *Capture) Replan(k, runs int, s *Sequential) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.manifest.Plan.K, c.manifest.Plan.Runs, c.manifest.Plan.Sequential = k, runs, s
}
