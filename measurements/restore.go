package measurements

import "github.com/youden-bench/youden/corpus"

// Counts are what a baseline keeps of the runs of a side.
type Counts struct {
	K            int    `json:"k"`                      // planned runs
	Counted      int    `json:"counted"`                // in the denominator
	Positive     int    `json:"positive"`               // of these: detected, or not silent
	AtLeast      []int  `json:"at_least,omitempty"`     // positive from each severity of Floors on; none = unknown
	Trajectories int    `json:"trajectories,omitempty"` // distinct ones
	Lost         string `json:"lost,omitempty"`         // why a side without a quorum has none
}

// Keep returns the counts of a side; nil for a side that the case does not have.
func (t *Tally) Keep(severities bool) *Counts {
	if t == nil {
		return nil
	}
	c := &Counts{K: t.K, Counted: t.Counted, Positive: t.Positive, Trajectories: len(t.traces), Lost: t.Reason()}
	if severities {
		for _, s := range Floors() {
			c.AtLeast = append(c.AtLeast, t.AtLeast(s))
		}
	}
	return c
}

// Valid reports whether such counts can be. A run that does not count can have a
// trajectory all the same.
func (c *Counts) Valid() bool {
	if c.Positive < 0 || c.Positive > c.Counted || c.Counted > c.K || c.K > MaxK || c.Trajectories < 0 || c.Trajectories > c.K ||
		len(c.AtLeast) != 0 && len(c.AtLeast) != len(Floors()) {
		return false
	}
	last := c.Positive
	for _, n := range c.AtLeast {
		if n < 0 || n > last {
			return false
		}
		last = n
	}
	return true
}

// Restore makes the tally of counts that were kept; nil of nil. It is as good as
// the first one for every number but the shares of charged and excused runs.
func (c *Counts) Restore(side corpus.SideName) *Tally {
	if c == nil {
		return nil
	}
	t := &Tally{Side: side, K: c.K, OK: c.Counted, Excused: c.K - c.Counted, Counted: c.Counted, Positive: c.Positive}
	for i, n := range c.AtLeast {
		t.floors[i] = int32(n) //nolint:gosec // at most K
	}
	if c.Lost != "" {
		t.lost = []reasonCount{{c.Lost, max(1, c.K-c.Counted)}}
	}
	t.traced = c.Trajectories
	for i := range c.Trajectories {
		t.traces = append(t.traces, uint64(i)) //nolint:gosec // a number and not a digest: only how many there are is known
	}
	return t
}
