//go:build linux

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"runtime/pprof"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/youden-bench/youden/bench/ledger"
)

func init() {
	processes["youden-measured"] = measured
	processes["youden-bare"] = bareLoop
	processes["youden-stub"] = stub
}

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
	cost     captureCost
	text     bytes.Buffer
	captured time.Time
	before   time.Duration
	from     int
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

// bareCost is what a bare loop took.
type bareCost struct {
	Seconds, CPU float64 // as in captureCost
}

// bareLoop posts the requests that a ledger holds to URL/chat/completions with net/http
// alone, as fast as so many callers can:
// youden-bare URL LEDGER CALLS CONCURRENCY.
func bareLoop() {
	must := func(err error) {
		if err != nil {
			panic(err)
		}
	}
	calls, err := strconv.Atoi(os.Args[3])
	must(err)
	concurrency, err := strconv.Atoi(os.Args[4])
	must(err)
	bodies, err := requestsIn(os.Args[2])
	must(err)
	c := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: concurrency, MaxIdleConns: concurrency}}
	post := func(body []byte) error {
		resp, err := c.Post(os.Args[1]+"/chat/completions", "application/json", bytes.NewReader(body))
		if err != nil {
			return err
		}
		defer resp.Body.Close()
		var answer struct {
			Choices []struct{ Message struct{ Content string } }
		}
		if err := json.NewDecoder(resp.Body).Decode(&answer); err != nil || len(answer.Choices) != 1 {
			return fmt.Errorf("no answer: %w", err)
		}
		_, err = io.Copy(io.Discard, resp.Body)
		return err
	}
	var next atomic.Int64
	var before atomic.Int64
	start := time.Now()
	var callers sync.WaitGroup
	for range concurrency {
		callers.Go(func() {
			for n := int(next.Add(1)) - 1; n < calls; n = int(next.Add(1)) - 1 {
				if n == calls/5 {
					before.Store(int64(cpuTime()))
				}
				must(post(bodies[n%len(bodies)]))
			}
		})
	}
	callers.Wait()
	out, err := json.Marshal(bareCost{
		Seconds: time.Since(start).Seconds(),
		CPU:     (cpuTime() - time.Duration(before.Load())).Seconds() * 1000 / float64(calls-calls/5),
	})
	must(err)
	fmt.Println(string(out))
}

// requestsIn returns the bodies that a ledger says were sent.
func requestsIn(file string) (bodies [][]byte, err error) {
	ctx := context.Background()
	l, err := ledger.Open(ctx, file, ledger.Options{ReadOnly: true})
	if err != nil {
		return nil, err
	}
	for entry, err := range l.Attempts(ctx) {
		if err != nil {
			return nil, err
		}
		body, err := l.Body(entry.Dispatch.Request)
		if err != nil {
			return nil, err
		}
		bodies = append(bodies, body)
	}
	return bodies, l.Close()
}

// stubAnswer claims two defects, as a model does.
var stubAnswer = func() string {
	report, err := json.Marshal(`{"findings": [{"family": "injection", "cwe": "CWE-89", "file": "store/users.go", "line": 31, "end_line": 33, "severity": "high", "confidence": 0.9, "explanation": "the name of the request reaches the statement as it is, and nothing binds it", "suggestion": "bind the name as a parameter of the statement"}, {"family": "path", "cwe": "CWE-22", "file": "web/files.go", "line": 12, "end_line": 12, "severity": "medium", "confidence": 0.4, "explanation": "the path is joined before it is cleaned", "suggestion": "clean the path, then compare its root"}]}`)
	if err != nil {
		panic(err)
	}
	return `{"id":"x","object":"chat.completion","created":1,"model":"m-1","choices":[{"index":0,"message":{"role":"assistant","content":` + string(report) + `},"finish_reason":"stop"}],"usage":{"prompt_tokens":2000,"completion_tokens":180,"total_tokens":2180}}`
}()

// stub answers every call after a latency and counts connections, until its stdin
// ends: youden-stub LATENCY.
func stub() {
	latency, err := time.ParseDuration(os.Args[1])
	if err != nil {
		panic(err)
	}
	var open, most atomic.Int64
	mux := http.NewServeMux()
	mux.HandleFunc("/v1/chat/completions", func(w http.ResponseWriter, req *http.Request) {
		_, _ = io.Copy(io.Discard, req.Body)
		if latency > 0 {
			<-time.After(latency)
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, stubAnswer)
	})
	mux.HandleFunc("/connections", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, most.Swap(0)) })
	server := &http.Server{Handler: mux, ConnState: func(_ net.Conn, s http.ConnState) {
		switch s {
		case http.StateNew:
			n := open.Add(1)
			for old := most.Load(); n > old && !most.CompareAndSwap(old, n); old = most.Load() {
			}
		case http.StateClosed, http.StateHijacked:
			open.Add(-1)
		}
	}}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	fmt.Println("http://" + l.Addr().String())
	go func() { _ = server.Serve(l) }()
	_, _ = io.Copy(io.Discard, os.Stdin)
}
