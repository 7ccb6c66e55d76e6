package compare

import (
	"cmp"
	"math/rand/v2"
	"slices"

	"github.com/youden-bench/youden/corpus"
	"github.com/youden-bench/youden/measurements"
)

// SelfTest says what a comparison with this subject would catch: the regressions
// are planted in a copy of it, whose runs are drawn anew by the rates of its sides,
// so that it scatters as a second capture would. The seed decides what is drawn.
type SelfTest struct {
	Whole    Verdict          `json:"whole"`    // a detector that finds nothing any more
	Families []PlantedVerdict `json:"families"` // one family alone that finds nothing any more
}

// PlantedVerdict is the verdict on a planted regression of one family.
type PlantedVerdict struct {
	Slice   string  `json:"slice"`
	Family  string  `json:"family"`
	Cases   int     `json:"cases"`
	Verdict Verdict `json:"verdict"`
}

// Untested counts the families that are too small to be tested.
func (t SelfTest) Untested() int {
	n := 0
	for _, f := range t.Families {
		n += count(f.Verdict == Untested)
	}
	return n
}

// Passes reports whether the gravest regression of all is caught.
func (t SelfTest) Passes() bool { return t.Whole == Fail }

// RunSelfTest plants regressions in copies of s and compares them with it.
func RunSelfTest(s *Subject, o Options) SelfTest {
	o.brief = true
	second := anew(s, o.Seed)
	t := SelfTest{Whole: Compare(s, blinded(second, func(measurements.CaseScore) bool { return true }), o).Verdict, Families: []PlantedVerdict{}}
	counts := map[[2]string]int{}
	var order [][2]string
	for _, c := range s.Cases {
		key := [2]string{c.Slice, c.Family}
		if counts[key]++; counts[key] == 1 {
			order = append(order, key)
		}
	}
	slices.SortFunc(order, func(a, b [2]string) int { return cmp.Or(cmp.Compare(a[0], b[0]), cmp.Compare(a[1], b[1])) })
	for _, key := range order {
		planted := blinded(second, func(c measurements.CaseScore) bool { return c.Slice == key[0] && c.Family == key[1] })
		verdict := Pass
		for _, r := range Compare(s, planted, o).Families {
			if r.Slice == key[0] && r.Family == key[1] {
				verdict = r.Verdict
			}
		}
		t.Families = append(t.Families, PlantedVerdict{key[0], key[1], counts[key], verdict})
	}
	return t
}

// anew is a copy whose runs are drawn again: on each side as many positive ones as
// that many draws by its rate give.
func anew(s *Subject, seed uint64) *Subject {
	rng := rand.New(rand.NewPCG(seed, 0x73656c66)) //nolint:gosec // a seeded draw that can be repeated
	draw := func(t *measurements.Tally, side corpus.SideName) *measurements.Tally {
		if t == nil {
			return nil
		}
		kept := t.Keep(false)
		kept.Positive = 0
		for range t.Counted {
			if rng.IntN(t.Counted) < t.Positive {
				kept.Positive++
			}
		}
		return kept.Restore(side)
	}
	drawn := *s
	drawn.Cases = slices.Clone(s.Cases)
	for i := range drawn.Cases {
		c := &drawn.Cases[i]
		c.Vulnerable, c.Fixed = draw(c.Vulnerable, corpus.Vulnerable), draw(c.Fixed, corpus.Fixed)
	}
	return &drawn
}

// blinded is a copy in which the chosen cases are never detected.
func blinded(s *Subject, chosen func(measurements.CaseScore) bool) *Subject {
	planted := *s
	planted.Cases = slices.Clone(s.Cases)
	for i, c := range planted.Cases {
		if c.Vulnerable != nil && chosen(c) {
			kept := c.Vulnerable.Keep(false)
			kept.Positive = 0
			planted.Cases[i].Vulnerable = kept.Restore(corpus.Vulnerable)
		}
	}
	return &planted
}
