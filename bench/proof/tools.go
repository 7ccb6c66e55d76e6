package proof

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

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

// needsFile lists the programs, one a line, that a harness calls beside its own
// interpreter.
const needsFile = "needs.txt"

// needsOf returns the tools of a case's proof, the one that runs it first.
func needsOf(c *corpus.Case) []tool {
	first, _, ok := toolOf(c)
	if !ok {
		return nil
	}
	list := []tool{first}
	file, _ := c.Proof.File(needsFile)
	for _, name := range strings.Fields(string(file.Text)) {
		at := slices.IndexFunc(tools, func(t tool) bool { return t.program == name })
		if at >= 0 {
			list = append(list, tools[at])
		} else {
			list = append(list, tool{name: name, program: name})
		}
	}
	return list
}

// moduleFile is how a proof spells go.mod: a file of that name would cut its
// directory out of the module that embeds it.
const moduleFile = "go.mod.txt"

// toolchain holds the programs of this machine that the proofs need.
type toolchain struct {
	programs map[string]program
	cache    string // GOCACHE, so that the standard library is compiled once
}

// program is one of them; missing says why it has no path.
type program struct{ path, missing string }

// probes are harmless runs that tell a program from something that only has its
// name.
var probes = map[string][]string{"python3": {"-c", ""}, "node": {"-e", "0"}, "go": {"version"}}

// probeTime is long for a program that does nothing.
const probeTime = 20 * time.Second

// newToolchain looks for the programs that the cases need, each once.
func newToolchain(ctx context.Context, cases []*corpus.Case, look func(string) (string, error)) toolchain {
	t := toolchain{programs: map[string]program{}}
	for _, c := range cases {
		for _, need := range needsOf(c) {
			if _, known := t.programs[need.program]; !known {
				t.programs[need.program] = t.find(ctx, need, look)
			}
		}
	}
	if p := t.programs["go"]; p.path != "" {
		t.cache = goCache(ctx, p.path)
	}
	return t
}

func (t toolchain) find(ctx context.Context, need tool, look func(string) (string, error)) program {
	path, err := look(need.program)
	if err != nil {
		return program{missing: fmt.Sprintf("%s is not here (no %s on the path); install it, or put it on PATH", need.name, need.program)}
	}
	probe, ok := probes[need.program]
	if !ok {
		return program{path: path}
	}
	err = inWorkshop(&corpus.Side{}, &corpus.Side{}, func(w workshop) error {
		_, err := run(ctx, append([]string{path}, probe...), t.environment(w), w, probeTime)
		return err
	})
	if err != nil {
		return program{missing: fmt.Sprintf("%s does not run here: %v", need.name, err)}
	}
	return program{path: path}
}

// goCache asks the go command where it keeps its builds; without an answer each
// proof compiles into its own folder, which is slow and right.
func goCache(ctx context.Context, program string) string {
	ctx, cancel := context.WithTimeout(ctx, probeTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, "env", "GOCACHE")
	cmd.WaitDelay = time.Second
	out, err := cmd.Output()
	if dir := string(bytes.TrimSpace(out)); err == nil && filepath.IsAbs(dir) {
		return dir
	}
	return ""
}

// environment is all that a proof is passed of ours: a key in a variable has no
// business in code that a corpus brings.
func (t toolchain) environment(w workshop) []string {
	env := []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + w.home, "TMPDIR=" + w.room, "LANG=C.UTF-8",
		"YOUDEN_TOKEN_FILE=" + w.tokenFile, "YOUDEN_ROOM=" + w.room,
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
