package simulator

import "sort"

// indexConstants notes what is defined outside functions: a set or an
// expression that checks consult by name.
func (g *gatherer) indexConstants() {
	g.constants = map[string][]place{}
	for ui, u := range g.ev.units {
		for i := range u.statements {
			list := u.statements[i].assigned
			if len(list) == 0 || len(u.regions[u.regionOf[i]].names) > 0 {
				continue
			}
			if u.file.lang == langJava {
				list = list[len(list)-1:] // the others are its type
			}
			for _, name := range list {
				if len(name) > 2 {
					g.constants[name] = append(g.constants[name], place{ui, i})
				}
			}
		}
	}
}

// indexCalls notes where the functions of the side are called.
func (g *gatherer) indexCalls() {
	defined := map[string]int{}
	for _, u := range g.ev.units {
		for _, r := range u.regions {
			for _, name := range r.names {
				defined[name]++
			}
		}
	}
	g.callers = map[string][]place{}
	for ui, u := range g.ev.units {
		for i := range u.statements {
			for _, name := range u.statements[i].calls {
				if n := defined[name]; n == 0 || n > 2 || len(name) < 3 || contains(u.regions[u.regionOf[i]].names, name) {
					continue
				}
				g.callers[name] = append(g.callers[name], place{ui, i})
			}
		}
	}
}

func (g *gatherer) indexGuards() {
	n := len(g.lex.Families)
	g.helpers = make([]map[string][]*guard, n)
	for f := range g.helpers {
		g.helpers[f] = map[string][]*guard{}
	}
	g.guards = make([][][]hit, len(g.ev.units))
	for ui := range g.ev.units {
		g.guards[ui] = make([][]hit, n)
	}
	for ui, u := range g.ev.units {
		for _, h := range u.hits {
			p := &g.lex.patterns[h.pattern]
			if p.kind != patternGuard {
				continue
			}
			rule := &g.lex.Families[p.family].Guards[p.at]
			if !g.admissible(ui, h.statement, rule) {
				continue
			}
			g.note(ui, p, rule, h)
			if len(u.regions[u.regionOf[h.statement]].names) == 0 && rule.Scope != scopeFile {
				g.noteMentions(ui, p, rule, h)
			}
		}
	}
}

func (g *gatherer) note(ui int, p *pattern, rule *guard, h hit) {
	u := g.ev.units[ui]
	g.guards[ui][p.family] = append(g.guards[ui][p.family], h)
	for _, name := range u.regions[u.regionOf[h.statement]].names {
		if len(name) > 2 {
			g.helpers[p.family][name] = append(g.helpers[p.family][name], rule)
		}
	}
}

// noteMentions lets a guard that is defined outside functions count where its
// name is used.
func (g *gatherer) noteMentions(ui int, p *pattern, rule *guard, h hit) {
	for _, name := range g.ev.units[ui].statements[h.statement].assigned {
		if len(g.constants[name]) != 1 || g.constants[name][0] != (place{ui, h.statement}) {
			continue
		}
		for uj, u := range g.ev.units {
			for i := range u.statements {
				if (uj != ui || i != h.statement) && contains(u.statements[i].idents, name) {
					g.note(uj, p, rule, hit{h.pattern, i, u.statements[i].first})
				}
			}
		}
	}
}

// admissible tells a guard from what only looks like one.
func (g *gatherer) admissible(ui, at int, rule *guard) bool {
	u := g.ev.units[ui]
	s := &u.statements[at]
	if rule.not != nil && rule.not.MatchString(s.code) {
		return false
	}
	if rule.near != nil && !g.anyStatement(ui, u.regionOf[at], rule.near) {
		return false
	}
	if !rule.Anchored {
		return true
	}
	if flawed(s.code, u.file.lang, flawUnanchored) {
		return false
	}
	for _, name := range s.idents {
		for _, p := range g.constants[name] {
			v := g.ev.units[p.unit]
			if flawed(v.statements[p.statement].code, v.file.lang, flawUnanchored) {
				return false
			}
		}
	}
	return true
}

func (g *gatherer) guardsOn(ui, at int, q *cue, family int, sl slice) (direct, loose float64) {
	on, near := g.guardsAt(ui, at, q, family, sl)
	if outer := g.callerGuards(ui, at, q, family); outer > 0 {
		on = append(on, 0.9*outer)
	}
	return combine(on), combine(near)
}

func (g *gatherer) guardsAt(ui, at int, q *cue, family int, sl slice) (on, near []float64) {
	u := g.ev.units[ui]
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
	return on, near
}

// callerGuards is what all callers on the side do before they call: the
// weakest of them counts, because every path must pass the guard.
func (g *gatherer) callerGuards(ui, at int, q *cue, family int) float64 {
	u := g.ev.units[ui]
	names := u.regions[u.regionOf[at]].names
	if len(names) != 1 || len(g.callers[names[0]]) == 0 || len(g.callers[names[0]]) > 4 {
		return 0
	}
	weakest := -1.0
	for _, p := range g.callers[names[0]] {
		v := g.ev.units[p.unit]
		on, _ := g.guardsAt(p.unit, p.statement, q, family, v.sliceOf(p.statement))
		if w := combine(on); weakest < 0 || w < weakest {
			weakest = w
		}
	}
	return weakest
}

type reach int

const (
	reachNone reach = iota
	reachNear
	reachValue
)

func (u *unit) guardReach(guardAt, at int, scope guardScope, sl slice) reach {
	if guardAt == at && scope != scopeAfter {
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
	case scope == scopeBefore:
		if guardAt < at {
			return reachValue
		}
		return reachNone
	case scope == scopeAfter:
		if guardAt > at && u.derives(at, guardAt) {
			return reachValue
		}
		return reachNone
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
	look := func(i int, onValue bool) {
		for _, name := range u.statements[i].calls {
			if contains(own, name) {
				continue
			}
			for _, rule := range g.helpers[family][name] {
				if rule.against(q) && (onValue || rule.Scope == scopeFunction) {
					out = append(out, 0.9*rule.Weight)
				}
			}
		}
	}
	from, to := u.regionStatements(u.regionOf[at])
	for i := from; i <= to; i++ {
		look(i, i == at || sl.defines[i] || sl.touches[i])
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

// derives tells whether a later statement reads what an earlier one defines,
// perhaps over other definitions.
func (u *unit) derives(from, to int) bool {
	made := map[string]bool{}
	for _, name := range u.statements[from].assigned {
		made[name] = true
	}
	for i := from + 1; i <= to; i++ {
		s := &u.statements[i]
		if !mentionsAny(s.idents, made) {
			continue
		}
		if i == to {
			return true
		}
		for _, name := range s.assigned {
			made[name] = true
		}
	}
	return false
}
