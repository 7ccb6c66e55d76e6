package stats

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// enumerateDeals goes through all deals of cases to families and returns the
// share of them whose largest statistic reaches each family's.
func enumerateDeals(families []Family) []float64 {
	var all []float64
	var places []int
	statistic := func(places []int, f int) float64 {
		sum := 0.0
		for i, p := range places {
			if p == f {
				sum -= all[i]
			}
		}
		return sum / math.Sqrt(float64(len(families[f].D)))
	}
	for f, family := range families {
		for _, d := range family.D {
			all = append(all, d)
			places = append(places, f)
		}
	}
	observed := make([]float64, len(families))
	for f := range families {
		observed[f] = statistic(places, f)
	}
	reached, deals := make([]float64, len(families)), 0.0
	free := make([]int, len(families))
	for f, family := range families {
		free[f] = len(family.D)
	}
	dealt := make([]int, len(all))
	var walk func(i int)
	walk = func(i int) {
		if i == len(all) {
			deals++
			largest := math.Inf(-1)
			for f := range families {
				if !families[f].Bystander {
					largest = math.Max(largest, statistic(dealt, f))
				}
			}
			for f := range families {
				if largest >= observed[f]-1e-9 {
					reached[f]++
				}
			}
			return
		}
		for f := range free {
			if free[f] > 0 {
				free[f]--
				dealt[i] = f
				walk(i + 1)
				free[f]++
			}
		}
	}
	walk(0)
	for f := range reached {
		reached[f] /= deals
	}
	return reached
}

func TestMaxTIsTheEnumeration(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 8))
	for _, sizes := range [][]int{{3, 3}, {3, 5}, {3, 4, 3}, {3, 3, 3}} {
		for repetition := range 4 {
			var families []Family
			for f, n := range sizes {
				family := Family{Name: fmt.Sprint(f), Bystander: f > 0 && repetition > 1}
				for range n {
					d := float64(rng.IntN(11)-5) / 5
					if f == 0 {
						d -= .6
					}
					family.D = append(family.D, d)
				}
				families = append(families, family)
			}
			want := enumerateDeals(families)
			const draws = 20_000
			got := MaxT(families, draws, 1)
			for f, p := range want {
				if families[f].Bystander {
					assert.Nil(t, got.Families[f].P, "a bystander is not tested")
					continue
				}
				require.NotNil(t, got.Families[f].P)
				assert.InDelta(t, p, *got.Families[f].P, 4.5*math.Sqrt(p*(1-p)/draws)+1/float64(draws), "family %d of %v: %v", f, sizes, families)
			}
		}
	}
}

func TestMaxTPicksOutTheFamily(t *testing.T) {
	families := []Family{{Name: "two", D: []float64{-2, -2}}}
	for f := range 13 {
		families = append(families, Family{Name: fmt.Sprint(f), D: []float64{.2, -.2, 0}})
	}
	families[6].D = []float64{.2, -.4, -.6}
	families = append(families, Family{Name: "gone", D: []float64{-1, -.8, -1}})
	p := MaxT(families, MaxTDraws, 1)
	require.Len(t, p.Families, 15)
	assert.Nil(t, p.Families[0].P, "two cases are shown, not tested")
	assert.NotEmpty(t, p.Families[0].Warnings)
	assert.Equal(t, 42, p.Cases, "and do not enter the deal")
	assert.Less(t, *p.Families[14].P, .01)
	assert.Greater(t, *p.Families[1].P, .5)
	assert.Equal(t, p, MaxT(families, MaxTDraws, 1), "the seed decides")
	assert.NotEqual(t, p, MaxT(families, MaxTDraws, 2))
}

func TestMaxTProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var families []Family
		for f := range rapid.IntRange(1, 5).Draw(t, "families") {
			families = append(families, Family{Name: fmt.Sprint(f), D: fractions(t, rapid.IntRange(1, 6).Draw(t, "cases"))})
		}
		const draws = 200
		p := MaxT(families, draws, 1)
		statistic := func(f int) float64 {
			sum := 0.0
			for _, d := range families[f].D {
				sum -= d
			}
			return sum / math.Sqrt(float64(len(families[f].D)))
		}
		for a, fa := range p.Families {
			if fa.P == nil {
				continue
			}
			if *fa.P < p.Smallest || *fa.P > 1 {
				t.Fatalf("p %v", *fa.P)
			}
			for b, fb := range p.Families {
				if fb.P != nil && statistic(a) > statistic(b)+1e-6 && *fa.P > *fb.P {
					t.Fatalf("families %d and %d: the larger drop has the larger p: %v, %v", a, b, *fa.P, *fb.P)
				}
			}
		}
	})
}

func TestMaxTNeedsOthers(t *testing.T) {
	alone := MaxT([]Family{{Name: "a", D: []float64{-1, -1, -1}}, {Name: "b", D: []float64{0, 0}}}, 100, 1)
	require.NotNil(t, alone)
	assert.Nil(t, alone.Families[0].P)
	assert.NotEmpty(t, alone.Warnings)
	assert.Nil(t, MaxT([]Family{{Name: "a", D: []float64{1}}}, 0, 1))
	same := MaxT([]Family{{Name: "a", D: []float64{-1, -1, -1}}, {Name: "b", D: []float64{-1, -1, -1}}}, 100, 1)
	assert.Equal(t, 1.0, *same.Families[0].P, "a drop that all share is no family's")
}

// Under a true null the smallest p over families is below .05 in at most 5 % of
// data sets, whatever the spread.
func TestMaxTHoldsItsLevel(t *testing.T) {
	const sets = 400
	below := 0
	for i := range uint64(sets) {
		rng := rand.New(rand.NewPCG(i, 4))
		var families []Family
		for f := range 8 {
			family := Family{Name: fmt.Sprint(f)}
			for range 3 + f%3 {
				family.D = append(family.D, float64(rng.IntN(6)-rng.IntN(6))/5)
			}
			families = append(families, family)
		}
		for _, f := range MaxT(families, 199, i).Families {
			if *f.P <= .05 {
				below++
				break
			}
		}
	}
	t.Logf("%.3f of data sets without a difference below .05", float64(below)/sets)
	assert.Less(t, float64(below)/sets, .05+3*math.Sqrt(.05*.95/sets))
}

func TestDiceAreFair(t *testing.T) {
	d := dice{rand.NewPCG(1, 1)}
	const throws = 140_000
	once, thrice := make([]int, 7), make([]int, 7*6*5)
	for range throws {
		once[d.one(7)]++
		a, b, c := d.three(7)
		thrice[(a*6+b)*5+c]++
	}
	for _, counts := range [][]int{once, thrice} {
		expected := throws / float64(len(counts))
		for _, c := range counts {
			assert.InDelta(t, expected, c, 4.5*math.Sqrt(expected))
		}
	}
	assert.Equal(t, uint64(0), d.one(1))
	// The largest bounds refuse words.
	const n = mostInThree
	sum := 0.0
	for range throws {
		a, b, c := d.three(n)
		require.True(t, a < n && b < n-1 && c < n-2)
		sum += float64(a) + float64(b) + float64(c)
	}
	assert.InDelta(t, 1.5*n, sum/throws, 4*n*math.Sqrt(3.0/12/throws))
}

func BenchmarkMaxT(b *testing.B) {
	for _, size := range []struct{ cases, k int }{{42, 5}, {1000, 5}, {10_000, 50}, {100_000, 5}} {
		rng := rand.New(rand.NewPCG(1, 2))
		families := make([]Family, 14)
		for i := range size.cases {
			f := &families[i%14]
			f.D = append(f.D, float64(rng.IntN(2*size.k+1)-size.k)/float64(size.k))
		}
		b.Run(fmt.Sprintf("cases=%d/k=%d", size.cases, size.k), func(b *testing.B) {
			for b.Loop() {
				MaxT(families, MaxTDraws, 1)
			}
		})
	}
}
