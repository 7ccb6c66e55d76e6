package compare

import (
	"fmt"

	"github.com/youden-bench/youden/measurements"
)

// judgeRuns asks each case of the place for its right runs. A run that is missing
// is none of them, and no miss either: a case that it could save is in doubt.
func (g *gate) judgeRuns(r *GateResult, view *gateView, at gatePlace) {
	olds := map[string]*measurements.CaseScore{}
	for i := range view.olds {
		olds[view.olds[i].Hash] = &view.olds[i]
	}
	var failing, doubtful, unknown []string
	for i := range view.news {
		c := &view.news[i]
		if !at.holds(addressOf(c)) {
			continue
		}
		if g.dropOnly {
			old := olds[c.Hash]
			if old == nil || !old.Counts() {
				if at.cases != nil {
					r.N++
					unknown = append(unknown, c.ID)
				}
				continue
			}
			if !g.demand.met(old) {
				r.N++
				continue // hard for OLD too
			}
		}
		r.N++
		switch g.demand.ofRuns(c) {
		case GateFail:
			failing = append(failing, c.ID)
		case GateUnsure:
			doubtful = append(doubtful, c.ID)
		case GateNoData:
			unknown = append(unknown, c.ID)
		}
	}
	if at.cases == nil && len(unknown) < r.N {
		doubtful, unknown = append(doubtful, unknown...), nil // a case of many
	}
	g.sumRuns(r, failing, doubtful, unknown)
}

func (g *gate) sumRuns(r *GateResult, failing, doubtful, unknown []string) {
	asked := fmt.Sprintf("%s of %d on each side", many(g.demand.right, "right run"), g.demand.runs)
	say := func(o GateOutcome, names []string, format string) {
		r.Outcome, r.Failing = o, names
		r.Reason = fmt.Sprintf(format, len(names), many(r.N, "case"), asked) + ": " + listed(names, mostNames)
	}
	passed := float64(r.N-len(failing)-len(doubtful)-len(unknown)) / float64(max(r.N, 1))
	all := 1.0
	switch {
	case len(failing) > 0:
		say(GateFail, failing, "%d of %s with fewer than %s")
	case len(unknown) > 0:
		say(GateNoData, unknown, "no data: %d of %s without runs to count for %s")
		return
	case r.N == 0:
		r.Reason = "no data: there is no case to count runs of"
		return
	case len(doubtful) > 0:
		say(GateUnsure, doubtful, "runs are missing, and %d of %s could have fewer than %s")
	default:
		r.Outcome = GatePass
		r.Reason = fmt.Sprintf("%d %s with at least %s", r.N, plural(r.N, "case"), asked)
		if g.dropOnly {
			r.Reason = fmt.Sprintf("of %d %s, none fell below %s", r.N, plural(r.N, "case"), asked)
		}
	}
	r.Value, r.Limit = &passed, &all
}

// gateSide is one side of a case: its runs and those that were right.
type gateSide struct{ planned, counted, right int }

func gateSides(c *measurements.CaseScore) []gateSide {
	var list []gateSide
	if t := c.Vulnerable; t != nil {
		list = append(list, gateSide{t.K, t.Counted, t.Positive})
	}
	if t := c.Fixed; t != nil {
		list = append(list, gateSide{t.K, t.Counted, t.Counted - t.Positive})
	}
	return list
}

// ofRuns holds each side of a case against the demand.
func (d gateDemand) ofRuns(c *measurements.CaseScore) GateOutcome {
	out := GatePass
	for _, s := range gateSides(c) {
		switch {
		case s.counted == 0:
			return GateNoData
		case d.enough(s.right, s.planned):
		case d.enough(s.right+max(0, s.planned-s.counted), s.planned):
			if out == GatePass {
				out = GateUnsure
			}
		default:
			out = GateFail
		}
	}
	return out
}

// met reports whether OLD had as many right runs in proportion to those that it
// counted: its K may be another.
func (d gateDemand) met(c *measurements.CaseScore) bool {
	for _, s := range gateSides(c) {
		if !d.enough(s.right, s.counted) {
			return false
		}
	}
	return true
}

func (d gateDemand) enough(right, runs int) bool { return right*d.runs >= d.right*runs }
