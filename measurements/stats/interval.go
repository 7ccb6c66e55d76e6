// Package stats holds the intervals and tests of the bench. It is opinionated
// about small numbers: a result carries its warnings as data, nothing measured
// gives nil and never 0 or NaN, every bound stays in its range, and no standard
// error is claimed from fewer than two values.
package stats

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/stat/distuv"
)

// Interval is an estimate with its bounds.
type Interval struct {
	Estimate float64
	Lo, Hi   float64
	N        float64 // what the bounds were computed with; may be an effective n
	Level    float64 // nominal coverage, such as .95
	Method   string
	Warnings []string
}

// Width is the distance between the bounds.
func (i Interval) Width() float64 { return i.Hi - i.Lo }

// warn returns the interval with one more warning.
func (i Interval) warn(format string, args ...any) Interval {
	i.Warnings = append(append([]string(nil), i.Warnings...), fmt.Sprintf(format, args...))
	return i
}

// within clamps the bounds to [lo, hi] and stretches them to hold the estimate:
// rounding puts Wilson's lower bound at 0 of 5 below 0, and a Beta quantile of a
// tiny non-integer count above the rate itself. For a count near the smallest
// float the quantile is NaN; the range's own end is a bound then.
func (i Interval) within(lo, hi float64) *Interval {
	if math.IsNaN(i.Lo) {
		i.Lo = lo
	}
	if math.IsNaN(i.Hi) {
		i.Hi = hi
	}
	i.Lo = math.Max(lo, math.Min(i.Lo, i.Estimate))
	i.Hi = math.Min(hi, math.Max(i.Hi, i.Estimate))
	return &i
}

// proportion checks x successes in n trials; both may be effective, hence not
// whole. It reports the rate and whether there is one.
func proportion(x, n, level float64) (float64, bool) {
	if !(n > 0) || !(x >= 0) || math.IsInf(n, 0) || !(level > 0 && level < 1) {
		return 0, false
	}
	return math.Min(x, n) / n, true
}

// Wilson is the score interval of x successes in n trials (spec/peers.md 4.2).
// It is nil for n = 0.
func Wilson(x, n, level float64) *Interval {
	p, ok := proportion(x, n, level)
	if !ok {
		return nil
	}
	z := distuv.UnitNormal.Quantile(1 - (1-level)/2)
	center := p + z*z/(2*n)
	half := z * math.Sqrt(p*(1-p)/n+z*z/(4*n*n))
	scale := 1 + z*z/n
	return Interval{Estimate: p, Lo: (center - half) / scale, Hi: (center + half) / scale,
		N: n, Level: level, Method: "wilson"}.within(0, 1)
}

// Jeffreys is the equal-tailed Beta(x+1/2, n-x+1/2) interval, its ends pinned at
// 0 of n and at n of n. It is nil for n = 0.
func Jeffreys(x, n, level float64) *Interval {
	p, ok := proportion(x, n, level)
	if !ok {
		return nil
	}
	x = p * n
	tail := (1 - level) / 2
	posterior := distuv.Beta{Alpha: x + .5, Beta: n - x + .5}
	i := Interval{Estimate: p, Lo: 0, Hi: 1, N: n, Level: level, Method: "jeffreys"}
	if p > 0 {
		i.Lo = posterior.Quantile(tail)
	}
	if p < 1 {
		i.Hi = posterior.Quantile(1 - tail)
	}
	return i.within(0, 1)
}

// ClopperPearson is the exact interval: it never covers less than its level. It
// is nil for n = 0.
func ClopperPearson(x, n, level float64) *Interval {
	p, ok := proportion(x, n, level)
	if !ok {
		return nil
	}
	x = p * n
	tail := (1 - level) / 2
	i := Interval{Estimate: p, Lo: 0, Hi: 1, N: n, Level: level, Method: "clopper-pearson"}
	if p > 0 {
		i.Lo = distuv.Beta{Alpha: x, Beta: n - x + 1}.Quantile(tail)
	}
	if p < 1 {
		i.Hi = distuv.Beta{Alpha: x + 1, Beta: n - x}.Quantile(1 - tail)
	}
	return i.within(0, 1)
}

// MOVER combines the intervals of two independent rates into one for
// J = recall + silence - 1, by the method of variance estimates recovery
// (spec/peers.md 4.2). It is nil when either rate is unknown.
func MOVER(recall, silence *Interval) *Interval {
	if recall == nil || silence == nil {
		return nil
	}
	j := recall.Estimate + silence.Estimate - 1
	down := math.Hypot(recall.Estimate-recall.Lo, silence.Estimate-silence.Lo)
	up := math.Hypot(recall.Hi-recall.Estimate, silence.Hi-silence.Estimate)
	out := Interval{Estimate: j, Lo: j - down, Hi: j + up,
		N: math.Min(recall.N, silence.N), Level: recall.Level, Method: "mover-" + recall.Method}
	out.Warnings = append(append([]string(nil), recall.Warnings...), silence.Warnings...)
	return out.within(-1, 1)
}

// TInterval is the t interval of a mean. It is nil for fewer than two values, for
// one value has no spread, and for a value that is no number. The bounds know no
// range: MeanT clamps them.
func TInterval(values []float64, level float64) *Interval {
	n := len(values)
	if n < 2 || !(level > 0 && level < 1) || !finite(values) {
		return nil
	}
	mean, variance := meanVariance(values)
	t := distuv.StudentsT{Mu: 0, Sigma: 1, Nu: float64(n - 1)}.Quantile(1 - (1-level)/2)
	half := t * math.Sqrt(variance/float64(n))
	i := Interval{Estimate: mean, Lo: mean - half, Hi: mean + half, N: float64(n), Level: level, Method: "t"}
	if allEqual(values) {
		i.Lo, i.Hi = mean, mean
		i = i.warn("all %d values agree: the t interval has no width", n)
	}
	return &i
}

// MeanT is the t interval of a mean of values in [lo, hi]. It is nil for no
// values; with fewer than two it spans the whole range, for one value has no
// spread.
func MeanT(values []float64, level, lo, hi float64) *Interval {
	if i := TInterval(values, level); i != nil {
		return i.within(lo, hi)
	}
	if len(values) != 1 || !(level > 0 && level < 1) || !finite(values) {
		return nil
	}
	i := Interval{Estimate: values[0], Lo: lo, Hi: hi, N: 1, Level: level, Method: "t"}
	return i.warn("one value has no spread: the interval is the whole range").within(lo, hi)
}

// Wider returns the wider of two intervals, and the known one of two.
func Wider(a, b *Interval) *Interval {
	switch {
	case a == nil:
		return b
	case b == nil || a.Width() >= b.Width():
		return a
	}
	return b
}

// meanVariance returns the mean and the sample variance (0 for n < 2).
func meanVariance(values []float64) (mean, variance float64) {
	for _, v := range values {
		mean += v
	}
	mean /= float64(len(values))
	if len(values) < 2 {
		return mean, 0
	}
	for _, v := range values {
		variance += (v - mean) * (v - mean)
	}
	return mean, variance / float64(len(values)-1)
}

func finite(values []float64) bool {
	for _, v := range values {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return false
		}
	}
	return true
}

// allEqual looks past rounding: .6-.4 and .2 are one difference.
func allEqual(values []float64) bool {
	for _, v := range values {
		if math.Abs(v-values[0]) > 1e-9*math.Max(1, math.Abs(values[0])) {
			return false
		}
	}
	return true
}
