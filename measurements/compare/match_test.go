package compare

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/youden-bench/youden/corpus"
	"github.com/youden-bench/youden/measurements"
)

func pairOf(k, newK int, hits, leaks, newHits, newLeaks int) Pair {
	of := func(k, hits, leaks int) *measurements.CaseScore {
		return &measurements.CaseScore{IsPair: true, Vulnerable: ran(corpus.Vulnerable, k, hits), Fixed: ran(corpus.Fixed, k, leaks)}
	}
	return Pair{of(k, hits, leaks), of(newK, newHits, newLeaks)}
}

// Hits that are traded for as many leaks are no change of J, however they round.
func TestTradedHitsAreNoChange(t *testing.T) {
	assert.Zero(t, pairOf(20, 5, 13, 5, 3, 1).d(), "13/20 to 3/5 and 5/20 to 1/5")
	rapid.Check(t, func(t *rapid.T) {
		k, factor := rapid.IntRange(1, 20).Draw(t, "k"), rapid.IntRange(1, 5).Draw(t, "factor")
		hits, leaks := rapid.IntRange(0, k).Draw(t, "hits"), rapid.IntRange(0, k).Draw(t, "leaks")
		by := rapid.IntRange(0, k-max(hits, leaks)).Draw(t, "by")
		p := pairOf(k, factor*k, hits, leaks, factor*(hits+by), factor*(leaks+by))
		assert.Zero(t, p.d())
		assert.Equal(t, by > 0, p.moved())
		assert.Equal(t, by > 0, len(changes([]Pair{p})) == 1)
		assert.Zero(t, newRow("s", "", []Pair{p}, measurements.Estimates{}, measurements.Estimates{}).Moved)
		assert.NotZero(t, pairOf(1000, 1000, 500, 0, 499, 0).d(), "the least that a thousand runs can change")
	})
}

// Labels are no part of a hash: OLD may have others, and is judged by those of NEW.
func TestCasesOfOtherLabels(t *testing.T) {
	relabel := func(change func(c *measurements.CaseScore)) *Subject {
		s := measured(5, steady())
		for i := range s.Cases {
			change(&s.Cases[i])
		}
		return s
	}
	want := Compare(measured(5, steady()), measured(5, steady()), Options{})
	for name, before := range map[string]*Subject{
		"one family":      relabel(func(c *measurements.CaseScore) { c.Family = "all" }),
		"another order":   relabel(func(c *measurements.CaseScore) { c.Family = map[string]string{"crypto": "z"}[c.Family] + c.Family }),
		"a family a case": relabel(func(c *measurements.CaseScore) { c.Family = c.ID }),
		"another slice":   relabel(func(c *measurements.CaseScore) { c.Slice = c.Family }),
	} {
		t.Run(name, func(t *testing.T) {
			labels := before.Cases[0]
			got := Compare(before, measured(5, steady()), Options{})
			assert.Equal(t, want.Families, got.Families)
			assert.Equal(t, want.Slices, got.Slices)
			assert.Contains(t, strings.Join(got.Warnings, "\n"), "labelled otherwise in OLD")
			assert.Equal(t, labels, before.Cases[0], "OLD itself is left alone")
		})
	}
	assert.Empty(t, want.Warnings[:len(want.Warnings)-1], "nothing but the repeat is warned about")
}

// Only sides that both have are compared, and a case without one is not.
func TestOnlyCommonSidesAreCompared(t *testing.T) {
	lone := func(side corpus.SideName) *Subject {
		s := measured(5, steady())
		for i := range s.Cases {
			c := &s.Cases[i]
			c.IsPair = false
			if side == corpus.Vulnerable {
				c.Fixed = nil
			} else {
				c.Vulnerable = nil
			}
		}
		return s
	}
	whole := measured(5, steady())
	apart := Compare(lone(corpus.Vulnerable), lone(corpus.Fixed), Options{})
	assert.Equal(t, Incomparable, apart.Verdict)
	assert.Len(t, apart.Unscored, len(whole.Cases))

	for _, sides := range [][2]*Subject{{lone(corpus.Vulnerable), whole}, {whole, lone(corpus.Vulnerable)}} {
		c := Compare(sides[0], sides[1], Options{})
		require.Len(t, c.Slices, 1)
		row := c.Slices[0]
		assert.Equal(t, len(whole.Cases), row.N)
		assert.Equal(t, row.OldRecall, row.NewRecall)
		assert.Nil(t, row.OldSilence)
		assert.Nil(t, row.NewSilence)
		assert.Nil(t, row.Lo)
	}
}

// Where nothing moved, non-inferiority has to be shown all the same.
func TestNonInferiorityOfNothingChanged(t *testing.T) {
	one := map[string][][2]int{"path": times(1, [2]int{5, 0})}
	for mode, want := range map[Mode]Verdict{NonInferior: Inconclusive, Regression: Pass} {
		c := Compare(measured(5, one), measured(5, one), Options{Mode: mode})
		assert.Equal(t, want, c.Verdict, "one case has no interval")
		c = Compare(measured(5, steady()), measured(5, steady()), Options{Mode: mode})
		assert.Equal(t, Pass, c.Verdict)
	}
}
