package main

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/youden-bench/youden/measurements/kstrl"
)

// Every rule is explained, and names what it is about.
func TestRulesOfKSTRLInWords(t *testing.T) {
	f := func(v float64) *float64 { return &v }
	category := "injection"
	d := kstrlDocument{oldModel: "a", Outcome: kstrl.Outcome{RoleRates: []kstrl.RoleRate{{Role: "x", Old: f(.4)}, {Role: "y", Old: f(.9)}}}}
	for want, r := range map[string]kstrl.Regression{
		"too low: x is at .30, below the floor of .50 (role_floor, a level and not a change); it was below before too, at .40": {Rule: kstrl.RoleFloor, Role: "x", NewRate: .3, Limit: .5},
		"too low: y is at .4999, below the floor of .50 (role_floor, a level and not a change)":                                {Rule: kstrl.RoleFloor, Role: "y", NewRate: .4999, Limit: .5},
		"regression: y fell by .15000000000000002, from 1.00 to .85; .15 is allowed (role_drop)":                               {Rule: kstrl.RoleDrop, Role: "y", OldRate: f(1), NewRate: .85, Drop: f(.15000000000000002), Limit: .15},
		"regression: y injection fell by .50, from .70 to .20; .40 is allowed (category_drop)":                                 {Rule: kstrl.CategoryDrop, Role: "y", Category: &category, OldRate: f(.7), NewRate: .2, Drop: f(.5), Limit: .4},
	} {
		assert.Equal(t, want, d.broken(r))
	}
	for want, w := range map[string]kstrl.Warning{
		"the models differ, a and none: a difference may be theirs (cross_model)":     {Rule: kstrl.CrossModel},
		"NEW has no fixture of role x (role_not_exercised)":                           {Rule: kstrl.RoleNotExercised, Role: "x"},
		"NEW has no fixture of category injection of role x (category_not_exercised)": {Rule: kstrl.CategoryNotExercised, Role: "x", Category: &category},
	} {
		assert.Equal(t, want, d.warning(w))
	}
	assert.Equal(t, "n/a", share(nil))
	assert.Equal(t, "1.00", share(f(1)))
}
