package report

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/youden-bench/youden/measurements/compare"
)

func plannedPower() *compare.Power {
	some := 16
	return &compare.Power{
		Simulated: true, Cases: 50, OldK: 20, NewK: 5, Detectable: ptr(.123), Removable: ptr(1.0),
		Churns: []compare.PowerChurn{{Churn: 0, Detectable: ptr(.121), RuledOut: ptr(.08), Removable: ptr(1.0)}, {Churn: .025, Detectable: nil, RuledOut: ptr(.1), Removable: ptr(.6)}},
		Drops: []compare.PowerDrop{
			{Drop: .05, Found: ptr(.2), Why: "FAIL takes a measured drop of .05"},
			{Drop: .075, Found: ptr(.6), Cases: &some, Runs: &some, Both: &some},
		},
		Families: []compare.PowerFamily{{Slice: "s", Family: "a", Cases: 1}, {Slice: "s", Family: "|b", Cases: 6, Detectable: ptr(.501)}, {Slice: "s", Family: "c", Cases: 3}},
		Warnings: []string{"said"},
	}
}

func TestPower(t *testing.T) {
	text, err := Power(plannedPower(), Table, 0)
	require.NoError(t, err)
	for _, want := range []string{
		"SIMULATED", "50 pairs, OLD at K 20 against a NEW at K 5: an overall drop of .13 or more", "OLD stays at 20",
		" .00         .13        .08       1.00\n", ".025        none        .10        .60\n", "none will do", ".075     .60            16",
		"a drop of .05: FAIL takes", "|b          6         .51\n", "c           3        none\n", "not tested: 1 family;", "said\n", "compare takes it from both captures",
	} {
		assert.Contains(t, text, want)
	}
	assert.NotContains(t, text, "s      a ")

	unknown, err := Power(&compare.Power{Cases: 1, OldK: 1, NewK: 1, Drops: []compare.PowerDrop{{Drop: .1}}, Churns: []compare.PowerChurn{{}}, Warnings: []string{"too few"}}, Table, 0)
	require.NoError(t, err)
	assert.Contains(t, unknown, "1 pair, OLD at K 1 against a NEW at K 1: what could be found is not known\n")
	assert.NotContains(t, unknown, "churn", "no table of what is not known")
}

func measuredNoise() *compare.Noise {
	return &compare.Noise{
		Simulated: true, K: 5, Half: 2, Splits: 30, Verdicts: map[compare.Verdict]int{compare.Fail: 1, compare.Pass: 29}, FalseFail: ptr(1. / 30), FalseLo: ptr(.0008), FalseHi: ptr(.172),
		Families: []compare.NoiseRow{{Slice: "s", Family: "|a", Cases: 9, Floor: 7, FloorN: 9, Disagreement: ptr(.18)}, {Slice: "s", Family: "b", Cases: 2}},
		Gates: &compare.GateNoise{FalseFail: ptr(.2), Together: ptr(.21), Gates: []compare.GateNoiseRow{
			{Name: "finds", Asked: "min = 0.5", Whole: compare.GatePass, Outcomes: map[compare.GateOutcome]int{compare.GateFail: 6}, FalseFail: ptr(.2)},
			{Name: "never", Asked: "min = 0.9", Whole: compare.GateFail, Why: "it does not hold on all runs either"},
		}},
		Warnings: []string{"said"},
	}
}

func TestNoise(t *testing.T) {
	text, err := Noise(measuredNoise(), Table, 0)
	require.NoError(t, err)
	for _, want := range []string{
		"SIMULATED", "s      |a          9    7/9           .18\n", "s      b           2    n/a  ", "A/A over 30 splits into halves of 2 runs: FAIL 1, WARN 0, INCONCLUSIVE 0, PASS 29",
		"false FAILs: 1 of 30, a share of .03, 95 % interval at best [.01, .17]: splits share runs", "finds  min = 0.5", "6/30", `gate "never" raises no false alarm`, "which is what CI would see, .21", "said\n",
	} {
		assert.Contains(t, text, want)
	}
}

// Both fold, both are safe in Markdown, and both say which formats they have.
func TestPagesForPeople(t *testing.T) {
	for name, page := range map[string]func(Format, int) (string, error){
		"power": func(f Format, width int) (string, error) { return Power(plannedPower(), f, width) },
		"noise": func(f Format, width int) (string, error) { return Noise(measuredNoise(), f, width) },
	} {
		t.Run(name, func(t *testing.T) {
			narrow, err := page(Table, 60)
			require.NoError(t, err)
			for _, line := range strings.Split(narrow, "\n") {
				assert.LessOrEqual(t, utf8.RuneCountInString(line), 60, line)
			}
			markdown, err := page(Markdown, 60)
			require.NoError(t, err)
			assert.Contains(t, markdown, `| s | \|`)
			assert.Contains(t, markdown, "\n| --- ")
			assert.Contains(t, markdown, "\n\n- ", "a list after a table needs an empty line")
			_, err = page(CSV, 0)
			assert.ErrorContains(t, err, "use table, markdown or json")
		})
	}
}
