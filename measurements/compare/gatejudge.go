package compare

import (
	"fmt"
	"strings"
)

// Judge asks every gate. OLD may be nil: whatever compares with it has no data
// then. A gate that Check would refuse has no data either.
func (g Gates) Judge(before, after *Subject) GateResults {
	data := newGateData(before, after)
	results := GateResults{}
	for i := range g.list {
		one := &g.list[i]
		r := one.judge(data)
		r.File = g.File
		r.Line, _ = g.positions.At("gate", one.at)
		results = append(results, r)
	}
	return results
}

func (g *gate) judge(data *gateData) GateResult {
	r := GateResult{Name: g.name, Added: g.added, Scope: g.scope.String(), Asked: g.demand.String(), Outcome: GateNoData}
	if g.demand.key != demandMinPass {
		r.Metric = g.metric.String()
	}
	if g.dropOnly {
		r.Asked += ", drop-only"
	}
	r.Scope += g.floorText()
	at, why := g.scope.resolve(data.addresses)
	if why != nil {
		r.Reason = "no data: " + why.Error()
		return r
	}
	view := data.view(g.floor)
	if view == nil {
		r.Reason = "no data: the data do not say how severe findings are"
		return r
	}
	if g.demand.key == demandMinPass {
		g.judgeRuns(&r, view, at)
		return r
	}
	value, old := g.read(&r, data, view, at)
	if value == nil || g.dropOnly && old == nil {
		if r.Reason == "" {
			r.Reason = g.nothing()
		}
		return r
	}
	r.Value = value
	if g.dropOnly {
		r.Old = old
	}
	r.Limit = g.limit(old)
	r.Outcome = GateFail
	if g.passes(*value, old) {
		r.Outcome = GatePass
	}
	r.Reason = g.words(r)
	if r.Outcome == GatePass && view.lost {
		g.doubt(&r, data, view, at)
	}
	return r
}

// read measures what the gate asks for, and the same of OLD for a drop-only one.
func (g *gate) read(r *GateResult, data *gateData, view *gateView, at gatePlace) (value, old *float64) {
	switch m := g.metric; {
	case m.whole():
		value, r.N = m.ofSubject(data.after)
		if g.dropOnly && data.before != nil {
			old, _ = m.ofSubject(data.before)
		}
		return value, old
	case m.delta:
		value, r.N = m.difference(view.pairs, at)
	case g.dropOnly:
		olds, news := sides(view.pairs)
		value, r.N = m.level(news, at)
		old, _ = m.level(olds, at)
	default:
		value, r.N = m.level(view.news, at)
	}
	if missing := view.missing(at, g.compares()); len(missing) > 0 {
		r.Failing = missing
		r.Reason = "no data: not scored: " + listed(missing, mostNames)
		return nil, nil
	}
	return value, old
}

func (g *gate) nothing() string {
	switch {
	case g.metric.base == metricCost:
		return "no data: no pair is right, or the cost of some runs is unknown"
	case g.metric.base == metricErrorRate:
		return "no data: no run was sent, or the file does not say how runs ended"
	case g.compares():
		return fmt.Sprintf("no data: there is no %s over the cases that both scored", g.what())
	}
	return fmt.Sprintf("no data: there is no %s over the cases that were scored", g.what())
}

// passes holds a value against the demand. Drop-only gates ask OLD first: what
// it did not reach cannot be lost.
func (g *gate) passes(value float64, old *float64) bool {
	switch {
	case !g.dropOnly:
		return g.demand.meets(value)
	case g.demand.key == demandMargin:
		return value >= *old-g.demand.value-rounding
	}
	return g.demand.meets(value) || !g.demand.meets(*old)
}

// limit is what the value is held against.
func (g *gate) limit(old *float64) *float64 {
	limit := g.demand.least()
	if g.dropOnly && g.demand.key == demandMargin {
		limit = *old - g.demand.value
	}
	return &limit
}

// doubt asks whether a gate that passes would fail if the runs that are missing
// had come out against it.
func (g *gate) doubt(r *GateResult, data *gateData, view *gateView, at gatePlace) {
	against := view.against(g.demand.key == demandMax)
	var scratch GateResult
	value, old := g.read(&scratch, data, against, at)
	if value == nil || g.dropOnly && old == nil || g.passes(*value, old) {
		return
	}
	r.Outcome = GateUnsure
	r.Reason += fmt.Sprintf("; runs are missing, and with them it could be %s, which fails", bare(decimals(*value, 3)))
}

// words says what came out.
func (g *gate) words(r GateResult) string {
	value, limit := tellApart(*r.Value, *r.Limit)
	over := fmt.Sprintf("over %d %s", r.N, plural(r.N, "case"))
	if g.metric.whole() {
		over = fmt.Sprintf("over %d %s", r.N, plural(r.N, "run"))
	}
	bound := "at least"
	if g.demand.key == demandMax {
		bound = "at most"
	}
	text := fmt.Sprintf("%s is %s %s; %s %s is asked", g.what(), value, over, bound, limit)
	if !g.dropOnly {
		return text
	}
	text += fmt.Sprintf(", and OLD has %s", bare(decimals(*r.Old, 3)))
	if r.Outcome == GatePass && g.demand.key != demandMargin && !g.demand.meets(*r.Old) {
		text += ", which did not reach it either"
	}
	return text
}

// bare leaves out the zero before the point, as the tables do; what is to be copied
// into a gate file keeps it.
func bare(number string) string {
	if size, negative := strings.CutPrefix(number, "-0."); negative {
		return "-." + size
	}
	if size, found := strings.CutPrefix(number, "0."); found {
		return "." + size
	}
	return number
}

// tellApart writes two numbers with as many decimals as tell them apart: .5999 is
// not .6.
func tellApart(a, b float64) (string, string) {
	for n := 3; n < 9; n++ {
		if x, y := decimals(a, n), decimals(b, n); x != y {
			return bare(x), bare(y)
		}
	}
	return bare(decimals(a, 3)), bare(decimals(b, 3))
}
