package compare

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/youden-bench/youden/measurements/stats"
)

// A plan holds what it says: as many runs as are said to be needed are enough, one
// fewer is not, and OLD keeps the runs that it has.
func TestRunsAreThoseOfNew(t *testing.T) {
	for _, oldK := range []int{5, 20} {
		s := measured(oldK, steady())
		for _, drop := range MeasurePower(s, 5, 0, []float64{.1, .15, .2}).Drops {
			if drop.Runs == nil {
				assert.NotEmpty(t, drop.Why, "what no number of runs can do is explained")
				continue
			}
			found := func(newK int) float64 { return *MeasurePower(s, newK, 0, []float64{drop.Drop}).Drops[0].Found }
			assert.GreaterOrEqual(t, found(*drop.Runs), .8)
			if *drop.Runs > 1 {
				assert.Less(t, found(*drop.Runs-1), .8)
			}
		}
	}
}

func TestWhatNoNumberDoesIsExplained(t *testing.T) {
	s := measured(5, steady())
	for _, test := range []struct {
		drop, churn float64
		want        string
	}{
		{.05, 0, "half of the captures of a detector that fell by as much measure less"},
		{.02, 0, "FAIL takes a measured drop of .05"},
		{.1, .3, "no number of runs makes up for so few cases as 26"},
	} {
		d := MeasurePower(s, 5, test.churn, []float64{test.drop}).Drops[0]
		assert.Nil(t, d.Runs)
		assert.Contains(t, d.Why, test.want)
	}
	d := MeasurePower(s, 5, 0, []float64{.11}).Drops[0]
	require.NotNil(t, d.Both)
	assert.Nil(t, d.Runs)
	assert.Contains(t, d.Why, "while OLD has 5 a side")
	for _, d := range MeasurePower(measured(1, steady1()), 1, 0, []float64{.05, .1}).Drops {
		assert.Empty(t, d.Why, "of what is not known nothing is claimed")
	}
}

// steady1 has one run a side.
func steady1() map[string][][2]int {
	return map[string][][2]int{"crypto": times(6, [2]int{1, 0}, [2]int{0, 1}), "path": times(9, [2]int{1, 1}, [2]int{1, 0})}
}

// Each churn is what asking for it alone says, and those that are usual stand beside it.
func TestChurnsStandBesideEachOther(t *testing.T) {
	s := measured(5, steady())
	for churn, want := range map[float64][]float64{0: {0, .05}, .05: {0, .05}, .02: {0, .02, .05}, .3: {0, .05, .3}} {
		p := MeasurePower(s, 10, churn, nil)
		var churns []float64
		for _, c := range p.Churns {
			churns = append(churns, c.Churn)
			alone := MeasurePower(s, 10, c.Churn, nil)
			assert.Equal(t, alone.Detectable, c.Detectable)
			assert.Equal(t, alone.Removable, c.Removable)
		}
		assert.Equal(t, want, churns)
		assert.InDelta(t, 1, *p.Churns[0].Removable, 1e-9)
		assert.Less(t, *p.Churns[1].Removable, 1.)
		assert.InDelta(t, *p.Churns[0].RuledOut, *stats.HalfWidth(stats.SplitY(oldHalves(pairsOf(s))).Against(0, 5, 10), stats.Design{Cases: 26, OldRuns: 5, NewRuns: 10}, level), 1e-12)
	}
}

func pairsOf(s *Subject) (pairs []Pair) {
	for i := range s.Cases {
		pairs = append(pairs, Pair{&s.Cases[i], &s.Cases[i]})
	}
	return pairs
}

// The copy scatters as a second capture would: sides whose runs disagree move, those
// whose runs agree do not, and none has other runs than before.
func TestSelfTestDrawsAnew(t *testing.T) {
	s := measured(20, map[string][][2]int{"a": times(200, [2]int{10, 0}), "b": times(200, [2]int{20, 4})})
	copied := anew(s, 1)
	hits, squares, leaks := 0., 0., 0.
	for i, c := range copied.Cases {
		before := s.Cases[i]
		assert.Equal(t, before.Vulnerable.Counted, c.Vulnerable.Counted)
		assert.Equal(t, before.Vulnerable.Trajectories(), c.Vulnerable.Trajectories())
		switch c.Family {
		case "a":
			hits += float64(c.Vulnerable.Positive) / 200
			squares += float64(c.Vulnerable.Positive*c.Vulnerable.Positive) / 200
			assert.Zero(t, c.Fixed.Positive)
		case "b":
			assert.Equal(t, 20, c.Vulnerable.Positive)
			leaks += float64(c.Fixed.Positive) / 200
		}
	}
	assert.InDelta(t, 10, hits, .7, "20 draws at one half")
	assert.InDelta(t, math.Sqrt(5), math.Sqrt(squares-hits*hits), .4)
	assert.InDelta(t, 4, leaks, .5)
	assert.Equal(t, 10, s.Cases[0].Vulnerable.Positive, "the subject stays as it is")
	assert.Equal(t, copied, anew(s, 1), "the seed decides")
	assert.NotEqual(t, copied.Cases, anew(s, 2).Cases)
}

func TestSelfTest(t *testing.T) {
	s := measured(5, steady())
	for seed := range uint64(5) {
		planted := RunSelfTest(s, Options{Seed: seed})
		assert.True(t, planted.Passes())
		assert.Equal(t, 1, planted.Untested(), "ssrf has two cases")
		assert.Len(t, planted.Families, 4)
	}
	assert.False(t, RunSelfTest(measured(5, map[string][][2]int{"a": times(2, [2]int{5, 0})}), Options{}).Passes(), "2 cases say nothing")
}
