package redact

import (
	"bytes"
	"slices"
)

// Filter takes secrets out of texts. Making one is dear and using it is cheap.
type Filter struct {
	known  *known
	shapes *shapes
}

// NewFilter returns a Filter that knows the values of secrets.
func NewFilter(secrets ...Secret) *Filter {
	return &Filter{known: newLiterals(secrets), shapes: newShapes()}
}

// String returns s without known values and without what has the shape of a key.
func (f *Filter) String(s string) string {
	out, _ := scan(f.known, []byte(s), 0, false)
	out, _ = scan(f.shapes, out, 0, false)
	return string(out)
}

// Known returns b without the known values, and whether there were any. Shapes
// of keys stay: this is for evidence, where only what is certain may be changed.
// b itself is returned when nothing was found.
func (f *Filter) Known(b []byte) (clean []byte, found bool) {
	if !slices.ContainsFunc(f.known.forms, func(form []byte) bool { return bytes.Contains(b, form) }) {
		return b, false
	}
	clean, _ = scan(f.known, b, 0, false)
	return clean, true
}

// String returns s without secrets.
func String(s string, secrets ...Secret) string { return NewFilter(secrets...).String(s) }
