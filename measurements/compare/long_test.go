package compare

import (
	"fmt"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/youden-bench/youden/measurements/stats"
)

// Repetitions of the long form.
const (
	alarmRepetitions   = 3000
	furtherRepetitions = 1000
	powerRepetitions   = 2000
	coverRepetitions   = 600
	wholeRepetitions   = 2000

	sequenceRepetitions = 6000
)

const simulationsFile = "../SIMULATIONS.md"

// TestSimulationsAtLength writes SIMULATIONS.md and takes minutes.
func TestSimulationsAtLength(t *testing.T) {
	if os.Getenv("YOUDEN_LONG") == "" {
		t.Skip("the long form takes minutes: set YOUDEN_LONG=1")
	}
	p := &page{}
	p.alarms(usualJudge())
	p.powers(usualJudge())
	p.body.WriteString(p.detectables(t))
	p.sequences()
	p.covers()
	p.match()
	require.NoError(t, os.WriteFile(simulationsFile, []byte(p.String()), 0o644))
	assert.Empty(t, p.broken, "bounds that chance does not explain")
}

// page is the report of the long form.
type page struct {
	body   strings.Builder
	rows   int
	near   []string // bounds missed by less than chance explains
	broken []string // bounds surely missed
}

func (p *page) printf(format string, args ...any) { fmt.Fprintf(&p.body, format, args...) }

// verdictOn says in words whether a bound was met. Short is by how much it was
// missed, surely whether that can be no chance.
func (p *page) verdictOn(name string, short, se float64, surely bool) string {
	p.rows++
	switch {
	case short <= 0:
		return "yes"
	case surely:
		p.broken = append(p.broken, fmt.Sprintf("%s: by %.3f, standard error %.3f", name, short, se))
		return "**no**"
	}
	p.near = append(p.near, fmt.Sprintf("%s: by %.3f, standard error %.3f", name, short, se))
	return fmt.Sprintf("short by %.1f SE", short/math.Max(se, 1e-9))
}

func (p *page) alarms(j judge) {
	p.printf("## False alarms: nothing changed in the mean\n\n")
	p.printf("FAIL of the whole comparison, and what it rests on: the overall J, one side alone (recall or silence), or a family; two can coincide.\n\n")
	p.printf("| setting | repetitions | FAIL (SE) | bound | holds | specification | J | side | family | WARN (specification) | INCONCLUSIVE |\n|---|---|---|---|---|---|---|---|---|---|---|\n")
	promised, further := alarms()
	for i, s := range append(promised, further...) {
		repetitions, name := alarmRepetitions, s.name
		if i >= len(promised) {
			repetitions, name = furtherRepetitions, "*"+s.name+"*"
		}
		v := s.world.try(j, repetitions, uint64(1000+i))
		holds := p.verdictOn(s.name, v.fail.rate()-s.bound(), v.fail.se(), v.fail.above(s.bound()))
		p.printf("| %s | %d | %s (%s) | %s | %s | %s | %s | %s | %s | %s | %s |\n", name, repetitions, figure(v.fail.rate()), figure(v.fail.se()), figure(s.bound()), holds,
			dash(s.fail), figure(v.overall.rate()), figure(v.side.rate()), figure(v.family.rate()), beside(v.warn.rate(), s.warn), figure(v.inconclusive.rate()))
	}
	p.printf("\nRows in italics go beyond what is promised.\n\n")
}

func (p *page) powers(j judge) {
	p.printf("## Power\n\n")
	p.printf("Where all cases drop: FAIL of the whole comparison. Where one family drops: FAIL of that family's row. The bound is the specification's figure less .03.\n\n")
	p.printf("| setting | repetitions | FAIL (SE) | specification | holds | FAIL or WARN (SE) | specification | holds | INCONCLUSIVE |\n|---|---|---|---|---|---|---|---|---|\n")
	check := func(name string, found frequency, table float64) string {
		if table == unknownToTables {
			return "-"
		}
		bound := table - powerAllowance
		return p.verdictOn(name, bound-found.rate(), found.se(), found.below(bound))
	}
	for i, s := range append(drops(), collapses()...) {
		v := s.world.try(j, powerRepetitions, uint64(2000+i))
		fail, named := s.found(v)
		p.printf("| %s | %d | %s (%s) | %s | %s | %s (%s) | %s | %s | %s |\n", s.name, powerRepetitions,
			figure(fail.rate()), figure(fail.se()), table(s.fail), check(s.name+": FAIL", fail, s.fail),
			figure(named.rate()), figure(named.se()), table(s.named), check(s.name+": FAIL or WARN", named, s.named), figure(v.inconclusive.rate()))
	}
	p.printf("\n")
}

func (p *page) sequences() {
	p.printf("## Sequential captures\n\n")
	p.printf("Looks at K = 2 and 5, then %d fresh runs a side of suspicious families, against a baseline of K = 5 (but where a row says more). Runs are those of NEW; a fixed K = 5 makes 10 a case. The specification's families are judged by a t test, ours by the permutation of spec/statistics.md section 1.\n\n", FreshRuns)
	p.printf("| setting | repetitions | FAIL (SE) | bound | holds | fixed K = 5 | specification | runs, share of fixed | saves | specification |\n|---|---|---|---|---|---|---|---|---|---|\n")
	for i, s := range sequences() {
		v := s.world.grow(sequenceRepetitions, uint64(7000+i))
		fixed := s.world.try(usualJudge(), sequenceRepetitions, uint64(7000+i)).fail
		holds, saves, bound := "-", "-", "-"
		if s.bound > 0 {
			bound = figure(s.bound)
			holds = p.verdictOn(s.name+": sequential FAIL", v.fail.rate()-s.bound, v.fail.se(), v.fail.above(s.bound))
		}
		if s.saves > 0 {
			saves = p.verdictOn(s.name+": runs saved", v.share()-(1-s.saves), v.spread(), v.share()-4*v.spread() > 1-s.saves)
		}
		p.printf("| %s | %d | %s (%s) | %s | %s | %s | %s | %.2f (%.3f) | %s | %s |\n", s.name, sequenceRepetitions, figure(v.fail.rate()), figure(v.fail.se()), bound, holds,
			figure(fixed.rate()), table(s.fail), v.share(), v.spread(), saves, table(s.share))
	}
	p.printf("\n")
}

func (p *page) covers() {
	families, overall, further := covers()
	p.printf("## Coverage of the intervals of J\n\nNominal .95, bound %s. Settings are recall, silence, ICC; 14 families of n cases, each with its interval.\n\n", figure(coverageBound))
	p.cover(families, coverRepetitions, 3000, true)
	p.printf("\n## Coverage of the overall row\n\nCorrelation is that of the normals behind the difficulties of a pair's two sides.\n\n")
	p.cover(overall, wholeRepetitions, 4000, true)
	p.printf("\n## Coverage of families whose sides are correlated\n\nNothing is promised here: a family's interval takes the two sides for independent.\n\n")
	p.cover(further, coverRepetitions, 5000, false)
}

func (p *page) cover(settings []coverageSetting, repetitions int, row uint64, promised bool) {
	p.printf("| setting | captures | coverage (SE) | holds | specification (Wilson bounds) | mean width |\n|---|---|---|---|---|---|\n")
	for i, s := range settings {
		c := s.world.cover(s.of, repetitions, row+uint64(i))
		holds := "-"
		if promised {
			holds = p.verdictOn(s.name, coverageBound-c.held.rate(), c.held.se(), c.held.below(coverageBound))
		}
		p.printf("| %s | %d | %s (%s) | %s | %s | %.2f |\n", s.name, repetitions, figure(c.held.rate()), figure(c.held.se()), holds, table(s.table), c.width.rate())
	}
}

// match asks whether the generator is that of the specification: the exact test
// has nothing to tune, so where it differs, the worlds do.
func (p *page) match() {
	p.printf("\n## The exact test alone\n\nHow often it alone (Holm < .025) would fail a family: any where nothing dropped, else the one that did. It has nothing to tune, so it tells whether this generator is like that of the specification.\n\n")
	p.printf("| setting | repetitions | fails (SE) | specification |\n|---|---|---|---|\n")
	alone := usualJudge()
	alone.family = stats.FamilyRule{Limit: 1, Exact: .025, Drop: -2}
	for i, s := range exactAlone() {
		v := s.world.try(alone, furtherRepetitions, uint64(6000+i))
		found := v.family
		if s.world.lost > 0 {
			found = v.first
		}
		p.printf("| %s | %d | %s (%s) | %s |\n", s.name, furtherRepetitions, figure(found.rate()), figure(found.se()), figure(s.fail))
	}
}

// String puts what came out before what it was made from.
func (p *page) String() string {
	var out strings.Builder
	fmt.Fprintf(&out, `# Simulations of comparisons and intervals

Written by the long form of the simulations; do not edit. To make it again:

    YOUDEN_LONG=1 go test -run TestSimulationsAtLength -timeout 90m ./measurements/compare

Seed %d; every row and repetition has a generator of its own. Cases draw the chance of a right answer from a beta distribution, apart for each side: recall .8, silence .9 and intraclass correlation .33, in 14 families of 3 cases (42), 6 of 7 and 8 of 6 (90) where a row says no more. Churn moves both sides of every case by one N(0,1) on the logit, centred so that no mean moves. A drop of all cases is one shift on the logit; one family drops by a shift of its recall alone. FAIL of a family uses all %d permutations; they are only drawn where some family meets every other condition. Figures of the specification come from another generator of the same description.

**Bounds: %d. They hold: %d; missed by no more than chance explains: %d; missed: %d.**

`, simulationSeed, stats.MaxTDraws, p.rows, p.rows-len(p.near)-len(p.broken), len(p.near), len(p.broken))
	for _, list := range []struct {
		title string
		rows  []string
	}{{"Missed", p.broken}, {"Missed by no more than chance explains", p.near}} {
		if len(list.rows) > 0 {
			fmt.Fprintf(&out, "%s:\n\n- %s\n\n", list.title, strings.Join(list.rows, "\n- "))
		}
	}
	out.WriteString(p.body.String())
	return out.String()
}

// figure writes a rate as the specification does: .025.
func figure(rate float64) string {
	return strings.Replace(fmt.Sprintf("%.3f", rate), "0.", ".", 1)
}

func table(rate float64) string {
	if rate == unknownToTables {
		return "-"
	}
	return figure(rate)
}

func beside(rate, specified float64) string {
	if specified == unknownToTables {
		return figure(rate)
	}
	return fmt.Sprintf("%s (%s)", figure(rate), figure(specified))
}

func dash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}
