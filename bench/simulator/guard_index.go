package simulator

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
}

func (g *gatherer) note(ui int, p *pattern, rule *guard, h hit) {
	u := g.ev.units[ui]
	g.guards[ui][p.family] = append(g.guards[ui][p.family], h)
	reg := &u.regions[u.regionOf[h.statement]]
	var params map[int]bool
	for _, name := range reg.names {
		if len(name) < 3 {
			continue
		}
		if params == nil && rule.Scope != scopeFunction {
			params = u.paramsOf(h.statement)
		}
		g.helpers[p.family][name] = append(g.helpers[p.family][name], helperGuard{rule, reg, params})
	}
}

// paramsOf lists the parameters whose values a statement reads.
func (u *unit) paramsOf(at int) map[int]bool {
	out := map[int]bool{}
	for _, l := range u.leavesOf(at, append(append([]string{}, u.statements[at].idents...), u.statements[at].assigned...), false) {
		if l.param > 0 {
			out[l.param] = true
		}
	}
	return out
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
