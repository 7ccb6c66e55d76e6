package stats

import (
	"math"
	"math/rand/v2"
)

// urn draws hypergeometric numbers: of so many balls wanted, how many are red. It
// goes outwards from the most likely number until a uniform number is used up.
// Its logarithms and exponentials are its own, of plain rounded arithmetic: those
// of the standard library differ between machines in the last bit, and draws must
// not.
type urn struct {
	pcg *rand.PCG
	lf  []float64 // logarithms of factorials
}

func newUrn(most int, pcg *rand.PCG) *urn {
	u := urn{pcg: pcg, lf: make([]float64, most+1)}
	for i := 2; i <= most; i++ {
		u.lf[i] = u.lf[i-1] + plainLog(float64(i))
	}
	return &u
}

func (u *urn) draw(balls, red, wanted int) int {
	least, most := max(0, wanted+red-balls), min(red, wanted)
	if least == most {
		return least
	}
	lf := u.lf
	mode := int(int64(wanted+1) * int64(red+1) / int64(balls+2))
	white := balls - red
	chance := plainExp(lf[red] - lf[mode] - lf[red-mode] + lf[white] - lf[wanted-mode] - lf[white-wanted+mode] -
		lf[balls] + lf[wanted] + lf[balls-wanted])
	rest := float64(u.pcg.Uint64()>>11) / (1 << 53)
	if rest -= chance; rest < 0 {
		return mode
	}
	up, down := chance, chance
	for hi, lo := mode, mode; lo > least || hi < most; {
		if hi < most {
			up = float64(up * (float64(red-hi) * float64(wanted-hi)) / (float64(hi+1) * float64(white-wanted+hi+1)))
			hi++
			if rest -= up; rest < 0 {
				return hi
			}
		}
		if lo > least {
			down = float64(down * (float64(lo) * float64(white-wanted+lo)) / (float64(red-lo+1) * float64(wanted-lo+1)))
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

// plainLog is the natural logarithm of x >= 1, by the series of artanh.
func plainLog(x float64) float64 {
	m, exponent := math.Frexp(x)
	if m < math.Sqrt2/2 {
		m *= 2
		exponent--
	}
	s := (m - 1) / (m + 1)
	square := float64(s * s)
	sum := 0.0
	for k := 25; k >= 1; k -= 2 {
		sum = float64(sum*square) + 1/float64(k)
	}
	return float64(float64(exponent)*math.Ln2) + float64(2*s*sum)
}

// plainExp is e^x of x <= 0, by the series of the exponential below half a
// doubling.
func plainExp(x float64) float64 {
	if x < -700 {
		return 0
	}
	k := math.Round(x / math.Ln2)
	r := x - float64(k*math.Ln2)
	sum := 1.0
	for i := 16; i >= 1; i-- {
		sum = 1 + float64(r*sum)/float64(i)
	}
	return math.Ldexp(sum, int(k))
}
