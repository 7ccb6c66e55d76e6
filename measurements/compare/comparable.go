package compare

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
)

// Vary names what a comparison is about; everything else must then be the same.
type Vary string

// What may vary. By default a model and a detector may, with a warning.
const (
	VaryModel    Vary = "model"
	VaryDetector Vary = "detector"
	VaryParams   Vary = "params"
)

// difference is one way in which two identities differ.
type identityDifference struct {
	vary Vary // what it belongs to; "" for what must never differ
	text string
	warn bool // by default it only warns
}

// compareIdentities lists how two identities differ.
func compareIdentities(a, b Identity) []identityDifference {
	var list []identityDifference
	add := func(vary Vary, warn bool, what string, old, updated any) {
		if !reflect.DeepEqual(old, updated) {
			list = append(list, identityDifference{vary, fmt.Sprintf("%s: %v and %v", what, old, updated), warn})
		}
	}
	add("", false, "scorer", short(a.Scorer.Hash), short(b.Scorer.Hash))
	add("", false, "taxonomy", short(a.Scorer.Taxonomy), short(b.Scorer.Taxonomy))
	add("", false, "policy", a.Policy, b.Policy)
	add("", false, "view", a.View, b.View)
	add("", false, "simulated", a.Simulated, b.Simulated)
	add("", false, "targeted", a.Targeted, b.Targeted)
	for _, key := range slices.Sorted(maps.Keys(union(a.Parameters, b.Parameters))) {
		add(VaryParams, false, "parameter "+key, parameter(a.Parameters, key), parameter(b.Parameters, key))
	}
	add(VaryModel, true, "model", a.Endpoint.Model, b.Endpoint.Model)
	add(VaryDetector, true, "detector", a.Detector.Name+" "+short(a.Detector.Hash), b.Detector.Name+" "+short(b.Detector.Hash))
	add(VaryDetector, true, "detector program", a.Detector.Program, b.Detector.Program)
	return list
}

// incomparable splits the differences into reasons against the comparison and
// warnings. With vary, only what varies may differ.
func incomparable(a, b Identity, vary Vary) (reasons, warnings []string) {
	for _, d := range compareIdentities(a, b) {
		switch {
		case d.vary != "" && d.vary == vary:
			warnings = append(warnings, d.text)
		case d.warn && vary == "":
			warnings = append(warnings, d.text)
		default:
			reasons = append(reasons, d.text)
		}
	}
	if a.K != b.K {
		warnings = append(warnings, fmt.Sprintf("K: %d and %d runs a side", a.K, b.K))
	}
	return reasons, warnings
}

func union(a, b map[string]any) map[string]any {
	all := maps.Clone(a)
	if all == nil {
		all = map[string]any{}
	}
	maps.Copy(all, b)
	return all
}

// parameter renders a value for comparison: JSON reads every number as a float.
func parameter(m map[string]any, key string) string {
	value, ok := m[key]
	if !ok {
		return "not sent"
	}
	return fmt.Sprint(value)
}

func short(hash string) string {
	if len(hash) > 8 {
		return hash[:8]
	}
	if strings.TrimSpace(hash) == "" {
		return "unknown"
	}
	return hash
}
