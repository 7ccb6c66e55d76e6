package stats

import (
	"math/bits"
	"math/rand/v2"
	"slices"
)

// flipEach adds up to eight sizes to each sum, each with a sign of its own.
func flipEach(sums, sizes []int64, pcg *rand.PCG) {
	var table [256]int64
	for signs := range table {
		for i, size := range sizes {
			if signs>>i&1 == 1 {
				size = -size
			}
			table[signs] += size
		}
	}
	for part := range slices.Chunk(sums, 8) {
		word := pcg.Uint64()
		for i := range part {
			part[i] += table[byte(word)]
			word >>= 8
		}
	}
}

// coins draws how many of so many fair coins show heads, in one step whatever their
// number: by Walker's aliases (Vose 1991). What is rarer than 1e-18 is left out.
type coins struct {
	least   int
	columns []column
}

// column is a number of heads, and another one that has the part of the column
// that the first does not fill.
type column struct {
	own   uint64 // of 2^64
	other int
}

func newCoins(number int) coins {
	chances, least := headChances(number)
	c := coins{least, make([]column, len(chances))}
	var small, large []int
	for i := range chances {
		chances[i] *= float64(len(chances))
		if chances[i] < 1 {
			small = append(small, i)
		} else {
			large = append(large, i)
		}
	}
	for len(small) > 0 && len(large) > 0 {
		s, l := small[len(small)-1], large[len(large)-1]
		small = small[:len(small)-1]
		c.columns[s] = column{uint64(chances[s] * (1 << 63) * 2), l}
		chances[l] -= 1 - chances[s]
		if chances[l] < 1 {
			small, large = append(small, l), large[:len(large)-1]
		}
	}
	for _, i := range append(small, large...) { // full, but for rounding
		c.columns[i] = column{0, i}
	}
	return c
}

// headChances lists the chances of least heads and more. Neighbours stand in a
// ratio that every machine rounds alike.
func headChances(coins int) (chances []float64, least int) {
	mode := coins / 2
	chances, total := []float64{1}, 1.0
	for x, p := mode, 1.0; x < coins && p > 1e-18; x++ {
		p = p * float64(coins-x) / float64(x+1)
		chances = append(chances, p)
		total += p
	}
	up := len(chances)
	for x, p := mode, 1.0; x > 0 && p > 1e-18; x-- {
		p = p * float64(x) / float64(coins-x+1)
		chances = append(chances, p)
		total += p
	}
	slices.Reverse(chances[up:])
	chances = slices.Concat(chances[up:], chances[:up])
	for i := range chances {
		chances[i] /= total
	}
	return chances, mode - (len(chances) - up)
}

func (c coins) heads(pcg *rand.PCG) int {
	at, rest := bits.Mul64(pcg.Uint64(), uint64(len(c.columns)))
	if column := c.columns[at]; rest >= column.own {
		at = uint64(column.other)
	}
	return c.least + int(at)
}
