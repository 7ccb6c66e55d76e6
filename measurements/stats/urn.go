package stats

import (
	"math"
	"math/rand/v2"
)

// urn draws hypergeometric numbers: of so many balls wanted, how many are red. It
// goes outwards from the most likely number until a uniform number is used up. Of
// what it computes with, only products and quotients are inexact, which every
// machine rounds alike: logarithms differ in the last bit, and draws must not.
type urn struct {
	pcg        *rand.PCG
	factorials []scaled // up to that of all balls
}

// scaled is a number that no float holds: m times 2^e, m from 1 to below 2.
type scaled struct {
	m float64
	e int64
}

// factorials lists those of 0 to most.
func factorials(most int) []scaled {
	list := make([]scaled, most+1)
	last := scaled{m: 1}
	for i := range list {
		m, e := math.Frexp(last.m * float64(max(1, i)))
		last = scaled{2 * m, last.e + int64(e) - 1}
		list[i] = last
	}
	return list
}

func (u urn) draw(balls, red, wanted int) int {
	least, most := max(0, wanted+red-balls), min(red, wanted)
	if least == most {
		return least
	}
	mode := int(uint64(wanted+1) * uint64(red+1) / uint64(balls+2))
	white := balls - red
	chance := u.chance(balls, red, wanted, mode)
	rest := float64(u.pcg.Uint64()>>11) / (1 << 53)
	if rest -= chance; rest < 0 {
		return mode
	}
	up, down := chance, chance
	for hi, lo := mode, mode; lo > least || hi < most; {
		if hi < most {
			up = up * (float64(red-hi) * float64(wanted-hi)) / (float64(hi+1) * float64(white-wanted+hi+1))
			hi++
			if rest -= up; rest < 0 {
				return hi
			}
		}
		if lo > least {
			down = down * (float64(lo) * float64(white-wanted+lo)) / (float64(red-lo+1) * float64(wanted-lo+1))
			lo--
			if rest -= down; rest < 0 {
				return lo
			}
		}
		if up+down < 1e-18 { // only the rounding of the sum is left
			break
		}
	}
	return mode
}

// chance is C(red, x) C(white, wanted-x) / C(balls, wanted) of an x for which it
// is no smaller than 2^-1000.
func (u urn) chance(balls, red, wanted, x int) float64 {
	f, white := u.factorials, balls-red
	a, b, c, d := f[red], f[white], f[wanted], f[balls-wanted]
	p, q, r, s, t := f[x], f[red-x], f[wanted-x], f[white-wanted+x], f[balls]
	e := a.e + b.e + c.e + d.e - p.e - q.e - r.e - s.e - t.e
	return (a.m * b.m) * (c.m * d.m) / ((p.m * q.m) * (r.m * s.m) * t.m) * math.Float64frombits(uint64(1023+e)<<52)
}
