package stats

import (
	"maps"
	"math"
	"math/bits"
	"slices"
)

// standout tells the p of the max-T permutation without a draw: the chances of all
// deals and families to show as much as the dropped family does, added up. Two
// families rarely show it in one deal.
type standout struct {
	n     int // cases of the dropped family
	sizes []dealtSize
	rest  background
}

// dealtSize is the families of one size.
type dealtSize struct {
	cases int
	root  float64
	deals []float64 // the chance that h of the dropped cases fall to one of these families, times their number
}

// standoutOf is nil where no family can stand out: fewer than two are tested, or
// there are no other cases. Sizes are those of all families, the dropped one among
// them; those of small ones are dealt too.
func standoutOf(f *Forecast, n int, sizes []int, limit float64) *standout {
	cases, tested := 0, 0
	families := map[int]int{}
	largest := 0
	for _, m := range sizes {
		cases += m
		if m >= MinFamily {
			families[m]++
			tested++
			largest = max(largest, m)
		}
	}
	if tested < 2 || cases <= n {
		return nil
	}
	s := &standout{n: n}
	for _, m := range slices.Sorted(maps.Keys(families)) {
		dealt := Stratum{OldRuns: cases - m, OldCorrect: n, NewRuns: m}
		size := dealtSize{cases: m, root: math.Sqrt(float64(m)), deals: make([]float64, min(n, m)+1)}
		for i, chance := range dealt.hypergeometric() {
			if chance *= float64(families[m]); chance > 1e-6*limit { // what is rarer does not matter
				size.deals[dealt.least()+i] = chance
			}
		}
		s.sizes = append(s.sizes, size)
	}
	s.rest = f.background()
	s.rest.add(min(largest, mostAdded))
	return s
}

// Families as large as this are dealt by the exact distribution of sums, and the
// subsets of a dropped family as large as this are listed; what is larger is normal.
const (
	mostAdded  = 12
	mostListed = 9
)

// p is the chance that a deal shows as much as these differences.
func (s *standout) p(d []float64) float64 {
	sum := 0.0
	for _, v := range d {
		sum -= v
	}
	statistic := sum / math.Sqrt(float64(len(d)))
	subsets := s.subsets(d)
	mean, variance := meanVariance(d)
	variance *= float64(len(d)-1) / float64(len(d))
	chance := 0.0
	for _, size := range s.sizes {
		reached := statistic*size.root - 1e-9
		for h, deals := range size.deals {
			if deals == 0 {
				continue
			}
			if subsets != nil && size.cases <= mostAdded {
				chance += deals * s.listed(subsets[h], reached, size.cases-h)
				continue
			}
			chance += deals * s.normal(reached, h, size.cases-h, -mean, variance, float64(len(d)))
		}
	}
	return chance
}

// ofMean is the p of a large family whose mean drop is so much, with a variance of d
// among its cases.
func (s *standout) ofMean(drop, variance, n float64) float64 {
	chance := 0.0
	for _, size := range s.sizes {
		for h, deals := range size.deals {
			if deals > 0 {
				chance += deals * s.normal(drop*math.Sqrt(n)*size.root, h, size.cases-h, drop, variance, n)
			}
		}
	}
	return chance
}

// subsets lists the drops of all subsets by their size, nil where they are too many.
func (s *standout) subsets(d []float64) [][]float64 {
	if len(d) > mostListed {
		return nil
	}
	sums := make([]float64, 1<<len(d))
	list := make([][]float64, len(d)+1)
	all, ways := make([]float64, len(sums)), 1 // ways to choose so many
	for size := range list {
		list[size], all = all[:0:ways], all[ways:]
		ways = ways * (len(d) - size) / (size + 1)
	}
	list[0] = append(list[0], 0)
	for set := 1; set < len(sums); set++ {
		sums[set] = sums[set&(set-1)] - d[bits.TrailingZeros(uint(set))]
		size := bits.OnesCount(uint(set))
		list[size] = append(list[size], sums[set])
	}
	return list
}

func (s *standout) listed(subsets []float64, reached float64, others int) float64 {
	chance := 0.0
	for _, sum := range subsets {
		chance += s.rest.reaches(others, reached-sum)
	}
	return chance / float64(len(subsets))
}

// normal is the chance of h cases of n, dropped by a mean and with a variance among
// them, and of other cases to show as much.
func (s *standout) normal(reached float64, h, others int, mean, variance, n float64) float64 {
	spread := float64(others) * s.rest.variance
	if n > 1 {
		spread += float64(h) * variance * (n - float64(h)) / (n - 1)
	}
	center := float64(h)*mean - float64(others)*s.rest.mean
	if spread <= 0 {
		return indicator(center >= reached)
	}
	return normalTail((reached - center) / math.Sqrt(spread))
}

func normalTail(z float64) float64    { return math.Erfc(z/math.Sqrt2) / 2 }
func normalDensity(z float64) float64 { return math.Exp(-z*z/2) / math.Sqrt(2*math.Pi) }

// background is the distribution of the drop -d of a case where nothing changed in
// the mean.
type background struct {
	mean, variance float64 // of d
	steps          int     // to one
	chances        []float64
	tails          [][]float64 // of sums of so many cases: the chance to reach each step
}

// mostSteps bounds how finely drops are told apart: those of K 20 and 5 come in
// twentieths.
const mostSteps = 60

func (f *Forecast) background() background {
	b := background{steps: f.runs}
	if b.steps > mostSteps {
		b.steps = mostSteps
	}
	for i := 0; i < len(f.pool); i += f.replicas {
		for _, s := range f.pool[i].stratum[:f.pool[i].sides] {
			if both := lcm(b.steps, s.OldRuns); both <= mostSteps {
				b.steps = both
			} else {
				b.steps = mostSteps
			}
		}
	}
	b.chances = make([]float64, 4*b.steps+1)
	each := 1 / float64(len(f.pool)*drawsOfCase)
	rng := newDice(3)
	for i := range f.pool {
		o := &f.pool[i]
		for range drawsOfCase {
			drop := 0.0
			for side := range o.sides {
				s := o.stratum[side]
				drop += float64(s.OldCorrect)/float64(s.OldRuns) - float64(binomialAt(uniform(rng), o.now[side], f.runs))/float64(f.runs)
			}
			b.chances[b.at(drop)+2*b.steps] += each
		}
	}
	m := f.moments(nothing)
	b.mean, b.variance = m.mean, m.variance
	return b
}

// drawsOfCase is how often NEW is drawn for each of the pool.
const drawsOfCase = 8

func lcm(a, b int) int {
	x, y := a, b
	for y > 0 {
		x, y = y, x%y
	}
	return a / x * b
}

func (b *background) at(drop float64) int { return int(math.Round(drop * float64(b.steps))) }

// add up to so many cases.
func (b *background) add(most int) {
	sums := []float64{1}
	b.tails = append(b.tails, []float64{1})
	for range most {
		next := make([]float64, len(sums)+len(b.chances)-1)
		for i, p := range sums {
			if p == 0 {
				continue
			}
			for j, q := range b.chances {
				next[i+j] += p * q
			}
		}
		sums = next
		tail := slices.Clone(sums)
		for i := len(tail) - 2; i >= 0; i-- {
			tail[i] += tail[i+1]
		}
		b.tails = append(b.tails, tail)
	}
}

// reaches is the chance that the drops of so many cases add up to as much.
func (b *background) reaches(cases int, drop float64) float64 {
	tail := b.tails[cases]
	at := int(math.Ceil(drop*float64(b.steps)-1e-6)) + 2*b.steps*cases
	switch {
	case at <= 0:
		return 1
	case at >= len(tail):
		return 0
	}
	return tail[at]
}
