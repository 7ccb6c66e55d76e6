// Package redact keeps keys out of everything that is written. It is opinionated
// about two things: a key is a type that no printer and no encoder can open
// (Secret), because a rule that people must remember is a leak that waits; and a
// filter stands in front of every sink all the same (Writer), because keys also
// arrive inside texts that others wrote, such as a provider's error message.
package redact

import (
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"
	"unicode"
)

// Mark stands where a secret stood.
const Mark = "[secret]"

// Secret holds the value of a key. Every way of printing or marshalling it gives
// Mark; Reveal is the only way out. The zero value holds nothing.
//
// The value sits in a closure and not in a string field: fmt reads unexported
// fields of an enclosing struct without asking their methods, and dumpers follow
// pointers, but neither calls a function.
type Secret struct {
	reveal func() string
}

// NewSecret wraps the value of a key.
func NewSecret(value string) Secret {
	if value == "" {
		return Secret{}
	}
	return Secret{reveal: func() string { return value }}
}

// FromEnv reads a key from the environment variable name.
func FromEnv(name string) (Secret, error) {
	value, found := os.LookupEnv(name)
	if !found {
		return Secret{}, fmt.Errorf("the environment variable %s, which should hold the API key, is not set: export %s=... and try again", name, name)
	}
	if value == "" {
		return Secret{}, fmt.Errorf("the environment variable %s, which should hold the API key, is empty: export %s=... and try again", name, name)
	}
	if strings.IndexFunc(value, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }) >= 0 {
		return Secret{}, fmt.Errorf("the environment variable %s holds blanks or line breaks, and no API key does: was it cut from a file with its line end?", name)
	}
	return NewSecret(value), nil
}

// Reveal returns the value. Only what puts it on the wire may call this.
func (s Secret) Reveal() string {
	if s.reveal == nil {
		return ""
	}
	return s.reveal()
}

// IsZero reports whether there is no key.
func (s Secret) IsZero() bool { return s.reveal == nil }

// String returns Mark.
func (s Secret) String() string { return Mark }

// GoString returns Mark.
func (s Secret) GoString() string { return Mark }

// Format writes Mark whatever the verb.
func (s Secret) Format(f fmt.State, _ rune) {
	// A State that cannot be written to has nowhere to report it either.
	_, _ = io.WriteString(f, Mark)
}

// MarshalText returns Mark.
func (s Secret) MarshalText() ([]byte, error) { return []byte(Mark), nil }

// MarshalJSON returns Mark as a JSON string.
func (s Secret) MarshalJSON() ([]byte, error) { return []byte(`"` + Mark + `"`), nil }

// LogValue returns Mark.
func (s Secret) LogValue() slog.Value { return slog.StringValue(Mark) }
