package simulator

import (
	"fmt"
	"sort"
	"strings"
	"testing"
	"time"
)

func TestTmpCost(t *testing.T) {
	lex, _ := loadLexicon()
	pairs := ownPairs(t)
	code := manyLines(pairs, 200, "x")
	_, files := parseBlocks(sourceSection(code))
	f := files[0]
	m := mask(strings.Join(f.lines, "\n"), f.lang)
	list, owner := statements(m, f.lang)
	lineAt := make([]int, len(m.code))
	line := 0
	for i, c := range m.code {
		lineAt[i] = line
		if c == '\n' {
			line++
		}
	}
	type k struct{ p, at int }
	seen := map[k]bool{}
	cost := map[int]time.Duration{}
	n := map[int]int{}
	lex.index.scan(m.code, func(p, off int) {
		at := owner[lineAt[off]]
		if seen[k{p, at}] {
			return
		}
		seen[k{p, at}] = true
		ok := false
		for _, id := range lex.probes[p].patterns {
			ok = ok || lex.patterns[id].reads(f.lang)
		}
		if !ok {
			return
		}
		st := time.Now()
		for range 5 {
			lex.probes[p].re.FindStringIndex(list[at].code)
		}
		cost[p] += time.Since(st) / 5
		n[p]++
	})
	var ps []int
	var total time.Duration
	for p := range cost {
		ps = append(ps, p)
		total += cost[p]
	}
	sort.Slice(ps, func(i, j int) bool { return cost[ps[i]] > cost[ps[j]] })
	fmt.Println(total, len(ps))
	for _, p := range ps[:30] {
		pat := lex.patterns[lex.probes[p].patterns[0]]
		id := "source"
		if pat.kind == patternCue {
			id = lex.Families[pat.family].Cues[pat.at].ID
		} else if pat.kind == patternGuard {
			id = lex.Families[pat.family].Guards[pat.at].ID
		}
		fmt.Println(cost[p], n[p], id, lex.probes[p].re.String()[:min(90, len(lex.probes[p].re.String()))])
	}
}
