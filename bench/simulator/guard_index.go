package simulator

import "regexp"

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
				if n := defined[name]; n == 0 || n > 2 || len(name) < 3 || n == 1 && contains(u.regions[u.regionOf[i]].names, name) || u.headsRegion(i) {
					continue
				}
				g.callers[name] = append(g.callers[name], place{ui, i})
			}
		}
	}
}

func (g *gatherer) indexGuards() {
	n := len(g.lex.Families)
	g.helpers = make([]map[string][]helperGuard, n)
	for f := range g.helpers {
		g.helpers[f] = map[string][]helperGuard{}
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
			if g.wrong[wrongGuard{place{ui, h.statement}, p.family}] || !g.admissible(ui, h.statement, rule) {
				continue
			}
			g.note(ui, p, rule, h)
			if len(u.regions[u.regionOf[h.statement]].names) == 0 && rule.Scope != scopeFile {
				g.noteMentions(ui, p, rule, h)
			}
		}
	}
	for range wrapperPasses {
		g.indexWrappers()
	}
}

// wrapperPasses is how many functions may stand between a call and the helper
// that holds the guard.
const wrapperPasses = 2

// indexWrappers lets a function that returns what a guarded helper made of its
// parameter count as guarded itself.
func (g *gatherer) indexWrappers() {
	type found struct {
		family int
		name   string
		guard  helperGuard
	}
	var list []found
	for _, u := range g.ev.units {
		for i := range u.statements {
			reg := &u.regions[u.regionOf[i]]
			if len(reg.names) != 1 || len(reg.names[0]) < 3 || reg.entry || !passesOn.MatchString(u.statements[i].bare) {
				continue
			}
			for _, call := range u.statements[i].calls {
				for f := range g.helpers {
					for _, h := range g.helpers[f][call] {
						if h.region == reg || h.rule.Scope == scopeFunction || h.wrapped >= wrapperPasses {
							continue
						}
						params := u.paramsOf(i)
						if len(params) == 0 {
							continue
						}
						list = append(list, found{f, reg.names[0], helperGuard{h.rule, reg, params, h.wrapped + 1, h.own}})
					}
				}
			}
		}
	}
	for _, one := range list {
		g.helpers[one.family][one.name] = addGuard(g.helpers[one.family][one.name], one.guard)
	}
}

func addGuard(list []helperGuard, one helperGuard) []helperGuard {
	for _, h := range list {
		if h.rule == one.rule && h.region == one.region {
			return list
		}
	}
	return append(list, one)
}

// passesOn is a statement by which a function hands on what a helper returns.
var passesOn = regexp.MustCompile(`^\s*return\b|=>\s*[\w.]+\(`)

func (g *gatherer) note(ui int, p *pattern, rule *guard, h hit) {
	u := g.ev.units[ui]
	g.guards[ui][p.family] = append(g.guards[ui][p.family], h)
	reg := &u.regions[u.regionOf[h.statement]]
	var params map[int]bool
	own := false
	for _, name := range reg.names {
		if len(name) < 3 {
			continue
		}
		if params == nil && rule.Scope != scopeFunction {
			params, own = u.paramsOf(h.statement), u.takesOwn(h.statement)
		}
		g.helpers[p.family][name] = append(g.helpers[p.family][name], helperGuard{rule, reg, params, 0, own})
	}
}

// paramsOf lists the parameters whose values a statement reads.
func (u *unit) paramsOf(at int) map[int]bool {
	reg := &u.regions[u.regionOf[at]]
	from, _ := u.regionStatements(u.regionOf[at])
	inside := map[string]bool{}
	add := func(names []string) {
		for _, name := range names {
			inside[name] = true
		}
	}
	add(u.statements[at].idents)
	add(u.statements[at].assigned)
	for i := at - 1; i >= from; i-- {
		if s := &u.statements[i]; s.first > reg.first && mentionsAny(s.assigned, inside) {
			add(s.idents)
		}
	}
	out := map[int]bool{}
	for n, p := range reg.params {
		if inside[p] && !reg.carriers[p] {
			out[len(reg.params)-n] = true
		}
	}
	return out
}

// takesOwn tells whether a statement reads a value that the function took from
// a request itself.
func (u *unit) takesOwn(at int) bool {
	for _, l := range u.leavesOf(at, append(append([]string{}, u.statements[at].idents...), u.statements[at].assigned...), false) {
		if l.param < 0 {
			return true
		}
	}
	return u.statements[at].source > 0
}

// headsRegion tells whether a statement is where the function of its region
// begins: its name is no call.
func (u *unit) headsRegion(at int) bool {
	reg := &u.regions[u.regionOf[at]]
	return len(reg.names) > 0 && u.statements[at].first == reg.first
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

// indexWrong notes the statements whose guards do not hold.
func (g *gatherer) indexWrong() {
	g.wrong = map[wrongGuard]bool{}
	for ui, u := range g.ev.units {
		for _, h := range u.hits {
			p := &g.lex.patterns[h.pattern]
			if p.kind != patternCue || !g.lex.Families[p.family].Cues[p.at].Wrong {
				continue
			}
			g.wrong[wrongGuard{place{ui, h.statement}, p.family}] = true
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
	if rule.not != nil {
		for _, name := range s.idents {
			for _, p := range g.constants[name] {
				if rule.not.MatchString(g.ev.units[p.unit].statements[p.statement].code) {
					return false
				}
			}
		}
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
