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

// RetriesIndeterminate reports whether Do sends a call again whose last attempt
// is of unknown fate.
func (l *Ledger) RetriesIndeterminate() bool { return l.opts.Indeterminate == Retry }
