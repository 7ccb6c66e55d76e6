package kstrl

import (
	"cmp"
	"slices"
)

// The reference's limits. A rate under a floor and a drop over a limit fail;
// at the limit they pass.
const (
	roleDropLimit     = 0.15
	categoryDropLimit = 0.40
	otherFloor        = 0.50
)

// floorOf is the least rate of a role. security_hard has no floor of its own,
// which the reference's own text denies: it is gated like any unknown role.
func floorOf(role string) float64 {
	switch role {
	case "security":
		return 0.80
	case "reviewer", "architect":
		return 0.65
	}
	return otherFloor
}

// Rule names a rule that spoke.
type Rule string

// The first three fail, the others warn.
const (
	RoleFloor            Rule = "role_floor"
	RoleDrop             Rule = "role_drop"
	CategoryDrop         Rule = "category_drop"
	CrossModel           Rule = "cross_model"
	RoleNotExercised     Rule = "role_not_exercised"
	CategoryNotExercised Rule = "category_not_exercised"
)

// Exit codes of the rules.
const (
	ExitPass       = 0
	ExitRegression = 1
	ExitLoadError  = 2
)

// Regression is a limit that the new baseline broke. Rates and drops are shares
// of 1; a floor has neither an old rate nor a drop.
type Regression struct {
	Rule     Rule     `json:"rule"`
	Role     string   `json:"role"`
	Category *string  `json:"category,omitempty"`
	OldRate  *float64 `json:"old_rate,omitempty"`
	NewRate  float64  `json:"new_rate"`
	Drop     *float64 `json:"drop,omitempty"`
	Limit    float64  `json:"limit"`
}

// Warning never changes the exit code.
type Warning struct {
	Rule     Rule    `json:"rule"`
	Role     string  `json:"role,omitempty"`
	Category *string `json:"category,omitempty"`
}

// RoleRate is the detection rate of a role in both baselines; nil: not there.
type RoleRate struct {
	Role  string   `json:"role"`
	Old   *float64 `json:"old"`
	New   *float64 `json:"new"`
	Floor float64  `json:"floor"`
}

// CategoryRate is the detection rate of a category in both baselines.
type CategoryRate struct {
	Role     string   `json:"role"`
	Category string   `json:"category"`
	Old      *float64 `json:"old"`
	New      *float64 `json:"new"`
}

// Outcome is what the rules say of two baselines, in their order of evaluation.
// LoadWarnings are not of the rules: the reference is silent about them.
type Outcome struct {
	ExitCode      int            `json:"exit_code"`
	Regressions   []Regression   `json:"regressions"`
	Warnings      []Warning      `json:"warnings"`
	NewlyMissed   []string       `json:"newly_missed"` // role/fixture, for information
	RoleRates     []RoleRate     `json:"role_rates"`
	CategoryRates []CategoryRate `json:"category_rates"`
	LoadWarnings  []LoadWarning  `json:"load_warnings"`
}

func newOutcome() Outcome {
	// Empty lists, never null, in JSON.
	return Outcome{Regressions: []Regression{}, Warnings: []Warning{}, NewlyMissed: []string{},
		RoleRates: []RoleRate{}, CategoryRates: []CategoryRate{}, LoadWarnings: []LoadWarning{}}
}

// CompareFiles reads two files as the reference does and compares them. With an
// error, which is a [LoadError], the outcome holds nothing but its exit code.
func CompareFiles(oldFile, newFile string) (Outcome, error) {
	var loaded [2]*Baseline
	for i, file := range []string{oldFile, newFile} {
		var err error
		if loaded[i], err = Load(file, Lenient); err != nil {
			o := newOutcome()
			o.ExitCode = ExitLoadError
			return o, err
		}
	}
	return Compare(loaded[0], loaded[1]), nil
}

// Compare applies the reference's rules.
func Compare(older, newer *Baseline) Outcome {
	o := newOutcome()
	o.LoadWarnings = append(append(o.LoadWarnings, older.Warnings...), newer.Warnings...)
	if older.Model != newer.Model {
		o.Warnings = append(o.Warnings, Warning{Rule: CrossModel})
	}
	was, is := groupFixtures(older.Fixtures), groupFixtures(newer.Fixtures)
	o.compareRoles(&was.roles, &is.roles)
	o.compareCategories(was, is)
	o.compareFixtures(older.Fixtures, newer.Fixtures)
	if len(o.Regressions) > 0 {
		o.ExitCode = ExitRegression
	}
	return o
}

func (o *Outcome) compareRoles(was, is *groups) {
	for _, role := range union(was.at, is.at) {
		rate := RoleRate{Role: role, Old: was.rate(role), New: is.rate(role), Floor: floorOf(role)}
		o.RoleRates = append(o.RoleRates, rate)
		if rate.New == nil {
			o.Warnings = append(o.Warnings, Warning{Rule: RoleNotExercised, Role: role})
			continue
		}
		if *rate.New < rate.Floor {
			o.Regressions = append(o.Regressions,
				Regression{Rule: RoleFloor, Role: role, NewRate: *rate.New, Limit: rate.Floor})
		}
		if drop, over := dropOver(rate.Old, *rate.New, roleDropLimit); over {
			o.Regressions = append(o.Regressions,
				Regression{Rule: RoleDrop, Role: role, OldRate: rate.Old, NewRate: *rate.New, Drop: &drop, Limit: roleDropLimit})
		}
	}
}

// compareCategories leaves out the roles that the new baseline lacks: they have
// been warned about.
func (o *Outcome) compareCategories(was, is roleGroups) {
	for _, role := range union(was.categories, is.categories) {
		if is.roles.rate(role) == nil {
			continue
		}
		before, after := known(was.categories[role]), known(is.categories[role])
		for _, category := range union(before.at, after.at) {
			rate := CategoryRate{Role: role, Category: category, Old: before.rate(category), New: after.rate(category)}
			o.CategoryRates = append(o.CategoryRates, rate)
			if rate.New == nil {
				o.Warnings = append(o.Warnings, Warning{Rule: CategoryNotExercised, Role: role, Category: &category})
				continue
			}
			if drop, over := dropOver(rate.Old, *rate.New, categoryDropLimit); over {
				o.Regressions = append(o.Regressions, Regression{Rule: CategoryDrop, Role: role, Category: &category,
					OldRate: rate.Old, NewRate: *rate.New, Drop: &drop, Limit: categoryDropLimit})
			}
		}
	}
}

// compareFixtures lists what was detected and is there and is not detected. A
// fixture that stands in a file twice counts as its last entry says.
func (o *Outcome) compareFixtures(was, is []Fixture) {
	detected := make(map[identity]bool, len(is))
	for _, f := range is {
		detected[identity{f.Role, f.ID}] = f.Detected()
	}
	before := make(map[identity]bool, len(was))
	for _, f := range was {
		before[identity{f.Role, f.ID}] = f.Detected()
	}
	var missed []identity
	for f, hit := range before {
		if now, there := detected[f]; hit && there && !now {
			missed = append(missed, f)
		}
	}
	slices.SortFunc(missed, func(a, b identity) int {
		return cmp.Or(cmp.Compare(a.role, b.role), cmp.Compare(a.id, b.id))
	})
	for _, f := range missed {
		o.NewlyMissed = append(o.NewlyMissed, f.role+"/"+f.id)
	}
}

// dropOver is the loss of a rate that both baselines have, and whether it is
// over the limit. No tolerance: the last bit decides, as in the reference.
func dropOver(was *float64, is, limit float64) (float64, bool) {
	if was == nil {
		return 0, false
	}
	drop := *was - is
	return drop, drop > limit
}

// union is the sorted names of both. Bytes of UTF-8 sort as code points do.
func union[V any](a, b map[string]V) []string {
	names := make([]string, 0, len(a)+len(b))
	for name := range a {
		names = append(names, name)
	}
	for name := range b {
		if _, both := a[name]; !both {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

func known(g *groups) *groups {
	if g == nil {
		return new(groups)
	}
	return g
}
