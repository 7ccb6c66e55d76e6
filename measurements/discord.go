package measurements

import "sort"

// Discordance is what two captures say about the pairs that both scored, never
// about each one's own set: a changed mix of cases reverses pooled numbers
// (Simpson's paradox; spec/scoring-corpora.md 4.6). Names are sorted.
type Discordance struct {
	Common       []string
	Gained, Lost []string // became correct; were correct
	Old, New     PairCounts
}

// Discord compares pair outcomes by name.
func Discord(old, updated map[string]PairOutcome) Discordance {
	d := Discordance{Common: []string{}, Gained: []string{}, Lost: []string{}}
	for name, a := range old {
		if b, ok := updated[name]; ok && scored(a) && scored(b) {
			d.Common = append(d.Common, name)
		}
	}
	sort.Strings(d.Common)
	for _, name := range d.Common {
		a, b := old[name], updated[name]
		d.Old.add(a)
		d.New.add(b)
		switch {
		case a != Correct && b == Correct:
			d.Gained = append(d.Gained, name)
		case a == Correct && b != Correct:
			d.Lost = append(d.Lost, name)
		}
	}
	return d
}

func scored(o PairOutcome) bool { return o != NoPair && o != Unscored }
