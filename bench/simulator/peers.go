package simulator

import (
	"fmt"
	"regexp"
	"strings"
)

// peerRule is something that comparable functions of a file do and one of them
// does not: the handler without the check of its neighbours, the method without
// the lock.
type peerRule struct {
	ID    string     `json:"id"`
	Langs []language `json:"langs,omitempty"`
	// Needs is what a function must do to be compared, Check what protects it.
	Needs string `json:"needs"`
	Check string `json:"check"`
	// Skip: functions with such a statement need no check.
	Skip string `json:"skip,omitempty"`
	// Head: a check may stand where the function begins.
	Head bool `json:"head,omitempty"`
	// Use is what a router uses: it checks the handlers registered after it.
	Use string `json:"use,omitempty"`
	// Kind limits the comparison to handlers or to other functions.
	Kind string `json:"kind,omitempty"`
	// Deep: what a function needs may stand in a helper that it calls.
	Deep     bool    `json:"deep,omitempty"`
	Weight   float64 `json:"w"`
	CWE      int     `json:"cwe"`
	Severity string  `json:"severity"`
	Says     string  `json:"says"`

	parts [peerParts]int // patterns
	cue   cue
}

// The expressions of a peer rule. They are looked for together with all others,
// so that a comparison costs next to nothing.
const (
	peerNeeds = iota
	peerCheck
	peerSkip
	peerUse
	peerParts
)

func (r *peerRule) reads(l language) bool {
	return len(r.Langs) == 0 || (&pattern{langs: r.Langs}).reads(l)
}

// peer is one function in a comparison.
type peer struct {
	function *function
	needs    int // statement that needs the check, or -1
	checked  bool
}

var (
	handlerHead = regexp.MustCompile(`http\.ResponseWriter|gin\.Context|echo\.Context|fiber\.Ctx|HttpServletRequest|\bself\s*,\s*request\b|\(\s*request\b|\(\s*(?:req|ctx|c)\b`)
	goReceiver  = regexp.MustCompile(`func\s*\(\s*\w+\s+\*?(\w+)`)
)

// kind names what a function can be compared with.
func (u *unit) kind(f *function) string {
	head := u.statements[u.owner[f.first]].code
	switch {
	case f.route || f.entry || handlerHead.MatchString(head):
		return "handler"
	case u.file.lang == langGo:
		if m := goReceiver.FindStringSubmatch(head); m != nil {
			return "method of " + m[1]
		}
	}
	return "function"
}

// speaks is a statement that only tells about something.
var speaks = regexp.MustCompile(`^\s*(?:[\w.]*\.)?(?:log\w*|logger|console|slog|audit)\.\w+\(|^\s*print\(`)

// comparePeers adds the functions that lack what their peers have.
func (g *gatherer) comparePeers() {
	for ui, u := range g.ev.units {
		if len(u.functions) < 2 {
			continue
		}
		for family := range g.lex.Families {
			for r := range g.lex.Families[family].Peers {
				rule := &g.lex.Families[family].Peers[r]
				if rule.reads(u.file.lang) {
					g.comparePeersBy(ui, family, rule)
				}
			}
		}
	}
}

func (g *gatherer) comparePeersBy(ui, family int, rule *peerRule) {
	u := g.ev.units[ui]
	groups := map[string][]peer{}
	var kinds []string
	for i := range u.functions {
		f := &u.functions[i]
		if f.last-f.first < 1 || u.holdsFunctions(f) {
			continue
		}
		p, ok := g.readPeer(ui, f, rule)
		if !ok {
			continue
		}
		kind := u.kind(f)
		if rule.Kind != "" && (kind == "handler") != (rule.Kind == "handler") {
			continue
		}
		if groups[kind] == nil {
			kinds = append(kinds, kind)
		}
		groups[kind] = append(groups[kind], p)
	}
	for _, kind := range kinds {
		var odd []peer
		for _, p := range groups[kind] {
			if !p.checked {
				odd = append(odd, p)
			}
		}
		checked := len(groups[kind]) - len(odd)
		if checked == 0 || len(odd) > checked {
			continue
		}
		for _, p := range odd {
			g.addOdd(ui, family, rule, p, checked)
		}
	}
}

func (g *gatherer) readPeer(ui int, f *function, rule *peerRule) (peer, bool) {
	u := g.ev.units[ui]
	p := peer{function: f, needs: -1, checked: g.usedBefore(ui, f, rule)}
	from, to := u.owner[f.head], u.owner[min(f.last, len(u.owner)-1)]
	for i := from; i <= to; i++ {
		s := &u.statements[i]
		if len(s.code) < 2 {
			continue
		}
		if u.hasPart(rule, peerSkip, i) {
			return p, false
		}
		if p.needs < 0 && (u.hasPart(rule, peerNeeds, i) || rule.Deep && g.callsWith(s, f, rule, peerNeeds)) {
			p.needs = max(i, u.owner[f.first])
		}
		if i == u.owner[f.first] && !rule.Head || speaks.MatchString(s.code) {
			continue
		}
		p.checked = p.checked || u.hasPart(rule, peerCheck, i) || g.callsWith(s, f, rule, peerCheck)
	}
	return p, p.needs >= 0
}

// asksCallee is a question about a called function.
type asksCallee struct {
	pattern int
	name    string
}

// hasPart tells whether an expression of a rule matched a statement.
func (u *unit) hasPart(rule *peerRule, part, at int) bool {
	return rule.parts[part] >= 0 && u.peerHits[[2]int{rule.parts[part], at}]
}

// usedBefore tells whether a router uses the check ahead of a handler.
func (g *gatherer) usedBefore(ui int, f *function, rule *peerRule) bool {
	u := g.ev.units[ui]
	for i := 0; i < u.owner[f.first]; i++ {
		if u.hasPart(rule, peerUse, i) {
			return true
		}
	}
	return false
}

// callsWith tells whether a statement calls a function of the side in which an
// expression matches.
func (g *gatherer) callsWith(s *statement, f *function, rule *peerRule, part int) bool {
	for _, name := range s.calls {
		if len(name) < 4 || name == f.name {
			continue
		}
		key := asksCallee{rule.parts[part], name}
		found, known := g.checkers[key]
		if !known {
			found = g.bodyHas(name, rule, part)
			g.checkers[key] = found
		}
		if found {
			return true
		}
	}
	return false
}

func (g *gatherer) bodyHas(name string, rule *peerRule, part int) bool {
	homes, holding := 0, 0
	for _, u := range g.ev.units {
		for i := range u.functions {
			f := &u.functions[i]
			if f.name != name {
				continue
			}
			homes++
			for at := u.owner[f.first]; at <= u.owner[min(f.last, len(u.owner)-1)]; at++ {
				if u.hasPart(rule, part, at) {
					holding++
					break
				}
			}
		}
	}
	return homes > 0 && homes <= 2 && holding == homes
}

// holdsFunctions tells whether a function is there to hold others.
func (u *unit) holdsFunctions(f *function) bool {
	for i := range u.functions {
		g := &u.functions[i]
		if g.first > f.first && g.last <= f.last && (g.name != "" || g.route || g.entry) && g.last-g.first >= 2 {
			return true
		}
	}
	return false
}

func (g *gatherer) addOdd(ui, family int, rule *peerRule, p peer, checked int) {
	u := g.ev.units[ui]
	s := &u.statements[p.needs]
	c := candidate{family: family, unit: ui, line: s.first, end: s.last, cue: &rule.cue, weight: rule.Weight}
	if checked == 1 {
		c.weight -= lonePeer
	}
	if s.first-p.function.first <= 6 {
		c.line = p.function.first
	}
	if u.file.lang == langPython && c.line == p.function.first {
		c.line = p.function.head
	}
	c.guard = g.guardOfOdd(ui, family, rule, p)
	c.remark = u.remarkNear(s.first)
	c.shape = rule.ID + "\x00" + shapeOf(s.bare)
	g.ev.byFamily[family] = append(g.ev.byFamily[family], c)
}

// guardOfOdd weighs what the callers do with what the function returns.
func (g *gatherer) guardOfOdd(ui, family int, rule *peerRule, p peer) float64 {
	for i := range g.lex.Families[family].Guards {
		if contains(g.lex.Families[family].Guards[i].Cues, rule.ID) {
			return g.callerGuards(ui, p.needs, &rule.cue, family, 0, 1)
		}
	}
	return 0
}

// lonePeer is what one neighbour alone proves less than several.
const lonePeer = 0.2

func (c *lexiconCompiler) peers(f int) {
	family := &c.lex.Families[f]
	for i := range family.Peers {
		r := &family.Peers[i]
		if c.err == nil && (r.Needs == "" || r.Check == "" || !strings.HasPrefix(r.ID, family.ID+"/")) {
			c.err = fmt.Errorf("%s: a comparison of peers needs an id of its family, needs and check", r.ID)
		}
		for part, text := range []string{r.Needs, r.Check, r.Skip, r.Use} {
			r.parts[part] = -1
			p := pattern{kind: patternPeer, family: f, at: i*peerParts + part, langs: r.Langs}
			if text == "" {
				c.lex.patterns = append(c.lex.patterns, p) // the parts of a rule follow each other
				continue
			}
			r.parts[part] = len(c.lex.patterns)
			c.add(r.ID, p, text)
		}
		r.cue = cue{ID: r.ID, Taint: taintNone, Weight: r.Weight, CWE: r.CWE, Severity: r.Severity, Says: r.Says}
	}
}
