package compare

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/youden-bench/youden/corpus"
	"github.com/youden-bench/youden/corpus/tomlfile"
)

// checked reads a file and checks it against a shape.
func checked(t *testing.T, file string, s Shape) error {
	t.Helper()
	return readGates(t, file).Check(s)
}

// mixedShape has pairs in two slices, one family in both, and sides alone.
func mixedShape() Shape {
	s := gateShape(5, 3, 6)
	s.Cases = append(s.Cases,
		CaseShape{ID: "x", Hash: "x", Slice: "t", Family: "f0", Vulnerable: true, Fixed: true},
		CaseShape{ID: "f0-0", Hash: "y", Slice: "t", Family: "g", Vulnerable: true, Fixed: true},
		CaseShape{ID: "bug", Hash: "bug", Slice: "u", Family: "bugs", Vulnerable: true},
		CaseShape{ID: "bug2", Hash: "bug2", Slice: "u", Family: "bugs", Vulnerable: true},
		CaseShape{ID: "clean", Hash: "clean", Slice: "u", Family: "clean", Fixed: true},
		CaseShape{ID: "added", Hash: "added", Slice: "v", Family: "new", Vulnerable: true, Fixed: true, Alone: true},
	)
	return s
}

func TestGateCheckRefuses(t *testing.T) {
	no := false
	bare := mixedShape()
	bare.Severities, bare.Priced = &no, &no
	for _, c := range []struct{ name, file, want string }{
		{"unknown slice", one("metric = 'j'", "min = 0.5", "slice = 'w'"), `gates.toml:6:1: gate "g": no case is in slice "w"; the data have s, t, u, v`},
		{"unknown family", one("metric = 'j'", "min = 0.5", "family = 'w'"), `gates.toml:6:1: gate "g": there is no family "w"; the data have bugs, clean, f0, f1, g, new`},
		{"family of another slice", one("metric = 'j'", "min = 0.5", "slice = 't'", "family = 'f1'"), `there is no family "f1"`},
		{"family of two slices", one("metric = 'j'", "min = 0.5", "family = 'f0'"), `gates.toml:6:1: gate "g": family "f0" is in the slices s, t; say which is meant, with slice = ...`},
		{"unknown case", one("metric = 'j'", "min = 0.5", "case = 'w'"), `gates.toml:6:1: gate "g": there is no case "w"; the data have added, bug, bug2, clean, f0-0, f0-1`},
		{"unknown among cases", one("metric = 'j'", "min = 0.5", "cases = ['x', 'w']"), `gates.toml:6:1: gate "g": there is no case "w"`},
		{"case of another slice", one("metric = 'j'", "min = 0.5", "slice = 's'", "case = 'x'"), `there is no case "x"`},
		{"case of two slices", one("metric = 'j'", "min = 0.5", "case = 'f0-0'"), `case "f0-0" is in the slices s, t; say which`},
		{"no severities", one("metric = 'j'", "min = 0.5", "min_severity = 'low'"), `gates.toml:6:1: gate "g": the data do not say how severe findings are`},
		{"no price", one("metric = 'cost_per_correct'", "max = 0.5"), `gates.toml:4:1: gate "g": the endpoint has no price`},
		{"other K", one("min_pass = '8/10'"), `gates.toml:4:1: gate "g": min_pass = "8/10" is of 10 runs, and the plan has 5; write min_pass = "right/5", or plan 10 runs`},
		{"nothing in OLD", one("metric = 'delta.j'", "margin = 0.5", "slice = 'v'"), `gates.toml:3:1: gate "g": OLD has no case of slice v to compare with`},
		{"nothing to drop from", one("min_pass = '4/5'", "kind = 'drop-only'", "case = 'added'"), `OLD has no case of case added to compare with`},
		{"silence of bugs", one("metric = 'silence'", "min = 0.5", "family = 'bugs'", "alone = true"), `gates.toml:4:1: gate "g": there is no silence of family bugs: no case has a fixed side; gate recall alone`},
		{"recall of clean code", one("metric = 'recall'", "min = 0.5", "family = 'clean'", "alone = true"), `no case has a vulnerable side`},
		{"silence beside recall of bugs", one("metric = 'recall'", "min = 0.5", "family = 'bugs'"), `gates.toml:4:1: gate "g (silence)": there is no silence of family bugs: no case has a fixed side; it was added because recall and silence are gated together; write the gate that is meant, or alone = true: `},
		{"j of bugs", one("metric = 'j'", "min = 0.5", "family = 'bugs'"), `there is no j of family bugs: it needs vulnerable and fixed sides`},
		{"votes of bugs", one("metric = 'pair_accuracy'", "min = 0.5", "slice = 'u'"), `there is no pair_accuracy of slice u: it needs cases with two sides`},
		{"interval of J without pairs", one("metric = 'delta.j.hi'", "margin = 0.1", "slice = 'u'"), `there is no delta.j.hi of slice u: an interval of the difference of J needs two cases, all of them pairs`},
		{"interval of one case", one("metric = 'delta.silence.hi'", "margin = 0.1", "slice = 'u'", "alone = true"), `an interval of a difference needs two cases with that side; gate delta.silence`},

		{"lo of three cases", one("metric = 'recall.lo'", "min = 0.9", "slice = 's'", "family = 'f0'", "alone = true"),
			`gates.toml:5:1: gate "g": recall.lo of family f0 of slice s is at most 0.631 in data of this shape (3 cases of 5 runs), so that min = 0.9 could never pass; ask for less, plan more cases, or gate the metric without .lo or .hi`},
		{"min above all", one("metric = 'j'", "min = 1.01"), `j of all cases is at most 1 in data of this shape (15 cases of 5 runs), so that min = 1.01 could never pass`},
		{"min 0 of recall", one("metric = 'recall'", "min = 0", "alone = true"), `gates.toml:5:1: gate "g": recall of all cases is at least 0 in data of this shape (15 cases of 5 runs), so that min = 0 could never fail; ask for more, or remove the gate`},
		{"min -1 of j", one("metric = 'j'", "min = -1"), `j of all cases is at least -1 in data`},
		{"min -1 of votes", one("metric = 'j_vote'", "min = -1"), `could never fail`},
		{"min 0 of accuracy", one("metric = 'pair_accuracy'", "min = 0"), `could never fail`},
		{"min 0 of lo", one("metric = 'silence.lo'", "min = 0", "alone = true"), `could never fail`},
		{"min of hi", one("metric = 'silence.hi'", "min = 0.05", "alone = true"), `silence.hi of all cases is at least 0.128 in data`},
		{"max 1 of recall", one("metric = 'recall'", "max = 1"), `recall of all cases is at most 1 in data of this shape (15 cases of 5 runs), so that max = 1 could never fail`},
		{"max below 0", one("metric = 'recall'", "max = -0.1"), `recall of all cases is at least 0 in data of this shape (15 cases of 5 runs), so that max = -0.1 could never pass`},
		{"max 1 of errors", one("metric = 'error_rate'", "max = 1"), `error_rate is at most 1 in data of this shape (15 cases of 5 runs), so that max = 1 could never fail`},
		{"max below no error", one("metric = 'error_rate'", "max = -0.1"), `could never pass`},
		{"negative price", one("metric = 'cost_per_correct'", "max = -1"), `could never pass`},
		{"margin 2", one("metric = 'delta.j'", "margin = 2"), `gates.toml:5:1: gate "g": delta.j of all cases is at least -2 in data of this shape (14 cases of 5 runs), so that margin = 2 could never fail`},
		{"margin 1 of recall", one("metric = 'delta.recall'", "margin = 1", "alone = true"), `could never fail`},
		{"margin of a lower end", one("metric = 'delta.recall.lo'", "margin = 2", "alone = true", "slice = 's'", "family = 'f0'"), `delta.recall.lo of family f0 of slice s is at least -2`},
		{"rise of more than there is", one("metric = 'delta.j'", "min = 2.1"), `delta.j of all cases is at most 2 in data of this shape (14 cases of 5 runs), so that min = 2.1 could never pass`},
		{"fall below what there is", one("metric = 'delta.j'", "max = -2.1"), `could never pass`},
		{"drop of all", one("metric = 'recall'", "margin = 1", "kind = 'drop-only'", "alone = true"), `gates.toml:5:1: gate "g": recall of all cases cannot fall by more than 1 in data of this shape (14 cases of 5 runs), so that margin = 1 could never fail`},
		{"drop from what OLD cannot have", one("metric = 'recall.lo'", "min = 0.9", "kind = 'drop-only'", "alone = true", "slice = 's'", "family = 'f0'"), `recall.lo of family f0 of slice s is at most 0.631 in data of this shape (3 cases of 5 runs), so that min = 0.9 could never fail, which takes an OLD that met it`},
		{"drop of nothing", one("metric = 'recall'", "min = 0", "kind = 'drop-only'", "alone = true"), `could never fail`},
		{"price without a bound", one("metric = 'cost_per_correct'", "min = 0"), `could never fail`},
	} {
		t.Run(c.name, func(t *testing.T) {
			shape := mixedShape()
			if strings.HasPrefix(c.name, "no ") {
				shape = bare
			}
			err := checked(t, c.file, shape)
			require.ErrorContains(t, err, c.want)
			var place *tomlfile.Error
			require.ErrorAs(t, err, &place)
			assert.Equal(t, 1, strings.Count(err.Error(), "gates.toml:"), "one mistake: %v", err)
		})
	}
}

func TestGateCheckLetsPass(t *testing.T) {
	yes := true
	known := mixedShape()
	known.Severities, known.Priced = &yes, &yes
	for _, lines := range [][]string{
		{"metric = 'j'", "min = 1"},
		{"metric = 'j'", "min = -0.99"},
		{"metric = 'recall'", "min = 0.01"},
		{"metric = 'recall'", "max = 0.99"},
		{"metric = 'recall'", "max = 0"},
		{"metric = 'recall.lo'", "min = 0.63", "slice = 's'", "family = 'f0'"},
		{"metric = 'recall.lo'", "min = 0.61", "slice = 's'", "family = 'f0'", "kind = 'drop-only'"},
		{"metric = 'recall'", "margin = 0.99", "kind = 'drop-only'"},
		{"metric = 'recall'", "margin = 0", "kind = 'drop-only'"},
		{"metric = 'recall'", "min = 0.5", "family = 'bugs'", "alone = true"},
		{"metric = 'delta.recall.hi'", "margin = 0.5", "family = 'bugs'", "alone = true"},
		{"metric = 'delta.j'", "margin = 1.99"},
		{"metric = 'delta.j'", "margin = 0"},
		{"metric = 'delta.j.lo'", "margin = 2.3", "slice = 's'"},
		{"metric = 'delta.j'", "min = 2"},
		{"metric = 'j'", "min = 0.5", "slice = 't'", "family = 'f0'"},
		{"metric = 'j'", "min = 0.5", "slice = 't'", "case = 'f0-0'"},
		{"metric = 'j'", "min = 0.5", "case = 'added'"},
		{"metric = 'j'", "min = 0.5", "min_severity = 'low'"},
		{"metric = 'cost_per_correct'", "max = 0"},
		{"metric = 'cost_per_correct'", "max = 1e6", "kind = 'drop-only'"},
		{"metric = 'error_rate'", "max = 0"},
		{"min_pass = '1/5'"},
		{"min_pass = '5/5'", "case = 'x'", "kind = 'drop-only'"},
	} {
		assert.NoError(t, checked(t, one(lines...), known), lines)
	}
	require.NoError(t, Gates{}.Check(Shape{}), "no gate asks for nothing")
	unknown := mixedShape()
	require.NoError(t, checked(t, one("metric = 'j'", "min = 0.5", "min_severity = 'low'"), unknown))
	require.NoError(t, checked(t, one("metric = 'cost_per_correct'", "max = 1"), unknown))
	require.ErrorContains(t, checked(t, one("metric = 'j'", "min = 0.5"), Shape{K: 5}), "the data have no case")
}

func TestGateCheckReportsEveryGate(t *testing.T) {
	err := checked(t, one("metric = 'j'", "min = 2")+"[[gate]]\nname = 'h'\nmin_pass = '1/2'\n[[gate]]\nname = 'fine'\nmetric = 'j'\nmin = 0.5\n", mixedShape())
	require.Error(t, err)
	assert.Equal(t, 2, strings.Count(err.Error(), "gates.toml:"))
	assert.ErrorContains(t, err, `gate "g"`)
	assert.ErrorContains(t, err, `gates.toml:8:1: gate "h"`)
}

// OLD with more runs has tighter intervals: what NEW could not reach it may have.
func TestGateCheckKnowsTheRunsOfOld(t *testing.T) {
	file := one("metric = 'recall.lo'", "min = 0.65", "kind = 'drop-only'", "slice = 's'", "family = 'f0'")
	shape := gateShape(5, 3, 6)
	require.ErrorContains(t, checked(t, file, shape), "could never fail")
	shape.OldK = 20
	require.NoError(t, checked(t, file, shape))
}

func TestGateShapes(t *testing.T) {
	after := &Subject{Identity: Identity{K: 3}, Cases: gateShape(3, 2).wrongs([]int{0, 0, 0, 0}), Severities: true}
	after.Cases[1].Fixed = nil
	shape := ShapeOf(after)
	assert.Equal(t, 3, shape.K)
	assert.True(t, *shape.Severities)
	assert.Nil(t, shape.Priced)
	assert.Equal(t, []CaseShape{
		{ID: "f0-0", Hash: "f0-0", Slice: "s", Family: "f0", Vulnerable: true, Fixed: true},
		{ID: "f0-1", Hash: "f0-1", Slice: "s", Family: "f0", Vulnerable: true},
	}, shape.Cases)

	before := &Subject{Identity: Identity{K: 20}, Cases: gateShape(20, 1).wrongs([]int{0, 0})}
	against := shape.Against(before)
	assert.Equal(t, 20, against.OldK)
	assert.Equal(t, []bool{false, true}, []bool{against.Cases[0].Alone, against.Cases[1].Alone})
	assert.False(t, *against.Severities, "OLD does not know")
	assert.False(t, shape.Cases[1].Alone, "the shape itself stays")
	before.Severities = true
	assert.True(t, *shape.Against(before).Severities)

	pair := &corpus.Case{ID: "a", Slice: "s", Family: "injection", Vulnerable: &corpus.Side{}, Fixed: &corpus.Side{}}
	clean := &corpus.Case{ID: "b", Slice: "s", Family: "path", Fixed: &corpus.Side{}}
	plan := PlanShape([]corpus.Outline{pair.Outline(), clean.Outline()}, 4)
	assert.Equal(t, Shape{K: 4, NoOld: true, Cases: []CaseShape{
		{ID: "a", Hash: pair.Hash(), Slice: "s", Family: "injection", Vulnerable: true, Fixed: true, Unscorable: true},
		{ID: "b", Hash: clean.Hash(), Slice: "s", Family: "path", Fixed: true, Unscorable: true},
	}}, plan)
	assert.False(t, plan.Against(before).NoOld)
	for demand, want := range map[string]string{
		one("metric = 'j'", "min = 0.1"):                                  "no case of all cases can be scored",
		one("case = 'b'", "min_pass = '4/4'"):                             `case "b" cannot be scored`,
		one("metric = 'delta.j'", "margin = 0.1"):                         "nothing is compared with",
		one("metric = 'j'", "margin = 0.1", "kind = 'drop-only'"):         "nothing is compared with",
		one("case = 'a'", "min_pass = '4/4'", "kind = 'drop-only'"):       "nothing is compared with",
		one("metric = 'recall'", "min = 0.1", "family = 'no-such-thing'"): "no-such-thing",
	} {
		require.ErrorContains(t, checked(t, demand, plan), want)
	}
}

// The example of the documentation is a file that works.
func TestGateExample(t *testing.T) {
	shape := Shape{K: 5}
	for i := range 12 {
		shape.Cases = append(shape.Cases,
			CaseShape{ID: fmt.Sprintf("injection-%d", i), Slice: "planted", Family: "injection", Vulnerable: true, Fixed: true},
			CaseShape{ID: fmt.Sprintf("path-%d", i), Slice: "planted", Family: "path", Vulnerable: true, Fixed: true})
	}
	require.NoError(t, checked(t, gateExample, shape))
}

func BenchmarkGates(b *testing.B) {
	sizes := make([]int, 14)
	for i := range sizes {
		sizes[i] = 100_000 / len(sizes)
	}
	shape := gateShape(5, sizes...)
	s := &Subject{Identity: Identity{K: 5}, Cases: shape.wrongs(make([]int, 2*len(shape.Cases)))}
	g, err := ReadGates("gates.toml", []byte(one("metric = 'recall.lo'", "min = 0.5", "family = 'f3'")+
		"[[gate]]\nname = 'h'\nmetric = 'delta.j.hi'\nmargin = 0.05\n[[gate]]\nname = 'i'\nmetric = 'j.lo'\nmin = 0.3\n"))
	require.NoError(b, err)
	b.Run("check", func(b *testing.B) {
		for b.Loop() {
			require.NoError(b, g.Check(shape))
		}
	})
	b.Run("judge", func(b *testing.B) {
		for b.Loop() {
			g.Judge(s, s)
		}
	})
}
