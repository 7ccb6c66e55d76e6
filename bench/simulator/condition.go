package simulator

import (
	"regexp"
	"strings"
)

// holds tests what a cue asks of the surroundings of a statement, all but what
// must come before it.
func (g *gatherer) holds(ui, at int, q *cue) bool {
	u := g.ev.units[ui]
	region := u.regionOf[at]
	switch {
	case q.in != nil && !anyMatches(u.regions[region].names, q.in),
		q.Recursion != "" && u.recursive(region) != (q.Recursion == recursionMust),
		q.Falls && !u.fallsThrough(at),
		q.OneSided && !u.oneSided(at),
		q.Flaw != "" && !flawed(u.statements[at].code, u.file.lang, q.Flaw),
		q.Flaw == flawUnanchored && !g.consulted(ui, at),
		q.not != nil && q.not.MatchString(u.statements[at].code),
		q.side != nil && !g.anywhere(q.side),
		q.near != nil && !g.anyStatement(ui, region, q.near),
		q.lacks != nil && g.anyStatement(ui, region, q.lacks):
		return false
	}
	return true
}

func (g *gatherer) anyStatement(ui, region int, re *regexp.Regexp) bool {
	key := asked{ui, region, -1, re}
	found, known := g.seen[key]
	if !known {
		u := g.ev.units[ui]
		from, to := u.regionStatements(region)
		found = matchesAny(u.statements[from:to+1], re)
		g.seen[key] = found
	}
	return found
}

func (g *gatherer) anywhere(re *regexp.Regexp) bool {
	key := asked{-1, 0, -1, re}
	found, known := g.seen[key]
	if !known {
		for _, u := range g.ev.units {
			found = found || matchesAny(u.statements, re)
		}
		g.seen[key] = found
	}
	return found
}

func (g *gatherer) matches(ui, at int, re *regexp.Regexp) bool {
	key := asked{ui, -1, at, re}
	found, known := g.seen[key]
	if !known {
		found = re.MatchString(g.ev.units[ui].statements[at].code)
		g.seen[key] = found
	}
	return found
}

func matchesAny(list []statement, re *regexp.Regexp) bool {
	for i := range list {
		if len(list[i].code) > 1 && re.MatchString(list[i].code) {
			return true
		}
	}
	return false
}

func anyMatches(names []string, re *regexp.Regexp) bool {
	for _, name := range names {
		if re.MatchString(name) {
			return true
		}
	}
	return false
}

func flawed(code string, lang language, flaw expressionFlaw) bool {
	for _, e := range expressions(code, lang) {
		if e.has(flaw) {
			return true
		}
	}
	return false
}

var decides = regexp.MustCompile(`\bif\b|\breturn\b|\bassert\b|&&|\|\||\bunless\b|\?`)

// consulted tells whether an expression decides something: it stands in a
// condition itself, or its name does.
func (g *gatherer) consulted(ui, at int) bool {
	s := &g.ev.units[ui].statements[at]
	if strings.Contains(s.bare, "if") && decides.MatchString(s.bare) {
		return true
	}
	for _, u := range g.ev.units {
		for i := range u.statements {
			t := &u.statements[i]
			if t != s && sharesWord(s.assigned, t.idents) && decides.MatchString(t.bare) && checksWith.MatchString(t.code) {
				return true
			}
		}
	}
	return len(s.assigned) == 0 && decides.MatchString(s.bare) && checksWith.MatchString(s.code)
}

var checksWith = regexp.MustCompile(`\.(?:test|match|fullmatch|search|MatchString|matcher|matches|find)\(|new RegExp`)

func sharesWord(words, list []string) bool {
	for _, w := range words {
		if contains(list, w) {
			return true
		}
	}
	return false
}

// recursive tells whether a function of the region calls itself.
func (u *unit) recursive(region int) bool {
	names := u.regions[region].names
	from, to := u.regionStatements(region)
	for i := from; i <= to; i++ {
		for _, name := range u.statements[i].calls {
			if contains(names, name) && !u.heads(i, name) {
				return true
			}
		}
	}
	return false
}

// heads tells whether a statement is where the function begins.
func (u *unit) heads(at int, name string) bool {
	for _, f := range u.functions {
		if f.name == name && f.first == u.statements[at].first {
			return true
		}
	}
	return false
}

var (
	limitAbove = regexp.MustCompile(`([A-Za-z_][\w.]*(?:\(\))?)\s*>=?\s*[\w.]+|[\w.]*(?:\(\))?\s*<\s*([A-Za-z_][\w.]*)`)
	limitBelow = `\s*(?:<=?\s*(?:0|1|MIN\w*|min\w*|[A-Z]\w*MIN\w*)\b|>=?\s*[01]\b)`
	sizes      = regexp.MustCompile(`(?i)(?:length|len|size|count)(?:\(\))?$`)
)

// oneSided finds a value that a condition limits above and that no condition of
// the function limits below.
func (u *unit) oneSided(at int) bool {
	s := &u.statements[at]
	if !strings.Contains(s.bare, "if") && !strings.Contains(s.bare, "return") {
		return false
	}
	from, to := u.regionStatements(u.regionOf[at])
	for _, m := range limitAbove.FindAllStringSubmatch(s.bare, -1) {
		name := m[1] + m[2]
		root, _, _ := strings.Cut(name, ".")
		if name == "" || sizes.MatchString(name) || !contains(s.idents, root) {
			continue
		}
		below := regexp.MustCompile(`(?:^|[^\w.])` + regexp.QuoteMeta(name) + limitBelow)
		found := false
		for i := from; i <= to && !found; i++ {
			found = below.MatchString(u.statements[i].bare)
		}
		if !found {
			return true
		}
	}
	return false
}

// fallsThrough tells whether the function goes on after a statement that looks
// like the end of it: a refusal is sent and the work is done all the same.
func (u *unit) fallsThrough(at int) bool {
	_, to := u.regionStatements(u.regionOf[at])
	if strings.Contains(u.statements[at].bare, "return") || strings.Contains(u.statements[at].bare, "throw") {
		return false
	}
	closed := false
	for i := at + 1; i <= to; i++ {
		line := strings.TrimSpace(u.statements[i].bare)
		switch {
		case line == "":
		case strings.HasPrefix(line, "return"), strings.HasPrefix(line, "throw"), strings.HasPrefix(line, "raise"),
			strings.HasPrefix(line, "break"), strings.HasPrefix(line, "continue"), strings.HasPrefix(line, "} "):
			return closed && !strings.HasPrefix(line, "} ")
		case strings.Trim(line, "})]; ") == "":
			closed = true
		default:
			return closed
		}
	}
	return false
}

// compareSiblings marks what lacks a guard that a comparable place has.
func compareSiblings(list []candidate) {
	for i := range list {
		c := &list[i]
		if c.guard > 0.3 || c.cue.Taint == taintNeeds && c.taint.level < taintedEnough {
			continue
		}
		for j := range list {
			if list[j].cue.ID == c.cue.ID && list[j].guard >= 0.7 {
				c.sibling = true
			}
		}
	}
}
