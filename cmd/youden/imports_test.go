package main

import (
	"fmt"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"sort"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const module = "github.com/youden-bench/youden"

// leaves import none of our packages. tomlfile serves the two loaders on either
// side of the wall between corpus and detector, and the taxonomy.
var leaves = map[string]bool{
	"corpus/family": true, "corpus/syntax": true, "corpus/sarif": true, "corpus/tomlfile": true,
	"fixtures": true, "measurements/stats": true,
	"bench/budget": true, "bench/ledger": true, "bench/simulator": true, "bench/redact": true,
}

// floor is how far to the right a package stands: it may import leaves, what
// stands on a lower floor, and its own room.
func floor(pkg string) int {
	room, _, _ := strings.Cut(pkg, "/")
	switch {
	case leaves[pkg], room == "optimizer" && pkg != "optimizer/tuning":
		return 0
	case room == "corpus", room == "detector":
		return 1
	case room == "measurements":
		return 2
	case pkg == "bench/endpoint":
		return 3
	case room == "bench":
		return 4
	case pkg == "optimizer/tuning":
		return 5
	case room == "cmd":
		return 6
	}
	return -1
}

// arrow says whether a package may import another, and why not.
func arrow(from, to string) string {
	fromRoom, _, _ := strings.Cut(from, "/")
	toRoom, _, _ := strings.Cut(to, "/")
	switch {
	case floor(from) < 0:
		return from + " is in no room of the design"
	case leaves[from] && to == "corpus/tomlfile" && from == "corpus/family":
		return ""
	case leaves[from]:
		return "a leaf imports none of ours"
	case floor(from) == 0 && fromRoom != toRoom:
		return "an optimiser imports none of ours outside its room"
	case floor(to) < floor(from), fromRoom == toRoom && floor(from) == floor(to):
		return ""
	}
	return fmt.Sprintf("floor %d may not import floor %d", floor(from), floor(to))
}

// imports reads the import graph of the module from its files, tests of the
// package itself included, external test packages exempt.
func imports(t *testing.T, root string) map[string]map[string]bool {
	t.Helper()
	graph := map[string]map[string]bool{}
	err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			base := d.Name()
			if name != root && (strings.HasPrefix(base, ".") || base == "testdata" || base == "node_modules" || base == "bin") {
				return filepath.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(name, ".go") {
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		if strings.HasSuffix(file.Name.Name, "_test") {
			return nil
		}
		rel, err := filepath.Rel(root, filepath.Dir(name))
		if err != nil {
			return err
		}
		pkg := filepath.ToSlash(rel)
		if graph[pkg] == nil {
			graph[pkg] = map[string]bool{}
		}
		for _, spec := range file.Imports {
			target, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				return err
			}
			if rest, ours := strings.CutPrefix(target, module+"/"); ours && rest != pkg {
				graph[pkg][rest] = true
			}
		}
		return nil
	})
	require.NoError(t, err)
	return graph
}

func TestImportsGoOneWay(t *testing.T) {
	graph := imports(t, filepath.Join("..", ".."))
	require.Contains(t, graph, "bench")
	var packages []string
	for pkg := range graph {
		packages = append(packages, pkg)
	}
	sort.Strings(packages)
	for _, from := range packages {
		for to := range graph[from] {
			assert.Empty(t, arrow(from, to), "%s imports %s", from, to)
		}
	}
}

// Detectors, corpora, scores and searches know no HTTP and start no process:
// untrusted text cannot reach a network or a shell from there.
func TestRoomsThatReachNothing(t *testing.T) {
	for _, room := range []string{"corpus", "detector", "measurements", "optimizer", "fixtures"} {
		err := filepath.WalkDir(filepath.Join("..", "..", room), func(name string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(name, ".go") || strings.Contains(name, "testdata") {
				return err
			}
			if strings.HasSuffix(name, "_test.go") {
				return nil // tests may run what they measure against
			}
			file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ImportsOnly)
			if err != nil {
				return err
			}
			for _, spec := range file.Imports {
				for _, forbidden := range []string{`"net"`, `"net/http"`, `"os/exec"`} {
					assert.NotEqual(t, forbidden, spec.Path.Value, name)
				}
			}
			return nil
		})
		require.NoError(t, err)
	}
}

// The rule itself refuses each kind of wrong arrow.
func TestArrowsThatAreRefused(t *testing.T) {
	for _, c := range []struct{ from, to string }{
		{"corpus", "detector"}, {"detector", "corpus"}, {"detector/hunter", "corpus"},
		{"corpus", "measurements"}, {"measurements", "bench"}, {"measurements/report", "bench/endpoint"},
		{"bench/endpoint", "bench"}, {"bench/ledger", "bench/redact"}, {"bench/budget", "bench/ledger"}, {"bench/simulator", "corpus/family"},
		{"fixtures", "corpus"}, {"optimizer/gepa", "bench"}, {"optimizer", "measurements"},
		{"bench", "optimizer/tuning"}, {"bench", "cmd/youden"}, {"tools", "corpus"},
	} {
		if c.from == "corpus" && c.to == "detector" || c.from == "detector" && c.to == "corpus" || path.Dir(c.from) == "detector" {
			assert.NotEqual(t, "", sameFloorRooms(c.from, c.to), "%s -> %s", c.from, c.to)
		}
		assert.NotEmpty(t, arrow(c.from, c.to), "%s -> %s must be refused", c.from, c.to)
	}
	for _, c := range []struct{ from, to string }{
		{"detector", "corpus/family"}, {"detector/hunter", "detector"}, {"detector/hunter", "corpus/syntax"},
		{"measurements", "corpus"}, {"measurements/report", "measurements"}, {"bench", "fixtures"},
		{"bench/endpoint", "bench/ledger"}, {"bench", "bench/endpoint"}, {"bench/view", "measurements"},
		{"optimizer/gepa", "optimizer"}, {"optimizer/tuning", "bench"}, {"cmd/youden", "optimizer/tuning"},
		{"corpus/ingest", "corpus"}, {"corpus", "corpus/tomlfile"},
	} {
		assert.Empty(t, arrow(c.from, c.to), "%s -> %s must be allowed", c.from, c.to)
	}
}

// sameFloorRooms says that corpus and detector share a floor and stay apart.
func sameFloorRooms(from, to string) string {
	if floor(from) == floor(to) {
		return "apart"
	}
	return ""
}

// Nothing else stands at the top of the house.
func TestTopLevelOfTheHouse(t *testing.T) {
	allowed := map[string]bool{
		"cmd": true, "bench": true, "optimizer": true, "detector": true, "corpus": true, "measurements": true,
		"fixtures": true, "notebooks": true, "go.mod": true, "go.sum": true,
		"README.md": true, "LICENSE": true, "CHANGELOG.md": true,
		"bin": true, "captures": true, "baselines": true, "capabilities": true, "youden": true, "youden.toml": true, // made by builds and commands, not part of the house
	}
	entries, err := os.ReadDir(filepath.Join("..", ".."))
	require.NoError(t, err)
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), ".") {
			assert.True(t, allowed[e.Name()], "%s has no room in the design", e.Name())
		}
	}
}
