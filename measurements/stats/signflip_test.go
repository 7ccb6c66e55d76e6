package stats

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// fractions draws differences of rates as floats make them, ties, zeros and all.
func fractions(t *rapid.T, cases int) []float64 {
	d := make([]float64, cases)
	for i := range d {
		old, updated := rapid.IntRange(1, 7).Draw(t, "old"), rapid.IntRange(1, 7).Draw(t, "new")
		d[i] = float64(rapid.IntRange(0, updated).Draw(t, "x"))/float64(updated) -
			float64(rapid.IntRange(0, old).Draw(t, "y"))/float64(old)
	}
	return d
}

// enumerateFlips goes through all sign vectors of all differences.
func enumerateFlips(d []float64) float64 {
	observed := 0.0
	for _, v := range d {
		observed += v
	}
	extreme := 0
	for signs := range 1 << len(d) {
		sum := 0.0
		for i, v := range d {
			if signs>>i&1 == 1 {
				v = -v
			}
			sum += v
		}
		if math.Abs(sum) >= math.Abs(observed)-1e-9 {
			extreme++
		}
	}
	return math.Ldexp(float64(extreme), -len(d))
}

func TestSignFlipIsTheEnumeration(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := fractions(t, rapid.IntRange(1, 11).Draw(t, "cases"))
		f := SignFlip(d, 1)
		if want := enumerateFlips(d); math.Abs(f.P-want) > 1e-12 || f.Draws != 0 {
			t.Fatalf("%v: %+v, want %v", d, f, want)
		}
		if f.P < f.Smallest-1e-15 {
			t.Fatalf("%v is below the smallest possible %v", f.P, f.Smallest)
		}
	})
}

func TestSignFlipKnown(t *testing.T) {
	for _, tt := range []struct {
		name        string
		d           []float64
		p, smallest float64
		changed     int
	}{
		{"six losses", []float64{-1, -1, -1, -1, -1, -1, 0}, 2.0 / 64, 2.0 / 64, 6},
		{"five of one sign", []float64{-.2, -.4, -.6, -.2, -1}, 2.0 / 32, 2.0 / 32, 5},
		{"one case", []float64{.4}, 1, 1, 1},
		{"balanced", []float64{.2, -.2}, 1, .5, 2},
		{"rounding hides no zero", []float64{.6 - .4 - .2, 0}, 1, 1, 0},
		{"three equal", []float64{1, 1, 1}, .25, .25, 3},
		{"sums that float apart", []float64{.6 - .4, .2, -.4, .2, .2}, enumerateFlips([]float64{.2, .2, -.4, .2, .2}), 2.0 / 32, 5},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := SignFlip(tt.d, 1)
			require.NotNil(t, f)
			assert.InDelta(t, tt.p, f.P, 1e-12)
			assert.Equal(t, tt.smallest, f.Smallest)
			assert.Equal(t, tt.changed, f.Changed)
			assert.Equal(t, f.Smallest >= .05, len(f.Warnings) > 0, "too few changed cases are said: %v", f.Warnings)
		})
	}
}

// Fisher's test of Darwin's maize (The Design of Experiments, 1935, section 21):
// of 2^15 sign vectors, 863 give a sum as high or higher one way; eighths of an
// inch, here in units that fit a difference.
func TestSignFlipOfDarwinsMaize(t *testing.T) {
	eighths := []float64{49, -67, 8, 16, 6, 23, 28, 41, 14, 29, 56, 24, 75, 60, -48}
	d := make([]float64, len(eighths))
	for i, v := range eighths {
		d[i] = v / 64
	}
	assert.InDelta(t, 2*863.0/32768, SignFlip(d, 1).P, 1e-12)
}

func TestSignFlipSymmetry(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := fractions(t, rapid.IntRange(1, 60).Draw(t, "cases"))
		mirrored := make([]float64, len(d), len(d)+3)
		for i, v := range d {
			mirrored[i] = -v
		}
		mirrored = append(mirrored, 0, 0, 0)
		a, b := SignFlip(d, 1), SignFlip(mirrored, 2)
		if math.Abs(a.P-b.P) > 1e-12 || a.Smallest != b.Smallest {
			t.Fatalf("mirrored, with unchanged cases added: %+v and %+v", a, b)
		}
	})
}

func TestSignFlipDrawnAgreesWithExact(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	for name, distinct := range map[string]int{"many of each": 5, "some of each": 20, "few of each": 100} {
		var sizes []int64
		observed := int64(0)
		for range max(100, 300-5*distinct) {
			size := ticks(float64(1+rng.IntN(distinct)) / float64(distinct))
			sizes = append(sizes, size)
			if rng.Float64() < .56 {
				observed += size
			} else {
				observed -= size
			}
		}
		slices.Sort(sizes)
		exact, ok := flipExact(sizes, observed, flipWork)
		require.True(t, ok)
		drawn := flipDrawn(sizes, observed, 1)
		t.Logf("%s: exact %.4f, drawn %.4f", name, exact, drawn)
		assert.InDelta(t, exact, drawn, 4*math.Sqrt(exact*(1-exact)/flipDraws)+1/float64(flipDraws), name)
		assert.Equal(t, drawn, flipDrawn(sizes, observed, 1), "the seed decides")
	}
}

func TestSignFlipOfManyIsDrawn(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 6))
	d := make([]float64, 40) // no two sums coincide
	for i := range d {
		d[i] = rng.Float64() - .9
	}
	f := SignFlip(d, 3)
	assert.Equal(t, flipDraws, f.Draws)
	assert.Equal(t, 1/20001.0, f.Smallest)
	assert.GreaterOrEqual(t, f.P, f.Smallest)
	assert.Equal(t, f, SignFlip(d, 3))
}

func TestNoDifferenceIsNil(t *testing.T) {
	for _, d := range [][]float64{nil, {math.NaN()}, {.1, math.Inf(1)}, {3}} {
		assert.Nil(t, SignFlip(d, 1), d)
		assert.Nil(t, MaxT([]Family{{Name: "a", D: d}}, 10, 1), d)
		assert.Nil(t, PooledT([]Family{{Name: "a", D: d}}, level), d)
		assert.Nil(t, LeaveWorstOut(d), d)
	}
}

func BenchmarkSignFlip(b *testing.B) {
	for _, size := range []struct{ cases, k int }{{42, 5}, {800, 5}, {10_000, 50}, {100_000, 5}} {
		rng := rand.New(rand.NewPCG(1, 2))
		d := make([]float64, size.cases)
		for i := range d {
			d[i] = float64(rng.IntN(4*size.k+1)-2*size.k) / float64(size.k)
		}
		b.Run(fmt.Sprintf("cases=%d/k=%d", size.cases, size.k), func(b *testing.B) {
			for b.Loop() {
				SignFlip(d, 1)
			}
		})
	}
}
