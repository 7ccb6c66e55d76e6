package simulator

import (
	"os"
	"strings"
	"testing"
)

// TestExplain prints the evidence for the pairs whose id contains
// YOUDEN_SIM_EXPLAIN; it is how the lexicon is worked on.
func TestExplain(t *testing.T) {
	want := os.Getenv("YOUDEN_SIM_EXPLAIN")
	if want == "" {
		t.Skip("set YOUDEN_SIM_EXPLAIN to a part of a pair's id")
	}
	lex, err := loadLexicon()
	if err != nil {
		t.Fatal(err)
	}
	var pairs []pair
	pairs = append(pairs, ownPairs(t)...)
	_, development, _ := generalPairs(t)
	pairs = append(pairs, development...)
	pairs = append(pairs, pairsIn(t, "practice")...)
	t.Run("shared", func(t *testing.T) { pairs = append(pairs, sharedPairs(t)...) })
	for _, p := range pairs {
		if !strings.Contains(p.id, want) {
			continue
		}
		for name, code := range map[string]side{"vulnerable": p.vulnerable, "fixed": p.fixed} {
			_, files := parseBlocks(sourceSection(code))
			ev := gather(lex, files)
			t.Logf("== %s %s %s spans %v lines %d", p.id, p.family, name, p.spans, ev.lines)
			for f, list := range ev.byFamily {
				id := lex.Families[f].ID
				if id != p.family && os.Getenv("YOUDEN_SIM_EXPLAIN_ALL") == "" {
					continue
				}
				for _, c := range list {
					u := ev.units[c.unit]
					t.Logf("   %s %s:%d-%d w %.2f taint %.2f/%d guard %.2f loose %.2f clarity %.2f %s | %s", c.cue.ID, u.file.path, u.file.numbers[c.line], u.file.numbers[c.end],
						c.weight, c.taint.level, c.taint.hops, c.guard, c.loose, c.clarity(), c.cue.Taint, strings.TrimSpace(u.file.lines[c.line]))
				}
			}
		}
	}
}
