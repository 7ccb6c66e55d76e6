package simulator

import "sort"

func (g *gatherer) indexGuards() {
	n := len(g.lex.Families)
	g.helpers = make([]map[string][]*guard, n)
	for f := range g.helpers {
		g.helpers[f] = map[string][]*guard{}
	}
	for _, u := range g.ev.units {
		per := make([][]hit, n)
		for _, h := range u.hits {
			p := &g.lex.patterns[h.pattern]
			if p.kind != patternGuard {
				continue
			}
			per[p.family] = append(per[p.family], h)
			rule := &g.lex.Families[p.family].Guards[p.at]
			for _, name := range u.regions[u.regionOf[h.statement]].names {
				if len(name) > 2 {
					g.helpers[p.family][name] = append(g.helpers[p.family][name], rule)
				}
			}
		}
		g.guards = append(g.guards, per)
	}
}

func (g *gatherer) guardsOn(ui, at int, q *cue, family int, sl slice) (direct, loose float64) {
	u := g.ev.units[ui]
	var on, near []float64
	for uj := range g.ev.units {
		for _, h := range g.guards[uj][family] {
			rule := &g.lex.Families[family].Guards[g.lex.patterns[h.pattern].at]
			if !rule.against(q) {
				continue
			}
			if uj != ui {
				if rule.Scope == scopeFile {
					near = append(near, rule.Weight)
				}
				continue
			}
			switch u.guardReach(h.statement, at, rule.Scope, sl) {
			case reachValue:
				on = append(on, rule.Weight)
			case reachNear:
				near = append(near, rule.Weight)
			}
		}
	}
	on = append(on, g.helperGuards(u, at, q, family, sl)...)
	if !q.Unvalidated && g.lex.Validation.families[g.lex.Families[family].ID] && u.validated(&g.lex.Validation, at, sl) {
		on = append(on, g.lex.Validation.Weight)
	}
	return combine(on), combine(near)
}

type reach int

const (
	reachNone reach = iota
	reachNear
	reachValue
)

func (u *unit) guardReach(guardAt, at int, scope guardScope, sl slice) reach {
	if guardAt == at {
		return reachValue
	}
	same := u.regionOf[guardAt] == u.regionOf[at]
	if !same {
		reg := &u.regions[u.regionOf[at]]
		line := u.statements[guardAt].first
		same = line >= reg.head && line <= reg.last
	}
	switch {
	case scope == scopeFile:
		return reachValue
	case !same:
		return reachNone
	case scope == scopeFunction:
		return reachValue
	case sl.defines[guardAt]:
		return reachValue
	case scope == scopeValue && sl.touches[guardAt]:
		return reachValue
	case scope == scopeLine:
		return reachNone
	}
	return reachNear
}

// helperGuards counts guards that stand in a function of the side through
// which the value passes.
func (g *gatherer) helperGuards(u *unit, at int, q *cue, family int, sl slice) []float64 {
	var out []float64
	own := u.regions[u.regionOf[at]].names
	look := func(i int) {
		for _, name := range u.statements[i].calls {
			if contains(own, name) {
				continue
			}
			for _, rule := range g.helpers[family][name] {
				if rule.against(q) {
					out = append(out, 0.9*rule.Weight)
				}
			}
		}
	}
	from, to := u.regionStatements(u.regionOf[at])
	for i := from; i <= to; i++ {
		if i == at || sl.defines[i] || sl.touches[i] {
			look(i)
		}
	}
	return out
}

// validated finds a condition on the value, other than emptiness, after which
// the function leaves.
func (u *unit) validated(v *validationRule, at int, sl slice) bool {
	from, to := u.regionStatements(u.regionOf[at])
	for i := from; i <= to; i++ {
		s := &u.statements[i]
		if !sl.touches[i] || !v.condition.MatchString(s.code) || v.empty.MatchString(s.code) {
			continue
		}
		if v.exit.MatchString(s.code) {
			return true
		}
		for j := i + 1; j <= to && j <= i+2; j++ {
			if v.exit.MatchString(u.statements[j].code) {
				return true
			}
		}
	}
	return false
}

// combine lets the best guard count whole and the others a little, so that
// many weak signs do not outweigh one strong one.
func combine(weights []float64) float64 {
	if len(weights) == 0 {
		return 0
	}
	sort.Sort(sort.Reverse(sort.Float64Slice(weights)))
	sum := weights[0]
	if len(weights) > 1 {
		sum += 0.3 * weights[1]
	}
	return sum
}
