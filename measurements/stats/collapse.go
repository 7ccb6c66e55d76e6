package stats

import "math"

// Collapse asks whether too many strata fell from all runs correct to none.
type Collapse struct {
	Fallen   int     // strata that did
	Expected float64 // their number if nothing changed
	P        float64 // one-sided, of so many
}

// Collapses tests whether more strata fell from all to none than chance explains.
// Where few cases are lost and many others are noisy, ExactRuns adds the noise of
// all of them to the loss of those few; this test does not. Given its total of
// correct runs, a stratum falls so in one of C(OldRuns+NewRuns, OldRuns) ways if
// nothing changed, and can only where the total is OldRuns; the number that do is
// a sum of independent coins. It speaks of these cases only, like ExactRuns, and
// is nil like it without a stratum that has runs in both captures.
func Collapses(strata []Stratum) *Collapse {
	var able []Stratum
	c := Collapse{P: 1}
	tested := 0
	for _, s := range strata {
		if !s.valid() || s.OldRuns == 0 || s.NewRuns == 0 {
			continue
		}
		tested++
		if s.OldCorrect+s.NewCorrect != s.OldRuns {
			continue
		}
		able = append(able, s)
		if s.Collapsed() {
			c.Fallen++
		}
	}
	if tested == 0 {
		return nil
	}
	if c.Fallen == 0 {
		return &c
	}
	sum := convolution{}
	for _, g := range alike(able) {
		chance := g.allToNone()
		c.Expected += float64(g.strata) * chance
		sum.add([]float64{1 - chance, chance}, g.strata)
	}
	_, c.P = sum.tails(c.Fallen)
	return &c
}

// Collapsed reports whether the stratum fell from all runs correct to none.
func (s Stratum) Collapsed() bool {
	return s.OldRuns > 0 && s.NewRuns > 0 && s.OldCorrect == s.OldRuns && s.NewCorrect == 0
}

// allToNone is the chance that a total of OldRuns fell to OLD alone.
func (s Stratum) allToNone() float64 {
	total, _ := math.Lgamma(float64(s.OldRuns+s.NewRuns) + 1)
	old, _ := math.Lgamma(float64(s.OldRuns) + 1)
	updated, _ := math.Lgamma(float64(s.NewRuns) + 1)
	return math.Exp(old + updated - total)
}
