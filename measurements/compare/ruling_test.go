package compare

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/youden-bench/youden/measurements"
	"github.com/youden-bench/youden/measurements/stats"
)

// usualJudge is the one that Compare appoints for one slice;
// TestRulingIsThatOfCompare holds the two together.
func usualJudge() judge {
	return judge{limits: defaultLimits, family: stats.ByFamily(), mode: Regression}
}

// ruling is the verdict of a comparison and what it rests on, without the
// intervals and detectable drops that a row shows beside it.
type ruling struct {
	verdict  Verdict
	overall  Row
	families []Row
}

// rule reaches the verdict of Compare by the judge's own rules at a tenth of the
// cost: the permutation of families, all of its 10,000 draws, is only made where
// some family meets every other condition of FAIL.
func (j judge) rule(before, after []measurements.CaseScore) ruling {
	pairs := match(before, after).Both
	r := SliceResult{Overall: Row{N: len(pairs), Verdict: Pass, Decides: true}}
	j.ruleOverall(&r.Overall, pairs)
	r.Families = j.ruleFamilies(byFamily(pairs))
	out := ruling{verdict: r.verdict(Regression), overall: r.Overall, families: r.Families}
	out.verdict, _ = rule([]SliceResult{r}, pairs, j.single, Options{Mode: Regression})
	return out
}

func (j judge) ruleOverall(r *Row, pairs []Pair) {
	var d, recall, silence []float64
	for _, p := range pairs {
		d = append(d, p.d())
		recall = append(recall, *p.recall())
		silence = append(silence, *p.silence())
	}
	flips := stats.SignFlip(d, j.seed)
	r.drop = -flips.Mean
	if flips.Changed == 0 {
		return
	}
	change := func(of []float64) *float64 { m := mean(of); return &m }
	r.DeltaRecall, r.DeltaSilence = change(recall), change(silence)
	if atMost(*r.DeltaRecall, -j.sideDrop) {
		r.PRecall = flipP(recall, j.seed)
	}
	if atMost(*r.DeltaSilence, -j.sideDrop) {
		r.PSilence = flipP(silence, j.seed)
	}
	if exact := j.exactly(pairs); exact != nil {
		r.PCases = &exact.Drop
	}
	j.overallVerdict(r, flips, nil)
}

func (j judge) ruleFamilies(families []family) []Row {
	var all []stats.Family
	exact := make([]*float64, len(families))
	for i, f := range families {
		all = append(all, stats.Family{Name: f.name, D: f.d, Bystander: len(f.d) < stats.MinFamily})
		if t := j.exactly(f.pairs); t != nil && len(f.d) >= stats.MinFamily {
			exact[i] = &t.Drop
		}
	}
	raw := exact
	exact = stats.Holm(exact)
	certain := 0.0
	permute := false
	for i, f := range families {
		permute = permute || j.family.Fails(f.d, &certain, exact[i])
	}
	var general *stats.Permuted
	if permute {
		general = stats.MaxT(all, stats.MaxTDraws, j.seed)
	}
	rows := make([]Row, len(families))
	for i, f := range families {
		rows[i] = Row{Slice: f.pairs[0].New.Slice, Family: f.name, N: len(f.d), PCases: exact[i], Verdict: Pass, Decides: true, drop: -mean(f.d), exact: raw[i]}
		for _, d := range f.d {
			if d != 0 {
				rows[i].Moved++ // a trade of hits for leaks is in no d, and in no verdict of a family
			}
		}
		if general != nil {
			rows[i].P = general.Families[i].P
		}
		j.judgeFamily(&rows[i], f)
	}
	return rows
}

// The shortcut says what the whole comparison says, row by row.
func TestRulingIsThatOfCompare(t *testing.T) {
	churned, dropped, collapsed, small := usual(), usual(), usual(), usual()
	churned.churn, churned.oldK = 1, 20
	dropped.drop, dropped.sizes = .1, ninety()
	collapsed.lost, collapsed.oldK = .5, 20
	small.sizes, small.churn, small.lost = []int{2, 1, 5, 4, 3}, 1, .8
	seen := map[Verdict]int{}
	for i, w := range []world{usual(), churned, dropped, collapsed, small} {
		source := w.source()
		for repetition := range scaled(12) {
			before, after := source.draw(rand.New(rand.NewPCG(uint64(i), uint64(repetition))))
			j := usualJudge()
			j.seed = uint64(repetition)
			got := j.rule(before, after)
			want := Compare(subject(before, w.oldK), subject(after, w.newK), Options{Seed: uint64(repetition), brief: true})
			require.Equal(t, want.Verdict, got.verdict, "world %d, repetition %d", i, repetition)
			require.Len(t, want.Slices, 1)
			assert.Equal(t, want.Slices[0].Verdict, got.overall.Verdict)
			require.Len(t, got.families, len(want.Families))
			for f, row := range want.Families {
				assert.Equal(t, row.Family, got.families[f].Family)
				assert.Equal(t, row.Verdict, got.families[f].Verdict)
				seen[row.Verdict]++
			}
		}
	}
	if raced {
		return // too few to see every verdict
	}
	for _, v := range []Verdict{Pass, Warn, Fail, Untested} {
		assert.NotZero(t, seen[v], "no family was %s: nothing was compared", v)
	}
}
