package simulator

import (
	"regexp"
	"sort"
	"strings"
)

// guardsOn weighs what stands between the values and the statement. Each value
// needs a guard: the one with the least counts.
func (g *gatherer) guardsOn(ui, at int, q *cue, family int, sl slice, names []string, text string) (direct, loose float64) {
	u := g.ev.units[ui]
	if q.Wrong {
		return 0, 0
	}
	var leaves []leaf
	if q.Taint != taintNone {
		leaves = u.leavesOf(at, names, g.textOnly(family))
	}
	if len(leaves) == 0 {
		on, near := g.guardsAt(ui, at, q, family, sl, text)
		if q.Taint == taintNone && g.callersGuard(family) {
			on = append(on, g.callerGuards(ui, at, q, family, 0, 1))
		}
		return combine(on), combine(near)
	}
	return g.weakest(ui, at, q, family, leaves, text, 2)
}

// weakest is the guard of the least guarded value. The surest values count:
// a parameter of which nobody knows where it comes from excuses none.
func (g *gatherer) weakest(ui, at int, q *cue, family int, leaves []leaf, text string, depth int) (direct, loose float64) {
	u := g.ev.units[ui]
	reg := &u.regions[u.regionOf[at]]
	top := 0.0
	for _, l := range leaves {
		top = max(top, reg.taints[l.name].level)
	}
	direct = -1
	for _, l := range leaves {
		if reg.taints[l.name].level < top-0.1 {
			continue
		}
		on, near := g.guardsAt(ui, at, q, family, l.slice, text)
		if l.param >= 0 && depth > 0 {
			on = append(on, g.callerGuards(ui, at, q, family, l.param, depth-1))
		}
		if w := combine(on); direct < 0 || w < direct {
			direct, loose = w, combine(near)
		}
	}
	return max(direct, 0), loose
}

// guardsAt lists the guards of one value. Where text is not empty, only that
// part of the statement itself counts.
func (g *gatherer) guardsAt(ui, at int, q *cue, family int, sl slice, text string) (on, near []float64) {
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
			if h.statement > at && rule.Scope == scopeValue && (g.ordered(family) || g.mustDecide(family) && !decides.MatchString(u.statements[h.statement].bare)) {
				continue
			}
			if h.statement == at && text != "" && !rule.whole.MatchString(text) {
				continue
			}
			if rule.Member && (u.leavesOnMatch(h.statement, at) || u.insideRefusal(h.statement, at)) {
				continue
			}
			if (h.statement == at || sl.defines[h.statement]) && !rule.covers(&u.statements[h.statement], sl) {
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
	on = append(on, g.middleware(u, at, q, family)...)
	on = append(on, g.helperGuards(u, at, q, family, sl, text)...)
	if !q.Unvalidated && g.lex.Validation.families[g.lex.Families[family].ID] && g.validated(ui, at, sl) {
		on = append(on, g.lex.Validation.Weight)
	}
	return on, near
}

// callerGuards is what all callers on the side do to an argument before they
// call: the weakest of them counts, because every path must pass the guard.
func (g *gatherer) callerGuards(ui, at int, q *cue, family, param, depth int) float64 {
	u := g.ev.units[ui]
	reg := &u.regions[u.regionOf[at]]
	if len(reg.names) != 1 || len(g.callers[reg.names[0]]) == 0 || len(g.callers[reg.names[0]]) > maxCallers {
		return 0
	}
	weakest := -1.0
	for _, p := range g.callers[reg.names[0]] {
		v := g.ev.units[p.unit]
		s := &v.statements[p.statement]
		text, ok := argumentFor(arguments(s.code, reg.names[0]), param)
		if !ok || len(text) < 2 {
			text = ""
		}
		names := s.idents
		if text != "" {
			names = named(text, s.idents)
		}
		if param > 0 && g.textOnly(family) && v.argumentLevel(p.statement, reg.names[0], param) < parameterTaint {
			continue // this caller gives nothing from outside
		}
		found := 0.0
		if g.callersGuard(family) {
			found = g.callerChecks(p, q, family, depth)
		} else if leaves := v.leavesOf(p.statement, names, g.textOnly(family)); param > 0 && len(leaves) > 0 {
			found, _ = g.weakest(p.unit, p.statement, q, family, leaves, text, depth)
		} else if param > 0 && text != "" && !g.lex.sourceIn(text, v.file.lang) {
			continue // a constant, or a value of the program's own
		} else {
			found = g.functionGuards(p, q, family)
		}
		if weakest < 0 || found < weakest {
			weakest = found
		}
	}
	return 0.9 * max(weakest, 0)
}

// maxCallers is how many callers a reader looks at.
const maxCallers = 6

// callerChecks is what a caller does about who asks: before the call, in the
// function as a whole, or with what the call returns.
func (g *gatherer) callerChecks(p place, q *cue, family, depth int) float64 {
	v := g.ev.units[p.unit]
	on, _ := g.guardsAt(p.unit, p.statement, q, family, v.sliceOf(p.statement), "")
	found := max(combine(on), g.functionGuards(p, q, family))
	if found < 0.5 && depth > 0 {
		found = max(found, g.callerGuards(p.unit, p.statement, q, family, 0, depth-1))
	}
	return found
}

type reach int

const (
	reachNone reach = iota
	reachNear
	reachValue
)

func (u *unit) guardReach(guardAt, at int, scope guardScope, sl slice) reach {
	if scope == scopeHelper {
		return reachNone
	}
	if guardAt == at && scope != scopeAfter || scope == scopeFollowing && guardAt < at {
		return reachValue
	}
	if scope == scopeFunction && u.ofClass(guardAt, at) {
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
	case scope == scopeFollowing:
		return reachNone
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

// functionGuards are those that hold for all of a function.
func (g *gatherer) functionGuards(p place, q *cue, family int) float64 {
	u := g.ev.units[p.unit]
	var on []float64
	for _, h := range g.guards[p.unit][family] {
		rule := &g.lex.Families[family].Guards[g.lex.patterns[h.pattern].at]
		if rule.Scope == scopeFunction && rule.against(q) && u.guardReach(h.statement, p.statement, rule.Scope, slice{}) == reachValue {
			on = append(on, rule.Weight)
		}
	}
	return combine(on)
}

// helperGuard is a guard inside a function and the parameters it is about.
type helperGuard struct {
	rule   *guard
	region *region
	params map[int]bool // distances from the end
	// wrapped counts the functions around the one in which the guard stands.
	wrapped int
	own     bool // it is about a value that the function took from a request
}

// helperGuards counts guards that stand in a function of the side through
// which the value passes.
func (g *gatherer) helperGuards(u *unit, at int, q *cue, family int, sl slice, text string) []float64 {
	var out []float64
	own := &u.regions[u.regionOf[at]]
	look := func(i int, onValue bool) {
		for _, name := range u.statements[i].calls {
			if i == at && text != "" && !strings.Contains(text, name) {
				continue
			}
			for _, h := range g.helpers[family][name] {
				if h.region == own || !h.rule.against(q) {
					continue
				}
				if onValue && h.about(u, i, name, sl, i == at) || q.Taint == taintNone && h.rule.Scope == scopeFunction || g.callersGuard(family) && (i == at || i < at && (h.rule.Scope == scopeFunction || h.rule.Scope == scopeHelper)) {
					out = append(out, 0.9*h.rule.Weight)
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

// about tells whether the value is an argument that the guard is about.
func (h *helperGuard) about(u *unit, at int, name string, sl slice, sink bool) bool {
	s := &u.statements[at]
	if len(h.params) == 0 {
		return h.own || len(h.region.params) == 0 || h.rule.Scope == scopeFunction
	}
	list := arguments(s.bare, name)
	known := false
	for fromEnd := range h.params {
		arg, ok := argumentFor(list, fromEnd)
		if !ok {
			continue
		}
		known = true
		if words := named(arg, s.idents); mentionsAny(words, sl.idents) || len(words) > 0 && (sink && len(sl.idents) == 0 || s.source > 0) {
			return true
		}
		for _, call := range s.calls {
			if u.yields[call] > 0 && strings.Contains(arg, call+"(") {
				return true
			}
		}
	}
	return !known
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

// leavesOnMatch tells whether a test for membership ends the function for what
// is in the list, so that what comes later sees only the rest.
func (u *unit) leavesOnMatch(test, at int) bool {
	s := &u.statements[test]
	if at <= test || !strings.Contains(s.bare, "if") || refusal.MatchString(s.code) {
		return false
	}
	if endsFlow.MatchString(s.bare) {
		return true
	}
	for i := test + 1; i < at && i <= test+2; i++ {
		switch line := strings.TrimSpace(u.statements[i].bare); {
		case endsFlow.MatchString(line):
			return true
		case strings.HasPrefix(line, "}"):
			return false
		}
	}
	return false
}

var (
	refusal = regexp.MustCompile(`\bnot\b|![^=]|== ?false|< ?0|=== ?-1|== ?-1|is None|== ?nil|=== ?undefined|== ?null|\|\|`)
	// membership is a test against a list.
	membership = regexp.MustCompile(`\bin\s+(?:\w+\.)?_?[A-Z]|\.(?:has|includes|contains\w*|Contains)\(`)
	endsFlow   = regexp.MustCompile(`\b(?:return|raise|throw|continue)\b`)
)

// mustDecide tells whether a guard after the sink counts only in a condition:
// a path is made first and compared then.
func (g *gatherer) mustDecide(family int) bool { return g.lex.Families[family].ID == "path" }

// callersGuard tells whether a check of who calls, made by the callers, counts.
func (g *gatherer) callersGuard(family int) bool {
	id := g.lex.Families[family].ID
	return id == "access_control" || id == "authentication"
}

// textOnly tells whether only text can do harm in a family.
func (g *gatherer) textOnly(family int) bool {
	switch g.lex.Families[family].ID {
	case "injection", "path", "ssrf", "open_redirect", "output_encoding":
		return true
	}
	return false
}

// ordered tells whether a guard counts only ahead of the sink. Elsewhere the
// sink may be a lookup or a name that is made first and checked then.
func (g *gatherer) ordered(family int) bool {
	switch g.lex.Families[family].ID {
	case "injection", "open_redirect", "output_encoding", "deserialization":
		return true
	}
	return false
}
