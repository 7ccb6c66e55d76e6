package compare

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/youden-bench/youden/corpus"
	"github.com/youden-bench/youden/measurements"
)

// gateSubject has two families of three pairs at K = 5 in slice s, with these
// right runs: of each pair the vulnerable side, then the fixed one.
func gateSubject(right ...int) *Subject {
	shape := gateShape(5, 3, 3)
	wrong := make([]int, len(right))
	for i, n := range right {
		wrong[i] = 5 - n
	}
	cost := int64(600_000)
	return &Subject{Identity: Identity{K: 5}, Cases: shape.wrongs(wrong), Spend: measurements.Spend{
		Runs: 66, RunsOK: 60, CostUSDMicros: &cost, Statuses: map[string]int64{"timeout": 3, "truncated": 1, "cancelled": 2},
	}}
}

// gateOld and gateNew: injection-like f0 falls, f1 stays.
func gateOld() *Subject { return gateSubject(5, 5, 4, 5, 5, 5, 5, 4, 5, 5, 3, 5) }
func gateNew() *Subject { return gateSubject(2, 5, 4, 5, 3, 5, 5, 4, 5, 5, 3, 5) }

// judgedGate judges a file of one gate; what was added is left out.
func judgedGate(t *testing.T, before, after *Subject, lines ...string) GateResult {
	t.Helper()
	return readGates(t, one(lines...)).Judge(before, after)[0]
}

func TestGateValues(t *testing.T) {
	before, after := gateOld(), gateNew()
	c := Compare(before, after, Options{})
	slice, f0, f1 := c.Slices[0], c.Families[0], c.Families[1]
	pairs := match(before.Cases, after.Cases).Both
	recalls := measurements.EstimateAll(after.Cases)
	families := measurements.EstimateFamilies(after.Cases)
	votes := measurements.PairCounts{Correct: 5, Missed: 1}
	const inF0, inF1 = "slice = 's'\nfamily = 'f0'", "family = 'f1'"
	for _, x := range []struct {
		metric, scope string
		want          *float64
		n             int
	}{
		{"j", "", slice.New, 6}, {"j.lo", "", slice.NewLo, 6}, {"j.hi", "", slice.NewHi, 6},
		{"j", "slice = 's'", slice.New, 6}, {"j.lo", "slice = 's'", slice.NewLo, 6},
		{"j", inF0, f0.New, 3}, {"j.lo", inF0, f0.NewLo, 3}, {"j.hi", inF0, f0.NewHi, 3},
		{"j", inF1, f1.New, 3}, {"j.lo", inF1, f1.NewLo, 3},
		{"recall", "", &recalls.Recall.Estimate, 6}, {"recall.lo", "", &recalls.Recall.Lo, 6}, {"recall.hi", "", &recalls.Recall.Hi, 6},
		{"silence", "", &recalls.Silence.Estimate, 6}, {"silence.lo", "", &recalls.Silence.Lo, 6}, {"silence.hi", "", &recalls.Silence.Hi, 6},
		{"recall.lo", inF0, &families[0].Recall.Lo, 3}, {"silence.hi", inF1, &families[1].Silence.Hi, 3},
		{"recall", inF0, gatePointer(.6), 3}, {"recall", "case = 'f0-0'", gatePointer(.4), 1}, {"recall", "cases = ['f0-0', 'f1-2']", gatePointer(.5), 2},
		{"j", "case = 'f0-0'", gatePointer(.4), 1}, {"silence", "cases = ['f1-0']", gatePointer(.8), 1},
		{"j_vote", "", gatePointer(5. / 6), 6}, {"j_vote.lo", "", &votes.Interval(.95).Lo, 6}, {"j_vote.hi", "", &votes.Interval(.95).Hi, 6},
		{"j_vote", inF0, gatePointer(2. / 3), 3}, {"pair_accuracy", "", gatePointer(5. / 6), 6}, {"pair_accuracy", inF1, gatePointer(1), 3},
		{"error_rate", "", gatePointer(3. / 64), 64}, {"cost_per_correct", "", gatePointer(.12), 66},
		{"delta.j", "", slice.Delta, 6}, {"delta.j.lo", "", slice.Lo, 6}, {"delta.j.hi", "", slice.Hi, 6},
		{"delta.j", inF0, f0.Delta, 3}, {"delta.j.lo", inF0, f0.Lo, 3}, {"delta.j.hi", inF0, f0.Hi, 3}, {"delta.j.hi", inF1, f1.Hi, 3},
		{"delta.recall", "", slice.DeltaRecall, 6}, {"delta.silence", "", slice.DeltaSilence, 6}, {"delta.recall", inF0, f0.DeltaRecall, 3},
		{"delta.recall.lo", "", slice.Lo, 6}, {"delta.recall.hi", inF0, f0.Hi, 3}, // nothing changed on the fixed sides
		{"delta.silence.lo", "", gatePointer(0), 6}, {"delta.silence.hi", inF1, gatePointer(0), 3},
		{"delta.j", "case = 'f0-0'", gatePointer(-.6), 1}, {"delta.recall", "cases = ['f0-0', 'f0-2']", gatePointer(-.5), 2},
	} {
		t.Run(x.metric+" "+x.scope, func(t *testing.T) {
			r := judgedGate(t, before, after, "metric = '"+x.metric+"'", x.scope, "max = 5")
			require.NotNil(t, r.Value, r.Reason)
			require.NotNil(t, x.want)
			assert.InDelta(t, *x.want, *r.Value, 1e-12)
			assert.Equal(t, x.n, r.N)
			assert.Equal(t, GatePass, r.Outcome)
			assert.Equal(t, x.metric, r.Metric)
			assert.Equal(t, GateFail, judgedGate(t, before, after, "metric = '"+x.metric+"'", x.scope, "max = -5").Outcome)
		})
	}
	assert.Len(t, pairs, 6)
}

func gatePointer(v float64) *float64 { return &v }

func TestGateOutcomes(t *testing.T) {
	before, after := gateOld(), gateNew()
	for _, x := range []struct {
		name   string
		lines  []string
		want   GateOutcome
		reason string
	}{
		{"min met", []string{"metric = 'recall'", "min = 0.6", "family = 'f0'"}, GatePass, "recall of family f0 is .6 over 3 cases; at least .6 is asked"},
		{"min missed", []string{"metric = 'recall'", "min = 0.6001", "family = 'f0'"}, GateFail, "recall of family f0 is .6 over 3 cases; at least .6001 is asked"},
		{"max met", []string{"metric = 'recall'", "max = 0.6", "family = 'f0'"}, GatePass, "at most .6 is asked"},
		{"max missed", []string{"metric = 'recall'", "max = 0.59", "family = 'f0'"}, GateFail, "recall of family f0 is .6 over 3 cases; at most .59 is asked"},
		{"margin met", []string{"metric = 'delta.recall'", "margin = 0.34", "family = 'f0'"}, GatePass, "delta.recall of family f0 is -.333 over 3 cases; at least -.34 is asked"},
		{"margin missed", []string{"metric = 'delta.recall'", "margin = 0.33", "family = 'f0'"}, GateFail, "at least -.33 is asked"},
		{"errors", []string{"metric = 'error_rate'", "max = 0.04"}, GateFail, "error_rate is .047 over 64 runs; at most .04 is asked"},
		{"price", []string{"metric = 'cost_per_correct'", "max = 0.13"}, GatePass, "cost_per_correct is .12 over 66 runs; at most .13 is asked"},

		{"dropped below", []string{"metric = 'recall'", "min = 0.9", "kind = 'drop-only'", "family = 'f0'"}, GateFail, "recall of family f0 is .6 over 3 cases; at least .9 is asked, and OLD has .933"},
		{"hard for both", []string{"metric = 'recall'", "min = 0.95", "kind = 'drop-only'", "family = 'f0'"}, GatePass, "and OLD has .933, which did not reach it either"},
		{"still above", []string{"metric = 'recall'", "min = 0.6", "kind = 'drop-only'", "family = 'f0'"}, GatePass, "at least .6 is asked, and OLD has .933"},
		{"fell by more", []string{"metric = 'recall'", "margin = 0.3", "kind = 'drop-only'", "family = 'f0'"}, GateFail, "recall of family f0 is .6 over 3 cases; at least .633 is asked, and OLD has .933"},
		{"fell by less", []string{"metric = 'recall'", "margin = 0.34", "kind = 'drop-only'", "family = 'f0'"}, GatePass, "at least .593 is asked, and OLD has .933"},
		{"became dearer", []string{"metric = 'cost_per_correct'", "max = 0.11", "kind = 'drop-only'"}, GateFail, "cost_per_correct is .12 over 66 runs; at most .11 is asked, and OLD has .1"},
		{"was as dear", []string{"metric = 'cost_per_correct'", "max = 0.05", "kind = 'drop-only'"}, GatePass, "which did not reach it either"},

		{"runs", []string{"min_pass = '3/5'", "family = 'f1'"}, GatePass, "3 cases with at least 3 right runs of 5 on each side"},
		{"too few runs", []string{"min_pass = '4/5'"}, GateFail, "3 of 6 cases with fewer than 4 right runs of 5 on each side: f0-0, f0-2, f1-2"},
		{"runs of a fixed side", []string{"min_pass = '5/5'", "case = 'f1-0'"}, GateFail, "1 of 1 case with fewer than 5 right runs of 5 on each side: f1-0"},
		{"runs that OLD had", []string{"min_pass = '4/5'", "kind = 'drop-only'"}, GateFail, "2 of 6 cases with fewer than 4 right runs of 5 on each side: f0-0, f0-2"},
		{"runs that OLD had not", []string{"min_pass = '4/5'", "kind = 'drop-only'", "case = 'f1-2'"}, GatePass, "of 1 case, none fell below 4 right runs of 5 on each side"},

		{"no such family", []string{"metric = 'j'", "min = 0.5", "family = 'f9'"}, GateNoData, `no data: there is no family "f9"; the data have f0, f1`},
		{"no such case", []string{"min_pass = '4/5'", "case = 'f9'"}, GateNoData, `no data: there is no case "f9"`},
		{"no severities", []string{"metric = 'j'", "min = 0.5", "min_severity = 'high'"}, GateNoData, "no data: the data do not say how severe findings are"},
	} {
		t.Run(x.name, func(t *testing.T) {
			r := judgedGate(t, before, after, x.lines...)
			assert.Equal(t, x.want, r.Outcome)
			assert.Contains(t, r.Reason, x.reason)
			assert.Equal(t, "g", r.Name)
			assert.Equal(t, "gates.toml", r.File)
			assert.Equal(t, 2, r.Line)
			assert.Equal(t, x.want == GateNoData, r.Limit == nil)
		})
	}
}

func TestGateWithoutData(t *testing.T) {
	for _, lines := range [][]string{
		{"metric = 'delta.j'", "margin = 0.5"}, {"metric = 'recall'", "min = 0.5", "kind = 'drop-only'"}, {"min_pass = '1/5'", "kind = 'drop-only'"},
		{"metric = 'error_rate'", "max = 0.5", "kind = 'drop-only'"}, {"metric = 'recall'", "min = 0.1", "kind = 'drop-only'", "case = 'f0-0'"},
		{"min_pass = '1/5'", "kind = 'drop-only'", "case = 'f0-0'"},
	} {
		r := judgedGate(t, nil, gateNew(), lines...)
		assert.Equal(t, GateNoData, r.Outcome, "no OLD: %v", lines)
		assert.Equal(t, Fail, r.Verdict())
		assert.Contains(t, r.Reason, "no data: ")
	}
	none := &Subject{Identity: Identity{K: 5}}
	for _, lines := range [][]string{{"metric = 'j'", "min = 0.5"}, {"metric = 'j'", "max = 0.5"}, {"metric = 'error_rate'", "max = 0.5"}, {"metric = 'cost_per_correct'", "max = 0.5"}, {"min_pass = '1/5'"}} {
		assert.Equal(t, GateNoData, judgedGate(t, none, none, lines...).Outcome, lines)
	}
	unpriced := gateNew()
	unpriced.Spend.CostUnknown = 1
	assert.Equal(t, GateNoData, judgedGate(t, nil, unpriced, "metric = 'cost_per_correct'", "max = 1").Outcome)
	unaccounted := gateNew()
	unaccounted.Spend.Runs++
	assert.Contains(t, judgedGate(t, nil, unaccounted, "metric = 'error_rate'", "max = 1").Reason, "no data: no run was sent, or the file does not say how runs ended")

	missing := gateNew()
	missing.Cases[0].Fixed.Counted = 2 // no quorum
	r := judgedGate(t, nil, missing, "metric = 'recall'", "min = 0.1", "cases = ['f0-0', 'f1-0']")
	assert.Equal(t, GateNoData, r.Outcome, "a named case is not left out")
	assert.Equal(t, []string{"f0-0"}, r.Failing)
	r = judgedGate(t, gateOld(), missing, "metric = 'delta.j'", "margin = 1.9", "cases = ['f0-0', 'f1-0']")
	assert.Equal(t, []string{"f0-0"}, r.Failing)
	r = judgedGate(t, nil, missing, "metric = 'recall'", "min = 0.1", "family = 'f0'")
	assert.Equal(t, 2, r.N, "a family is measured on the cases that count")
	old := gateOld()
	old.Cases[3].Fixed.Counted = 0
	r = judgedGate(t, old, gateNew(), "metric = 'delta.j'", "margin = 1.9", "cases = ['f0-0', 'f1-0']")
	assert.Equal(t, []string{"f1-0"}, r.Failing, "OLD did not score it")
	r = judgedGate(t, old, gateNew(), "min_pass = '1/5'", "kind = 'drop-only'", "cases = ['f0-0', 'f1-0']")
	assert.Equal(t, "no data: 1 of 2 cases without runs to count for 1 right run of 5 on each side: f1-0", r.Reason)
}

// What OLD lost may have been right, and so its fall greater.
func TestGateInDoubtOfOld(t *testing.T) {
	old := gateSubject(5, 5, 4, 5, 3, 5, 5, 4, 5, 5, 3, 5)
	lose(old.Cases[2].Vulnerable, 2)
	old.Cases[2].Vulnerable.Positive = 1 // 1 of 3, or 3 of 5
	after := gateSubject(5, 5, 4, 5, 2, 5, 5, 4, 5, 5, 3, 5)
	r := judgedGate(t, old, after, "metric = 'delta.recall'", "margin = 0.1", "case = 'f0-2'")
	assert.InDelta(t, .4-1./3, *r.Value, 1e-12)
	assert.Equal(t, GateUnsure, r.Outcome, "from 3 of 5 to 2 of 5 it fell by .2")
	assert.Equal(t, GatePass, judgedGate(t, old, after, "metric = 'delta.recall'", "margin = 0.2", "case = 'f0-2'").Outcome)
	assert.Equal(t, GatePass, judgedGate(t, old, after, "metric = 'delta.recall'", "max = 0.2", "case = 'f0-2'").Outcome)
	assert.Equal(t, GateUnsure, judgedGate(t, old, after, "metric = 'delta.recall'", "max = 0.1", "case = 'f0-2'").Outcome, "with 1 of 5 before, it rose by .2")
}

// lose takes runs from a side, right ones first.
func lose(t *measurements.Tally, n int) {
	t.Counted -= n
	t.Positive = min(t.Positive, t.Counted)
}

func TestGateInDoubt(t *testing.T) {
	after := gateNew()
	lose(after.Cases[5].Vulnerable, 2) // 3 of 3
	r := judgedGate(t, nil, after, "metric = 'recall'", "min = 0.86", "family = 'f1'")
	assert.Equal(t, GatePass, r.Outcome, "1, 1 and 3 of 3; with 3 of 5 it is .867")
	r = judgedGate(t, nil, after, "metric = 'recall'", "min = 0.9", "family = 'f1'")
	assert.Equal(t, GateUnsure, r.Outcome)
	assert.Contains(t, r.Reason, "recall of family f1 is 1 over 3 cases; at least .9 is asked; runs are missing, and with them it could be .867, which fails")
	assert.Equal(t, Inconclusive, r.Verdict())
}

func TestGateResults(t *testing.T) {
	g := readGates(t, one("metric = 'recall'", "min = 0.5")+"[[gate]]\nname = 'h'\nmetric = 'j'\nmin = 0.99\n")
	results := g.Judge(gateOld(), gateNew())
	require.Len(t, results, 3)
	assert.True(t, results[1].Added)
	assert.Equal(t, []string{"g", "g (silence)", "h"}, []string{results[0].Name, results[1].Name, results[2].Name})
	assert.Equal(t, []int{2, 2, 6}, []int{results[0].Line, results[1].Line, results[2].Line})
	assert.Equal(t, Fail, results.Verdict())
	assert.Equal(t, Pass, results[:2].Verdict())
	assert.Equal(t, []string{`gate "h" (min = 0.99): j of all cases is .7 over 6 cases; at least .99 is asked`}, results.Regressions())
	assert.Empty(t, results.Doubts())

	mixed := GateResults{{Outcome: GatePass}, {Name: "u", Asked: "max = 1", Outcome: GateUnsure, Reason: "why"}}
	assert.Equal(t, Inconclusive, mixed.Verdict())
	assert.Equal(t, []string{`gate "u" (max = 1): why`}, mixed.Doubts())
	assert.Empty(t, mixed.Regressions())
	assert.Equal(t, Fail, append(mixed, GateResult{Outcome: GateNoData}).Verdict())
	assert.Equal(t, Fail, GateResult{}.Verdict(), "an outcome that nobody set is no pass")

	data, err := json.Marshal(Gates{}.Judge(nil, gateNew()))
	require.NoError(t, err)
	assert.Equal(t, "[]", string(data))
	assert.Equal(t, Pass, Gates{}.Judge(nil, gateNew()).Verdict())
	results[2].Value = gatePointer(.7)
	data, err = json.Marshal(results[2])
	require.NoError(t, err)
	assert.JSONEq(t, `{"name":"h","file":"gates.toml","line":6,"metric":"j","scope":"all cases","asked":"min = 0.99","outcome":"fail","value":0.7,"limit":0.99,"n":6,
		"reason":"j of all cases is .7 over 6 cases; at least .99 is asked"}`, string(data))
}

// A detector that flags everything, or nothing, passes no file that gates recall
// or silence.
func TestGateControls(t *testing.T) {
	always := gateSubject(5, 0, 5, 0, 5, 0, 5, 0, 5, 0, 5, 0)
	never := gateSubject(0, 5, 0, 5, 0, 5, 0, 5, 0, 5, 0, 5)
	for _, lines := range [][]string{
		{"metric = 'recall'", "min = 0.1"}, {"metric = 'silence'", "min = 0.1"}, {"metric = 'recall.lo'", "min = 0.1", "family = 'f0'"},
		{"metric = 'delta.recall'", "margin = 0.1"}, {"metric = 'recall'", "margin = 0.1", "kind = 'drop-only'"}, {"metric = 'recall'", "min = 0.5", "kind = 'drop-only'"},
		{"metric = 'j'", "min = 0.1"}, {"min_pass = '1/5'"}, {"metric = 'pair_accuracy'", "min = 0.1"}, {"metric = 'j_vote'", "min = 0.1"},
	} {
		g := readGates(t, one(lines...))
		for _, control := range []*Subject{always, never} {
			require.NoError(t, g.Check(ShapeOf(control).Against(gateOld())))
			assert.Equal(t, Fail, g.Judge(gateOld(), control).Verdict(), lines)
		}
		assert.Equal(t, Pass, g.Judge(gateOld(), gateOld()).Verdict(), lines)
	}
}

// Only findings from a severity on count, for every metric.
func TestGateFromASeverity(t *testing.T) {
	after := gateNew()
	after.Severities = true
	for i := range after.Cases {
		c := &after.Cases[i]
		for _, side := range []**measurements.Tally{&c.Vulnerable, &c.Fixed} {
			n := (*side).Positive
			counts := measurements.Counts{K: 5, Counted: 5, Positive: n, AtLeast: []int{n, n, n / 2, 0}}
			*side = counts.Restore((*side).Side)
		}
	}
	r := judgedGate(t, nil, after, "metric = 'recall'", "min = 0.3", "min_severity = 'high'", "family = 'f0'")
	assert.InDelta(t, (.2+.4+.2)/3, *r.Value, 1e-12)
	assert.Equal(t, "family f0 from severity high on", r.Scope)
	assert.Contains(t, r.Reason, "recall of family f0 from severity high on is .267")
	r = judgedGate(t, nil, after, "metric = 'recall'", "min = 0.3", "min_severity = 'critical'")
	assert.Zero(t, *r.Value)
	r = judgedGate(t, nil, after, "metric = 'recall'", "min = 0.3", "min_severity = 'medium'", "family = 'f0'")
	assert.InDelta(t, .6, *r.Value, 1e-12)
	r = judgedGate(t, after, after, "metric = 'delta.j'", "min = 0", "min_severity = 'high'")
	assert.Equal(t, GatePass, r.Outcome)
	r = judgedGate(t, gateOld(), after, "metric = 'delta.j'", "min = 0", "min_severity = 'high'")
	assert.Equal(t, GateNoData, r.Outcome, "OLD does not know severities")
	r = judgedGate(t, nil, after, "min_pass = '2/5'", "min_severity = 'high'", "case = 'f0-1'")
	assert.Equal(t, GatePass, r.Outcome)
	assert.Equal(t, 4, after.Cases[1].Vulnerable.Positive, "the subject stays")
}

func TestGateRunsInDoubt(t *testing.T) {
	after := gateNew()
	lose(after.Cases[4].Vulnerable, 1) // 4 of 4
	assert.Equal(t, GatePass, judgedGate(t, nil, after, "min_pass = '4/5'", "case = 'f1-1'").Outcome)
	r := judgedGate(t, nil, after, "min_pass = '5/5'", "case = 'f1-1'")
	assert.Equal(t, GateUnsure, r.Outcome)
	assert.Equal(t, "runs are missing, and 1 of 1 case could have fewer than 5 right runs of 5 on each side: f1-1", r.Reason)
	r = judgedGate(t, nil, after, "min_pass = '5/5'", "cases = ['f1-0', 'f1-1']")
	assert.Equal(t, GateFail, r.Outcome, "a case fails whatever another's runs were")
	assert.Equal(t, []string{"f1-0"}, r.Failing)
	assert.InDelta(t, 0, *r.Value, 1e-12)

	after.Cases[4].Vulnerable.Counted = 0
	after.Cases[4].Vulnerable.Positive = 0
	assert.Equal(t, GateNoData, judgedGate(t, nil, after, "min_pass = '4/5'", "case = 'f1-1'").Outcome)
	assert.Equal(t, GateUnsure, judgedGate(t, nil, after, "min_pass = '3/5'", "family = 'f1'").Outcome, "one of three")
	for i := range after.Cases {
		after.Cases[i].Fixed.Counted, after.Cases[i].Fixed.Positive = 0, 0
	}
	assert.Equal(t, GateNoData, judgedGate(t, nil, after, "min_pass = '3/5'").Outcome, "all of them")

	torn := &measurements.CaseScore{
		Vulnerable: (&measurements.Counts{K: 5, Counted: 5, Positive: 1}).Restore(corpus.Vulnerable),
		Fixed:      (&measurements.Counts{K: 5, Counted: 3}).Restore(corpus.Fixed),
	}
	assert.Equal(t, GateFail, gateDemand{right: 4, runs: 5}.ofRuns(torn), "a side that fails is not in doubt")
	torn.Vulnerable, torn.Fixed = torn.Fixed, torn.Vulnerable
	assert.Equal(t, GateFail, gateDemand{right: 5, runs: 5}.ofRuns(torn), "in either order")

	half := &measurements.CaseScore{Vulnerable: (&measurements.Counts{K: 20, Counted: 20, Positive: 16}).Restore(corpus.Vulnerable)}
	assert.True(t, gateDemand{right: 4, runs: 5}.met(half), "16 of 20 are 4 of 5")
	half.Vulnerable.Counted, half.Vulnerable.Positive = 15, 12
	assert.True(t, gateDemand{right: 4, runs: 5}.met(half), "12 of the 15 that count are 4 of 5")
	half.Vulnerable.Positive--
	assert.False(t, gateDemand{right: 4, runs: 5}.met(half))
}

// A gate that asks for more never passes where one that asks for less does not.
// Of drop-only gates this holds while OLD meets both: what OLD did not reach
// cannot be lost.
func TestGateStricterNeverHelps(t *testing.T) {
	better := map[GateOutcome]int{GateNoData: 0, GateFail: 0, GateUnsure: 1, GatePass: 2}
	rapid.Check(t, func(t *rapid.T) {
		draw := func(name string) *Subject {
			s := gateSubject(rapid.SliceOfN(rapid.IntRange(0, 5), 12, 12).Draw(t, name)...)
			for i := range s.Cases {
				lose(s.Cases[i].Vulnerable, rapid.SampledFrom([]int{0, 0, 1, 3}).Draw(t, "lost"))
				lose(s.Cases[i].Fixed, rapid.SampledFrom([]int{0, 0, 0, 1}).Draw(t, "lost"))
			}
			return s
		}
		data := newGateData(draw("old"), draw("new"))
		g := gate{
			metric: rapid.SampledFrom(gateMetrics()).Draw(t, "metric"), floor: noFloor,
			scope: rapid.SampledFrom([]gateScope{{}, {slice: "s"}, {family: "f0"}, {cases: []string{"f0-0"}}, {cases: []string{"f0-1", "f1-2"}}}).Draw(t, "scope"),
		}
		key := rapid.SampledFrom([]string{demandMin, demandMax, demandMargin, demandMinPass}).Draw(t, "demand")
		g.dropOnly = rapid.Bool().Draw(t, "drop-only") && !g.metric.delta
		loose, strict := g, g
		switch key {
		case demandMinPass:
			a := rapid.IntRange(1, 5).Draw(t, "right")
			loose.demand, strict.demand = gateDemand{key: key, right: a, runs: 5}, gateDemand{key: key, right: rapid.IntRange(a, 5).Draw(t, "stricter"), runs: 5}
			loose.dropOnly, strict.dropOnly = false, false
		default:
			a, b := rapid.Float64Range(-1, 1).Draw(t, "a"), rapid.Float64Range(-1, 1).Draw(t, "b")
			if (key == demandMin) != (a < b) {
				a, b = b, a
			}
			loose.demand, strict.demand = gateDemand{key: key, value: a}, gateDemand{key: key, value: b}
		}
		x, y := loose.judge(data), strict.judge(data)
		if g.dropOnly && key != demandMargin && key != demandMinPass && y.Old != nil && !strict.demand.meets(*y.Old) {
			return
		}
		if g.dropOnly && x.Outcome == GateUnsure {
			return // OLD with its missing runs may not reach the stricter one
		}
		if better[y.Outcome] > better[x.Outcome] {
			t.Fatalf("%s is %s, and the stricter %s is %s", loose.demand, x.Reason, strict.demand, y.Reason)
		}
	})
}
