package compare

import (
	"testing"

	"github.com/stretchr/testify/assert"
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
