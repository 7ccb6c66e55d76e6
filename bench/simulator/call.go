package simulator

import "strings"

// linkCalls marks the regions whose functions are called with tainted values
// somewhere on the side, and reads them again with that knowledge.
func linkCalls(units []*unit) {
	type home struct{ unit, region int }
	defined := map[string][]home{}
	for ui, u := range units {
		for ri, r := range u.regions {
			for _, name := range r.names {
				if len(name) > 2 {
					defined[name] = append(defined[name], home{ui, ri})
				}
			}
			u.propagate(ri)
		}
	}
	yields := map[string]float64{}
	for _, u := range units {
		u.findYields(yields)
	}
	for name := range yields {
		if len(defined[name]) > 2 {
			delete(yields, name)
		}
	}
	for _, u := range units {
		u.yields = yields
		for ri := range u.regions {
			if len(yields) > 0 {
				u.propagate(ri)
			}
		}
	}
	for range callPasses {
		changed := map[*unit]map[int]bool{}
		for _, u := range units {
			for i := range u.statements {
				for _, name := range u.statements[i].calls {
					targets := defined[name]
					if len(targets) == 0 || len(targets) > 3 {
						continue
					}
					for _, t := range targets {
						v := units[t.unit]
						if u.pass(i, name, &v.regions[t.region]) {
							if changed[v] == nil {
								changed[v] = map[int]bool{}
							}
							changed[v][t.region] = true
						}
					}
				}
			}
		}
		if len(changed) == 0 {
			return
		}
		for _, u := range units {
			for ri := range u.regions {
				if changed[u][ri] {
					u.propagate(ri)
				}
			}
		}
	}
}

// pass gives the parameters of a called function the outside values among the
// arguments, and tells whether that is news.
func (u *unit) pass(at int, name string, to *region) bool {
	s := &u.statements[at]
	reg := &u.regions[u.regionOf[at]]
	if u.statementTaint(reg, s).level < taintedEnough {
		return false
	}
	list := arguments(s.bare, name)
	code := arguments(s.code, name)
	news := false
	for n, param := range to.params {
		arg, ok := argumentFor(list, len(to.params)-n)
		if !ok {
			continue
		}
		t := taint{}
		for _, ident := range named(arg, s.idents) {
			if found := reg.taints[ident]; found.level > t.level && !calledOn(arg, ident) {
				t = found
			}
		}
		if text, same := argumentFor(code, len(to.params)-n); same && len(code) == len(list) && s.source > t.level && u.lex.sourceIn(text, u.file.lang) {
			t = taint{level: s.source}
		}
		for _, call := range s.calls {
			if level := u.yields[call]; level > t.level && strings.Contains(arg, call) {
				t = taint{level: level}
			}
		}
		if t.level < taintedEnough || to.given[param].level >= taintedEnough {
			continue
		}
		if to.given == nil {
			to.given = map[string]taint{}
		}
		to.given[param] = taint{callerTaint, min(t.hops+1, maxTaintHops)}
		news = true
	}
	return news
}

// findYields notes the functions that return what they took from a request
// themselves.
func (u *unit) findYields(yields map[string]float64) {
	for ri := range u.regions {
		reg := &u.regions[ri]
		if len(reg.names) != 1 || len(reg.names[0]) < 4 || reg.entry {
			continue
		}
		from, to := u.regionStatements(ri)
		for i := from; i <= to; i++ {
			s := &u.statements[i]
			if !strings.HasPrefix(strings.TrimLeft(s.bare, " \t"), "return") {
				continue
			}
			if t := u.statementTaint(reg, s); t.level >= taintedEnough {
				yields[reg.names[0]] = t.level
			}
		}
	}
}
