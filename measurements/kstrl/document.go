package kstrl

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"unicode/utf8"
)

// kind is the type of a JSON value, in words for a message.
type kind string

const (
	null    kind = "null"
	boolean kind = "true or false"
	number  kind = "a number"
	text    kind = "text"
	list    kind = "a list"
	object  kind = "an object"
)

// value is a JSON value that knows its line, which encoding/json forgets.
type value struct {
	kind    kind
	text    string // of text and numbers, numbers as written
	truth   bool   // as Python's bool()
	items   []*value
	members []member
	line    int
}

type member struct {
	key   string
	value *value
}

// get returns a member, or nil; of several with one key the last one counts.
func (v *value) get(key string) *value {
	for i := len(v.members) - 1; i >= 0; i-- {
		if v.members[i].key == key {
			return v.members[i].value
		}
	}
	return nil
}

// readDocument parses a file. The error comes with the line where it stands.
func readDocument(data []byte) (*value, int, error) {
	if !utf8.Valid(data) {
		return nil, lineOf(data, firstInvalid(data)), errors.New("the text is not UTF-8")
	}
	var whole json.RawMessage
	if err := json.Unmarshal(data, &whole); err != nil {
		var syntax *json.SyntaxError
		if errors.As(err, &syntax) {
			return nil, lineOf(data, int(syntax.Offset)-1), err
		}
		return nil, 0, err
	}
	d := &document{data: data, decoder: json.NewDecoder(bytes.NewReader(data)), line: 1}
	d.decoder.UseNumber()
	v, err := d.value(false)
	return v, d.line, err
}

func firstInvalid(data []byte) int {
	for at := 0; at < len(data); {
		r, size := utf8.DecodeRune(data[at:])
		if r == utf8.RuneError && size == 1 {
			return at
		}
		at += size
	}
	return len(data)
}

func lineOf(data []byte, offset int) int {
	offset = min(max(offset, 0), len(data))
	return 1 + bytes.Count(data[:offset], []byte{'\n'})
}

type document struct {
	data    []byte
	decoder *json.Decoder
	counted int // bytes whose line ends are in line
	line    int
}

// token returns the next token, and moves the line to where it ends: no token
// spans lines.
func (d *document) token() (json.Token, error) {
	t, err := d.decoder.Token()
	at := int(d.decoder.InputOffset())
	d.line += bytes.Count(d.data[d.counted:at], []byte{'\n'})
	d.counted = at
	return t, err
}

// value reads the next value, which may be the item of a list.
func (d *document) value(item bool) (*value, error) {
	t, err := d.token()
	if err != nil {
		return nil, err
	}
	v := &value{line: d.line}
	switch t := t.(type) {
	case nil:
		v.kind = null
	case bool:
		v.kind, v.truth = boolean, t
	case json.Number:
		v.kind, v.text = number, t.String()
		// 1e400 is an error here, and true in Python.
		f, err := t.Float64()
		v.truth = err != nil || f != 0
	case string:
		v.kind, v.text, v.truth = text, t, t != ""
	case json.Delim:
		return v, d.container(v, t, item)
	default:
		return nil, fmt.Errorf("a token of type %T", t)
	}
	return v, nil
}

// container reads what stands between two brackets. The runs of a fixture, which
// is an item of a list, are the bulk of a file and no rule reads them.
func (d *document) container(v *value, open json.Delim, item bool) error {
	v.kind = list
	if open == '{' {
		v.kind = object
	}
	for d.decoder.More() {
		v.truth = true
		if v.kind == list {
			child, err := d.value(true)
			if err != nil {
				return err
			}
			v.items = append(v.items, child)
			continue
		}
		t, err := d.token()
		if err != nil {
			return err
		}
		key, _ := t.(string) // a valid document has no other keys
		if item && key == "runs" {
			var unread json.RawMessage
			if err := d.decoder.Decode(&unread); err != nil {
				return err
			}
			continue // the next token counts its lines
		}
		child, err := d.value(false)
		if err != nil {
			return err
		}
		v.members = append(v.members, member{key, child})
	}
	_, err := d.token()
	return err
}
