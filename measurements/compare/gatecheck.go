package compare

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Check asks of the shape of the data, before anything runs, whether every gate
// has data there, can pass and can fail. Its error wraps a *tomlfile.Error for
// every gate that does not.
func (g Gates) Check(plan Shape) error {
	addresses := plan.addresses()
	var errs []error
	for i := range g.list {
		one := &g.list[i]
		if why := one.check(plan, addresses); why != nil {
			name := fmt.Sprintf("gate %q: ", short40(one.name))
			if one.added {
				why.key = "metric"
				why.remedy = "it was added because recall and silence are gated together; write the gate that is meant, or alone = true: " + why.remedy
			}
			if why.key == "case" && !g.positions.Has("gate", one.at, "case") {
				why.key = "cases"
			}
			errs = append(errs, g.positions.Fault(name+why.message, why.remedy, "gate", one.at, why.key))
		}
	}
	return errors.Join(errs...)
}

// unfit says of each gate why it could not be judged on data of this shape, "" when
// it could. A share of runs is then meant in proportion, whatever K it was written
// for.
func (g Gates) unfit(plan Shape) []string {
	addresses := plan.addresses()
	reasons := make([]string, len(g.list))
	for i := range g.list {
		one := &g.list[i]
		shape := plan
		if one.demand.key == demandMinPass {
			shape.K = one.demand.runs
		}
		if why := one.check(shape, addresses); why != nil {
			reasons[i] = why.message
		}
	}
	return reasons
}

func (g *gate) check(plan Shape, addresses []gateAddress) *scopeError {
	at, why := g.scope.resolve(addresses)
	if why != nil {
		return why
	}
	if g.floor != noFloor && plan.Severities != nil && !*plan.Severities {
		return &scopeError{"min_severity", "the data do not say how severe findings are", "leave min_severity out, or capture anew"}
	}
	if g.compares() && plan.NoOld {
		return &scopeError{"name", "it compares with OLD, and nothing is compared with", "capture --against a baseline, or gate a level"}
	}
	cases := plan.Cases
	if g.compares() {
		cases = plan.both()
	}
	for _, c := range cases {
		if c.Unscorable && at.cases != nil && at.holds(c.address()) {
			return &scopeError{"case", fmt.Sprintf("case %q cannot be scored, so that the gate could never pass", c.ID), "leave it out; `youden corpus lint` says why"}
		}
	}
	cases = scorable(cases)
	n := 0
	for _, c := range cases {
		n += count(at.holds(c.address()))
	}
	if n == 0 {
		return g.noCase(plan)
	}
	if g.demand.key == demandMinPass {
		return g.checkRuns(plan.K)
	}
	if g.metric.base == metricCost && plan.Priced != nil && !*plan.Priced {
		return &scopeError{"metric", "the endpoint has no price, so that the cost is unknown", "give the endpoint a price, or remove the gate"}
	}
	shape := fmt.Sprintf("%d %s of %d %s", n, plural(n, "case"), plan.K, plural(plan.K, "run"))
	for _, thorough := range []bool{false, true} {
		now, old := g.ranges(plan, cases, at, thorough)
		if now == nil {
			return g.noMetric()
		}
		if why = g.checkRange(*now, *old, shape); why == nil {
			return nil
		}
	}
	return why
}

func (g *gate) noCase(plan Shape) *scopeError {
	switch {
	case len(plan.Cases) == 0:
		return &scopeError{"name", "the data have no case", "choose others"}
	case len(scorable(plan.Cases)) < len(plan.Cases) && !g.compares():
		return &scopeError{"name", fmt.Sprintf("no case of %s can be scored", g.scope), "choose others; `youden corpus lint` says why"}
	}
	return &scopeError{"name", fmt.Sprintf("OLD has no case of %s to compare with", g.scope), "make a baseline that has them, or gate a level"}
}

func (g *gate) checkRuns(k int) *scopeError {
	if g.demand.runs == k {
		return nil
	}
	return &scopeError{demandMinPass, fmt.Sprintf("%s is of %d runs, and the plan has %d", g.demand, g.demand.runs, k),
		fmt.Sprintf(`write min_pass = "right/%d", or plan %d runs`, k, g.demand.runs)}
}

// ranges are what the metric can be in NEW, and for a drop-only gate in OLD.
func (g *gate) ranges(plan Shape, cases []CaseShape, at gatePlace, thorough bool) (now, old *gateReach) {
	if g.metric.delta {
		r := g.metric.differenceReach(cases, at, thorough)
		return r, r
	}
	now = g.metric.reach(cases, plan.K, at, thorough)
	if !g.dropOnly || plan.OldK == 0 || plan.OldK == plan.K || now == nil {
		return now, now
	}
	return now, g.metric.reach(cases, plan.OldK, at, thorough)
}

func (g *gate) noMetric() *scopeError {
	var why, remedy string
	switch m := g.metric; {
	case m.delta && m.end != "" && m.base == metricJ:
		why, remedy = "an interval of the difference of J needs two cases, all of them pairs", "gate delta.recall and delta.silence"
	case m.delta && m.end != "":
		why, remedy = "an interval of a difference needs two cases with that side", "gate "+point(m).String()
	case m.base == metricRecall:
		why, remedy = "no case has a vulnerable side", "gate silence alone"
	case m.base == metricSilence:
		why, remedy = "no case has a fixed side", "gate recall alone"
	case m.base == metricJ:
		why, remedy = "it needs vulnerable and fixed sides", "gate recall or silence alone"
	default:
		why, remedy = "it needs cases with two sides", "gate recall or silence alone"
	}
	return &scopeError{"metric", fmt.Sprintf("there is no %s: %s", g.what(), why), remedy}
}

// checkRange says whether the demand could never be met, or never be missed.
func (g *gate) checkRange(now, old gateReach, shape string) *scopeError {
	d := g.demand
	never := func(can, bound, limit, remedy string) *scopeError {
		return &scopeError{d.key, fmt.Sprintf("%s is %s %s in data of this shape (%s), so that %s could never %s",
			g.what(), bound, limit, shape, d, can), remedy}
	}
	const harder, easier = "ask for more, or remove the gate", "ask for less, plan more cases, or gate the metric without .lo or .hi"
	switch {
	case g.dropOnly && d.key == demandMargin:
		if fall := old.highest - now.lowest; fall <= d.value+rounding {
			return &scopeError{d.key, fmt.Sprintf("%s cannot fall by more than %s in data of this shape (%s), so that %s could never fail",
				g.what(), roundUp(fall), shape, d), harder}
		}
	case d.key == demandMax && d.meets(now.highest):
		return never("fail", "at most", roundDown(now.highest), harder)
	case d.key == demandMax && !d.meets(now.lowest):
		return never("pass", "at least", roundUp(now.lowest), easier)
	case d.key == demandMax:
	case d.meets(now.lowest):
		return never("fail", "at least", roundUp(now.lowest), harder)
	case g.dropOnly && !d.meets(old.highest):
		return never("fail, which takes an OLD that met it", "at most", roundDown(old.highest), easier)
	case !g.dropOnly && !d.meets(now.highest):
		return never("pass", "at most", roundDown(now.highest), easier)
	}
	return nil
}

// roundDown and roundUp write limits so that asking for what is written works.
func roundDown(v float64) string { return decimals(math.Floor(v*1000+rounding)/1000, 3) }

func roundUp(v float64) string { return decimals(math.Ceil(v*1000-rounding)/1000, 3) }

// decimals writes a number with so many, and no zeros behind.
func decimals(v float64, n int) string {
	text := strconv.FormatFloat(v, 'f', n, 64)
	if strings.Contains(text, ".") {
		text = strings.TrimRight(strings.TrimRight(text, "0"), ".")
	}
	if text == "-0" {
		return "0"
	}
	return text
}

func plural(n int, word string) string {
	if n == 1 {
		return word
	}
	return word + "s"
}
