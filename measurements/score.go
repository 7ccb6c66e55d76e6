package measurements

import (
	"sort"

	"github.com/youden-bench/youden/corpus"
	"github.com/youden-bench/youden/measurements/stats"
)

// level is the nominal coverage of every interval.
const level = .95

// Score measures each family of each slice under one policy and view, sorted by
// slice and family. It reads run rows, and of the plan K and the strata.
func Score(plan PlanRecord, runs []RunRow, p Policy, v View) []ScoreRow {
	return scoreRuns(newScoring(plan, Part{Policy: p, View: v}), runs)
}

func scoreCases(cases []CaseScore, spend familySpend, k int, p Policy, v View) []ScoreRow {
	icc := pooledICC(cases)
	rows := []ScoreRow{}
	for _, f := range byFamily(cases) {
		rates, recall, silence := measure(f.cases, icc)
		row := ScoreRow{
			Slice: f.slice, Family: f.family, Policy: string(p), View: string(v), K: int64(k),
			Rates: rates, Spend: spend.of(f.familyKey),
		}
		if row.Statuses == nil {
			row.Statuses = map[string]int64{}
		}
		row.J, row.JLo, row.JHi = bounds(stats.MOVER(recall, silence))
		rows = append(rows, row)
	}
	return rows
}

// ScoreAll measures under every policy and view: the rows of scores.parquet.
func ScoreAll(plan PlanRecord, runs []RunRow) []ScoreRow {
	return scoreRuns(newScoring(plan, everyReading()...), runs)
}

func scoreRuns(s *scoring, runs []RunRow) []ScoreRow {
	var seen places
	for i := range runs {
		e := runs[i].entry()
		s.add(seen.of(e.slice, e.caseID), &e)
	}
	return s.rows()
}

// scoring measures runs that pass by one at a time: it keeps tallies and no rows.
type scoring struct {
	plan    PlanRecord
	tallies []caseTallies // by policy and view
	spend   familySpend
}

// everyReading lists the policies with each view.
func everyReading() (all []Part) {
	for _, p := range Policies() {
		for _, v := range Views() {
			all = append(all, Part{Policy: p, View: v})
		}
	}
	return all
}

func newScoring(plan PlanRecord, readings ...Part) *scoring {
	s := &scoring{plan: plan, spend: familySpend{}}
	for _, r := range readings {
		s.tallies = append(s.tallies, caseTallies{k: plan.K, policy: r.Policy, view: r.View})
	}
	return s
}

// add counts a run of the case with this number.
func (s *scoring) add(number int, e *entry) {
	for i := range s.tallies {
		s.tallies[i].add(number, e)
	}
	s.spend.add(e)
}

func (s *scoring) rows() []ScoreRow {
	var rows []ScoreRow
	for _, t := range s.tallies {
		rows = append(rows, scoreCases(withUnrun(t.cases, s.plan), s.spend, t.k, t.policy, t.view)...)
	}
	return rows
}

type familyKey struct{ slice, family string }

type familyCases struct {
	familyKey
	cases []CaseScore
}

func byFamily(cases []CaseScore) []familyCases {
	index := map[familyKey]int{}
	var families []familyCases
	for _, c := range cases {
		key := familyKey{c.Slice, c.Family}
		at, ok := index[key]
		if !ok {
			at = len(families)
			index[key] = at
			families = append(families, familyCases{familyKey: key})
		}
		families[at].cases = append(families[at].cases, c)
	}
	sort.Slice(families, func(i, j int) bool {
		if families[i].slice != families[j].slice {
			return families[i].slice < families[j].slice
		}
		return families[i].family < families[j].family
	})
	return families
}

// sideICC holds the intraclass correlation of each side, pooled over all
// families of a capture.
type sideICC struct{ vulnerable, fixed stats.ICC }

func pooledICC(cases []CaseScore) sideICC {
	return sideICC{
		vulnerable: stats.PooledICC(clusters(cases, corpus.Vulnerable)),
		fixed:      stats.PooledICC(clusters(cases, corpus.Fixed)),
	}
}

// warnings says what the intervals assume of each side. No side, no assumption.
func (i sideICC) warnings() []string {
	out := []string{}
	for _, side := range []struct {
		name string
		icc  stats.ICC
	}{{"recall", i.vulnerable}, {"silence", i.fixed}} {
		if side.icc.Cases == 0 {
			continue
		}
		for _, w := range side.icc.Warnings {
			out = append(out, "intervals of "+side.name+": "+w)
		}
	}
	return out
}

// clusters lists the counted sides of the cases that count. On the fixed side
// silence is the positive answer.
func clusters(cases []CaseScore, side corpus.SideName) []stats.Cluster {
	out := make([]stats.Cluster, 0, len(cases))
	var of familyKey
	var family string
	for _, c := range cases {
		if !c.Counts() {
			continue
		}
		if key := (familyKey{c.Slice, c.Family}); key != of || family == "" { // cases of a family mostly follow each other
			of, family = key, key.slice+"\x00"+key.family
		}
		switch {
		case side == corpus.Vulnerable && c.Vulnerable != nil:
			out = append(out, stats.Cluster{Family: family, Runs: c.Vulnerable.Counted, Positive: c.Vulnerable.Positive})
		case side == corpus.Fixed && c.Fixed != nil:
			out = append(out, stats.Cluster{Family: family, Runs: c.Fixed.Counted, Positive: c.Fixed.Counted - c.Fixed.Positive})
		}
	}
	return out
}

// measure computes everything of a set of cases but J, for which it returns the
// intervals of both rates.
func measure(cases []CaseScore, icc sideICC) (r Rates, recall, silence *stats.Interval) {
	v, f := clusters(cases, corpus.Vulnerable), clusters(cases, corpus.Fixed)
	r.Cases, r.NVulnerable, r.NFixed = int64(len(cases)), int64(len(v)), int64(len(f))
	recall, silence = icc.vulnerable.Rate(v, level), icc.fixed.Rate(f, level)
	r.Recall, r.RecallLo, r.RecallHi = bounds(recall)
	r.Silence, r.SilenceLo, r.SilenceHi = bounds(silence)
	if r.Recall != nil && r.Silence != nil {
		r.Bias = pointer(*r.Recall - *r.Silence)
	}
	r.Unscorable = map[string]int64{}
	var pairs PairCounts
	for _, c := range cases {
		if c.Counts() {
			r.N++
		} else {
			r.Unscorable[c.Reason()]++
		}
		if c.Residual {
			r.Residual++
		}
		if (c.Vulnerable != nil && c.Vulnerable.Counted > 1) || (c.Fixed != nil && c.Fixed.Counted > 1) {
			r.FloorN++
		}
		if c.Disagrees() {
			r.Floor++
		}
		pairs.add(c.Pair())
	}
	if r.Cases > 0 {
		r.Coverage = pointer(float64(r.N) / float64(r.Cases))
	}
	r.votes(pairs)
	r.extremes(cases)
	r.trajectories(cases)
	return r, recall, silence
}

// votes sets the numbers of the ensemble.
func (r *Rates) votes(p PairCounts) {
	r.Correct, r.BothFlagged = int64(p.Correct), int64(p.BothFlagged)
	r.Missed, r.Reversed = int64(p.Missed), int64(p.Reversed)
	r.Votes = int64(p.N())
	r.PairAccuracy = p.Accuracy()
	r.JVote = p.J()
	_, r.JVoteLo, r.JVoteHi = bounds(p.Interval(level))
}

// extremes sets the bounds that the lost runs leave open. Of a case that counts
// each lost run was wrong, or right; of one that does not count, everything was.
// So the bounds always hold the rate they bound.
func (r *Rates) extremes(cases []CaseScore) {
	var recall, silence extent
	for _, c := range cases {
		counts := c.Counts()
		if t := c.Vulnerable; t != nil {
			recall.add(t.Positive, t, counts)
		}
		if t := c.Fixed; t != nil {
			silence.add(t.Counted-t.Positive, t, counts)
		}
	}
	r.RecallWorst, r.RecallBest = recall.bounds()
	r.SilenceWorst, r.SilenceBest = silence.bounds()
	if recall.sides > 0 && silence.sides > 0 {
		r.JWorst = pointer(*r.RecallWorst + *r.SilenceWorst - 1)
		r.JBest = pointer(*r.RecallBest + *r.SilenceBest - 1)
	}
}

// extent sums the worst and the best that sides may have been.
type extent struct {
	sides       int
	worst, best float64
}

func (e *extent) add(right int, t *Tally, counts bool) {
	e.sides++
	if !counts {
		e.best++
		return
	}
	k := max(t.K, t.OK+t.Charged+t.Excused)
	e.worst += float64(right) / float64(k)
	e.best += float64(right+k-t.Counted) / float64(k)
}

func (e *extent) bounds() (worst, best *float64) {
	if e.sides == 0 {
		return nil, nil
	}
	return pointer(e.worst / float64(e.sides)), pointer(e.best / float64(e.sides))
}

// trajectories sets whether the K runs repeat one measurement. Only sides with
// two runs or more can say.
func (r *Rates) trajectories(cases []CaseScore) {
	sides, distinct := 0, 0
	for _, c := range cases {
		for _, t := range c.sides() {
			if t.traced > 1 {
				sides++
				distinct += t.Trajectories()
			}
		}
	}
	if sides == 0 {
		return
	}
	r.DistinctTrajectories = pointer(float64(distinct) / float64(sides))
	r.RunsAre = pointer(Repeats)
	if distinct > sides {
		r.RunsAre = pointer(Ensemble)
	}
}

func bounds(i *stats.Interval) (estimate, lo, hi *float64) {
	if i == nil {
		return nil, nil, nil
	}
	return pointer(i.Estimate), pointer(i.Lo), pointer(i.Hi)
}
