package stats

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// dealOf is families of mixed sizes with differences of rates over 3 to 5 runs.
func dealOf(cases int, seed uint64) *deal {
	rng := rand.New(rand.NewPCG(seed, 11))
	families := make([]Family, 9)
	for i := range cases {
		old, updated := 3+rng.IntN(3), 3+rng.IntN(3)
		f := &families[min(i%len(families), rng.IntN(2*len(families)))]
		f.D = append(f.D, float64(rng.IntN(updated+1))/float64(updated)-float64(rng.IntN(old+1))/float64(old))
	}
	var d deal
	for _, f := range families {
		d.add(f)
	}
	return &d
}

// Every sum of every turn is that of the cases on the family's places, and each case
// is dealt once.
func TestRotationSumsAreExact(t *testing.T) {
	for _, size := range []struct{ cases, draws int }{{50, 30}, {777, 300}, {5000, 2000}, {40_000, 500}} {
		const seed = 7
		d := dealOf(size.cases, 1)
		r := newRotation(d, size.draws, seed)
		c := r.correlator()
		want, made := make([][]int64, len(d.sizes)), 0
		for i, o := range r.orders {
			drops := shuffled(d.changed, size.cases, rand.NewPCG(seed, uint64(i+1)))
			for turn := range o.turns {
				made++
				sums := make([]int64, len(d.sizes))
				for place, label := range r.labels {
					sums[label] += drops[(place+turn)%size.cases]
				}
				for f, sum := range sums {
					want[f] = append(want[f], sum)
				}
			}
		}
		require.Equal(t, size.draws, made)
		for f := range d.sizes {
			require.Equal(t, want[f], c.sums(uint32(f)), "family %d of %v", f, size)
		}
	}
}

// Both ways to deal give the same chances, and turns scatter them no more than
// deals that have nothing in common.
func TestRotationsAreDeals(t *testing.T) {
	const draws, tries = 2_000, 60
	d := dealOf(2_000, 2)
	slices.Sort(d.changed)
	reference := d.largest(40_000, 1)
	slices.Sort(reference)
	for _, p := range []float64{.5, .1, .01} {
		limit := reference[int(float64(len(reference))*(1-p))]
		above := func(list []float64) float64 {
			n := 0
			for _, v := range list {
				n += int(indicator(v >= limit))
			}
			return float64(n) / float64(len(list))
		}
		p = above(reference)
		mean, square := 0.0, 0.0
		for seed := range uint64(tries) {
			share := above(newRotation(d, draws, seed).largest())
			mean += share / tries
			square += (share - p) * (share - p) / tries
		}
		variance := p * (1 - p) / draws
		t.Logf("p %.4f: turns %.4f, with %.2f of the variance of deals", p, mean, square/variance)
		assert.InDelta(t, p, mean, 4.5*math.Sqrt(variance/tries+p*(1-p)/float64(len(reference))))
		assert.Less(t, square/variance, 1+4.5*math.Sqrt(2.0/tries))
	}
}

func TestRotationFollowsItsSeed(t *testing.T) {
	d := dealOf(manyPlaces, 3)
	a := d.exceed(1000, 1)
	assert.Equal(t, a, d.exceed(1000, 1))
	assert.NotEqual(t, a, d.exceed(1000, 2))
}
