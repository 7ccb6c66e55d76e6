//go:build cgo

package syntax

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unsafe"

	sitter "github.com/tree-sitter/go-tree-sitter"
	java "github.com/tree-sitter/tree-sitter-java/bindings/go"
	javascript "github.com/tree-sitter/tree-sitter-javascript/bindings/go"
	python "github.com/tree-sitter/tree-sitter-python/bindings/go"
	typescript "github.com/tree-sitter/tree-sitter-typescript/bindings/go"
)

// Languages lists what this build parses, in alphabetical order.
func Languages() []string { return slices.Clone(grammars) }

func parse(language, path string, src []byte) (faults []Fault, err error) {
	if language == "go" {
		return parseGo(path, src)
	}
	// C memory is not collected: each parser and tree is closed here.
	p := sitter.NewParser()
	defer p.Close()
	if err := p.SetLanguage(sitter.NewLanguage(grammar(language, path))); err != nil {
		return nil, fmt.Errorf("loading the grammar of %s: %w", language, err)
	}
	tree := p.Parse(src, nil)
	if tree == nil {
		return nil, errors.New("the parser gave up")
	}
	defer tree.Close()
	return faultsOf(tree, src), nil
}

func grammar(language, path string) unsafe.Pointer {
	switch language {
	case "java":
		return java.Language()
	case "javascript":
		return javascript.Language()
	case "python":
		return python.Language()
	}
	// In .tsx files <T>x is an element, elsewhere it is a type assertion.
	if strings.HasSuffix(strings.ToLower(path), ".tsx") {
		return typescript.LanguageTSX()
	}
	return typescript.LanguageTypescript()
}

// faultsOf lists the outermost ERROR and MISSING nodes: tree-sitter always
// returns a tree and only marks what it skipped or made up. It walks with a
// cursor, because a hostile file nests deeper than a stack likes.
func faultsOf(tree *sitter.Tree, src []byte) []Fault {
	if !tree.RootNode().HasError() {
		return nil
	}
	cursor := tree.Walk()
	defer cursor.Close()
	var faults []Fault
	for len(faults) < maxFaults {
		node := cursor.Node()
		switch {
		case node.IsMissing(): // a leaf
			faults = append(faults, faultAt(src, int(node.StartByte()), fmt.Sprintf("%q is missing", node.Kind())))
		case node.IsError():
			faults = append(faults, faultAt(src, int(node.StartByte()), "syntax error"))
		case node.HasError() && cursor.GotoFirstChild():
			continue
		}
		for !cursor.GotoNextSibling() {
			if !cursor.GotoParent() {
				return faults
			}
		}
	}
	return faults
}
