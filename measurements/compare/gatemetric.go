package compare

import (
	"slices"
	"strings"
)

// gateMetric is a number that a gate may ask for: base, delta.base, or an end of
// the interval of either.
type gateMetric struct {
	base  string
	delta bool
	end   string // "", ".lo" or ".hi"
}

// The bases of metrics.
const (
	metricJ            = "j"
	metricJVote        = "j_vote"
	metricRecall       = "recall"
	metricSilence      = "silence"
	metricPairAccuracy = "pair_accuracy"
	metricErrorRate    = "error_rate"
	metricCost         = "cost_per_correct"
)

// The ends of an interval.
const (
	endLo = ".lo"
	endHi = ".hi"
)

const deltaPrefix = "delta."

// gateBase says what a base offers.
type gateBase struct {
	name     string
	interval bool // has ends
	delta    bool // has a difference between OLD and NEW, with ends
	whole    bool // of a capture as a whole: no scope, no severity
}

func gateBases() []gateBase {
	return []gateBase{
		{name: metricJ, interval: true, delta: true},
		{name: metricJVote, interval: true},
		{name: metricRecall, interval: true, delta: true},
		{name: metricSilence, interval: true, delta: true},
		{name: metricPairAccuracy},
		{name: metricErrorRate, whole: true},
		{name: metricCost, whole: true},
	}
}

// gateMetrics lists every metric that exists.
func gateMetrics() []gateMetric {
	var list []gateMetric
	for _, delta := range []bool{false, true} {
		for _, b := range gateBases() {
			if delta && !b.delta {
				continue
			}
			list = append(list, gateMetric{base: b.name, delta: delta})
			if b.interval {
				list = append(list, gateMetric{b.name, delta, endLo}, gateMetric{b.name, delta, endHi})
			}
		}
	}
	return list
}

// parseGateMetric finds a metric by its name.
func parseGateMetric(text string) (gateMetric, bool) {
	for _, m := range gateMetrics() {
		if m.String() == text {
			return m, true
		}
	}
	return gateMetric{}, false
}

func gateMetricNames() string {
	var names []string
	for _, m := range gateMetrics() {
		names = append(names, m.String())
	}
	return strings.Join(names, ", ")
}

func (m gateMetric) String() string {
	if m.delta {
		return deltaPrefix + m.base + m.end
	}
	return m.base + m.end
}

// whole reports whether the metric is one of a capture and not of cases.
func (m gateMetric) whole() bool {
	return slices.ContainsFunc(gateBases(), func(b gateBase) bool { return b.whole && b.name == m.base })
}

// other is the metric without which this one says nothing: silence for recall,
// recall for silence.
func (m gateMetric) other() (gateMetric, bool) {
	switch m.base {
	case metricRecall:
		m.base = metricSilence
	case metricSilence:
		m.base = metricRecall
	default:
		return gateMetric{}, false
	}
	return m, true
}
