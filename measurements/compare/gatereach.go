package compare

import (
	"math"

	"github.com/youden-bench/youden/measurements"
)

// gateReach is the range of a metric over all captures of a shape. It is nil
// where no such capture has the metric.
type gateReach struct{ lowest, highest float64 }

// reach finds the range of a level over k runs a side. The values are those of
// captures that could be, measured by the code that measures real ones: of the
// two plainest, which mostly show that a gate can pass and fail, or thoroughly.
func (m gateMetric) reach(cases []CaseShape, k int, at gatePlace, thorough bool) *gateReach {
	switch m.base {
	case metricErrorRate:
		return &gateReach{0, 1}
	case metricCost:
		return &gateReach{0, math.Inf(1)}
	}
	return m.span(m.extremes(cases, k, at, false, thorough), m.extremes(cases, k, at, true, thorough))
}

func (m gateMetric) span(sets ...[]*float64) *gateReach {
	r := gateReach{math.Inf(1), math.Inf(-1)}
	for _, values := range sets {
		for _, v := range values {
			if v != nil {
				r.lowest, r.highest = math.Min(r.lowest, *v), math.Max(r.highest, *v)
			}
		}
	}
	if r.lowest > r.highest {
		return nil
	}
	return &r
}

// extremes measures the captures whose metric is the highest, or the lowest. A
// perfect capture has the highest rate and not the highest lower end: when all
// runs agree, a case counts as one draw, whatever its number of runs (see
// stats.PooledICC). One wrong run is enough to tell that runs are independent:
// in every case outside the place, which leaves its rate at 1, or in one case of
// its smallest family. No correlation is lower than the 0 of these, and the
// effective n grows as it falls. J may be best with either on each side.
func (m gateMetric) extremes(cases []CaseShape, k int, at gatePlace, lowest, thorough bool) []*float64 {
	slips := []gateSlips{{}}
	if thorough && m.end != "" && k > 1 {
		one := gateSlips{vulnerable: smallestFamily(cases, at, false), fixed: smallestFamily(cases, at, true)}
		slips = append(slips, gateSlips{outside: true}, one)
	}
	var values []*float64
	for i, vulnerable := range slips {
		for j, fixed := range slips {
			if i != j && m.base != metricJ {
				continue // the other side does not count
			}
			value, _ := m.level(vulnerable.capture(cases, k, at, lowest, fixed), at)
			values = append(values, value)
		}
	}
	return values
}

// gateSlips says which sides of a capture are wrong once: all outside the place,
// or one on each side, by its number from 1.
type gateSlips struct {
	outside           bool
	vulnerable, fixed int
}

// capture has the vulnerable sides of s and the fixed ones of fixed: right but
// for the slips, or the other way round.
func (s gateSlips) capture(cases []CaseShape, k int, at gatePlace, wrong bool, fixed gateSlips) []measurements.CaseScore {
	list := make([]measurements.CaseScore, 0, len(cases))
	for i, c := range cases {
		outside := !at.holds(c.address())
		v := count(s.outside && outside || s.vulnerable == i+1)
		f := count(fixed.outside && outside || fixed.fixed == i+1)
		if wrong {
			v, f = k-v, k-f
		}
		list = append(list, c.synthetic(k, v, f))
	}
	return list
}

// smallestFamily is the number, from 1, of a case of the place with this side
// whose family has the fewest of them; 0 when there is none.
func smallestFamily(cases []CaseShape, at gatePlace, fixed bool) int {
	has := func(c CaseShape) bool {
		return at.holds(c.address()) && (c.Vulnerable && !fixed || c.Fixed && fixed)
	}
	type family struct{ slice, name string }
	sizes := map[family]int{}
	for _, c := range cases {
		if has(c) {
			sizes[family{c.Slice, c.Family}]++
		}
	}
	found, least := 0, math.MaxInt
	for i, c := range cases {
		if size := sizes[family{c.Slice, c.Family}]; has(c) && size < least {
			found, least = i+1, size
		}
	}
	return found
}

// differenceReach finds the range of a difference. Its lower end is the lowest
// where cases scatter most: some rise as far as they can and the others fall.
func (m gateMetric) differenceReach(cases []CaseShape, at gatePlace, thorough bool) *gateReach {
	rising, falling := m.moved(cases, at, len(cases), false), m.moved(cases, at, 0, false)
	sets := []*float64{rising, falling}
	if thorough && m.end != "" {
		inside := 0
		for _, c := range cases {
			inside += count(at.holds(c.address()))
		}
		low := m
		low.end = endLo
		scattered := low.scattered(cases, at, inside)
		if m.end == endHi && scattered != nil {
			mirrored := -*scattered
			scattered = &mirrored
		}
		sets = append(sets, scattered)
	}
	return m.span(sets)
}

// scattered is the lowest lower end over the number of cases that rise. It is
// convex in that number (a mean less a standard error), which halving finds.
func (m gateMetric) scattered(cases []CaseShape, at gatePlace, inside int) *float64 {
	from, to := 0, inside
	for from < to {
		half := (from + to) / 2
		a, b := m.moved(cases, at, half, true), m.moved(cases, at, half+1, true)
		if a == nil || b == nil {
			return nil
		}
		if *b < *a {
			from = half + 1
		} else {
			to = half
		}
	}
	return m.moved(cases, at, from, true)
}

// moved measures a comparison in which the first so many cases of the place rise
// from all wrong to all right, and the others fall. Outside the place all rise,
// or they rise and fall in turn within each family.
func (m gateMetric) moved(cases []CaseShape, at gatePlace, rise int, scatter bool) *float64 {
	var pairs []Pair
	turns := map[string]int{}
	for _, c := range cases {
		up := true
		switch {
		case at.holds(c.address()):
			up = rise > 0
			rise--
		case scatter:
			up = turns[c.Family]%2 == 0
			turns[c.Family]++
		}
		right, wrong := c.synthetic(1, 0, 0), c.synthetic(1, 1, 1)
		if up {
			pairs = append(pairs, Pair{Old: &wrong, New: &right})
		} else {
			pairs = append(pairs, Pair{Old: &right, New: &wrong})
		}
	}
	value, _ := m.difference(pairs, at)
	return value
}
