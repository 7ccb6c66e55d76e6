package report

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/youden-bench/youden/detector"
	"github.com/youden-bench/youden/measurements"
	"github.com/youden-bench/youden/measurements/compare"
)

// comparisonBanner says what was compared with what.
func comparisonBanner(c *compare.Comparison) []string {
	var lines []string
	if simulated(c) {
		lines = append(lines, simulatedLine)
	}
	lines = append(lines,
		fmt.Sprintf("OLD: %s, %s%s", subject(c.Old), commit(c.Old), age(c.Old.Date, c.New.Date)),
		fmt.Sprintf("NEW: %s, %s", subject(c.New), commit(c.New)),
		fmt.Sprintf("mode %s", c.Mode))
	for _, h := range []struct {
		name string
		of   compare.Head
	}{{"OLD", c.Old}, {"NEW", c.New}} {
		if short := coverage(h.of); short != "" {
			lines = append(lines, fmt.Sprintf("%s is %s", h.name, short))
		}
	}
	return lines
}

func subject(h compare.Head) string {
	return fmt.Sprintf("%s %s%s", orUnknown(string(h.Kind)), orUnknown(h.Name), targeted(h.Targeted))
}

func commit(h compare.Head) string {
	revision := h.Provenance.VCSRevision
	if revision == "" {
		return "commit " + unknown
	}
	text := "commit " + revision[:min(12, len(revision))]
	if h.Provenance.Dirty {
		text += " with local changes"
	}
	return text
}

// age says how much older OLD is, by the dates of the two: the same at any time
// it is printed.
func age(before, after time.Time) string {
	if before.IsZero() {
		return ""
	}
	text := ", of " + day(before)
	if after.IsZero() {
		return text
	}
	const hours = 24
	switch days := int64(after.Sub(before).Hours() / hours); {
	case days > 0:
		return text + ", " + many(days, "day") + " before NEW"
	case days < 0:
		return text + ", " + many(-days, "day") + " after NEW"
	}
	return text + ", within a day of NEW"
}

func day(t time.Time) string {
	if t.IsZero() {
		return unknown
	}
	return t.UTC().Format(time.DateOnly)
}

// coverage says how far a subject came, where it did not come to its end.
func coverage(h compare.Head) string {
	cancelled := h.Statuses[string(detector.Cancelled)]
	switch {
	case h.Grade == measurements.GradeUnrun, h.Kind == compare.FromCapture && h.Runs-cancelled == 0:
		return string(measurements.Unrun)
	case cancelled > 0:
		return fmt.Sprintf("%s %s", measurements.Partial, outOf(h.Runs-cancelled, h.Runs))
	}
	return ""
}

// fact is one thing that is known of both subjects.
type fact struct {
	name     string
	old, new string
}

func factColumns() []column[fact] {
	return []column[fact]{
		{title: "of", key: true, show: func(f fact) cell { return text(f.name) }},
		visible("OLD", func(f fact) cell { return text(f.old) }),
		visible("NEW", func(f fact) cell { return text(f.new) }),
	}
}

// facts lists what the two subjects are, and what they took.
func facts(c *compare.Comparison) []fact {
	var list []fact
	add := func(name string, of func(compare.Head) string) {
		list = append(list, fact{name, of(c.Old), of(c.New)})
	}
	add("capture", func(h compare.Head) string { return orUnknown(h.ID) })
	add("date", func(h compare.Head) string { return day(h.Date) })
	add("grade", func(h compare.Head) string { return orUnknown(h.Grade) })
	add("endpoint", func(h compare.Head) string {
		if h.Simulated {
			return "SIMULATED"
		}
		return orUnknown(h.Endpoint.Name)
	})
	add("detector", func(h compare.Head) string { return named(Plain, h.Detector.Name, h.Detector.Hash) })
	add("model", func(h compare.Head) string { return orUnknown(h.Endpoint.Model) })
	add("models as returned", func(h compare.Head) string { return orUnknown(reasons(h.Models, ", ")) })
	add("K", func(h compare.Head) string { return known(int64(h.K)) })
	add("cases", func(h compare.Head) string { return strconv.Itoa(h.Cases) })
	add("runs", func(h compare.Head) string { return known(h.Runs) })
	add("runs not ok", notOK)
	if c.Verdict == compare.Incomparable {
		return list // what cannot be compared is no cheaper or faster either
	}
	add("USD", cost)
	add("USD a correct pair", func(h compare.Head) string {
		if h.CostPerCorrect == nil {
			return unknown
		}
		return fmt.Sprintf("%.4f (%s)", *h.CostPerCorrect/1e6, many(int64(h.Correct), "correct pair"))
	})
	add("ms, p50 / p95", func(h compare.Head) string {
		return whole(h.LatencyP50) + " / " + whole(h.LatencyP95)
	})
	return list
}

// drift says that the models that answered are not the same, also where the same
// was asked for.
func drift(c *compare.Comparison) []string {
	before, after := slices.Sorted(maps.Keys(c.Old.Models)), slices.Sorted(maps.Keys(c.New.Models))
	if len(before) == 0 || len(after) == 0 || slices.Equal(before, after) {
		return nil
	}
	return []string{"the models as returned differ: the endpoint has drifted, or another model was asked for"}
}

// known prints a count that is never 0 unless it was not kept.
func known(n int64) string {
	if n == 0 {
		return unknown
	}
	return strconv.FormatInt(n, 10)
}

func whole(v *float64) string {
	if v == nil {
		return unknown
	}
	return strconv.FormatFloat(*v, 'f', 0, 64)
}

// notOK lists the classes of the runs without a complete answer.
func notOK(h compare.Head) string {
	if h.Runs == 0 {
		return unknown
	}
	if list := reasons(h.Statuses, ", "); list != "" {
		return list
	}
	return "none"
}

// cost is a lower bound where the price of a correct pair is not known: the cost
// of some run is then unknown, or may be.
func cost(h compare.Head) string {
	bound := int64(0)
	if h.CostPerCorrect == nil {
		bound = 1
	}
	return dollars(h.CostUSDMicros, bound)
}
