package simulator

import (
	"encoding/json"
	"os"
	"sort"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTally(t *testing.T) {
	if os.Getenv("TALLY") == "" {
		t.Skip()
	}
	lex, err := loadLexicon()
	require.NoError(t, err)
	instruction, sections := defaultPrompt(t)
	_, dev, _ := generalPairs(t)
	sets := [][]pair{ownPairs(t), dev, pairsIn(t, "practice"), sharedPairs(t)}
	names := []string{"own", "dev", "practice", "shared"}
	s := newServer(t, Options{})
	_ = s
	book, err := loadSkills()
	require.NoError(t, err)
	raw, err := os.ReadFile("profiles/sim-strong.json")
	require.NoError(t, err)
	prof := &profile{}
	require.NoError(t, json.Unmarshal(raw, prof))
	type tl struct {
		hit, off, leak float64
		where          []string
	}
	tally := map[string]*tl{}
	get := func(id string) *tl {
		if tally[id] == nil {
			tally[id] = &tl{}
		}
		return tally[id]
	}
	for si, set := range sets {
		for _, p := range set {
			for _, vul := range []bool{true, false} {
				code := p.fixed
				if vul {
					code = p.vulnerable
				}
				var ms []message
				for _, m := range detectorMessages(t, instruction, sections, code) {
					ms = append(ms, message{role: m["role"].(string), text: m["content"].(string)})
				}
				pr := parsePrompt(ms, lex)
				ev := gather(lex, pr.files)
				r := &reader{lex: lex, profile: prof, prompt: pr, reading: book.read(pr, prof.Prompt), code: ev}
				f := lex.byID[p.family]
				for i := range ev.byFamily[f] {
					c := &ev.byFamily[f][i]
					z := r.evidence(c) + r.skill(p.family) - r.cost() + prof.FamilyShift[p.family]
					if z < -0.1 {
						continue
					}
					u := ev.units[c.unit]
					x := get(c.cue.ID)
					a, b := u.file.numbers[c.line], u.file.numbers[min(c.end, len(u.file.numbers)-1)]
					switch {
					case !vul:
						x.leak++
						x.where = append(x.where, "L:"+names[si]+":"+p.id)
					case p.detected([]reportedFinding{{Family: p.family, File: u.file.path, Line: a, EndLine: b}}):
						x.hit++
						x.where = append(x.where, "H:"+p.id)
					default:
						x.off++
					}
				}
			}
		}
	}
	var ids []string
	for id := range tally {
		ids = append(ids, id)
	}
	sort.Slice(ids, func(i, j int) bool {
		a, b := tally[ids[i]], tally[ids[j]]
		return a.hit-a.leak < b.hit-b.leak || a.hit-a.leak == b.hit-b.leak && ids[i] < ids[j]
	})
	for _, id := range ids {
		x := tally[id]
		t.Logf("%-45s hit %2.0f off %2.0f leak %2.0f %v", id, x.hit, x.off, x.leak, x.where)
	}
}
