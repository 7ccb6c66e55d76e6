package tomlfile

import (
	"encoding"
	"fmt"
	"reflect"
	"sort"
	"strings"
	"time"

	"github.com/pelletier/go-toml/v2/unstable"
)

// check compares the document with the type of v before anything is decoded.
// The library stops at the first wrong type, matches keys in any case, fills a
// short array from a long one and names Go types in its messages; a person
// correcting a file wants every mistake, in words of the file.
func (p *Positions) check(v any) error {
	t := reflect.TypeOf(v)
	if t == nil || t.Kind() != reflect.Pointer {
		return fmt.Errorf("decoding %s into %T: a pointer is needed; pass the address of a struct", p.file, v)
	}
	c := &checker{mistakes{positions: p}}
	c.value(t.Elem(), p.root, nil)
	return c.join()
}

type checker struct{ mistakes }

var (
	textUnmarshaler = reflect.TypeFor[encoding.TextUnmarshaler]()
	timeType        = reflect.TypeFor[time.Time]()
)

func (c *checker) value(t reflect.Type, n *node, path []string) {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t.Kind() == reflect.Interface {
		return
	}
	scalar := n.kind != unstable.Table && n.kind != unstable.Array
	if scalar && (t == timeType || reflect.PointerTo(t).Implements(textUnmarshaler)) {
		return
	}
	switch {
	case n.kind == unstable.Table && t.Kind() == reflect.Struct:
		c.structure(t, n, path)
	case n.kind == unstable.Table && t.Kind() == reflect.Map:
		for _, key := range n.keys {
			c.value(t.Elem(), n.table[key], append(path[:len(path):len(path)], key))
		}
	case n.kind == unstable.Array && (t.Kind() == reflect.Slice || t.Kind() == reflect.Array):
		if t.Kind() == reflect.Array && len(n.array) != t.Len() {
			c.fault(n.key, path, fmt.Sprintf("has %d elements, %d are needed", len(n.array), t.Len()), "write exactly that many")
		}
		for _, element := range n.array {
			c.value(t.Elem(), element, path)
		}
	case !fits(n.kind, t.Kind()):
		c.fault(n.value, path, fmt.Sprintf("is %s, wanted %s", kindName(n.kind), typeName(t)), remedyFor(n.kind, t))
	}
}

func fits(kind unstable.Kind, t reflect.Kind) bool {
	switch t {
	case reflect.String:
		return kind == unstable.String
	case reflect.Bool:
		return kind == unstable.Bool
	case reflect.Float32, reflect.Float64:
		return kind == unstable.Float || kind == unstable.Integer
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return kind == unstable.Integer
	case reflect.Struct: // the library's own date types
		return kind == unstable.LocalDate || kind == unstable.LocalTime || kind == unstable.LocalDateTime || kind == unstable.DateTime
	default:
		return false
	}
}

func (c *checker) structure(t reflect.Type, n *node, path []string) {
	fields := fieldsOf(t)
	for _, key := range n.keys {
		child := n.table[key]
		inner := append(path[:len(path):len(path)], key)
		field, known := fields[key]
		if !known {
			c.add(child.key, "unknown key "+quoteKey(inner), suggest(key, fields))
			continue
		}
		c.value(field, child, inner)
	}
}

func (c *checker) fault(offset int, path []string, message, remedy string) {
	c.add(offset, "key "+quoteKey(path)+" "+message, remedy)
}

// fieldsOf lists the keys that a struct reads, the fields of untagged embedded
// structs included.
func fieldsOf(t reflect.Type) map[string]reflect.Type {
	fields := map[string]reflect.Type{}
	for i := range t.NumField() {
		field := t.Field(i)
		name, _, _ := strings.Cut(field.Tag.Get("toml"), ",")
		switch {
		case name == "-":
		case name == "" && field.Anonymous && field.Type.Kind() == reflect.Struct:
			for key, inner := range fieldsOf(field.Type) {
				fields[key] = inner
			}
		case !field.IsExported():
		case name == "":
			fields[field.Name] = field.Type
		default:
			fields[name] = field.Type
		}
	}
	return fields
}

// suggest names the key that was probably meant, or all that exist.
func suggest(key string, fields map[string]reflect.Type) string {
	names := make([]string, 0, len(fields))
	for name := range fields {
		names = append(names, name)
	}
	sort.Strings(names)
	best, nearest := "", 3
	for _, name := range names {
		if d := distance(strings.ToLower(key), strings.ToLower(name)); d < nearest {
			best, nearest = name, d
		}
	}
	if best != "" {
		return fmt.Sprintf("did you mean %q?", best)
	}
	return "remove it; keys here are " + strings.Join(names, ", ")
}

// distance counts insertions, deletions, replacements and swaps of neighbours
// between two keys. Long keys are cut: one that differs by more than a few
// letters gets no suggestion anyway.
func distance(a, b string) int {
	const most = 64
	a, b = a[:min(len(a), most)], b[:min(len(b), most)]
	var d [most + 1][most + 1]int
	for i := range len(a) + 1 {
		for j := range len(b) + 1 {
			switch {
			case i == 0 || j == 0:
				d[i][j] = i + j
				continue
			case a[i-1] == b[j-1]:
				d[i][j] = d[i-1][j-1]
			default:
				d[i][j] = 1 + min(d[i-1][j], d[i][j-1], d[i-1][j-1])
			}
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				d[i][j] = min(d[i][j], d[i-2][j-2]+1)
			}
		}
	}
	return d[len(a)][len(b)]
}

func kindName(kind unstable.Kind) string {
	switch kind {
	case unstable.Table:
		return "a table"
	case unstable.Array:
		return "an array"
	case unstable.String:
		return "a string"
	case unstable.Bool:
		return "a boolean"
	case unstable.Integer:
		return "an integer"
	case unstable.Float:
		return "a float"
	default:
		return "a date or time"
	}
}

func typeName(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Struct, reflect.Map:
		return "a table"
	case reflect.Slice, reflect.Array:
		return "an array"
	case reflect.String:
		return "a string"
	case reflect.Bool:
		return "a boolean"
	case reflect.Float32, reflect.Float64:
		return "a number"
	default:
		return "an integer"
	}
}

func remedyFor(kind unstable.Kind, t reflect.Type) string {
	list := t.Kind() == reflect.Slice || t.Kind() == reflect.Array
	switch {
	case list && kind == unstable.Table:
		return "write a list of tables: [[name]]"
	case list:
		return "put it in brackets"
	case t.Kind() == reflect.String:
		return "put it in quotes"
	case kind == unstable.String:
		return "write it without quotes"
	case kind == unstable.Float:
		return "write it without a fraction"
	default:
		return "correct the value"
	}
}
