package compare

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/youden-bench/youden/measurements"
	"github.com/youden-bench/youden/measurements/stats"
)

// The short form of the simulations behind the rules: few repetitions, and a
// bound counts as broken where chance cannot explain it. SIMULATIONS.md has the
// long form.

// brokenAlarms tries a judge where nothing changed in the mean and lists the
// bounds that it breaks. All rows together see a smaller excess than one can.
func brokenAlarms(j judge, repetitions int) (broken []string, seen map[float64]frequency) {
	promised, _ := alarms()
	seen = map[float64]frequency{}
	for i, s := range promised {
		n := repetitions
		if s.world.cases() > 42 {
			n /= 2
		}
		v := s.world.try(j, n, uint64(i))
		if v.fail.above(s.bound()) {
			broken = append(broken, s.name+": FAIL "+v.fail.String())
		}
		seen[s.bound()] = seen[s.bound()].with(v.fail)
	}
	for _, bound := range []float64{stillBound, churnBound} {
		if seen[bound].above(bound) {
			broken = append(broken, "together: FAIL "+seen[bound].String())
		}
	}
	return broken, seen
}

// brokenPowers lists the rows of the power tables that a judge falls short of.
func brokenPowers(j judge, repetitions int, rows []powerSetting) (broken []string) {
	for i, s := range rows {
		fail, named := s.found(s.world.try(j, repetitions, uint64(100+i)))
		if fail.below(s.fail - powerAllowance) {
			broken = append(broken, s.name+": FAIL "+fail.String())
		}
		if s.named != unknownToTables && named.below(s.named-powerAllowance) {
			broken = append(broken, s.name+": FAIL or WARN "+named.String())
		}
	}
	return broken
}

// brokenCovers lists the settings in which intervals hold the truth too rarely.
func brokenCovers(rows []coverageSetting, of estimator, repetitions int) (broken []string) {
	for i, s := range rows {
		if c := s.world.cover(of, repetitions, uint64(200+i)); c.held.below(coverageBound) {
			broken = append(broken, s.name)
		}
	}
	return broken
}

func TestNothingChangedRarelyFails(t *testing.T) {
	broken, seen := brokenAlarms(usualJudge(), scaled(300))
	t.Logf("false FAILs: %v without churn, %v with", seen[stillBound], seen[churnBound])
	assert.Empty(t, broken)
}

func TestDropsAreFound(t *testing.T) {
	assert.Empty(t, brokenPowers(usualJudge(), scaled(80), append(drops(), collapses()...)))
}

func TestIntervalsHoldTheTruth(t *testing.T) {
	families, overall, _ := covers()
	assert.Empty(t, brokenCovers(smaller(families), byFamilies, scaled(50)))
	assert.Empty(t, brokenCovers(smaller(overall), whole, scaled(200)))
}

// smaller leaves out what costs most: captures of hundreds of cases at K 20.
func smaller(rows []coverageSetting) (list []coverageSetting) {
	for _, s := range rows {
		if s.world.cases()*s.world.oldK <= 14*42*5 {
			list = append(list, s)
		}
	}
	return list
}

// The tests of the tests: rules that are wrong in known ways must break a bound.
func TestBrokenRulesAreCaught(t *testing.T) {
	if raced {
		t.Skip("the race detector leaves too few repetitions to tell")
	}
	t.Run("the exact test alone decides", func(t *testing.T) {
		j := usualJudge()
		j.family = stats.FamilyRule{Limit: 1, Exact: .025, Drop: -2}
		broken, seen := brokenAlarms(j, 60)
		assert.NotEmpty(t, broken, "%v", seen)
	})
	t.Run("a mean beyond the margin is enough", func(t *testing.T) {
		j := usualJudge()
		j.overall = 2
		broken, seen := brokenAlarms(j, 60)
		assert.NotEmpty(t, broken, "%v", seen)
	})
	t.Run("a side that falls by a twentieth is enough", func(t *testing.T) {
		j := usualJudge()
		j.side, j.sideDrop = 2, .05
		broken, seen := brokenAlarms(j, 60)
		assert.NotEmpty(t, broken, "%v", seen)
	})
	t.Run("a margin of .15", func(t *testing.T) {
		j := usualJudge()
		j.margin = .15
		assert.NotEmpty(t, brokenPowers(j, 40, drops()))
	})
	t.Run("families are never looked at", func(t *testing.T) {
		j := usualJudge()
		j.family.Limit = 0
		assert.NotEmpty(t, brokenPowers(j, 40, collapses()))
	})
	t.Run("runs are independent draws", func(t *testing.T) {
		rows, _, _ := covers()
		assert.NotEmpty(t, brokenCovers(smaller(rows)[:2], pretended, 60))
	})
}

// pretended are family intervals that take the runs of a case for as many cases.
func pretended(cases []measurements.CaseScore, s source) (intervals []*stats.Interval, truths []float64) {
	for at, f := 0, 0; f < len(s.sizes); f++ {
		var hits, silent, runs float64
		for _, c := range cases[at : at+s.sizes[f]] {
			hits += float64(c.Vulnerable.Positive)
			silent += float64(c.Fixed.Counted - c.Fixed.Positive)
			runs += float64(c.Vulnerable.Counted)
		}
		at += s.sizes[f]
		intervals = append(intervals, stats.MOVER(stats.Wilson(hits, runs, level), stats.Wilson(silent, runs, level)))
	}
	return intervals, s.j
}
