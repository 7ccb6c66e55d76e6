package compare

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/youden-bench/youden/measurements"
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
			list = append(list, identityDifference{vary, fmt.Sprintf("%s: %s and %s", what, orNone(old), orNone(updated)), warn})
		}
	}
	add("", false, "scorer", short(a.Scorer.Hash), short(b.Scorer.Hash))
	add("", false, "taxonomy", short(a.Scorer.Taxonomy), short(b.Scorer.Taxonomy))
	add("", false, "policy", a.Policy, b.Policy)
	add("", false, "view", a.View, b.View)
	add("", false, "targeted", a.Targeted, b.Targeted)
	if a.callsModel() && b.callsModel() {
		add("", false, "simulated", a.Simulated, b.Simulated)
		for _, key := range slices.Sorted(maps.Keys(union(a.Parameters, b.Parameters))) {
			add(VaryParams, false, "parameter "+key, parameter(a.Parameters, key), parameter(b.Parameters, key))
		}
	}
	add(VaryModel, true, "model", a.Endpoint.Model, b.Endpoint.Model)
	add(VaryDetector, true, "detector", a.Detector.Name+" "+short(a.Detector.Hash), b.Detector.Name+" "+short(b.Detector.Hash))
	add(VaryDetector, true, "detector program", a.Detector.Program, b.Detector.Program)
	return list
}

// orNone prints a value that may be absent.
func orNone(value any) string {
	if text := strings.TrimSpace(fmt.Sprint(value)); text != "" {
		return text
	}
	return "none"
}

// callsModel reports whether anything was asked of an endpoint. A detector without
// a model, such as a control, has no parameters, and is neither simulated nor
// real: it is the same beside either.
func (i Identity) callsModel() bool {
	return i.Detector.Program == "" || i.Endpoint != measurements.EndpointRecord{}
}

// incomparable splits the differences into reasons against the comparison and
// warnings. With vary, only what varies may differ.
func incomparable(a, b Identity, vary Vary) (reasons, warnings []string) {
	differences := compareIdentities(a, b)
	capabilities, told := compareCapabilities(a, b)
	warnings = append(warnings, told...)
	differences = append(differences, capabilities...)
	for _, d := range differences {
		switch {
		case d.vary != "" && d.vary == vary:
			warnings = append(warnings, d.text)
		case d.warn && vary == "":
			warnings = append(warnings, d.text+advice(differences, d.vary))
		default:
			reasons = append(reasons, d.text)
		}
	}
	for _, side := range []struct {
		name string
		at   int
	}{{"OLD", a.StoppedAt}, {"NEW", b.StoppedAt}} {
		if side.at > 0 {
			warnings = append(warnings, fmt.Sprintf("%s was stopped by looks, at look %d: its J leans the way it stopped, and its own verdict is in its capture.json", side.name, side.at))
		}
	}
	for _, side := range []struct {
		name string
		k    int
	}{{"OLD", a.K}, {"NEW", b.K}} {
		if measurements.Smoke(side.k) {
			warnings = append(warnings, fmt.Sprintf("%s is a smoke test: K = %d is fewer than %d runs a side", side.name, side.k, measurements.SmokeK))
		}
	}
	if a.K != b.K {
		warnings = append(warnings, fmt.Sprintf("K: %d and %d runs a side", a.K, b.K))
	}
	return reasons, warnings
}

// advice names what the comparison is about, where only that varies.
func advice(differences []identityDifference, vary Vary) string {
	if slices.ContainsFunc(differences, func(d identityDifference) bool { return d.vary != vary }) {
		return ""
	}
	return fmt.Sprintf("; where that is what is compared, say --vary %s", vary)
}

func union(a, b map[string]any) map[string]any {
	all := maps.Clone(a)
	if all == nil {
		all = map[string]any{}
	}
	maps.Copy(all, b)
	return all
}

// parameter renders a value as JSON does, whether it was read from a file or is
// about to be written.
func parameter(m map[string]any, key string) string {
	value, ok := m[key]
	if !ok {
		return "not sent"
	}
	text, err := json.Marshal(value)
	if err != nil {
		return fmt.Sprint(value)
	}
	return string(text)
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
