package compare

import (
	"fmt"

	"github.com/youden-bench/youden/measurements"
	"github.com/youden-bench/youden/measurements/stats"
)

// PowerSchema names the JSON of Power.
const PowerSchema = "youden.power/1"

// Power says what a comparison against a capture could find, and whether further
// runs or further cases would help: how cases and runs share the variance of y is
// taken from the capture.
type Power struct {
	Schema     string        `json:"schema"`
	Name       string        `json:"name"`
	Simulated  bool          `json:"simulated"`
	Cases      int           `json:"cases"` // pairs that count
	OldK       int           `json:"old_k"`
	NewK       int           `json:"new_k"`
	Churn      float64       `json:"churn"`      // variance of the cases' true changes that is assumed
	Detectable *float64      `json:"detectable"` // smallest overall drop found with 80 % power
	Removable  *float64      `json:"removable"`  // share of the variance of d that more runs could remove
	Drops      []PowerDrop   `json:"drops"`
	Families   []PowerFamily `json:"families"`
	Warnings   []string      `json:"warnings"`
}

// PowerDrop says what it takes to find an overall drop.
type PowerDrop struct {
	Drop  float64  `json:"drop"`
	Found *float64 `json:"found"` // chance with the cases and runs at hand
	Cases *int     `json:"cases"` // needed at these runs; nil: no number will do
	Runs  *int     `json:"runs"`  // needed on these cases
}

// PowerFamily is the smallest drop of one family that would be found.
type PowerFamily struct {
	Slice      string   `json:"slice"`
	Family     string   `json:"family"`
	Cases      int      `json:"cases"`
	Detectable *float64 `json:"detectable"`
}

// MeasurePower plans a comparison of a capture of newK runs a side with this
// subject. Churn is the variance of the cases' true changes: 0 for the same
// detector, about .05 for an edit that moves cases up and down.
func MeasurePower(s *Subject, newK int, churn float64, drops []float64) *Power {
	p := &Power{Schema: PowerSchema, Name: s.Name, Simulated: s.Simulated, OldK: s.K, NewK: newK, Churn: churn, Drops: []PowerDrop{}, Families: []PowerFamily{}, Warnings: []string{}}
	var pairs []Pair
	for i := range s.Cases {
		if c := &s.Cases[i]; c.IsPair && c.Counts() {
			pairs = append(pairs, Pair{c, c})
		}
	}
	p.Cases = len(pairs)
	split := stats.SplitY(oldHalves(pairs))
	if split == nil {
		p.Warnings = append(p.Warnings, fmt.Sprintf("%d pairs are too few to say anything", len(pairs)))
		return p
	}
	components := split.Against(churn)
	p.Warnings = append(p.Warnings, components.Warnings...)
	p.Removable = components.Removable()
	rule := stats.Overall()
	design := stats.Design{Cases: p.Cases, OldRuns: s.K, NewRuns: newK}
	if found := rule.Detectable(components, design); found != nil {
		p.Detectable = found.Drop
	}
	for _, drop := range drops {
		p.Drops = append(p.Drops, PowerDrop{
			Drop: drop, Found: rule.Find(components, design, drop),
			Cases: rule.CasesNeeded(components, drop, s.K, newK), Runs: rule.RunsNeeded(components, drop, p.Cases),
		})
	}
	p.families(components, pairs)
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
