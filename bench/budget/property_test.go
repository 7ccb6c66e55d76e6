package budget

import (
	"math/big"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// world drives a budget without any goroutine and keeps its own books beside it.
type world struct {
	budget  *Budget
	caps    Caps
	open    []*waiter // granted and not settled
	waiting []*waiter // as the caller sees it
	spent   Amount
	honest  bool // no attempt has come to more than its reservation
}

func optional(t *rapid.T, label string, limit int64) *int64 {
	if rapid.Bool().Draw(t, label+" capped") {
		return nil
	}
	n := rapid.Int64Range(0, limit).Draw(t, label)
	return &n
}

func amount(t *rapid.T, label string, micros, tokens int64) Amount {
	return Amount{rapid.Int64Range(0, micros).Draw(t, label+" micros"), 1, rapid.Int64Range(0, tokens).Draw(t, label+" tokens")}
}

func newWorld(t *rapid.T) *world {
	w := &world{honest: true, caps: Caps{
		Micros: optional(t, "cost", 1000), Calls: optional(t, "calls", 20), Tokens: optional(t, "tokens", 5000),
	}}
	w.budget = New(w.caps, func() time.Time { return time.Unix(0, 0) })
	return w
}

// settleDecided moves whoever was decided meanwhile to where they belong, and checks
// each refusal: with everything under way free, it still does not fit.
func (w *world) settleDecided(t *rapid.T) {
	var still []*waiter
	for _, a := range w.waiting {
		select {
		case <-a.done:
		default:
			still = append(still, a)
			continue
		}
		if a.err == nil {
			w.open = append(w.open, a)
			continue
		}
		fits := true
		need := w.budget.raise.of(a.worst)
		for _, d := range w.caps.dimensions() {
			fits = fits && (d.cap == nil || d.of(w.spent)+d.of(need) <= *d.cap)
		}
		require.False(t, fits, "refused, and yet all that is spent leaves room for it")
	}
	w.waiting = still
}

func (w *world) ask(t *rapid.T) {
	w.waiting = append(w.waiting, w.budget.ask(amount(t, "worst", 300, 1500)))
	w.settleDecided(t)
}

// end settles one that is under way. The most that it comes to lies beyond its
// reservation in one case of ten.
func (w *world) end(t *rapid.T) {
	if len(w.open) == 0 {
		t.Skip("nothing is under way")
	}
	n := rapid.IntRange(0, len(w.open)-1).Draw(t, "which")
	a := w.open[n]
	w.open = append(w.open[:n:n], w.open[n+1:]...)
	held := a.got.held
	switch rapid.SampledFrom([]string{"within", "within", "within", "worst", "unsent", "unknown", "beyond"}).Draw(t, "how") {
	case "within":
		w.settle(a, amount(t, "actual", held.Micros, held.Tokens))
	case "worst":
		w.settle(a, held)
	case "unsent":
		w.settle(a, Amount{})
	case "unknown":
		w.spent = w.spent.Plus(held)
		w.budget.Settle(a.got, nil)
	case "beyond":
		if rapid.IntRange(0, 9).Draw(t, "lies") > 0 {
			w.settle(a, held)
			break
		}
		w.honest = false
		w.settle(a, Amount{held.Micros + 1, 1, held.Tokens + rapid.Int64Range(0, 5000).Draw(t, "more")})
	}
	w.settleDecided(t)
}

func (w *world) settle(a *waiter, actual Amount) {
	w.spent = w.spent.Plus(actual)
	w.budget.Settle(a.got, &actual)
}

// leave takes one off the list that still waits.
func (w *world) leave(t *rapid.T) {
	if len(w.waiting) == 0 {
		t.Skip("nobody waits")
	}
	n := rapid.IntRange(0, len(w.waiting)-1).Draw(t, "who")
	_ = w.budget.abandon(w.waiting[n], nil)
	w.waiting = append(w.waiting[:n:n], w.waiting[n+1:]...)
}

// check holds after every step.
func (w *world) check(t *rapid.T) {
	s := w.budget.State()
	require.Equal(t, w.spent, s.Spent)
	var held Amount
	for _, a := range w.open {
		held = held.Plus(a.got.held)
		require.Equal(t, w.budget.raise.of(a.worst), a.got.held)
	}
	require.Equal(t, held, s.Held)
	require.Equal(t, w.honest, len(s.Overruns) == 0, "no overrun is silent")
	if w.honest {
		for _, d := range w.caps.dimensions() {
			require.True(t, d.cap == nil || d.of(s.Spent)+d.of(s.Held) <= *d.cap, "%s is crossed", d.flag)
		}
	}
	require.True(t, len(w.waiting) == 0 || len(w.open) > 0, "somebody waits for nothing")
	require.Len(t, w.budget.waiting, len(w.waiting))
}

// Whatever comes in whatever order: no cap is crossed unless an attempt came to more
// than was reserved for it, which is told; nobody is refused who could have been
// served; nobody waits for nothing.
func TestNoCapIsEverCrossed(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := newWorld(t)
		t.Repeat(map[string]func(*rapid.T){"ask": w.ask, "end": w.end, "leave": w.leave, "": w.check})
		for len(w.open) > 0 {
			w.settle(w.open[0], w.open[0].got.held)
			w.open = w.open[1:]
			w.settleDecided(t)
			w.check(t)
		}
		require.Empty(t, w.waiting)
	})
}

// With equal worst cases and answers that cost a part of them, exactly so many are
// sent that not one more fits.
func TestNotOneMoreWouldFit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		worst := rapid.Int64Range(1, 30).Draw(t, "worst")
		cost := rapid.Int64Range(1, worst).Draw(t, "cost")
		limit := rapid.Int64Range(0, 300).Draw(t, "cap")
		b := New(Caps{Micros: &limit}, func() time.Time { return time.Unix(0, 0) })
		var under, waiting []*waiter
		for range 330 / int(cost) {
			waiting = append(waiting, b.ask(Amount{Micros: worst}))
		}
		sent := int64(0)
		for len(waiting) > 0 || len(under) > 0 {
			var still []*waiter
			for _, a := range waiting {
				select {
				case <-a.done:
					if a.err == nil {
						under = append(under, a)
						sent++
					}
				default:
					still = append(still, a)
				}
			}
			waiting = still
			if len(under) == 0 {
				require.Empty(t, waiting)
				break
			}
			b.Settle(under[0].got, &Amount{Micros: cost})
			under = under[1:]
		}
		want := int64(0)
		for want*cost+worst <= limit {
			want++
		}
		require.Equal(t, want, sent)
	})
}

// scale rounds up, and is the largest number where the result does not fit.
func TestScale(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x, n := rapid.Int64Range(0, 1<<62).Draw(t, "x"), rapid.Int64Range(0, 1<<62).Draw(t, "n")
		d := rapid.Int64Range(1, 1<<62).Draw(t, "d")
		want := new(big.Int).Mul(big.NewInt(x), big.NewInt(n))
		want.Add(want, big.NewInt(d-1)).Quo(want, big.NewInt(d))
		if !want.IsInt64() {
			want.SetInt64(1<<63 - 1)
		}
		require.Equal(t, want.Int64(), scale(x, n, d))
	})
}
