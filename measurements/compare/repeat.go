package compare

import "slices"

// variedSides is how many sides whose runs disagree with themselves two captures
// must have alike before that is no coincidence.
const variedSides = 5

// repeatOf says in what way NEW only repeats OLD, so that their agreement shows
// nothing; "" where it does not.
func repeatOf(before, after *Subject, pairs []Pair) string {
	if slices.ContainsFunc(pairs, Pair.moved) {
		return ""
	}
	switch {
	case before.ID != "" && before.ID == after.ID:
		return "OLD and NEW are the same capture"
	case before.Kind == FromKSTRL || !before.asks(after):
		return ""
	case before.Simulated || varied(pairs) >= variedSides:
		return "OLD and NEW gave the same answers, from the same seed"
	}
	return ""
}

// asks reports whether both put the same questions.
func (s *Subject) asks(o *Subject) bool {
	return s.Seed == o.Seed && s.K == o.K && s.Detector.Hash == o.Detector.Hash && s.Endpoint.Model == o.Endpoint.Model
}

func varied(pairs []Pair) (n int) {
	for _, p := range pairs {
		for _, s := range p.strata() {
			n += count(s.NewCorrect > 0 && s.NewCorrect < s.NewRuns)
		}
	}
	return n
}

// claimNothing takes back what only a second measurement could show.
func (c *Comparison) claimNothing(repeat string) {
	if repeat == "" {
		return
	}
	c.Warnings = append(c.Warnings, repeat+": this is no second measurement, and says nothing about non-inferiority")
	for i := range c.Slices {
		c.Slices[i].NonInferior = nil
	}
}
