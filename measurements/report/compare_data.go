package report

import (
	"slices"
	"strconv"
	"strings"

	"github.com/youden-bench/youden/measurements/compare"
)

// comparisonDocument is a comparison as JSON: a list that is empty is [], and
// what was not compared is null. TextsChanged is null when the detectors differ and
// nobody recorded in what.
type comparisonDocument struct {
	*compare.Comparison
	Slices      []compare.Row        `json:"slices"`
	Families    []compare.Row        `json:"families"`
	Regressions []string             `json:"regressions"`
	Warned      []string             `json:"warned"`
	Warnings    []string             `json:"warnings"`
	Reasons     []string             `json:"reasons"`
	Cases       []compare.CaseChange `json:"cases"`
	Added       []string             `json:"added"`
	Removed     []string             `json:"removed"`
	Changed     []string             `json:"changed"`
	Unscored    []string             `json:"unscored"`
	Misses      *compare.Misses      `json:"misses"`
	Floors      []compare.FloorRow   `json:"floors"`
	Gates       compare.GateResults  `json:"gates"`

	TextsChanged []compare.TextChange `json:"texts_changed"`
	Limits       compare.Limits       `json:"limits"`
}

func comparisonJSON(c *compare.Comparison) (string, error) {
	raw, err := Document(documentOf(c))
	return string(raw), err
}

func documentOf(c *compare.Comparison) comparisonDocument {
	d := comparisonDocument{
		Comparison: c, Slices: orEmpty(c.Slices), Families: orEmpty(c.Families), Regressions: orEmpty(c.Regressions), Warned: orEmpty(c.Warned),
		Warnings: orEmpty(c.Warnings), Reasons: orEmpty(c.Reasons), Cases: orEmpty(c.Cases), Added: orEmpty(c.Added),
		Removed: orEmpty(c.Removed), Changed: orEmpty(c.Changed), Unscored: orEmpty(c.Unscored), Floors: orEmpty(c.Floors), Gates: orEmpty(c.Gates),
		TextsChanged: compare.TextChanges(c.Old.Detector, c.New.Detector), Limits: compare.LimitsOf(c),
	}
	if c.Misses.Votes() > 0 {
		d.Misses = &c.Misses
	}
	return d
}

func orEmpty[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

// recordedRow is a row for programs: the comparison as a whole, a slice, a family,
// or a gate.
type recordedRow struct {
	compare.Row
	kind string
	of   *compare.Comparison
	gate compare.GateResult
}

// recordedRows begins with the comparison as a whole, so that a verdict stands
// in the file also where nothing could be compared.
func recordedRows(c *compare.Comparison) []recordedRow {
	rows := []recordedRow{{
		Row:  compare.Row{Verdict: c.Verdict, Reasons: slices.Concat(c.Regressions, c.Reasons), Warnings: c.Warnings},
		kind: "comparison", of: c,
	}}
	for _, r := range comparedRows(c) {
		kind := "family"
		if r.Family == "" {
			kind = "slice"
		}
		rows = append(rows, recordedRow{Row: r.Row, kind: kind, of: c})
	}
	for _, g := range c.Gates {
		row := compare.Row{N: g.N, Verdict: g.Verdict(), Reasons: []string{g.Reason}}
		rows = append(rows, recordedRow{Row: row, kind: "gate", of: c, gate: g})
	}
	return rows
}

func recordedColumns() []column[recordedRow] {
	str := func(name string, of func(recordedRow) string) column[recordedRow] {
		return hidden(name, func(r recordedRow) cell { return text(of(r)) })
	}
	num := func(name string, of func(recordedRow) *float64) column[recordedRow] {
		return hidden(name, func(r recordedRow) cell { return number(exact(of(r))) })
	}
	return []column[recordedRow]{
		str("row", func(r recordedRow) string { return r.kind }),
		str("old_capture", func(r recordedRow) string { return r.of.Old.Name }),
		str("new_capture", func(r recordedRow) string { return r.of.New.Name }),
		str("simulated", func(r recordedRow) string { return strconv.FormatBool(simulated(r.of)) }),
		str("slice", func(r recordedRow) string { return r.Slice }),
		str("family", func(r recordedRow) string { return r.Family }),
		str("verdict", func(r recordedRow) string { return string(r.Verdict) }),
		hidden("n", func(r recordedRow) cell { return r.counted(r.N, "comparison") }),
		hidden("moved", func(r recordedRow) cell { return r.counted(r.Moved, "comparison", "gate") }),
		num("old", func(r recordedRow) *float64 { return r.Old }),
		num("old_lo", func(r recordedRow) *float64 { return r.OldLo }),
		num("old_hi", func(r recordedRow) *float64 { return r.OldHi }),
		num("new", func(r recordedRow) *float64 { return r.New }),
		num("new_lo", func(r recordedRow) *float64 { return r.NewLo }),
		num("new_hi", func(r recordedRow) *float64 { return r.NewHi }),
		num("delta", func(r recordedRow) *float64 { return r.Delta }),
		num("lo", func(r recordedRow) *float64 { return r.Lo }),
		num("hi", func(r recordedRow) *float64 { return r.Hi }),
		num("p", func(r recordedRow) *float64 { return r.P }),
		num("p_cases", func(r recordedRow) *float64 { return r.PCases }),
		num("p_sign", func(r recordedRow) *float64 { return r.here().PSign }),
		num("p_mcnemar", func(r recordedRow) *float64 { return r.here().PMcNemar }),
		num("old_recall", func(r recordedRow) *float64 { return r.OldRecall }),
		num("new_recall", func(r recordedRow) *float64 { return r.NewRecall }),
		num("delta_recall", func(r recordedRow) *float64 { return r.DeltaRecall }),
		num("p_recall", func(r recordedRow) *float64 { return r.PRecall }),
		num("old_silence", func(r recordedRow) *float64 { return r.OldSilence }),
		num("new_silence", func(r recordedRow) *float64 { return r.NewSilence }),
		num("delta_silence", func(r recordedRow) *float64 { return r.DeltaSilence }),
		num("p_silence", func(r recordedRow) *float64 { return r.PSilence }),
		num("detectable", func(r recordedRow) *float64 { return r.Detectable }),
		str("non_inferior", func(r recordedRow) string { return truth(r.NonInferior) }),
		str("gate", func(r recordedRow) string { return r.gate.Name }),
		str("metric", func(r recordedRow) string { return r.gate.Metric }),
		str("scope", func(r recordedRow) string { return r.gate.Scope }),
		str("asked", func(r recordedRow) string { return r.gate.Asked }),
		str("outcome", func(r recordedRow) string { return string(r.gate.Outcome) }),
		num("value", func(r recordedRow) *float64 { return r.gate.Value }),
		num("value_old", func(r recordedRow) *float64 { return r.gate.Old }),
		num("limit", func(r recordedRow) *float64 { return r.gate.Limit }),
		str("incomplete", func(r recordedRow) string { return r.incomplete() }),
		str("reasons", func(r recordedRow) string { return strings.Join(r.Reasons, "; ") }),
		str("warnings", func(r recordedRow) string { return strings.Join(r.Warnings, "; ") }),
	}
}

// here is empty in rows of families, and of other kinds.
func (r recordedRow) here() compare.Here {
	if r.Here == nil {
		return compare.Here{}
	}
	return *r.Here
}

// counted is empty in rows of the kinds that have no such number: there is no sum
// over slices.
func (r recordedRow) counted(n int, not ...string) cell {
	if slices.Contains(not, r.kind) {
		return number("")
	}
	return number(strconv.Itoa(n))
}

// incomplete says of the comparison as a whole what NEW lacks.
func (r recordedRow) incomplete() string {
	if r.kind != "comparison" {
		return ""
	}
	return r.of.New.Incomplete
}

func truth(b *bool) string {
	if b == nil {
		return ""
	}
	return strconv.FormatBool(*b)
}

func comparisonCSV(c *compare.Comparison) (string, error) {
	return csvGrid(written(recordedColumns(), recordedRows(c)))
}
