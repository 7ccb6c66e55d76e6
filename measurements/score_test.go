package measurements

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/youden-bench/youden/corpus"
	"github.com/youden-bench/youden/detector"
)

// lettered makes the rows of one side: "+" speaks, "." is silent, "!" is a
// charged failure, "x" an excused one.
func lettered(id, fam string, pair bool, side corpus.SideName, runs string) []RunRow {
	var rows []RunRow
	for k, letter := range runs {
		r := RunRow{CaseID: id, CaseHash: id, Slice: "s", Family: fam, Pair: pair, Side: string(side), K: int64(k), Status: "ok", Counts: "yes",
			TrajectoryHash: pointer(fmt.Sprint(letter))}
		speaks := letter == '+'
		switch {
		case letter == '!':
			r.Status, r.Counts, r.TrajectoryHash = string(detector.BadFormat), "charged", nil
		case letter == 'x':
			r.Status, r.Counts, r.TrajectoryHash = string(detector.Transient), "excused", nil
		case side == corpus.Vulnerable:
			r.Hit = &speaks
		default:
			silent := !speaks
			r.SilentStrict, r.SilentClass, r.SilentRegion = &silent, &silent, &silent
		}
		rows = append(rows, r)
	}
	return rows
}

func pairOf(id, vulnerable, fixed string) []RunRow {
	return append(lettered(id, "injection", true, corpus.Vulnerable, vulnerable), lettered(id, "injection", true, corpus.Fixed, fixed)...)
}

func scoreOf(t testing.TB, k int, v View, rows ...[]RunRow) ScoreRow {
	t.Helper()
	var all []RunRow
	for _, r := range rows {
		all = append(all, r...)
	}
	scores := Score(PlanRecord{K: k}, all, Class, v)
	require.Len(t, scores, 1)
	return scores[0]
}

func TestJIsOfRunsAndJVoteOfMajorities(t *testing.T) {
	s := scoreOf(t, 5, Charge, pairOf("a", "+++..", "....."), pairOf("b", "++...", "+...."))
	assert.InDelta(t, .5-.1, *s.J, 1e-12)
	assert.InDelta(t, .5, *s.Recall, 1e-12)
	assert.InDelta(t, .9, *s.Silence, 1e-12)
	assert.InDelta(t, .5, *s.JVote, 1e-12, "one correct, one missed")
	assert.InDelta(t, .5, *s.PairAccuracy, 1e-12)
	assert.Equal(t, int64(2), s.Floor)
	assert.Equal(t, int64(2), s.FloorN)
	assert.InDelta(t, -.4, *s.Bias, 1e-12, "it says too little")
	assert.Equal(t, Ensemble, *s.RunsAre)
}

func TestChargedRunsCountAgainstTheDetector(t *testing.T) {
	rows := pairOf("a", "++!!!", "..!!!")
	charge := scoreOf(t, 5, Charge, rows)
	assert.InDelta(t, .4, *charge.Recall, 1e-12)
	assert.InDelta(t, .4, *charge.Silence, 1e-12)
	assert.InDelta(t, -.2, *charge.J, 1e-12)
	exclude := scoreOf(t, 5, Exclude, rows)
	assert.Nil(t, exclude.J, "two counted runs of five are no quorum")
	assert.Equal(t, map[string]int64{"bad_format": 1}, exclude.Unscorable)
	assert.Equal(t, int64(0), exclude.N)
	assert.InDelta(t, 1, *exclude.JBest, 1e-12)
	assert.InDelta(t, -1, *exclude.JWorst, 1e-12)
}

func TestQuorumAndReasons(t *testing.T) {
	tests := []struct {
		name, vulnerable, fixed string
		counts                  bool
		reason                  string
	}{
		{"all five", "+++++", ".....", true, ""},
		{"three of five", "+++xx", ".....", true, ""},
		{"two of five", "++xxx", ".....", false, "transient"},
		{"charged runs count", "++!xx", ".....", true, ""},
		{"the other side is not banked", "+++++", "xxxx.", false, "transient"},
		{"never run", "+++++", "", false, "unrun"},
		{"mostly unrun", "++x", ".....", false, "unrun"},
		{"more lost than unrun", "+xxx", ".....", false, "transient"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			rows := pairOf("a", tt.vulnerable, tt.fixed)
			cases := Cases(rows, 5, Class, Charge)
			require.Len(t, cases, 1)
			assert.Equal(t, tt.counts, cases[0].Counts())
			assert.Equal(t, tt.reason, cases[0].Reason())
			s := scoreOf(t, 5, Charge, rows)
			assert.Equal(t, tt.counts, s.J != nil)
			assert.Equal(t, tt.counts, s.JVote != nil)
		})
	}
}

func TestQuorum(t *testing.T) {
	for k, want := range map[int]int{1: 1, 2: 2, 3: 2, 4: 3, 5: 3, 20: 11} {
		assert.Equal(t, want, Quorum(k), "K = %d", k)
	}
}

func TestTiesGoAgainstTheDetector(t *testing.T) {
	cases := Cases(pairOf("a", "++..", "++.."), 4, Class, Charge)
	assert.False(t, *cases[0].Vulnerable.Vote(), "not detected")
	assert.True(t, *cases[0].Fixed.Vote(), "not silent")
	assert.Equal(t, Reversed, cases[0].Pair())
}

func TestSingleSides(t *testing.T) {
	vulnerable := lettered("v", "injection", false, corpus.Vulnerable, "+++..")
	fixed := lettered("f", "injection", false, corpus.Fixed, "+....")
	alone := scoreOf(t, 5, Charge, vulnerable)
	assert.InDelta(t, .6, *alone.Recall, 1e-12)
	assert.Nil(t, alone.Silence)
	assert.Nil(t, alone.J)
	assert.Nil(t, alone.JVote, "no pair, no pair outcome")
	both := scoreOf(t, 5, Charge, vulnerable, fixed)
	assert.InDelta(t, .6+.8-1, *both.J, 1e-12)
	assert.NotNil(t, both.JLo)
	mixed := scoreOf(t, 5, Charge, vulnerable, fixed, pairOf("p", "+++++", "....."))
	assert.InDelta(t, .8+.9-1, *mixed.J, 1e-12)
	assert.Equal(t, []int64{3, 2, 2, 1}, []int64{mixed.N, mixed.NVulnerable, mixed.NFixed, mixed.Votes})
}

// anyRows draws pairs of one family with runs of all kinds.
func anyRows(t *rapid.T, k int, letters string) []RunRow {
	var rows []RunRow
	for i := range rapid.IntRange(1, 8).Draw(t, "cases") {
		side := func(name string) string {
			return rapid.StringOfN(rapid.RuneFrom([]rune(letters)), k, k, -1).Draw(t, name)
		}
		rows = append(rows, pairOf(fmt.Sprint("c", i), side("vulnerable"), side("fixed"))...)
	}
	return rows
}

func TestIdentities(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k := rapid.IntRange(1, 7).Draw(t, "k")
		rows := anyRows(t, k, "++..!x")
		for _, v := range Views() {
			s := Score(PlanRecord{K: k}, rows, Class, v)[0]
			if (s.N == 0) != (s.J == nil) || s.N != s.Votes {
				t.Fatalf("n %d, votes %d, j %v", s.N, s.Votes, s.J)
			}
			if s.J == nil {
				continue
			}
			near := func(a, b float64) bool { return math.Abs(a-b) < 1e-9 }
			switch {
			case !near(*s.J, *s.Recall+*s.Silence-1):
				t.Fatalf("J %v is not recall %v + silence %v - 1", *s.J, *s.Recall, *s.Silence)
			case !near(*s.PairAccuracy-*s.JVote, float64(s.Reversed)/float64(s.Votes)):
				t.Fatalf("pair accuracy %v - j_vote %v is not the reversed share", *s.PairAccuracy, *s.JVote)
			case *s.JLo > *s.J+1e-12 || *s.JHi < *s.J-1e-12 || *s.JLo < -1 || *s.JHi > 1:
				t.Fatalf("J %v in [%v, %v]", *s.J, *s.JLo, *s.JHi)
			case *s.JVoteLo > *s.JVote+1e-12 || *s.JVoteHi < *s.JVote-1e-12:
				t.Fatalf("j_vote %v in [%v, %v]", *s.JVote, *s.JVoteLo, *s.JVoteHi)
			case *s.JWorst > *s.J+1e-9 || *s.JBest < *s.J-1e-9:
				t.Fatalf("J %v in worst..best %v..%v", *s.J, *s.JWorst, *s.JBest)
			case k == 1 && !near(*s.J, *s.JVote):
				t.Fatalf("at K = 1, j %v and j_vote %v are the same", *s.J, *s.JVote)
			}
		}
	})
}

// Always, never and a coin have no discrimination, whatever their bias.
func TestNoDiscriminationIsZero(t *testing.T) {
	for name, letters := range map[string]string{"always": "+++++", "never": "....."} {
		s := scoreOf(t, 5, Charge, pairOf("a", letters, letters), pairOf("b", letters, letters))
		assert.Equal(t, 0.0, *s.J, name)
		assert.Equal(t, 0.0, *s.JVote, name)
	}
	always := scoreOf(t, 1, Charge, pairOf("a", "+", "+"))
	assert.Equal(t, 1.0, *always.Bias)
}

// Breaking the format instead of answering wrongly gains nothing.
func TestBreakingTheFormatGainsNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k := rapid.IntRange(1, 5).Draw(t, "k")
		rows := anyRows(t, k, "+.")
		before := *Score(PlanRecord{K: k}, rows, Class, Charge)[0].J
		at := rapid.IntRange(0, len(rows)-1).Draw(t, "run")
		broken := append([]RunRow{}, rows...)
		broken[at].Status, broken[at].Counts = string(detector.BadFormat), "charged"
		broken[at].Hit, broken[at].SilentClass = nil, nil
		if after := *Score(PlanRecord{K: k}, broken, Class, Charge)[0].J; after > before+1e-12 {
			t.Fatalf("J rose from %v to %v", before, after)
		}
	})
}

func TestOrderOfRunsDoesNotMatter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rows := anyRows(t, 3, "+.!x")
		shuffled := append([]RunRow{}, rows...)
		rng := rand.New(rand.NewPCG(1, rapid.Uint64().Draw(t, "seed")))
		rng.Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
		a, b := Score(PlanRecord{K: 3}, rows, Class, Charge)[0], Score(PlanRecord{K: 3}, shuffled, Class, Charge)[0]
		if a.N != b.N || a.Correct != b.Correct || a.Floor != b.Floor || (a.J == nil) != (b.J == nil) {
			t.Fatalf("%+v and %+v", a, b)
		}
		if a.J != nil && (math.Abs(*a.J-*b.J) > 1e-12 || math.Abs(*a.JLo-*b.JLo) > 1e-9) {
			t.Fatalf("j %v and %v", *a.J, *b.J)
		}
	})
}

func TestUnrunCasesStayInTheDenominator(t *testing.T) {
	plan := PlanRecord{K: 5, Corpus: CorpusRecord{Strata: []Stratum{
		{Slice: "s", Family: "injection", Pairs: 3}, {Slice: "s", Family: "path", Pairs: 1, FixedOnly: 2},
	}}}
	scores := Score(plan, pairOf("a", "+++++", "....."), Class, Charge)
	require.Len(t, scores, 2)
	assert.Equal(t, int64(3), scores[0].Cases)
	assert.InDelta(t, 1.0/3, *scores[0].Coverage, 1e-12)
	assert.Equal(t, map[string]int64{"unrun": 2}, scores[0].Unscorable)
	assert.InDelta(t, 1.0/3+1.0/3-1, *scores[0].JWorst, 1e-12)
	assert.Equal(t, int64(3), scores[1].Cases)
	assert.Nil(t, scores[1].J)
	complete := Score(PlanRecord{K: 5, Corpus: CorpusRecord{Strata: plan.Corpus.Strata[:1]}},
		append(append(pairOf("a", "+++++", "....."), pairOf("b", "+++++", ".....")...), pairOf("c", "+++++", ".....")...), Class, Charge)
	assert.Equal(t, int64(3), complete[0].N)
	assert.Empty(t, complete[0].Unscorable)
}

func TestStrata(t *testing.T) {
	pair, single, clean := sampleCase(1, "path"), sampleCase(2, "path"), sampleCase(3, "ssrf")
	single.Fixed, clean.Vulnerable = nil, nil
	assert.Equal(t, []Stratum{
		{Slice: "planted", Family: "path", Pairs: 1, VulnerableOnly: 1},
		{Slice: "planted", Family: "ssrf", FixedOnly: 1},
	}, Strata([]*corpus.Case{pair, single, clean}))
}

func BenchmarkScore(b *testing.B) {
	runs := runsOf(sampleRows(60, 5))
	b.ReportAllocs()
	for b.Loop() {
		Score(PlanRecord{K: 5}, runs, Class, Charge)
	}
}

func BenchmarkScoreAll(b *testing.B) {
	runs := runsOf(sampleRows(60, 5))
	b.ReportAllocs()
	for b.Loop() {
		ScoreAll(PlanRecord{K: 5}, runs)
	}
}
