package compare

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"iter"
	"slices"

	"github.com/youden-bench/youden/measurements"
	"github.com/youden-bench/youden/measurements/stats"
)

// A capture that is compared while it grows (spec/statistics.md section 4). Each
// look spends a part of the error that one comparison may make: the limits of the
// looks, and of the fresh runs after them, add up to those of the verdict table.

// FreshRuns is how many new runs a side a suspect family gets after the last look.
const FreshRuns = 10

// look is a point at which a growing capture is compared.
type look struct {
	k int // runs a side of NEW
	limits
	family stats.FamilyRule
}

// scheme lists the looks, and what is left for the fresh runs. WARN and the rule
// for one side alone are divided as the overall limit is.
func scheme() (looks []look, fresh stats.FamilyRule) {
	at := func(k int, overall, exact, limit float64) look {
		l := look{k: k, limits: defaultLimits, family: stats.ByFamily()}
		share := overall / defaultLimits.overall
		l.overall, l.exact, l.side = overall, share*l.exact, share*l.side
		l.family.Exact, l.family.Limit = exact, limit
		return l
	}
	fresh = stats.ByFamily()
	fresh.Exact, fresh.Limit = .006, .0025
	return []look{at(2, .006, .005, .0025), at(5, .024, .014, .0075)}, fresh
}

// LookRuns lists the runs a side at which a growing capture is looked at; the last
// is its K.
func LookRuns() []int {
	var ks []int
	looks, _ := scheme()
	for _, l := range looks {
		ks = append(ks, l.k)
	}
	return ks
}

// What is clearly safe, and what is suspect.
const (
	safeDrop    = .02 // of the mean
	safeSide    = .10 // of recall or silence alone
	doubtP      = .10 // of a family's exact test, with a drop of the family rule
	suspectP    = .03
	suspectDrop = .20
)

// Look is what a growing capture says.
type Look struct {
	Comparison *Comparison
	K          int
	Stop       bool      // nothing more need be run
	Suspects   []Suspect // families that fresh runs must confirm, after the last look
}

// Suspect names a family of a slice.
type Suspect struct{ Slice, Family string }

// LookAt compares a capture that has come to look number n, from 0: it may stop
// when it has failed, or is clearly no worse.
func LookAt(before, after *Subject, n int, o Options) *Look {
	looks, _ := scheme()
	o.look = &looks[n]
	c := Compare(before, after, o)
	l := &Look{K: looks[n].k, Comparison: c}
	l.Stop, l.Suspects = next(n == len(looks)-1, c.Verdict, c.Slices, c.Families)
	return l
}

// Uphold keeps the FAIL of an earlier look: a capture that goes on, because its later
// runs were made already, is not judged by these alone.
func (l *Look) Uphold(number, k int, failed *Comparison) {
	c := l.Comparison
	if failed == nil || c.Verdict == Incomparable {
		return
	}
	for _, why := range failed.Regressions {
		if !slices.Contains(failed.Warned, why) {
			c.Regressions = append(c.Regressions, fmt.Sprintf("at look %d, of %d runs a side: %s", number, k, why))
		}
	}
	c.Verdict, l.Stop, l.Suspects = worse(c.Verdict, Fail), true, nil
}

// Growing is a capture that has come to k runs a side, from its rows so far.
func Growing(name string, m measurements.Manifest, rows iter.Seq2[measurements.RunRow, error], k int) (*Subject, error) {
	t, err := measurements.TallyRuns(m, rows, measurements.Part{
		Policy: m.Plan.Policy, View: m.Plan.View, Only: func(i int64) bool { return i < int64(k) },
	})
	if err != nil {
		return nil, err
	}
	return ofTallied(name, m, t), nil
}

// Planned asks, before anything is paid for, whether a capture that is planned
// could be compared with OLD: it lists the reasons against it.
func Planned(before *Subject, m measurements.Manifest) (reasons []string) {
	after := ofTallied("", m, measurements.Tallied{Simulated: m.Simulated, K: m.Plan.K, Part: measurements.Part{Policy: m.Plan.Policy, View: m.Plan.View}})
	was := before.Identity
	if was.Configured != nil { // what the endpoint will make of the plan is not known yet
		was.Parameters = was.Configured
	}
	reasons, _ = incomparable(was, after.Identity, "")
	return reasons
}

// ScoresAny reports whether the subject has a score for one of these cases.
func (s *Subject) ScoresAny(hashes []string) bool {
	known := s.byHash()
	return slices.ContainsFunc(hashes, func(hash string) bool { return known[hash] != nil && known[hash].Counts() })
}

// byLooks takes over the verdict that a capture came to while it grew, against this
// very OLD: it rests on fresh runs that are no part of the capture's score, and a
// second look at the rest must not lose it.
func (c *Comparison) byLooks(before, after *Subject, o Options) {
	looks := after.Looks
	if looks == nil || looks.Verdict == "" || o.look != nil || looks.AgainstHash != before.Digest() {
		return
	}
	verdict := Verdict(looks.Verdict)
	c.Warnings = append(c.Warnings, fmt.Sprintf("NEW was compared with this OLD while it grew: %s; that verdict stands where it is the graver one", verdict))
	if worse(c.Verdict, verdict) == c.Verdict {
		return
	}
	c.Verdict = verdict
	c.Regressions = append(c.Regressions, fmt.Sprintf("%s by the looks at the capture while it grew", verdict))
}

// Digest names what a subject measured: another baseline under the same name has
// another.
func (s *Subject) Digest() string {
	h := sha256.New()
	fmt.Fprintf(h, "youden/subject/1\n%s\n%d\n%s\n%s\n", s.ID, s.K, s.Policy, s.View)
	for _, c := range s.Cases {
		fmt.Fprintf(h, "%s %q %q %v %v %v\n", c.Hash, c.Slice, c.Family, c.Residual, countsOf(c.Vulnerable), countsOf(c.Fixed))
	}
	return hex.EncodeToString(h.Sum(nil))
}

func countsOf(t *measurements.Tally) [4]int {
	if t == nil {
		return [4]int{-1}
	}
	return [4]int{t.K, t.Counted, t.Positive, t.Trajectories()}
}

// next says how a capture goes on after a look.
func next(last bool, v Verdict, overall, families []Row) (stop bool, suspected []Suspect) {
	switch {
	case v == Fail || v == Incomparable:
		return true, nil
	case last:
		suspected = suspects(families)
		return len(suspected) == 0, suspected
	}
	return safe(v, overall, families), nil
}

// safe says whether nothing hints at a drop that more runs could show.
func safe(v Verdict, overall, families []Row) bool {
	if v != Pass {
		return false
	}
	for _, r := range overall {
		if r.Decides && (r.drop > safeDrop || fell(r.DeltaRecall, safeSide) || fell(r.DeltaSilence, safeSide)) {
			return false
		}
	}
	for _, r := range families {
		if r.suspect(doubtP, stats.ByFamily().Drop) {
			return false
		}
	}
	return true
}

func fell(delta *float64, by float64) bool { return delta != nil && atMost(*delta, -by) }

func suspects(families []Row) []Suspect {
	var list []Suspect
	for _, r := range families {
		if r.suspect(suspectP, suspectDrop) {
			list = append(list, Suspect{r.Slice, r.Family})
		}
	}
	return list
}

// suspect asks the family's own exact test, not corrected for the other families:
// this decides about runs, not about a verdict.
func (r Row) suspect(p, drop float64) bool {
	return r.Decides && r.Verdict != Untested && r.exact != nil && *r.exact < p && atMost(-r.drop, -drop)
}

// Confirm judges the suspects of a look again, by fresh runs of NEW and nothing
// else, and completes its verdict. The fresh runs may be in several captures; what
// these have of families that are no suspects is passed over. Fresh runs that were made
// in another way than the regular ones confirm nothing, and clear nothing either.
func (l *Look) Confirm(before, regular *Subject, o Options, parts ...*Subject) []measurements.FreshRuns {
	c := l.Comparison
	for _, part := range parts {
		reasons, _ := incomparable(regular.Identity, part.Identity, "")
		for _, reason := range reasons {
			c.Reasons = append(c.Reasons, "the fresh runs were made otherwise than the regular ones: "+reason)
			c.Verdict = Incomparable
		}
	}
	if c.Verdict == Incomparable {
		return nil
	}
	fresh := l.joined(parts)
	results := confirm(before, regular, fresh, l.Suspects, o)
	if missing := fresh.lost(); missing > 0 {
		for _, worst := range []bool{true, false} {
			full := *fresh
			full.Cases = filled(fresh.Cases, !worst)
			for i, r := range confirm(before, regular, &full, l.Suspects, o) {
				if (r.Verdict == string(Fail)) != (results[i].Verdict == string(Fail)) {
					results[i].Verdict = string(Inconclusive)
				}
			}
		}
	}
	for _, r := range results {
		verdict := Verdict(r.Verdict)
		name := fmt.Sprintf("%s: %s", r.Slice, r.Family)
		switch verdict {
		case Fail:
			c.Regressions = append(c.Regressions, fmt.Sprintf("%s fell by %s in %d fresh runs a side", name, hundredths(-*r.Delta), r.Runs))
		case Inconclusive:
			c.Reasons = append(c.Reasons, fmt.Sprintf("%s: fresh runs are missing that could change the verdict", name))
		default:
			c.Warnings = append(c.Warnings, fmt.Sprintf("%s looked worse, and %d fresh runs a side did not confirm it", name, r.Runs))
			continue
		}
		c.Verdict = worse(c.Verdict, verdict)
		for i := range c.Families {
			if row := &c.Families[i]; row.Slice == r.Slice && row.Family == r.Family {
				row.say(verdict, fmt.Sprintf("fresh runs: %s", verdict))
			}
		}
	}
	return results
}

// joined are the fresh runs of the suspects.
func (l *Look) joined(parts []*Subject) *Subject {
	all := &Subject{Identity: Identity{K: FreshRuns}}
	for _, part := range parts {
		for _, c := range part.Cases {
			if slices.Contains(l.Suspects, Suspect{c.Slice, c.Family}) {
				all.Cases = append(all.Cases, c)
			}
		}
	}
	return all
}

// confirm applies the family rule to fresh runs, Holm over the suspects.
func confirm(before, regular, fresh *Subject, suspects []Suspect, o Options) []measurements.FreshRuns {
	_, rule := scheme()
	t := trial{rule: rule, judge: judge{single: before.repeats() || fresh.repeats(), seed: o.Seed}, suspects: suspects}
	t.results = make([]measurements.FreshRuns, len(suspects))
	t.d, t.exact = make([][]float64, len(suspects)), make([]*float64, len(suspects))
	for i, s := range suspects {
		t.results[i] = measurements.FreshRuns{Slice: s.Slice, Family: s.Family, Runs: fresh.K, Verdict: string(Pass)}
	}
	bySlice := t.mixed(match(before.Cases, regular.Cases).Both, match(before.Cases, fresh.Cases).Both)
	deciding := 0
	for slice, pairs := range bySlice {
		t.deal(slice, pairs)
		if decides(slice, o.Slices) {
			deciding++
		}
	}
	if deciding > 1 {
		t.rule.Limit /= float64(deciding)
		t.rule.Exact /= float64(deciding)
	}
	t.judgeAll()
	return t.results
}

// trial is suspects before their judge.
type trial struct {
	judge
	rule     stats.FamilyRule
	suspects []Suspect
	d        [][]float64 // of each suspect
	exact    []*float64
	results  []measurements.FreshRuns
}

// mixed takes suspects from their fresh runs, and the other families from their
// regular ones: they stand by to say what a deal of cases looks like.
func (t *trial) mixed(regular, fresh []Pair) map[string][]Pair {
	bySlice := map[string][]Pair{}
	add := func(pairs []Pair, suspect bool) {
		for _, p := range pairs {
			if slices.Contains(t.suspects, Suspect{p.New.Slice, p.New.Family}) == suspect {
				bySlice[p.New.Slice] = append(bySlice[p.New.Slice], p)
			}
		}
	}
	add(regular, false)
	add(fresh, true)
	return bySlice
}

// deal tests the suspects of one slice.
func (t *trial) deal(slice string, pairs []Pair) {
	families := byFamily(pairs)
	at := make([]int, len(families))
	var all []stats.Family
	for i, f := range families {
		at[i] = slices.Index(t.suspects, Suspect{slice, f.name})
		all = append(all, stats.Family{Name: f.name, D: f.d, Bystander: at[i] < 0})
	}
	dealt := stats.MaxT(all, stats.MaxTDraws, t.seed)
	for i, f := range families {
		if at[i] < 0 {
			continue
		}
		r := &t.results[at[i]]
		t.d[at[i]], r.N = f.d, len(f.d)
		if test := t.exactly(f.pairs); test != nil {
			t.exact[at[i]] = &test.Drop
		}
		if dealt != nil {
			r.P = dealt.Families[i].P
		}
	}
}

func (t *trial) judgeAll() {
	adjusted := stats.Holm(t.exact)
	for i := range t.results {
		r := &t.results[i]
		r.PCases = adjusted[i]
		if len(t.d[i]) > 0 {
			delta := mean(t.d[i])
			r.Delta = &delta
		}
		if t.rule.Fails(t.d[i], r.P, r.PCases) {
			r.Verdict = string(Fail)
		}
	}
}
