package simulator

import (
	"regexp"
	"sort"
	"strings"
)

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
			if g.holds(ui, h.statement, &g.lex.Families[p.family].Cues[p.at]) {
				g.wrong[wrongGuard{place{ui, h.statement}, p.family}] = true
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

// guardsOn weighs what stands between the values and the statement. Each value
// needs a guard: the one with the least counts.
func (g *gatherer) guardsOn(ui, at int, q *cue, family int, sl slice) (direct, loose float64) {
	u := g.ev.units[ui]
	if q.Wrong {
		return 0, 0
	}
	var leaves []leaf
	if q.Taint != taintNone {
		leaves = u.leavesOf(at, u.statements[at].idents, g.textOnly(family))
	}
	if len(leaves) == 0 {
		on, near := g.guardsAt(ui, at, q, family, sl, "")
		if q.Taint == taintNone {
			on = append(on, g.callerGuards(ui, at, q, family, 0, 1))
		}
		return combine(on), combine(near)
	}
	return g.weakest(ui, at, q, family, leaves, "", 2)
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
			if h.statement == at && text != "" && !rule.whole.MatchString(text) {
				continue
			}
			if rule.Member && u.leavesOnMatch(h.statement, at) {
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
	on = append(on, g.helperGuards(u, at, q, family, sl, text)...)
	if !q.Unvalidated && g.lex.Validation.families[g.lex.Families[family].ID] && u.validated(&g.lex.Validation, at, sl) {
		on = append(on, g.lex.Validation.Weight)
	}
	return on, near
}

// callerGuards is what all callers on the side do to an argument before they
// call: the weakest of them counts, because every path must pass the guard.
func (g *gatherer) callerGuards(ui, at int, q *cue, family, param, depth int) float64 {
	u := g.ev.units[ui]
	reg := &u.regions[u.regionOf[at]]
	if len(reg.names) != 1 || len(g.callers[reg.names[0]]) == 0 || len(g.callers[reg.names[0]]) > 4 {
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
		found := 0.0
		if leaves := v.leavesOf(p.statement, names, g.textOnly(family)); param > 0 && len(leaves) > 0 {
			found, _ = g.weakest(p.unit, p.statement, q, family, leaves, text, depth)
		} else {
			found = g.functionGuards(p, q, family)
		}
		if weakest < 0 || found < weakest {
			weakest = found
		}
	}
	return 0.9 * weakest
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
				if onValue && h.about(&u.statements[i], name, sl, i == at) || q.Taint == taintNone && h.rule.Scope == scopeFunction {
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
func (h *helperGuard) about(s *statement, name string, sl slice, sink bool) bool {
	if len(h.params) == 0 {
		return true
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
	}
	return !known
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
	refusal  = regexp.MustCompile(`\bnot\b|![^=]|== ?false|< ?0|=== ?-1|== ?-1|is None|== ?nil|=== ?undefined|== ?null|\|\|`)
	endsFlow = regexp.MustCompile(`\b(?:return|raise|throw|continue)\b`)
)

// textOnly tells whether only text can do harm in a family.
func (g *gatherer) textOnly(family int) bool {
	switch g.lex.Families[family].ID {
	case "injection", "path", "ssrf", "open_redirect", "output_encoding":
		return true
	}
	return false
}
