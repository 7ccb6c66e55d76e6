package compare

import (
	"fmt"
	"maps"
	"slices"
	"sort"
	"strings"
	"sync"

	"github.com/youden-bench/youden/measurements"
	"github.com/youden-bench/youden/measurements/stats"
)

// Schema names the JSON of a comparison.
const Schema = "youden.compare/1"

// Options of Compare. The zero value asks for a regression over all slices.
type Options struct {
	Mode   Mode
	Vary   Vary
	Slices []string // that decide; empty = all
	Seed   uint64   // of the permutations
	Gates  Gates
	// MaxErrorRate is the share of the dispatched runs that may be lost to endpoint
	// or network; nil = DefaultMaxErrorRate.
	MaxErrorRate *float64
	RequireGrade string // the lowest of both sides, such as E3; "" = any

	brief bool  // only verdicts are wanted, not what could have been found
	look  *look // of a growing capture; nil = the whole of it
}

// Comparison is what two subjects say together. Families holds one row per slice
// and family, Slices one per slice.
type Comparison struct {
	Schema      string   `json:"schema"`
	Verdict     Verdict  `json:"verdict"`
	Mode        Mode     `json:"mode"`
	Vary        Vary     `json:"vary,omitempty"`
	Seed        uint64   `json:"seed"` // of the permutations
	Slices      []Row    `json:"slices"`
	Families    []Row    `json:"families"`
	Regressions []string `json:"regressions"` // what FAIL and WARN are about
	Warned      []string `json:"warned"`      // of these, those that only warn
	Warnings    []string `json:"warnings"`
	Reasons     []string `json:"reasons"` // against comparing at all, or for being unable to say

	Cases    []CaseChange `json:"cases"` // that changed, worst first
	Added    []string     `json:"added"`
	Removed  []string     `json:"removed"`
	Changed  []string     `json:"changed"`  // the same name, other content or labels
	Unscored []string     `json:"unscored"` // in both, not scored by one
	Misses   Misses       `json:"misses"`
	Gates    GateResults  `json:"gates"`
	Floors   []FloorRow   `json:"floors"` // recall, silence and J from each severity on

	// Sequential is how a capture that was compared while it grew came to the
	// verdict; nil otherwise.
	Sequential *measurements.Sequential `json:"sequential,omitempty"`

	// SelfTest is what would be caught, where that was asked.
	SelfTest *SelfTest `json:"self_test,omitempty"`

	Old Head `json:"old"`
	New Head `json:"new"`
}

// Compare judges NEW against OLD.
func Compare(before, after *Subject, o Options) *Comparison {
	if o.Mode == "" {
		o.Mode = Regression
	}
	c := &Comparison{Schema: Schema, Mode: o.Mode, Vary: o.Vary, Seed: o.Seed, Verdict: Pass, Slices: []Row{}, Families: []Row{}, Regressions: []string{}, Warned: []string{}, Warnings: []string{}, Reasons: []string{}, Gates: GateResults{}}
	c.Old, c.New = before.head(o.errorLimit()), after.head(o.errorLimit())
	c.Reasons, c.Warnings = incomparable(before.Identity, after.Identity, o.Vary)
	c.Reasons = append(c.Reasons, o.tooWeak(before, after)...)
	if len(c.Reasons) > 0 {
		c.Verdict = Incomparable
		return c
	}
	matched := match(before.Cases, after.Cases)
	c.Added, c.Removed, c.Changed, c.Unscored = matched.Added, matched.Removed, matched.Changed, matched.Unscored
	if n := len(matched.Relabelled); n > 0 {
		c.Warnings = append(c.Warnings, fmt.Sprintf("%s labelled otherwise in OLD, and judged by the labels of NEW: %s", many(n, "case"), listed(matched.Relabelled, namedCases)))
	}
	if len(matched.Both) == 0 {
		c.Verdict = Incomparable
		c.Reasons = append(c.Reasons, "no case was scored by both")
		return c
	}
	if shared := len(matched.Both); 2*shared <= len(before.Cases) {
		c.Warnings = append(c.Warnings, fmt.Sprintf("only %d of the %d cases of OLD are compared", shared, len(before.Cases)))
	}
	if o.decidesNothing(matched.Both) {
		c.Verdict = Incomparable
		c.Reasons = append(c.Reasons, fmt.Sprintf("no case of slice %s was scored by both", strings.Join(o.Slices, ", ")))
		return c
	}
	c.Cases, c.Misses = changes(matched.Both), misses(matched.Both)
	c.Floors = floors(before, after, matched.Both)
	c.judge(before, after, matched, o)
	return c
}

func (o Options) errorLimit() float64 {
	if o.MaxErrorRate == nil {
		return DefaultMaxErrorRate
	}
	return *o.MaxErrorRate
}

// tooWeak lists the evidence that is weaker than asked for.
func (o Options) tooWeak(before, after *Subject) (reasons []string) {
	for _, side := range []struct{ name, grade string }{{"OLD", before.Grade}, {"NEW", after.Grade}} {
		if side.grade < o.RequireGrade {
			reasons = append(reasons, fmt.Sprintf("%s is of grade %s, and %s is required", side.name, side.grade, o.RequireGrade))
		}
	}
	return reasons
}

// deciding lists the pairs in slices that decide.
func (o Options) deciding(pairs []Pair) []Pair {
	if len(o.Slices) == 0 {
		return pairs
	}
	var list []Pair
	for _, p := range pairs {
		if decides(p.New.Slice, o.Slices) {
			list = append(list, p)
		}
	}
	return list
}

// decidesNothing reports whether none of the pairs is in a slice that decides.
func (o Options) decidesNothing(pairs []Pair) bool {
	return !slices.ContainsFunc(pairs, func(p Pair) bool { return decides(p.New.Slice, o.Slices) })
}

// Check refuses options that do not fit the data: a slice that nobody has would
// decide nothing, and nothing would be a PASS.
func (o Options) Check(before, after *Subject) error {
	have := map[string]bool{}
	for _, s := range []*Subject{before, after} {
		for _, c := range s.Cases {
			have[c.Slice] = true
		}
	}
	for _, name := range o.Slices {
		if !have[name] {
			return fmt.Errorf("no case is in slice %q; the data have %s", name, strings.Join(slices.Sorted(maps.Keys(have)), ", "))
		}
	}
	return nil
}

// judge fills the rows and the verdict, and asks whether the runs that are
// missing could change it.
func (c *Comparison) judge(before, after *Subject, matched Matched, o Options) {
	results := judgeSlices(before, after, matched.Both, o)
	for _, r := range results {
		r.setDecides(decides(r.Overall.Slice, o.Slices))
		c.Slices = append(c.Slices, r.Overall)
		c.Families = append(c.Families, r.Families...)
		if r.Overall.Decides {
			c.regressions(r)
		}
	}
	single := before.repeats() || after.repeats()
	verdict, why := rule(results, matched.Both, single, o)
	c.Verdict = verdict
	if why != "" {
		c.Regressions = append(c.Regressions, why)
		if why != degenerate(o.deciding(matched.Both)) {
			c.Warned = append(c.Warned, why)
		}
	}
	c.claimNothing(repeatOf(before, after, matched.Both))
	c.lost(before, after, o)
	c.Hold(o.Gates, before, after)
	c.byLooks(before, after, o)
}

// Hold judges gates, and lets them speak in the verdict. What cannot be compared is
// not held against any.
func (c *Comparison) Hold(gates Gates, before, after *Subject) {
	if c.Verdict == Incomparable {
		return
	}
	c.Gates = gates.Judge(before, after)
	c.Verdict = worse(c.Verdict, c.Gates.Verdict())
	c.Regressions = append(c.Regressions, c.Gates.Regressions()...)
	c.Reasons = append(c.Reasons, c.Gates.Doubts()...)
}

// rule is the verdict of the slices that decide, and why NEW fails whatever they
// say.
func rule(results []SliceResult, pairs []Pair, single bool, o Options) (v Verdict, why string) {
	v = Pass
	pairs = o.deciding(pairs)
	moved := slices.ContainsFunc(pairs, Pair.moved)
	for _, r := range results {
		if decides(r.Overall.Slice, o.Slices) {
			v = worse(v, r.verdict(o.Mode))
		}
	}
	if why = degenerate(pairs); why != "" && moved {
		return worse(v, Fail), why
	}
	if why = collapsed(pairs, single); why != "" {
		if v == Inconclusive && o.Mode != NonInferior {
			return Warn, why
		}
		return worse(v, Warn), why
	}
	return v, ""
}

func judgeSlices(before, after *Subject, pairs []Pair, o Options) []SliceResult {
	bySlice := map[string][]Pair{}
	var names []string
	for _, p := range pairs {
		if bySlice[p.New.Slice] == nil {
			names = append(names, p.New.Slice)
		}
		bySlice[p.New.Slice] = append(bySlice[p.New.Slice], p)
	}
	sort.Strings(names)
	deciding := 0
	for _, name := range names {
		if decides(name, o.Slices) {
			deciding++
		}
	}
	j := judge{
		limits: defaultLimits.over(deciding), family: stats.ByFamily(), seed: o.Seed, mode: o.Mode,
		single: before.repeats() || after.repeats(), oldK: before.K, newK: after.K, repeat: repeatOf(before, after, pairs) != "", brief: o.brief,
	}
	if o.look != nil {
		j.limits, j.family = o.look.over(deciding), o.look.family
	}
	if deciding > 1 {
		j.family.Limit /= float64(deciding)
		j.family.Exact /= float64(deciding)
	}
	results := make([]SliceResult, len(names))
	var all sync.WaitGroup
	for i, name := range names {
		all.Go(func() { results[i] = j.slice(name, bySlice[name]) })
	}
	all.Wait()
	return results
}

func decides(slice string, gating []string) bool {
	if len(gating) == 0 {
		return true
	}
	for _, g := range gating {
		if g == slice {
			return true
		}
	}
	return false
}

func (s *SliceResult) setDecides(say bool) {
	s.Overall.Decides = say
	for i := range s.Families {
		s.Families[i].Decides = say
	}
}

func (c *Comparison) regressions(r SliceResult) {
	for _, row := range append([]Row{r.Overall}, r.Families...) {
		switch row.Verdict {
		case Fail, Warn:
			for _, reason := range row.Reasons {
				text := fmt.Sprintf("%s: %s", row.Slice, reason)
				c.Regressions = append(c.Regressions, text)
				if slices.Contains(row.warned, reason) {
					c.Warned = append(c.Warned, text)
				}
			}
		case Inconclusive:
			for _, reason := range row.Reasons {
				c.Reasons = append(c.Reasons, fmt.Sprintf("%s: %s", row.Slice, reason))
			}
		}
	}
}

// repeats reports whether every side gave one answer over one trajectory, so
// that its runs are no independent draws. Unknown trajectories say nothing.
func (s *Subject) repeats() bool {
	return s.K > 1 && len(s.Cases) > 0 && !slices.ContainsFunc(s.Cases, func(c measurements.CaseScore) bool {
		unknown := func(t *measurements.Tally) bool { return t != nil && t.Trajectories() == 0 }
		return c.Varies() || unknown(c.Vulnerable) || unknown(c.Fixed)
	})
}
