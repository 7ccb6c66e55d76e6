package compare

import (
	"sort"

	"github.com/youden-bench/youden/measurements"
	"github.com/youden-bench/youden/measurements/stats"
)

// level is the metric of the cases of a place, and how many cases it is over.
func (m gateMetric) level(cases []measurements.CaseScore, at gatePlace) (value *float64, n int) {
	var within []measurements.CaseScore
	for i := range cases {
		c := &cases[i]
		if at.holds(addressOf(c)) && c.Counts() {
			within = append(within, *c)
			n += count(m.speaksOf(c))
		}
	}
	switch m.base {
	case metricJVote, metricPairAccuracy:
		return m.ofVotes(votes(within)), n
	}
	if m.end == "" || at.family == "" {
		return m.ofEstimates(measurements.EstimateAll(within)), n
	}
	var pool []measurements.CaseScore
	for i := range cases {
		if at.pools(addressOf(&cases[i])) {
			pool = append(pool, cases[i])
		}
	}
	for _, f := range measurements.EstimateFamilies(pool) {
		if f.Slice == at.slice && f.Family == at.family {
			return m.ofEstimates(f.Estimates), n
		}
	}
	return nil, 0
}

// speaksOf reports whether the case has what the metric measures.
func (m gateMetric) speaksOf(c *measurements.CaseScore) bool {
	switch m.base {
	case metricRecall:
		return c.Vulnerable != nil
	case metricSilence:
		return c.Fixed != nil
	case metricJVote, metricPairAccuracy:
		return c.IsPair
	}
	return true
}

func (m gateMetric) ofEstimates(e measurements.Estimates) *float64 {
	switch m.base {
	case metricRecall:
		return m.endOf(e.Recall)
	case metricSilence:
		return m.endOf(e.Silence)
	}
	return m.endOf(e.J)
}

func (m gateMetric) ofVotes(p measurements.PairCounts) *float64 {
	if m.base == metricPairAccuracy {
		return p.Accuracy()
	}
	return m.endOf(p.Interval(level))
}

func (m gateMetric) endOf(i *stats.Interval) *float64 {
	estimate, lo, hi := ends(i)
	switch m.end {
	case endLo:
		return lo
	case endHi:
		return hi
	}
	return estimate
}

// votes counts pairs by what their runs voted.
func votes(cases []measurements.CaseScore) (p measurements.PairCounts) {
	for _, c := range cases {
		switch c.Pair() {
		case measurements.Correct:
			p.Correct++
		case measurements.BothFlagged:
			p.BothFlagged++
		case measurements.Missed:
			p.Missed++
		case measurements.Reversed:
			p.Reversed++
		}
	}
	return p
}

// difference is the metric of NEW less that of OLD over the pairs of a place, or
// an end of its interval: the intervals of a comparison's rows.
func (m gateMetric) difference(pairs []Pair, at gatePlace) (value *float64, n int) {
	var within, pool []Pair
	for _, p := range pairs {
		if at.holds(addressOf(p.New)) {
			within = append(within, p)
			n += count(m.speaksOf(p.New))
		}
		if at.pools(addressOf(p.New)) {
			pool = append(pool, p)
		}
	}
	switch {
	case m.end == "":
		before, after := sides(within)
		old, _ := m.level(before, gatePlace{})
		updated, _ := m.level(after, gatePlace{})
		return minus(updated, old), n
	case m.base == metricJ && !onlyPairs(within):
		return nil, n // of a case with one side, d is no difference of J
	case at.family == "":
		d := m.differences(within)
		return m.endOf(stats.TInterval(d, level)), len(d)
	}
	pooled, place := m.pooled(pool, at.family)
	if pooled == nil || place < 0 {
		return nil, n
	}
	return m.endOf(pooled.Families[place].Difference), n
}

// differences lists the difference of each pair that has one.
func (m gateMetric) differences(pairs []Pair) []float64 {
	var list []float64
	for _, p := range pairs {
		var d *float64
		switch m.base {
		case metricRecall:
			d = p.recall()
		case metricSilence:
			d = p.silence()
		default:
			sum := p.d()
			d = &sum
		}
		if d != nil {
			list = append(list, *d)
		}
	}
	return list
}

// pooled measures the families of a slice together; place is that of the family.
func (m gateMetric) pooled(pool []Pair, name string) (p *stats.Pooled, place int) {
	var families []stats.Family
	for _, f := range byFamily(pool) {
		families = append(families, stats.Family{Name: f.name, D: m.differences(f.pairs)})
	}
	place = sort.Search(len(families), func(i int) bool { return families[i].Name >= name })
	if place == len(families) || families[place].Name != name {
		return nil, -1
	}
	return stats.PooledT(families, level), place
}

func onlyPairs(pairs []Pair) bool {
	for _, p := range pairs {
		if p.New.Vulnerable == nil || p.New.Fixed == nil || p.Old.Vulnerable == nil || p.Old.Fixed == nil {
			return false
		}
	}
	return true
}

// ofSubject is the metric of a capture as a whole, and over how many runs it is.
func (m gateMetric) ofSubject(s *Subject) (value *float64, n int) {
	if m.base == metricCost {
		const dollar = 1e6 // micros
		if micros := s.costPerCorrect(); micros != nil {
			dollars := *micros / dollar
			return &dollars, int(s.Spend.Runs)
		}
		return nil, 0
	}
	errored, sent := s.errors()
	if sent == 0 {
		return nil, 0
	}
	rate := float64(errored) / float64(sent)
	return &rate, int(sent)
}

func count(b bool) int {
	if b {
		return 1
	}
	return 0
}
