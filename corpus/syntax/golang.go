package syntax

import (
	"cmp"
	"errors"
	"go/parser"
	"go/scanner"
	"go/token"
	"slices"
)

// parseGo uses Go's own parser, which knows the language better than any
// grammar of it.
func parseGo(path string, src []byte) ([]Fault, error) {
	_, err := parser.ParseFile(token.NewFileSet(), path, src, parser.AllErrors|parser.SkipObjectResolution)
	if err == nil {
		return nil, nil
	}
	var list scanner.ErrorList
	if !errors.As(err, &list) {
		return nil, err
	}
	// By offset, not by line: a //line comment moves the latter.
	slices.SortStableFunc(list, func(a, b *scanner.Error) int { return cmp.Compare(a.Pos.Offset, b.Pos.Offset) })
	var faults []Fault
	for _, e := range list {
		if len(faults) == maxFaults {
			break
		}
		faults = append(faults, faultAt(src, e.Pos.Offset, e.Msg))
	}
	return faults, nil
}
