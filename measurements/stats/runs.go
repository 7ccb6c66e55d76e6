package stats

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// Stratum is one case and side: its runs, and those of them that were correct
// (detected on the vulnerable side, silent on the fixed one), in both captures.
type Stratum struct {
	OldRuns, OldCorrect int
	NewRuns, NewCorrect int
}

// Single counts the runs of a side that was unanimous as one. Where every side
// is unanimous and its trajectories identical, runs repeat one answer and are no
// independent draws (spec/statistics.md section 2, guards).
func (s Stratum) Single() Stratum {
	single := func(runs, correct int) (int, int) {
		switch {
		case runs > 0 && correct == runs:
			return 1, 1
		case runs > 0 && correct == 0:
			return 1, 0
		}
		return runs, correct
	}
	s.OldRuns, s.OldCorrect = single(s.OldRuns, s.OldCorrect)
	s.NewRuns, s.NewCorrect = single(s.NewRuns, s.NewCorrect)
	return s
}

func (s Stratum) valid() bool {
	return s.OldCorrect >= 0 && s.OldCorrect <= s.OldRuns && s.NewCorrect >= 0 && s.NewCorrect <= s.NewRuns
}

// least and most bound the correct runs that NEW can have, given the total.
func (s Stratum) least() int { return max(0, s.OldCorrect+s.NewCorrect-s.OldRuns) }
func (s Stratum) most() int  { return min(s.NewRuns, s.OldCorrect+s.NewCorrect) }

// RunTest is the exact test "Changed on these cases?".
type RunTest struct {
	Strata   int     // with runs in both captures
	Open     int     // of these, not settled by their totals alone
	Correct  int     // correct runs of NEW in the open strata
	Expected float64 // their number if nothing changed
	Drop     float64 // one-sided p of so few
	Rise     float64 // one-sided p of so many
	Warnings []string
}

// ExactRuns tests whether anything changed on these very cases. Given each
// stratum's total of correct runs, the number of them in NEW is hypergeometric
// if nothing changed, and the sum over strata is their convolution; no runs of
// different cases are pooled (spec/statistics.md section 1). It says nothing of
// other cases: a harmless edit that moves cases up and down makes it fire. Both p
// are right to 9 digits, however small, down to 1e-300; see convolution. It is
// nil without a stratum that has runs in both captures.
func ExactRuns(strata []Stratum) *RunTest {
	t := RunTest{Drop: 1, Rise: 1}
	broken := 0
	var open []Stratum
	for _, s := range strata {
		switch {
		case !s.valid():
			broken++
		case s.OldRuns == 0 || s.NewRuns == 0:
		default:
			t.Strata++
			if s.least() < s.most() {
				open = append(open, s)
			}
		}
	}
	if broken > 0 {
		t.Warnings = append(t.Warnings, fmt.Sprintf("%d strata with more correct runs than runs left out", broken))
	}
	if t.Strata == 0 {
		return nil
	}
	t.Open = len(open)
	if t.Open == 0 {
		t.Warnings = append(t.Warnings, "all runs of each side agree in both captures: no run could tell")
		return &t
	}
	sum := convolution{}
	above := 0 // correct runs beyond the least possible
	for _, g := range alike(open) {
		t.Correct += g.correct
		above += g.correct - g.strata*g.least()
		sum.add(g.hypergeometric(), g.strata)
		t.Expected += float64(g.strata) * g.expected()
	}
	t.Drop, t.Rise = sum.tails(above)
	return &t
}

// likeStrata are strata with the same runs and total, hence one distribution.
type likeStrata struct {
	Stratum
	strata  int
	correct int // in NEW, over all of them
}

// alike groups strata, in an order that does not depend on theirs.
func alike(strata []Stratum) []likeStrata {
	type key struct{ old, updated, total int }
	index := map[key]int{}
	var groups []likeStrata
	for _, s := range strata {
		k := key{s.OldRuns, s.NewRuns, s.OldCorrect + s.NewCorrect}
		i, ok := index[k]
		if !ok {
			i = len(groups)
			index[k] = i
			groups = append(groups, likeStrata{Stratum: s})
		}
		groups[i].strata++
		groups[i].correct += s.NewCorrect
	}
	slices.SortFunc(groups, func(a, b likeStrata) int {
		return cmp.Or(a.OldRuns-b.OldRuns, a.NewRuns-b.NewRuns, a.OldCorrect+a.NewCorrect-b.OldCorrect-b.NewCorrect)
	})
	return groups
}

func (s Stratum) expected() float64 {
	return float64(s.OldCorrect+s.NewCorrect) * float64(s.NewRuns) / float64(s.OldRuns+s.NewRuns)
}

// hypergeometric is the chance of each number of correct runs in NEW from the
// least on, by the ratio of neighbours outwards from the most likely, so that
// small chances keep their digits.
func (s Stratum) hypergeometric() []float64 {
	least, most, total := s.least(), s.most(), s.OldCorrect+s.NewCorrect
	chances := make([]float64, most-least+1)
	mode := (s.NewRuns + 1) * (total + 1) / (s.OldRuns + s.NewRuns + 2)
	mode = min(max(mode, least), most)
	ratio := func(x int) float64 { // chance of x+1 over that of x
		return float64(s.NewRuns-x) * float64(total-x) / (float64(x+1) * float64(s.OldRuns-total+x+1))
	}
	chances[mode-least] = 1
	sum := 1.0
	for x := mode; x < most; x++ {
		chances[x+1-least] = chances[x-least] * ratio(x)
		sum += chances[x+1-least]
	}
	for x := mode - 1; x >= least; x-- {
		chances[x-least] = chances[x+1-least] / ratio(x)
		sum += chances[x-least]
	}
	for i := range chances {
		chances[i] = math.Max(chances[i]/sum, math.SmallestNonzeroFloat64)
	}
	return chances
}
