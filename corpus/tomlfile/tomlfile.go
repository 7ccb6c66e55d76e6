// Package tomlfile reads the TOML files that people write, and is opinionated
// about mistakes: a key that nothing reads, a value of the wrong type and a key
// given twice are errors, all of them are reported at once, and each says file,
// line, column and what to do. Nothing is guessed, converted or truncated.
package tomlfile

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"
)

// MaxSize is the largest document that Decode reads, in bytes. Files written
// by hand stay far below it.
const MaxSize = 8 << 20

// maxDepth bounds nested tables and arrays; people nest three or four deep.
const maxDepth = 64

// Error is one mistake in a file. Lines and columns are 1-based and columns
// count characters; a line of 0 means the file as a whole.
type Error struct {
	File         string
	Line, Column int
	Message      string
	Remedy       string
}

// Error returns "file:line:col: message; remedy".
func (e *Error) Error() string {
	text := e.File
	if e.Line > 0 {
		text = fmt.Sprintf("%s:%d:%d", e.File, e.Line, e.Column)
	}
	text += ": " + e.Message
	if e.Remedy != "" {
		text += "; " + e.Remedy
	}
	return text
}

// Decode reads the document data, called name in errors, into the struct that
// v points to. Field names come from the tag `toml:"name"` and are matched
// exactly. The error, if any, wraps one *Error for every mistake, in the order
// of the file; v is untouched unless the document matches its type. Limits:
// MaxSize bytes, 64 levels.
func Decode(name string, data []byte, v any) (*Positions, error) {
	if len(data) > MaxSize {
		return nil, &Error{File: name, Message: fmt.Sprintf("%d bytes is more than the %d that are read", len(data), MaxSize),
			Remedy: "split the file or move long texts to files of their own"}
	}
	// Some editors write a byte-order mark; it is no part of the document.
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	positions := newPositions(name, data)
	if bad := invalidUTF8(data); bad >= 0 {
		return nil, positions.fault(bad, "the file is not valid UTF-8", "save it as UTF-8")
	}
	if err := positions.parse(); err != nil {
		return nil, err
	}
	if err := positions.check(v); err != nil {
		return nil, err
	}
	if err := toml.NewDecoder(bytes.NewReader(data)).DisallowUnknownFields().Decode(v); err != nil {
		return nil, positions.translate(err)
	}
	return positions, nil
}

func invalidUTF8(data []byte) int {
	for i := 0; i < len(data); {
		r, size := utf8.DecodeRune(data[i:])
		if r == utf8.RuneError && size == 1 {
			return i
		}
		i += size
	}
	return -1
}

// translate turns what the TOML library says into errors with a place. It is
// the last net: unknown keys, wrong types and duplicates are found before.
func (p *Positions) translate(err error) error {
	var missing *toml.StrictMissingError
	if errors.As(err, &missing) {
		var all []error
		for i := range missing.Errors {
			e := &missing.Errors[i]
			line, column := e.Position()
			all = append(all, p.faultAt(line, column, "unknown key "+quoteKey(e.Key()), "remove it"))
		}
		return errors.Join(all...)
	}
	var one *toml.DecodeError
	if errors.As(err, &one) {
		line, column := one.Position()
		return p.faultAt(line, column, strings.TrimPrefix(one.Error(), "toml: "), "correct the value or the table there")
	}
	return &Error{File: p.file, Message: strings.TrimPrefix(err.Error(), "toml: "), Remedy: "correct the file"}
}

// syntaxError places what the parser stumbled over.
func (p *Positions) syntaxError(parser *unstable.Parser, err error) error {
	const remedy = "correct the TOML there: strings need quotes, a table is [name], a list of tables [[name]]"
	var parse *unstable.ParserError
	if !errors.As(err, &parse) {
		return &Error{File: p.file, Message: err.Error(), Remedy: remedy}
	}
	offset := int(parser.Range(parse.Highlight).Offset)
	return p.fault(offset, parse.Message, remedy)
}

// maxMistakes bounds the work that a hostile document can cause.
const maxMistakes = 1000

// mistakes collects errors in one document.
type mistakes struct {
	positions *Positions
	errs      []error
}

func (m *mistakes) add(offset int, message, remedy string) {
	if len(m.errs) < maxMistakes {
		m.errs = append(m.errs, m.positions.fault(offset, message, remedy))
	}
}

// join returns the errors in the order of the file.
func (m *mistakes) join() error {
	place := func(err error) *Error {
		var e *Error
		if !errors.As(err, &e) {
			return &Error{}
		}
		return e
	}
	slices.SortStableFunc(m.errs, func(x, y error) int {
		a, b := place(x), place(y)
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	return errors.Join(m.errs...)
}
