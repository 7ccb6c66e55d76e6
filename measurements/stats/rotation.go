package stats

import (
	"math"
	"math/bits"
	"math/cmplx"
	"math/rand/v2"
	"sync"

	"gonum.org/v1/gonum/dsp/fourier"
)

// rotation deals many cases to families thousands of times at once. Both the places
// and the cases stand in random order on a circle; each turn of the cases against
// the places is a deal like any other, and two turns have no more in common than two
// deals. The sums of a family over all turns are the correlation of its places with
// the cases, which Fourier transforms of stretches of the circle add up to far below
// a tick: rounded, they are exact, and the same on every machine.
type rotation struct {
	deal    *deal
	labels  []uint32 // the family of each place on the circle
	orders  []order
	size    int // of a transform
	stretch int // places to one
}

// order is one order of the cases.
type order struct {
	turns int
	cases [][]complex128 // the transform of each stretch and what turns bring to it
}

// placesATurn is how many places there are at the least for each turn of one order.
const placesATurn = 4

func newRotation(d *deal, draws int, seed uint64) *rotation {
	n := len(d.places)
	r := &rotation{deal: d, labels: shuffled(d.places, n, rand.NewPCG(seed, 0))}
	r.orders = make([]order, (draws*placesATurn+n-1)/n)
	most := (draws + len(r.orders) - 1) / len(r.orders)
	r.size = 1 << bits.Len(uint(2*most))
	r.stretch = r.size - most
	transform := fourier.NewFFT(r.size)
	segment := make([]float64, r.size)
	for i := range r.orders {
		o := &r.orders[i]
		o.turns = draws*(i+1)/len(r.orders) - draws*i/len(r.orders)
		drops := shuffled(d.changed, n, rand.NewPCG(seed, uint64(i+1)))
		for from := 0; from < n; from += r.stretch {
			for j := range segment {
				segment[j] = float64(drops[(from+j)%n])
			}
			o.cases = append(o.cases, transform.Coefficients(nil, segment))
		}
	}
	return r
}

// shuffled puts n values in random order: those listed, and zeros.
func shuffled[T any](list []T, n int, pcg *rand.PCG) []T {
	out := make([]T, n)
	copy(out, list)
	rand.New(pcg).Shuffle(n, func(i, j int) { out[i], out[j] = out[j], out[i] })
	return out
}

// largest lists for each turn the largest statistic over the families tested.
func (r *rotation) largest() []float64 {
	var found [parts][]float64
	var all sync.WaitGroup
	for part := range parts {
		all.Go(func() {
			found[part] = r.largestOf(func(f int) bool { return f%parts == part && !r.deal.silent[f] })
		})
	}
	all.Wait()
	for _, more := range found[1:] {
		for i, v := range more {
			found[0][i] = math.Max(found[0][i], v)
		}
	}
	return found[0]
}

// largestOf is largest over some families.
func (r *rotation) largestOf(mine func(f int) bool) []float64 {
	var largest []float64
	for _, o := range r.orders {
		for range o.turns {
			largest = append(largest, math.Inf(-1))
		}
	}
	c := r.correlator()
	for f, root := range r.deal.roots {
		if mine(f) {
			for i, sum := range c.sums(uint32(f)) {
				largest[i] = math.Max(largest[i], float64(sum)/root)
			}
		}
	}
	return largest
}

// correlator is a rotation and the memory of one goroutine.
type correlator struct {
	*rotation
	transform *fourier.FFT
	sequence  []float64
	places    [][]complex128 // the transform of a family's places in each stretch
	product   []complex128
	found     []int64
}

func (r *rotation) correlator() *correlator {
	return &correlator{
		rotation: r, transform: fourier.NewFFT(r.size), sequence: make([]float64, r.size),
		places: make([][]complex128, len(r.orders[0].cases)), product: make([]complex128, r.size/2+1),
	}
}

// sums are those of a family in all turns, valid until the next call.
func (c *correlator) sums(family uint32) []int64 {
	for i := range c.places {
		clear(c.sequence)
		from := i * c.stretch
		for j, label := range c.labels[from:min(from+c.stretch, len(c.labels))] {
			if label == family {
				c.sequence[j] = 1
			}
		}
		c.places[i] = c.transform.Coefficients(c.places[i], c.sequence)
	}
	c.found = c.found[:0]
	for _, o := range c.orders {
		clear(c.product)
		for i, places := range c.places {
			for j, cases := range o.cases[i] {
				c.product[j] += cmplx.Conj(places[j]) * cases
			}
		}
		c.transform.Sequence(c.sequence, c.product)
		for _, sum := range c.sequence[:o.turns] {
			c.found = append(c.found, int64(math.Round(sum/float64(c.size))))
		}
	}
	return c.found
}
