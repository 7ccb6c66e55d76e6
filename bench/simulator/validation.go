package simulator

import (
	"regexp"
	"strings"
)

// validated finds a condition on the value, other than emptiness, after which
// the function leaves.
func (g *gatherer) validated(ui, at int, sl slice) bool {
	u, v := g.ev.units[ui], &g.lex.Validation
	from, to := u.regionStatements(u.regionOf[at])
	for i := from; i <= to; i++ {
		if !sl.touches[i] || !g.matches(ui, i, v.condition) || g.matches(ui, i, v.empty) || saysLittle(u.statements[i].code) {
			continue
		}
		if g.matches(ui, i, membership) && u.leavesOnMatch(i, at) {
			continue
		}
		if g.matches(ui, i, v.exit) {
			return true
		}
		for j := i + 1; j <= to && j <= i+2; j++ {
			if g.matches(ui, j, v.exit) {
				return true
			}
		}
	}
	return false
}

var (
	conditionHead = regexp.MustCompile(`^[\s}]*(?:else\s+)?(?:el)?if\b`)
	joints        = regexp.MustCompile(`\|\||&&|\band\b|\bor\b`)
	// littleSaid is a test of presence, type or length: it says nothing about
	// what a text holds.
	littleSaid = regexp.MustCompile(`^[\s(!]*(?:not\s+)?[\s(!]*[\w.\[\]"'$?]+(?:\(\))?[\s)]*$|\btypeof\b|\bisinstance\(|\binstanceof\b|isArray\(|\blen\(|\.(?:length|size)\b|canParse\(|hasOwn\w*\(|(?:==|!=|===|!==|\bis|\bis not)\s*(?:""|''|nil|null|None|undefined|true|false)[\s):{]*$|\bis(?:Empty|Blank)\(|hasText\(|isString\(|\.(?:strip|trim)\(\)[\s)]*$`)
)

// saysLittle tells whether a condition tests presence, type and length only.
func saysLittle(code string) bool {
	head := conditionHead.FindString(code)
	if head == "" {
		return false
	}
	rest, _, _ := strings.Cut(code[len(head):], "{")
	if n := strings.LastIndexByte(rest, ':'); n > 0 && strings.TrimSpace(rest[n+1:]) == "" {
		rest = rest[:n]
	}
	if n := strings.LastIndexByte(rest, ';'); n > 0 {
		rest = rest[n+1:]
	}
	for _, part := range joints.Split(rest, -1) {
		if !littleSaid.MatchString(part) {
			return false
		}
	}
	return true
}
