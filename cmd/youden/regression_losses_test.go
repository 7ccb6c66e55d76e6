package main

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/youden-bench/youden/corpus"
	"github.com/youden-bench/youden/measurements"
	"github.com/youden-bench/youden/measurements/compare"
)

const lostCases = 5

// losses: five cases that were always found are never found any more, and nothing
// else changed. No chance explains that, so the verdict must not be that there are
// too few data to tell.
func (s *shelf) losses(t *testing.T) {
	strong := s.subject(t, strongModel, 1)
	olds := []oldSubject{
		{"weak", s.subject(t, weakModel, 1)}, {"20 runs", multiplied(strong, 4)}, {"200 cases", widened(strong, 4)},
		{"two slices", divided(strong)}, {"perfect, 3 runs", perfect(strong, 3, 3)},
		{"perfect, trajectories differ", perfect(strong, 5, 5)}, {"perfect, trajectories unknown", perfect(strong, 5, 0)},
	}
	for seed := 1; seed <= s.seeds(3, 20); seed++ {
		olds = append(olds, oldSubject{fmt.Sprintf("strong, seed %d", seed), s.subject(t, strongModel, seed)})
	}
	for _, old := range olds {
		t.Run(old.name, func(t *testing.T) {
			random := rand.New(rand.NewPCG(1, 1))
			for range s.seeds(5, 50) {
				checkLoss(t, old.subject, spread(random, old.subject))
			}
			for _, together := range clustered(random, old.subject) {
				checkLoss(t, found(old.subject, together), together)
			}
		})
	}
}

// oldSubject is what cases are lost from: a capture, or one made up from it.
type oldSubject struct {
	name    string
	subject *compare.Subject
}

func checkLoss(t *testing.T, old *compare.Subject, cases []int) {
	t.Helper()
	if len(cases) < lostCases {
		return // a weak detector does not have so many to lose
	}
	c := compare.Compare(old, edited(old, cases, 0), compare.Options{})
	assert.Contains(t, []compare.Verdict{compare.Warn, compare.Fail}, c.Verdict, "cases %v: %q", cases, c.Reasons)
	require.Len(t, c.Cases, lostCases)
	for _, change := range c.Cases {
		assert.Equal(t, change.OldHits.Counted, change.OldHits.Positive)
		assert.InDelta(t, -1, change.D, 1e-9)
	}
}

// spread takes five of the cases that are found in all runs, wherever they are.
func spread(random *rand.Rand, s *compare.Subject) []int {
	var always []int
	for i, c := range s.Cases {
		if c.Vulnerable.Positive == c.Vulnerable.Counted {
			always = append(always, i)
		}
	}
	random.Shuffle(len(always), func(i, j int) { always[i], always[j] = always[j], always[i] })
	return always[:min(lostCases, len(always))]
}

// clustered takes five cases of each family that has so many.
func clustered(random *rand.Rand, s *compare.Subject) [][]int {
	families := map[string][]int{}
	for _, i := range random.Perm(len(s.Cases)) {
		families[s.Cases[i].Family] = append(families[s.Cases[i].Family], i)
	}
	var list [][]int
	for _, name := range slices.Sorted(maps.Keys(families)) {
		if cases := families[name]; len(cases) >= lostCases {
			list = append(list, cases[:lostCases])
		}
	}
	return list
}

// found is a subject that finds some cases in all runs.
func found(s *compare.Subject, cases []int) *compare.Subject { return edited(s, cases, 1) }

// edited is a copy of a subject with the hit rate of some cases changed.
func edited(s *compare.Subject, cases []int, rate int) *compare.Subject {
	return retold(s, func(i int, _ *measurements.CaseScore, vulnerable, _ *measurements.Counts) {
		if slices.Contains(cases, i) {
			vulnerable.Positive = rate * vulnerable.Counted
		}
	})
}

// multiplied is a subject with more runs of the same outcomes.
func multiplied(s *compare.Subject, by int) *compare.Subject {
	out := retold(s, func(_ int, _ *measurements.CaseScore, vulnerable, fixed *measurements.Counts) {
		for _, side := range []*measurements.Counts{vulnerable, fixed} {
			side.K, side.Counted, side.Positive = by*side.K, by*side.Counted, by*side.Positive
		}
	})
	out.K = by * s.K
	return out
}

// widened is a subject of a larger corpus, with more cases of the same outcomes.
func widened(s *compare.Subject, by int) *compare.Subject {
	out := *s
	out.Cases = nil
	for copied := range by {
		for _, c := range s.Cases {
			c.ID, c.Hash = fmt.Sprintf("%s-%d", c.ID, copied), fmt.Sprintf("%s-%d", c.Hash, copied)
			out.Cases = append(out.Cases, c)
		}
	}
	return &out
}

// perfect is a subject that is always right.
func perfect(s *compare.Subject, k, trajectories int) *compare.Subject {
	out := retold(s, func(_ int, _ *measurements.CaseScore, vulnerable, fixed *measurements.Counts) {
		*vulnerable = measurements.Counts{K: k, Counted: k, Positive: k, Trajectories: trajectories}
		*fixed = measurements.Counts{K: k, Counted: k, Trajectories: trajectories}
	})
	out.K = k
	return out
}

// divided is a subject whose cases come from two places, which are judged apart.
func divided(s *compare.Subject) *compare.Subject {
	return retold(s, func(i int, c *measurements.CaseScore, _, _ *measurements.Counts) {
		c.Slice = []string{"handed", "planted"}[i%2]
	})
}

// retold is a copy of a subject, with its cases changed.
func retold(s *compare.Subject, change func(i int, c *measurements.CaseScore, vulnerable, fixed *measurements.Counts)) *compare.Subject {
	out := *s
	out.Cases = slices.Clone(s.Cases)
	for i := range out.Cases {
		c := &out.Cases[i]
		vulnerable, fixed := c.Vulnerable.Keep(false), c.Fixed.Keep(false)
		change(i, c, vulnerable, fixed)
		c.Vulnerable, c.Fixed = vulnerable.Restore(corpus.Vulnerable), fixed.Restore(corpus.Fixed)
	}
	return &out
}
