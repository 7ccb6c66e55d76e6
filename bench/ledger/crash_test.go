//go:build unix

package ledger

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The crash tests run this test binary again as a process that kills itself at a
// named point (spec/ledger.md section 3.4). A file counts what was "executed".
const (
	crashPoint = "YOUDEN_TEST_CRASH_AT"
	crashPath  = "YOUDEN_TEST_CRASH_LEDGER"
	crashCount = "YOUDEN_TEST_CRASH_COUNT"
)

func TestMain(m *testing.M) {
	if os.Getenv(crashPoint) != "" {
		if err := crash(os.Getenv(crashPoint), os.Getenv(crashPath), os.Getenv(crashCount)); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(3)
		}
		os.Exit(4) // it should have died
	}
	os.Exit(m.Run())
}

// crash answers one call, then dies within the second.
func crash(point, path, count string) error {
	calls := 0
	l, err := Open(context.Background(), path, Options{Indeterminate: Retry, hook: func(p string) {
		if calls == 1 && p == point {
			// Nobody runs after this, neither deferred calls nor exit handlers.
			if err := syscall.Kill(os.Getpid(), syscall.SIGKILL); err != nil {
				panic(err)
			}
			select {}
		}
	}})
	if err != nil {
		return err
	}
	send := func(_ context.Context, a Attempt) SendResult {
		if err := execute(count); err != nil {
			return refused()
		}
		return got(200, "answer", true)
	}
	for _, body := range []string{"first", "second"} {
		if _, err := l.Do(context.Background(), plan, call(body), send); err != nil {
			return err
		}
		calls++
	}
	return nil
}

// execute is what the endpoint does with a call.
func execute(count string) error {
	f, err := os.OpenFile(count, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	if _, err := f.WriteString("x"); err != nil {
		return err
	}
	return f.Close()
}

func executed(t *testing.T, count string) int {
	t.Helper()
	text, err := os.ReadFile(count)
	if !os.IsNotExist(err) {
		require.NoError(t, err)
	}
	return len(text)
}

func TestCrash(t *testing.T) {
	for _, c := range []struct {
		point    string
		executed int  // calls the endpoint saw before the crash
		observed bool // the second call's answer is durable
	}{
		{"dispatched", 1, false},
		{"sent", 2, false},
		{"observed", 2, true},
	} {
		t.Run(c.point, func(t *testing.T) {
			path := tempPath(t)
			count := path + ".count"
			cmd := exec.Command(os.Args[0], "-test.run=^$")
			cmd.Env = append(os.Environ(), crashPoint+"="+c.point, crashPath+"="+path, crashCount+"="+count)
			out, err := cmd.CombinedOutput()
			var exit *exec.ExitError
			require.ErrorAs(t, err, &exit, string(out))
			require.Equal(t, syscall.SIGKILL, exit.Sys().(syscall.WaitStatus).Signal(), string(out))
			require.Equal(t, c.executed, executed(t, count))

			l := open(t, path, Options{}) // the dead writer's lock is gone
			first, err := l.Do(t.Context(), plan, call("first"), neverSend(t))
			require.NoError(t, err)
			assert.True(t, first.Replayed)
			if c.observed {
				second, err := l.Do(t.Context(), plan, call("second"), neverSend(t))
				require.NoError(t, err)
				assert.Equal(t, "answer", string(second.Body))
				return
			}
			_, err = l.Do(t.Context(), plan, call("second"), neverSend(t))
			require.ErrorIs(t, err, ErrIndeterminate)
			kinds := kindsOf(records(t, l))
			require.Equal(t, "store open dispatch observation dispatch open indeterminate", kinds)
			require.NoError(t, l.Close())

			// Recovery is idempotent: a second one settles nothing again.
			l = open(t, path, Options{Indeterminate: Retry})
			require.Equal(t, kinds+" open", kindsOf(records(t, l)))
			s := script{results: []SendResult{got(200, "late", true)}}
			second, err := l.Do(t.Context(), plan, call("second"), s.send)
			require.NoError(t, err)
			assert.EqualValues(t, 2, second.Attempt.Seq)
			assert.Equal(t, 2, second.Sent)
			assert.Equal(t, 1, second.Orphans)
			require.NoError(t, l.Close())
			l = open(t, path, Options{})
			again, err := l.Do(t.Context(), plan, call("second"), neverSend(t))
			require.NoError(t, err)
			assert.Equal(t, 2, again.Sent)
			assert.Equal(t, 1, again.Orphans, "a replay says the same")
			spend, err := l.Spend(t.Context())
			require.NoError(t, err)
			assert.EqualValues(t, 3, spend.Calls, "never less than what was executed")
		})
	}
}

func kindsOf(records []Record) string {
	var kinds []string
	for _, r := range records {
		switch {
		case r.Store != nil:
			kinds = append(kinds, "store")
		case r.Open != nil:
			kinds = append(kinds, "open")
		case r.Dispatch != nil:
			kinds = append(kinds, "dispatch")
		case r.Observation != nil:
			kinds = append(kinds, "observation")
		case r.NotSent != nil:
			kinds = append(kinds, "not_sent")
		case r.Indeterminate != nil:
			kinds = append(kinds, "indeterminate")
		case r.Resolution != nil:
			kinds = append(kinds, "resolution")
		}
	}
	return strings.Join(kinds, " ")
}
