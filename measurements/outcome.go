package measurements

import (
	"fmt"
	"slices"

	"github.com/youden-bench/youden/corpus"
	"github.com/youden-bench/youden/corpus/family"
	"github.com/youden-bench/youden/detector"
)

// Outcome is what a run on a side says once scored.
type Outcome string

// Outcomes of a run on the vulnerable side, best first: the best finding of a
// run decides (spec/scoring-corpora.md 4.1). Only Detected counts for recall.
const (
	Detected    Outcome = "detected"
	WrongFamily Outcome = "wrong_family" // the place was found, the class was not
	OutsideSpan Outcome = "outside_span" // the class was found, the place was not
	Unlocated   Outcome = "unlocated"
	Other       Outcome = "other"
	Unmapped    Outcome = "unmapped" // only labels outside the taxonomy
	Silent      Outcome = "silent"   // of either side
)

// Outcomes of a run on the fixed side, worst first.
const (
	Leak          Outcome = "leak"
	LeakElsewhere Outcome = "leak_elsewhere"
	OtherFamily   Outcome = "other_family"
)

// UnscorableOutcome is the outcome of a run that gave no complete answer.
func UnscorableOutcome(s detector.Status) Outcome { return Outcome("unscorable:" + string(s)) }

// Policy says which findings break the silence of a fixed side.
type Policy string

// The policies: any finding; one of an accepted family; one of an accepted
// family in a fixed region or without a place.
const (
	Strict Policy = "strict"
	Class  Policy = "class"
	Region Policy = "region"
)

// Policies lists the policies, the strictest first.
func Policies() []Policy { return []Policy{Strict, Class, Region} }

// ParsePolicy reads a policy's name.
func ParsePolicy(s string) (Policy, error) {
	switch p := Policy(s); p {
	case Strict, Class, Region:
		return p, nil
	}
	return "", fmt.Errorf("policy %q is none of strict, class, region", s)
}

// View says what a charged run (the detector's own failure) does to the rates.
type View string

// Charge counts a charged run as not detected and not silent, so that breaking
// the format on hard cases gains nothing. Exclude drops it.
const (
	Charge  View = "charge"
	Exclude View = "exclude"
)

// Views lists the views, the default first.
func Views() []View { return []View{Charge, Exclude} }

// ParseView reads a view's name.
func ParseView(s string) (View, error) {
	switch v := View(s); v {
	case Charge, Exclude:
		return v, nil
	}
	return "", fmt.Errorf("view %q is none of charge, exclude", s)
}

// Silences says for each policy whether a fixed side stayed silent; nil means
// that the run cannot say.
type Silences struct {
	Strict, Class, Region *bool
}

// Under returns the value for policy p.
func (s Silences) Under(p Policy) *bool {
	switch p {
	case Strict:
		return s.Strict
	case Region:
		return s.Region
	}
	return s.Class
}

// Judgement is what the rules say of one run.
type Judgement struct {
	Outcome  Outcome
	Hit      *bool    // vulnerable side; nil on the other, and without an answer
	Silent   Silences // fixed side
	Residual bool     // a known residual forgives accepted findings elsewhere
	Claims   []Claim  // one per finding, in order
}

// Claim is how the rules read one finding. Its text is never read.
type Claim struct {
	Family   family.ID // "" = unmapped
	Accepted bool      // the family is right for the case
	Located  bool      // it has a usable place
	InPlace  bool      // located in a span, or in a fixed region
}

// Judge applies the rules to one run on one side of a case. A case with a
// residual weakness of an accepted family is scored under the region policy on
// its fixed side, whatever is asked: a finding of that family outside the
// region may well be true. Under strict this forgives that finding alone; other
// families still break the silence, for strict measures chatter.
func Judge(c *corpus.Case, side corpus.SideName, status detector.Status, findings []detector.Finding, r Rules) Judgement {
	j := Judgement{Residual: side == corpus.Fixed && c.ResidualAccepted()}
	if status != detector.OK {
		j.Outcome = UnscorableOutcome(status)
		return j
	}
	for _, f := range findings {
		j.Claims = append(j.Claims, r.claim(c, side, f))
	}
	if side == corpus.Vulnerable {
		j.Outcome = vulnerableOutcome(j.Claims)
		hit := j.Outcome == Detected
		j.Hit = &hit
		return j
	}
	j.Outcome = fixedOutcome(j.Claims)
	j.Silent = silences(j.Claims, j.Residual)
	return j
}

func vulnerableOutcome(claims []Claim) Outcome {
	best, rank := Silent, 6
	for _, c := range claims {
		o, r := c.vulnerable()
		if r < rank {
			best, rank = o, r
		}
	}
	return best
}

// vulnerable returns what one claim says on the vulnerable side and its rank.
func (c Claim) vulnerable() (Outcome, int) {
	switch {
	case c.hits():
		return Detected, 0
	case c.Family != "" && c.InPlace:
		return WrongFamily, 1
	case c.Accepted && c.Located:
		return OutsideSpan, 2
	case c.Accepted:
		return Unlocated, 3
	case c.Family != "":
		return Other, 4
	}
	return Unmapped, 5
}

// hits reports whether the claim makes a vulnerable run a hit.
func (c Claim) hits() bool { return c.Accepted && c.InPlace }

func fixedOutcome(claims []Claim) Outcome {
	worst, rank := Silent, 3
	for _, c := range claims {
		o, r := c.fixed()
		if r < rank {
			worst, rank = o, r
		}
	}
	return worst
}

// fixed returns what one claim says on the fixed side and its rank.
func (c Claim) fixed() (Outcome, int) {
	switch {
	case c.Accepted && (c.InPlace || !c.Located):
		return Leak, 0
	case c.Accepted:
		return LeakElsewhere, 1
	}
	return OtherFamily, 2
}

func silences(claims []Claim, residual bool) Silences {
	silent := func(p Policy) *bool {
		return pointer(!slices.ContainsFunc(claims, func(c Claim) bool { return c.breaks(p, residual) }))
	}
	return Silences{Strict: silent(Strict), Class: silent(Class), Region: silent(Region)}
}

// breaks reports whether the claim breaks the silence of a fixed side.
func (c Claim) breaks(p Policy, residual bool) bool {
	switch o, _ := c.fixed(); o {
	case Leak:
		return true
	case LeakElsewhere:
		return p != Region && !residual
	}
	return p == Strict
}

// Under returns the outcome that is left once policy p has forgiven what it
// forgives: a fixed side that is silent under p says Silent.
func (j Judgement) Under(p Policy) Outcome {
	if s := j.Silent.Under(p); s != nil && *s {
		return Silent
	}
	return j.Outcome
}
