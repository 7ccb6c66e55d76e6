package measurements

import (
	"fmt"
	"io"
	"iter"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/parquet-go/parquet-go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/youden-bench/youden/corpus"
	"github.com/youden-bench/youden/detector"
)

// mixedRuns are runs of pairs and single sides with every kind of value that a
// tally reads, in plan order.
func mixedRuns(cases, k int, seed uint64) []RunRow {
	rng := rand.New(rand.NewPCG(seed, 1))
	side := func(id, fam string, pair bool, side corpus.SideName) (runs []RunRow) {
		letters := make([]byte, k)
		for i := range letters {
			letters[i] = "+++...!x"[rng.IntN(8)]
		}
		for _, r := range lettered(id, fam, pair, side, string(letters)) {
			if rng.IntN(9) > 0 {
				runs = append(runs, mixed(r, rng))
			}
		}
		return runs
	}
	var runs []RunRow
	for i := range cases {
		id, fam := fmt.Sprintf("case-%d", i), []string{"injection", "path", "ssrf"}[i%3]
		if i%5 != 1 {
			runs = append(runs, side(id, fam, i%5 > 1, corpus.Vulnerable)...)
		}
		if i%5 != 0 {
			runs = append(runs, side(id, fam, i%5 > 1, corpus.Fixed)...)
		}
	}
	return runs
}

// mixed varies a row as its letter allows.
func mixed(r RunRow, rng *rand.Rand) RunRow {
	word := func() *string {
		return []*string{nil, pointer("low"), pointer("medium"), pointer("high"), pointer("critical")}[rng.IntN(5)]
	}
	number := func() *int64 {
		if rng.IntN(10) == 0 {
			return nil
		}
		return pointer(rng.Int64N(1000))
	}
	r.Slice = []string{"planted", "handed"}[len(r.CaseID)%2]
	r.Calls, r.Attempts, r.LatencyMS = 1, 1+rng.Int64N(2), number()
	r.PromptTokens, r.CompletionTokens, r.CostUSDMicros = number(), number(), number()
	r.Unmapped, r.DroppedItems = number(), number()
	r.ModelReturned = []*string{nil, pointer("m-1"), pointer("m-2")}[rng.IntN(3)]
	r.SystemFingerprint = []*string{nil, pointer("fp-1")}[rng.IntN(2)]
	r.Residual = rng.IntN(20) == 0
	switch {
	case r.Status == "transient":
		r.Status = []string{"transient", "timeout", "cancelled", "no_such_status"}[rng.IntN(4)]
	case r.Hit != nil && *r.Hit:
		r.HitSeverity = word()
	case r.SilentClass != nil && !*r.SilentClass:
		r.SilentRegion, r.BreakSeverityStrict, r.BreakSeverityClass = pointer(rng.IntN(2) == 0), word(), word()
		if !*r.SilentRegion {
			r.BreakSeverityRegion = word()
		}
	}
	return r
}

// captureOf writes runs.parquet alone, unchecked.
func captureOf(t testing.TB, runs []RunRow, plan func(*Manifest)) *Capture {
	t.Helper()
	m := sampleManifest(len(runs), 5)
	m.Simulated = false
	if plan != nil {
		plan(&m)
	}
	c, err := Create(filepath.Join(t.TempDir(), "c"), m)
	require.NoError(t, err)
	f, err := os.Create(filepath.Join(c.Dir(), runsFile))
	require.NoError(t, err)
	writeRuns(t, f, slices.Values([][]RunRow{runs}))
	require.NoError(t, f.Close())
	return c
}

func writeRuns(t testing.TB, w io.Writer, chunks iter.Seq[[]RunRow]) {
	t.Helper()
	out := newTableWriter[RunRow](w, runsFile)
	for rows := range chunks {
		for _, r := range rows {
			require.NoError(t, out.add(r, 0))
		}
	}
	require.NoError(t, out.end("w"))
}

// The tallies of a file are those of its rows, in plan order or in any other.
func TestTalliesAreThoseOfCases(t *testing.T) {
	for seed := range uint64(4) {
		runs := mixedRuns(120, 5, seed)
		if seed == 3 {
			rand.New(rand.NewPCG(9, 9)).Shuffle(len(runs), func(i, j int) { runs[i], runs[j] = runs[j], runs[i] })
		}
		c := captureOf(t, runs, nil)
		for _, p := range Policies() {
			for _, v := range Views() {
				got, err := c.Tallies(p, v)
				require.NoError(t, err)
				require.Equal(t, Cases(runs, 5, p, v), got.Cases, "%s, %s", p, v)
				s, err := c.Summary(p, v)
				require.NoError(t, err)
				assert.Equal(t, s.Totals.Spend, got.Spend)
				assert.Equal(t, []int64{s.Totals.Dispatched, s.Totals.Errors}, []int64{got.Dispatched, got.Errors})
				assert.Equal(t, []any{5, s.Simulated}, []any{got.K, got.Simulated})
			}
		}
	}
}

// holds says from its columns whether a run is positive at a floor.
func holds(r RunRow, floor detector.Severity) bool {
	order := map[string]int{"low": 1, "medium": 2, "high": 3, "critical": 4}
	at := func(s *string) bool { return s != nil && order[*s] >= order[string(floor)] }
	if r.Counts == "charged" {
		return r.Side == "fixed"
	}
	return r.Counts == "yes" && (at(r.HitSeverity) || at(r.BreakSeverityClass))
}

func TestPositivesAtEachFloor(t *testing.T) {
	runs := mixedRuns(120, 5, 7)
	got, err := captureOf(t, runs, nil).Tallies(Class, Charge)
	require.NoError(t, err)
	sides, all := map[string]*Tally{}, 0
	for _, c := range got.Cases {
		for _, s := range c.sides() {
			sides[c.ID+string(s.Side)] = s
		}
	}
	for _, floor := range Floors() {
		want := map[string]int{}
		for _, r := range runs {
			want[r.CaseID+r.Side] += int(count(holds(r, floor)))
		}
		for name, n := range want {
			require.Equal(t, n, sides[name].AtLeast(floor), "%s of %s", floor, name)
			all += n
		}
	}
	assert.NotZero(t, all)
	for name, s := range sides {
		assert.Equal(t, s.Positive, s.AtLeast(detector.SeverityUnknown), name)
	}
}

func TestWhatAComparisonNeedsBeside(t *testing.T) {
	runs := pairOf("a", "++++x", "....!")
	for i := range runs {
		runs[i].ModelReturned = pointer([]string{"m-1", "m-2", "m-2"}[i%3])
		if i > 0 {
			runs[i].LatencyMS = pointer(int64(100 * i))
		}
	}
	runs[8].SystemFingerprint = pointer("fp")
	runs[3].Status, runs[3].Counts = "strange", "excused"
	got, err := captureOf(t, runs, nil).Tallies(Class, Charge)
	require.NoError(t, err)
	assert.Equal(t, Latency{Runs: 9, MedianMS: pointer(500.), P95MS: pointer(900.)}, got.Latency)
	assert.Equal(t, Names{List: []Name{{"m-2", 6}, {"m-1", 4}}}, got.Models)
	assert.Equal(t, Names{List: []Name{{"fp", 1}}}, got.Fingerprints)
	var ends []string
	for _, s := range got.Statuses {
		ends = append(ends, fmt.Sprint(s.Status, s.Class, s.Error, s.Runs))
	}
	assert.Equal(t, []string{fmt.Sprint("bad_format", detector.Charged, false, 1), fmt.Sprint("transient", detector.Excused, true, 1),
		fmt.Sprint("strange", detector.Excused, false, 1)}, ends, "in the order of the table, unknown ones last")
}

func TestLatencies(t *testing.T) {
	assert.Equal(t, Latency{}, latencyOf(nil), "no latency of nothing")
	var values []int64
	for i := range int64(100) {
		values = append(values, 100-i)
	}
	assert.Equal(t, Latency{Runs: 100, MedianMS: pointer(50.5), P95MS: pointer(95.)}, latencyOf(values))
	assert.Equal(t, Latency{Runs: 1, MedianMS: pointer(7.), P95MS: pointer(7.)}, latencyOf([]int64{7}))
}

func TestNamesAreBounded(t *testing.T) {
	var c nameCounts
	for i := range maxNames + 5 {
		c.add(fmt.Sprintf("fp-%04d", i))
	}
	c.add("fp-0007")
	names := c.sorted()
	assert.Len(t, names.List, maxNames)
	assert.Equal(t, Name{"fp-0007", 2}, names.List[0])
	assert.Equal(t, int64(5), names.Others)
}

func TestVaries(t *testing.T) {
	tests := map[string]struct {
		vulnerable, fixed string
		other             bool // one run took another trajectory
		want              bool
	}{
		"one measurement":              {"+++++", ".....", false, false},
		"runs disagree":                {"++++.", ".....", false, true},
		"another trajectory":           {"+++++", ".....", true, true},
		"a failure disagrees":          {"++++!", ".....", false, true},
		"a lost run does not disagree": {"++++x", ".....", false, false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			runs := pairOf("a", tt.vulnerable, tt.fixed)
			for i := range runs {
				if runs[i].TrajectoryHash != nil {
					runs[i].TrajectoryHash = pointer(runs[i].Side)
				}
			}
			if tt.other {
				runs[7].TrajectoryHash = pointer("another")
			}
			got, err := captureOf(t, runs, nil).Tallies(Class, Charge)
			require.NoError(t, err)
			assert.Equal(t, tt.want, got.Varies())
		})
	}
}

// The parts of a split are tallied as captures of their own would be.
func TestPartsByK(t *testing.T) {
	runs := mixedRuns(60, 5, 11)
	even := func(k int64) bool { return k%2 == 0 }
	odd := func(k int64) bool { return k%2 == 1 }
	c := captureOf(t, runs, nil)
	parts, err := c.Parts(Part{Class, Charge, even}, Part{Class, Charge, odd}, Part{Region, Exclude, nil})
	require.NoError(t, err)
	require.Len(t, parts, 3)
	for i, only := range []func(int64) bool{even, odd} {
		var mine []RunRow
		for _, r := range runs {
			if only(r.K) {
				mine = append(mine, r)
			}
		}
		require.NotEmpty(t, mine)
		assert.Equal(t, 3-i, parts[i].K)
		assert.Equal(t, Cases(mine, 3-i, Class, Charge), parts[i].Cases)
		assert.Equal(t, int64(len(mine)), parts[i].Spend.Runs)
	}
	assert.Equal(t, Cases(runs, 5, Region, Exclude), parts[2].Cases)
	none, err := c.Parts(Part{Class, Charge, func(int64) bool { return false }})
	require.NoError(t, err)
	assert.Empty(t, none[0].Cases)
	assert.Zero(t, none[0].K)
}

func TestTalliesOfACaptureJustCreated(t *testing.T) {
	c, err := Create(filepath.Join(t.TempDir(), "c"), sampleManifest(4, 2))
	require.NoError(t, err)
	got, err := c.Tallies(Class, Charge)
	require.NoError(t, err)
	assert.Empty(t, got.Cases)
	assert.Equal(t, 2, got.K)
	assert.True(t, got.Simulated, "its manifest says so")
}

// Rows that Summary refuses are refused here too, with the same words.
func TestTalliesRefuseWhatDoesNotFit(t *testing.T) {
	tests := map[string]struct {
		change func([]RunRow) []RunRow
		plan   func(*Manifest)
		want   string
	}{
		"a run twice":         {func(r []RunRow) []RunRow { return append(r, r[0]) }, func(m *Manifest) { m.Plan.Runs = 0 }, "twice"},
		"more runs than plan": {nil, func(m *Manifest) { m.Plan.Runs-- }, "different captures"},
		"k beyond the plan":   {func(r []RunRow) []RunRow { r[9].K = 5; return r }, nil, "different captures"},
		"k below 0":           {func(r []RunRow) []RunRow { r[9].K = -1; return r }, nil, "numbered from 0"},
		"on no side":          {func(r []RunRow) []RunRow { r[9].Side = "left"; return r }, nil, "side"},
		"counts as nothing":   {func(r []RunRow) []RunRow { r[9].Counts = "maybe"; return r }, nil, "counts"},
		"a run twice, apart":  {func(r []RunRow) []RunRow { r[9].CaseID = r[0].CaseID; r[9].Side, r[9].K = r[0].Side, r[0].K; return r }, nil, "twice"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			runs := append(pairOf("a", "+++++", "....."), pairOf("b", "+++++", ".....")...)
			if tt.change != nil {
				runs = tt.change(runs)
			}
			c := captureOf(t, runs, tt.plan)
			_, err := c.Tallies(Class, Charge)
			var damaged *DamagedError
			require.ErrorAs(t, err, &damaged)
			assert.ErrorContains(t, err, tt.want)
			_, again := c.Summary(Class, Charge)
			assert.EqualError(t, again, err.Error())
		})
	}
	same := append(pairOf("a", "+++++", "....."), pairOf("a", "+++++", ".....")...)
	for i := range same[10:] {
		same[10+i].Slice = "another"
	}
	got, err := captureOf(t, same, nil).Tallies(Class, Charge)
	require.NoError(t, err, "names are unique within a slice only")
	assert.Len(t, got.Cases, 2)
}

// Every column that tallies read is a column of runs.parquet.
func TestEntryColumnsExist(t *testing.T) {
	schema := parquet.SchemaOf(new(RunRow))
	for _, c := range entryColumns(Policies()) {
		leaf, ok := schema.Lookup(c.name)
		assert.True(t, ok, c.name)
		assert.Zero(t, leaf.MaxRepetitionLevel, c.name)
	}
	for at, p := range Policies() {
		assert.Equal(t, at, p.place())
		assert.Len(t, entryColumns([]Policy{p, p}), len(entryColumns(nil))+2, "of one policy")
	}
}

func TestDraws(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	var d draws
	seen := map[int64]bool{}
	for range 3000 {
		k := rng.Int64N(2000)
		if rng.IntN(20) == 0 {
			k += 90_000
		}
		require.Equal(t, !seen[k], d.add(k), k)
		seen[k] = true
	}
}
