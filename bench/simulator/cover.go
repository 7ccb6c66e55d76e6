package simulator

import "strings"

// covers tells whether a guard that is a call has every mention of the value
// in its brackets: escaping one of two parts leaves the other as it was.
func (g *guard) covers(s *statement, sl slice) bool {
	if g.Scope != scopeValue && g.Scope != scopeLine || len(sl.idents) == 0 || len(s.bare) != len(s.code) {
		return true
	}
	bare := []byte(s.bare)
	calls := false
	for _, m := range g.whole.FindAllStringIndex(s.code, -1) {
		if s.code[m[1]-1] != '(' {
			return true
		}
		calls = true
		depth := 0
		for i := m[1] - 1; i < len(bare); i++ {
			switch bare[i] {
			case '(', '[', '{':
				depth++
			case ')', ']', '}':
				depth--
			}
			if depth == 0 {
				break
			}
			bare[i] = ' '
		}
	}
	if !calls {
		return true
	}
	rest := string(bare)
	if op := strings.IndexByte(rest, '='); op > 0 && len(s.assigned) > 0 {
		rest = rest[op:]
	}
	inside, outside := false, false
	for name := range sl.idents {
		if contains(s.assigned, name) && !contains(s.idents, name) {
			continue
		}
		if standsAlone(rest, name) {
			outside = true
		} else if contains(s.idents, name) {
			inside = true
		}
	}
	return inside || !outside
}

// middleware counts guards in the functions that are named where a route is
// registered, ahead of the handler.
func (g *gatherer) middleware(u *unit, at int, q *cue, family int) []float64 {
	var out []float64
	from, _ := u.regionStatements(u.regionOf[at])
	for i := from; i <= from+2 && i < len(u.statements) && u.regionOf[i] == u.regionOf[at]; i++ {
		s := &u.statements[i]
		if i == at || !routeCall.MatchString(s.code) {
			continue
		}
		for _, name := range s.idents {
			for _, h := range g.helpers[family][name] {
				if h.rule.against(q) {
					out = append(out, 0.9*h.rule.Weight)
				}
			}
		}
	}
	return out
}

// insideRefusal tells whether a statement stands in the block for what a test
// refused.
func (u *unit) insideRefusal(test, at int) bool {
	for i := test; i <= test+1 && i < at; i++ {
		s := &u.statements[i]
		if !strings.Contains(s.bare, "if") || !refusal.MatchString(s.code) {
			continue
		}
		own := indentOf(u.bareLines[s.first])
		for j := i + 1; j <= at; j++ {
			line := u.bareLines[u.statements[j].first]
			if strings.TrimSpace(line) != "" && indentOf(line) <= own {
				return false
			}
		}
		return true
	}
	return false
}
