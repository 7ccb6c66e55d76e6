package compare

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/youden-bench/youden/corpus"
	"github.com/youden-bench/youden/measurements"
)

// gateShape has families f0, f1, ... of so many pairs in slice s.
func gateShape(k int, sizes ...int) Shape {
	s := Shape{K: k}
	for f, size := range sizes {
		for i := range size {
			id := fmt.Sprintf("f%d-%d", f, i)
			s.Cases = append(s.Cases, CaseShape{ID: id, Hash: id, Slice: "s", Family: fmt.Sprintf("f%d", f), Vulnerable: true, Fixed: true})
		}
	}
	return s
}

// wrongs makes the case with so many wrong runs.
func (s Shape) wrongs(counts []int) []measurements.CaseScore {
	list := make([]measurements.CaseScore, len(s.Cases))
	for i, c := range s.Cases {
		list[i] = c.synthetic(s.K, counts[2*i], counts[2*i+1])
	}
	return list
}

// oneThread skips a test that tries thousands of captures, one after the other,
// under the race detector.
func oneThread(t *testing.T) {
	if raced {
		t.Skip("nothing here runs at once, and the race detector makes it slow")
	}
}

// every calls each with every list of n digits below base.
func every(n, base int, each func([]int)) {
	digits := make([]int, n)
	for {
		each(digits)
		at := 0
		for ; at < n; at++ {
			if digits[at]++; digits[at] < base {
				break
			}
			digits[at] = 0
		}
		if at == n {
			return
		}
	}
}

func gatePlaces(sizes []int) []gatePlace {
	places := []gatePlace{{}, {slice: "s"}}
	for f := range sizes {
		places = append(places, gatePlace{slice: "s", family: fmt.Sprintf("f%d", f)})
	}
	return places
}

func levelMetrics() []gateMetric {
	var list []gateMetric
	for _, m := range gateMetrics() {
		if !m.delta && !m.whole() {
			list = append(list, m)
		}
	}
	return list
}

func TestGateReachOfLevelsIsExact(t *testing.T) {
	oneThread(t)
	for _, s := range []struct {
		k     int
		sizes []int
	}{{1, []int{2, 1}}, {3, []int{1}}, {3, []int{2}}, {2, []int{1, 1}}, {2, []int{2, 1}}} {
		t.Run(fmt.Sprint(s.sizes, " at ", s.k), func(t *testing.T) {
			shape := gateShape(s.k, s.sizes...)
			for _, at := range gatePlaces(s.sizes) {
				for _, m := range levelMetrics() {
					got := m.reach(shape.Cases, s.k, at, true)
					low, high := math.Inf(1), math.Inf(-1)
					every(2*len(shape.Cases), s.k+1, func(counts []int) {
						if v, _ := m.level(shape.wrongs(counts), at); v != nil {
							low, high = math.Min(low, *v), math.Max(high, *v)
						}
					})
					require.NotNil(t, got, m)
					assert.InDelta(t, low, got.lowest, 1e-9, "%s of %v", m, at)
					assert.InDelta(t, high, got.highest, 1e-9, "%s of %v", m, at)
				}
			}
		})
	}
}

// Sides that differ in number are at their best in different captures.
func TestGateReachOfUnequalSidesIsExact(t *testing.T) {
	oneThread(t)
	for _, sides := range []string{"vvvvf", "vfff", "bvf"} {
		shape := Shape{K: 5}
		for i, side := range sides {
			id := fmt.Sprint(i)
			shape.Cases = append(shape.Cases, CaseShape{ID: id, Hash: id, Slice: "s", Family: "f0", Vulnerable: side != 'f', Fixed: side != 'v'})
		}
		singles := len(sides) - strings.Count(sides, "b")
		for _, end := range []string{endLo, endHi} {
			m := gateMetric{base: metricJ, end: end}
			low, high := math.Inf(1), math.Inf(-1)
			every(2*len(sides)-singles, shape.K+1, func(digits []int) {
				counts, at := make([]int, 2*len(sides)), 0
				for i, c := range shape.Cases {
					if c.Vulnerable {
						counts[2*i] = digits[at]
						at++
					}
					if c.Fixed {
						counts[2*i+1] = digits[at]
						at++
					}
				}
				v, _ := m.level(shape.wrongs(counts), gatePlace{})
				low, high = math.Min(low, *v), math.Max(high, *v)
			})
			got := m.reach(shape.Cases, shape.K, gatePlace{}, true)
			assert.InDelta(t, low, got.lowest, 1e-9, "%s of %s", m, sides)
			assert.InDelta(t, high, got.highest, 1e-9, "%s of %s", m, sides)
		}
	}
}

// With 20 runs, one wrong among three bugs and none on the only clean side.
func TestGateReachOfJMixesSides(t *testing.T) {
	shape := Shape{Cases: []CaseShape{{ID: "x", Slice: "s", Family: "f", Fixed: true}}}
	for i := range 3 {
		shape.Cases = append(shape.Cases, CaseShape{ID: fmt.Sprint(i), Slice: "s", Family: "f", Vulnerable: true})
	}
	m := gateMetric{base: metricJ, end: endLo}
	mixed, _ := m.level([]measurements.CaseScore{
		shape.Cases[0].synthetic(20, 0, 0), shape.Cases[1].synthetic(20, 1, 0), shape.Cases[2].synthetic(20, 0, 0), shape.Cases[3].synthetic(20, 0, 0),
	}, gatePlace{})
	assert.InDelta(t, *mixed, m.reach(shape.Cases, 20, gatePlace{}, true).highest, 1e-12)
	assert.InDelta(t, .0034, *mixed, .0001)
}

// No capture lies outside the reach, whatever its size and whatever it lost.
func TestGateReachHoldsEveryCapture(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k := rapid.IntRange(1, 6).Draw(t, "k")
		sizes := rapid.SliceOfN(rapid.IntRange(1, 5), 1, 4).Draw(t, "sizes")
		shape := gateShape(k, sizes...)
		near := rapid.Bool().Draw(t, "nearly right")
		list := make([]measurements.CaseScore, len(shape.Cases))
		for i, c := range shape.Cases {
			draw := func(name string) int {
				if near {
					return rapid.SampledFrom([]int{0, 0, 0, 1}).Draw(t, name)
				}
				return rapid.IntRange(0, k).Draw(t, name)
			}
			list[i] = c.synthetic(k, draw("vulnerable"), draw("fixed"))
			for _, tally := range []*measurements.Tally{list[i].Vulnerable, list[i].Fixed} {
				lost := rapid.SampledFrom([]int{0, 0, 0, 1, k}).Draw(t, "lost")
				tally.Counted -= lost
				tally.Positive = max(0, min(tally.Positive, tally.Counted))
			}
		}
		for _, at := range gatePlaces(sizes) {
			for _, m := range levelMetrics() {
				r := m.reach(shape.Cases, k, at, true)
				if v, _ := m.level(list, at); v != nil && (*v < r.lowest-rounding || *v > r.highest+rounding) {
					t.Fatalf("%s of %v is %v, outside %v", m, at, *v, *r)
				}
			}
		}
	})
}

func deltaMetrics() []gateMetric {
	var list []gateMetric
	for _, m := range gateMetrics() {
		if m.delta {
			list = append(list, m)
		}
	}
	return list
}

func TestGateReachOfDifferencesIsExact(t *testing.T) {
	oneThread(t)
	for _, sizes := range [][]int{{2}, {1, 1}, {2, 1}} {
		t.Run(fmt.Sprint(sizes), func(t *testing.T) {
			shape := gateShape(1, sizes...)
			for _, at := range gatePlaces(sizes) {
				for _, m := range deltaMetrics() {
					low, high := math.Inf(1), math.Inf(-1)
					every(2*len(shape.Cases), 3, func(steps []int) {
						if v, _ := m.difference(shape.steps(steps), at); v != nil {
							low, high = math.Min(low, *v), math.Max(high, *v)
						}
					})
					got := m.differenceReach(shape.Cases, at, true)
					if low > high {
						assert.Nil(t, got, "%s of %v", m, at)
						continue
					}
					require.NotNil(t, got, m)
					assert.InDelta(t, low, got.lowest, 1e-9, "%s of %v", m, at)
					assert.InDelta(t, high, got.highest, 1e-9, "%s of %v", m, at)
				}
			}
		})
	}
}

// steps makes pairs of single runs whose sides fall (0), stay (1) or rise (2).
func (s Shape) steps(steps []int) []Pair {
	pairs := make([]Pair, len(s.Cases))
	for i, c := range s.Cases {
		v, f := steps[2*i], steps[2*i+1]
		old, updated := c.synthetic(1, v/2, f/2), c.synthetic(1, 1-(v+1)/2, 1-(f+1)/2)
		pairs[i] = Pair{Old: &old, New: &updated}
	}
	return pairs
}

func TestGateReachHoldsEveryDifference(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sizes := rapid.SliceOfN(rapid.IntRange(1, 6), 1, 4).Draw(t, "sizes")
		shape := gateShape(2, sizes...)
		var pairs []Pair
		for _, c := range shape.Cases {
			wrong := rapid.SliceOfN(rapid.SampledFrom([]int{0, 0, 1, 2, 2}), 4, 4).Draw(t, "wrong")
			old, updated := c.synthetic(2, wrong[0], wrong[1]), c.synthetic(2, wrong[2], wrong[3])
			pairs = append(pairs, Pair{Old: &old, New: &updated})
		}
		for _, at := range gatePlaces(sizes) {
			for _, m := range deltaMetrics() {
				r, v := m.differenceReach(shape.Cases, at, true), (*float64)(nil)
				if v, _ = m.difference(pairs, at); v == nil {
					continue
				}
				if r == nil || *v < r.lowest-rounding || *v > r.highest+rounding {
					t.Fatalf("%s of %v is %v, outside %v", m, at, *v, r)
				}
			}
		}
	})
}

// The lower end of a perfect capture is not the highest: all its runs agree, so
// that a case is one draw. One wrong run elsewhere shows that they are more.
func TestGateReachKnowsBetterThanPerfect(t *testing.T) {
	shape := gateShape(5, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3)
	at := gatePlace{slice: "s", family: "f0"}
	m := gateMetric{base: metricRecall, end: endLo}
	perfect, n := m.level(shape.wrongs(make([]int, 84)), at)
	r := m.reach(shape.Cases, 5, at, true)
	assert.Equal(t, 3, n)
	assert.InDelta(t, .464, *perfect, .001)
	assert.InDelta(t, .738, r.highest, .001)
	assert.Zero(t, r.lowest)
	alone := m.reach(shape.Cases, 1, at, true)
	assert.InDelta(t, *perfect, alone.highest, 1e-9, "one run a side is one draw")
}

func TestGateReachOfMissingSides(t *testing.T) {
	oneSided := Shape{K: 3, Cases: []CaseShape{{ID: "a", Hash: "a", Slice: "s", Family: "f", Vulnerable: true}, {ID: "b", Hash: "b", Slice: "s", Family: "f", Vulnerable: true}}}
	for _, m := range levelMetrics() {
		r := m.reach(oneSided.Cases, 3, gatePlace{}, true)
		if m.base == metricRecall {
			assert.NotNil(t, r, m)
		} else {
			assert.Nil(t, r, m)
		}
	}
	for _, m := range deltaMetrics() {
		r := m.differenceReach(oneSided.Cases, gatePlace{}, true)
		if m.base == metricRecall {
			assert.NotNil(t, r, m)
		} else {
			assert.Nil(t, r, m)
		}
	}
	assert.Equal(t, &gateReach{0, 1}, gateMetric{base: metricErrorRate}.reach(nil, 1, gatePlace{}, true))
	assert.Equal(t, &gateReach{0, math.Inf(1)}, gateMetric{base: metricCost}.reach(nil, 1, gatePlace{}, true))
	side := oneSided.Cases[0].synthetic(3, 1, 0)
	assert.Equal(t, corpus.Vulnerable, side.Vulnerable.Side)
	assert.Nil(t, side.Fixed)
}
