package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/youden-bench/youden/measurements/compare"
)

// headlineReasons is how many reasons fit the line that carries the verdict.
const headlineReasons = 5

// Headline is the verdict of a comparison and why, in one line for a terminal.
func Headline(c *compare.Comparison) string { return Plain(headline(c)) }

// headline is the verdict and why, in one line that can be quoted alone.
func headline(c *compare.Comparison) string {
	verdict := string(c.Verdict)
	if c.New.Incomplete != "" {
		verdict += ", NEW INCOMPLETE"
	}
	if simulated(c) {
		verdict += " (SIMULATED)"
	}
	why := slices.Clone(reasonsFor(c))
	if c.Verdict == compare.Pass {
		why = []string{passed(c)}
	}
	if len(why) == 0 {
		why = []string{"no reason was recorded"}
	}
	if len(c.Slices) == 1 {
		for i := range why {
			why[i] = strings.TrimPrefix(why[i], c.Slices[0].Slice+": ") // there is no other
		}
	}
	said := listed(why, headlineReasons, "; ")
	if c.New.Incomplete != "" {
		said = c.New.Incomplete + "; " + said
	}
	return verdict + ": " + said
}

func simulated(c *compare.Comparison) bool { return c.Old.Simulated || c.New.Simulated }

// reasonsFor lists what a verdict other than PASS rests on. What a FAIL rests on
// are the regressions, less those that only warn.
func reasonsFor(c *compare.Comparison) []string {
	switch c.Verdict {
	case compare.Fail:
		return failures(c)
	case compare.Warn:
		return c.Regressions
	}
	return c.Reasons
}

// failures are the regressions, less those that only warn.
func failures(c *compare.Comparison) []string {
	return slices.DeleteFunc(slices.Clone(c.Regressions), func(text string) bool { return slices.Contains(c.Warned, text) })
}

// passed says what a PASS is worth.
func passed(c *compare.Comparison) string {
	cases, untested := 0, 0
	for _, r := range c.Slices {
		cases += r.N
	}
	for _, r := range c.Families {
		if r.Verdict == compare.Untested {
			untested++
		}
	}
	line := "no regression"
	switch {
	case !changed(c):
		line = "nothing changed"
	case c.Mode == compare.NonInferior:
		line = "non-inferior"
	}
	line += " over " + many(int64(cases), "case")
	switch {
	case len(c.Slices) > 1:
		line += fmt.Sprintf(" of %d slices", len(c.Slices))
	case len(c.Slices) == 1:
		r := c.Slices[0]
		line += fmt.Sprintf(", J %s to %s, difference %s, %s", signed(r.Old), signed(r.New), estimate(r.Delta, r.Lo, r.Hi), findable(r.Detectable))
	}
	if untested > 0 {
		line += fmt.Sprintf("; untested: %s", families(untested))
	}
	return line
}

// findable says how small a drop would have been found.
func findable(drop *float64) string {
	if drop == nil {
		return "no drop could be found"
	}
	return "only a drop of " + dropOf(drop) + " or more would be found"
}
