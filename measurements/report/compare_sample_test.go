package report

import (
	"time"

	"github.com/youden-bench/youden/measurements"
	"github.com/youden-bench/youden/measurements/compare"
)

// hostile is a name that means something to a terminal, to Markdown, to HTML, to
// a forge, to XML and to a spreadsheet.
const hostile = "=h\x1b[31m|<b>@all]]>\u202e\n# x"

func aHead(name string, kind compare.Kind) compare.Head {
	date := time.Date(2026, 11, 30, 9, 15, 0, 0, time.UTC)
	return compare.Head{
		Name: name, Kind: kind, Cases: 14, MaxErrorRate: .05, Runs: ptr(int64(140)), Correct: 10, Date: &date, K: ptr(5),
		Completeness: compare.Completeness{Status: measurements.Complete, Planned: ptr(int64(140)), Dispatched: ptr(int64(140)), Errors: ptr(int64(2))},
		ErrorRate:    ptr(2. / 140), CostUSDMicros: ptr(int64(58800)), CostUnknown: ptr(int64(0)),
		CostPerCorrect: ptr(5880.0), LatencyP50: ptr(120.), LatencyP95: ptr(479.6),
		Statuses: map[string]int64{"bad_format": 3, "transient": 2}, Models: map[string]int64{"m-2026-10": 140},
		Identity: compare.Identity{
			ID: "20261130T091500Z-oneshot-7f3a", Grade: "E2", Split: "train", CorpusHash: "c0c0c0c0c0",
			Detector:   measurements.DetectorRecord{Name: "oneshot", Hash: "d0d0d0d0d0", Texts: []measurements.TextRecord{{Name: "prompt", SHA256: "p0"}}},
			Endpoint:   measurements.EndpointRecord{Name: "local", Model: "m"},
			Provenance: measurements.Provenance{Version: "0.1.0", VCSRevision: "0123456789abcdef0123", Dirty: true},
		},
	}
}

func aGate(outcome compare.GateOutcome, name, asked, reason string, value *float64) compare.GateResult {
	limit := ptr(.5)
	if value == nil {
		limit = nil
	}
	return compare.GateResult{
		Name: name, File: "gates.toml", Line: 2, Metric: "recall.lo", Scope: "family injection of slice planted",
		Asked: asked, Outcome: outcome, Value: value, Limit: limit, N: 3, Reason: reason,
	}
}

func aRow(slice, family string, n int, v compare.Verdict, reasons ...string) compare.Row {
	return compare.Row{Decides: true,
		Slice: slice, Family: family, N: n, Moved: 2, Verdict: v, Reasons: reasons,
		Old: ptr(.65), OldLo: ptr(.2), OldHi: ptr(.9), New: ptr(.61), NewLo: ptr(.15), NewHi: ptr(.88),
		Delta: ptr(-.04), Lo: ptr(-.2), Hi: ptr(.12), P: ptr(.31), PCases: ptr(.9996),
		OldRecall: ptr(.8), NewRecall: ptr(.78), DeltaRecall: ptr(-.02), OldSilence: ptr(.85), NewSilence: ptr(.83), DeltaSilence: ptr(-.02),
		Detectable: ptr(.801),
	}
}

// fallen is a row of a drop that no one doubts.
func fallen(slice, family string, n int, v compare.Verdict, reasons ...string) compare.Row {
	r := aRow(slice, family, n, v, reasons...)
	r.New, r.NewLo, r.NewHi = ptr(-.11), ptr(-.4), ptr(.2)
	r.Delta, r.Lo, r.Hi = ptr(-.76), ptr(-1.1), ptr(-.42)
	r.P, r.PCases, r.DeltaRecall = ptr(.0001), ptr(1e-12), ptr(-.76)
	return r
}

// passing is a comparison with all its parts, and a verdict of PASS.
func passing() *compare.Comparison {
	whole := aRow("planted", "", 14, compare.Pass)
	whole.NonInferior, whole.Detectable = ptr(false), ptr(.22)
	whole.Here = &compare.Here{Down: 2, Up: 1, PSign: ptr(1.), Lost: 1, PMcNemar: ptr(1.)}
	alone := compare.Row{Decides: true, Slice: "planted", Family: "crypto", N: 2, Verdict: compare.Untested, Reasons: []string{"2 cases are too few to test"}}
	blind := aRow("planted", "path", 4, compare.Pass)
	blind.Detectable, blind.P, blind.Lo, blind.Hi = nil, nil, nil, nil
	c := &compare.Comparison{
		Schema: compare.Schema, Verdict: compare.Pass, Mode: compare.Regression,
		Slices:   []compare.Row{whole},
		Families: []compare.Row{alone, aRow("planted", "injection", 3, compare.Pass), blind, aRow("planted", "ssrf", 3, compare.Pass)},
		Warnings: []string{"K: 20 and 5 runs a side"},
		Cases: []compare.CaseChange{
			{ID: "inj-1", Slice: "planted", Family: "injection", OldHits: compare.Count{Positive: 5, Counted: 5}, NewHits: compare.Count{Positive: 1, Counted: 5},
				OldLeaks: compare.Count{Counted: 5}, NewLeaks: compare.Count{Counted: 5}, D: -.8, OldVote: "correct", NewVote: "missed"},
			{ID: "ssrf-9", Slice: "planted", Family: "ssrf", OldLeaks: compare.Count{Positive: 2, Counted: 5}, NewLeaks: compare.Count{Counted: 5}, D: .4},
		},
		Added: []string{"new-1"}, Removed: []string{"gone-1", "gone-2"},
		Misses: compare.Misses{Both: 2, OldOnly: 1, NewOnly: 2, Neither: 9},
		Floors: []compare.FloorRow{
			{Floor: "low", N: 14, Old: ptr(.65), New: ptr(.61), Delta: ptr(-.04), OldRecall: ptr(.8), NewRecall: ptr(.78), OldSilence: ptr(.85), NewSilence: ptr(.83)},
			{Floor: "critical", N: 14, Old: ptr(0.), New: ptr(0.), Delta: ptr(0.), OldRecall: ptr(0.), NewRecall: ptr(0.), OldSilence: ptr(1.), NewSilence: ptr(1.)},
		},
		Old: aHead("baselines/main.json", compare.FromBaseline), New: aHead("captures/new", compare.FromCapture),
	}
	c.Old.Date, c.Old.K, c.Old.Models = ptr(c.Old.Date.AddDate(0, 0, -10)), ptr(20), map[string]int64{"m-2026-09": 140}
	c.Old.Commit = ptr("89abcdef0123456789abcdef0123456789abcdef")
	c.Gates = compare.GateResults{aGate(compare.GatePass, "finds injections", "min = 0.5", "recall.lo of family injection is .55 over 3 cases; at least .5 is asked", ptr(.55))}
	return c
}

// same is a comparison in which nothing changed.
func same() *compare.Comparison {
	c := passing()
	for _, rows := range [][]compare.Row{c.Slices, c.Families} {
		for i := range rows {
			r := &rows[i]
			r.Moved, r.P, r.PCases, r.PRecall, r.PSilence, r.NonInferior = 0, nil, nil, nil, nil, nil
			r.New, r.NewLo, r.NewHi = r.Old, r.OldLo, r.OldHi
			if r.Delta != nil {
				r.Delta, r.DeltaRecall, r.DeltaSilence = ptr(0.), ptr(0.), ptr(0.)
			}
		}
	}
	for i := range c.Floors {
		f := &c.Floors[i]
		f.New, f.NewRecall, f.NewSilence, f.Delta = f.Old, f.OldRecall, f.OldSilence, ptr(0.)
	}
	c.Cases, c.Added, c.Removed = nil, nil, nil
	c.Warnings = []string{"OLD and NEW are the same capture: this is no second measurement, and says nothing about non-inferiority"}
	c.Misses = compare.Misses{Both: 3, Neither: 11}
	return c
}

func failing() *compare.Comparison {
	c := passing()
	c.Verdict = compare.Fail
	c.Old.Simulated, c.New.Simulated = true, true
	c.New.Statuses = map[string]int64{"rate_limited": 20, "transient": 4, "cancelled": 6, "bad_format": 1}
	c.New.Status, c.New.Dispatched, c.New.Errors, c.New.ErrorRate = measurements.Partial, ptr(int64(134)), ptr(int64(24)), ptr(24./134)
	c.New.Incomplete = "partial 134/140; 24/134 runs lost to endpoint or network (20 rate_limited, 4 transient), more than 5 %"
	c.Old.Statuses, c.Old.Errors, c.Old.ErrorRate = map[string]int64{"transient": 30}, ptr(int64(30)), ptr(30./140) // as it was accepted
	c.Old.Incomplete = "30/140 runs lost to endpoint or network (30 transient), more than 5 %"
	c.New.Name, c.New.Endpoint.Model, c.New.Models = hostile, hostile, map[string]int64{hostile: 140}
	c.New.CostPerCorrect, c.New.CostUnknown = nil, ptr(int64(3))
	c.New.Detector.Hash = "d1d1d1d1d1"
	c.New.Detector.Texts = []measurements.TextRecord{{Name: "prompt", SHA256: "p1"}, {Name: hostile, SHA256: "h"}}
	c.Families[1] = fallen("planted", "injection", 3, compare.Fail, "injection fell by .76")
	c.Families[3] = fallen("planted", "ssrf", 3, compare.Warn, "ssrf is worse on these cases, by .76")
	c.Slices = append(c.Slices, fallen(hostile, "", 9, compare.Fail, "J fell by .76 over 9 cases"))
	c.Families = append(c.Families, fallen(hostile, hostile, 9, compare.Fail, hostile+" fell by .76"))
	c.Regressions = []string{
		"planted: injection fell by .76", "planted: ssrf is worse on these cases, by .76",
		hostile + ": J fell by .76 over 9 cases", hostile + ": " + hostile + " fell by .76",
		"NEW is never silent: every run flags the fixed side",
		`gate "no alarms" (min = 0.5): no data: no case has a fixed side`,
	}
	c.Warned = c.Regressions[1:2]
	gone := aGate(compare.GateNoData, "no alarms", "min = 0.5", "no data: no case has a fixed side", nil)
	gone.Added = true
	c.Gates = append(c.Gates, aGate(compare.GateFail, hostile, "min = 0.5", hostile+" is .4999; at least .5 is asked", ptr(.49996)), gone)
	c.Regressions = append(c.Regressions, c.Gates[1:2].Regressions()...)
	c.Cases[0].ID, c.Cases[0].NewVote = hostile, hostile
	c.Changed, c.Unscored, c.Warnings = []string{hostile}, []string{hostile}, []string{hostile}
	return c
}

func warning() *compare.Comparison {
	c := passing()
	c.Verdict = compare.Warn
	c.Families[3] = fallen("planted", "ssrf", 3, compare.Warn, "ssrf is worse on these cases, by .76")
	c.Regressions = []string{"planted: ssrf is worse on these cases, by .76"}
	c.Warned = c.Regressions
	return c
}

func inconclusive() *compare.Comparison {
	c := passing()
	c.Verdict = compare.Inconclusive
	why := "J fell by .20, but 3 changed cases are too few to tell"
	c.Slices[0].Verdict, c.Slices[0].Reasons = compare.Inconclusive, []string{why}
	c.Reasons = []string{"planted: " + why, "missing: 12 runs, which could change the verdict from PASS to FAIL"}
	c.Cases, c.Floors, c.Misses = nil, nil, compare.Misses{}
	runs := aGate(compare.GateUnsure, "each of five", `min_pass = "4/5", drop-only`, "runs are missing, and 1 of 3 cases could have fewer than 4 right runs of 5 on each side: inj-1", ptr(2./3))
	runs.Metric, runs.Limit = "", ptr(1.)
	c.Gates = append(c.Gates, runs)
	c.Reasons = append(c.Reasons, c.Gates.Doubts()...)
	return c
}

func incomparable() *compare.Comparison {
	c := &compare.Comparison{
		Schema: compare.Schema, Verdict: compare.Incomparable, Mode: compare.Regression,
		Reasons: []string{"simulated: false and true", "policy: class and strict"},
		Old:     compare.Head{Name: "old.json", Kind: compare.FromKSTRL, Cases: 14},
		New:     aHead("captures/new", compare.FromCapture),
	}
	c.New.Simulated, c.New.Grade, c.New.Status, c.New.Incomplete = true, "E0", measurements.Unrun, "unrun: no run gave an answer"
	c.New.Runs, c.New.Correct, c.New.CostUSDMicros, c.New.CostPerCorrect, c.New.Statuses = ptr(int64(0)), 0, nil, nil, map[string]int64{}
	c.New.Dispatched, c.New.Errors, c.New.ErrorRate = nil, nil, nil
	c.New.Models, c.New.LatencyP50, c.New.LatencyP95 = nil, nil, nil
	return c
}

var comparisons = []struct {
	name string
	of   func() *compare.Comparison
}{{"pass", passing}, {"same", same}, {"fail", failing}, {"warn", warning}, {"inconclusive", inconclusive}, {"incomparable", incomparable}}
