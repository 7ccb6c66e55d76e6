package compare

import (
	"sort"

	"github.com/youden-bench/youden/measurements"
)

// CaseChange is a case whose hits or leaks changed; D is what that came to in y.
type CaseChange struct {
	ID       string  `json:"id"`
	Slice    string  `json:"slice"`
	Family   string  `json:"family"`
	OldHits  Count   `json:"old_hits"`
	NewHits  Count   `json:"new_hits"`
	OldLeaks Count   `json:"old_leaks"`
	NewLeaks Count   `json:"new_leaks"`
	D        float64 `json:"d"`
	OldVote  string  `json:"old_vote,omitempty"` // what the majority of the runs said
	NewVote  string  `json:"new_vote,omitempty"`
}

// Count is positives of runs.
type Count struct {
	Positive int `json:"positive"`
	Counted  int `json:"counted"`
}

// Tied reports whether the runs had no majority: their vote then goes against the
// detector.
func (c Count) Tied() bool { return c.Counted > 0 && 2*c.Positive == c.Counted }

func countOf(t *measurements.Tally) Count {
	if t == nil {
		return Count{}
	}
	return Count{t.Positive, t.Counted}
}

// changes lists the cases whose hits or leaks changed, the greatest fall first.
func changes(pairs []Pair) []CaseChange {
	list := []CaseChange{}
	for _, p := range pairs {
		if !p.moved() {
			continue
		}
		list = append(list, CaseChange{
			ID: p.New.ID, Slice: p.New.Slice, Family: p.New.Family, D: p.d(),
			OldHits: countOf(p.Old.Vulnerable), NewHits: countOf(p.New.Vulnerable),
			OldLeaks: countOf(p.Old.Fixed), NewLeaks: countOf(p.New.Fixed),
			OldVote: string(p.Old.Pair()), NewVote: string(p.New.Pair()),
		})
	}
	sort.SliceStable(list, func(a, b int) bool { return list[a].D < list[b].D })
	return list
}

// Misses says whether the two miss the same bugs, by the votes of their runs:
// two detectors that miss different ones are worth more together.
type Misses struct {
	Both    int `json:"both"`
	OldOnly int `json:"old_only"`
	NewOnly int `json:"new_only"`
	Neither int `json:"neither"`
	Ties    int `json:"ties"` // of the votes that were counted as misses, those at a tie
}

func tied(t *measurements.Tally) bool { return countOf(t).Tied() }

// Votes counts the vulnerable sides that both voted on.
func (m Misses) Votes() int { return m.Both + m.OldOnly + m.NewOnly + m.Neither }

func misses(pairs []Pair) Misses {
	var m Misses
	for _, p := range pairs {
		before, after := p.Old.Vulnerable.Vote(), p.New.Vulnerable.Vote()
		if before != nil && after != nil {
			m.Ties += count(tied(p.Old.Vulnerable)) + count(tied(p.New.Vulnerable))
		}
		switch {
		case before == nil || after == nil:
		case !*before && !*after:
			m.Both++
		case !*before:
			m.OldOnly++
		case !*after:
			m.NewOnly++
		default:
			m.Neither++
		}
	}
	return m
}
