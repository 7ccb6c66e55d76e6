package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// TestMain lets the test binary act as the youden command, in scripts and in the
// tests that kill it.
func TestMain(m *testing.M) { testscript.Main(m, processes) }

// processes are the commands that the test binary can act as.
var processes = map[string]func(){"youden": main}

func TestScripts(t *testing.T) {
	if raceDetector {
		t.Skip("the scripts run without the race detector, which makes the simulated endpoint slow; the tests that kill and resume run with it")
	}
	testscript.Run(t, testscript.Params{
		Dir: filepath.Join("testdata", "script"),
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits": exits,
		},
	})
}

// exits runs a command and checks its exit code: exits 2 youden show nowhere.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE COMMAND ARGS...")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		var exit *exec.ExitError
		if !asExit(err, &exit) {
			ts.Fatalf("run %v: %v", args[1:], err)
		}
		got = exit.ExitCode()
	}
	if got != want {
		ts.Fatalf("%v exited with %d, want %d", args[1:], got, want)
	}
}

func asExit(err error, target **exec.ExitError) bool {
	exit, ok := err.(*exec.ExitError) //nolint:errorlint // Exec returns it as it is
	*target = exit
	return ok
}

// youden runs one command line in this process.
func youden(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	code = run(args, &out, &errs)
	return code, out.String(), errs.String()
}

// binary returns a command that acts as youden in a process of its own.
func binary(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	path, err := exec.LookPath("youden") // put on PATH by TestMain
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(path, args...)
	cmd.Env = append(os.Environ(), "HOME="+t.TempDir())
	return cmd
}
