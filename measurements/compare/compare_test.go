package compare

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/youden-bench/youden/corpus"
	"github.com/youden-bench/youden/measurements"
)

func ran(side corpus.SideName, k, positive int) *measurements.Tally {
	return (&measurements.Counts{K: k, Counted: k, Positive: positive, Trajectories: 1}).Restore(side)
}

// measured has families of n cases, each with these hits and leaks of k runs.
func measured(k int, families map[string][][2]int) *Subject {
	s := &Subject{Name: "x", Identity: Identity{K: k, Grade: "E3", Policy: measurements.Class, View: measurements.Charge,
		Scorer: measurements.DefaultRules().Record(), Parameters: map[string]any{"temperature": 0.0}}}
	for _, name := range slices.Sorted(maps.Keys(families)) {
		for i, counts := range families[name] {
			s.Cases = append(s.Cases, measurements.CaseScore{
				ID: fmt.Sprintf("%s-%d", name, i), Hash: fmt.Sprintf("hash-%s-%d", name, i), Slice: "planted", Family: name, IsPair: true,
				Vulnerable: ran(corpus.Vulnerable, k, counts[0]), Fixed: ran(corpus.Fixed, k, counts[1]),
			})
		}
	}
	return s
}

func times(n int, counts ...[2]int) [][2]int {
	var list [][2]int
	for i := range n {
		list = append(list, counts[i%len(counts)])
	}
	return list
}

// steady is a corpus whose cases differ, as they do.
func steady() map[string][][2]int {
	return map[string][][2]int{
		"crypto": times(6, [2]int{5, 0}, [2]int{3, 1}), "injection": times(9, [2]int{4, 0}, [2]int{5, 1}, [2]int{2, 0}),
		"path": times(9, [2]int{3, 2}, [2]int{5, 0}, [2]int{4, 1}), "ssrf": times(2, [2]int{5, 0}),
	}
}

func TestSameCaptureIsPass(t *testing.T) {
	c := Compare(measured(5, steady()), measured(5, steady()), Options{})
	assert.Equal(t, Pass, c.Verdict)
	assert.InDelta(t, 0, *c.Slices[0].Delta, 0)
	assert.Empty(t, c.Cases)
	for _, r := range c.Families {
		if r.Family == "ssrf" {
			assert.Equal(t, Untested, r.Verdict)
			continue
		}
		assert.Equal(t, Pass, r.Verdict, r.Family)
	}
}

func TestOneFamilyDown(t *testing.T) {
	after := steady()
	after["injection"] = times(9, [2]int{0, 0})
	c := Compare(measured(5, steady()), measured(5, after), Options{})
	assert.Equal(t, Fail, c.Verdict)
	for _, r := range c.Families {
		assert.Equal(t, r.Family == "injection", r.Verdict == Fail, r.Family)
	}
	assert.Len(t, c.Cases, 9)
	assert.Contains(t, fmt.Sprint(c.Regressions), "injection fell by")
}

// Five cases from 5/5 to 0/5 and nothing else are worth a warning at least.
func TestFiveCasesCollapse(t *testing.T) {
	before, after := steady(), steady()
	for i, name := range []string{"crypto", "injection", "injection", "path", "path"} {
		before[name][i] = [2]int{5, 0}
		after[name][i] = [2]int{0, 0}
	}
	c := Compare(measured(5, before), measured(5, after), Options{})
	assert.Contains(t, []Verdict{Warn, Fail}, c.Verdict)
	why := c.Regressions[len(c.Regressions)-1]
	assert.Equal(t, "5 sides went from all runs correct to none: crypto-0, injection-1, injection-2 and 2 more", why)
	assert.Contains(t, c.Warned, why)
}

// A warning beside a failure is marked as one.
func TestWarningsBesideAFailure(t *testing.T) {
	after := steady()
	after["injection"] = times(9, [2]int{0, 0})
	c := Compare(measured(5, steady()), measured(5, after), Options{})
	require.Equal(t, Fail, c.Verdict)
	assert.NotEmpty(t, c.Warned)
	assert.Subset(t, c.Regressions, c.Warned)
	assert.NotEqual(t, c.Regressions, c.Warned)
	for _, text := range c.Warned {
		assert.NotContains(t, text, "injection fell by")
	}
}

func TestDifferencesInWords(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*Subject)
		vary   Vary
		want   []string
	}{
		"a model":      {func(s *Subject) { s.Endpoint.Model = "m2" }, "", []string{"model: m and m2; where that is what is compared, say --vary model"}},
		"no model":     {func(s *Subject) { s.Endpoint.Model = "" }, "", []string{"model: m and none; where that is what is compared, say --vary model"}},
		"both":         {func(s *Subject) { s.Endpoint.Model, s.Detector.Program = "m2", "p" }, "", []string{"model: m and m2", "detector program: none and p"}},
		"as was said":  {func(s *Subject) { s.Endpoint.Model = "m2" }, VaryModel, []string{"model: m and m2"}},
		"a parameter":  {func(s *Subject) { s.Parameters = nil }, VaryParams, []string{"parameter temperature: 0 and not sent"}},
		"runs of NEW":  {func(s *Subject) { s.K = 7 }, "", []string{"K: 5 and 7 runs a side"}},
		"not anything": {func(*Subject) {}, "", nil},
	} {
		t.Run(name, func(t *testing.T) {
			before, after := measured(5, steady()), measured(5, steady())
			before.Endpoint.Model, after.Endpoint.Model = "m", "m"
			c.change(after)
			_, warnings := incomparable(before.Identity, after.Identity, c.vary)
			assert.Equal(t, c.want, warnings)
		})
	}
}

func TestMissesCountTies(t *testing.T) {
	pairs := []Pair{pairOf(2, 2, 1, 0, 2, 0), pairOf(4, 5, 2, 0, 2, 0), pairOf(5, 5, 3, 0, 2, 0)}
	m := misses(pairs)
	assert.Equal(t, Misses{Both: 1, OldOnly: 1, NewOnly: 1, Ties: 2}, m)
}

func TestBaselinesHaveNames(t *testing.T) {
	t.Chdir(t.TempDir())
	raw, err := Baseline("main", measured(5, steady()))
	require.NoError(t, err)
	require.NoError(t, os.MkdirAll(Folder, 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(Folder, "main.json"), raw, 0o600))
	s, err := Load("main", "", "")
	require.NoError(t, err)
	assert.Equal(t, filepath.Join(Folder, "main.json"), s.Name)
	for _, name := range []string{"", ".", ".main", "-f", "../main", "a/b", "a b", "a\n", "a\x1b[2J", "\u202emain"} {
		_, err = Path(name)
		require.Error(t, err, "%q", name)
	}
	for _, name := range []string{"nightly", "../main", "", "a/b"} {
		_, err = Load(name, "", "")
		require.Error(t, err, name)
	}
	_, err = Load("nightly", "", "")
	assert.ErrorContains(t, err, filepath.Join(Folder, "nightly.json"))
	for _, name := range []string{"main", filepath.Join(Folder, "main.json")} {
		_, err = MeasureNoise(name, "", "", 0, Options{})
		assert.ErrorContains(t, err, "baselines/main.json is a file")
	}
	require.NoError(t, os.WriteFile("main", []byte("{"), 0o600))
	_, err = Load("main", "", "")
	assert.Error(t, err, "a file of that name is what is meant")
}

func TestDegenerateDetectorsFail(t *testing.T) {
	for name, counts := range map[string][2]int{"always": {5, 5}, "never": {0, 0}} {
		for old, families := range map[string]map[string][][2]int{
			"a good one": steady(), "a null one": {"path": times(12, [2]int{1, 1}, [2]int{0, 1}, [2]int{1, 0})},
		} {
			t.Run(name+" against "+old, func(t *testing.T) {
				after := map[string][][2]int{}
				for f, list := range families {
					after[f] = times(len(list), counts)
				}
				assert.Equal(t, Fail, Compare(measured(5, families), measured(5, after), Options{}).Verdict)
			})
		}
	}
}

// However few the cases, a detector that does not look fails, where OLD's would
// hardly ever answer so; one or two cases are no verdict.
func TestDegenerateDetectorsFailOnFewCases(t *testing.T) {
	for name, counts := range map[string][2]int{"always": {5, 5}, "never": {0, 0}} {
		for n, want := range map[int]Verdict{2: Inconclusive, 3: Fail, 5: Fail} {
			for old, was := range map[string][2]int{"a good one": {5, 0}, "a null one": {3, 2}} {
				if n == 2 && old == "a null one" {
					continue // nothing fell
				}
				before := measured(5, map[string][][2]int{"path": times(n, was)})
				after := measured(5, map[string][][2]int{"path": times(n, counts)})
				got := Compare(before, after, Options{}).Verdict
				if n == 2 {
					assert.NotEqual(t, Fail, got, "%s against %s, n %d", name, old, n)
					continue
				}
				assert.Equal(t, want, got, "%s against %s, n %d", name, old, n)
			}
		}
	}
	// A weak OLD may well find nothing another time.
	weak := measured(5, map[string][][2]int{"path": times(4, [2]int{1, 0}, [2]int{0, 0})})
	assert.NotEqual(t, Fail, Compare(weak, measured(5, map[string][][2]int{"path": times(4, [2]int{0, 0})}), Options{}).Verdict)
}

// What failed is not called a flag.
func TestDegenerateDetectorsThatFailedAreNotSaidToFlag(t *testing.T) {
	after := measured(5, steady())
	for i := range after.Cases {
		after.Cases[i].Vulnerable = &measurements.Tally{Side: corpus.Vulnerable, K: 5, Charged: 5, Counted: 5}
		after.Cases[i].Fixed = &measurements.Tally{Side: corpus.Fixed, K: 5, Charged: 5, Counted: 5, Positive: 5}
	}
	c := Compare(measured(5, steady()), after, Options{})
	assert.Equal(t, Fail, c.Verdict)
	assert.Contains(t, fmt.Sprint(c.Regressions), "never answers")
	after.Cases[0].Fixed = ran(corpus.Fixed, 5, 5)
	assert.Contains(t, fmt.Sprint(Compare(measured(5, steady()), after, Options{}).Regressions), "flags the fixed side or failed")
}

// A slice that does not decide neither fails nor saves a comparison.
func TestSlicesThatDecideNothingDecideNothing(t *testing.T) {
	inSlice := func(s *Subject, name string) *Subject {
		for i := range s.Cases {
			s.Cases[i].Slice, s.Cases[i].Hash = name, name+s.Cases[i].Hash
		}
		return s
	}
	both := func(a, b *Subject) *Subject {
		a.Cases = append(a.Cases, b.Cases...)
		return a
	}
	good := func() *Subject { return measured(5, steady()) }
	silent := func() *Subject {
		s := good()
		for i := range s.Cases {
			s.Cases[i].Vulnerable, s.Cases[i].Fixed = ran(corpus.Vulnerable, 5, 0), ran(corpus.Fixed, 5, 0)
		}
		return s
	}
	nothing := silent()
	nothing.Cases = nothing.Cases[:0]
	for name, tt := range map[string]struct {
		old, updated *Subject
		want         Verdict
	}{
		"the other slice says nothing":    {both(inSlice(good(), "a"), inSlice(good(), "b")), both(inSlice(good(), "a"), inSlice(silent(), "b")), Pass},
		"the deciding slice says nothing": {both(inSlice(good(), "a"), inSlice(good(), "b")), both(inSlice(silent(), "a"), inSlice(good(), "b")), Fail},
	} {
		c := Compare(tt.old, tt.updated, Options{Slices: []string{"a"}})
		assert.Equal(t, tt.want, c.Verdict, "%s: %v", name, c.Regressions)
	}
	c := Compare(both(inSlice(silent(), "a"), inSlice(good(), "b")), both(inSlice(silent(), "a"), inSlice(silent(), "b")), Options{Slices: []string{"a"}})
	assert.Equal(t, Pass, c.Verdict, c.Regressions)
}

func TestIncomparable(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*Subject)
		vary   Vary
		want   Verdict
	}{
		{"scorer", func(s *Subject) { s.Scorer.Hash = "other" }, "", Incomparable},
		{"taxonomy", func(s *Subject) { s.Scorer.Taxonomy = "other" }, "", Incomparable},
		{"policy", func(s *Subject) { s.Policy = measurements.Strict }, "", Incomparable},
		{"view", func(s *Subject) { s.View = measurements.Exclude }, "", Incomparable},
		{"simulated", func(s *Subject) { s.Simulated = true }, "", Incomparable},
		{"targeted", func(s *Subject) { s.Targeted = true }, "", Incomparable},
		{"a parameter", func(s *Subject) { s.Parameters = map[string]any{"temperature": 1.0} }, "", Incomparable},
		{"a parameter that is not sent", func(s *Subject) { s.Parameters = nil }, "", Incomparable},
		{"a parameter that may vary", func(s *Subject) { s.Parameters = nil }, VaryParams, Pass},
		{"model", func(s *Subject) { s.Endpoint.Model = "m2" }, "", Pass},
		{"model, of detectors", func(s *Subject) { s.Endpoint.Model = "m2" }, VaryDetector, Incomparable},
		{"detector", func(s *Subject) { s.Detector.Hash = "d2" }, "", Pass},
		{"detector, of detectors", func(s *Subject) { s.Detector.Hash = "d2" }, VaryDetector, Pass},
		{"another K", func(s *Subject) { s.K = 20 }, "", Pass},
		{"no common case", func(s *Subject) { s.Cases = nil }, "", Incomparable},
	} {
		t.Run(c.name, func(t *testing.T) {
			after := measured(5, steady())
			c.change(after)
			got := Compare(measured(5, steady()), after, Options{Vary: c.vary})
			assert.Equal(t, c.want, got.Verdict, got.Reasons)
			if c.want == Incomparable {
				assert.NotEmpty(t, got.Reasons)
				assert.Empty(t, got.Slices, "no number of what cannot be compared")
			} else {
				assert.NotEmpty(t, got.Warnings)
			}
		})
	}
}

func TestOnlyCommonCasesAreAveraged(t *testing.T) {
	before, after := measured(5, steady()), measured(5, steady())
	after.Cases[0].Hash = "changed"
	after.Cases = append(after.Cases, measurements.CaseScore{ID: "new", Hash: "new", Slice: "planted", Family: "path", IsPair: true,
		Vulnerable: ran(corpus.Vulnerable, 5, 0), Fixed: ran(corpus.Fixed, 5, 5)})
	after.Cases[1].Vulnerable = (&measurements.Counts{K: 5, Counted: 1}).Restore(corpus.Vulnerable)
	before.Cases = before.Cases[:len(before.Cases)-1]
	c := Compare(before, after, Options{})
	assert.Equal(t, []string{"new", "ssrf-1"}, c.Added)
	assert.Equal(t, []string{before.Cases[0].ID}, c.Changed)
	assert.Equal(t, []string{before.Cases[1].ID}, c.Unscored)
	assert.Empty(t, c.Removed)
	assert.Equal(t, len(before.Cases)-2, c.Slices[0].N)
}

// Runs that are missing and could turn the verdict make it inconclusive.
func TestMissingRunsThatCouldChangeTheVerdict(t *testing.T) {
	after := measured(5, steady())
	for i := range after.Cases {
		if after.Cases[i].Family == "injection" {
			after.Cases[i].Vulnerable = (&measurements.Counts{K: 5, Counted: 3, Positive: 3, Trajectories: 1}).Restore(corpus.Vulnerable)
			after.Cases[i].Fixed = (&measurements.Counts{K: 5, Counted: 3, Trajectories: 1}).Restore(corpus.Fixed)
		}
		if after.Cases[i].Family == "path" {
			after.Cases[i].Vulnerable = (&measurements.Counts{K: 5, Counted: 3, Positive: 3, Trajectories: 1}).Restore(corpus.Vulnerable)
		}
	}
	c := Compare(measured(5, steady()), after, Options{})
	assert.Equal(t, Inconclusive, c.Verdict)
	assert.Contains(t, fmt.Sprint(c.Reasons), "missing: ")
}

// Whole cases that NEW lost could be what the rest is not; those that neither scored
// say nothing of a change, and a few runs here and there no more than a warning.
func TestLostCasesLeaveNoPass(t *testing.T) {
	lose := func(s *Subject, cases, runs int) *Subject {
		for i := range cases {
			at := i * len(s.Cases) / cases
			left := max(0, 5-runs)
			s.Cases[at].Vulnerable = (&measurements.Counts{K: 5, Counted: left, Positive: min(left, s.Cases[at].Vulnerable.Positive), Trajectories: 1}).Restore(corpus.Vulnerable)
		}
		return s
	}
	many := map[string][][2]int{
		"crypto": times(15, [2]int{5, 0}, [2]int{4, 0}, [2]int{5, 1}), "path": times(15, [2]int{5, 0}, [2]int{5, 0}, [2]int{3, 0}),
		"ssrf": times(15, [2]int{5, 0}, [2]int{2, 1}, [2]int{5, 0}),
	}
	good := func() *Subject { return measured(5, many) }
	for _, tt := range []struct {
		name         string
		old, updated *Subject
		mode         Mode
		want         Verdict
	}{
		{"nothing is lost", good(), good(), Regression, Pass},
		{"cases of NEW", good(), lose(good(), 6, 5), Regression, Inconclusive},
		{"the same cases of both", lose(good(), 6, 5), lose(good(), 6, 5), Regression, Pass},
		{"a few runs", good(), lose(good(), 3, 1), Regression, Pass},
		{"many of few cases", measured(5, map[string][][2]int{"path": times(5, [2]int{5, 0}, [2]int{4, 0})}),
			lose(measured(5, map[string][][2]int{"path": times(5, [2]int{5, 0}, [2]int{4, 0})}), 4, 5), Regression, Inconclusive},
	} {
		c := Compare(tt.old, tt.updated, Options{Mode: tt.mode})
		assert.Equal(t, tt.want, c.Verdict, "%s: %v %v", tt.name, c.Reasons, c.Regressions)
		if tt.want == Inconclusive {
			assert.Contains(t, fmt.Sprint(c.Reasons), "missing: ", tt.name)
		}
	}
}

func TestBaselineKeepsTheComparison(t *testing.T) {
	before, after := measured(5, steady()), measured(5, steady())
	after.Cases[3].Vulnerable = ran(corpus.Vulnerable, 5, 0)
	raw, err := Baseline("main", before)
	require.NoError(t, err)
	file := filepath.Join(t.TempDir(), "main.json")
	require.NoError(t, os.WriteFile(file, raw, 0o600))
	kept, err := Load(file, "", "")
	require.NoError(t, err)
	want, got := Compare(before, after, Options{}), Compare(kept, after, Options{})
	assert.Equal(t, want.Slices, got.Slices)
	assert.Equal(t, want.Families, got.Families)
	assert.Equal(t, want.Verdict, got.Verdict)
	again, err := Baseline("main", kept)
	require.NoError(t, err)
	assert.Equal(t, string(raw), string(again), "a baseline of a baseline is the same file")
}

func TestSmokeIsNoBaseline(t *testing.T) {
	_, err := Baseline("main", measured(2, map[string][][2]int{"path": times(3, [2]int{2, 0})}))
	assert.ErrorContains(t, err, "smoke")
}

func TestBaselineRefusesWhatCannotBe(t *testing.T) {
	for name, text := range map[string]string{
		"no JSON":       "{",
		"schema":        `{"schema":"youden.baseline/9"}`,
		"unknown key":   `{"schema":"youden.baseline/1","colour":1}`,
		"no hash":       `{"schema":"youden.baseline/1","cases":[{"id":"a","vulnerable":{"k":5,"counted":5,"positive":1}}]}`,
		"twice":         `{"schema":"youden.baseline/1","cases":[{"hash":"a","vulnerable":{"k":5,"counted":5,"positive":1}},{"hash":"a","vulnerable":{"k":5,"counted":5,"positive":1}}]}`,
		"counts":        `{"schema":"youden.baseline/1","cases":[{"hash":"a","vulnerable":{"k":5,"counted":6,"positive":1}}]}`,
		"half a pair":   `{"schema":"youden.baseline/1","cases":[{"hash":"a","pair":true,"vulnerable":{"k":5,"counted":5,"positive":1}}]}`,
		"rising floors": `{"schema":"youden.baseline/1","cases":[{"hash":"a","vulnerable":{"k":5,"counted":5,"positive":1,"at_least":[1,2,0,0]}}]}`,
	} {
		t.Run(name, func(t *testing.T) {
			_, err := readBaseline("b.json", []byte(text))
			var bad *LoadError
			require.ErrorAs(t, err, &bad)
			assert.NotEmpty(t, bad.Remedy)
		})
	}
}

func FuzzBaseline(f *testing.F) {
	raw, err := Baseline("main", measured(5, steady()))
	require.NoError(f, err)
	f.Add(raw)
	f.Add([]byte(`{"schema":"youden.baseline/1","cases":[]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := readBaseline("b.json", data)
		if err != nil {
			return
		}
		if c := Compare(s, s, Options{}); len(s.Cases) > 0 && c.Verdict == Fail {
			t.Fatal("a baseline fails against itself")
		}
	})
}

// Of cases with one side the difference of J is known, and its interval is not
// that of the mean difference of cases.
func TestSingleSidesHaveNoPairedInterval(t *testing.T) {
	lone := func() *Subject {
		s := measured(5, map[string][][2]int{"path": times(12, [2]int{4, 1}, [2]int{5, 0})})
		for i := range s.Cases {
			s.Cases[i].IsPair = false
			if i%2 == 0 {
				s.Cases[i].Vulnerable = nil
			} else {
				s.Cases[i].Fixed = nil
			}
		}
		return s
	}
	after := lone()
	after.Cases[1].Vulnerable = ran(corpus.Vulnerable, 5, 0)
	c := Compare(lone(), after, Options{})
	assert.InDelta(t, -1.0/6, *c.Slices[0].Delta, 1e-9, "recall over six cases")
	assert.Nil(t, c.Slices[0].Lo)
	assert.Nil(t, c.Families[0].Lo)
}
