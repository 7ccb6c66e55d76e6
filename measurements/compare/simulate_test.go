package compare

import (
	"math/rand/v2"
	"runtime"
	"strings"
	"sync"

	"github.com/youden-bench/youden/measurements"
	"github.com/youden-bench/youden/measurements/stats"
)

// simulationSeed is that of every simulation here; a row's own number is the
// other half.
const simulationSeed = 20261130

// scaled is how many repetitions a test makes: a tenth under the race detector,
// which looks for races and needs no power. Bounds loosen by themselves.
func scaled(repetitions int) int {
	if raced {
		return max(repetitions/10, 2)
	}
	return repetitions
}

// repeat makes so many repetitions over all processors. Each has a generator of
// its own, so that neither their number nor their order reaches the answer.
func repeat[T any](repetitions int, row uint64, each func(rng *rand.Rand, repetition uint64) T) []T {
	answers := make([]T, repetitions)
	var wait sync.WaitGroup
	workers := runtime.GOMAXPROCS(0)
	for w := range workers {
		wait.Go(func() {
			for r := w; r < repetitions; r += workers {
				rng := rand.New(rand.NewPCG(simulationSeed, row<<32|uint64(r)))
				answers[r] = each(rng, uint64(r))
			}
		})
	}
	wait.Wait()
	return answers
}

// verdicts is what a rule said of many pairs of captures.
type verdicts struct {
	fail, warn, inconclusive frequency // of the whole comparison
	overall, side, family    frequency // what FAIL rests on: J, one side alone, or a family
	first, named             frequency // of the first family: FAIL; FAIL or WARN
}

// try applies a judge to pairs of captures of a world.
func (w world) try(j judge, repetitions int, row uint64) verdicts {
	source := w.source()
	rulings := repeat(repetitions, row, func(rng *rand.Rand, repetition uint64) ruling {
		before, after := source.draw(rng)
		mine := j
		mine.seed = repetition
		return mine.rule(before, after)
	})
	var v verdicts
	for _, r := range rulings {
		v.add(r)
	}
	return v
}

func (v *verdicts) add(r ruling) {
	v.fail.count(r.verdict == Fail)
	v.warn.count(r.verdict == Warn)
	v.inconclusive.count(r.verdict == Inconclusive)
	j, side := false, false
	for _, reason := range r.overall.Reasons {
		j = j || strings.HasPrefix(reason, "J fell") && r.overall.Verdict == Fail
		side = side || strings.HasPrefix(reason, "recall fell") || strings.HasPrefix(reason, "silence fell")
	}
	v.overall.count(j && !side)
	v.side.count(side)
	family := false
	for _, f := range r.families {
		family = family || f.Verdict == Fail
	}
	v.family.count(family)
	first := r.families[0].Verdict
	v.first.count(first == Fail)
	v.named.count(first == Fail || first == Warn)
}

// with adds what another simulation counted.
func (s frequency) with(other frequency) frequency {
	return frequency{s.hits + other.hits, s.of + other.of}
}

// coverage is how often intervals of a world's OLD held the truth, and how wide
// they were.
type coverage struct{ held, width clustered }

// estimator gives the intervals of J that a table shows, and the truths they are
// after.
type estimator func(cases []measurements.CaseScore, s source) (intervals []*stats.Interval, truths []float64)

// byFamilies are the rows of families, whole the overall row.
func byFamilies(cases []measurements.CaseScore, s source) (intervals []*stats.Interval, truths []float64) {
	for _, e := range measurements.EstimateFamilies(cases) {
		intervals = append(intervals, e.J)
	}
	return intervals, s.j
}

func whole(cases []measurements.CaseScore, s source) (intervals []*stats.Interval, truths []float64) {
	return []*stats.Interval{measurements.EstimateAll(cases).J}, []float64{s.truth()}
}

// cover draws captures and asks how often their intervals hold the truth.
func (w world) cover(of estimator, repetitions int, row uint64) coverage {
	type bunch struct{ held, width float64 }
	source := w.source()
	bunches := repeat(repetitions, row, func(rng *rand.Rand, _ uint64) bunch {
		cases, _ := source.draw(rng)
		intervals, truths := of(cases, source)
		var b bunch
		for i, interval := range intervals {
			if interval.Lo <= truths[i] && truths[i] <= interval.Hi {
				b.held += 1 / float64(len(intervals))
			}
			b.width += interval.Width() / float64(len(intervals))
		}
		return b
	})
	var c coverage
	for _, b := range bunches {
		c.held.bunches = append(c.held.bunches, b.held)
		c.width.bunches = append(c.width.bunches, b.width)
	}
	return c
}
