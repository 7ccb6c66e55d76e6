package kstrl

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// of makes a baseline from lines "role id category detected total"; "-" is no
// category.
func of(t *testing.T, lines ...string) *Baseline {
	t.Helper()
	b := &Baseline{Model: "m"}
	for _, line := range lines {
		var f Fixture
		var category string
		_, err := fmt.Sscan(line, &f.Role, &f.ID, &category, &f.RunsDetected, &f.RunsTotal)
		require.NoError(t, err, line)
		if category != "-" {
			f.Category = &category
		}
		b.Fixtures = append(b.Fixtures, f)
	}
	return b
}

// all makes n fixtures of one role, the last of which detected as given.
func all(t *testing.T, role string, n int, last string) *Baseline {
	t.Helper()
	var lines []string
	for i := range n - 1 {
		lines = append(lines, fmt.Sprintf("%s %d - 3 3", role, i))
	}
	return of(t, append(lines, fmt.Sprintf("%s %d - %s", role, n-1, last))...)
}

func TestCompareRules(t *testing.T) {
	for name, c := range map[string]struct {
		old, new *Baseline
		want     []string // rules in order, then newly missed after "!"
	}{
		"one run of a third fixture":  {all(t, "architect", 3, "3 3"), all(t, "architect", 3, "2 3"), nil},
		"one fixture of three":        {all(t, "architect", 3, "3 3"), all(t, "architect", 3, "0 3"), []string{"role_drop architect", "!architect/2"}},
		"one of six security":         {all(t, "security", 6, "3 3"), all(t, "security", 6, "0 3"), []string{"role_drop security", "!security/5"}},
		"one of seven security":       {all(t, "security", 7, "3 3"), all(t, "security", 7, "0 3"), []string{"!security/6"}},
		"one of four reviewer":        {all(t, "reviewer", 4, "3 3"), all(t, "reviewer", 4, "0 3"), []string{"role_drop reviewer", "!reviewer/3"}},
		"hard is gated":               {all(t, "security_hard", 1, "3 3"), all(t, "security_hard", 1, "5 6"), []string{"role_drop security_hard"}},
		"at the floor of security":    {all(t, "security", 1, "4 5"), all(t, "security", 1, "4 5"), nil},
		"at the floor of reviewer":    {all(t, "reviewer", 1, "13 20"), all(t, "reviewer", 1, "13 20"), nil},
		"under the floor of reviewer": {all(t, "reviewer", 1, "12 20"), all(t, "reviewer", 1, "12 20"), []string{"role_floor reviewer"}},
		"at another floor":            {all(t, "x", 1, "1 2"), all(t, "x", 1, "1 2"), nil},
		"float noise 1.00 to 0.85":    {all(t, "x", 1, "20 20"), all(t, "x", 1, "17 20"), []string{"role_drop x"}},
		"no float noise .95 to .80":   {all(t, "x", 1, "19 20"), all(t, "x", 1, "16 20"), nil},
		"category 1.0 to .6":          {of(t, "x a c 5 5", "x b d 5 5", "x e d 5 5"), of(t, "x a c 3 5", "x b d 5 5", "x e d 5 5"), nil},
		"category 1.0 to .5": {of(t, "x a c 4 4", "x b d 4 4", "x e d 4 4", "x f d 4 4"), of(t, "x a c 2 4", "x b d 4 4", "x e d 4 4", "x f d 4 4"),
			[]string{"category_drop x c"}},
		"floor before drop before category": {of(t, "b 1 c 3 3", "a 1 c 3 3"), of(t, "a 1 c 0 3", "b 1 c 0 3"),
			[]string{"role_floor a", "role_drop a", "role_floor b", "role_drop b", "category_drop a c", "category_drop b c", "!a/1", "!b/1"}},
		"roles and categories absent": {of(t, "b 1 c 3 3", "a 1 d 3 3", "a 2 c 3 3"), of(t, "a 2 e 3 3"),
			[]string{"role_not_exercised b", "category_not_exercised a c", "category_not_exercised a d"}},
		"a new fixture can fail":       {of(t, "x 1 - 3 3"), of(t, "x 1 - 3 3", "x 2 - 1 3"), []string{"role_drop x"}},
		"fixtures vanish":              {of(t, "x 1 - 3 3", "x 2 - 0 3", "x 3 - 3 3"), of(t, "x 1 - 3 3"), nil},
		"nothing at all":               {of(t), of(t), nil},
		"missed sort by role, then id": {of(t, "x- 1 - 3 3", "x a - 3 3"), of(t, "x- 1 - 1 3", "x a - 1 3", "x- 2 - 3 3", "x b - 3 3", "x- 3 - 3 3", "x c - 3 3"), []string{"role_drop x", "role_drop x-", "!x/a", "!x-/1"}},
		"the last of two entries":      {of(t, "x 1 - 0 3", "x 1 - 3 3"), of(t, "x 1 - 3 3", "x 1 - 0 3"), []string{"!x/1"}},
		"a tie is detected":            {of(t, "x 1 - 2 2"), of(t, "x 1 - 1 2"), []string{"role_drop x"}},
	} {
		t.Run(name, func(t *testing.T) {
			o := Compare(c.old, c.new)
			var got []string
			say := func(rule Rule, role string, category *string) {
				s := string(rule) + " " + role
				if category != nil {
					s += " " + *category
				}
				got = append(got, s)
			}
			for _, w := range o.Warnings {
				say(w.Rule, w.Role, w.Category)
			}
			for _, r := range o.Regressions {
				say(r.Rule, r.Role, r.Category)
			}
			for _, m := range o.NewlyMissed {
				got = append(got, "!"+m)
			}
			assert.Equal(t, c.want, got)
			assert.Equal(t, len(o.Regressions) > 0, o.ExitCode == ExitRegression)
		})
	}
}

func TestCompareAcrossModels(t *testing.T) {
	older, newer := of(t, "x 1 - 3 3"), of(t, "x 1 - 0 3")
	newer.Model = "n"
	newer.Warnings = []LoadWarning{{File: "n.json", Line: 3, Problem: "odd"}}
	o := Compare(older, newer)
	assert.Equal(t, []Warning{{Rule: CrossModel}}, o.Warnings)
	assert.Equal(t, ExitRegression, o.ExitCode, "another model excuses nothing")
	assert.Equal(t, newer.Warnings, o.LoadWarnings, "apart from the warnings of the rules")
}

// TestSumsRunInFileOrder fails for a compensated sum, and for one in another
// order: .1 + .2 + .3 is not .3 + .2 + .1.
func TestSumsRunInFileOrder(t *testing.T) {
	up := of(t, "x 1 - 1 10", "x 2 - 2 10", "x 3 - 3 10")
	down := of(t, "x 3 - 3 10", "x 2 - 2 10", "x 1 - 1 10")
	a, b, c := .1, .2, .3
	o := Compare(up, down)
	require.Len(t, o.RoleRates, 1)
	assert.Equal(t, (a+b+c)/3, *o.RoleRates[0].Old)
	assert.Equal(t, (c+b+a)/3, *o.RoleRates[0].New)
	assert.NotEqual(t, *o.RoleRates[0].Old, *o.RoleRates[0].New)
}

func TestOutcomeHasListsNotNulls(t *testing.T) {
	encoded, err := json.Marshal(Compare(of(t), of(t)))
	require.NoError(t, err)
	assert.JSONEq(t, `{"exit_code":0,"regressions":[],"warnings":[],"newly_missed":[],"role_rates":[],"category_rates":[],"load_warnings":[]}`,
		string(encoded))
}
