package ledger

import (
	"context"
	"fmt"
	"iter"
)

// leaf returns one record.
func (l *Ledger) leaf(n int64) (Record, error) {
	leaf, err := l.store.Leaf(n)
	if err != nil {
		return Record{}, fmt.Errorf("reading leaf %d: %w", n, err)
	}
	return leaf.Record()
}

// Body returns the bytes of a request or a response.
func (l *Ledger) Body(sha Digest) ([]byte, error) {
	b, err := l.store.Body(sha)
	if err != nil {
		return nil, fmt.Errorf("reading body %s: %w", sha, err)
	}
	return l.codec.unpack(b)
}

// Leaves yields all leaves in order, for whoever recomputes what they say.
func (l *Ledger) Leaves(ctx context.Context) iter.Seq2[Leaf, error] { return l.store.Leaves(ctx, 1) }

// Entry is one attempt and what became of it. At most one of the outcomes is
// set; none is while the call is under way.
type Entry struct {
	Dispatch      Dispatch
	At            int64 // of the dispatch, Unix nanoseconds
	Observation   *Observation
	NotSent       *NotSent
	Indeterminate *Indeterminate
	Resolution    *Resolution // of the indeterminate attempt
}

// Attempts yields all attempts in the order of their dispatch.
func (l *Ledger) Attempts(ctx context.Context) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		outcomes, err := l.outcomes(ctx)
		if err != nil {
			yield(Entry{}, err)
			return
		}
		for leaf, err := range l.store.Leaves(ctx, 1) {
			var entry Entry
			var found bool
			if err == nil {
				entry, found, err = l.entry(leaf, outcomes)
			}
			if err != nil {
				yield(Entry{}, err)
				return
			}
			if found && !yield(entry, nil) {
				return
			}
		}
	}
}

// outcomes maps attempts to the leaves that speak of them after the dispatch:
// the numbers only, so that a large ledger can be walked through.
func (l *Ledger) outcomes(ctx context.Context) (map[Digest][]int64, error) {
	out := map[Digest][]int64{}
	for leaf, err := range l.store.Leaves(ctx, 1) {
		if err != nil {
			return nil, err
		}
		r, err := leaf.Record()
		if err != nil {
			return nil, err
		}
		if a, ok := r.attempt(); ok && r.Dispatch == nil {
			out[a] = append(out[a], leaf.N)
		}
	}
	return out, nil
}

func (l *Ledger) entry(leaf Leaf, outcomes map[Digest][]int64) (e Entry, found bool, err error) {
	r, err := leaf.Record()
	if err != nil || r.Dispatch == nil {
		return Entry{}, false, err
	}
	e = Entry{Dispatch: *r.Dispatch, At: r.At}
	for _, n := range outcomes[r.Dispatch.Attempt] {
		later, err := l.leaf(n)
		if err != nil {
			return Entry{}, false, err
		}
		switch {
		case later.Observation != nil:
			e.Observation = later.Observation
		case later.NotSent != nil:
			e.NotSent = later.NotSent
		case later.Indeterminate != nil:
			e.Indeterminate = later.Indeterminate
		case later.Resolution != nil:
			e.Resolution = later.Resolution
		}
	}
	return e, true, nil
}

// Spend is what the calls of a ledger came to. It never says less than what was
// executed: an indeterminate attempt counts as a call.
type Spend struct {
	Calls         int64  // attempts that reached the endpoint or may have
	Indeterminate int64  // of them, of unknown fate
	Unpriced      int64  // complete answers without a known cost
	CostMicros    *int64 // known costs, micro-USD; nil = none is known
}

// Spend adds up the whole ledger.
func (l *Ledger) Spend(ctx context.Context) (Spend, error) {
	var s Spend
	for leaf, err := range l.store.Leaves(ctx, 1) {
		if err != nil {
			return Spend{}, err
		}
		r, err := leaf.Record()
		if err != nil {
			return Spend{}, err
		}
		switch {
		case r.Dispatch != nil:
			s.Calls++
		case r.NotSent != nil:
			s.Calls--
		case r.Indeterminate != nil:
			s.Indeterminate++
		case r.Observation != nil && r.Observation.CostMicros == nil:
			s.Unpriced++
		case r.Observation != nil:
			total := *r.Observation.CostMicros
			if s.CostMicros != nil {
				total += *s.CostMicros
			}
			s.CostMicros = &total
		}
	}
	return s, nil
}
