package report

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/youden-bench/youden/measurements"
	"github.com/youden-bench/youden/measurements/compare"
)

func tableOf(t *testing.T, c *compare.Comparison, width int) string {
	t.Helper()
	out, err := Comparison(c, Table, width)
	require.NoError(t, err)
	return out
}

// Where nothing changed there is no test to explain.
func TestAnUnchangedComparisonIsShort(t *testing.T) {
	short, long := tableOf(t, same(), 0), tableOf(t, passing(), 0)
	assert.Less(t, len(strings.Split(short, "\n")), len(strings.Split(long, "\n"))-10)
	for _, what := range []string{"p general", "p here", "; moved:", "d recall", "limits:", "By severity floor"} {
		assert.Contains(t, long, what)
		assert.NotContains(t, short, what)
	}
	assert.Contains(t, short, "80 % power")
}

// The limits that are printed are those that judged, also when they are divided.
func TestLimitsStandBesideThePValues(t *testing.T) {
	assert.Contains(t, tableOf(t, passing(), 0), "overall FAIL p general < .03 with a drop of J of .05, or p < .005 with one of recall or silence of .20; "+
		"family FAIL p general <= .0125 and p here < .025 with a drop of .10; WARN p here < .0125, of a family with a drop of .10\n")
	assert.Contains(t, tableOf(t, failing(), 0), "overall FAIL p general < .015 ")
	assert.Contains(t, tableOf(t, failing(), 0), "divided among 2 slices")
	c := passing()
	c.Sequential = &measurements.Sequential{Looks: []measurements.Look{{K: 2}}}
	assert.Contains(t, tableOf(t, c, 0), "overall FAIL p general < .006 ", "of the first look")
	for v, want := range map[float64]string{.03: ".03", .2: ".20", .0125 / 3: ".00417", 1: "1", .25: ".25"} {
		assert.Equal(t, want, limit(v))
	}
}

func TestWarningsStandApartFromFailures(t *testing.T) {
	out := tableOf(t, failing(), 0)
	failed, warned, found := strings.Cut(out[strings.Index(out, "\nRegressions\n"):], "\nWorse, and not enough to fail\n")
	require.True(t, found)
	assert.NotContains(t, failed, "ssrf is worse")
	assert.Contains(t, warned, "ssrf is worse")
	assert.NotContains(t, tableOf(t, warning(), 0), "\nRegressions\n")
}

func TestChangedCasesAreCounted(t *testing.T) {
	of := func(d float64, hits, leaks int, votes ...string) compare.CaseChange {
		return compare.CaseChange{D: d, OldHits: compare.Count{Positive: 4, Counted: 4}, NewHits: compare.Count{Positive: hits, Counted: 4},
			OldLeaks: compare.Count{Counted: 4}, NewLeaks: compare.Count{Positive: leaks, Counted: 4}, OldVote: votes[0], NewVote: votes[1]}
	}
	c := passing()
	c.Cases = []compare.CaseChange{of(-1, 0, 0, "correct", "missed"), of(-.5, 2, 0, "correct", "missed"), of(.25, 4, 0, "correct", "correct"), of(0, 3, 1, "correct", "correct")}
	assert.Equal(t, "Cases that changed: 4 (2 fell, 1 rose, 1 traded hits for leaks, 2 votes flipped, 1 by a tie, which counts against the detector)", changedTitle(c))
	c.Misses.Ties = 1
	assert.Contains(t, missesLine(c), "; 1 tie counted as missed")
	assert.Contains(t, tableOf(t, c, 0), "vote")
	c.New.K = ptr(2)
	assert.Equal(t, "Cases that changed: 4 (2 fell, 1 rose, 1 traded hits for leaks)", changedTitle(c))
	assert.Equal(t, "correlated misses: n/a, votes take 3 runs a side", missesLine(c))
	assert.NotContains(t, tableOf(t, c, 0), "vote: what")
}

// Small families are explained once, with what would help.
func TestUntestedFamiliesAreExplainedOnce(t *testing.T) {
	c := passing()
	c.New.Split, c.Old.Split = "all", "all"
	assert.Equal(t, "fewer than 3 cases in 1 of 4 families: shown, not tested; more cases of your own would help", untestedLine(c))
	c.Families[0].Verdict = compare.Pass
	assert.Empty(t, untestedLine(c))
	assert.Equal(t, 1, strings.Count(tableOf(t, passing(), 0), "not tested"))
}

// On a narrow terminal OLD and NEW stay side by side.
func TestFactsStayInOneTable(t *testing.T) {
	for _, c := range comparisons {
		out := tableOf(t, c.of(), 80)
		table := out[strings.Index(out, "What was compared\n"):]
		table, _, _ = strings.Cut(table, "\n\n")
		assert.Regexp(t, `what +OLD +NEW\n`, table, c.name)
		for _, line := range strings.Split(table, "\n") {
			assert.LessOrEqual(t, len([]rune(line)), 80, c.name)
		}
	}
	named := passing()
	named.Old.Name, named.New.Name = "captures/"+named.Old.ID, "captures/"+named.New.ID
	assert.Equal(t, 2, strings.Count(tableOf(t, named, 80), named.New.ID), "once of each")
	assert.Equal(t, []string{"ab cd", "efghi", "j"}, breakText("ab cd efghij", 5))
	assert.Equal(t, []string{""}, breakText("", 5))
}

// A capture that lost many runs is not merely complete.
func TestCompleteSaysWhatWasLost(t *testing.T) {
	s := &measurements.Summary{Status: measurements.Complete}
	assert.Empty(t, lossy(s))
	s.Totals.ErrorRate, s.Totals.Errors, s.Totals.Dispatched = ptr(.05), 5, 100
	assert.Empty(t, lossy(s))
	s.Totals.ErrorRate, s.Totals.Errors = ptr(.44), 44
	assert.Equal(t, " with 44/100 of its runs lost to endpoint or network", lossy(s))
}

func TestStandingCountsWhatScores(t *testing.T) {
	s := &compare.Subject{Name: "baselines/" + hostile, Identity: compare.Identity{Simulated: true, K: 5, Grade: "E2"}}
	side := func(counted int) *measurements.Tally {
		return &measurements.Tally{K: 5, Counted: counted, Positive: counted}
	}
	for i := range 50 {
		counted := 5
		if i >= 22 {
			counted = 0
		}
		s.Cases = append(s.Cases, measurements.CaseScore{IsPair: true, Family: "path", Vulnerable: side(counted), Fixed: side(counted)})
	}
	assert.Equal(t, "22 of 50 cases score", Scored(s))
	out := Standing(s, 80)
	assert.Contains(t, out, ": 22 of 50 cases score\n")
	assert.Contains(t, out, "SIMULATED")
	assert.NotContains(t, out, "\x1b")
	for _, line := range strings.Split(out, "\n") {
		assert.LessOrEqual(t, len([]rune(line)), 80)
	}
	s.Cases = s.Cases[:1]
	assert.Equal(t, "1 case", Scored(s))
}
