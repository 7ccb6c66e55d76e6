package compare

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/youden-bench/youden/measurements"
	"github.com/youden-bench/youden/measurements/stats"
)

// What is printed as the smallest drop that would be found is held to the rule
// itself: captures that do not differ are compared, and NEW is drawn again with the
// drop that the comparison named. FAIL of the row must come in .80 of them, and may
// not come much more rarely; nor, in families of 6 and more, much oftener, for then
// smaller drops are found as well. In the smallest families one run more or less
// makes steps that are wider than that.
const (
	leastFound = .75
	mostFound  = .90
	fromCases  = 6
)

// promise is a world without a drop, and the limits that its rows are held against.
type promise struct {
	name  string
	world world
	judge judge
}

func (p promise) sliced(slices int) promise {
	p.name += fmt.Sprintf(", %d slices", slices)
	p.judge.limits = p.judge.over(slices)
	p.judge.family.Limit /= float64(slices)
	p.judge.family.Exact /= float64(slices)
	return p
}

func (p promise) looked(n int) promise {
	looks, _ := scheme()
	p.name += fmt.Sprintf(", look %d", n+1)
	p.world.newK, p.judge.limits, p.judge.family = looks[n].k, looks[n].limits, looks[n].family
	return p
}

// promises is the grid. Of the ceilings one is without a mistake almost always, and
// one like 25 cases of which one run in 75 is wrong.
func promises() (list []promise) {
	for _, row := range []struct {
		name                 string
		recall, silence, icc float64
	}{{".8, .9", .8, .9, .33}, {".95, .98", .95, .98, .33}, {"ceiling", .9995, .9995, 1.6e-4}, {"one run in 75 wrong", .987, .987, .004}, {".5, .5", .5, .5, .33}} {
		for _, n := range []int{3, 6, 10, 25, 42} {
			for _, k := range [][2]int{{3, 3}, {5, 5}, {20, 20}, {20, 5}} {
				w := usual()
				w.recall, w.silence, w.icc, w.oldK, w.newK, w.sizes = row.recall, row.silence, row.icc, k[0], k[1], evenly(14, n)
				if strings.HasPrefix(row.name, "one") {
					w.sizes = evenly(8, n)
				}
				p := promise{fmt.Sprintf("%s, families of %d, K %s", row.name, n, ks(w)), w, usualJudge()}
				list = append(list, p)
				if n <= 6 && k == [2]int{5, 5} {
					list = append(list, p.sliced(3), p.looked(0), p.looked(1), p.looked(0).sliced(3))
				}
			}
		}
	}
	return list
}

// kept is how often a drop that was named is found; none counts the captures of
// which no drop was said to be found, and deepest how often the deepest is then.
type kept struct {
	drop    float64 // mean of those named
	named   int
	none    int
	found   frequency
	deepest frequency
}

// rows of a comparison, and the world in which such a row fell.
var promisedRows = []struct {
	name string
	of   func(SliceResult) *float64
	fall func(*world, float64)
	fell func(ruling) bool
}{
	{"overall", func(r SliceResult) *float64 { return r.Overall.Detectable }, func(w *world, drop float64) { w.drop = drop }, func(r ruling) bool { return r.overall.Verdict == Fail }},
	{"family", func(r SliceResult) *float64 { return r.Families[0].Detectable }, func(w *world, drop float64) { w.lost = drop }, func(r ruling) bool { return r.families[0].Verdict == Fail }},
}

// keeps draws captures, and after each as many more as there are repetitions with the
// drop that it named.
func (p promise) keeps(captures, repetitions int, row uint64) [2]kept {
	var out [2]kept
	still := p.world.source()
	for capture := range captures {
		before, after := still.draw(rand.New(rand.NewPCG(simulationSeed, row<<32|uint64(capture))))
		named := p.judge.foreseen(before, after)
		for i, r := range promisedRows {
			k := &out[i]
			fallen, drop := p.world, r.of(named)
			if drop == nil {
				k.none++
				if i == 0 || len(before) < 10 {
					continue // no test has so few cases, whatever they do
				}
				r.fall(&fallen, p.world.recall+p.world.silence-2*nothingLeft)
			} else {
				k.named++
				k.drop += *drop
				r.fall(&fallen, *drop)
			}
			source := fallen.source()
			for _, fell := range repeat(repetitions, row<<8|uint64(capture), func(rng *rand.Rand, repetition uint64) bool {
				before, after := source.draw(rng)
				j := p.judge
				j.seed = repetition
				return r.fell(j.rule(before, after))
			}) {
				if drop == nil {
					k.deepest.count(fell)
				} else {
					k.found.count(fell)
				}
			}
		}
	}
	for i := range out {
		out[i].drop /= float64(max(1, out[i].named))
	}
	return out
}

// foreseen are the rows of two captures with what would have been found.
func (j judge) foreseen(before, after []measurements.CaseScore) SliceResult {
	pairs := match(before, after).Both
	r := SliceResult{Overall: Row{N: len(pairs)}}
	for _, f := range byFamily(pairs) {
		r.Families = append(r.Families, Row{N: len(f.d)})
	}
	j.foresee(&r, statsCases(pairs))
	return r
}

// broken says how a promise was broken, "" where it was not.
func (k kept) broken(cases int) string {
	switch {
	case k.named > 0 && k.found.below(leastFound):
		return fmt.Sprintf("a drop of %.2f is found in %v", k.drop, k.found)
	case k.named > 0 && k.found.above(mostFound) && cases >= fromCases && k.drop > stats.Overall().Margin+.03:
		return fmt.Sprintf("a drop of %.2f is found in %v: less would have been said", k.drop, k.found)
	case k.none > 0 && k.deepest.of > 0 && k.deepest.above(mostFound):
		return fmt.Sprintf("no drop is said to be found, and the deepest is in %v", k.deepest)
	}
	return ""
}

// TestDetectableIsFound is the short form of the grid: every fourth row of what is
// cheap.
func TestDetectableIsFound(t *testing.T) {
	tried := 0
	for i, p := range promises() {
		if p.world.cases()*max(p.world.oldK, p.world.newK) > 900 || i%4 > 0 {
			continue
		}
		tried++
		for row, k := range p.keeps(3, scaled(30), uint64(9000+i)) {
			assert.Empty(t, k.broken(p.world.sizes[0]), "%s: %s", p.name, promisedRows[row].name)
		}
	}
	assert.GreaterOrEqual(t, tried, 15)
}

// Captures that name a drop, in the long form, and repetitions of each; fewer of
// hundreds of cases, whose permutations take long.
const (
	namingCaptures, namedRepetitions = 5, 40
	fewCaptures, fewRepetitions      = 2, 50
	manyCasesNamed                   = 300
)

const detectableTitle = "## The smallest drop that is found\n"

// detectables is the section of the long form.
func (p *page) detectables(t *testing.T) string {
	var out strings.Builder
	list := promises()
	fmt.Fprintf(&out, "%s\nCaptures that do not differ are compared, and NEW is drawn again with the drop that the comparison names as the smallest that would be found: %d times after each of %d captures (%d after %d where there are more than %d cases). The share of FAIL of that row, at its own limits, should be .80; it is held to at least %s and, in families of %d or more, to at most %s, but where the drop is next to the margin, which power climbs steeply. 14 families; 8 where one run in 75 is wrong. Ceilings are of cases alike. none: captures of which no drop was said to be found, and how often the deepest drop was found then.\n\n",
		detectableTitle, namedRepetitions, namingCaptures, fewRepetitions, fewCaptures, manyCasesNamed, figure(leastFound), fromCases, figure(mostFound))
	out.WriteString("| setting | overall: drop | FAIL (SE) | none | family: drop | FAIL (SE) | none | holds |\n|---|---|---|---|---|---|---|---|\n")
	for i, s := range list {
		captures, repetitions := namingCaptures, namedRepetitions
		if s.world.cases() > manyCasesNamed {
			captures, repetitions = fewCaptures, fewRepetitions
		}
		holds := "yes"
		line := "| " + s.name + " "
		for row, k := range s.keeps(captures, repetitions, uint64(8000+i)) {
			line += "| " + k.String() + " "
			if why := k.broken(s.world.sizes[0]); why != "" {
				holds = "**no**"
				p.broken = append(p.broken, fmt.Sprintf("%s, %s: %s", s.name, promisedRows[row].name, why))
			}
		}
		line += "| " + holds + " |\n"
		out.WriteString(line)
		t.Log(line)
	}
	return out.String() + "\n"
}

func (k kept) String() string {
	drop, found, none := "-", "-", "-"
	if k.named > 0 {
		drop, found = fmt.Sprintf("%.2f", k.drop), fmt.Sprintf("%s (%s)", figure(k.found.rate()), figure(k.found.se()))
	}
	if k.none > 0 {
		none = fmt.Sprint(k.none)
	}
	if k.deepest.of > 0 {
		none += ", " + figure(k.deepest.rate())
	}
	return strings.Join([]string{drop, found, none}, " | ")
}

// TestDetectableAtLength puts its section into SIMULATIONS.md, beside the others.
func TestDetectableAtLength(t *testing.T) {
	if os.Getenv("YOUDEN_LONG") == "" {
		t.Skip("the long form takes minutes: set YOUDEN_LONG=1")
	}
	p := &page{}
	section := p.detectables(t)
	whole, err := os.ReadFile(simulationsFile)
	require.NoError(t, err)
	before, after, found := strings.Cut(string(whole), detectableTitle)
	if found {
		_, after, _ = strings.Cut(after, "\n## ")
	} else {
		before, after, _ = strings.Cut(string(whole), "\n## Sequential captures")
		before, after = before+"\n", "Sequential captures"+after
	}
	require.NoError(t, os.WriteFile(simulationsFile, []byte(before+section+"## "+after), 0o644))
	assert.Empty(t, p.broken)
}

// A closed form that believes the variance of OLD is caught by the same bounds.
func TestBrokenPromisesAreCaught(t *testing.T) {
	if raced {
		t.Skip("the race detector leaves too few repetitions to tell")
	}
	w := usual()
	w.recall, w.silence, w.icc, w.oldK, w.newK, w.sizes = .987, .987, .004, 3, 3, evenly(8, 3)
	for row, drop := range []float64{.06, .27} { // what was once said of such captures
		fallen := w
		promisedRows[row].fall(&fallen, drop)
		v := fallen.try(usualJudge(), 100, uint64(9500+row))
		found := []frequency{v.overall, v.first}[row]
		assert.NotEmpty(t, kept{drop: drop, named: 1, found: found}.broken(3), "%v", found)
	}
}

// OLD without a mistake but one, three runs a side: what is named holds by the whole
// of Compare, for the capture itself and not only for others like it.
func TestDetectableNearTheCeiling(t *testing.T) {
	pairs := map[string][][2]int{}
	for f := range 8 {
		pairs[fmt.Sprint(f)] = times(3, [2]int{3, 0})
	}
	pairs["0"] = append(pairs["0"], [2]int{2, 0})
	old := measured(3, pairs)
	c := Compare(old, measured(3, pairs), Options{})
	family, overall := c.Families[1].Detectable, c.Slices[0].Detectable
	require.NotNil(t, family)
	require.NotNil(t, overall)
	t.Logf("a family of 3: %.2f, all: %.2f", *family, *overall)
	found := [2]frequency{}
	for repetition := range scaled(150) {
		rng := rand.New(rand.NewPCG(simulationSeed, uint64(repetition)))
		for row, lost := range []float64{*overall / 2, *family} { // overall on both sides alike
			fallen := map[string][][2]int{}
			for name, list := range pairs {
				for _, p := range list {
					if row == 0 || name == "1" {
						for range p[0] {
							p[0] -= count(rng.Float64() < lost)
						}
					}
					if row == 0 {
						for range 3 {
							p[1] += count(rng.Float64() < lost)
						}
					}
					fallen[name] = append(fallen[name], p)
				}
			}
			got := Compare(old, measured(3, fallen), Options{Seed: uint64(repetition), brief: true})
			found[row].count([]Verdict{got.Slices[0].Verdict, got.Families[1].Verdict}[row] == Fail)
		}
	}
	for row, f := range found {
		assert.False(t, f.below(leastFound), "%s: %v", promisedRows[row].name, f)
	}
}

// The limits in force are those of the slices and of the look.
func TestDetectableIsByTheLimitsInForce(t *testing.T) {
	w := usual()
	w.sizes = evenly(14, 6)
	before, after := w.source().draw(rand.New(rand.NewPCG(1, 9)))
	p := promise{judge: usualJudge()}
	whole, slice, look := p.judge.foreseen(before, after), p.sliced(3).judge.foreseen(before, after), p.looked(0).judge.foreseen(before, after)
	for _, r := range promisedRows {
		assert.Greater(t, *r.of(slice), *r.of(whole), r.name)
		assert.Greater(t, *r.of(look), *r.of(whole), r.name)
	}
	o := Options{}
	looks, _ := scheme()
	o.look = &looks[0]
	assert.Equal(t, *look.Overall.Detectable, *Compare(subject(before, 5), subject(after, 5), o).Slices[0].Detectable)
}
