package stats

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/stat/distuv"
)

// comparison is a world to draw captures from: the settings of
// spec/statistics.md, beta-distributed difficulty, NEW shifted on the logit.
type comparison struct {
	families, n     int
	old, updated    int
	recall, silence float64
	icc             float64
	shift           float64 // of the first family's recall
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
			move, alone := w.shiftAll, 0.0
			if f == 0 {
				alone = w.shift
			}
			for side, mean := range []float64{w.recall, w.silence} {
				if side > 0 {
					alone = 0
				}
				p := distuv.Beta{Alpha: mean * scale, Beta: (1 - mean) * scale, Src: rng}.Rand()
				odds := p / (1 - p) * math.Exp(-move-alone)
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
		{"family of 6", func(c *comparison) { c.n = 6; c.shift = 4.4 }, false},
		{"family of 10", func(c *comparison) { c.n = 10; c.shift = 3.15 }, false},
		{"family of 3, K 20", func(c *comparison) { c.old, c.updated, c.shift = 20, 20, 6.2 }, false},
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
				byFamily, overall := w.judge(cases, uint64(r))
				drop, fired := first, byFamily
				if tt.overall {
					drop, fired = all, overall
				}
				trueDrop += drop / repetitions
				found += indicator(fired) / repetitions
				if r%10 > 0 {
					continue // a forecast takes longer than a comparison
				}
				f := NewForecast(cases, SplitD(cases).Inside, w.updated, false)
				d := ByFamily().Detectable(f, w.n, sizes)
				if tt.overall {
					d = Overall().Detectable(f, len(cases))
				}
				require.NotNil(t, d.Drop)
				claimed += *d.Drop / (repetitions / 10)
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
	f := NewForecast(once, 0, 5, false)
	assert.Nil(t, f, "how much runs differ is not known")
	assert.Nil(t, Overall().Detectable(f, 42))
	assert.Nil(t, Overall().Find(f, .1, 42))
	assert.Nil(t, Overall().CasesNeeded(f, .1, 42))
	assert.Nil(t, ByFamily().Detectable(f, 3, []int{3, 3}))
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

func TestHalfWidthByHand(t *testing.T) {
	assert.InDelta(t, 2.0195*math.Sqrt(.067/42), *HalfWidth(flat, Design{42, 5, 5}, .95), 1e-4, "t(.975, 41)")
	for name, d := range map[string]Design{"no case": {0, 5, 5}, "one case": {1, 5, 5}, "no run": {42, 0, 5}} {
		assert.Nil(t, HalfWidth(flat, d, .95), name)
	}
}

// alike are cases of one family a three, each side with the same runs.
func alikeCases(n, runs, correct int) (cases []Case) {
	for i := range n {
		s := Stratum{OldRuns: runs, OldCorrect: correct, NewRuns: runs, NewCorrect: correct}
		cases = append(cases, Case{fmt.Sprint(i / 3), []Stratum{s, s}})
	}
	return cases
}

// Where OLD made no mistake its runs have no variance, and what falls has.
func TestNoVarianceIsNoCertainty(t *testing.T) {
	for _, correct := range []int{5, 0} {
		f := NewForecast(alikeCases(42, 5, correct), 0, 5, false)
		still, fallen := f.moments(nothing), f.moments(f.everywhere(.5*f.deepest()))
		assert.Positive(t, still.variance)
		assert.Greater(t, still.variance, 0.)
		if correct == 5 {
			assert.Greater(t, fallen.variance, .05, "a quarter of two sides over 5 runs")
			assert.Greater(t, fallen.pooled, .05)
		}
	}
	f := NewForecast(alikeCases(42, 5, 5), 0, 5, false)
	d := ByFamily().Detectable(f, 3, []int{3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3})
	require.NotNil(t, d.Drop)
	assert.Greater(t, *d.Drop, .45, "15 runs of 15 against what Holm over 14 families asks")
}

// Seven changed cases reach p < .03, nine p < .006: so few can only be told by a
// collapse, and fewer not at all.
func TestFewCasesFindNothing(t *testing.T) {
	f := NewForecast(alikeCases(42, 5, 5), 0, 5, false)
	look := Overall()
	look.Alpha = .006
	for _, tt := range []struct {
		rule  Rule
		n     int
		found bool
	}{{Overall(), 6, false}, {Overall(), 7, true}, {look, 8, false}, {look, 9, true}} {
		d := tt.rule.Detectable(f, tt.n)
		require.NotNil(t, d)
		assert.Equal(t, tt.found, d.Drop != nil, "%d cases at %v", tt.n, tt.rule.Alpha)
		assert.Equal(t, !tt.found, len(d.Warnings) > 0)
	}
	assert.Greater(t, *look.Detectable(f, 12).Drop, *Overall().Detectable(f, 12).Drop, "a look has a part of the error to spend")
	assert.Nil(t, Overall().Detectable(f), "no slice")
	assert.Nil(t, Rule{}.Detectable(f, 42))
}

// One answer that is repeated is one run, whatever K.
func TestRepeatedAnswersAreOneRun(t *testing.T) {
	f := NewForecast(alikeCases(42, 5, 5), 0, 5, true)
	assert.Nil(t, ByFamily().Detectable(f, 3, []int{3, 3, 3}).Drop, "three runs against three have p = 1/8 a side at best")
	assert.Greater(t, f.moments(f.everywhere(1)).variance, .4)
}

// The forecast of churn has its variance, and moves no mean.
func TestForecastChurns(t *testing.T) {
	w := usual
	w.n = 10
	cases, _, _ := w.draw(rand.New(rand.NewPCG(1, 2)))
	still := NewForecast(cases, 0, 5, false)
	for _, churn := range []float64{.01, .05, .2} {
		f := NewForecast(cases, churn, 5, false)
		var change []float64
		for _, o := range f.pool {
			change = append(change, o.now[0]+o.now[1]-o.chance[0]-o.chance[1])
		}
		mean, variance := meanVariance(change)
		assert.InDelta(t, 0, mean, 1e-3)
		assert.InDelta(t, churn, variance, .05*churn)
		assert.InDelta(t, still.deepest(), f.deepest(), 2e-3)
		assert.Greater(t, *Overall().Detectable(f, 140).Drop, *Overall().Detectable(still, 140).Drop)
	}
}

// A loss takes what it should: on all sides alike, or the first side first.
func TestLosses(t *testing.T) {
	f := NewForecast(alikeCases(42, 10, 8), 0, 5, false)
	for _, drop := range []float64{.1, .5, 1.2} {
		for name, l := range map[string]loss{"everywhere": f.everywhere(drop), "alone": f.alone(drop)} {
			fallen := 0.0
			for _, o := range f.pool {
				fallen += (o.now[0] + o.now[1] - o.after(l, 0) - o.after(l, 1)) / float64(len(f.pool))
			}
			assert.InDelta(t, drop, fallen, 1e-4, name)
		}
	}
	assert.InDelta(t, 1, f.alone(.5)[1], 0)
	assert.Zero(t, f.alone(1.2)[0])
}

// The trials' own tests are those of the verdict: the exact test run for run, and
// sign-flips where they are close.
func TestTrialsTestAsVerdictsDo(t *testing.T) {
	w := usual
	w.n = 6
	cases, _, _ := w.draw(rand.New(rand.NewPCG(1, 3)))
	f := NewForecast(cases, .02, 5, false)
	quantile := distuv.UnitNormal.Quantile(1 - .03/2)
	p := prospect{rule: ByFamily(), n: 6, tests: 14, quantile: distuv.UnitNormal.Quantile(1 - .025/14)}
	t1, differ := trial{}, 0
	for number := range 400 {
		t1.draw(f, number, 6, f.alone(.5))
		exact := ExactRuns(t1.strata).Drop
		assert.InEpsilon(t, exact, t1.exactly(), 1e-9)
		assert.Equal(t, exact*14 < .025, p.exactly(&t1))
		t1.draw(f, number, 42, f.everywhere(.1))
		if (SignFlip(t1.d, 1).P < .03) != significant(t1.d, .03, quantile) {
			differ++
		}
	}
	assert.LessOrEqual(t, differ, 2, "what is far from the limit is told by a normal form")
}

// The chance of a deal, told by adding up, is that of the draws.
func TestStandoutIsThePermutation(t *testing.T) {
	const repetitions = 100
	w := usual
	w.lost = .6
	for _, n := range []int{3, 6, 10} {
		w.n = n
		rng := rand.New(rand.NewPCG(1, uint64(n)))
		sizes := make([]int, w.families)
		for i := range sizes {
			sizes[i] = n
		}
		told, drawn := 0.0, 0.0
		for range repetitions {
			cases, _, _ := w.draw(rng)
			families := make([]Family, w.families)
			for i, c := range cases {
				families[i/n].D = append(families[i/n].D, *c.D())
			}
			p := *MaxT(families, 1000, 1).Families[0].P
			s := standoutOf(NewForecast(cases, 0, w.updated, false), n, sizes, .0125)
			told += indicator(s.p(families[0].D) <= .0125) / repetitions
			drawn += indicator(p <= .0125) / repetitions
		}
		assert.InDelta(t, drawn, told, .1, "n = %d", n)
	}
}

func TestPowerProperties(t *testing.T) {
	r := Overall()
	w := usual
	w.n = 10
	cases, _, _ := w.draw(rand.New(rand.NewPCG(1, 4)))
	f := NewForecast(cases, .01, 5, false)
	for _, n := range []int{42, 200, 1000} {
		d := r.Detectable(f, n)
		require.NotNil(t, d.Drop)
		assert.GreaterOrEqual(t, *r.Find(f, *d.Drop, n), r.Power)
		assert.Less(t, *r.Find(f, *d.Drop-2*precision, n), r.Power+allowance)
		assert.Less(t, *r.Detectable(f, 2*n).Drop, *d.Drop, "more cases find smaller drops")
		assert.LessOrEqual(t, *r.Detectable(f.with(0, 20), n).Drop, *d.Drop, "and so do more runs of NEW")
		assert.LessOrEqual(t, *r.Detectable(f.with(20, 20), n).Drop, *r.Detectable(f.with(0, 20), n).Drop, "and of OLD")
		needed := r.CasesNeeded(f, *d.Drop, n)
		require.NotNil(t, needed)
		assert.LessOrEqual(t, *needed, n)
		runs := r.RunsNeeded(f, *d.Drop, n)
		require.NotNil(t, runs)
		assert.LessOrEqual(t, *runs, 5)
	}
	assert.Less(t, *r.Detectable(f.with(0, 20), 42).Drop, *r.Detectable(f, 42).Drop-.01)
	assert.Less(t, *r.Detectable(f.with(20, 20), 42).Drop, *r.Detectable(f.with(0, 20), 42).Drop-.01)
	assert.InDelta(t, *r.Detectable(f, everyCase).Drop, *r.Detectable(f, everyCase+1).Drop, .012, "where trials end the normal form goes on")
	assert.Greater(t, *r.Find(f, .1, 42, 42), *r.Find(f, .1, 42), "two slices have two chances")
	churned := NewForecast(cases, .2, 5, false)
	assert.Nil(t, r.RunsNeededInBoth(churned, .1, 42), "runs remove no difference between cases")
	assert.Nil(t, r.RunsNeeded(NewForecast(cases, 0, 5, false).with(2, 5), .08, 42), "nor do those of NEW what those of OLD add")
	assert.NotNil(t, r.CasesNeeded(churned, .1, 42))
	assert.Nil(t, r.CasesNeeded(f, .04, 42), "a drop within the margin never fails")
}

func TestFamilyDetectableProperties(t *testing.T) {
	r := ByFamily()
	sizes := func(n int) []int {
		s := []int{1, 2, n}
		for range 13 {
			s = append(s, 4)
		}
		return s
	}
	w := usual
	w.n = 10
	cases, _, _ := w.draw(rand.New(rand.NewPCG(1, 5)))
	f := NewForecast(cases, 0, 5, false)
	last := math.Inf(1)
	for _, n := range []int{3, 4, 6, 10, 20, 40, 60} {
		d := r.Detectable(f, n, sizes(n))
		require.NotNil(t, d.Drop, n)
		t.Logf("n = %d: only a drop of %.2f or more would be found", n, *d.Drop)
		assert.Less(t, *d.Drop, last, "more cases find smaller drops")
		assert.GreaterOrEqual(t, *d.Drop, r.Drop)
		last = *d.Drop
		more := r.Detectable(f.with(20, 5), n, sizes(n))
		assert.Less(t, *more.Drop, *d.Drop, "and so does a baseline of 20 runs")
	}
	for name, d := range map[string]*Detectable{
		"two cases":  r.Detectable(f, 2, sizes(2)),
		"no other":   r.Detectable(f, 5, []int{5, 2, 2}),
		"mere noise": r.Detectable(f.with(1, 1), 3, sizes(3)),
	} {
		require.NotNil(t, d, name)
		assert.Nil(t, d.Drop, name)
		assert.NotEmpty(t, d.Warnings, name)
	}
}

func BenchmarkDetectable(b *testing.B) {
	w := usual
	for _, n := range []int{3, 7000} {
		sizes := make([]int, 14)
		for i := range sizes {
			sizes[i] = n + i/7
		}
		w.n = min(n, 10)
		cases, _, _ := w.draw(rand.New(rand.NewPCG(1, 6)))
		b.Run(fmt.Sprint("n=", n), func(b *testing.B) {
			for b.Loop() {
				f := NewForecast(cases, .01, 5, false)
				Overall().Detectable(f, 14*n)
				ByFamily().Detectable(f, n, sizes)
				ByFamily().Detectable(f, n+1, sizes)
			}
		})
	}
}

// Families of every size beside those of every other one: what is small is listed, what
// is large is normal, and neither asks for what the other did not make.
func TestFamiliesOfMixedSizes(t *testing.T) {
	w := comparison{families: 20, n: 3, old: 5, updated: 2, recall: .8, silence: .9, icc: .33}
	cases, _, _ := w.draw(rand.New(rand.NewPCG(4, 4)))
	f := NewForecast(cases, 0, w.updated, false)
	for _, n := range []int{3, 8, 9, 10, 12, 13, 30} {
		for _, other := range []int{1, 3, 9, 12, 13, 40} {
			found := ByFamily().Detectable(f, n, []int{n, other, 3, other})
			require.NotNil(t, found, "%d beside %d", n, other)
			if found.Drop != nil {
				assert.Greater(t, *found.Drop, 0.)
				assert.LessOrEqual(t, *found.Drop, 2.)
			}
		}
	}
}
