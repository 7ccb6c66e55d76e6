package proof

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/youden-bench/youden/corpus"
)

// The test binary stands in for an interpreter: as "prove.py MODE" it plays a
// harness that asks code.txt, the code of the side, what to do.
func TestMain(m *testing.M) {
	switch {
	case len(os.Args) == 3 && os.Args[1] == "prove.py":
		os.Exit(harness(Mode(os.Args[2])))
	case len(os.Args) == 3 && os.Args[1] == "-c": // the probe of an interpreter
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func harness(mode Mode) int {
	code, err := os.ReadFile("code.txt")
	if err != nil {
		return 9
	}
	token, err := os.ReadFile(os.Getenv("YOUDEN_TOKEN_FILE"))
	if err != nil {
		return 9
	}
	word := func(w string) bool { return strings.Contains(string(code), w) }
	payload, effect := "../token", "refused"
	switch {
	case word("crashes"):
		fmt.Fprintln(os.Stderr, "it went wrong")
		return 3
	case word("hangs"):
		time.Sleep(time.Hour)
	case word("mumbles"):
		fmt.Println("nothing of use")
		return 0
	case word("floods"):
		fmt.Print(strings.Repeat("x", 3*maxOutput))
	case word("environment"):
		effect = strings.Join(os.Environ(), " ") + string(token)
	}
	switch {
	case word("loud"):
		payload = string(token)
	case word("shouts"):
		payload = strings.ToUpper(string(token))
	case word("differs"):
		payload = "something else"
	}
	if _, err := os.Stat("warm"); err == nil {
		effect = "warm"
	} else if word("remembers") {
		if os.WriteFile("warm", nil, 0o600) != nil || os.Remove(os.Getenv("YOUDEN_TOKEN_FILE")) != nil {
			return 9
		}
	}
	if _, file, ok := strings.Cut(string(code), "third time unlucky in "); ok {
		seen, _ := os.ReadFile(file)
		if os.WriteFile(file, append(seen, 'x'), 0o600) != nil || len(seen) > 3 {
			return 4
		}
	}
	if effect != "warm" && (mode == Exploit && word("leaks") || mode == Benign && !word("broken")) {
		effect = "got " + string(token)
	}
	if mode == Exploit && word("echoes") {
		effect = payload
	}
	line, err := json.Marshal(map[string]string{"payload": payload, "effect": effect})
	if err != nil {
		return 9
	}
	fmt.Printf("a word before\n%s\n", line)
	return 0
}

func side(files ...string) *corpus.Side {
	s := &corpus.Side{}
	for i := 0; i < len(files); i += 2 {
		s.Files = append(s.Files, corpus.File{Path: files[i], Text: []byte(files[i+1])})
	}
	return s
}

func pair(vulnerable, fixed string) *corpus.Case {
	return &corpus.Case{ID: "a", Family: "path", Language: "python",
		Vulnerable: side("code.txt", vulnerable), Fixed: side("code.txt", fixed), Proof: side("prove.py", "", "stubs/web.py", "x = 1\n")}
}

// standIn finds the test binary where Python should be, and nothing else.
func standIn(name string) (string, error) {
	if name != "python3" {
		return "", exec.ErrNotFound
	}
	return os.Executable()
}

func prove(t *testing.T, c *corpus.Case, o Options) Result {
	t.Helper()
	o.look = standIn
	results, err := Run(context.Background(), []*corpus.Case{c}, o)
	require.NoError(t, err)
	require.Len(t, results, 1)
	return results[0]
}

func TestProof(t *testing.T) {
	for _, c := range []struct {
		name              string
		vulnerable, fixed string
		want              Status
		reason            string
	}{
		{"a right pair", "leaks", "refuses", Proved, ""},
		{"sides exchanged", "refuses", "leaks", Failed, "no effect on the vulnerable side"},
		{"an exploit that never fires", "refuses", "refuses", Failed, "no effect on the vulnerable side"},
		{"a fixed side that leaks too", "leaks", "leaks", Failed, "still works on the fixed side"},
		{"a fixed side that refuses everything", "leaks", "broken", Failed, "the fixed side does not serve a benign input"},
		{"a vulnerable side that serves nobody", "leaks broken", "refuses", Failed, "the vulnerable side does not serve a benign input"},
		{"a fixed side that echoes", "leaks", "echoes", Proved, ""},
		{"a payload that holds the token", "leaks loud", "refuses", Failed, "the payload holds the token"},
		{"a payload that holds the token in capitals", "leaks shouts", "refuses", Failed, "the payload holds the token"},
		{"an exploit that depends on the side", "leaks", "differs", Failed, "the two sides were not sent the same exploit"},
		{"an exploit that leaves something behind", "leaks remembers", "refuses remembers", Proved, ""},
		{"a harness that crashes on the fixed side", "leaks", "crashes", Failed, "it went wrong"},
		{"a harness without a report", "leaks", "mumbles", Failed, `it said "nothing of use"`},
		{"a harness that writes without end", "leaks", "floods", Failed, "did not end with a line"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := prove(t, pair(c.vulnerable, c.fixed), Options{})
			assert.Equal(t, c.want, r.Status, r.Reason)
			if c.reason == "" {
				assert.Empty(t, r.Reason)
			}
			assert.Contains(t, r.Reason, c.reason)
		})
	}
}

func TestTrialsKeepNoToken(t *testing.T) {
	r := prove(t, pair("leaks", "refuses"), Options{})
	want := []Trial{
		{corpus.Vulnerable, Exploit, "../token", "got <token>", true}, {corpus.Vulnerable, Benign, "../token", "got <token>", true},
		{corpus.Fixed, Exploit, "../token", "refused", false}, {corpus.Fixed, Benign, "../token", "got <token>", true},
	}
	assert.Equal(t, want, r.Trials)
}

func TestTimeout(t *testing.T) {
	r := prove(t, pair("leaks", "hangs"), Options{Timeout: 300 * time.Millisecond})
	assert.Equal(t, Failed, r.Status)
	assert.Contains(t, r.Reason, "did not end in time")
}

// The self-test runs the pair with its sides exchanged: the mutant that every
// proof has to kill.
func TestSelfTest(t *testing.T) {
	r := prove(t, pair("leaks", "refuses"), Options{SelfTest: true})
	assert.Equal(t, Proved, r.Status)
	assert.Equal(t, Failed, r.Swapped)
	assert.Empty(t, prove(t, pair("leaks", "leaks"), Options{SelfTest: true}).Swapped, "what is not proved is not exchanged")
}

// A harness that breaks in the second round has not killed the mutant.
func TestSelfTestIsNotPassedByBreaking(t *testing.T) {
	unlucky := "third time unlucky in " + filepath.Join(t.TempDir(), "count")
	r := prove(t, pair("leaks "+unlucky, "refuses "+unlucky), Options{SelfTest: true})
	assert.Equal(t, Failed, r.Status)
	assert.Empty(t, r.Swapped)
	assert.Contains(t, r.Reason, "with the sides exchanged: vulnerable side, exploit: the harness failed")
}

// Code that a corpus brings sees no variable of this process.
func TestEnvironmentIsBare(t *testing.T) {
	t.Setenv("SOME_API_KEY", "very-secret-value")
	r := prove(t, pair("environment leaks", "environment broken"), Options{})
	require.NotEmpty(t, r.Trials)
	for _, trial := range r.Trials {
		assert.NotContains(t, trial.Effect, "very-secret-value")
	}
	assert.Contains(t, r.Trials[2].Effect, "YOUDEN_ROOM=")
}

func TestWhatIsNoProof(t *testing.T) {
	t.Run("an entry is missing", func(t *testing.T) {
		c := pair("leaks", "refuses")
		c.Proof = side("readme.txt", "")
		r := prove(t, c, Options{})
		assert.Equal(t, Failed, r.Status)
		assert.Contains(t, r.Reason, "has no entry")
	})
	t.Run("a file of the side is replaced", func(t *testing.T) {
		c := pair("refuses", "refuses")
		c.Proof = side("code.txt", "leaks", "prove.py", "")
		r := prove(t, c, Options{})
		assert.Equal(t, Failed, r.Status)
		assert.Contains(t, r.Reason, "code.txt")
	})
	t.Run("one side only", func(t *testing.T) {
		c := pair("leaks", "refuses")
		c.Fixed = nil
		assert.Equal(t, Failed, prove(t, c, Options{}).Status)
	})
	t.Run("cases without a proof are no results", func(t *testing.T) {
		c := pair("leaks", "refuses")
		c.Proof = nil
		results, err := Run(context.Background(), []*corpus.Case{c}, Options{look: standIn})
		require.NoError(t, err)
		assert.Empty(t, results)
	})
}

func TestMissingInterpreter(t *testing.T) {
	results, err := Run(context.Background(), []*corpus.Case{pair("leaks", "refuses")}, Options{
		look: func(name string) (string, error) { return "", exec.ErrNotFound },
	})
	require.NoError(t, err)
	assert.Equal(t, Skipped, results[0].Status)
	assert.Equal(t, "Python 3", results[0].Tool)
	assert.Contains(t, results[0].Reason, "no python3 on the path")
	assert.Empty(t, results[0].Trials)
}

// A harness that calls another program is skipped where that one is missing.
func TestMissingProgramOfAHarness(t *testing.T) {
	c := pair("leaks", "refuses")
	c.Proof = side("needs.txt", "python3\nnode sqlite\n", "prove.py", "")
	r := prove(t, c, Options{})
	assert.Equal(t, Skipped, r.Status)
	assert.Contains(t, r.Reason, "Node.js is not here (no node on the path)")
	c.Proof = side("needs.txt", "python3\n", "prove.py", "")
	assert.Equal(t, Proved, prove(t, c, Options{}).Status)
}

func TestOrderProgressAndLeftovers(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	var cases []*corpus.Case
	for i := range 6 {
		c := pair("leaks", "refuses")
		c.ID = fmt.Sprint(i)
		cases = append(cases, c)
	}
	told := map[string]bool{}
	results, err := Run(context.Background(), cases, Options{look: standIn, Concurrency: 3, Done: func(r Result) { told[r.Case] = true }})
	require.NoError(t, err)
	for i, r := range results {
		assert.Equal(t, fmt.Sprint(i), r.Case)
	}
	assert.Len(t, told, 6)
	left, err := os.ReadDir(os.Getenv("TMPDIR"))
	require.NoError(t, err)
	assert.Empty(t, left)
}

func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cases := []*corpus.Case{pair("leaks", "refuses"), pair("leaks", "refuses")}
	_, err := Run(ctx, cases, Options{look: standIn, Done: func(Result) { cancel() }})
	assert.ErrorIs(t, err, context.Canceled)
}

// A fault of the machine is no failed proof.
func TestNoRoom(t *testing.T) {
	t.Setenv("TMPDIR", filepath.Join(t.TempDir(), "absent"))
	r := prove(t, pair("leaks", "refuses"), Options{})
	assert.Equal(t, Skipped, r.Status)
	assert.Contains(t, r.Reason, "TMPDIR")
}

func TestProgramThatIsNoInterpreter(t *testing.T) {
	odd := filepath.Join(t.TempDir(), "python3")
	require.NoError(t, os.WriteFile(odd, []byte("#!/bin/sh\necho install me from the shop >&2\nexit 49\n"), 0o700)) //nolint:gosec // it is there to be run
	results, err := Run(context.Background(), []*corpus.Case{pair("leaks", "refuses")}, Options{look: func(string) (string, error) { return odd, nil }})
	require.NoError(t, err)
	assert.Equal(t, Skipped, results[0].Status)
	assert.Contains(t, results[0].Reason, "install me from the shop")
}

func TestRelativeTemporaryFolder(t *testing.T) {
	t.Chdir(t.TempDir())
	require.NoError(t, os.Mkdir("here", 0o700))
	t.Setenv("TMPDIR", "here")
	assert.Equal(t, Proved, prove(t, pair("leaks", "refuses"), Options{}).Status)
}

func FuzzLastReport(f *testing.F) {
	for _, seed := range []string{"", "x\n{\"payload\":\"a\",\"effect\":\"b\"}\n", "{}", "[]", "{\"payload\":1}", "\xff"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, output []byte) {
		r, err := lastReport(output)
		if err == nil && (r.Payload == nil || r.Effect == nil) {
			t.Fatal("a report without its parts was accepted")
		}
	})
}
