package compare

import (
	"fmt"
	"math"
	"slices"

	"github.com/youden-bench/youden/measurements"
	"github.com/youden-bench/youden/measurements/stats"
)

// collapseLimit is the p below which lost cases are no chance, and namedCases how
// many of them a text names.
const (
	collapseLimit = .001
	namedCases    = 3
)

// collapsed says whether more sides went from all runs correct to none than chance
// explains.
func collapsed(pairs []Pair, single bool) string {
	var strata []stats.Stratum
	var names []string
	for _, p := range pairs {
		for _, s := range p.strata() {
			if single {
				s = s.Single()
			}
			strata = append(strata, s)
			if s.Collapsed() && !slices.Contains(names, p.New.ID) {
				names = append(names, p.New.ID)
			}
		}
	}
	c := stats.Collapses(strata)
	if c == nil || c.P >= collapseLimit {
		return ""
	}
	return fmt.Sprintf("%s went from all runs correct to none: %s", many(c.Fallen, "side"), listed(names, namedCases))
}

// A detector is called one that does not look when this many cases agree, or as few
// as are tested at all where a detector of OLD's rates would hardly ever do that.
const (
	degenerateCases  = 6
	degenerateChance = .001
)

// runsOf counts the runs of one subject over all pairs.
type runsOf struct{ vulnerable, hits, fixed, leaks, failed int }

func (r *runsOf) add(c *measurements.CaseScore) {
	if t := c.Vulnerable; t != nil {
		r.vulnerable += t.Counted
		r.hits += t.Positive
	}
	if t := c.Fixed; t != nil {
		r.fixed += t.Counted
		r.leaks += t.Positive
		r.failed += max(0, t.Counted-t.OK) // charged: neither a flag nor silence
	}
}

// degenerate says whether NEW flags everything or nothing on what both scored:
// its J is then 0 whatever it looks at, and a weak OLD would let it pass.
func degenerate(pairs []Pair) string {
	var old, updated runsOf
	for _, p := range pairs {
		old.add(p.Old)
		updated.add(p.New)
	}
	always, never := updated.leaks == updated.fixed, updated.hits == 0 && updated.leaks == 0
	switch {
	case updated.fixed == 0 || updated.vulnerable == 0 || !always && !never || len(pairs) < stats.MinFamily:
		return ""
	case len(pairs) < degenerateCases && old.chance(updated, always) >= degenerateChance:
		return ""
	case never:
		return "NEW says nothing: no run finds a bug or flags a fixed side"
	case updated.failed == updated.leaks:
		return "NEW never answers: every run on a fixed side failed and was charged"
	case updated.failed > 0:
		return fmt.Sprintf("NEW is never silent: every run flags the fixed side or failed (%d of %d)", updated.failed, updated.fixed)
	}
	return "NEW is never silent: every run flags the fixed side"
}

// chance is how likely a detector of these rates would always flag the fixed sides,
// or never flag any side, in the runs of another one; rates are those of one more run
// either way.
func (r runsOf) chance(of runsOf, always bool) float64 {
	leak := float64(r.leaks+1) / float64(r.fixed+2)
	if always {
		return math.Pow(leak, float64(of.fixed))
	}
	miss := 1 - float64(r.hits+1)/float64(r.vulnerable+2)
	return math.Pow(miss, float64(of.vulnerable)) * math.Pow(1-leak, float64(of.fixed))
}
