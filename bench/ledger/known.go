package ledger

// Settled reports whether the sample of a call has its answer, so that Do would
// replay it and send nothing.
func (l *Ledger) Settled(s Sample, c Call) bool {
	s.Call = c.Digest()
	id := s.Digest()
	l.mu.Lock()
	defer l.mu.Unlock()
	known := l.find(id)
	return known != nil && known.state == settled
}

// Knows reports whether any sample has its answer.
func (l *Ledger) Knows() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, s := range l.samples {
		if s.state == settled {
			return true
		}
	}
	return len(l.settled) > 0
}

// RetriesIndeterminate reports whether Do sends a call again whose last attempt
// is of unknown fate.
func (l *Ledger) RetriesIndeterminate() bool { return l.opts.Indeterminate == Retry }
