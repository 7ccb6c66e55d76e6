package compare

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/stat"

	"github.com/youden-bench/youden/measurements"
)

// growth is a NEW that grows: its scores at each look, and those of fresh runs.
type growth struct {
	before []measurements.CaseScore
	looks  [][]measurements.CaseScore
	fresh  []measurements.CaseScore
}

// draws follow draw, but for the runs of NEW, which come in parts.
func (s source) draws(rng *rand.Rand) growth {
	g := growth{looks: make([][]measurements.CaseScore, len(LookRuns()))}
	for f, ids := range s.ids {
		for _, id := range ids {
			c := measurements.CaseScore{ID: id, Hash: id, Slice: "simulated", Family: id[:2], IsPair: true}
			old := s.difficulty(rng, f)
			updated := s.updated(rng, f, old)
			c.Vulnerable, c.Fixed = tally(rng, old, s.oldK)
			g.before = append(g.before, c)
			c.Vulnerable, c.Fixed = tally(rng, updated, 0)
			for n, k := range LookRuns() {
				v, fixed := tally(rng, updated, k-c.Vulnerable.K)
				c.Vulnerable, c.Fixed = plus(c.Vulnerable, v), plus(c.Fixed, fixed)
				g.looks[n] = append(g.looks[n], c)
			}
			c.Vulnerable, c.Fixed = tally(rng, updated, FreshRuns)
			g.fresh = append(g.fresh, c)
		}
	}
	return g
}

func plus(a, b *measurements.Tally) *measurements.Tally {
	sum := *a
	sum.K += b.K
	sum.OK += b.OK
	sum.Counted += b.Counted
	sum.Positive += b.Positive
	return &sum
}

// only keeps the cases of suspects.
func only(cases []measurements.CaseScore, suspects []Suspect) (list []measurements.CaseScore) {
	for _, c := range cases {
		for _, s := range suspects {
			if s == (Suspect{c.Slice, c.Family}) {
				list = append(list, c)
			}
		}
	}
	return list
}

// ended is how a sequential capture ended.
type ended struct {
	verdict Verdict
	runs    int
	stopped int // at which look, from 1; 0 = after fresh runs
}

// follow takes a growth through the scheme, by the shortcut that TestRulingIsThatOfCompare
// holds to the whole comparison.
func (g growth) follow(seed uint64) ended {
	looks, _ := scheme()
	sides := 2 * len(g.before)
	for n, l := range looks {
		j := usualJudge()
		j.limits, j.family, j.seed = l.limits, l.family, seed
		r := j.rule(g.before, g.looks[n])
		stop, suspected := next(n == len(looks)-1, r.verdict, []Row{r.overall}, r.families)
		if stop {
			return ended{r.verdict, sides * l.k, n + 1}
		}
		if len(suspected) == 0 {
			continue
		}
		fresh := only(g.fresh, suspected)
		e := ended{r.verdict, sides*l.k + 2*FreshRuns*len(fresh), 0}
		for _, f := range confirm(subject(g.before, 0), subject(g.looks[n], l.k), subject(fresh, FreshRuns), suspected, Options{Seed: seed}) {
			e.verdict = worse(e.verdict, Verdict(f.Verdict))
		}
		return e
	}
	panic("the last look decides")
}

// grown is what the scheme came to in many captures.
type grown struct {
	fail   frequency
	shares []float64 // of the runs of a fixed K
}

func (g grown) share() float64 { return stat.Mean(g.shares, nil) }

func (g grown) spread() float64 {
	return stat.StdDev(g.shares, nil) / math.Sqrt(float64(len(g.shares)))
}

func (w world) grow(repetitions int, row uint64) grown {
	source := w.source()
	var out grown
	ks := LookRuns()
	fixed := float64(2 * w.cases() * ks[len(ks)-1])
	for _, e := range repeat(repetitions, row, func(rng *rand.Rand, repetition uint64) ended {
		return source.draws(rng).follow(repetition)
	}) {
		out.fail.count(e.verdict == Fail)
		out.shares = append(out.shares, float64(e.runs)/fixed)
	}
	return out
}

// sequenceSetting is a column of the table of spec/statistics.md section 4.
type sequenceSetting struct {
	name  string
	world world
	fail  float64 // of the specification
	share float64 // of the calls of a fixed K, in the specification
	bound float64 // of FAIL, where nothing changed; 0 = none
	saves float64 // what must be saved; 0 = nothing
}

func sequences() []sequenceSetting {
	of := func(change func(*world)) world {
		w := usual()
		change(&w)
		return w
	}
	// The bound of churn is that of the verdict table: the specification says that
	// the permutation stays within it.
	return []sequenceSetting{
		{"nothing changed, 42 cases", usual(), .010, 310. / 420, .010, .2},
		{"nothing changed, 90 cases", of(func(w *world) { w.sizes = ninety() }), unknownToTables, unknownToTables, .014, .2},
		{"nothing changed, 42 cases, OLD K 20", of(func(w *world) { w.oldK = 20 }), unknownToTables, unknownToTables, .014, .2},
		{"ceiling (.95, .98), nothing changed", of(func(w *world) { w.recall, w.silence = .95, .98 }), .001, 228. / 420, .004, .2},
		{"churn, 42 cases", of(func(w *world) { w.churn = 1 }), unknownToTables, unknownToTables, .026, 0},
		{"churn, 90 cases", of(func(w *world) { w.churn, w.sizes = 1, ninety() }), unknownToTables, unknownToTables, .026, 0},
		{"all cases, drop .1", of(func(w *world) { w.drop = .1 }), .44, 394. / 420, 0, 0},
		{"all cases, drop .2", of(func(w *world) { w.drop = .2 }), .96, 270. / 420, 0, 0},
		{"one family of 3, drop .5", of(func(w *world) { w.lost = .5 }), .51, 409. / 420, 0, 0},
		{"one family of 3, drop .77", of(func(w *world) { w.lost = .77 }), .91, 392. / 420, 0, 0},
	}
}

func TestLooksSpendTheErrorOnce(t *testing.T) {
	looks, fresh := scheme()
	var overall, warn, side float64
	exact, limit := fresh.Exact, fresh.Limit
	for _, l := range looks {
		overall, warn, side = overall+l.overall, warn+l.exact, side+l.side
		exact, limit = exact+l.family.Exact, limit+l.family.Limit
	}
	whole := usualJudge()
	assert.InDelta(t, whole.overall, overall, 1e-12)
	assert.InDelta(t, whole.exact, warn, 1e-12)
	assert.InDelta(t, whole.side, side, 1e-12)
	assert.InDelta(t, whole.family.Exact, exact, 1e-12)
	assert.InDelta(t, whole.family.Limit, limit, 1e-12)
}

func TestSequenceSavesRunsAndAlarmsNoOftener(t *testing.T) {
	for i, s := range sequences() {
		if s.bound == 0 {
			continue
		}
		t.Run(s.name, func(t *testing.T) {
			g := s.world.grow(scaled(200), uint64(700+i))
			assert.False(t, g.fail.above(s.bound), "FAIL %v", g.fail)
			assert.LessOrEqual(t, g.share()-4*g.spread(), 1-s.saves, "runs")
		})
	}
}

func TestSequenceFindsDrops(t *testing.T) {
	for i, s := range sequences() {
		if s.bound > 0 {
			continue
		}
		t.Run(s.name, func(t *testing.T) {
			fixed := s.world.try(usualJudge(), scaled(200), uint64(720+i)).fail
			g := s.world.grow(scaled(200), uint64(720+i))
			assert.False(t, g.fail.below(fixed.rate()-.06), "%v, and %v by a fixed K", g.fail, fixed)
		})
	}
}

// The shortcut of the simulations goes the way of the whole scheme.
func TestFollowIsLookAndConfirm(t *testing.T) {
	lost, churned := usual(), usual()
	lost.lost, churned.churn, churned.oldK = .6, 1, 20
	seen := map[string]int{}
	for i, w := range []world{usual(), lost, churned} {
		source := w.source()
		for repetition := range scaled(15) {
			g := source.draws(rand.New(rand.NewPCG(uint64(70+i), uint64(repetition))))
			o := Options{Seed: uint64(repetition), brief: true}
			var got ended
			for n, k := range LookRuns() {
				l := LookAt(subject(g.before, w.oldK), subject(g.looks[n], k), n, o)
				require.Equal(t, k, l.K)
				if !l.Stop && len(l.Suspects) == 0 {
					continue
				}
				got = ended{l.Comparison.Verdict, 2 * len(g.before) * k, n + 1}
				if len(l.Suspects) > 0 {
					fresh := only(g.fresh, l.Suspects)
					results := l.Confirm(subject(g.before, w.oldK), subject(g.looks[n], k), o, subject(fresh, FreshRuns))
					require.Len(t, results, len(l.Suspects))
					got = ended{l.Comparison.Verdict, got.runs + 2*FreshRuns*len(fresh), 0}
				}
				break
			}
			assert.Equal(t, g.follow(o.Seed), got, "world %d, repetition %d", i, repetition)
			seen[fmt.Sprintf("look %d", got.stopped)]++
		}
	}
	if !raced {
		for _, way := range []string{"look 0", "look 1", "look 2"} {
			assert.NotZero(t, seen[way], "no capture ended at %s", way)
		}
	}
}

// Fresh runs that are missing may not decide, and those that do not confirm say so.
func TestConfirmSaysWhatFreshRunsSay(t *testing.T) {
	w := usual()
	w.lost = .77
	g := w.source().draws(rand.New(rand.NewPCG(5, 5)))
	all := []Suspect{{"simulated", "00"}}
	for _, c := range only(g.before, all) { // was perfect
		c.Vulnerable.Positive, c.Fixed.Positive = 5, 0
	}
	run := func(fresh []measurements.CaseScore) *Look {
		l := &Look{K: 5, Comparison: Compare(subject(g.before, 5), subject(g.looks[1], 5), Options{}), Suspects: all}
		l.Comparison.Verdict = Pass
		l.Confirm(subject(g.before, 5), subject(g.looks[1], 5), Options{}, subject(fresh, FreshRuns))
		return l
	}
	set := func(hits, counted int) (list []measurements.CaseScore) {
		for _, c := range only(g.before, all) {
			v, f := *c.Vulnerable, *c.Fixed
			v.K, v.OK, v.Counted, v.Positive = FreshRuns, counted, counted, hits
			f.K, f.OK, f.Counted, f.Positive = FreshRuns, FreshRuns, FreshRuns, 0
			c.Vulnerable, c.Fixed = &v, &f
			list = append(list, c)
		}
		return list
	}
	assert.Equal(t, Fail, run(set(0, FreshRuns)).Comparison.Verdict)
	unconfirmed := run(set(FreshRuns, FreshRuns))
	assert.Equal(t, Pass, unconfirmed.Comparison.Verdict)
	assert.Contains(t, unconfirmed.Comparison.Warnings[len(unconfirmed.Comparison.Warnings)-1], "did not confirm")
	assert.Equal(t, Inconclusive, run(set(0, 6)).Comparison.Verdict, "four lost runs of ten")
}

// A verdict that rests on fresh runs is not lost by comparing the rest once more.
func TestVerdictByLooksStands(t *testing.T) {
	before, after := measured(5, steady()), measured(5, steady())
	after.Looks = &measurements.Sequential{AgainstHash: before.Digest(), Verdict: string(Fail)}
	c := Compare(before, after, Options{})
	assert.Equal(t, Fail, c.Verdict)
	assert.Len(t, c.Regressions, 1)
	after.Looks.AgainstHash = "of another baseline"
	assert.Equal(t, Pass, Compare(before, after, Options{}).Verdict)
}

// Whatever a comparison reads of a baseline makes another digest.
func TestDigestIsOfAllThatIsJudged(t *testing.T) {
	seen := map[string]bool{measured(5, steady()).Digest(): true}
	for name, change := range map[string]func(*Subject){
		"family": func(s *Subject) { s.Cases[0].Family = "other" },
		"slice":  func(s *Subject) { s.Cases[0].Slice = "other" },
		"count":  func(s *Subject) { t := *s.Cases[0].Vulnerable; t.Positive--; s.Cases[0].Vulnerable = &t },
		"side":   func(s *Subject) { s.Cases[0].Fixed = nil },
		"K":      func(s *Subject) { s.K++ },
	} {
		s := measured(5, steady())
		change(s)
		assert.False(t, seen[s.Digest()], name)
		seen[s.Digest()] = true
	}
}
