package redact

import (
	"fmt"
	"io"
	"sync"
)

// maxHold bounds what a Writer keeps back while a match is unfinished. A key is
// never that long.
const maxHold = 16 << 10

// Writer passes text on without secrets: known values in all their forms, and
// whatever has the shape of a key. It keeps back only the end of a text that may
// be the beginning of a secret, so that one cut in two by two writes is found;
// Close passes on what is left. It is safe for concurrent use.
type Writer struct {
	mu     sync.Mutex
	w      io.Writer
	known  stage
	shaped stage
}

// stage is one scanner and what it keeps back.
type stage struct {
	scanner
	held []byte
	prev byte // before held
}

// next takes p and returns what can be passed on.
func (s *stage) next(p []byte, more bool) []byte {
	s.held = append(s.held, p...)
	out, rest := scan(s.scanner, s.held, s.prev, more && len(s.held) < maxHold)
	if taken := len(s.held) - len(rest); taken > 0 {
		s.prev = s.held[taken-1]
	}
	s.held = append(s.held[:0], rest...)
	return out
}

// NewWriter returns a Writer in front of w that knows the values of secrets.
func NewWriter(w io.Writer, secrets ...Secret) *Writer {
	f := NewFilter(secrets...)
	return &Writer{w: w, known: stage{scanner: f.known}, shaped: stage{scanner: f.shapes}}
}

// Write takes all of p, or says why the text before it could not be written.
func (w *Writer) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.pass(p, true); err != nil {
		return 0, err
	}
	return len(p), nil
}

// Close passes on what was kept back. It does not close the writer behind.
func (w *Writer) Close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.pass(nil, false)
}

// pass sends p through both stages. Known values go first: the shape of a key
// could end inside one and leave its tail behind.
func (w *Writer) pass(p []byte, more bool) error {
	out := w.shaped.next(w.known.next(p, more), more)
	if len(out) == 0 {
		return nil
	}
	if _, err := w.w.Write(out); err != nil {
		return fmt.Errorf("writing redacted text: %w", err)
	}
	return nil
}
