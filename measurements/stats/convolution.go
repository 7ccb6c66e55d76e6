package stats

import (
	"cmp"
	"math"
	"math/bits"
	"slices"

	"gonum.org/v1/gonum/dsp/fourier"
)

// convolution is the distribution of a sum of independent counts, many of them
// alike. A plain Fourier transform knows it to 1e-16 of its peak, which is
// nothing in a tail. So the counts are tilted first: each chance of x is weighed
// by e^(tilt x), with the tilt that makes the observed sum the expected one.
// That is an identity, not an approximation: the transform is then exact where
// the tail begins, and e^(-tilt x) takes the weights off again. What is left is
// rounding, and sums beyond the window, which Bernstein's inequality holds below
// 1e-16 of the tilted distribution.
type convolution struct {
	terms []countTerm
	most  int // the largest possible sum
	span  int // of one count, at most
}

// countTerm is the logarithms of the chances of 0, 1, ... of one count, and how
// many such counts there are.
type countTerm struct {
	logs   []float64
	counts int
	tilted []float64 // the chances, tilted
	center int       // their mean, rounded
	spread float64   // variance of all these counts, tilted
}

func (c *convolution) add(chances []float64, counts int) {
	logs := make([]float64, len(chances))
	for i, p := range chances {
		logs[i] = math.Log(p)
	}
	c.terms = append(c.terms, countTerm{logs: logs, counts: counts, tilted: make([]float64, len(chances))})
	c.most += counts * (len(chances) - 1)
	c.span = max(c.span, len(chances)-1)
}

// tilt weighs the chances and returns the logarithm of what they sum to, and the
// mean and variance of the tilted sum.
func (c *convolution) tilt(by float64) (logSum, mean, variance float64) {
	for i := range c.terms {
		t := &c.terms[i]
		top := math.Inf(-1)
		for x, l := range t.logs {
			top = math.Max(top, l+by*float64(x))
		}
		total, first, second := 0.0, 0.0, 0.0
		for x, l := range t.logs {
			t.tilted[x] = math.Exp(l + by*float64(x) - top)
			total += t.tilted[x]
			first += t.tilted[x] * float64(x)
		}
		first /= total
		t.center = int(math.Round(first))
		for x := range t.tilted {
			t.tilted[x] /= total
			second += t.tilted[x] * (float64(x) - first) * (float64(x) - first)
		}
		n := float64(t.counts)
		t.spread = n * second
		logSum += n * (top + math.Log(total))
		mean += n * first
		variance += t.spread
	}
	return logSum, mean, variance
}

// tails are the chances of a sum of at most x, and of at least x, with x within
// 0 and the largest possible sum.
func (c *convolution) tails(x int) (atMost, atLeast float64) {
	switch x {
	case 0:
		return pvalue(math.Exp(c.end(func(t countTerm) float64 { return t.logs[0] }))), 1
	case c.most:
		return 1, pvalue(math.Exp(c.end(func(t countTerm) float64 { return t.logs[len(t.logs)-1] })))
	}
	by := c.tiltTo(float64(x))
	logSum, _, variance := c.tilt(by)
	chances, at := c.window(x, variance)
	// The tail on the side of the tilt is small, its terms shrink from x on; the
	// other is what it leaves.
	step := 1
	if by <= 0 {
		step = -1
	}
	scale := logSum - by*float64(x)
	tail := 0.0
	for i, away := at, 0; i >= 0 && i < len(chances); i, away = i+step, away+1 {
		tail += math.Max(0, chances[i]) * math.Exp(-math.Abs(by)*float64(away))
	}
	tail = pvalue(tail * math.Exp(scale))
	other := pvalue(1 - tail + math.Max(0, chances[at])*math.Exp(scale))
	if step < 0 {
		return tail, other
	}
	return other, tail
}

func (c *convolution) end(chance func(countTerm) float64) float64 {
	sum := 0.0
	for _, t := range c.terms {
		sum += float64(t.counts) * chance(t)
	}
	return sum
}

// tiltTo finds the tilt with mean x, by Newton's method within a bracket. It
// need not be exact: any tilt gives the same answer, this one the most digits.
func (c *convolution) tiltTo(x float64) float64 {
	lo, hi, by := math.Inf(-1), math.Inf(1), 0.0
	for range 100 {
		_, mean, variance := c.tilt(by)
		if math.Abs(mean-x) <= .01*math.Sqrt(variance) {
			break
		}
		if mean < x {
			lo = by
		} else {
			hi = by
		}
		next := by + (x-mean)/variance
		if math.Abs(next-by) > 2 || math.IsNaN(next) { // far out the variance vanishes
			next = by + math.Copysign(2, x-mean)
		}
		if next <= lo || next >= hi {
			next = (lo + hi) / 2
		}
		by = next
	}
	return by
}

// window returns the tilted chances of the sums around x, and where x is.
func (c *convolution) window(x int, variance float64) (chances []float64, at int) {
	slices.SortStableFunc(c.terms, func(a, b countTerm) int { return cmp.Compare(b.spread, a.spread) }) // most transforms are soon 0
	half := int(10*math.Sqrt(variance)) + 40*c.span + 1
	first, last := max(0, x-half), min(c.most, x+half)
	size := 1 << bits.Len(uint(last-first+1))
	coefficients := make([]complex128, size/2+1)
	for j := range coefficients {
		coefficients[j] = c.characteristic(2*math.Pi*float64(j)/float64(size), first)
	}
	sequence := fourier.NewFFT(size).Sequence(nil, coefficients)
	for i := range sequence {
		sequence[i] /= float64(size)
	}
	return sequence[:last-first+1], x - first
}

// characteristic is the transform of the tilted sum less first, at a frequency.
// Counts of which there are many are powers: their modulus and phase are added up
// as logarithms, around the mean of the count, so that powers of thousands keep
// their digits. The others are multiplied, which is faster.
func (c *convolution) characteristic(frequency float64, first int) complex128 {
	const (
		nothing = -80 // e^-80 is far below rounding
		many    = 8
	)
	logModulus, phase := 0.0, 0.0
	shift := -first
	product := complex(1, 0)
	sin, cos := math.Sincos(frequency)
	for _, t := range c.terms {
		re, im := 0.0, 0.0
		for x := len(t.tilted) - 1; x >= 0; x-- { // Horner in e^(i frequency)
			re, im = re*cos-im*sin+t.tilted[x], re*sin+im*cos
		}
		if t.counts < many {
			for range t.counts {
				product *= complex(re, im)
			}
		} else {
			shift += t.counts * t.center
			s, o := math.Sincos(-frequency * float64(t.center))
			re, im = re*o-im*s, re*s+im*o
			logModulus += float64(t.counts) * math.Log(re*re+im*im) / 2
			phase += float64(t.counts) * math.Atan2(im, re)
		}
		if logModulus < nothing || real(product)*real(product)+imag(product)*imag(product) < tiny {
			return 0
		}
	}
	phase += math.Mod(frequency*float64(shift), 2*math.Pi)
	modulus := math.Exp(logModulus)
	s, o := math.Sincos(-phase)
	return complex(modulus*o, modulus*s) * complex(real(product), -imag(product))
}

// tiny is the square of e^-80.
const tiny = 3e-70
