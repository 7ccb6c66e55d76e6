package stats

import "math"

// SignTest is the exact two-sided sign test on the pairs that two captures
// disagree about. Ties carry no information. It is nil without a disagreement.
func SignTest(wins, losses int) *float64 {
	n := wins + losses
	if n <= 0 || wins < 0 || losses < 0 {
		return nil
	}
	tail := 0.0
	for i := 0; i <= min(wins, losses); i++ {
		tail += binomial(n, i, .5)
	}
	p := pvalue(2 * tail)
	return &p
}

// McNemar is the exact two-sided test on what is discordant: so many were correct
// in OLD only, so many in NEW only. Its answer holds for these cases, these
// runs, and nothing beyond: on the pooled runs of a case, which are no independent
// draws of cases, it fires on 14 % of harmless edits at K = 20 (spec/peers.md 4.4).
// It is nil when nothing is discordant.
func McNemar(lost, gained int) *float64 { return SignTest(gained, lost) }

// pvalue keeps a probability in (0, 1]: no test is certain, and the tail of a
// large sample underflows.
func pvalue(p float64) float64 {
	return math.Min(1, math.Max(p, math.SmallestNonzeroFloat64))
}

// Disagreement is the share of run pairs of one side that disagree, with d of n
// runs positive: d(n-d)/C(n,2). It is nil for fewer than two runs.
func Disagreement(d, n int) *float64 {
	if n < 2 || d < 0 || d > n {
		return nil
	}
	rate := float64(d) * float64(n-d) / (float64(n) * float64(n-1) / 2)
	return &rate
}

// VotePower is the chance that a majority of k independent runs is positive when
// each is with chance p; a tie is not positive. It is nil for k < 1 or p outside
// [0, 1].
func VotePower(p float64, k int) *float64 {
	if k < 1 || !(p >= 0 && p <= 1) {
		return nil
	}
	power := 0.0
	for i := k/2 + 1; i <= k; i++ {
		power += binomial(k, i, p)
	}
	power = math.Min(1, power)
	return &power
}

// binomial is the chance of x positives in n draws. It handles p of 0 and 1,
// where the logarithm of gonum's Binomial gives NaN (spec/libraries.md 3).
func binomial(n, x int, p float64) float64 {
	switch p {
	case 0:
		return indicator(x == 0)
	case 1:
		return indicator(x == n)
	}
	lgn, _ := math.Lgamma(float64(n) + 1)
	lgx, _ := math.Lgamma(float64(x) + 1)
	lgr, _ := math.Lgamma(float64(n-x) + 1)
	return math.Exp(lgn - lgx - lgr + float64(x)*math.Log(p) + float64(n-x)*math.Log1p(-p))
}

func indicator(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// Confusion counts the answers of a detector on single sides.
type Confusion struct {
	TP, FN, FP, TN int
}

// Add returns the counts of both.
func (c Confusion) Add(d Confusion) Confusion {
	return Confusion{c.TP + d.TP, c.FN + d.FN, c.FP + d.FP, c.TN + d.TN}
}

// Recall is TP/(TP+FN), nil without a vulnerable side.
func (c Confusion) Recall() *float64 { return ratio(c.TP, c.TP+c.FN) }

// Silence is TN/(TN+FP), nil without a fixed side.
func (c Confusion) Silence() *float64 { return ratio(c.TN, c.TN+c.FP) }

// Precision is TP/(TP+FP), nil when nothing was flagged. It moves with the
// prevalence of a corpus and must not be compared across corpora.
func (c Confusion) Precision() *float64 { return ratio(c.TP, c.TP+c.FP) }

// Youden is recall + silence - 1, nil when either is.
func (c Confusion) Youden() *float64 {
	r, s := c.Recall(), c.Silence()
	if r == nil || s == nil {
		return nil
	}
	j := *r + *s - 1
	return &j
}

// MCC is Matthews' correlation, nil when a row or a column is empty.
func (c Confusion) MCC() *float64 {
	tp, fn, fp, tn := float64(c.TP), float64(c.FN), float64(c.FP), float64(c.TN)
	product := (tp + fp) * (tp + fn) * (tn + fp) * (tn + fn)
	if !(product > 0) {
		return nil
	}
	m := (tp*tn - fp*fn) / math.Sqrt(product)
	return &m
}

func ratio(a, b int) *float64 {
	if b <= 0 {
		return nil
	}
	r := float64(a) / float64(b)
	return &r
}
