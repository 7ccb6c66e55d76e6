package compare

import (
	"github.com/youden-bench/youden/measurements"
	"github.com/youden-bench/youden/measurements/stats"
)

// Row is the comparison of one family of a slice, or of a slice as a whole
// (Family is ""), over the cases that both captures scored. Unknown is nil.
type Row struct {
	Slice  string   `json:"slice"`
	Family string   `json:"family,omitempty"`
	N      int      `json:"n"`     // cases compared
	Moved  int      `json:"moved"` // of these, whose y changed
	Old    *float64 `json:"old"`   // J of OLD
	OldLo  *float64 `json:"old_lo"`
	OldHi  *float64 `json:"old_hi"`
	New    *float64 `json:"new"`
	NewLo  *float64 `json:"new_lo"`
	NewHi  *float64 `json:"new_hi"`
	Delta  *float64 `json:"delta"` // NEW - OLD
	Lo     *float64 `json:"lo"`
	Hi     *float64 `json:"hi"`

	// P asks whether the detector changed in general: over all cases two-sided by
	// sign-flip, for a family one-sided by max-T over all families. PCases asks
	// whether it got worse on these cases: exact over runs, of families by Holm.
	P      *float64 `json:"p"`
	PCases *float64 `json:"p_cases"`

	OldRecall    *float64 `json:"old_recall"`
	NewRecall    *float64 `json:"new_recall"`
	DeltaRecall  *float64 `json:"delta_recall"`
	PRecall      *float64 `json:"p_recall"`
	OldSilence   *float64 `json:"old_silence"`
	NewSilence   *float64 `json:"new_silence"`
	DeltaSilence *float64 `json:"delta_silence"`
	PSilence     *float64 `json:"p_silence"`

	Here *Here `json:"here,omitempty"` // of a slice as a whole

	// Detectable is the smallest drop of J that would have been found, nil when
	// none could be: what "no difference" is worth.
	Detectable  *float64 `json:"detectable"`
	NonInferior *bool    `json:"non_inferior"` // the difference lies surely above the margin
	Verdict     Verdict  `json:"verdict"`
	Decides     bool     `json:"decides"` // whether its slice has a say in the verdict
	Reasons     []string `json:"reasons,omitempty"`
	Warnings    []string `json:"warnings,omitempty"`

	drop  float64  // the mean of -d
	exact *float64 // PCases of a family before Holm

	warned []string // of Reasons, those that only warn
}

// Here are two classic tests of what a slice as a whole did on these cases, in these
// runs. They say nothing of other cases, decide nothing, and stand here because
// others report them (spec/peers.md 4.2).
type Here struct {
	Down  int      `json:"cases_down"` // whose y fell
	Up    int      `json:"cases_up"`   // whose y rose
	PSign *float64 `json:"p_sign"`     // sign test over these; nil when no case moved
	// Lost and Gained are the pairs that the majority of the runs got right in OLD alone,
	// or in NEW alone, and PMcNemar the exact test of the two numbers.
	Lost     int      `json:"votes_lost"`
	Gained   int      `json:"votes_gained"`
	PMcNemar *float64 `json:"p_mcnemar"`
}

func hereOf(pairs []Pair) *Here {
	h := &Here{}
	for _, p := range pairs {
		switch d := p.d(); {
		case d < 0:
			h.Down++
		case d > 0:
			h.Up++
		}
		before, after := p.Old.Pair(), p.New.Pair()
		switch {
		case before == measurements.Correct && after != measurements.Correct:
			h.Lost++
		case before != measurements.Correct && after == measurements.Correct:
			h.Gained++
		}
	}
	h.PSign, h.PMcNemar = stats.SignTest(h.Up, h.Down), stats.McNemar(h.Lost, h.Gained)
	return h
}

// newRow measures both halves of the pairs.
func newRow(slice, family string, pairs []Pair, before, after measurements.Estimates) Row {
	r := Row{Slice: slice, Family: family, N: len(pairs), Verdict: Pass}
	r.Old, r.OldLo, r.OldHi = ends(before.J)
	r.New, r.NewLo, r.NewHi = ends(after.J)
	r.OldRecall, _, _ = ends(before.Recall)
	r.NewRecall, _, _ = ends(after.Recall)
	r.OldSilence, _, _ = ends(before.Silence)
	r.NewSilence, _, _ = ends(after.Silence)
	r.DeltaRecall, r.DeltaSilence = minus(r.NewRecall, r.OldRecall), minus(r.NewSilence, r.OldSilence)
	r.Delta = minus(r.New, r.Old)
	for _, p := range pairs {
		if p.d() != 0 {
			r.Moved++
		}
	}
	return r
}

func (r *Row) say(v Verdict, reason string) {
	r.Verdict = worse(r.Verdict, v)
	r.Reasons = append(r.Reasons, reason)
	if v == Warn {
		r.warned = append(r.warned, reason)
	}
}

// shown reports whether a drop of the margin is ruled out.
func (r *Row) shown() bool { return r.NonInferior != nil && *r.NonInferior }

func ends(i *stats.Interval) (estimate, lo, hi *float64) {
	if i == nil {
		return nil, nil, nil
	}
	return &i.Estimate, &i.Lo, &i.Hi
}

func minus(a, b *float64) *float64 {
	if a == nil || b == nil {
		return nil
	}
	d := *a - *b
	return &d
}

// sides splits pairs into the case scores of OLD and of NEW.
func sides(pairs []Pair) (before, after []measurements.CaseScore) {
	for _, p := range pairs {
		before, after = append(before, *p.Old), append(after, *p.New)
	}
	return before, after
}
