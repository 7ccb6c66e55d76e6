package compare

import (
	"math"
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
	Unscored []string // in both, and not scored by one of them on a side of both
	// Relabelled are those of Both that stand in another slice or family of OLD.
	Relabelled []string
}

// Pair is a case as both subjects saw it.
type Pair struct {
	Old, New *measurements.CaseScore
}

// match pairs cases by hash, in the order of NEW; names are sorted.
func match(before, after []measurements.CaseScore) Matched {
	byHash := make(map[string]int, len(before))
	for i := range before {
		byHash[before[i].Hash] = i
	}
	m := Matched{Both: make([]Pair, 0, min(len(before), len(after)))}
	found := make([]bool, len(before))
	olds, changed := names{of: before}, map[caseName]bool{}
	for i := range after {
		c := &after[i]
		at, ok := byHash[c.Hash]
		switch {
		case !ok && olds.has(nameOf(c)):
			m.Changed = append(m.Changed, c.ID)
			changed[nameOf(c)] = true
		case !ok:
			m.Added = append(m.Added, c.ID)
		default:
			found[at] = true
			old := &before[at]
			p, ok := paired(old, c)
			if !ok {
				m.Unscored = append(m.Unscored, c.ID)
				continue
			}
			m.Both = append(m.Both, p)
			if old.Slice != c.Slice || old.Family != c.Family {
				m.Relabelled = append(m.Relabelled, c.ID)
			}
		}
	}
	for i := range before {
		if !found[i] && !changed[nameOf(&before[i])] {
			m.Removed = append(m.Removed, before[i].ID)
		}
	}
	for _, names := range [][]string{m.Added, m.Removed, m.Changed, m.Unscored, m.Relabelled} {
		sort.Strings(names)
	}
	return m
}

// paired is a case that both scored, by the labels of NEW and with the sides that
// both have: rows of OLD and NEW are then over the same. It is false without one.
func paired(before, after *measurements.CaseScore) (Pair, bool) {
	if !before.Counts() || !after.Counts() {
		return Pair{}, false
	}
	vulnerable := before.Vulnerable != nil && after.Vulnerable != nil
	fixed := before.Fixed != nil && after.Fixed != nil
	if before.Slice != after.Slice || before.Family != after.Family {
		labelled := *before
		labelled.Slice, labelled.Family = after.Slice, after.Family
		before = &labelled
	}
	return Pair{common(before, vulnerable, fixed), common(after, vulnerable, fixed)}, vulnerable || fixed
}

// common is the case with no other sides than these.
func common(c *measurements.CaseScore, vulnerable, fixed bool) *measurements.CaseScore {
	if vulnerable == (c.Vulnerable != nil) && fixed == (c.Fixed != nil) {
		return c
	}
	part := *c
	part.IsPair = false
	if !vulnerable {
		part.Vulnerable = nil
	}
	if !fixed {
		part.Fixed = nil
	}
	return &part
}

// caseName is what a person calls a case: names are unique within a slice.
type caseName struct{ slice, id string }

func nameOf(c *measurements.CaseScore) caseName { return caseName{c.Slice, c.ID} }

// names are those of many cases, listed when the first is asked for: mostly none
// is.
type names struct {
	of   []measurements.CaseScore
	list map[caseName]bool
}

func (n *names) has(name caseName) bool {
	if n.list == nil {
		n.list = make(map[caseName]bool, len(n.of))
		for i := range n.of {
			n.list[nameOf(&n.of[i])] = true
		}
	}
	return n.list[name]
}

// strata are the sides of the case with their correct runs: detected on the
// vulnerable side, silent on the fixed one.
func (p Pair) strata() []stats.Stratum {
	list := make([]stats.Stratum, 0, 2)
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
func (p Pair) recall() *float64 { return known(difference(p.Old.Vulnerable, p.New.Vulnerable)) }

func (p Pair) silence() *float64 { return known(difference(p.New.Fixed, p.Old.Fixed)) }

func known(value float64, ok bool) *float64 {
	if !ok {
		return nil
	}
	return &value
}

// moved reports whether a rate of the case changed: y may stay when hits are traded
// for leaks.
func (p Pair) moved() bool {
	recall, silence := p.recall(), p.silence()
	return recall != nil && *recall != 0 || silence != nil && *silence != 0
}

// difference is what the second rate has more than the first.
func difference(a, b *measurements.Tally) (d float64, ok bool) {
	if !a.Counts() || !b.Counts() {
		return 0, false
	}
	return float64(b.Positive)/float64(b.Counted) - float64(a.Positive)/float64(a.Counted), true
}

// d is the change of the case's y, or of the rate of its only side. Hits that are
// traded for as many leaks leave it 0, whatever their fractions round to.
func (p Pair) d() float64 {
	recall, _ := difference(p.Old.Vulnerable, p.New.Vulnerable)
	silence, _ := difference(p.New.Fixed, p.Old.Fixed)
	if d := recall + silence; math.Abs(d) > rounding {
		return d
	}
	return 0
}
