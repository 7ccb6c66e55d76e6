package compare

import (
	"cmp"
	"slices"

	"github.com/youden-bench/youden/corpus"
	"github.com/youden-bench/youden/measurements"
)

// SelfTest says what a comparison with this subject would catch: the regressions
// are planted in a copy of it.
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

// Passes reports whether the gravest regression of all is caught.
func (t SelfTest) Passes() bool { return t.Whole == Fail }

// RunSelfTest plants regressions in copies of s and compares them with it.
func RunSelfTest(s *Subject, o Options) SelfTest {
	t := SelfTest{Whole: Compare(s, blinded(s, func(measurements.CaseScore) bool { return true }), o).Verdict, Families: []PlantedVerdict{}}
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
		planted := blinded(s, func(c measurements.CaseScore) bool { return c.Slice == key[0] && c.Family == key[1] })
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
