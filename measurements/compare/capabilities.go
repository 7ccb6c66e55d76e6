package compare

import (
	"fmt"
	"strings"

	"github.com/youden-bench/youden/measurements"
)

// compareCapabilities lists how two endpoints treat requests differently, as far as
// both were probed. A field that a capture relies on and that one of them drops
// makes other effective parameters, unless the models differ: then it belongs to
// them. What no request relied on is only told.
func compareCapabilities(a, b Identity) (differences []identityDifference, told []string) {
	if a.Capabilities == nil || b.Capabilities == nil {
		return nil, nil
	}
	for _, f := range a.Capabilities.Features {
		old, updated := f.Treatment, b.Capabilities.Treats(f.Name)
		if !conflict(old, updated) {
			continue
		}
		text := fmt.Sprintf("the endpoint's treatment of %s: %s and %s", f.Name, old, updated)
		switch {
		case !reliesOn(a.Parameters, f.Name) || !reliesOn(b.Parameters, f.Name):
			told = append(told, text)
		case a.Endpoint.Model != b.Endpoint.Model:
			differences = append(differences, identityDifference{VaryModel, text, true})
		default:
			differences = append(differences, identityDifference{VaryParams, text, false})
		}
	}
	if old, updated := a.Capabilities.ContextTokens, b.Capabilities.ContextTokens; old != nil && updated != nil && *old != *updated {
		told = append(told, fmt.Sprintf("the endpoint's context: %d and %d tokens", *old, *updated))
	}
	return differences, told
}

// conflict reports whether two treatments cannot both be of one endpoint. Accepted
// says that no effect was seen, which may be chance.
func conflict(a, b measurements.Treatment) bool {
	taken := func(t measurements.Treatment) bool { return t == measurements.Honoured || t == measurements.Accepted }
	switch {
	case a == b, a == measurements.Unprobed, b == measurements.Unprobed, taken(a) && taken(b):
		return false
	case a == measurements.Accepted && b == measurements.Ignored, a == measurements.Ignored && b == measurements.Accepted:
		return false
	}
	return true
}

// reliesOn reports whether requests with these parameters carried a field.
func reliesOn(parameters map[string]any, feature string) bool {
	field, form, _ := strings.Cut(feature, ".")
	value := parameter(parameters, field)
	if form != "" {
		return value == `"`+form+`"`
	}
	return value != "not sent" && value != "null" && value != `""`
}
