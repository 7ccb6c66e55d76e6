//go:build linux

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"runtime/pprof"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// captureCost is what a whole capture took, told by its own process.
type captureCost struct {
	Code        int
	Seconds     float64 // from the first run to the last
	CPU         float64 // ms a run of the processor, after the first fifth of the runs
	CapturingMB float64 // most resident memory until the last run had ended
	ProjectedMB float64 // most resident memory after it: rows, scores, tables
	ProjectedS  float64 // and how long that took
	Stderr      string
}

// measured is the youden command in a process that measures itself. It acts as
// youden and prints its cost on stdout in place of the results.
func measured() {
	w := &milestones{}
	stop := profile(os.Getenv("YOUDEN_TEST_PROFILE"))
	var table bytes.Buffer
	w.cost.Code = run(append(os.Args[1:], "--progress", "json"), &table, w)
	stop()
	w.cost.ProjectedMB, w.cost.ProjectedS = peakMB(), time.Since(w.captured).Seconds()
	w.cost.Stderr = w.text.String()
	out, err := json.Marshal(w.cost)
	if err == nil {
		_, err = fmt.Printf("%s\n", out)
	}
	if err != nil {
		panic(err)
	}
}

// milestones reads the progress of a capture, which is written while no run goes on
// beside it that it has not counted, and measures at its first fifth and its end.
type milestones struct {
	cost            captureCost
	text            bytes.Buffer
	first, captured time.Time
	before          time.Duration
	from            int
}

func (m *milestones) Write(p []byte) (int, error) {
	for line := range bytes.Lines(p) {
		var progress struct {
			Done, Total int
			ElapsedMS   float64 `json:"elapsed_ms"`
		}
		if json.Unmarshal(line, &progress) != nil || progress.Total == 0 {
			m.text.Write(line)
			continue
		}
		if m.from == 0 && 5*progress.Done >= progress.Total { // what warms up is no cost of a call
			m.from, m.before = progress.Done, cpuTime()
		}
		if progress.Done == progress.Total {
			m.captured = time.Now()
			heapProfile(os.Getenv("YOUDEN_TEST_PROFILE"))
			m.cost.Seconds = progress.ElapsedMS / 1000
			m.cost.CPU = (cpuTime() - m.before).Seconds() * 1000 / float64(progress.Total-m.from)
			m.cost.CapturingMB = peakMB()
			// What is resident stays so, the most of it so far is forgotten.
			if err := os.WriteFile("/proc/self/clear_refs", []byte("5"), 0); err != nil {
				return 0, err
			}
		}
	}
	return len(p), nil
}

func cpuTime() time.Duration {
	var r syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
		panic(err)
	}
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}

// peakMB is the largest resident size so far, or since it was last forgotten.
func peakMB() float64 {
	data, err := os.ReadFile("/proc/self/status")
	if err != nil {
		panic(err)
	}
	for line := range strings.Lines(string(data)) {
		if rest, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			kb, err := strconv.ParseFloat(strings.Fields(rest)[0], 64)
			if err != nil {
				panic(err)
			}
			return kb / 1024
		}
	}
	panic("no VmHWM")
}

// profile writes a profile of the processor into a file, if there is a name for it.
func profile(name string) (stop func()) {
	if name == "" {
		return func() {}
	}
	f, err := os.Create(name)
	if err == nil {
		err = pprof.StartCPUProfile(f)
	}
	if err != nil {
		panic(err)
	}
	return func() {
		pprof.StopCPUProfile()
		_ = f.Close()
	}
}

// heapProfile writes beside it what is in the memory.
func heapProfile(name string) {
	if name == "" {
		return
	}
	f, err := os.Create(name + ".heap")
	if err == nil {
		err = pprof.Lookup("heap").WriteTo(f, 0)
	}
	if err != nil {
		panic(err)
	}
	_ = f.Close()
}

var _ io.Writer = (*milestones)(nil)
