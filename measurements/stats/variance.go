package stats

import "math"

// Case is the runs of one case, a stratum a side, and its family. A comparison
// fills both halves of a stratum, a single capture the OLD half alone.
type Case struct {
	Family string
	Strata []Stratum
}

// D is the difference y(NEW) - y(OLD): the change of the correct rates, summed
// over the sides. It is nil when a side lacks runs in either capture.
func (c Case) D() *float64 {
	if d, ok := c.d(); ok {
		return &d
	}
	return nil
}

func (c Case) d() (float64, bool) {
	updated, run := c.rates(newHalf)
	old, before := c.rates(oldHalf)
	return updated - old, run && before
}

// half is the runs of one side in one capture.
type half struct{ runs, correct int }

func oldHalf(s Stratum) half { return half{s.OldRuns, s.OldCorrect} }
func newHalf(s Stratum) half { return half{s.NewRuns, s.NewCorrect} }

func (c Case) rates(of func(Stratum) half) (sum float64, ok bool) {
	for _, s := range c.Strata {
		h := of(s)
		if h.runs < 1 || h.correct < 0 || h.correct > h.runs {
			return 0, false
		}
		sum += float64(h.correct) / float64(h.runs)
	}
	return sum, len(c.Strata) > 0
}

// Components split the variance of a per-case value, y or d, into what cases
// differ by and what their runs add (Miller 2024, arXiv 2411.00640; spec/peers.md
// 4.2): Var = Between + OldRun/K(OLD) + NewRun/K(NEW).
type Components struct {
	Cases    int
	Between  float64  // of the true values, at least 0
	Inside   float64  // the same around the means of families; Between where no family has two cases
	Sampling float64  // what this many runs add to the value of a case
	OldRun   *float64 // what one run of a case in OLD would add; nil without repeats
	NewRun   *float64 // the same for NEW; nil for a single capture
	Warnings []string
}

// SplitY splits the variance of y over the cases of one capture (the OLD halves).
// Cases must be of one kind, pairs for y: a single side's rate is another value.
// It is nil for fewer than two cases with runs.
func SplitY(cases []Case) *Components {
	return split(cases, func(c Case) (float64, bool) { return c.rates(oldHalf) }, false)
}

// SplitD splits the variance of d over the cases that both captures have runs of.
// It is nil for fewer than two of them.
func SplitD(cases []Case) *Components {
	return split(cases, Case.d, true)
}

func split(cases []Case, value func(Case) (float64, bool), both bool) *Components {
	var values []float64
	var old, updated spread
	index := map[string]int{}
	var families [][]float64
	for _, c := range cases {
		v, ok := value(c)
		if !ok {
			continue
		}
		values = append(values, v)
		f, ok := index[c.Family]
		if !ok {
			f = len(families)
			index[c.Family] = f
			families = append(families, nil)
		}
		families[f] = append(families[f], v)
		old.add(c, oldHalf)
		if both {
			updated.add(c, newHalf)
		}
	}
	if len(values) < 2 {
		return nil
	}
	c := Components{Cases: len(values), OldRun: old.run(), NewRun: updated.run()}
	if c.OldRun != nil {
		c.Sampling += *c.OldRun * old.shares / float64(old.cases)
	}
	if c.NewRun != nil {
		c.Sampling += *c.NewRun * updated.shares / float64(updated.cases)
	}
	_, total := meanVariance(values)
	c.Between = math.Max(0, total-c.Sampling)
	c.Inside = c.Between
	if freedom := len(values) - len(families); freedom > 0 {
		residual := 0.0
		for _, family := range families {
			_, variance := meanVariance(family)
			residual += variance * float64(len(family)-1)
		}
		c.Inside = math.Max(0, residual/float64(freedom)-c.Sampling)
	}
	switch {
	case c.OldRun == nil || both && c.NewRun == nil:
		c.Warnings = append(c.Warnings, "cases without a second run: what runs add is not known, and counts as a difference between cases")
	case total < c.Sampling:
		c.Warnings = append(c.Warnings, "cases differ by no more than their runs would make them")
	}
	return &c
}

// spread gathers the variance within the cases of one capture.
type spread struct {
	cases    int
	repeated int     // cases whose every side has two runs
	variance float64 // of one run, both sides together, summed over those
	shares   float64 // 1/K of each case, summed; the mean over its sides
}

func (s *spread) add(c Case, of func(Stratum) half) {
	s.cases++
	variance, repeated := 0.0, true
	for _, stratum := range c.Strata {
		h := of(stratum)
		k := float64(h.runs)
		s.shares += 1 / (k * float64(len(c.Strata)))
		if h.runs < 2 {
			repeated = false
			continue
		}
		p := float64(h.correct) / k
		variance += p * (1 - p) * k / (k - 1) // unbiased, of one run
	}
	if repeated {
		s.repeated++
		s.variance += variance
	}
}

func (s spread) run() *float64 {
	if s.repeated == 0 {
		return nil
	}
	v := s.variance / float64(s.repeated)
	return &v
}

// Removable is the share of the variance that more runs could still remove, by
// any number of them; the rest takes more cases. Below a tenth, further runs are
// wasted money (spec/peers.md 4.2). It is nil where nothing varies, and where no
// case was run twice.
func (c Components) Removable() *float64 {
	if total := c.Between + c.Sampling; c.OldRun != nil && total > 0 {
		share := c.Sampling / total
		return &share
	}
	return nil
}

// Against is what to expect of a comparison of this one capture with another like
// it, of so many runs a side in OLD and in NEW, whose cases truly differ by a
// variance of churn: 0 for the same detector, more for an edit that moves cases up
// and down without moving their mean. The cases' own differences cancel.
func (c Components) Against(churn float64, old, updated int) Components {
	c.Between = math.Max(0, churn)
	c.Inside = c.Between
	c.NewRun = c.OldRun
	if variance := c.PerCase(old, updated); variance != nil {
		c.Sampling = *variance - c.Between
	}
	return c
}

// PerCase is the variance of the d of one case with so many runs a side in OLD
// and in NEW. It is nil for no runs, and where no case was run twice.
func (c Components) PerCase(old, updated int) *float64 {
	if old < 1 || updated < 1 || c.OldRun == nil || c.NewRun == nil {
		return nil
	}
	v := c.Between + *c.OldRun/float64(old) + *c.NewRun/float64(updated)
	return &v
}
