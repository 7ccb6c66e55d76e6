package proof

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/youden-bench/youden/corpus"
)

// tool runs the harnesses of a language. Its entry is the file that makes a
// proof one of its kind.
type tool struct {
	name    string // of the program, as people install it
	program string
	entries []string
}

var tools = []tool{
	{"Python 3", "python3", []string{"prove.py"}},
	{"Node.js", "node", []string{"prove.mjs", "prove.cjs"}},
	{"Go", "go", []string{"cmd/prove/main.go"}},
}

// Tools lists the programs that run proofs, by the names that results use.
func Tools() []string {
	var names []string
	for _, t := range tools {
		names = append(names, t.name)
	}
	return names
}

// toolOf returns the tool of a case's proof and the entry found in it.
func toolOf(c *corpus.Case) (t tool, entry string, ok bool) {
	for _, t := range tools {
		for _, entry := range t.entries {
			if _, ok := c.Proof.File(entry); ok {
				return t, entry, true
			}
		}
	}
	return tool{}, "", false
}

// moduleFile is how a proof spells go.mod: a file of that name would cut its
// directory out of the module that embeds it.
const moduleFile = "go.mod.txt"

// toolchain finds the programs and what they need from this machine.
type toolchain struct {
	look  func(string) (string, error) // exec.LookPath, other in tests
	cache string                       // GOCACHE, so that the standard library is compiled once
}

// goCache asks the go command where it keeps its builds; without an answer each
// proof compiles into its own folder, which is slow and right.
func goCache(ctx context.Context, program string) string {
	out, err := exec.CommandContext(ctx, program, "env", "GOCACHE").Output()
	if dir := string(bytes.TrimSpace(out)); err == nil && filepath.IsAbs(dir) {
		return dir
	}
	return ""
}

// find returns the path of a program, "" when it is not on this machine.
func (t toolchain) find(program string) string {
	name, err := t.look(program)
	if err != nil {
		return ""
	}
	return name
}

// environment is all that a proof sees of this machine. Nothing else is passed
// on: a key in a variable has no business in code that a corpus brings.
func (t toolchain) environment(w workshop) []string {
	env := []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + w.home, "TMPDIR=" + w.room, "LANG=C.UTF-8",
		"YOUDEN_TOKEN_FILE=" + w.token, "YOUDEN_ROOM=" + w.room,
		"GOFLAGS=-mod=mod", "GOPROXY=off", "GOTOOLCHAIN=local", "GOWORK=off", "CGO_ENABLED=0", "GOPATH=" + filepath.Join(w.home, "go"),
		"PYTHONDONTWRITEBYTECODE=1", "PYTHONNOUSERSITE=1",
	}
	cache := t.cache
	if cache == "" {
		cache = filepath.Join(w.home, "cache")
	}
	return append(env, "GOCACHE="+cache)
}

// command is what runs an entry in a given mode, after build has prepared it.
func (t toolchain) command(program, entry string, w workshop, mode Mode) []string {
	if strings.HasSuffix(entry, ".go") {
		return []string{w.binary, string(mode)}
	}
	return []string{program, entry, string(mode)}
}

// build compiles a proof in Go; the other languages need none.
func (t toolchain) build(program, entry string, w workshop) []string {
	if !strings.HasSuffix(entry, ".go") {
		return nil
	}
	return []string{program, "build", "-o", w.binary, "./cmd/prove"}
}
