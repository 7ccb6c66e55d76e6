package measurements

import "github.com/youden-bench/youden/measurements/stats"

// PairCounts counts pairs by outcome.
type PairCounts struct {
	Correct, BothFlagged, Missed, Reversed, Unscorable int
}

func (p *PairCounts) add(o PairOutcome) {
	switch o {
	case Correct:
		p.Correct++
	case BothFlagged:
		p.BothFlagged++
	case Missed:
		p.Missed++
	case Reversed:
		p.Reversed++
	case Unscored:
		p.Unscorable++
	}
}

// N is the number of pairs that voted.
func (p PairCounts) N() int { return p.Correct + p.BothFlagged + p.Missed + p.Reversed }

// Detected is the number of pairs whose vulnerable side voted detected.
func (p PairCounts) Detected() int { return p.Correct + p.BothFlagged }

// Silent is the number of pairs whose fixed side voted silent.
func (p PairCounts) Silent() int { return p.Correct + p.Missed }

// J is j_vote: (correct - reversed)/n, which is recall + silence - 1 of the
// votes. It is nil for no pair.
func (p PairCounts) J() *float64 { return share(p.Correct-p.Reversed, p.N()) }

// Accuracy is the share of pairs that are right on both sides; accuracy less J
// is the share reversed. It is nil for no pair.
func (p PairCounts) Accuracy() *float64 { return share(p.Correct, p.N()) }

// Recall is the share of pairs detected, nil for no pair.
func (p PairCounts) Recall() *float64 { return share(p.Detected(), p.N()) }

// Silence is the share of pairs silent on the fixed side, nil for no pair.
func (p PairCounts) Silence() *float64 { return share(p.Silent(), p.N()) }

// Coverage is the share of pairs that voted, nil when there is no pair at all.
func (p PairCounts) Coverage() *float64 { return share(p.N(), p.N()+p.Unscorable) }

// Bounds are a rate's limits when every unscorable pair was wrong, or right;
// nil when there is no pair at all.
func (p PairCounts) Bounds(hits int) (worst, best *float64) {
	all := p.N() + p.Unscorable
	return share(hits, all), share(hits+p.Unscorable, all)
}

// Interval is that of J: Wilson on the votes of each side, and MOVER.
func (p PairCounts) Interval(level float64) *stats.Interval {
	n := float64(p.N())
	i := stats.MOVER(stats.Wilson(float64(p.Detected()), n, level), stats.Wilson(float64(p.Silent()), n, level))
	if i != nil {
		i.Estimate = *p.J()
	}
	return i
}

func share(a, n int) *float64 {
	if n <= 0 {
		return nil
	}
	return pointer(float64(a) / float64(n))
}
