package compare

import (
	"slices"

	"github.com/youden-bench/youden/measurements"
)

// gateData are OLD and NEW as gates look at them, from each severity on.
type gateData struct {
	before, after *Subject
	addresses     []gateAddress
	views         map[int]*gateView
}

// gateView is one of them.
type gateView struct {
	olds, news []measurements.CaseScore
	pairs      []Pair
	lost       bool // some run is missing
}

func newGateData(before, after *Subject) *gateData {
	d := &gateData{before: before, after: after, views: map[int]*gateView{}}
	for i := range after.Cases {
		d.addresses = append(d.addresses, addressOf(&after.Cases[i]))
	}
	return d
}

// view is nil when the data do not know severities.
func (d *gateData) view(floor int) *gateView {
	if v, made := d.views[floor]; made {
		return v
	}
	var v *gateView
	if news, ok := d.after.from(floor); ok {
		v = newGateView(nil, news)
		if d.before != nil {
			if olds, ok := d.before.from(floor); ok {
				v = newGateView(olds, news)
			}
		}
		v.lost = d.after.lost() > 0 || d.before != nil && d.before.lost() > 0
	}
	d.views[floor] = v
	return v
}

func newGateView(olds, news []measurements.CaseScore) *gateView {
	return &gateView{olds: olds, news: news, pairs: match(olds, news).Both}
}

// missing lists the named cases of a place that have no score.
func (v *gateView) missing(at gatePlace, compares bool) []string {
	scored := map[string]bool{}
	if compares {
		for _, p := range v.pairs {
			scored[p.New.Slice+"\x00"+p.New.ID] = true
		}
	}
	var names []string
	for i := range v.news {
		c := &v.news[i]
		if at.cases != nil && at.holds(addressOf(c)) && !scored[c.Slice+"\x00"+c.ID] && (compares || !c.Counts()) {
			names = append(names, c.ID)
		}
	}
	return names
}

// against is the view with every missing run as bad for a gate as can be: of
// NEW wrong and of OLD right, or the other way round for one that fails above.
func (v *gateView) against(above bool) *gateView {
	return newGateView(filledScores(v.olds, !above), filledScores(v.news, above))
}

func filledScores(list []measurements.CaseScore, right bool) []measurements.CaseScore {
	full := slices.Clone(list)
	for i := range full {
		full[i].Vulnerable, full[i].Fixed = fill(full[i].Vulnerable, right), fill(full[i].Fixed, !right)
	}
	return full
}

// from lists the cases as they are when only findings from a severity on count.
// It is false when the subject does not know severities.
func (s *Subject) from(floor int) ([]measurements.CaseScore, bool) {
	if floor == noFloor {
		return s.Cases, true
	}
	if !s.Severities {
		return nil, false
	}
	list := slices.Clone(s.Cases)
	for i := range list {
		list[i].Vulnerable, list[i].Fixed = heard(list[i].Vulnerable, floor), heard(list[i].Fixed, floor)
	}
	return list, true
}

func heard(t *measurements.Tally, floor int) *measurements.Tally {
	if t == nil {
		return nil
	}
	part := *t
	part.Positive = t.AtLeast(measurements.Floors()[floor])
	return &part
}
