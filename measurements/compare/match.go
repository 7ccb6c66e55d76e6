package compare

import (
	"sort"

	"github.com/youden-bench/youden/measurements"
	"github.com/youden-bench/youden/measurements/stats"
)

// Matched are the cases of two subjects, paired by their hashes. Only Both is
// ever averaged.
type Matched struct {
	Both     []Pair
	Added    []string // in NEW alone
	Removed  []string // in OLD alone
	Changed  []string // in both by name, with another hash
	Unscored []string // in both, and not scored by one of them
}

// Pair is a case as both subjects saw it.
type Pair struct {
	Old, New *measurements.CaseScore
}

// match pairs cases by hash, in the order of NEW; names are sorted.
func match(before, after []measurements.CaseScore) Matched {
	byHash, byID := map[string]int{}, map[string]bool{}
	for i, c := range before {
		byHash[c.Hash] = i
		byID[c.Slice+"\x00"+c.ID] = true
	}
	var m Matched
	found := make([]bool, len(before))
	changed := map[string]bool{}
	for i := range after {
		c := &after[i]
		at, ok := byHash[c.Hash]
		switch {
		case !ok && byID[c.Slice+"\x00"+c.ID]:
			m.Changed = append(m.Changed, c.ID)
			changed[c.Slice+"\x00"+c.ID] = true
		case !ok:
			m.Added = append(m.Added, c.ID)
		default:
			found[at] = true
			if old := &before[at]; old.Counts() && c.Counts() {
				m.Both = append(m.Both, Pair{old, c})
			} else {
				m.Unscored = append(m.Unscored, c.ID)
			}
		}
	}
	for i, c := range before {
		if !found[i] && !changed[c.Slice+"\x00"+c.ID] {
			m.Removed = append(m.Removed, c.ID)
		}
	}
	for _, names := range [][]string{m.Added, m.Removed, m.Changed, m.Unscored} {
		sort.Strings(names)
	}
	return m
}

// strata are the sides of the case with their correct runs: detected on the
// vulnerable side, silent on the fixed one.
func (p Pair) strata() []stats.Stratum {
	var list []stats.Stratum
	if p.Old.Vulnerable != nil && p.New.Vulnerable != nil {
		list = append(list, stats.Stratum{
			OldRuns: p.Old.Vulnerable.Counted, OldCorrect: p.Old.Vulnerable.Positive,
			NewRuns: p.New.Vulnerable.Counted, NewCorrect: p.New.Vulnerable.Positive,
		})
	}
	if p.Old.Fixed != nil && p.New.Fixed != nil {
		list = append(list, stats.Stratum{
			OldRuns: p.Old.Fixed.Counted, OldCorrect: p.Old.Fixed.Counted - p.Old.Fixed.Positive,
			NewRuns: p.New.Fixed.Counted, NewCorrect: p.New.Fixed.Counted - p.New.Fixed.Positive,
		})
	}
	return list
}

// recall is the change of the hit rate, silence that of the silent rate; nil for
// a side that the case does not have.
func (p Pair) recall() *float64 { return difference(p.Old.Vulnerable, p.New.Vulnerable, 1) }

func (p Pair) silence() *float64 { return difference(p.Old.Fixed, p.New.Fixed, -1) }

func difference(before, after *measurements.Tally, sign float64) *float64 {
	if before == nil || after == nil {
		return nil
	}
	a, b := before.Rate(), after.Rate()
	if a == nil || b == nil {
		return nil
	}
	d := sign * (*b - *a)
	return &d
}

// d is the change of the case's y, or of the rate of its only side.
func (p Pair) d() float64 {
	sum := 0.0
	for _, part := range []*float64{p.recall(), p.silence()} {
		if part != nil {
			sum += *part
		}
	}
	return sum
}
