package compare

import (
	"slices"

	"github.com/youden-bench/youden/corpus"
	"github.com/youden-bench/youden/measurements"
)

// Shape is what is known of data before a gate looks at them: from a plan, or
// from captures. Unknown is nil.
type Shape struct {
	K     int // runs a side of NEW
	OldK  int // of OLD; 0 = as NEW
	Cases []CaseShape
	// Severities says whether the data know how severe findings are, Priced
	// whether calls have a price.
	Severities, Priced *bool
	NoOld              bool // nothing is compared with: it is no comparison
}

// CaseShape is a case without its runs.
type CaseShape struct {
	ID, Hash          string
	Slice, Family     string
	Vulnerable, Fixed bool // the sides that it has
	Alone             bool // OLD does not have it
	Unscorable        bool // known before any run
}

// PlanShape is the shape of k runs over the cases of a plan, that is compared with
// nothing until Against says otherwise.
func PlanShape(cases []corpus.Outline, k int) Shape {
	s := Shape{K: k, NoOld: true}
	for _, c := range cases {
		s.Cases = append(s.Cases, CaseShape{
			ID: c.ID, Hash: c.Hash, Slice: c.Slice, Family: string(c.Family),
			Vulnerable: c.Vulnerable, Fixed: c.Fixed, Unscorable: !c.Scorable,
		})
	}
	return s
}

// ShapeOf is the shape of what was measured.
func ShapeOf(s *Subject) Shape {
	severities := s.Severities
	shape := Shape{K: s.K, Severities: &severities}
	for i := range s.Cases {
		c := &s.Cases[i]
		shape.Cases = append(shape.Cases, CaseShape{
			ID: c.ID, Hash: c.Hash, Slice: c.Slice, Family: c.Family,
			Vulnerable: c.Vulnerable != nil, Fixed: c.Fixed != nil,
		})
	}
	return shape
}

// Against is the shape of a comparison with OLD: its cases are those that have
// differences.
func (s Shape) Against(before *Subject) Shape {
	have := before.byHash()
	s.OldK, s.NoOld = before.K, false
	s.Cases = append([]CaseShape(nil), s.Cases...)
	for i := range s.Cases {
		s.Cases[i].Alone = have[s.Cases[i].Hash] == nil
	}
	if !before.Severities {
		s.Severities = &before.Severities
	}
	return s
}

func (s Shape) addresses() []gateAddress {
	list := make([]gateAddress, len(s.Cases))
	for i := range s.Cases {
		list[i] = s.Cases[i].address()
	}
	return list
}

func (c CaseShape) address() gateAddress { return gateAddress{c.Slice, c.Family, c.ID} }

// scorable are those that can have a score.
func scorable(cases []CaseShape) []CaseShape {
	return slices.DeleteFunc(slices.Clone(cases), func(c CaseShape) bool { return c.Unscorable })
}

// both are the cases that have differences.
func (s Shape) both() []CaseShape {
	var list []CaseShape
	for _, c := range s.Cases {
		if !c.Alone {
			list = append(list, c)
		}
	}
	return list
}

// synthetic makes the case as if so many of its k runs were wrong on each side.
func (c CaseShape) synthetic(k, wrongVulnerable, wrongFixed int) measurements.CaseScore {
	s := measurements.CaseScore{ID: c.ID, Hash: c.Hash, Slice: c.Slice, Family: c.Family, IsPair: c.Vulnerable && c.Fixed}
	if c.Vulnerable {
		s.Vulnerable = &measurements.Tally{Side: corpus.Vulnerable, K: k, OK: k, Counted: k, Positive: k - wrongVulnerable}
	}
	if c.Fixed {
		s.Fixed = &measurements.Tally{Side: corpus.Fixed, K: k, OK: k, Counted: k, Positive: wrongFixed}
	}
	return s
}
