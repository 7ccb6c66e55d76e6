package measurements

import (
	"github.com/youden-bench/youden/detector"
	"github.com/youden-bench/youden/measurements/stats"
)

// Summary is what a capture says under one policy and view: the rows of its
// table. Its JSON is stable under Schema.
type Summary struct {
	Schema    string        `json:"schema"`
	ID        string        `json:"id"`
	Status    CaptureStatus `json:"status"`
	Grade     string        `json:"grade"`
	Simulated bool          `json:"simulated"`
	Smoke     bool          `json:"smoke"` // too few runs a side to become a baseline
	Policy    Policy        `json:"policy"`
	View      View          `json:"view"`
	Plan      PlanRecord    `json:"plan"`
	Families  []ScoreRow    `json:"families"`
	Slices    []Aggregate   `json:"slices"`
	Totals    Totals        `json:"totals"`
	LeftOut   []LeftOut     `json:"left_out"`
	Openings  int           `json:"openings"`
	Budget    *BudgetRecord `json:"budget,omitempty"`
	Warnings  []string      `json:"warnings"` // what the intervals had to assume

	Cases []CaseScore `json:"-"`
	Runs  []RunRow    `json:"-"` // where they were asked for: there may be a million of them
}

// Aggregate pools families. The macro mean weighs families the same, the pooled
// J weighs cases; they are always shown together.
type Aggregate struct {
	Slice          string   `json:"slice,omitempty"`
	JMacro         *float64 `json:"j_macro"`
	JMacroFamilies int      `json:"j_macro_families"` // that have a J
	JMacroNull     int      `json:"j_macro_null"`     // that have none, and are left out
	JPooled        *float64 `json:"j_pooled"`
	JPooledLo      *float64 `json:"j_pooled_lo"`
	JPooledHi      *float64 `json:"j_pooled_hi"`
	Rates
}

// Totals sum a capture. They are recomputed from rows whenever it is read.
type Totals struct {
	Aggregate
	Spend
	RunsPlanned int64    `json:"runs_planned"`
	Dispatched  int64    `json:"dispatched"`
	Errors      int64    `json:"errors"`
	ErrorRate   *float64 `json:"error_rate"`
}

// The grades that a capture alone can have; the higher ones need its ledger
// (spec/ledger.md 4.4).
const (
	GradeUnrun     = "E0"
	GradeSimulated = "E2"
	GradePartial   = "E3"
)

// Summarize measures run rows under a policy and a view.
func Summarize(m Manifest, runs []RunRow, p Policy, v View) Summary {
	var seen places
	sum := newSumming(m, p, v)
	for i := range runs {
		e := runs[i].entry()
		sum.add(seen.of(e.slice, e.caseID), &e)
	}
	s := sum.summary()
	s.Runs = runs
	return s
}

// summing is a summary of runs that pass by one at a time.
type summing struct {
	manifest           Manifest
	cases              caseTallies
	families           familySpend
	spend              Spend
	dispatched, errors int64
}

func newSumming(m Manifest, p Policy, v View) *summing {
	return &summing{
		manifest: m, cases: caseTallies{k: m.Plan.K, policy: p, view: v},
		families: familySpend{}, spend: Spend{Statuses: map[string]int64{}},
	}
}

// add counts a run of the case with this number.
func (s *summing) add(number int, e *entry) {
	s.manifest.Simulated = s.manifest.Simulated || e.simulated // one simulated row makes a simulated capture
	s.cases.add(number, e)
	s.families.add(e)
	s.spend.add(e)
	dispatched, failed := e.fate()
	s.dispatched += count(dispatched)
	s.errors += count(failed)
}

func (s *summing) summary() Summary {
	m, p, v := s.manifest, s.cases.policy, s.cases.view
	cases := withUnrun(s.cases.cases, m.Plan)
	families := scoreCases(cases, s.families, m.Plan.K, p, v)
	out := Summary{
		Schema: Schema, ID: m.ID, Status: m.Status, Simulated: m.Simulated, Smoke: Smoke(m.Plan.K), Policy: p, View: v,
		Plan: m.Plan, Families: families, LeftOut: append([]LeftOut{}, m.LeftOut...), Openings: m.Openings, Budget: m.Budget,
		Cases: s.cases.cases,
	}
	icc := pooledICC(cases)
	out.Slices = aggregateSlices(families, cases, icc)
	out.Totals = s.totals(aggregate(families, cases, icc))
	out.Warnings = icc.warnings()
	out.Status, out.Grade = standing(m, out.Totals)
	return out
}

// standing says how far a capture came and what its numbers are worth.
func standing(m Manifest, t Totals) (CaptureStatus, string) {
	if t.RunsOK+t.RunsCharged == 0 {
		return Unrun, GradeUnrun
	}
	status := m.Status
	if status == Complete && t.Runs < t.RunsPlanned {
		status = Partial
	}
	if m.Simulated {
		return status, GradeSimulated
	}
	return status, GradePartial
}

func (s *summing) totals(a Aggregate) Totals {
	t := Totals{Spend: s.spend, Aggregate: a, RunsPlanned: int64(s.manifest.Plan.Runs), Dispatched: s.dispatched, Errors: s.errors}
	t.RunsPlanned = max(t.RunsPlanned, t.Runs)
	if t.Dispatched > 0 {
		t.ErrorRate = pointer(float64(t.Errors) / float64(t.Dispatched))
	}
	return t
}

// neverSent lists the ends of a run that may come before any request.
func neverSent(s detector.Status) bool {
	switch s {
	case detector.Cancelled, detector.LabelDefect, detector.UnsupportedLanguage, detector.NoCandidate:
		return true
	}
	return false
}

func aggregateSlices(families []ScoreRow, cases []CaseScore, icc sideICC) []Aggregate {
	out := []Aggregate{}
	for i := 0; i < len(families); {
		name := families[i].Slice
		end := i
		for end < len(families) && families[end].Slice == name {
			end++
		}
		var mine []CaseScore
		for _, c := range cases {
			if c.Slice == name {
				mine = append(mine, c)
			}
		}
		a := aggregate(families[i:end], mine, icc)
		a.Slice = name
		out = append(out, a)
		i = end
	}
	return out
}

func aggregate(families []ScoreRow, cases []CaseScore, icc sideICC) Aggregate {
	var a Aggregate
	rates, recall, silence := measure(cases, icc)
	a.Rates = rates
	a.JPooled, a.JPooledLo, a.JPooledHi = bounds(pooledJ(cases, recall, silence))
	js := make([]*float64, len(families))
	for i, f := range families {
		js[i] = f.J
	}
	a.JMacro, a.JMacroFamilies = Macro(js)
	a.JMacroNull = len(families) - a.JMacroFamilies
	return a
}

// pooledJ is the interval of the overall J: t on the pairs' y, or MOVER on the
// pooled rates, whichever is wider. The sides of a pair may be correlated, which
// only the first sees; cases that agree have a spread only in the second
// (spec/statistics.md section 3).
func pooledJ(cases []CaseScore, recall, silence *stats.Interval) *stats.Interval {
	pooled := stats.MOVER(recall, silence)
	var ys []float64
	for _, c := range cases {
		if y := c.Y(); y != nil {
			ys = append(ys, *y)
		} else if c.Counts() {
			return pooled // single sides have no y
		}
	}
	if len(ys) < 2 {
		return pooled // one value has no spread
	}
	return stats.Wider(pooled, stats.MeanT(ys, level, -1, 1))
}

// Macro is the mean over the families that have a value, and their number.
func Macro(values []*float64) (mean *float64, used int) {
	total := 0.0
	for _, v := range values {
		if v != nil {
			total += *v
			used++
		}
	}
	if used == 0 {
		return nil, 0
	}
	return pointer(total / float64(used)), used
}
