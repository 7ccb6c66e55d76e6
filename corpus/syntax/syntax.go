// Package syntax parses source files of the languages that detectors read, and
// is opinionated about doubt: a parser that recovers from an error still reports
// it, and a language that this build cannot parse is an error of its own, never
// a file without faults. With a C compiler five languages are parsed by
// tree-sitter and Go's own parser; without one (CGO_ENABLED=0) only Go is.
package syntax

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"unicode/utf8"
)

// MaxSize is the largest file that Parse reads, in bytes.
const MaxSize = 4 << 20

// maxFaults bounds the list of a file that is in another language altogether.
const maxFaults = 20

// File says how a source file parsed.
type File struct {
	Language string
	Faults   []Fault // in the order of the file, at most 20
}

// OK reports whether the whole file is valid.
func (f *File) OK() bool { return len(f.Faults) == 0 }

// Fault is one place that does not parse. Lines and columns are 1-based, and
// columns count characters.
type Fault struct {
	Line, Column int
	Message      string
	Excerpt      string // the line there, shortened
}

// String returns "line:col: message: excerpt".
func (f Fault) String() string {
	return fmt.Sprintf("%d:%d: %s: %s", f.Line, f.Column, f.Message, f.Excerpt)
}

// ErrUnsupported is what every UnsupportedError is.
var ErrUnsupported = errors.New("unsupported language")

// UnsupportedError is a language that this build cannot parse.
type UnsupportedError struct {
	Language string
	Path     string
}

func (e *UnsupportedError) Error() string {
	remedy := "the languages here are " + strings.Join(Languages(), ", ")
	if slices.Contains(grammars, e.Language) && !slices.Contains(Languages(), e.Language) {
		remedy = "this program was built without cgo and parses only Go; build it with a C compiler"
	}
	return fmt.Sprintf("parsing %s: %v %q; %s", e.Path, ErrUnsupported, e.Language, remedy)
}

// Is makes errors.Is(err, ErrUnsupported) true.
func (e *UnsupportedError) Is(target error) bool { return target == ErrUnsupported }

// grammars are the languages of a build with cgo.
var grammars = []string{"go", "java", "javascript", "python", "typescript"}

var extensions = map[string]string{
	".go": "go", ".java": "java",
	".py": "python", ".pyi": "python",
	".js": "javascript", ".mjs": "javascript", ".cjs": "javascript", ".jsx": "javascript",
	".ts": "typescript", ".mts": "typescript", ".cts": "typescript", ".tsx": "typescript",
}

// Language returns the language that the name of a file promises, "" when none
// that any build can parse.
func Language(name string) string { return extensions[strings.ToLower(path.Ext(name))] }

// Parse parses one file. path decides between dialects (.tsx) and stands in
// errors. The error is an *UnsupportedError, or says that the file cannot be
// read at all; a file that does not parse has faults and no error.
func Parse(language, path string, src []byte) (*File, error) {
	if !slices.Contains(Languages(), language) {
		return nil, &UnsupportedError{Language: language, Path: path}
	}
	if len(src) > MaxSize {
		return nil, fmt.Errorf("parsing %s: %d bytes is more than the %d that are read; shorten the file", path, len(src), MaxSize)
	}
	faults, err := parse(language, path, src)
	if err != nil {
		return nil, fmt.Errorf("parsing %s: %w", path, err)
	}
	return &File{Language: language, Faults: faults}, nil
}

// faultAt makes a fault from a byte offset.
func faultAt(src []byte, offset int, message string) Fault {
	before := string(src[:min(max(offset, 0), len(src))])
	start := strings.LastIndexByte(before, '\n') + 1
	line, _, _ := strings.Cut(string(src[start:]), "\n")
	return Fault{
		Line:    strings.Count(before, "\n") + 1,
		Column:  utf8.RuneCountInString(before[start:]) + 1,
		Message: message,
		Excerpt: shorten(strings.TrimSpace(line)),
	}
}

func shorten(line string) string {
	const most = 80
	runes := []rune(strings.ToValidUTF8(line, "\ufffd"))
	if len(runes) <= most {
		return string(runes)
	}
	return string(runes[:most-1]) + "…"
}
