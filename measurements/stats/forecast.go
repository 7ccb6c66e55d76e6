package stats

import (
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/stat/distuv"
)

// Forecast is what NEW may answer against an OLD at hand, if nothing changed or if J
// fell by so much: what the power of a rule is told from. Where OLD made no mistake
// its runs have no variance, and those of a NEW that fell do; so the chances behind
// the runs are drawn, given what they were: from a beta posterior whose prior is
// that of all cases together, with half a mistake more than were seen (Jeffreys).
//
// A drop is a shift on the logit, the same for all cases, so that what OLD never
// failed falls last. Overall it shifts both sides. A family that is lost alone loses
// its first side, the vulnerable one, and when nothing is left of that, silence.
type Forecast struct {
	cases    int // at hand
	runs     int // runs a side of NEW
	single   bool
	distinct int // cases of the pool, each of which stands there replicas times
	replicas int
	pool     []outlook
	mean     [sidesOfCase]float64 // of the chances a case, 0 where it has no such side
}

const sidesOfCase = 2

// outlook is a case and what may be behind it.
type outlook struct {
	stratum [sidesOfCase]Stratum // the OLD half
	chance  [sidesOfCase]float64 // of a right answer in OLD
	now     [sidesOfCase]float64 // and in NEW, if the mean is the same
	odds    [sidesOfCase]float64 // of now
	sides   int
}

// poolSize is how many draws stand for all that there could be, and minReplicas how
// many at least there are of each case of a small comparison.
const (
	poolSize    = 1024
	minReplicas = 8
)

// forecastSeed is that of every forecast: what is detectable does not depend on the
// seed of a comparison.
const forecastSeed = 20261130

// NewForecast reads the OLD halves of cases. NEW would have so many runs a side, and
// its cases would truly differ from those of OLD by a variance of churn while the
// mean stays. Single counts unanimous runs as one. It is nil for fewer than two
// cases with runs, and where no case was run twice: how much runs differ is then
// not known.
func NewForecast(cases []Case, churn float64, runs int, single bool) *Forecast {
	var usable []Case
	repeated := false
	for _, c := range cases {
		if _, ok := c.rates(oldHalf); !ok || len(c.Strata) > sidesOfCase {
			continue
		}
		twice := true
		for _, s := range c.Strata {
			twice = twice && s.OldRuns > 1
		}
		repeated = repeated || twice
		usable = append(usable, c)
	}
	if len(usable) < 2 || !repeated || runs < 1 {
		return nil
	}
	f := &Forecast{cases: len(usable), runs: runs, single: single}
	if single {
		f.runs = 1
	}
	f.fill(usable)
	f.churn(churn)
	return f
}

// fill draws the pool: of few cases each several times, of many a part.
func (f *Forecast) fill(cases []Case) {
	priors := priorsOf(cases, f.single)
	f.distinct = min(len(cases), poolSize)
	f.replicas = max(minReplicas, poolSize/f.distinct)
	if f.distinct == poolSize {
		f.replicas = 1
	}
	rng := rand.NewPCG(forecastSeed, 0)
	f.pool = make([]outlook, 0, f.distinct*f.replicas)
	for i := range f.distinct {
		c := cases[i*len(cases)/f.distinct]
		for range f.replicas {
			o := outlook{sides: len(c.Strata)}
			for side, s := range c.Strata {
				if f.single {
					s = s.Single()
				}
				o.stratum[side] = Stratum{OldRuns: s.OldRuns, OldCorrect: s.OldCorrect}
				o.chance[side] = priors[side].posterior(s.OldRuns, s.OldCorrect, rng)
			}
			o.now = o.chance
			f.pool = append(f.pool, o)
		}
	}
	f.measure()
}

func (f *Forecast) measure() {
	f.mean = [sidesOfCase]float64{}
	for i := range f.pool {
		o := &f.pool[i]
		for side := range o.sides {
			f.mean[side] += o.now[side] / float64(len(f.pool))
			o.odds[side] = o.now[side] / (1 - o.now[side])
		}
	}
}

// prior is the beta distribution of the chances of one side over cases.
type prior struct{ right, wrong float64 }

// mostAlike bounds the intraclass correlation, which the smallest samples would have
// at 1. Where nothing shows that cases differ they are taken to be alike, as firmly as
// so many mistakes.
const (
	mostAlike = .95
	mistakes  = 3
)

// priorsOf are those of each side, from all runs; how alike the runs of a case are
// is told from both sides together.
func priorsOf(cases []Case, single bool) (priors [sidesOfCase]prior) {
	var means [sidesOfCase]float64
	between, most := 0.0, 0.0
	for side := range priors {
		runs, correct, sampling := 0.0, 0.0, 0.0
		var rates []float64
		for _, c := range cases {
			if len(c.Strata) <= side {
				continue
			}
			s := c.Strata[side]
			if single {
				s = s.Single()
			}
			rate := float64(s.OldCorrect) / float64(s.OldRuns)
			runs, correct = runs+float64(s.OldRuns), correct+float64(s.OldCorrect)
			rates = append(rates, rate)
			if s.OldRuns > 1 {
				sampling += rate * (1 - rate) / float64(s.OldRuns-1)
			}
		}
		means[side] = (correct + .5) / (runs + 1)
		if len(rates) > 1 {
			_, total := meanVariance(rates)
			between += total - sampling/float64(len(rates))
			most += means[side] * (1 - means[side])
		}
	}
	for side, mean := range means {
		weight := mistakes / math.Min(mean, 1-mean)
		if between > 0 {
			weight = math.Min(weight, 1/math.Min(between/most, mostAlike)-1)
		}
		priors[side] = prior{mean * weight, (1 - mean) * weight}
	}
	return priors
}

// posterior draws a chance, given runs.
func (p prior) posterior(runs, correct int, src rand.Source) float64 {
	d := distuv.Beta{Alpha: p.right + float64(correct), Beta: p.wrong + float64(runs-correct), Src: src}
	const least = 1e-12 // no answer is certain
	return math.Min(math.Max(d.Rand(), least), 1-least)
}

// churn moves the cases of NEW on the logit, both sides of a case alike, so that the
// true values of cases change by such a variance and no mean of a side moves.
func (f *Forecast) churn(variance float64) {
	if !(variance > 0) {
		return
	}
	rng := rand.New(rand.NewPCG(forecastSeed, 1))
	z := make([]float64, len(f.pool))
	for i := range z {
		z[i] = rng.NormFloat64()
	}
	lo, hi := 0.0, widestChurn
	for range 12 {
		mid := (lo + hi) / 2
		if f.moved(mid, z) < variance {
			lo = mid
		} else {
			hi = mid
		}
	}
	f.moved(hi, z)
	f.measure()
}

// widestChurn bounds the spread of churn on the logit: it takes a case from .95 to
// .05 and further.
const widestChurn = 6.0

// moved sets what the chances become in NEW, and returns the variance of their
// change.
func (f *Forecast) moved(spread float64, z []float64) float64 {
	change := make([]float64, len(f.pool))
	for side := range sidesOfCase {
		odds := make([]float64, 0, len(f.pool))
		at := make([]int, 0, len(f.pool))
		before := 0.0
		for i, o := range f.pool {
			if side < o.sides {
				p := o.chance[side]
				odds = append(odds, p/(1-p)*math.Exp(spread*z[i]))
				at = append(at, i)
				before += p
			}
		}
		lo, hi := -10.0, 10.0
		for range 16 {
			mid := (lo + hi) / 2
			after, times := 0.0, math.Exp(mid)
			for _, o := range odds {
				after += o * times / (1 + o*times)
			}
			if after < before {
				lo = mid
			} else {
				hi = mid
			}
		}
		times := math.Exp((lo + hi) / 2)
		for j, i := range at {
			o := &f.pool[i]
			o.now[side] = odds[j] * times / (1 + odds[j]*times)
			change[i] += o.now[side] - o.chance[side]
		}
	}
	_, variance := meanVariance(change)
	return variance
}

// with is the same forecast where NEW has so many runs a side and, if old is not 0,
// OLD is captured anew with so many.
func (f *Forecast) with(old, runs int) *Forecast {
	g := *f
	g.runs = runs
	if old < 1 {
		return &g
	}
	rng := rand.NewPCG(forecastSeed, 2)
	g.pool = make([]outlook, len(f.pool))
	for i, o := range f.pool {
		for side := range o.sides {
			o.stratum[side] = Stratum{OldRuns: old, OldCorrect: binomialAt(uniform(rng), o.chance[side], old)}
		}
		g.pool[i] = o
	}
	return &g
}

// loss is what the odds of a right answer shrink to, on each side.
type loss [sidesOfCase]float64

// nothing is lost.
var nothing = loss{1, 1}

func (o *outlook) after(l loss, side int) float64 {
	odds := o.odds[side] * l[side]
	return odds / (1 + odds)
}

// everywhere is the loss that makes J fall by so much by one shift of both sides.
func (f *Forecast) everywhere(drop float64) loss {
	shift := f.solve(f.mean[0]+f.mean[1]-drop, 0, sidesOfCase)
	return loss{shift, shift}
}

// alone is that of a family which loses its first side first.
func (f *Forecast) alone(drop float64) loss {
	l := nothing
	for side, mean := range f.mean {
		if drop > 0 && mean > 0 {
			l[side] = f.solve(mean-drop, side, side+1)
			drop -= mean
		}
	}
	return l
}

// solve finds what the odds of some sides must shrink to for their means to add up to
// what is left.
func (f *Forecast) solve(left float64, from, to int) float64 {
	if left <= 0 {
		return 0
	}
	lo, hi := -40.0, 0.0
	for range 24 {
		mid := (lo + hi) / 2
		l, sum := loss{math.Exp(mid), math.Exp(mid)}, 0.0
		for i := range f.pool {
			for side := from; side < to; side++ {
				sum += f.pool[i].after(l, side)
			}
		}
		if sum < left*float64(len(f.pool)) {
			lo = mid
		} else {
			hi = mid
		}
	}
	return math.Exp(hi)
}

// deepest is the largest drop there can be.
func (f *Forecast) deepest() float64 { return f.mean[0] + f.mean[1] }

// dice of forecasts.
func newDice(stream uint64) *rand.PCG { return rand.NewPCG(forecastSeed, stream) }

func uniform(src *rand.PCG) float64 { return (float64(src.Uint64()>>11) + .5) / (1 << 53) }

// manyRuns are drawn as a normal number, fewer by adding up chances.
const manyRuns = 64

// binomialAt is the number of right answers of k at the quantile u: more where p is
// larger, for the same u.
func binomialAt(u, p float64, k int) int {
	switch {
	case p <= 0:
		return 0
	case p >= 1:
		return k
	case k > manyRuns:
		n := float64(k)
		x := n*p + math.Sqrt(n*p*(1-p))*distuv.UnitNormal.Quantile(u)
		return int(math.Round(math.Min(math.Max(x, 0), n)))
	case p > .5:
		return k - binomialAt(1-u, 1-p, k)
	}
	chance := 1.0
	for range k {
		chance *= 1 - p
	}
	odds := p / (1 - p)
	sum := chance
	x := 0
	for ; x < k && sum < u; x++ {
		chance *= odds * float64(k-x) / float64(x+1)
		sum += chance
	}
	return x
}

// moments of d in a case that lost answers: its mean, and its variance over cases
// and runs; and the variance that the exact test takes runs to have, which is that of
// the rate of both captures together.
type moments struct{ mean, variance, pooled float64 }

func (f *Forecast) moments(l loss) (m moments) {
	values := make([]float64, len(f.pool))
	n := float64(len(f.pool))
	k := float64(f.runs)
	runs := 0.0
	for i := range f.pool {
		o := &f.pool[i]
		for side := range o.sides {
			s := o.stratum[side]
			before := float64(s.OldRuns)
			q := o.after(l, side)
			values[i] += q - float64(s.OldCorrect)/before
			runs += q * (1 - q) / k / n
			both := (float64(s.OldCorrect) + q*k) / (before + k)
			// Of runs without replacement, whose mean has a variance of its own.
			spread := both*(1-both) - q*(1-q)*k/((before+k)*(before+k))
			m.pooled += math.Max(0, spread) * (1/before + 1/k) * (before + k) / (before + k - 1) / n
		}
	}
	m.mean, m.variance = meanVariance(values)
	m.variance += runs
	return m
}
