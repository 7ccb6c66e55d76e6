package measurements

import "github.com/youden-bench/youden/corpus"

// Strata counts planned cases by slice and family, in order of appearance.
func Strata(cases []*corpus.Case) []Stratum {
	index := map[familyKey]int{}
	var strata []Stratum
	for _, c := range cases {
		key := familyKey{c.Slice, string(c.Family)}
		at, ok := index[key]
		if !ok {
			at = len(strata)
			index[key] = at
			strata = append(strata, Stratum{Slice: key.slice, Family: key.family})
		}
		s := &strata[at]
		switch {
		case c.IsPair():
			s.Pairs++
		case c.Vulnerable != nil:
			s.VulnerableOnly++
		default:
			s.FixedOnly++
		}
	}
	return strata
}

// withUnrun adds the planned cases that have no row at all: without them the
// coverage and the bounds of a partial capture would look complete.
func withUnrun(cases []CaseScore, plan PlanRecord) []CaseScore {
	seen := map[familyKey]Stratum{}
	for _, c := range cases {
		key := familyKey{c.Slice, c.Family}
		s := seen[key]
		switch {
		case c.IsPair:
			s.Pairs++
		case c.Vulnerable != nil:
			s.VulnerableOnly++
		default:
			s.FixedOnly++
		}
		seen[key] = s
	}
	all := cases[:len(cases):len(cases)]
	for _, s := range plan.Corpus.Strata {
		have := seen[familyKey{s.Slice, s.Family}]
		blank := CaseScore{Slice: s.Slice, Family: s.Family}
		for range s.Pairs - have.Pairs {
			c := blank
			c.IsPair = true
			c.side(corpus.Vulnerable, plan.K)
			c.side(corpus.Fixed, plan.K)
			all = append(all, c)
		}
		for range s.VulnerableOnly - have.VulnerableOnly {
			c := blank
			c.side(corpus.Vulnerable, plan.K)
			all = append(all, c)
		}
		for range s.FixedOnly - have.FixedOnly {
			c := blank
			c.side(corpus.Fixed, plan.K)
			all = append(all, c)
		}
	}
	return all
}
