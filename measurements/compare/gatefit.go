package compare

import (
	"fmt"
	"slices"
)

// fit refuses what the parts of a gate do not mean together.
func (r *gateReader) fit(g gate, named bool, bad func(key, message, remedy string)) {
	if g.demand.key == demandMinPass {
		r.fitMinPass(g, named, bad)
		return
	}
	if !named {
		bad("metric", "the gate names no metric", "the metrics are "+gateMetricNames())
		return
	}
	scoped := g.scope.slice != "" || g.scope.family != "" || len(g.scope.cases) > 0
	switch {
	case g.metric.whole() && scoped:
		bad("metric", g.metric.String()+" is known of a capture as a whole only", "leave slice, family and cases out")
	case g.metric.whole() && g.floor != noFloor:
		bad("min_severity", g.metric.String()+" does not depend on severities", "leave min_severity out")
	case g.metric.end != "" && len(g.scope.cases) > 0:
		bad("metric", fmt.Sprintf("named cases are no sample and have no interval, so that there is no %s of them", g.metric), fmt.Sprintf("gate %s, or min_pass", point(g.metric)))
	}
	if _, has := g.metric.other(); g.alone && !has {
		bad("alone", "alone is for recall and silence, which are gated together", "leave it out")
	}
	r.fitDemand(g, bad)
}

func (r *gateReader) fitMinPass(g gate, named bool, bad func(key, message, remedy string)) {
	if named {
		bad("metric", "min_pass counts the runs of each case and has no metric", "leave metric out, or demand min")
	}
	if g.alone {
		bad("alone", "min_pass asks for both sides of a case", "leave alone out")
	}
}

func (r *gateReader) fitDemand(g gate, bad func(key, message, remedy string)) {
	d, m := g.demand, g.metric
	switch {
	case g.dropOnly && m.delta:
		bad("kind", fmt.Sprintf("%s is a comparison with OLD already", m), fmt.Sprintf("leave kind out, or gate %s", m.base+m.end))
	case g.dropOnly && d.key == demandMax && !m.whole():
		bad(d.key, fmt.Sprintf("above a max, %s has risen and not dropped", m), "demand min or margin")
	case g.dropOnly && d.key == demandMin && m.whole():
		bad(d.key, fmt.Sprintf("below a min, %s has become better", m), "demand max")
	}
	if d.key != demandMargin {
		return
	}
	switch {
	case d.value < 0:
		bad(d.key, fmt.Sprintf("a margin of %g is a demand to rise", d.value), "demand min of a delta")
	case m.whole():
		bad(d.key, fmt.Sprintf("a margin is how far a metric may fall, and %s should", m), "demand max")
	case !m.delta && !g.dropOnly:
		bad(d.key, fmt.Sprintf("%s alone is not compared with anything", m), `gate delta.j, delta.recall or delta.silence, or add kind = "drop-only"`)
	}
}

// point is the metric without an end of its interval.
func point(m gateMetric) gateMetric {
	m.end = ""
	return m
}

// withOthers puts a gate for silence behind every one for recall that has none
// in its scope, and the other way round: alike in all but the metric.
func withOthers(list []gate) []gate {
	var all []gate
	taken := map[string]bool{}
	for _, g := range list {
		taken[g.name] = true
	}
	for _, g := range list {
		all = append(all, g)
		other, has := g.metric.other()
		if !has || g.alone || g.demand.key == demandMax || anyCovers(list, g, other.base) {
			continue
		}
		g.metric, g.added = other, true
		g.name = freeName(g.name+" ("+other.base+")", taken)
		all = append(all, g)
	}
	return all
}

// freeName numbers a name that is taken, and takes it.
func freeName(name string, taken map[string]bool) string {
	free := name
	for n := 2; taken[free]; n++ {
		free = fmt.Sprintf("%s %d", name, n)
	}
	taken[free] = true
	return free
}

func anyCovers(list []gate, other gate, base string) bool {
	return slices.ContainsFunc(list, func(g gate) bool { return g.metric.base == base && g.covers(other) })
}

// covers reports whether a gate on silence keeps another on recall honest, or the
// other way round: the same scope, a level beside a level or a difference beside
// a difference, and silence that is asked for from no higher severity than
// recall. A detector that flags everything as low is silent from high on.
func (g gate) covers(other gate) bool {
	if g.demand.key == demandMax || !g.scope.equal(other.scope) || g.compares() != other.compares() {
		return false
	}
	if g.metric.base == metricSilence {
		return g.floor <= other.floor
	}
	return other.floor <= g.floor
}

// compares reports whether the gate looks at OLD.
func (g gate) compares() bool { return g.metric.delta || g.dropOnly }
