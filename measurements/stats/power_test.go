package stats

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/stat/distuv"
	"pgregory.net/rapid"
)

// comparison is a world to draw captures from: the settings of
// spec/statistics.md, beta-distributed difficulty, NEW shifted on the logit.
type comparison struct {
	families, n     int
	old, updated    int
	recall, silence float64
	icc             float64
	shift           float64 // of the first family
	shiftAll        float64
	lost            float64 // share of its recall that the first family loses
}

func (w comparison) draw(rng *rand.Rand) (cases []Case, firstDrop, drop float64) {
	scale := 1/w.icc - 1
	correct := func(p float64, runs int) (x int) {
		for range runs {
			if rng.Float64() < p {
				x++
			}
		}
		return x
	}
	for f := range w.families {
		for range w.n {
			c := Case{Family: fmt.Sprint(f)}
			move := w.shiftAll
			if f == 0 {
				move += w.shift
			}
			for side, mean := range []float64{w.recall, w.silence} {
				p := distuv.Beta{Alpha: mean * scale, Beta: (1 - mean) * scale, Src: rng}.Rand()
				odds := p / (1 - p) * math.Exp(-move)
				q := 1 - 1/(1+odds)
				if f == 0 && side == 0 {
					q *= 1 - w.lost
				}
				c.Strata = append(c.Strata, Stratum{w.old, correct(p, w.old), w.updated, correct(q, w.updated)})
				drop += (p - q) / float64(w.families*w.n)
				if f == 0 {
					firstDrop += (p - q) / float64(w.n)
				}
			}
			cases = append(cases, c)
		}
	}
	return cases, firstDrop, drop
}

// judge applies the family rule to the first family and the overall rule to all.
func (w comparison) judge(cases []Case, seed uint64) (family, overall bool) {
	families := make([]Family, w.families)
	exact := make([]*float64, w.families)
	var all []float64
	for f := range families {
		var strata []Stratum
		for _, c := range cases[f*w.n : (f+1)*w.n] {
			families[f].D = append(families[f].D, *c.D())
			strata = append(strata, c.Strata...)
		}
		all = append(all, families[f].D...)
		exact[f] = &ExactRuns(strata).Drop
	}
	p := MaxT(families, 2000, seed)
	flips := SignFlip(all, seed)
	r := Overall()
	return ByFamily().Fails(families[0].D, p.Families[0].P, Holm(exact)[0]), flips.P < r.Alpha && flips.Mean <= -r.Margin
}

var usual = comparison{families: 14, n: 3, old: 5, updated: 5, recall: .8, silence: .9, icc: .33}

// The closed forms against the rules themselves, simulated: at a drop they call
// detectable with power .8 the rule fires in .8 of draws, give or take .13.
func TestDetectableIsDetected(t *testing.T) {
	const repetitions = 100
	tests := []struct {
		name    string
		of      func(*comparison)
		overall bool
	}{
		{"family of 6", func(c *comparison) { c.n = 6; c.shift = 2.9 }, false},
		{"family of 10", func(c *comparison) { c.n = 10; c.shift = 1.95 }, false},
		{"family of 3, K 20", func(c *comparison) { c.old, c.updated, c.shift = 20, 20, 2.9 }, false},
		{"overall, 42 cases", func(c *comparison) { c.shiftAll = .72 }, true},
		{"overall, 84 cases", func(c *comparison) { c.n = 6; c.shiftAll = .52 }, true},
	}
	for i, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(20261130, uint64(i)))
			w := usual
			tt.of(&w)
			sizes := make([]int, w.families)
			for f := range sizes {
				sizes[f] = w.n
			}
			found, trueDrop, claimed := 0.0, 0.0, 0.0
			for r := range repetitions {
				cases, first, all := w.draw(rng)
				c := SplitD(cases)
				byFamily, overall := w.judge(cases, uint64(r))
				d, drop, fired := ByFamily().FamilyPower(*c, w.n, sizes, w.old, w.updated), first, byFamily
				if tt.overall {
					d, drop, fired = Overall().Detectable(*c, Design{len(cases), w.old, w.updated}), all, overall
				}
				require.NotNil(t, d.Drop)
				claimed += *d.Drop / repetitions
				trueDrop += drop / repetitions
				found += indicator(fired) / repetitions
			}
			t.Logf("a drop of %.3f is found in %.3f; called detectable at power .8: %.3f", trueDrop, found, claimed)
			assert.InDelta(t, trueDrop, claimed, .08*trueDrop+.03)
			assert.InDelta(t, .8, found, .13)
		})
	}
}

// The power of the family rule in the table of spec/statistics.md section 1,
// last row, where the family loses recall.
func TestFamilyRuleHasThePowerOfItsTable(t *testing.T) {
	const repetitions = 80
	for i, tt := range []struct {
		n, old     int
		drop, want float64
	}{{6, 5, .5, .67}, {6, 5, .76, .985}, {3, 20, .77, .83}, {3, 5, .77, .61}, {3, 5, .5, .17}} {
		w := usual
		w.n, w.old, w.lost = tt.n, tt.old, tt.drop/w.recall
		rng := rand.New(rand.NewPCG(20261130, uint64(10+i)))
		found := 0.0
		for r := range repetitions {
			cases, _, _ := w.draw(rng)
			fired, _ := w.judge(cases, uint64(r))
			found += indicator(fired) / repetitions
		}
		t.Logf("n = %d, K = %d and %d, drop %.2f: found in %.2f, table %.2f", tt.n, w.old, w.updated, tt.drop, found, tt.want)
		assert.InDelta(t, tt.want, found, .03+3*math.Sqrt(tt.want*(1-tt.want)/repetitions))
	}
}

func TestSplitByHand(t *testing.T) {
	side := func(oldRuns, old, newRuns, updated int) Stratum { return Stratum{oldRuns, old, newRuns, updated} }
	cases := []Case{
		{"a", []Stratum{side(5, 5, 4, 2), side(5, 5, 4, 4)}}, // d -.5
		{"a", []Stratum{side(5, 3, 4, 4), side(5, 5, 4, 4)}}, // d +.4
		{"b", []Stratum{side(5, 0, 4, 0), side(5, 5, 4, 2)}}, // d -.5
		{"b", []Stratum{side(5, 1, 4, 0), side(5, 5, 0, 0)}}, // no d
	}
	assert.InDelta(t, -.5, *cases[0].D(), 1e-12)
	assert.InDelta(t, .4, *cases[1].D(), 1e-12)
	assert.Nil(t, cases[3].D(), "a side without runs in NEW")
	c := SplitD(cases)
	require.NotNil(t, c)
	assert.Equal(t, 3, c.Cases)
	// OLD: only 3/5 varies, .24 * 5/4 = .3, over three cases. NEW: twice 2/4, .25 * 4/3 = 1/3 each.
	assert.InDelta(t, .1, *c.OldRun, 1e-12)
	assert.InDelta(t, 2.0/9, *c.NewRun, 1e-12)
	assert.InDelta(t, .1/5+2.0/9/4, c.Sampling, 1e-12)
	assert.InDelta(t, .27-c.Sampling, c.Between, 1e-12, "variance of -.5, .4, -.5 is .27")
	assert.InDelta(t, .405-c.Sampling, c.Inside, 1e-12, "family a alone has two: variance .405 on one degree")
	assert.InDelta(t, c.Sampling/.27, *c.Removable(), 1e-12)
	y := SplitY(cases)
	assert.Equal(t, 4, y.Cases)
	assert.Nil(t, y.NewRun)
	assert.InDelta(t, (.3+.2)/4, *y.OldRun, 1e-12, "3/5 and 1/5 vary")
}

func TestSplitWithoutRepeats(t *testing.T) {
	once := []Case{{"a", []Stratum{{1, 1, 1, 0}}}, {"a", []Stratum{{1, 1, 1, 1}}}, {"a", []Stratum{{1, 0, 1, 1}}}}
	c := SplitD(once)
	assert.NotEmpty(t, c.Warnings)
	assert.Nil(t, c.Removable())
	assert.Nil(t, c.PerCase(1, 1))
	assert.Nil(t, Overall().Detectable(*c, Design{42, 5, 5}))
	assert.Nil(t, ByFamily().FamilyPower(*c, 3, []int{3, 3}, 5, 5))
	assert.Nil(t, SplitD(once[:1]))
	assert.Nil(t, SplitY(nil))
}

// The components of beta cases are known: the variance of p between cases is
// icc p(1-p) a side, that of one run (1-icc) p(1-p).
func TestSplitRecoversComponents(t *testing.T) {
	w := usual
	w.n = 300
	cases, _, _ := w.draw(rand.New(rand.NewPCG(1, 1)))
	y := SplitY(cases)
	assert.InDelta(t, .33*.25, y.Between, .008)
	assert.InDelta(t, .67*.25, *y.OldRun, .008)
	d := SplitD(cases)
	assert.InDelta(t, 0, d.Between, .006, "nothing changed")
	assert.InDelta(t, .067, d.Sampling, .004)
	against := y.Against(0, 5, 5)
	assert.InDelta(t, d.Sampling, *against.PerCase(5, 5), .004, "one capture foretells a comparison")
	assert.InDelta(t, 1, *against.Removable(), 1e-9, "where nothing changed, only runs differ")
	uneven := y.Against(.05, 5, 20)
	assert.InDelta(t, *y.OldRun/5+*y.OldRun/20, uneven.Sampling, 1e-9, "each capture has runs of its own")
	assert.InDelta(t, uneven.Sampling/(uneven.Sampling+.05), *uneven.Removable(), 1e-9)
}

var flat = func() Components {
	run := .1675
	return Components{Cases: 42, OldRun: &run, NewRun: &run, Sampling: .067}
}()

func TestOverallByHand(t *testing.T) {
	d := Overall().Detectable(flat, Design{Cases: 42, OldRuns: 5, NewRuns: 5})
	require.NotNil(t, d.Drop)
	se := math.Sqrt(.067 / 42)
	assert.InDelta(t, se, d.SE, 1e-12)
	assert.InDelta(t, (2.2477+.8502)*se, *d.Drop, 1e-4, "t(.985, 41) and t(.8, 41)")
	assert.InDelta(t, 2.0195*se, *HalfWidth(flat, Design{42, 5, 5}, .95), 1e-4, "t(.975, 41)")
	assert.Nil(t, HalfWidth(flat, Design{1, 5, 5}, .95))
	margin := Overall().Detectable(flat, Design{Cases: 10_000, OldRuns: 5, NewRuns: 5})
	assert.InDelta(t, .05+.8417*margin.SE, *margin.Drop, 1e-5, "with many cases the margin is what hinders")
	few := Overall().Detectable(flat, Design{Cases: 6, OldRuns: 5, NewRuns: 5})
	assert.Nil(t, few.Drop, "2^-5 is above .03")
	assert.NotEmpty(t, few.Warnings)
	zero := 0.0
	still := Overall().Detectable(Components{OldRun: &zero, NewRun: &zero}, Design{42, 5, 5})
	assert.Nil(t, still.Drop, "nothing that varies is no certainty")
	assert.NotEmpty(t, still.Warnings)
	for name, d := range map[string]Design{"no case": {0, 5, 5}, "one case": {1, 5, 5}, "no run": {42, 0, 5}} {
		assert.Nil(t, Overall().Detectable(flat, d), name)
	}
}

func TestPowerProperties(t *testing.T) {
	r := Overall()
	rapid.Check(t, func(t *rapid.T) {
		c := flat
		c.Between = rapid.Float64Range(0, .3).Draw(t, "between")
		old, updated := rapid.IntRange(1, 30).Draw(t, "old"), rapid.IntRange(1, 30).Draw(t, "new")
		n := rapid.IntRange(8, 400).Draw(t, "cases")
		d := r.Detectable(c, Design{n, old, updated})
		if d.Drop == nil {
			return
		}
		if found := *r.Find(c, Design{n, old, updated}, *d.Drop); math.Abs(found-r.Power) > 1e-6 {
			t.Fatalf("a drop called detectable is found with power %v", found)
		}
		for name, better := range map[string]Design{"cases": {n + 1, old, updated}, "old runs": {n, old + 1, updated}, "new runs": {n, old, updated + 1}} {
			if b := r.Detectable(c, better); *b.Drop > *d.Drop+1e-9 {
				t.Fatalf("more %s find less: %v, before %v", name, *b.Drop, *d.Drop)
			}
		}
		cases := r.CasesNeeded(c, *d.Drop+1e-6, old, updated)
		if cases == nil || *cases > n {
			t.Fatalf("%v cases for what %d find", cases, n)
		}
		if *cases > 7 && r.finds(c, Design{*cases - 1, old, updated}, *d.Drop+1e-6) {
			t.Fatalf("%d cases are not the fewest", *cases)
		}
		if runs := r.RunsNeededInBoth(c, *d.Drop+1e-6, n); runs == nil || *runs > max(old, updated) {
			t.Fatalf("%v runs for what %d and %d find", runs, old, updated)
		}
		runs := r.RunsNeeded(c, *d.Drop+1e-6, n, old)
		if runs == nil || *runs > updated {
			t.Fatalf("%v runs of NEW for what %d find", runs, updated)
		}
		if *runs > 1 && r.finds(c, Design{n, old, *runs - 1}, *d.Drop+1e-6) {
			t.Fatalf("%d runs of NEW are not the fewest", *runs)
		}
	})
	churned := flat
	churned.Between = .2
	assert.Nil(t, r.RunsNeededInBoth(churned, .1, 42), "runs remove no difference between cases")
	assert.Nil(t, r.RunsNeeded(flat, .1, 42, 2), "nor do those of NEW what those of OLD add")
	assert.NotNil(t, r.RunsNeededInBoth(flat, .1, 42))
	assert.NotNil(t, r.CasesNeeded(churned, .1, 5, 5))
	assert.Nil(t, r.CasesNeeded(flat, .04, 5, 5), "a drop within the margin never fails")
}

func TestFamilyPowerProperties(t *testing.T) {
	r := ByFamily()
	sizes := func(n int) []int {
		s := []int{1, 2, n}
		for range 13 {
			s = append(s, 4)
		}
		return s
	}
	last := math.Inf(1)
	for _, n := range []int{3, 4, 6, 10, 20, 40} {
		d := r.FamilyPower(flat, n, sizes(n), 5, 5)
		require.NotNil(t, d.Drop, n)
		t.Logf("n = %d: only a drop of %.2f or more would be found", n, *d.Drop)
		assert.Less(t, *d.Drop, last, "more cases find smaller drops")
		assert.GreaterOrEqual(t, *d.Drop, r.Drop)
		last = *d.Drop
		more := r.FamilyPower(flat, n, sizes(n), 20, 5)
		assert.Less(t, *more.Drop, *d.Drop, "and so does a baseline of 20 runs")
	}
	for name, d := range map[string]*Detectable{
		"two cases":   r.FamilyPower(flat, 2, sizes(2), 5, 5),
		"no other":    r.FamilyPower(flat, 5, []int{5, 2, 2}, 5, 5),
		"mere noise":  r.FamilyPower(Components{Inside: 9, OldRun: flat.OldRun, NewRun: flat.NewRun}, 3, sizes(3), 5, 5),
		"agreed runs": r.FamilyPower(Components{OldRun: new(float64), NewRun: new(float64)}, 3, sizes(3), 5, 5),
	} {
		require.NotNil(t, d, name)
		assert.Nil(t, d.Drop, name)
		assert.NotEmpty(t, d.Warnings, name)
	}
	assert.Nil(t, r.FamilyPower(flat, 3, sizes(3), 0, 5))
}

func BenchmarkFamilyPower(b *testing.B) {
	for _, n := range []int{3, 7000} {
		sizes := make([]int, 14)
		for i := range sizes {
			sizes[i] = n + i
		}
		b.Run(fmt.Sprint("n=", n), func(b *testing.B) {
			for b.Loop() {
				ByFamily().FamilyPower(flat, n, sizes, 5, 5)
			}
		})
	}
}
