package proof

import (
	"context"
	"encoding/json"
	"errors"
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
	if len(os.Args) == 3 && os.Args[1] == "prove.py" {
		os.Exit(harness(Mode(os.Args[2])))
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
	if word("loud") {
		payload = string(token)
	}
	if mode == Exploit && word("leaks") || mode == Benign && !word("broken") {
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
		assert.Contains(t, r.Reason, "code.txt of the proof would replace a file")
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

func TestNoRoom(t *testing.T) {
	t.Setenv("TMPDIR", filepath.Join(t.TempDir(), "absent"))
	_, err := Run(context.Background(), []*corpus.Case{pair("leaks", "refuses")}, Options{look: standIn})
	assert.ErrorContains(t, err, "TMPDIR")
	assert.True(t, errors.Is(err, os.ErrNotExist))
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
