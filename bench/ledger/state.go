package ledger

import (
	"fmt"
	"math"
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

// sampleState is what Do must know of a sample.
type sampleState struct {
	last    Digest // id of the last attempt
	seq     uint32 // of the last attempt
	sent    uint32 // attempts that may have reached the endpoint
	orphans uint32 // those of them whose process ended first
	state   state
	leaf    int64 // of the observation that settled the sample
}

// shortID is half of a sample's digest: enough to tell any number of samples apart.
type shortID [16]byte

// settledSample is what is kept in memory of a sample that has its answer. There is
// one for every sample of a capture, so it is small; the leaf has the rest.
type settledSample struct {
	leaf               int64
	seq, sent, orphans uint16
}

// find returns what is known of a sample, or nil. The lock is held.
func (l *Ledger) find(id Digest) *sampleState {
	if s := l.samples[id]; s != nil {
		known := *s
		return &known
	}
	if s, ok := l.settled[shortID(id[:16])]; ok {
		return &sampleState{seq: uint32(s.seq), sent: uint32(s.sent), orphans: uint32(s.orphans), state: settled, leaf: s.leaf}
	}
	return nil
}

// keep takes what is known of a sample now. The lock is held.
func (l *Ledger) keep(id Digest, s sampleState) {
	if s.state != settled || max(s.seq, s.sent, s.orphans) > math.MaxUint16 {
		l.samples[id] = &s
		return
	}
	delete(l.samples, id)
	l.settled[shortID(id[:16])] = settledSample{leaf: s.leaf, seq: uint16(s.seq), sent: uint16(s.sent), orphans: uint16(s.orphans)}
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
		s := l.find(d.Sample)
		if s == nil {
			s = &sampleState{}
		}
		s.last, s.seq, s.state = d.Attempt, d.Seq, dispatching
		s.sent++
		l.keep(d.Sample, *s)
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
	s := l.find(sample)
	if s == nil || s.last != attempt {
		return fmt.Errorf("attempt %s ends after its successor began", attempt)
	}
	change(s)
	l.keep(sample, *s)
	return nil
}
