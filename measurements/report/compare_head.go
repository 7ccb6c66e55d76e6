package report

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/youden-bench/youden/detector"
	"github.com/youden-bench/youden/measurements/compare"
)

// comparisonBanner says what was compared with what, and by what rule.
func comparisonBanner(c *compare.Comparison) []string {
	var lines []string
	if simulated(c) {
		lines = append(lines, SimulatedLine)
	}
	lines = append(lines, fmt.Sprintf("OLD: %s%s, commit %s", subject(c.Old), age(c.Old.Date, c.New.Date), commit(c.Old)))
	updated := "NEW: " + subject(c.New)
	if c.New.Commit != nil {
		updated += ", commit " + commit(c.New)
	}
	lines = append(lines, updated, modeLine(c))
	for _, h := range []struct {
		name string
		of   compare.Head
	}{{"OLD", c.Old}, {"NEW", c.New}} {
		if h.of.Incomplete != "" {
			lines = append(lines, fmt.Sprintf("%s is incomplete: %s", h.name, h.of.Incomplete))
		}
	}
	return append(lines, looks(c.Sequential)...)
}

// modeLine says what a verdict takes.
func modeLine(c *compare.Comparison) string {
	if c.Mode == compare.NonInferior {
		return fmt.Sprintf("mode %s: to pass, it must be shown that J has not dropped by more than %s", c.Mode, hundredth(compare.LimitsOf(c).Margin))
	}
	return fmt.Sprintf("mode %s: a drop must be shown to fail", c.Mode)
}

func hundredth(v float64) string {
	return strings.TrimPrefix(strconv.FormatFloat(v, 'f', 2, 64), "0")
}

func subject(h compare.Head) string {
	return fmt.Sprintf("%s %s%s", orUnknown(string(h.Kind)), orUnknown(h.Name), targeted(h.Targeted))
}

// shownDigits of a commit's name are enough to find it.
const shownDigits = 12

// commit is that of the user's repository when the baseline was made.
func commit(h compare.Head) string {
	if h.Commit == nil {
		return unknown
	}
	return shortened(*h.Commit)
}

func shortened(name string) string { return name[:min(shownDigits, len(name))] }

// program is the youden that made the capture.
func program(h compare.Head) string {
	p := h.Provenance
	text := orUnknown(p.Version)
	if p.VCSRevision != "" {
		text += " " + shortened(p.VCSRevision)
	}
	if p.Dirty {
		text += " with local changes"
	}
	return text
}

// age says how much older OLD is, by the dates of the two: the same at any time
// it is printed.
func age(before, after *time.Time) string {
	if before == nil {
		return ""
	}
	text := " of " + day(before)
	if after == nil {
		return text
	}
	const hours = 24
	switch days := int64(after.Sub(*before).Hours() / hours); {
	case days > 0:
		return text + " (" + many(days, "day") + " before NEW)"
	case days < 0:
		return text + " (" + many(-days, "day") + " after NEW)"
	}
	return text + " (within a day of NEW)"
}

func day(t *time.Time) string {
	if t == nil {
		return unknown
	}
	return t.UTC().Format(time.DateOnly)
}

// fact is one thing that is known of both subjects.
type fact struct {
	name     string
	old, new string
}

func factColumns() []column[fact] {
	return []column[fact]{
		{title: "what", key: true, show: func(f fact) cell { return text(f.name) }},
		visible("OLD", func(f fact) cell { return text(f.old) }),
		visible("NEW", func(f fact) cell { return text(f.new) }),
	}
}

// bearsID reports whether the name above already says which capture it is.
func bearsID(h compare.Head) bool { return h.ID != "" && strings.HasSuffix(h.Name, h.ID) }

// facts lists what the two subjects are, and what they took.
func facts(c *compare.Comparison) []fact {
	var list []fact
	add := func(name string, of func(compare.Head) string) {
		list = append(list, fact{name, of(c.Old), of(c.New)})
	}
	if !bearsID(c.Old) || !bearsID(c.New) {
		add("capture", func(h compare.Head) string { return orUnknown(h.ID) })
	}
	add("date", func(h compare.Head) string { return day(h.Date) })
	add("grade", func(h compare.Head) string { return orUnknown(h.Grade) })
	add("made by youden", program)
	add("endpoint", func(h compare.Head) string {
		if h.Simulated {
			return "SIMULATED"
		}
		return orUnknown(h.Endpoint.Name)
	})
	add("detector", func(h compare.Head) string { return named(Plain, h.Detector.Name, h.Detector.Hash) })
	add("model", func(h compare.Head) string { return orUnknown(h.Endpoint.Model) })
	add("models returned", func(h compare.Head) string { return orUnknown(reasons(h.Models, ", ")) })
	add("corpus, split", func(h compare.Head) string {
		return orUnknown(h.CorpusHash[:min(8, len(h.CorpusHash))]) + ", " + orUnknown(h.Split)
	})
	add("K", func(h compare.Head) string {
		if h.StoppedAt > 0 {
			return known(h.K) + " (stopped by looks)"
		}
		return known(h.K)
	})
	add("cases", func(h compare.Head) string { return strconv.Itoa(h.Cases) })
	add("runs ended", ended)
	add("runs not ok", notOK)
	add("lost to endpoint", lost)
	if c.Verdict == compare.Incomparable {
		return list // what cannot be compared is no cheaper or faster either
	}
	add("USD", cost)
	add("USD a right pair", func(h compare.Head) string {
		if h.CostPerCorrect == nil {
			return unknown
		}
		return fmt.Sprintf("%.4f (%s)", *h.CostPerCorrect/1e6, many(int64(h.Correct), "right pair"))
	})
	add("ms, p50 / p95", func(h compare.Head) string {
		return whole(h.LatencyP50) + " / " + whole(h.LatencyP95)
	})
	return list
}

// differ says how the detectors' texts differ, and that the models that answered
// are not the same, also where the same was asked for.
func differ(c *compare.Comparison) []string {
	var lines []string
	changes := compare.TextChanges(c.Old.Detector, c.New.Detector)
	switch {
	case c.Old.Detector.Hash == "" || c.New.Detector.Hash == "": // a kstrl file knows no detector
	case changes == nil:
		lines = append(lines, "texts changed: the detectors differ, and it was not recorded in which texts")
	case len(changes) > 0:
		var names []string
		for _, t := range changes {
			name := t.Name
			if t.Change != compare.TextChanged {
				name += " (" + t.Change + ")"
			}
			names = append(names, name)
		}
		lines = append(lines, "texts changed: "+listed(names, sane, ", "))
	}
	before, after := slices.Sorted(maps.Keys(c.Old.Models)), slices.Sorted(maps.Keys(c.New.Models))
	if len(before) > 0 && len(after) > 0 && !slices.Equal(before, after) {
		lines = append(lines, "the models as returned differ: the endpoint has drifted, or another model was asked for")
	}
	return lines
}

func known[T int | int64](n *T) string {
	if n == nil {
		return unknown
	}
	return fmt.Sprint(*n)
}

func whole(v *float64) string {
	if v == nil {
		return unknown
	}
	return strconv.FormatFloat(*v, 'f', 0, 64)
}

// ended counts the runs that came to an end, of those planned where that is known.
func ended(h compare.Head) string {
	if h.Runs == nil || h.Planned == nil {
		return known(h.Runs)
	}
	return outOf(*h.Runs-h.Statuses[string(detector.Cancelled)], *h.Planned)
}

// notOK lists the classes of the runs without a complete answer.
func notOK(h compare.Head) string {
	if h.Statuses == nil || h.Runs == nil || *h.Runs == 0 {
		return unknown
	}
	if list := reasons(h.Statuses, ", "); list != "" {
		return list
	}
	return "none"
}

// lost counts the runs of those dispatched that endpoint or network swallowed.
func lost(h compare.Head) string {
	if h.Errors == nil || h.Dispatched == nil {
		return unknown
	}
	return outOf(*h.Errors, *h.Dispatched)
}

// cost is a lower bound where the cost of some runs is not known.
func cost(h compare.Head) string {
	if h.CostUnknown == nil {
		return dollars(h.CostUSDMicros, 1)
	}
	text := dollars(h.CostUSDMicros, *h.CostUnknown)
	if *h.CostUnknown > 0 {
		text += fmt.Sprintf(" (cost of %s unknown)", many(*h.CostUnknown, "run"))
	}
	return text
}
