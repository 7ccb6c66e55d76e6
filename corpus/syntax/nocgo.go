//go:build !cgo

package syntax

// Languages lists what this build parses: only Go, for want of a C compiler.
func Languages() []string { return []string{"go"} }

func parse(_, path string, src []byte) ([]Fault, error) { return parseGo(path, src) }
