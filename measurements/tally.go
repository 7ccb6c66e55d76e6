package measurements

import (
	"slices"

	"github.com/youden-bench/youden/corpus"
	"github.com/youden-bench/youden/detector"
)

// Unrun is the reason of a side that lacks runs, beside the names of statuses.
const unrunReason = "unrun"

// Tally is what the K runs of one side of a case say under a policy and a view.
type Tally struct {
	Side     corpus.SideName
	K        int // planned runs
	OK       int
	Charged  int
	Excused  int
	Counted  int // runs in the denominator
	Positive int // of these: detected on the vulnerable side, not silent on the fixed one

	floors   [topRank]int32 // of the positive runs, those that hold from each severity
	lost     []reasonCount  // runs outside the denominator, in order of appearance
	traced   int            // runs with a trajectory
	traces   []uint64       // the digests of the distinct ones, sorted: hashes would fill the memory
	distinct int            // how many there were, where only that was kept
}

type reasonCount struct {
	reason string
	n      int
}

// add counts one run.
func (t *Tally) add(e *entry, p Policy, v View) {
	switch e.counts {
	case "yes":
		t.OK++
	case "charged":
		t.Charged++
	default:
		t.Excused++
	}
	if e.trace.known {
		t.traced++
		if at, seen := slices.BinarySearch(t.traces, e.trace.value); !seen {
			t.traces = slices.Insert(t.traces, at, e.trace.value)
		}
	}
	positive, counted := e.speaks(p, v)
	if !counted {
		t.lose(e.status)
		return
	}
	t.Counted++
	if positive {
		t.Positive++
		for floor := range e.severity(p) {
			t.floors[floor]++
		}
	}
}

func (t *Tally) lose(reason string) {
	for i := range t.lost {
		if t.lost[i].reason == reason {
			t.lost[i].n++
			return
		}
	}
	t.lost = append(t.lost, reasonCount{reason, 1})
}

// AtLeast is the number of counted runs that are positive when only findings of
// severity s and above are heard. A charged run on the fixed side is not silent
// from any severity on; a finding that claims no severity is heard from none. A
// word that is no floor asks for no severity, so that the result is Positive.
func (t *Tally) AtLeast(s detector.Severity) int {
	if r := rankOf(s); r > 0 {
		return int(t.floors[r-1])
	}
	return t.Positive
}

// Trajectories is the number of distinct trajectories among the side's runs.
func (t *Tally) Trajectories() int { return max(t.distinct, len(t.traces)) }

// Quorum is the number of counted runs from which a side of k runs counts.
func Quorum(k int) int { return k/2 + 1 }

// Counts reports whether the side reaches its quorum, for rates and votes alike.
func (t *Tally) Counts() bool { return t != nil && t.Counted >= Quorum(t.K) }

// Rate is the share of counted runs that are positive: the hit rate of a
// vulnerable side, the leak rate of a fixed one. It is nil without a quorum.
func (t *Tally) Rate() *float64 {
	if !t.Counts() {
		return nil
	}
	return pointer(float64(t.Positive) / float64(t.Counted))
}

// Vote is the majority of the side's counted runs: detected, or not silent. A
// tie goes against the detector. It is nil without a quorum.
func (t *Tally) Vote() *bool {
	if !t.Counts() {
		return nil
	}
	if t.Side == corpus.Vulnerable {
		return pointer(2*t.Positive > t.Counted)
	}
	return pointer(2*(t.Counted-t.Positive) <= t.Counted)
}

// Reason says why a side does not count: the commonest reason among its lost
// runs, the first seen of equals. It is empty for a side that counts.
func (t *Tally) Reason() string {
	if t.Counts() {
		return ""
	}
	worst := reasonCount{unrunReason, t.K - t.OK - t.Charged - t.Excused}
	for _, r := range t.lost {
		if r.n > worst.n || worst.n <= 0 {
			worst = r
		}
	}
	return worst.reason
}

// disagrees reports whether the counted runs are not unanimous.
func (t *Tally) disagrees() bool { return t != nil && t.Positive > 0 && t.Positive < t.Counted }

// PairOutcome is what both sides of a pair say by their votes.
type PairOutcome string

// The outcomes of a pair. NoPair is a case with one side.
const (
	NoPair      PairOutcome = ""
	Correct     PairOutcome = "correct"
	BothFlagged PairOutcome = "both_flagged"
	Missed      PairOutcome = "missed"
	Reversed    PairOutcome = "reversed"
	Unscored    PairOutcome = "unscorable"
)

// CaseScore is what a case says. A side is nil when the case does not have it.
type CaseScore struct {
	ID, Hash      string
	Slice, Family string
	Residual      bool
	IsPair        bool
	Vulnerable    *Tally
	Fixed         *Tally
}

// Pair is the pair's outcome by the votes of its sides.
func (c CaseScore) Pair() PairOutcome {
	if !c.IsPair {
		return NoPair
	}
	detected, leaked := c.Vulnerable.Vote(), c.Fixed.Vote()
	if detected == nil || leaked == nil {
		return Unscored
	}
	switch {
	case *detected && !*leaked:
		return Correct
	case *detected:
		return BothFlagged
	case !*leaked:
		return Missed
	}
	return Reversed
}

// Counts reports whether the case counts: all its sides have a quorum. The good
// side of a pair whose other side has none is not banked.
func (c CaseScore) Counts() bool {
	return (c.Vulnerable == nil || c.Vulnerable.Counts()) && (c.Fixed == nil || c.Fixed.Counts())
}

// Reason says why the case does not count.
func (c CaseScore) Reason() string {
	for _, t := range c.sides() {
		if r := t.Reason(); r != "" {
			return r
		}
	}
	return ""
}

// Y is the hit rate less the leak rate of a pair, in [-1, 1]; nil when the pair
// does not count, and for single sides.
func (c CaseScore) Y() *float64 {
	if !c.IsPair || !c.Counts() {
		return nil
	}
	return pointer(*c.Vulnerable.Rate() - *c.Fixed.Rate())
}

// Disagrees reports whether the runs of some side are not unanimous.
func (c CaseScore) Disagrees() bool { return c.Vulnerable.disagrees() || c.Fixed.disagrees() }

// Varies reports whether the runs of some side disagree, or took different
// trajectories. Where no case varies, the K runs are one measurement repeated and
// no independent draws (spec/statistics.md section 2).
func (c CaseScore) Varies() bool {
	return c.Disagrees() || slices.ContainsFunc(c.sides(), func(t *Tally) bool { return t.Trajectories() > 1 })
}

func (c CaseScore) sides() []*Tally {
	switch {
	case c.Vulnerable == nil && c.Fixed == nil:
		return nil
	case c.Vulnerable == nil:
		return []*Tally{c.Fixed}
	case c.Fixed == nil:
		return []*Tally{c.Vulnerable}
	}
	return []*Tally{c.Vulnerable, c.Fixed}
}

// Cases tallies runs by case, in order of first appearance. k is the planned
// number of runs of a side: a missing run counts towards no quorum.
func Cases(runs []RunRow, k int, p Policy, v View) []CaseScore {
	var seen places
	cases := caseTallies{k: k, policy: p, view: v}
	for i := range runs {
		e := runs[i].entry()
		cases.add(seen.of(e.slice, e.caseID), &e)
	}
	return cases.cases
}

// caseTallies are the cases of one tally while it is made.
type caseTallies struct {
	k      int
	policy Policy
	view   View
	cases  []CaseScore
	at     []int // by the number of a case: where it stands in cases, from 1
}

// add counts a run of the case with this number. The numbers may be those of
// more cases than this tally has.
func (t *caseTallies) add(number int, e *entry) {
	for len(t.at) <= number {
		t.at = append(t.at, 0)
	}
	if t.at[number] == 0 {
		t.cases = append(t.cases, newCaseScore(e, t.k))
		t.at[number] = len(t.cases)
	}
	c := &t.cases[t.at[number]-1]
	c.Residual = c.Residual || e.residual
	c.side(corpus.SideName(e.side), t.k).add(e, t.policy, t.view)
}

func newCaseScore(e *entry, k int) CaseScore {
	c := CaseScore{ID: e.caseID, Hash: e.caseHash, Slice: e.slice, Family: e.family, IsPair: e.pair}
	if e.pair { // side by side in memory, for both are read together
		both := &[2]Tally{{Side: corpus.Vulnerable, K: k}, {Side: corpus.Fixed, K: k}}
		c.Vulnerable, c.Fixed = &both[0], &both[1]
	}
	return c
}

// side returns the tally of a side, making it when the case has none yet.
func (c *CaseScore) side(name corpus.SideName, k int) *Tally {
	at := &c.Fixed
	if name == corpus.Vulnerable {
		at = &c.Vulnerable
	}
	if *at == nil {
		*at = &Tally{Side: name, K: k}
	}
	return *at
}
