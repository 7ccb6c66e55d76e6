package compare

import (
	"fmt"
	"math"

	"github.com/youden-bench/youden/measurements/stats"
)

// unshown says that the absence of a drop was not shown, and what would show it if
// J did not change.
func (j judge) unshown(r *Row, components *stats.Components) string {
	text := fmt.Sprintf("a drop of more than %s is not ruled out", hundredths(j.margin))
	if r.Lo == nil || r.Hi == nil {
		return text
	}
	half := (*r.Hi - *r.Lo) / 2
	text += fmt.Sprintf(": the interval is %s to either side", hundredths(half))
	if half < j.margin {
		return text
	}
	text += fmt.Sprintf("; if J stayed, about %.0f cases like these would rule it out, ", math.Ceil(float64(r.N)*(half/j.margin)*(half/j.margin)))
	if runs := j.runsWithin(half, components, false); runs > 0 {
		return text + fmt.Sprintf("as would about %d runs a side in NEW", runs)
	}
	if runs := j.runsWithin(half, components, true); runs > 0 {
		return text + fmt.Sprintf("as would about %d runs a side in both", runs)
	}
	return text + "and no number of runs would"
}

// mostRunsAdvised bounds what anybody would run.
const mostRunsAdvised = 1000

// runsWithin is the fewest runs a side of NEW, or of both, whose interval is
// narrower than the margin; 0 where none is.
func (j judge) runsWithin(half float64, components *stats.Components, both bool) int {
	if components == nil {
		return 0
	}
	now := components.PerCase(j.oldK, j.newK)
	if now == nil || *now <= 0 {
		return 0
	}
	for k := j.newK + 1; k <= mostRunsAdvised; k++ {
		old := j.oldK
		if both {
			old = max(old, k)
		}
		if then := components.PerCase(old, k); half*math.Sqrt(*then / *now) < j.margin {
			return k
		}
	}
	return 0
}

// tooFew says that so many things are.
func tooFew(n int, what string) string {
	if n == 1 {
		return "1 " + what + " is too few"
	}
	return fmt.Sprintf("%d %ss are too few", n, what)
}
