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
	rule := stats.Overall()
	design := stats.Design{Cases: p.Cases, OldRuns: s.K, NewRuns: newK}
	components := split.Against(churn, s.K, newK)
	if found := rule.Detectable(components, design); found != nil {
		p.Warnings = append(p.Warnings, found.Warnings...)
	} else {
		p.Warnings = append(p.Warnings, components.Warnings...)
	}
	churns := append([]float64{churn}, usualChurns[:]...)
	slices.Sort(churns)
	for _, churn := range slices.Compact(churns) {
		p.Churns = append(p.Churns, assume(split.Against(churn, s.K, newK), design, churn))
	}
	at := p.Churns[slices.IndexFunc(p.Churns, func(c PowerChurn) bool { return c.Churn == churn })]
	p.Detectable, p.Removable = at.Detectable, at.Removable
	for _, drop := range drops {
		p.Drops = append(p.Drops, planFor(drop, components, design))
	}
	p.families(components, pairs)
	return p
}

func assume(c stats.Components, d stats.Design, churn float64) PowerChurn {
	p := PowerChurn{Churn: churn, RuledOut: stats.HalfWidth(c, d, level), Removable: c.Removable()}
	if found := stats.Overall().Detectable(c, d); found != nil {
		p.Detectable = found.Drop
	}
	return p
}

// planFor says what it takes to find a drop, and why no number of cases or of runs
// would do.
func planFor(drop float64, c stats.Components, d stats.Design) PowerDrop {
	rule := stats.Overall()
	p := PowerDrop{
		Drop: drop, Found: rule.Find(c, d, drop), Cases: rule.CasesNeeded(c, drop, d.OldRuns, d.NewRuns),
		Runs: rule.RunsNeeded(c, drop, d.Cases, d.OldRuns), Both: rule.RunsNeededInBoth(c, drop, d.Cases),
	}
	switch {
	case p.Found == nil || p.Cases != nil && p.Runs != nil: // either nothing is known, or all is said
	case atMost(drop, rule.Margin-1e-6):
		p.Why = fmt.Sprintf("FAIL takes a measured drop of %s, however sure a smaller one is", hundredths(rule.Margin))
	case atMost(drop, rule.Margin):
		p.Why = fmt.Sprintf("FAIL takes a measured drop of %s, and half of the captures of a detector that fell by as much measure less", hundredths(rule.Margin))
	case p.Both != nil:
		p.Why = fmt.Sprintf("more runs of NEW do not do while OLD has %d a side: %d in both do", d.OldRuns, *p.Both)
	case p.Cases != nil:
		p.Why = fmt.Sprintf("no number of runs makes up for so few cases as %d: take more", d.Cases)
	default:
		p.Why = "it lies too close to the margin"
	}
	return p
}

func (p *Power) families(components stats.Components, pairs []Pair) {
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
		var sizes []int
		for _, f := range families {
			sizes = append(sizes, len(f.d))
		}
		for _, f := range families {
			row := PowerFamily{Slice: slice, Family: f.name, Cases: len(f.d)}
			if len(f.d) >= stats.MinFamily {
				if found := stats.ByFamily().FamilyPower(components, len(f.d), sizes, p.OldK, p.NewK); found != nil {
					row.Detectable = found.Drop
				}
			}
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
