package ledger

import (
	"fmt"
	"slices"
)

// state is what is known of a sample's last attempt.
type state uint8

const (
	dispatching   state = iota // sent or about to be
	answered                   // a complete answer that settles nothing, such as a 429
	settled                    // the sample has its answer
	notSent                    // nothing reached the endpoint
	indeterminate              // sent, fate unknown
)

// sampleState is what Do must know of a sample. There is one for every sample of
// a capture, so it is small.
type sampleState struct {
	last    Digest // id of the last attempt
	seq     uint32 // of the last attempt
	sent    uint32 // attempts that may have reached the endpoint
	orphans uint32 // those of them whose process ended first
	state   state
	leaf    int64 // of the observation that settled the sample
}

// liveAttempts maps attempts to samples while the leaves are read: outcomes name
// the attempt only.
type liveAttempts struct {
	samples map[Digest]Digest
	order   []Digest
}

// unsettled returns the attempts without an outcome in the order of dispatch.
func (a *liveAttempts) unsettled() []Digest {
	return slices.DeleteFunc(a.order, func(d Digest) bool {
		_, open := a.samples[d]
		return !open
	})
}

// apply adds one record to what is known.
func (l *Ledger) apply(n int64, r Record, live *liveAttempts) error {
	switch {
	case r.Store != nil:
		if r.Store.Schema != schemaName {
			return fmt.Errorf("the schema is %q and this program knows %q", r.Store.Schema, schemaName)
		}
		l.id = r.Store.ID
	case r.Open != nil:
		l.generation = r.Open.Generation
	case r.Dispatch != nil:
		d := r.Dispatch
		live.samples[d.Attempt] = d.Sample
		live.order = append(live.order, d.Attempt)
		s := l.samples[d.Sample]
		if s == nil {
			s = &sampleState{}
			l.samples[d.Sample] = s
		}
		s.last, s.seq, s.state = d.Attempt, d.Seq, dispatching
		s.sent++
	case r.Observation != nil:
		return l.settle(r.Observation.Attempt, live, func(s *sampleState) {
			s.state = answered
			if r.Observation.Final {
				s.state, s.leaf = settled, n
			}
		})
	case r.NotSent != nil:
		return l.settle(r.NotSent.Attempt, live, func(s *sampleState) {
			s.state = notSent
			s.sent--
		})
	case r.Indeterminate != nil:
		return l.settle(r.Indeterminate.Attempt, live, func(s *sampleState) {
			s.state = indeterminate
			if r.Indeterminate.Orphan {
				s.orphans++
			}
		})
	}
	return nil // resolutions, and records of later versions, change no state
}

// settle ends an attempt. No attempt ends twice (spec/ledger.md I3).
func (l *Ledger) settle(attempt Digest, live *liveAttempts, change func(*sampleState)) error {
	sample, open := live.samples[attempt]
	if !open {
		return fmt.Errorf("attempt %s ends twice or was never dispatched", attempt)
	}
	delete(live.samples, attempt)
	s := l.samples[sample]
	if s == nil || s.last != attempt {
		return fmt.Errorf("attempt %s ends after its successor began", attempt)
	}
	change(s)
	return nil
}
