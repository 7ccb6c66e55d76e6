package stats

import "math"

// MinFamily is the fewest cases a family is tested with; smaller ones are only
// shown (spec/statistics.md section 2).
const MinFamily = 3

// Family is the per-case differences d = y(NEW) - y(OLD) of one family, each in
// [-2, 2]. Callers give families in an order of their own that does not change
// from run to run: sums and draws follow it.
type Family struct {
	Name string
	D    []float64
	// Bystander families are dealt with the others and are not tested themselves:
	// they say what families look like, and cost the tested ones nothing.
	Bystander bool
}

// dealt reports whether the cases take part in a deal.
func (f Family) dealt() bool { return len(f.D) >= MinFamily || f.Bystander && len(f.D) > 0 }

// FamilyP is the p-value of one family for a drop.
type FamilyP struct {
	Name     string
	Cases    int
	P        *float64 // nil when the family is not tested
	Warnings []string
}

// tick is the unit differences are added in. Rates are fractions such as 3/5,
// whose differences as floats come out as .2 and .19999999999999996; whole ticks
// make equal differences equal, sums free of order, and draws the same on every
// machine, with or without fused multiply-add.
const tick = 1.0 / (1 << 32)

func ticks(d float64) int64 { return int64(math.Round(d / tick)) }

// slack is what rounding to ticks can add up to over n differences, each half a
// tick, on both sides of a comparison.
func slack(n int) int64 { return int64(n) + 1 }

// differences says whether these are differences of y.
func differences(d []float64) bool {
	for _, v := range d {
		if !(math.Abs(v) <= 2+tick) {
			return false
		}
	}
	return true
}
