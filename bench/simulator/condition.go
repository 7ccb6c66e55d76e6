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
		q.Flaw != "" && !flawed(u.statements[at].code, u.file.lang, q.Flaw),
		q.not != nil && q.not.MatchString(u.statements[at].code),
		q.side != nil && !g.anywhere(q.side),
		q.near != nil && !g.anyStatement(ui, region, q.near),
		q.lacks != nil && g.anyStatement(ui, region, q.lacks):
		return false
	}
	return true
}

func (g *gatherer) anyStatement(ui, region int, re *regexp.Regexp) bool {
	key := asked{ui, region, re}
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
	key := asked{-1, 0, re}
	found, known := g.seen[key]
	if !known {
		for _, u := range g.ev.units {
			found = found || matchesAny(u.statements, re)
		}
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
		if c.guard > 0.3 {
			continue
		}
		for j := range list {
			if list[j].cue.ID == c.cue.ID && list[j].guard >= 0.7 {
				c.sibling = true
			}
		}
	}
}
