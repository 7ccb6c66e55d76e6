package tomlfile

import (
	"fmt"
	"sort"
	"strings"
	"unicode/utf8"

	"github.com/pelletier/go-toml/v2/unstable"
)

// Positions knows where each key and element of a decoded document stands.
type Positions struct {
	file string
	data []byte
	root *node

	lines []int // offsets at which the lines start
}

// node is one key, element or table of the document.
type node struct {
	kind  unstable.Kind
	key   int // offset of the key, or of the element itself
	value int // offset of the value
	text  string
	keys  []string // of a table, in the order of the document
	table map[string]*node
	array []*node
}

// At returns the line and column of the key or element that path names, for
// instance At("family", 3, "cwe", 2): strings are keys, ints are 0-based
// indices. A path that is not in the document yields the place of its deepest
// part that is, so a missing key is reported where it should stand.
func (p *Positions) At(path ...any) (line, column int) {
	n, _ := p.find(path)
	return p.place(n.key)
}

// Has reports whether the document itself holds the path: it tells a key that
// was left out from one that was given its zero value.
func (p *Positions) Has(path ...any) bool {
	_, whole := p.find(path)
	return whole
}

// Fault returns the error of a mistake at path that only the caller can see,
// such as an unknown name.
func (p *Positions) Fault(message, remedy string, path ...any) *Error {
	line, column := p.At(path...)
	return &Error{File: p.file, Line: line, Column: column, Message: message, Remedy: remedy}
}

func (p *Positions) find(path []any) (*node, bool) {
	n := p.root
	for _, part := range path {
		var next *node
		switch part := part.(type) {
		case string:
			next = n.table[part]
		case int:
			if part >= 0 && part < len(n.array) {
				next = n.array[part]
			}
		}
		if next == nil {
			return n, false
		}
		n = next
	}
	return n, true
}

func (p *Positions) fault(offset int, message, remedy string) *Error {
	line, column := p.place(offset)
	return &Error{File: p.file, Line: line, Column: column, Message: message, Remedy: remedy}
}

// faultAt takes a column in bytes, as the TOML library counts it.
func (p *Positions) faultAt(line, column int, message, remedy string) *Error {
	start := p.lines[min(max(line, 1), len(p.lines))-1]
	return p.fault(min(start+max(column-1, 0), len(p.data)), message, remedy)
}

func (p *Positions) place(offset int) (line, column int) {
	offset = min(offset, len(p.data))
	line = sort.SearchInts(p.lines, offset+1)
	return line, utf8.RuneCount(p.data[p.lines[line-1]:offset]) + 1
}

func newPositions(name string, data []byte) *Positions {
	p := &Positions{file: name, data: data, root: &node{kind: unstable.Table}, lines: []int{0}}
	for i, c := range data {
		if c == '\n' {
			p.lines = append(p.lines, i+1)
		}
	}
	return p
}

// parse builds the tree of places. Redefinitions that need the whole grammar
// (a table closed and opened again) are left to the decoder.
func (p *Positions) parse() error {
	b := &builder{mistakes{positions: p}}
	var parser unstable.Parser
	parser.Reset(p.data)
	current := p.root
	for parser.NextExpression() {
		expression := parser.Expression()
		switch expression.Kind {
		case unstable.Table, unstable.ArrayTable:
			current = b.open(expression)
		case unstable.KeyValue:
			b.set(current, expression, 0)
		}
	}
	if err := parser.Error(); err != nil {
		b.errs = append(b.errs, p.syntaxError(&parser, err))
	}
	return b.join()
}

type builder struct{ mistakes }

// open enters the table that a [header] or [[header]] names.
func (b *builder) open(header *unstable.Node) *node {
	n := b.positions.root
	parts := keyParts(header)
	if len(parts) > maxDepth {
		b.tooDeep(parts[0].offset)
		return &node{kind: unstable.Table}
	}
	for i, part := range parts {
		last := i == len(parts)-1
		child := n.table[part.name]
		if last && header.Kind == unstable.ArrayTable {
			if child == nil {
				child = n.add(part, unstable.Array)
			}
			element := &node{kind: unstable.Table, key: part.offset, value: part.offset}
			child.array = append(child.array, element)
			return element
		}
		if child == nil {
			child = n.add(part, unstable.Table)
		}
		if child.kind == unstable.Array && len(child.array) > 0 {
			child = child.array[len(child.array)-1]
		}
		n = child
	}
	return n
}

// set records a key and its value below n.
func (b *builder) set(n *node, keyValue *unstable.Node, depth int) {
	parts := keyParts(keyValue)
	if depth += len(parts); depth > maxDepth {
		b.tooDeep(parts[0].offset)
		return
	}
	for _, part := range parts[:len(parts)-1] {
		child := n.table[part.name]
		if child == nil {
			child = n.add(part, unstable.Table)
		}
		n = child
	}
	last := parts[len(parts)-1]
	if earlier := n.table[last.name]; earlier != nil {
		line, _ := b.positions.place(earlier.key)
		b.add(last.offset, fmt.Sprintf("key %q is given twice, first on line %d", last.name, line), "keep one of them")
		return
	}
	b.fill(n.add(last, unstable.Invalid), keyValue.Value(), depth)
}

// fill records a value.
func (b *builder) fill(n *node, value *unstable.Node, depth int) {
	if depth > maxDepth {
		b.tooDeep(n.key)
		return
	}
	n.kind = value.Kind
	if value.Raw.Length > 0 {
		n.value = int(value.Raw.Offset)
	}
	switch value.Kind {
	case unstable.Array:
		for it := value.Children(); it.Next(); {
			child := it.Node()
			if child.Kind == unstable.Comment {
				continue
			}
			element := &node{key: n.value, value: n.value}
			if at, ok := offsetOf(child); ok {
				element.key, element.value = at, at
			}
			n.array = append(n.array, element)
			b.fill(element, child, depth+1)
		}
	case unstable.InlineTable:
		n.kind = unstable.Table
		for it := value.Children(); it.Next(); {
			if child := it.Node(); child.Kind == unstable.KeyValue {
				b.set(n, child, depth+1)
			}
		}
	default:
		n.text = string(value.Data)
	}
}

// offsetOf finds where a value starts. The parser gives arrays no range; their
// first element is near enough.
func offsetOf(value *unstable.Node) (int, bool) {
	for value != nil && value.Raw.Length == 0 {
		value = value.Child()
	}
	if value == nil {
		return 0, false
	}
	return int(value.Raw.Offset), true
}

func (b *builder) tooDeep(offset int) {
	b.add(offset, fmt.Sprintf("nested more than %d levels deep", maxDepth), "flatten the tables")
}

func (n *node) add(part keyPart, kind unstable.Kind) *node {
	child := &node{kind: kind, key: part.offset, value: part.offset}
	if n.table == nil {
		n.table = map[string]*node{}
	}
	if _, known := n.table[part.name]; !known {
		n.keys = append(n.keys, part.name)
	}
	n.table[part.name] = child
	return child
}

type keyPart struct {
	name   string
	offset int
}

func keyParts(n *unstable.Node) []keyPart {
	var parts []keyPart
	for it := n.Key(); it.Next(); {
		parts = append(parts, keyPart{string(it.Node().Data), int(it.Node().Raw.Offset)})
	}
	return parts
}

func quoteKey(parts []string) string { return fmt.Sprintf("%q", strings.Join(parts, ".")) }
