package endpoint

import (
	"time"

	"github.com/youden-bench/youden/bench/ledger"
)

// span adds up the time that the processes which wrote a ledger were at work: each
// from its opening to its last record, not the nights between them.
type span struct {
	from, last int64 // Unix nanoseconds, of the process that wrote last
	before     time.Duration
}

func (s *span) add(r ledger.Record) {
	if r.Open != nil {
		s.before, s.from = s.sum(), r.At
		s.last = r.At
	}
	s.last = max(s.last, r.At)
}

func (s *span) sum() time.Duration {
	if s.from == 0 {
		return s.before
	}
	return s.before + time.Duration(s.last-s.from)
}
