package simulator

import "strings"

// home is where a function is defined.
type home struct{ unit, region int }

// linkCalls marks the regions whose functions are called with tainted values
// somewhere on the side, and reads them again with that knowledge.
func linkCalls(units []*unit) {
	defined := map[string][]home{}
	whole := showsEntries(units)
	for ui, u := range units {
		u.whole = whole
		for ri, r := range u.regions {
			for _, name := range r.names {
				if len(name) > 2 {
					defined[name] = append(defined[name], home{ui, ri})
				}
			}
			u.propagate(ri)
		}
	}
	linkYields(units, defined)
	for range callPasses {
		if !passCalls(units, defined) {
			break
		}
	}
	settle(units, defined)
}

// linkYields makes known which functions return what they took from a request.
func linkYields(units []*unit, defined map[string][]home) {
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
}

// passCalls carries outside values over all calls once, and tells whether that
// was news for some function.
func passCalls(units []*unit, defined map[string][]home) bool {
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
					if !u.pass(i, name, &v.regions[t.region]) {
						continue
					}
					if changed[v] == nil {
						changed[v] = map[int]bool{}
					}
					changed[v][t.region] = true
				}
			}
		}
	}
	for _, u := range units {
		for ri := range u.regions {
			if changed[u][ri] {
				u.propagate(ri)
			}
		}
	}
	return len(changed) > 0
}

// showsEntries tells whether some function of the side takes values from
// outside: then the reader sees where they come from, and a parameter without
// a known caller says less.
func showsEntries(units []*unit) bool {
	for _, u := range units {
		for i := range u.statements {
			if u.statements[i].source >= taintedEnough {
				return true
			}
		}
	}
	return false
}

// settle notes what callers on the side give to the parameters, and reads the
// functions again of which all callers are known to give nothing from outside.
func settle(units []*unit, defined map[string][]home) {
	for _, u := range units {
		for i := range u.statements {
			for _, name := range u.statements[i].calls {
				if len(defined[name]) != 1 || contains(u.regions[u.regionOf[i]].names, name) {
					continue
				}
				t := defined[name][0]
				if to := &units[t.unit].regions[t.region]; len(to.names) == 1 {
					u.observe(i, name, to)
				}
			}
		}
	}
	for _, u := range units {
		for ri := range u.regions {
			if len(u.regions[ri].seen) > 0 {
				u.propagate(ri)
			}
		}
	}
}

// observe notes how sure the arguments of a call are to come from outside.
func (u *unit) observe(at int, name string, to *region) {
	if len(arguments(u.statements[at].bare, name)) == 0 {
		return
	}
	if to.seen == nil {
		to.seen = map[string]float64{}
	}
	for n, param := range to.params {
		to.seen[param] = max(to.seen[param], u.argumentLevel(at, name, len(to.params)-n))
	}
}

// argumentLevel tells how sure an argument is to come from outside.
func (u *unit) argumentLevel(at int, name string, fromEnd int) float64 {
	s := &u.statements[at]
	reg := &u.regions[u.regionOf[at]]
	arg, ok := argumentFor(arguments(s.bare, name), fromEnd)
	if !ok {
		return parameterTaint
	}
	level := 0.0
	if s.source > 0 {
		level = parameterTaint
	}
	for _, ident := range named(arg, s.idents) {
		if !reg.carriers[ident] {
			level = max(level, reg.taints[ident].level)
		}
	}
	for _, call := range s.calls {
		if u.yields[call] > 0 && strings.Contains(arg, call) {
			level = max(level, u.yields[call])
		}
	}
	return level
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
	news := u.passReceiver(at, name, to)
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

// passReceiver gives a Go method the outside value that it is called on.
func (u *unit) passReceiver(at int, name string, to *region) bool {
	if to.receiver == "" || to.given[to.receiver].level >= taintedEnough {
		return false
	}
	s := &u.statements[at]
	reg := &u.regions[u.regionOf[at]]
	for _, ident := range s.idents {
		t := reg.taints[ident]
		if t.level < taintedEnough || reg.carriers[ident] || !strings.Contains(s.bare, ident+"."+name+"(") {
			continue
		}
		if to.given == nil {
			to.given = map[string]taint{}
		}
		to.given[to.receiver] = taint{callerTaint, min(t.hops+1, maxTaintHops)}
		return true
	}
	return false
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
