package compare

import (
	"fmt"
	"slices"
	"sort"

	"github.com/youden-bench/youden/measurements"
	"github.com/youden-bench/youden/measurements/stats"
)

const level = .95

// judge compares the pairs of one slice.
type judge struct {
	limits
	family stats.FamilyRule
	seed   uint64
	mode   Mode
	single bool // runs repeat one answer: K counts as 1 in the exact test
	brief  bool // only verdicts are wanted, not what could have been found
	repeat bool // NEW only repeats OLD, which is said apart
	oldK   int
	newK   int
}

// SliceResult is one slice: its overall row and one row a family.
type SliceResult struct {
	Overall  Row
	Families []Row
}

// verdict of the slice: that of its worst row. A warning about a family speaks
// louder than an overall row that cannot say, unless something had to be shown.
func (s SliceResult) verdict(mode Mode) Verdict {
	v := s.Overall.Verdict
	for _, f := range s.Families {
		if mode != NonInferior && v == Inconclusive && f.Verdict == Warn {
			v = Warn
			continue
		}
		v = worse(v, f.Verdict)
	}
	return v
}

type family struct {
	name  string
	pairs []Pair
	d     []float64
}

func (j judge) slice(name string, pairs []Pair) SliceResult {
	families := byFamily(pairs)
	before, after := sides(pairs)
	result := SliceResult{Overall: newRow(name, "", pairs, measurements.EstimateAll(before), measurements.EstimateAll(after))}
	cases := statsCases(pairs)
	result.Overall.Here = hereOf(pairs)
	j.judgeOverall(&result.Overall, pairs, stats.SplitD(cases))
	result.Families = j.judgeFamilies(name, families, before, after)
	if !j.brief {
		j.foresee(&result, cases)
	}
	return result
}

// judgeOverall applies the overall rows of the verdict table.
func (j judge) judgeOverall(r *Row, pairs []Pair, components *stats.Components) {
	var d, recall, silence []float64
	for _, p := range pairs {
		d = append(d, p.d())
		if part := p.recall(); part != nil {
			recall = append(recall, *part)
		}
		if part := p.silence(); part != nil {
			silence = append(silence, *part)
		}
	}
	if twoSided(pairs) {
		_, r.Lo, r.Hi = ends(stats.TInterval(d, level))
	}
	if r.Lo != nil {
		sure := *r.Lo > -j.margin
		r.NonInferior = &sure
	}
	flips := stats.SignFlip(d, j.seed)
	if flips == nil {
		r.say(Inconclusive, "no case was scored by both")
		return
	}
	r.drop = -flips.Mean
	if !slices.ContainsFunc(pairs, Pair.moved) {
		if j.mode == NonInferior && !j.repeat && !r.shown() {
			r.say(Inconclusive, "nothing changed, but "+j.unshown(r, components))
			return
		}
		r.Reasons = append(r.Reasons, "nothing changed")
		return
	}
	r.P = &flips.P
	r.PRecall, r.PSilence = flipP(recall, j.seed), flipP(silence, j.seed)
	exact := j.exactly(pairs)
	if exact != nil {
		r.PCases = &exact.Drop
	}
	j.overallVerdict(r, flips, components)
}

func (j judge) overallVerdict(r *Row, flips *stats.Flips, components *stats.Components) {
	significant := flips.P < j.overall
	switch {
	case significant && atMost(flips.Mean, -j.margin):
		r.say(Fail, fmt.Sprintf("J fell by %s over %s", hundredths(-flips.Mean), many(r.N, "case")))
	case significant && flips.Mean < 0:
		r.say(Warn, fmt.Sprintf("J fell by %s, which is within the margin of %s", hundredths(-flips.Mean), hundredths(j.margin)))
	}
	for _, side := range []struct {
		name string
		p, d *float64
	}{{"recall", r.PRecall, r.DeltaRecall}, {"silence", r.PSilence, r.DeltaSilence}} {
		if side.p != nil && side.d != nil && *side.p < j.side && atMost(*side.d, -j.sideDrop) {
			r.say(Fail, fmt.Sprintf("%s fell by %s", side.name, hundredths(-*side.d)))
		}
	}
	if r.PCases != nil && *r.PCases < j.exact {
		r.say(Warn, "worse on these cases, by their runs")
	}
	switch {
	case r.Verdict == Fail:
	case j.mode == NonInferior && !r.shown():
		r.say(Inconclusive, j.unshown(r, components))
	case r.Verdict == Pass && atMost(flips.Mean, -j.margin) && flips.Smallest >= j.overall:
		// However few of the cases changed in whatever direction, no test could tell.
		r.say(Inconclusive, fmt.Sprintf("J fell by %s, but %s to tell", hundredths(-flips.Mean), tooFew(flips.Changed, "changed case")))
	}
}

// judgeFamilies applies the family rule. The p-values are those of all families
// together, so they are computed before any is judged.
func (j judge) judgeFamilies(slice string, families []family, before, after []measurements.CaseScore) []Row {
	var all []stats.Family
	for _, f := range families {
		all = append(all, stats.Family{Name: f.name, D: f.d, Bystander: len(f.d) < stats.MinFamily})
	}
	general, pooled := stats.MaxT(all, stats.MaxTDraws, j.seed), stats.PooledT(all, level)
	exact := make([]*float64, len(families))
	for i, f := range families {
		if len(f.d) < stats.MinFamily {
			continue // untested families do not weigh on those that are
		}
		if t := j.exactly(f.pairs); t != nil {
			exact[i] = &t.Drop
		}
	}
	adjusted := stats.Holm(exact)
	olds, news := measurements.EstimateFamilies(before), measurements.EstimateFamilies(after)
	rows := make([]Row, len(families))
	for i, f := range families {
		r := newRow(slice, f.name, f.pairs, olds[i].Estimates, news[i].Estimates)
		if pooled != nil && twoSided(f.pairs) {
			_, r.Lo, r.Hi = ends(pooled.Families[i].Difference)
		}
		if general != nil {
			r.P = general.Families[i].P
		}
		r.PCases, r.exact, r.drop = adjusted[i], exact[i], -mean(f.d)
		j.judgeFamily(&r, f)
		rows[i] = r
	}
	return rows
}

func (j judge) judgeFamily(r *Row, f family) {
	switch {
	case len(f.d) < stats.MinFamily:
		r.Verdict = Untested
		r.Reasons = append(r.Reasons, tooFew(len(f.d), "case")+" to test")
	case !slices.ContainsFunc(f.pairs, Pair.moved):
		r.Reasons = append(r.Reasons, "nothing changed")
	case j.family.Fails(f.d, r.P, r.PCases):
		r.say(Fail, fmt.Sprintf("%s fell by %s", f.name, hundredths(-mean(f.d))))
	case r.PCases != nil && *r.PCases < j.exact && atMost(mean(f.d), -j.family.Drop):
		r.say(Warn, fmt.Sprintf("%s is worse on these cases, by %s", f.name, hundredths(-mean(f.d))))
	}
}

// twoSided reports whether all cases have both sides. Where some have one, J is
// recall + silence - 1 over different cases, and the mean of d is no difference of
// two J: its interval would belong to another number.
func twoSided(pairs []Pair) bool {
	return !slices.ContainsFunc(pairs, func(p Pair) bool { return !p.Old.IsPair || !p.New.IsPair })
}

// exactly is the run-level test of some pairs.
func (j judge) exactly(pairs []Pair) *stats.RunTest {
	var strata []stats.Stratum
	for _, p := range pairs {
		for _, s := range p.strata() {
			if j.single {
				s = s.Single()
			}
			strata = append(strata, s)
		}
	}
	return stats.ExactRuns(strata)
}

func byFamily(pairs []Pair) []family {
	index := map[string]int{}
	var list []family
	for _, p := range pairs {
		at, ok := index[p.New.Family]
		if !ok {
			at = len(list)
			index[p.New.Family] = at
			list = append(list, family{name: p.New.Family})
		}
		list[at].pairs = append(list[at].pairs, p)
		list[at].d = append(list[at].d, p.d())
	}
	sort.Slice(list, func(a, b int) bool { return list[a].name < list[b].name })
	return list
}

func statsCases(pairs []Pair) []stats.Case {
	list := make([]stats.Case, len(pairs))
	for i, p := range pairs {
		list[i] = stats.Case{Family: p.New.Family, Strata: p.strata()}
	}
	return list
}

func flipP(d []float64, seed uint64) *float64 {
	flips := stats.SignFlip(d, seed)
	if flips == nil || flips.Changed == 0 {
		return nil
	}
	return &flips.P
}

// atMost compares means of fractions, which round.
func atMost(value, limit float64) bool { return value <= limit+1e-9 }

func mean(values []float64) float64 {
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	return sum / float64(len(values))
}
