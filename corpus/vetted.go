package corpus

import "slices"

// Level is how well a label was checked. Only Read and Proved cases may teach.
type Level string

// The levels of vetting, from weakest to strongest.
const (
	Title  Level = "title"
	Read   Level = "read"
	Proved Level = "proved"
)

// Reading is what came of reading a case blind: its sides shuffled, its label
// withheld, by somebody who did not write it.
type Reading string

// The outcomes of a reading. Unread is a case that nobody has read blind.
const (
	Unread   Reading = ""
	Agreed   Reading = "agreed"
	Disputed Reading = "disputed"
)

// Dispute is one of the questions that a blind reader answers.
type Dispute string

// What a reader can dispute: which side is vulnerable, where the bug lies,
// which family it is of, and whether the fixed side is free of others.
const (
	DisputeSide   Dispute = "side"
	DisputePlace  Dispute = "place"
	DisputeFamily Dispute = "family"
	DisputeFixed  Dispute = "fixed"
)

var disputes = []Dispute{DisputeSide, DisputePlace, DisputeFamily, DisputeFixed}

// Vetted is the record of how a label was checked. What the first reading said
// stays as it was, whatever was changed afterwards: it is the error rate of the
// author.
type Vetted struct {
	Level   Level
	First   Reading   // the first blind reading
	On      []Dispute // what the first reading disputed
	Changed string    // what was changed after it, "" for nothing
	Again   Reading   // the blind reading of the changed case, by another reader
}

// settled reports whether the last reader agreed, and with the case as it is.
func (v Vetted) settled() bool {
	return v.Again == Agreed || v.Again == Unread && v.First == Agreed && v.Changed == ""
}

// disputed reports whether the first reading disputed an answer.
func (v Vetted) disputed(on Dispute) bool { return slices.Contains(v.On, on) }
