package kstrl

import "fmt"

// Mode says what a file may contain.
type Mode int

const (
	// Strict refuses a file whose counts cannot be true or whose fields have
	// other types than the format says. It is for comparisons by our own rules.
	Strict Mode = iota
	// Lenient accepts what the reference accepts, with a warning.
	Lenient
)

// LoadError says why a file is no baseline, and what to do about it. A command
// that meets one exits with 2.
type LoadError struct {
	File    string
	Line    int // 1-based; 0 when no line is to blame
	Problem string
	Remedy  string
	Err     error // the cause below, or nil
}

func (e *LoadError) Error() string {
	return fmt.Sprintf("loading the kstrl baseline %s: %s; %s", place(e.File, e.Line), e.Problem, e.Remedy)
}

func (e *LoadError) Unwrap() error { return e.Err }

// LoadWarning names something that the reference accepts in silence and that
// [Strict] refuses.
type LoadWarning struct {
	File    string `json:"file"`
	Line    int    `json:"line"`
	Problem string `json:"problem"`
}

func (w LoadWarning) String() string { return place(w.File, w.Line) + ": " + w.Problem }

func place(file string, line int) string {
	if line == 0 {
		return file
	}
	return fmt.Sprintf("%s:%d", file, line)
}
