package corpus

import "github.com/youden-bench/youden/corpus/family"

// Outline is what a plan must know of a case to be refused or not: no text, no label's
// place and no expectation.
type Outline struct {
	ID, Hash          string
	Slice, Task       string
	Family            family.ID
	Vulnerable, Fixed bool // the sides that it has
	Scorable          bool // none of them is known beforehand to be unscorable
}

// Outline of a case.
func (c *Case) Outline() Outline {
	o := Outline{
		ID: c.ID, Hash: c.Hash(), Slice: c.Slice, Task: c.Task, Family: c.Family,
		Vulnerable: c.Vulnerable != nil, Fixed: c.Fixed != nil, Scorable: true,
	}
	for _, side := range c.Sides() {
		if reason, _ := c.Unscorable(side); reason != "" {
			o.Scorable = false
		}
	}
	return o
}

// Outlines of the held-out cases, in the order of the corpus: so that a plan which
// would be refused is refused while they are sealed.
func (s *Sealed) Outlines() []Outline { return outlines(s.cases) }

// Outlines of the cases, in the order of the corpus.
func (t *Train) Outlines() []Outline { return outlines(t.cases) }

func outlines(cases []*Case) []Outline {
	list := make([]Outline, len(cases))
	for i, c := range cases {
		list[i] = c.Outline()
	}
	return list
}
