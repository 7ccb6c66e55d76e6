//go:build unix

package endpoint_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/youden-bench/youden/bench/endpoint"
	"github.com/youden-bench/youden/bench/ledger"
	"github.com/youden-bench/youden/detector"
)

// The server and the client of a measurement are processes of their own, so that
// neither's time and memory count as the other's. Both are this test binary, told
// by the environment what to be.
const (
	beServer = "YOUDEN_TEST_SERVER" // the latency of its answers
	beClient = "YOUDEN_TEST_CLIENT" // a JSON load
)

func TestMain(m *testing.M) {
	if latency, ok := os.LookupEnv(beServer); ok {
		serveUntilStdinEnds(latency)
		return
	}
	if text, ok := os.LookupEnv(beClient); ok {
		runClient(text)
		return
	}
	os.Exit(m.Run())
}

// serveUntilStdinEnds answers every call after the latency and counts connections.
func serveUntilStdinEnds(text string) {
	latency, err := time.ParseDuration(text)
	check(err)
	var open, most atomic.Int64
	mux := http.NewServeMux()
	mux.HandleFunc("/v1/chat/completions", func(w http.ResponseWriter, req *http.Request) {
		_, _ = io.Copy(io.Discard, req.Body)
		if latency > 0 {
			<-time.After(latency)
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, benchAnswer)
	})
	mux.HandleFunc("/connections", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, most.Swap(0))
	})
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
	check(err)
	fmt.Println("http://" + l.Addr().String())
	go func() { _ = server.Serve(l) }()
	_, _ = io.Copy(io.Discard, os.Stdin)
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// load is what a client process is to do.
type load struct {
	URL         string
	Calls       int
	Concurrency int
	Spare       int // callers beyond the concurrency, whose answers are being written
	Bare        bool
	Dir         string
}

// cost is what it took.
type cost struct {
	Seconds  float64
	CPU      float64 // ms a call, of the client process
	PeakMB   float64 // resident
	HeapMB   float64 // live at the end
	Failures int64
}

func runClient(text string) {
	var l load
	check(json.Unmarshal([]byte(text), &l))
	call, end := bareCall(l), func() {}
	if !l.Bare {
		call, end = benchCall(l)
	}
	var failures, next atomic.Int64
	var before time.Duration
	start := time.Now()
	var callers sync.WaitGroup
	for range l.Concurrency + l.Spare {
		callers.Go(func() {
			for {
				k := int(next.Add(1)) - 1
				if k >= l.Calls {
					return
				}
				if k == l.Calls/5 { // what warms up is no cost of a call
					before = cpu()
				}
				if !call(k) {
					failures.Add(1)
				}
			}
		})
	}
	callers.Wait()
	c := cost{Seconds: time.Since(start).Seconds(), Failures: failures.Load()}
	c.CPU = (cpu() - before).Seconds() * 1000 / float64(l.Calls-l.Calls/5)
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	c.HeapMB, c.PeakMB = float64(m.HeapAlloc)/(1<<20), peakMB()
	end()
	out, err := json.Marshal(c)
	check(err)
	fmt.Println(string(out))
}

// benchCall calls as a capture does: a ledger on the disk, every answer durable.
func benchCall(l load) (call func(k int) bool, end func()) {
	led, err := ledger.Open(context.Background(), filepath.Join(l.Dir, "ledger.db"), ledger.Options{})
	check(err)
	o := options(l.URL, led)
	o.Model, o.Concurrency = "m-1", l.Concurrency
	c, err := endpoint.New(o)
	check(err)
	request := ask(benchPrompt)
	return func(k int) bool {
		a := c.Complete(endpoint.WithSample(context.Background(), k), request)
		return a.Status == detector.OK && !a.Replayed
	}, func() { check(led.Close()) }
}

// bareCall posts a body of the same size with net/http alone.
func bareCall(l load) func(k int) bool {
	body, err := json.Marshal(map[string]any{"model": "m-1", "max_tokens": 4096, "temperature": 0, "seed": 42, "messages": []map[string]string{{"role": "user", "content": benchPrompt}}})
	check(err)
	c := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: l.Concurrency, MaxIdleConns: l.Concurrency}}
	return func(int) bool {
		resp, err := c.Post(l.URL+"/v1/chat/completions", "application/json", bytes.NewReader(body))
		if err != nil {
			return false
		}
		defer resp.Body.Close()
		var answer struct {
			Choices []struct{ Message struct{ Content string } }
		}
		return json.NewDecoder(resp.Body).Decode(&answer) == nil && len(answer.Choices) == 1
	}
}

func cpu() time.Duration {
	var r syscall.Rusage
	check(syscall.Getrusage(syscall.RUSAGE_SELF, &r))
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}

// peakMB is the largest resident size so far, 0 where the system does not say.
func peakMB() float64 {
	data, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(data)) {
		if rest, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			kb, _ := strconv.ParseFloat(strings.Fields(rest)[0], 64)
			return kb / 1024
		}
	}
	return 0
}

// startServer starts the server's process and returns where it listens.
func startServer(t testing.TB, latency time.Duration) string {
	t.Helper()
	server := exec.Command(os.Args[0])
	server.Env = append(os.Environ(), beServer+"="+latency.String())
	server.Stderr = os.Stderr
	in, err := server.StdinPipe()
	require.NoError(t, err)
	out, err := server.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, server.Start())
	t.Cleanup(func() {
		assert.NoError(t, in.Close())
		assert.NoError(t, server.Wait())
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	require.NoError(t, err)
	return strings.TrimSpace(line)
}

// measure runs a client's process.
func measure(t testing.TB, l load) cost {
	t.Helper()
	l.Dir = t.TempDir()
	text, err := json.Marshal(l)
	require.NoError(t, err)
	client := exec.Command(os.Args[0])
	client.Env = append(os.Environ(), beClient+"="+string(text))
	client.Stderr = os.Stderr
	out, err := client.Output()
	require.NoError(t, err)
	var c cost
	require.NoError(t, json.Unmarshal(out, &c))
	require.Zero(t, c.Failures)
	return c
}

func mostConnections(t testing.TB, url string) int {
	t.Helper()
	resp, err := http.Get(url + "/connections")
	require.NoError(t, err)
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	n, err := strconv.Atoi(string(text))
	require.NoError(t, err)
	return n
}

// What does not depend on the load of the machine is asserted: time of the
// processor, connections and memory.
func TestWhatACallCosts(t *testing.T) {
	if testing.Short() || raceEnabled {
		t.Skip("a measurement: not with -short or -race")
	}
	url := startServer(t, 0)
	const calls = 2500
	// A machine that does much else charges a process for the caches it lost: the
	// bare loop shows by how much. The best of a few counts.
	var c cost
	within := false
	for i := 0; i < 4 && !within; i++ {
		bare := measure(t, load{URL: url, Calls: calls, Concurrency: 32, Bare: true})
		c = measure(t, load{URL: url, Calls: calls, Concurrency: 32})
		within = c.CPU <= 0.5*max(1, bare.CPU/0.1)
		t.Logf("%.3f ms of the processor a call (bare %.3f), %.1f MB at most, %.1f MB live, %.0f calls/s", c.CPU, bare.CPU, c.PeakMB, c.HeapMB, calls/c.Seconds)
	}
	assert.True(t, within, "more than 0.5 ms of the processor a call")
	assert.LessOrEqual(t, c.PeakMB, 64.0)
	mostConnections(t, url)
	measure(t, load{URL: url, Calls: 200, Concurrency: 32})
	assert.LessOrEqual(t, mostConnections(t, url), 32+4)
}

// BenchmarkSideBySide compares the client, with every call durable and recorded,
// with a bare loop over net/http: rounds of both against the same server, in turn,
// so that the load of the machine hits both.
func BenchmarkSideBySide(b *testing.B) {
	for _, c := range []struct {
		latency     time.Duration
		concurrency int
		calls       int
	}{{0, 32, 3000}, {50 * time.Millisecond, 32, 3000}} {
		b.Run(fmt.Sprintf("%s x %d", c.latency, c.concurrency), func(b *testing.B) {
			url := startServer(b, c.latency)
			var bare, ours cost
			rounds, connections := 0.0, 0
			for b.Loop() {
				rounds++
				for _, side := range []struct {
					sum   *cost
					bare  bool
					spare int
				}{{&bare, true, 0}, {&ours, false, c.concurrency / 2}} {
					mostConnections(b, url)
					got := measure(b, load{URL: url, Calls: c.calls, Concurrency: c.concurrency, Spare: side.spare, Bare: side.bare})
					side.sum.Seconds += got.Seconds
					side.sum.CPU += got.CPU
					side.sum.PeakMB = max(side.sum.PeakMB, got.PeakMB)
				}
				connections = max(connections, mostConnections(b, url))
			}
			calls := rounds * float64(c.calls)
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(calls/bare.Seconds, "bare-calls/s")
			b.ReportMetric(calls/ours.Seconds, "calls/s")
			b.ReportMetric(bare.Seconds/ours.Seconds, "ratio")
			b.ReportMetric(bare.CPU/rounds, "bare-cpu-ms/call")
			b.ReportMetric(ours.CPU/rounds, "cpu-ms/call")
			b.ReportMetric(ours.PeakMB, "peak-MB")
			b.ReportMetric(float64(connections), "connections")
		})
	}
}

// BenchmarkMemory measures the peak over captures of very different sizes.
func BenchmarkMemory(b *testing.B) {
	for _, calls := range []int{2_000, 20_000, 100_000} {
		b.Run(fmt.Sprint(calls), func(b *testing.B) {
			url := startServer(b, 0)
			var c cost
			for b.Loop() {
				c = measure(b, load{URL: url, Calls: calls, Concurrency: 32})
			}
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(c.PeakMB, "peak-MB")
			b.ReportMetric(c.HeapMB, "live-MB")
			b.ReportMetric(float64(calls)/c.Seconds, "calls/s")
			b.ReportMetric(c.CPU, "cpu-ms/call")
		})
	}
}
