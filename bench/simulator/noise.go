package simulator

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"math"
)

// Every random-looking choice is a hash of named parts, never a generator with
// state: concurrency and order of arrival then cannot change an answer.

// hashOf digests the parts; each is length-prefixed, so ("ab","c") and
// ("a","bc") differ.
func hashOf(parts ...string) [32]byte {
	h := sha256.New()
	var n [8]byte
	for _, p := range parts {
		binary.BigEndian.PutUint64(n[:], uint64(len(p)))
		h.Write(n[:])
		h.Write([]byte(p))
	}
	var out [32]byte
	h.Sum(out[:0])
	return out
}

func hexOf(digits int, parts ...string) string {
	sum := hashOf(parts...)
	return hex.EncodeToString(sum[:])[:digits]
}

// uniform draws from (0,1).
func uniform(parts ...string) float64 {
	sum := hashOf(parts...)
	return unitInterval(binary.BigEndian.Uint64(sum[:8]))
}

func unitInterval(bits uint64) float64 {
	return (float64(bits>>11) + 0.5) / (1 << 53)
}

// gauss draws from N(0,1) by Box-Muller.
func gauss(parts ...string) float64 {
	sum := hashOf(parts...)
	u := unitInterval(binary.BigEndian.Uint64(sum[:8]))
	v := unitInterval(binary.BigEndian.Uint64(sum[8:16]))
	return math.Sqrt(-2*math.Log(u)) * math.Cos(2*math.Pi*v)
}

// pick draws an index in [0,n).
func pick(n int, parts ...string) int {
	if n <= 1 {
		return 0
	}
	return int(uniform(parts...) * float64(n))
}

func logistic(x float64) float64 { return 1 / (1 + math.Exp(-x)) }
