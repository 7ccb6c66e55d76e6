package compare

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

// doubt is how unlikely a simulated frequency must be under a bound before the bound
// counts as broken: a hundred rows a run of the tests, over years of seeds.
const doubt = 1e-4

// frequency is how often something was so in a simulation.
type frequency struct{ hits, of int }

func (s *frequency) count(hit bool) {
	s.of++
	if hit {
		s.hits++
	}
}

func (s frequency) rate() float64 { return float64(s.hits) / float64(s.of) }

func (s frequency) se() float64 { return math.Sqrt(s.rate() * (1 - s.rate()) / float64(s.of)) }

func (s frequency) String() string { return fmt.Sprintf("%.3f (%d of %d)", s.rate(), s.hits, s.of) }

// above says that the true frequency surely lies above a bound: were it there, so
// many hits would be next to impossible.
func (s frequency) above(bound float64) bool {
	return s.hits > 0 && distuv.Binomial{N: float64(s.of), P: bound}.Survival(float64(s.hits-1)) < doubt
}

// below says the same of the other side.
func (s frequency) below(bound float64) bool {
	return s.hits < s.of && distuv.Binomial{N: float64(s.of), P: bound}.CDF(float64(s.hits)) < doubt
}

// clustered is a frequency whose parts come in bunches: the intervals of the families
// of one capture, which all lean on its intraclass correlation.
type clustered struct{ bunches []float64 }

func (c clustered) rate() float64 { return stat.Mean(c.bunches, nil) }

func (c clustered) se() float64 {
	return stat.StdDev(c.bunches, nil) / math.Sqrt(float64(len(c.bunches)))
}

func (c clustered) below(bound float64) bool {
	return c.rate() < bound-distuv.UnitNormal.Quantile(1-doubt)*c.se()
}

func TestFrequencyDoubts(t *testing.T) {
	assert.False(t, frequency{8, 300}.above(.025), "a little above is chance")
	assert.True(t, frequency{24, 300}.above(.025))
	assert.False(t, frequency{0, 300}.above(.025))
	assert.False(t, frequency{120, 300}.below(.44))
	assert.True(t, frequency{90, 300}.below(.44))
	assert.False(t, frequency{300, 300}.below(.97))
	bunches := make([]float64, 100)
	for i := range bunches {
		bunches[i] = .9 + .1*float64(i%2)
	}
	assert.False(t, clustered{bunches}.below(.96))
	assert.True(t, clustered{bunches}.below(.98))
}
