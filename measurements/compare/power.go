package compare

import (
	"fmt"
	"slices"

	"github.com/youden-bench/youden/measurements"
	"github.com/youden-bench/youden/measurements/stats"
)

// PowerSchema names the JSON of Power.
const PowerSchema = "youden.power/1"

// Power says what a comparison against a capture could find, and whether further
// runs or further cases would help: how cases and runs share the variance of y is
// taken from the capture. OLD stays as it is, with its K runs a side.
type Power struct {
	Schema     string        `json:"schema"`
	Name       string        `json:"name"`
	Simulated  bool          `json:"simulated"`
	Cases      int           `json:"cases"` // pairs that count
	OldK       int           `json:"old_k"`
	NewK       int           `json:"new_k"`
	Churn      float64       `json:"churn"`      // variance of the cases' true changes that is assumed
	Detectable *float64      `json:"detectable"` // smallest overall drop found with 80 % power
	Removable  *float64      `json:"removable"`  // share of the variance of d that more runs in both could remove
	Churns     []PowerChurn  `json:"churns"`     // the same under other assumptions, this one among them
	Drops      []PowerDrop   `json:"drops"`
	Families   []PowerFamily `json:"families"`
	Warnings   []string      `json:"warnings"`
}

// PowerChurn says what a comparison could find under an assumption.
type PowerChurn struct {
	Churn      float64  `json:"churn"`
	Detectable *float64 `json:"detectable"`
	RuledOut   *float64 `json:"ruled_out"` // the drop ruled out where J does not change
	Removable  *float64 `json:"removable"`
}

// PowerDrop says what it takes to find an overall drop.
type PowerDrop struct {
	Drop  float64  `json:"drop"`
	Found *float64 `json:"found"`     // chance with the cases and runs at hand
	Cases *int     `json:"cases"`     // needed at these runs; nil: no number will do
	Runs  *int     `json:"runs"`      // a side of NEW needed on these cases, OLD as it is
	Both  *int     `json:"both_runs"` // a side of both, if OLD is captured anew
	Why   string   `json:"why,omitempty"`
}

// PowerFamily is the smallest drop of one family that would be found.
type PowerFamily struct {
	Slice      string   `json:"slice"`
	Family     string   `json:"family"`
	Cases      int      `json:"cases"`
	Detectable *float64 `json:"detectable"`
}

// usualChurns are shown whatever is asked for: the same detector, and an edit that
// moves cases up and down.
var usualChurns = [...]float64{0, .05}

// MeasurePower plans a comparison of a capture of newK runs a side with this
// subject. Churn is the variance of the cases' true changes: 0 for the same
// detector, about .05 for an edit that moves cases up and down.
func MeasurePower(s *Subject, newK int, churn float64, drops []float64) *Power {
	p := &Power{Schema: PowerSchema, Name: s.Name, Simulated: s.Simulated, OldK: s.K, NewK: newK, Churn: churn, Churns: []PowerChurn{}, Drops: []PowerDrop{}, Families: []PowerFamily{}, Warnings: []string{}}
	var pairs []Pair
	for i := range s.Cases {
		if c := &s.Cases[i]; c.IsPair && c.Counts() {
			pairs = append(pairs, Pair{c, c})
		}
	}
	p.Cases = len(pairs)
	split := stats.SplitY(oldHalves(pairs))
	if split == nil {
		p.Warnings = append(p.Warnings, fmt.Sprintf("too few pairs that score to say anything: %d", len(pairs)))
		return p
	}
	plan := planOf(s, pairs, newK)
	components := split.Against(churn, s.K, newK)
	p.Warnings = append(p.Warnings, components.Warnings...)
	forecast := plan.forecast(churn)
	if found := plan.rule.Detectable(forecast, plan.slices...); found != nil {
		p.Warnings = append(p.Warnings, found.Warnings...)
	}
	churns := append([]float64{churn}, usualChurns[:]...)
	slices.Sort(churns)
	for _, churn := range slices.Compact(churns) {
		p.Churns = append(p.Churns, plan.assume(*split, churn))
	}
	at := p.Churns[slices.IndexFunc(p.Churns, func(c PowerChurn) bool { return c.Churn == churn })]
	p.Detectable, p.Removable = at.Detectable, at.Removable
	for _, drop := range drops {
		p.Drops = append(p.Drops, plan.drop(drop, forecast))
	}
	p.families(plan, forecast, pairs)
	return p
}

// plan is a comparison that could be made: its pairs in slices, which are judged
// apart, and the limits that it would be held against.
type plan struct {
	rule       stats.Rule
	family     stats.FamilyRule
	cases      []stats.Case
	slices     []int // pairs of each
	oldK, newK int
	single     bool
}

func planOf(s *Subject, pairs []Pair, newK int) plan {
	p := plan{family: stats.ByFamily(), cases: oldHalves(pairs), oldK: s.K, newK: newK, single: s.repeats()}
	index := map[string]int{}
	for _, pair := range pairs {
		at, ok := index[pair.Old.Slice]
		if !ok {
			at = len(p.slices)
			index[pair.Old.Slice] = at
			p.slices = append(p.slices, 0)
		}
		p.slices[at]++
	}
	n := len(p.slices)
	p.rule = judge{limits: defaultLimits.over(n)}.overallRule()
	if n > 1 {
		p.family.Limit /= float64(n)
		p.family.Exact /= float64(n)
	}
	return p
}

func (l plan) forecast(churn float64) *stats.Forecast {
	return stats.NewForecast(l.cases, churn, l.newK, l.single)
}

func (l plan) assume(split stats.Components, churn float64) PowerChurn {
	c := split.Against(churn, l.oldK, l.newK)
	out := PowerChurn{Churn: churn, RuledOut: stats.HalfWidth(c, stats.Design{Cases: len(l.cases), OldRuns: l.oldK, NewRuns: l.newK}, level), Removable: c.Removable()}
	if found := l.rule.Detectable(l.forecast(churn), l.slices...); found != nil {
		out.Detectable = found.Drop
	}
	return out
}

// drop says what it takes to find a drop, and why no number of cases or of runs
// would do.
func (l plan) drop(drop float64, f *stats.Forecast) PowerDrop {
	rule := l.rule
	p := PowerDrop{
		Drop: drop, Found: rule.Find(f, drop, l.slices...), Cases: rule.CasesNeeded(f, drop, l.slices...),
		Runs: rule.RunsNeeded(f, drop, l.slices...), Both: rule.RunsNeededInBoth(f, drop, l.slices...),
	}
	switch {
	case p.Found == nil || p.Cases != nil && p.Runs != nil: // either nothing is known, or all is said
	case atMost(drop, rule.Margin-1e-6):
		p.Why = fmt.Sprintf("FAIL takes a measured drop of %s, however sure a smaller one is", hundredths(rule.Margin))
	case atMost(drop, rule.Margin):
		p.Why = fmt.Sprintf("FAIL takes a measured drop of %s, and half of the captures of a detector that fell by as much measure less", hundredths(rule.Margin))
	case p.Both != nil:
		p.Why = fmt.Sprintf("more runs of NEW do not do while OLD has %d a side: %d in both do", l.oldK, *p.Both)
	case p.Cases != nil:
		p.Why = fmt.Sprintf("no number of runs makes up for so few cases as %d: take more", len(l.cases))
	default:
		p.Why = "it lies too close to the margin"
	}
	return p
}

func (p *Power) families(plan plan, forecast *stats.Forecast, pairs []Pair) {
	bySlice := map[string][]Pair{}
	var names []string
	for _, pair := range pairs {
		if bySlice[pair.Old.Slice] == nil {
			names = append(names, pair.Old.Slice)
		}
		bySlice[pair.Old.Slice] = append(bySlice[pair.Old.Slice], pair)
	}
	for _, slice := range names {
		families := byFamily(bySlice[slice])
		known := map[int]*float64{}
		var sizes []int
		for _, f := range families {
			sizes = append(sizes, len(f.d))
		}
		for _, f := range families {
			row := PowerFamily{Slice: slice, Family: f.name, Cases: len(f.d)}
			if _, ok := known[row.Cases]; !ok {
				known[row.Cases] = nil
				if found := plan.family.Detectable(forecast, row.Cases, sizes); found != nil {
					known[row.Cases] = found.Drop
				}
			}
			row.Detectable = known[row.Cases]
			p.Families = append(p.Families, row)
		}
	}
}

// oldHalves are the runs of one capture, as the variance split wants them.
func oldHalves(pairs []Pair) []stats.Case {
	list := make([]stats.Case, len(pairs))
	for i, p := range pairs {
		list[i] = stats.Case{Family: p.Old.Family}
		for _, t := range []*measurements.Tally{p.Old.Vulnerable, p.Old.Fixed} {
			correct := t.Positive
			if t == p.Old.Fixed {
				correct = t.Counted - t.Positive
			}
			list[i].Strata = append(list[i].Strata, stats.Stratum{OldRuns: t.Counted, OldCorrect: correct})
		}
	}
	return list
}
