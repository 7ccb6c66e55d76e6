package compare_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/youden-bench/youden/measurements/compare"
	"github.com/youden-bench/youden/measurements/report"
)

// BenchmarkLargeComparison compares captures of a million runs each as the
// command does, up to a table and a JSON document, and has DuckDB aggregate the
// same files beside it. Each comparison is a process of its own, so that its peak
// of memory is that of no other.
//
// The captures take minutes to write. With YOUDEN_LARGE set to a folder they stay
// there for the next time. With YOUDEN_LONG set, COMPARISONS.md is written anew;
// it says how.
func BenchmarkLargeComparison(b *testing.B) {
	var all []figures
	for _, s := range []size{{100_000, 5, 14}, {100_000, 5, 40}, {10_000, 50, 14}, {10_000, 50, 40}} {
		b.Run(fmt.Sprintf("%s/%d families", s, s.families), func(b *testing.B) {
			old, updated := s.captures(b)
			duck := findDuckDB(b)
			f := figures{size: s}
			for b.Loop() {
				f.load = append(f.load, loadAverage())
				m := compareApart(b, old, updated)
				if duck != nil {
					m.beside(b, duck.aggregate(b, old, updated, s.k))
				}
				f.all = append(f.all, m)
			}
			f.publish(b)
			all = append(all, f)
		})
	}
	if os.Getenv("YOUDEN_LONG") != "" && len(all) > 0 {
		require.NoError(b, os.WriteFile("../COMPARISONS.md", []byte(comparisonsPage(all)), 0o644))
	}
}

// captures writes both editions, each in a process of its own, for a writer takes
// much memory.
func (s size) captures(b *testing.B) (old, updated string) {
	b.Helper()
	folder := os.Getenv("YOUDEN_LARGE")
	if folder == "" {
		folder = b.TempDir()
	}
	for _, e := range []edition{{seed: 1}, {seed: 2, late: true}} {
		dir := filepath.Join(folder, fmt.Sprintf("%s-%d-%d", s, s.families, e.seed))
		old, updated = updated, dir
		if _, err := os.Stat(dir); err == nil {
			continue
		}
		again(b, "write", dir+".part", s.pairs, s.k, s.families, e.seed, e.late)
		require.NoError(b, os.Rename(dir+".part", dir))
	}
	return old, updated
}

// compareHere is the whole of a comparison.
func compareHere(old, updated string) (m measured, err error) {
	debug.SetMemoryLimit(compare.Memory)
	heap := watchHeap()
	var before, after *compare.Subject
	var c *compare.Comparison
	for _, step := range []struct {
		took *float64
		do   func() error
	}{
		{&m.Load, func() (err error) {
			before, after, err = compare.LoadBoth(old, updated, "", "")
			return err
		}},
		{&m.Compare, func() error {
			c = compare.Compare(before, after, compare.Options{})
			return nil
		}},
		{&m.Table, func() error { _, err := report.Comparison(c, report.Table, 120); return err }},
		{&m.JSON, func() error {
			text, err := report.Comparison(c, report.JSON, 0)
			m.DocumentMB = float64(len(text)) / 1e6
			return err
		}},
	} {
		start := time.Now()
		if err := step.do(); err != nil {
			return m, err
		}
		*step.took = time.Since(start).Seconds()
	}
	m.HeapMB, m.PeakMB = float64(heap())/1e6, peakMB()
	m.Verdict, m.Changed, m.Rows = string(c.Verdict), len(c.Cases), map[string]row{}
	for _, r := range c.Families {
		m.Rows[r.Slice+" "+r.Family] = row{r.N, *r.Old, *r.New}
	}
	return m, nil
}

// compareApart compares in a new process.
func compareApart(b *testing.B, old, updated string) (m measured) {
	b.Helper()
	out, cpu := again(b, "compare", old, updated)
	require.NoError(b, json.Unmarshal(out, &m))
	m.cpu = cpu
	return m
}

// The tests' own program, started again with this variable, does one thing and
// ends.
const chore = "YOUDEN_LARGE_CHORE"

func again(b *testing.B, what string, args ...any) (out []byte, cpu float64) {
	b.Helper()
	self, err := os.Executable()
	require.NoError(b, err)
	cmd := exec.Command(self)
	for _, a := range args {
		cmd.Args = append(cmd.Args, fmt.Sprint(a))
	}
	cmd.Env = append(os.Environ(), chore+"="+what)
	return output(b, cmd)
}

// output runs a program, and returns the seconds that it took of all cores.
func output(b *testing.B, cmd *exec.Cmd) (out []byte, cpu float64) {
	b.Helper()
	var said bytes.Buffer
	cmd.Stderr = &said
	out, err := cmd.Output()
	require.NoError(b, err, said.String())
	return out, (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds()
}

func TestMain(m *testing.M) {
	what := os.Getenv(chore)
	if what == "" {
		os.Exit(m.Run())
	}
	if err := doChore(what, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func doChore(what string, args []string) error {
	if what == "compare" {
		m, err := compareHere(args[0], args[1])
		if err != nil {
			return err
		}
		return json.NewEncoder(os.Stdout).Encode(m)
	}
	var s size
	var e edition
	if _, err := fmt.Sscan(strings.Join(args[1:], " "), &s.pairs, &s.k, &s.families, &e.seed, &e.late); err != nil {
		return err
	}
	return s.capture(args[0], e)
}
