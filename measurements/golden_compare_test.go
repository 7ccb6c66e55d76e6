package measurements

import (
	"encoding/json"
	"sort"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/youden-bench/youden/corpus"
	"github.com/youden-bench/youden/detector"
	"github.com/youden-bench/youden/measurements/stats"
)

// fields returns the names of an object's fields.
func fields(t *testing.T, raw json.RawMessage) map[string]json.RawMessage {
	t.Helper()
	var m map[string]json.RawMessage
	require.NoError(t, json.Unmarshal(raw, &m))
	return m
}

func has(m map[string]json.RawMessage, names ...string) bool {
	for _, n := range names {
		if _, ok := m[n]; !ok {
			return false
		}
	}
	return true
}

func get[T any](t *testing.T, raw json.RawMessage) T {
	t.Helper()
	var v T
	require.NoError(t, json.Unmarshal(raw, &v))
	return v
}

func goldenOverall(t *testing.T, c goldenCase) {
	in, want := fields(t, c.Input), fields(t, c.Expect)
	switch {
	case has(in, "counts", "noise_floor"):
		goldenRoundZero(t, in, want)
	case has(in, "detected", "silent", "n"):
		goldenSolutions(t, in, want)
	case has(in, "vulnerable_detect_counts_of_5", "fixed_leak_counts_of_5"):
		goldenFloor(t, in, want)
	case has(in, "buckets", "pairs", "K"):
		goldenBuckets(t, in, want)
	case has(want, "injection_recall"):
		for name, raw := range in {
			xn := get[[2]float64](t, raw)
			require.Positive(t, xn[1], name)
			i := stats.Wilson(xn[0], xn[1], level)
			sameJSON(t, get[any](t, want[name]), []any{i.Lo, i.Hi}, 6e-5, name)
		}
	default:
		t.Skipf("%s: a vector of unknown shape", c.ID)
	}
}

// rowsOfCounts makes K = 1 run rows of pairs with these outcomes: j and j_vote
// are the same then.
func rowsOfCounts(slice, fam string, p PairCounts) []RunRow {
	var rows []RunRow
	pair := func(hit, silent bool) {
		id := slice + fam + string(rune('a'+len(rows)%26)) + string(rune('0'+len(rows)/26))
		base := RunRow{CaseID: id, Slice: slice, Family: fam, Pair: true, Counts: "yes", Status: "ok"}
		v, f := base, base
		v.Side, v.Hit = "vulnerable", &hit
		f.Side, f.SilentStrict, f.SilentClass, f.SilentRegion = "fixed", &silent, &silent, &silent
		rows = append(rows, v, f)
	}
	for _, g := range []struct {
		n           int
		hit, silent bool
	}{{p.Correct, true, true}, {p.BothFlagged, true, false}, {p.Missed, false, true}, {p.Reversed, false, false}} {
		for range g.n {
			pair(g.hit, g.silent)
		}
	}
	return rows
}

func goldenRoundZero(t *testing.T, in, want map[string]json.RawMessage) {
	counts := get[map[string]goldenCounts](t, in["counts"])
	names := make([]string, 0, len(counts))
	for name := range counts {
		names = append(names, name)
	}
	sort.Strings(names)
	var rows []RunRow
	for _, name := range names {
		rows = append(rows, rowsOfCounts("seed", name, counts[name].counts())...)
	}
	s := Summarize(Manifest{Status: Complete, Plan: PlanRecord{K: 1}}, rows, Class, Exclude)
	for _, f := range s.Families {
		w := get[map[string]map[string]*float64](t, want["families"])[f.Family]
		closeTo(t, w["scorable"], pointer(float64(f.N)), "scorable")
		closeTo(t, w["recall"], f.Recall, "recall")
		closeTo(t, w["silence"], f.Silence, "silence")
		closeTo(t, w["youden"], f.JVote, "youden")
		closeTo(t, w["youden"], f.J, "j at K = 1")
	}
	number := func(name string) *float64 { return get[*float64](t, want[name]) }
	closeTo(t, number("pair_correct"), pointer(float64(s.Totals.Correct)), "pair_correct")
	closeTo(t, number("pairs"), pointer(float64(s.Totals.Votes)), "pairs")
	closeTo(t, number("pooled_recall"), s.Totals.Recall, "pooled_recall")
	closeTo(t, number("pooled_silence"), s.Totals.Silence, "pooled_silence")
	closeTo(t, number("pooled_youden"), s.Totals.JPooled, "pooled_youden")
	closeTo(t, number("macro_youden"), s.Totals.JMacro, "macro_youden")
	total := 0
	for name, n := range get[map[string]int](t, in["noise_floor"]) {
		total += n
		closeTo(t, get[map[string]map[string]*float64](t, want["families"])[name]["noise_floor"], pointer(float64(n)), "noise_floor of "+name)
	}
	closeTo(t, number("noise_floor_total"), pointer(float64(total)), "noise_floor_total")
}

func goldenSolutions(t *testing.T, in, want map[string]json.RawMessage) {
	d, s, n := get[int](t, in["detected"]), get[int](t, in["silent"]), get[int](t, in["n"])
	var solutions [][]int
	for correct := 0; correct <= n; correct++ {
		p := PairCounts{Correct: correct, BothFlagged: d - correct, Missed: s - correct, Reversed: n - d - s + correct}
		if p.BothFlagged >= 0 && p.Missed >= 0 && p.Reversed >= 0 {
			assert.Equal(t, []int{d, s, n}, []int{p.Detected(), p.Silent(), p.N()})
			solutions = append(solutions, []int{p.Correct, p.BothFlagged, p.Missed, p.Reversed})
		}
	}
	assert.Equal(t, get[[][]int](t, want["solutions_correct_both_missed_reversed"]), solutions)
	if has(want, "with_23_of_30") { // the other families have 10 correct pairs of 10
		for _, s := range solutions {
			if s[0]+10 == 23 {
				assert.Equal(t, get[[]int](t, want["with_23_of_30"]), s)
			}
		}
	}
}

// rowsOfRuns makes the run rows of one pair with these numbers of hits and
// leaks in k runs.
func rowsOfRuns(id string, hits, leaks, k int) []RunRow {
	var rows []RunRow
	for i := range k {
		hit, silent := i < hits, i >= leaks
		base := RunRow{CaseID: id, Slice: "s", Family: "injection", Pair: true, K: int64(i), Counts: "yes", Status: "ok"}
		v, f := base, base
		v.Side, v.Hit = "vulnerable", &hit
		f.Side, f.SilentStrict, f.SilentClass, f.SilentRegion = "fixed", &silent, &silent, &silent
		rows = append(rows, v, f)
	}
	return rows
}

func goldenFloor(t *testing.T, in, want map[string]json.RawMessage) {
	hits, leaks := get[[]int](t, in["vulnerable_detect_counts_of_5"]), get[[]int](t, in["fixed_leak_counts_of_5"])
	var rows []RunRow
	var votes PairCounts
	for i := range hits {
		rows = append(rows, rowsOfRuns(string(rune('a'+i)), hits[i], leaks[i], 5)...)
	}
	for _, c := range Cases(rows, 5, Class, Exclude) {
		votes.add(c.Pair())
	}
	closeTo(t, get[*float64](t, want["recall"]), votes.Recall(), "recall")
	closeTo(t, get[*float64](t, want["silence"]), votes.Silence(), "silence")
	assert.Equal(t, get[int64](t, want["noise_floor"]), Score(PlanRecord{K: 5}, rows, Class, Exclude)[0].Floor)
}

func goldenBuckets(t *testing.T, in, want map[string]json.RawMessage) {
	pairs, k := get[int](t, in["pairs"]), get[int](t, in["K"])
	runPairs := pairs * k * (k - 1) / 2
	assert.Equal(t, get[int](t, want["runs"]), 2*pairs*k)
	assert.Equal(t, get[int](t, want["run_pairs_vulnerable_side"]), runPairs)
	sum, disagreements := 0, 0
	rates := get[[]float64](t, want["rates"])
	for i, b := range get[[][2]int](t, in["buckets"]) {
		sum, disagreements = sum+b[0], disagreements+b[1]
		assert.InDelta(t, rates[i], *share(b[1], b[0]), 6e-5)
	}
	assert.Equal(t, get[int](t, want["bucket_sum"]), sum)
	assert.Equal(t, get[int](t, want["disagreements"]), disagreements)
}

func goldenCompare(t *testing.T, c goldenCase) {
	in, want := fields(t, c.Input), fields(t, c.Expect)
	switch {
	case has(in, "A_recall", "B_recall"):
		goldenSimpson(t, in, want)
	case has(in, "A", "B") && has(want, "common"):
		goldenCommon(t, in, want)
	case has(in, "discordant"):
		ps := get[[]*float64](t, want["p"])
		for i, d := range get[[][2]int](t, in["discordant"]) {
			closeTo(t, ps[i], stats.SignTest(d[0], d[1]), "p")
		}
	case has(in, "tp", "fn", "fp", "tn"):
		goldenConfusion(t, c.Input, want)
	case has(in, "balanced"):
		for name, raw := range in {
			goldenConfusion(t, raw, fields(t, want[name]))
		}
	case has(in, "categories") && has(want, "mean", "pooled"):
		goldenCategories(t, in, want)
	case has(in, "youden") && has(want, "macro_youden"):
		goldenMacro(t, in, want)
	case has(in, "pairs") && has(want, "charge"):
		goldenCharged(t, in, want)
	case has(in, "d_of_5"):
		rates := get[[]*float64](t, want["rate"])
		for i, d := range get[[]int](t, in["d_of_5"]) {
			closeTo(t, rates[i], stats.Disagreement(d, 5), "rate")
		}
	case has(in, "p") && has(want, "p_vote"):
		votes := get[[]*float64](t, want["p_vote"])
		for i, p := range get[[]float64](t, in["p"]) {
			closeTo(t, votes[i], stats.VotePower(p, 5), "p_vote")
		}
	default:
		t.Skipf("%s: not a vector of this package", c.ID)
	}
}

func goldenSimpson(t *testing.T, in, want map[string]json.RawMessage) {
	pooled := map[string]float64{}
	rates := map[string]map[string]float64{}
	for _, who := range []string{"A", "B"} {
		rates[who] = map[string]float64{}
		var hits, n int
		for fam, xn := range get[map[string][2]int](t, in[who+"_recall"]) {
			rates[who][fam] = *share(xn[0], xn[1])
			hits, n = hits+xn[0], n+xn[1]
		}
		pooled[who] = *share(hits, n)
		w := get[map[string]float64](t, want[who])
		assert.InDelta(t, w["pooled"], pooled[who], 1e-6)
		for fam, r := range rates[who] {
			assert.InDelta(t, w[fam], r, 1e-6)
		}
	}
	better := func(a, b float64) string {
		if a > b {
			return "A"
		}
		return "B"
	}
	for fam := range rates["A"] {
		assert.Equal(t, get[string](t, want["winner_per_family"]), better(rates["A"][fam], rates["B"][fam]))
	}
	assert.Equal(t, get[string](t, want["winner_pooled"]), better(pooled["A"], pooled["B"]))
}

func goldenCommon(t *testing.T, in, want map[string]json.RawMessage) {
	d := Discord(get[map[string]PairOutcome](t, in["A"]), get[map[string]PairOutcome](t, in["B"]))
	assert.Equal(t, get[[]string](t, want["common"]), d.Common)
	assert.Equal(t, get[[]string](t, want["gained"]), d.Gained)
	assert.Equal(t, get[[]string](t, want["lost"]), d.Lost)
	closeTo(t, get[*float64](t, want["A_pair_accuracy"]), d.Old.Accuracy(), "A_pair_accuracy")
	closeTo(t, get[*float64](t, want["B_pair_accuracy"]), d.New.Accuracy(), "B_pair_accuracy")
}

func goldenConfusion(t *testing.T, raw json.RawMessage, want map[string]json.RawMessage) {
	n := get[map[string]int](t, raw)
	c := stats.Confusion{TP: n["tp"], FN: n["fn"], FP: n["fp"], TN: n["tn"]}
	got := map[string]*float64{"youden": c.Youden(), "precision": c.Precision(), "mcc": c.MCC(),
		"recall": c.Recall(), "silence": c.Silence()}
	var unknown []string
	for name, w := range want {
		g, ok := got[name]
		if !ok {
			unknown = append(unknown, name)
			continue
		}
		closeTo(t, get[*float64](t, w), g, name)
	}
	skipUnknown(t, unknown)
}

func goldenCategories(t *testing.T, in, want map[string]json.RawMessage) {
	var all stats.Confusion
	var js []*float64
	for name, n := range get[map[string]map[string]int](t, in["categories"]) {
		c := stats.Confusion{TP: n["tp"], FN: n["fn"], FP: n["fp"], TN: n["tn"]}
		closeTo(t, get[*float64](t, want[name]), c.Youden(), name)
		all, js = all.Add(c), append(js, c.Youden())
	}
	mean, _ := Macro(js)
	closeTo(t, get[*float64](t, want["mean"]), mean, "mean")
	closeTo(t, get[*float64](t, want["pooled"]), all.Youden(), "pooled")
}

func goldenMacro(t *testing.T, in, want map[string]json.RawMessage) {
	var js []*float64
	for _, j := range get[map[string]*float64](t, in["youden"]) {
		js = append(js, j)
	}
	mean, used := Macro(js)
	closeTo(t, get[*float64](t, want["macro_youden"]), mean, "macro_youden")
	assert.Equal(t, get[int](t, want["families_used"]), used)
	assert.Equal(t, get[int](t, want["families_null"]), len(js)-used)
}

func goldenCharged(t *testing.T, in, want map[string]json.RawMessage) {
	rules, pair := DefaultRules(), goldenPair{Family: "injection", Spans: []corpus.Span{{File: "a", Start: 1, End: 1}}}
	run := func(outcome string) goldenRun {
		const prefix = "unscorable:"
		if len(outcome) > len(prefix) && outcome[:len(prefix)] == prefix {
			return goldenRun{Status: outcome[len(prefix):]}
		}
		r := goldenRun{Status: "ok"}
		if outcome == "detected" || outcome == "leak" {
			r = get[goldenRun](t, json.RawMessage(`{"status":"ok","findings":[{"file":"a","line":1,"label":"injection"}]}`))
		}
		return r
	}
	var rows []RunRow
	for i, p := range get[[]map[string]string](t, in["pairs"]) {
		these := append(goldenRows(pair, corpus.Vulnerable, []goldenRun{run(p["v"])}, rules),
			goldenRows(pair, corpus.Fixed, []goldenRun{run(p["f"])}, rules)...)
		for k := range these {
			these[k].CaseID = string(rune('a' + i))
		}
		rows = append(rows, these...)
	}
	for _, v := range Views() {
		var votes PairCounts
		for _, c := range Cases(rows, 1, Class, v) {
			votes.add(c.Pair())
		}
		got := map[string]*float64{"n_scorable": pointer(float64(votes.N())), "recall": votes.Recall(),
			"silence": votes.Silence(), "detected": pointer(float64(votes.Detected())), "silent": pointer(float64(votes.Silent()))}
		for name, w := range get[map[string]*float64](t, want[string(v)]) {
			closeTo(t, w, got[name], string(v)+" "+name)
		}
	}
	for class, name := range map[detector.Class]string{detector.Charged: "charged_kinds", detector.Excused: "excused_kinds"} {
		for _, kind := range get[[]string](t, want[name]) {
			_, known := fromGolden(kind).Row()
			assert.True(t, known, "%s is no status", kind)
			assert.Equal(t, class, fromGolden(kind).Class(), kind)
		}
	}
}
