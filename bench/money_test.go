package bench

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/youden-bench/youden/bench/budget"
	"github.com/youden-bench/youden/detector"
	"github.com/youden-bench/youden/measurements"
)

func to[T any](v T) *T { return &v }

func usd(input, output float64) *PriceConfig { return &PriceConfig{Input: &input, Output: &output} }

// billed is a server that answers each request with the same words and counts what
// it would have billed for them.
type billed struct {
	*httptest.Server
	mu     sync.Mutex
	calls  int
	micros int64
}

// bill starts such a server. say makes an answer of the length of a request.
func bill(t *testing.T, say func(bytes, limit int) (prompt, completion int)) *billed {
	t.Helper()
	b := &billed{}
	b.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		raw, err := io.ReadAll(r.Body)
		assert.NoError(t, err)
		var asked struct {
			MaxTokens int `json:"max_tokens"`
		}
		assert.NoError(t, json.Unmarshal(raw, &asked))
		prompt, completion := say(len(raw), asked.MaxTokens)
		b.mu.Lock()
		b.calls++
		b.micros += int64(prompt) + 2*int64(completion)
		b.mu.Unlock()
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"model":"m","choices":[{"index":0,"finish_reason":"stop","message":{"role":"assistant","content":"{\"findings\": []}"}}],"usage":{"prompt_tokens":%d,"completion_tokens":%d}}`, prompt, completion)
	}))
	t.Cleanup(b.Close)
	return b
}

func (b *billed) count() (calls int, micros int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.calls, b.micros
}

func half(bytes, limit int) (int, int) { return bytes / 2, limit / 2 }

// request asks for 24 runs at a server whose tokens cost 1 and 2 micro-USD.
func request(baseURL string, caps budget.Caps) Request {
	cfg := EndpointConfig{BaseURL: baseURL, Model: "m", Price: usd(1, 2), MaxTokens: 512}.withDefaults()
	return Request{
		Detector: "oneshot", EndpointName: "x", Endpoint: cfg, Runs: 3, Seed: 1, Split: "train", Limit: 4,
		Policy: measurements.Class, View: measurements.Charge, Concurrency: 16, MaxErrorRate: 1, Caps: caps,
	}
}

func prepare(t *testing.T, req Request) *Job {
	t.Helper()
	job, err := Prepare(req, detector.Core(), t.TempDir(), "test")
	require.NoError(t, err)
	return job
}

func begin(t *testing.T, req Request, dir string) Outcome {
	t.Helper()
	out, err := prepare(t, req).Start(t.Context(), dir, measurements.Provenance{}, nil, Watch{Warn: func(string) {}})
	require.NoError(t, err)
	return out
}

// resume goes on with a capture as it was asked for, but for change.
func resume(t *testing.T, dir string, change func(*Request)) (Outcome, error) {
	t.Helper()
	req, err := RequestOf(dir)
	require.NoError(t, err)
	change(&req)
	return prepare(t, req).Resume(t.Context(), dir, nil, Watch{Warn: func(string) {}})
}

func TestTheEstimateIsWhatIsReserved(t *testing.T) {
	s := bill(t, func(bytes, limit int) (int, int) { return bytes + 1024, limit })
	req := request(s.URL+"/v1", budget.Caps{Calls: to(int64(100))})
	job := prepare(t, req)
	e, err := job.Estimate(t.Context())
	require.NoError(t, err)
	calls, _ := s.count()
	require.Zero(t, calls, "an estimate sends nothing")
	assert.Equal(t, int64(24), e.Calls)
	assert.Equal(t, int64(24*512), e.Limit)
	assert.Equal(t, e.PromptTokens+2*e.Limit/4, *e.CostExpected)
	out := begin(t, req, filepath.Join(t.TempDir(), "c"))
	assert.Equal(t, Passed, out.Verdict(1))
	calls, micros := s.count()
	assert.Equal(t, 24, calls)
	assert.LessOrEqual(t, micros, *e.CostWorst, "answers at their worst cost no more")
	assert.InDelta(t, *e.CostWorst, micros, 24, "but for the digits of the seeds")
	assert.InDelta(t, e.Worst.Tokens, *out.Summary.Totals.Tokens, 24)
	assert.Less(t, e.PromptTokens, e.Worst.Tokens-e.Limit)
}

// A capture keeps its caps at any concurrency and over any number of processes, and
// what it did not send is there to be sent.
func TestACaptureKeepsItsCaps(t *testing.T) {
	for _, concurrency := range []int{1, 16} {
		t.Run(fmt.Sprint(concurrency), func(t *testing.T) {
			s := bill(t, half)
			dir := filepath.Join(t.TempDir(), "c")
			req := request(s.URL+"/v1", budget.Caps{Calls: to(int64(10))})
			req.Concurrency = concurrency
			out := begin(t, req, dir)
			calls, micros := s.count()
			assert.Equal(t, 10, calls)
			assert.Equal(t, Unaffordable, out.Verdict(1))
			assert.Equal(t, Stop{Status: detector.Cancelled, Detail: "the budget of 10 calls is spent", Budget: true}, out.Stop)
			assert.Equal(t, measurements.Partial, out.Summary.Status)
			unsent := 0
			for _, r := range rowsIn(t, out.Dir) {
				if r.Status == string(detector.Cancelled) {
					unsent++
					assert.Equal(t, "not sent: the budget of 10 calls is spent", *r.Detail)
					assert.Zero(t, r.Attempts)
					assert.Zero(t, *r.CostUSDMicros)
				}
			}
			assert.Equal(t, 14, unsent)
			assert.Equal(t, micros, *out.Summary.Totals.CostUSDMicros, "the rows say what the server billed")
			record := out.Summary.Budget
			require.NotNil(t, record)
			assert.Equal(t, int64(10), record.Calls)
			assert.Equal(t, micros, *record.CostUSDMicros)
			assert.Equal(t, "the budget of 10 calls is spent", record.Stopped)

			out, err := resume(t, dir, func(*Request) {})
			require.NoError(t, err)
			assert.Equal(t, Unaffordable, out.Verdict(1))
			calls, _ = s.count()
			assert.Equal(t, 10, calls, "what was spent before counts")
			out, err = resume(t, dir, func(r *Request) { r.Caps.Calls = to(int64(16)) })
			require.NoError(t, err)
			assert.Equal(t, Unaffordable, out.Verdict(1))
			calls, _ = s.count()
			assert.Equal(t, 16, calls)
			recorded, err := RequestOf(dir)
			require.NoError(t, err)
			assert.Equal(t, int64(16), *recorded.Caps.Calls, "the next resume knows of it")
			_, most := s.count()
			out, err = resume(t, dir, func(r *Request) { r.Caps = budget.Caps{Micros: to(most + 40_000)} })
			require.NoError(t, err)
			calls, micros = s.count()
			assert.Greater(t, calls, 16)
			assert.LessOrEqual(t, micros, most+40_000)
			assert.Equal(t, Unaffordable, out.Verdict(1))
			out, err = resume(t, dir, func(r *Request) { r.Caps = budget.Caps{} })
			require.NoError(t, err)
			assert.Equal(t, Passed, out.Verdict(1))
			assert.Nil(t, out.Summary.Budget)
			calls, _ = s.count()
			assert.Equal(t, 24, calls, "each run was paid once")
		})
	}
}

// A further attempt spends from the budget as any other. Where it is refused, its run is
// one that the budget stopped, and no score.
func TestARetryThatIsRefusedStopsTheCapture(t *testing.T) {
	var sent atomic.Int64
	var tired atomic.Bool
	s := bill(t, half)
	answer := s.Config.Handler
	s.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if sent.Add(1) == 10 && !tired.Swap(true) {
			w.WriteHeader(http.StatusTooManyRequests)
			return
		}
		answer.ServeHTTP(w, r)
	})
	dir := filepath.Join(t.TempDir(), "c")
	out := begin(t, request(s.URL+"/v1", budget.Caps{Calls: to(int64(10))}), dir)
	assert.Equal(t, int64(10), sent.Load())
	assert.Equal(t, Unaffordable, out.Verdict(0))
	assert.Equal(t, Stop{Status: detector.Cancelled, Detail: "the budget of 10 calls is spent", Budget: true}, out.Stop)
	assert.Equal(t, int64(9), out.Summary.Totals.RunsOK)
	assert.Zero(t, out.Summary.Totals.Errors)
	tried := 0
	for _, r := range rowsIn(t, out.Dir) {
		if r.Status != string(detector.Cancelled) {
			continue
		}
		assert.Nil(t, r.Hit)
		assert.Nil(t, r.SilentClass)
		if r.Attempts > 0 {
			tried++
			assert.Contains(t, *r.Detail, "not sent: the budget of 10 calls is spent (the last attempt: HTTP 429")
		} else {
			assert.Equal(t, "not sent: the budget of 10 calls is spent", *r.Detail)
		}
	}
	assert.Equal(t, 1, tried)
	assert.Equal(t, int64(10), out.Summary.Budget.Calls)

	out, err := resume(t, dir, func(r *Request) { r.Caps.Calls = to(int64(25)) })
	require.NoError(t, err)
	assert.Equal(t, Passed, out.Verdict(0))
	assert.Equal(t, int64(25), sent.Load(), "24 answers and the one refusal")
	assert.Equal(t, int64(25), out.Summary.Totals.Attempts)
	assert.Equal(t, int64(24), out.Summary.Totals.Calls)
}

func TestTheEndOfTheTimeIsNoError(t *testing.T) {
	over := &budget.RefusedError{Flag: "--max-time", Cap: "1m0s"}
	for _, concurrency := range []int{2, 8, 24} { // 24: nothing is left to dispatch when it ends
		t.Run(fmt.Sprint(concurrency), func(t *testing.T) {
			sent := int64(min(concurrency, 8)) // more only once the endpoint has answered
			ctx, end := context.WithCancelCause(t.Context())
			var entered atomic.Int64
			s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
				_, _ = io.Copy(io.Discard, r.Body) // the server sees who leaves only then
				if entered.Add(1) == sent {
					end(over)
				}
				<-r.Context().Done()
			}))
			defer s.Close()
			req := request(s.URL+"/v1", budget.Caps{Calls: to(int64(100))})
			req.Concurrency = concurrency
			out, err := prepare(t, req).Start(ctx, filepath.Join(t.TempDir(), "c"), measurements.Provenance{}, nil, Watch{Warn: func(string) {}})
			require.NoError(t, err)
			assert.Equal(t, Stop{Status: detector.Cancelled, Detail: "the budget of 1m0s is spent", Budget: true}, out.Stop)
			assert.Equal(t, measurements.Unrun, out.Summary.Status)
			for _, r := range rowsIn(t, out.Dir) {
				assert.Equal(t, string(detector.Cancelled), r.Status, "whoever was cut off was not too slow")
			}
			assert.Zero(t, out.Summary.Totals.Errors)
			assert.Equal(t, sent, out.Summary.Budget.UnknownCalls)
			assert.Positive(t, *out.Summary.Budget.UnknownCostUSDMicros)
		})
	}
}

func TestWithoutTimeNothingIsSent(t *testing.T) {
	s := bill(t, half)
	out := begin(t, request(s.URL+"/v1", budget.Caps{Time: to(time.Nanosecond)}), filepath.Join(t.TempDir(), "c"))
	assert.Equal(t, Stop{Status: detector.Cancelled, Detail: "the budget of 1ns is spent", Budget: true}, out.Stop)
	assert.Equal(t, Incomplete, out.Verdict(1), "no run is ok")
	calls, _ := s.count()
	assert.Zero(t, calls)
}

// Ctrl-C lets the call under way end, and sends nothing more: not what waits for the
// budget either.
func TestStopSendsAwayWhoWaits(t *testing.T) {
	entered, release, stop := make(chan struct{}), make(chan struct{}), make(chan struct{})
	s := bill(t, func(bytes, limit int) (int, int) {
		close(entered) // a second call would panic
		<-release
		return bytes / 4, 1
	})
	req := request(s.URL+"/v1", budget.Caps{Calls: to(int64(24)), Micros: to(int64(20_000))}) // one worst case, or five answers
	job := prepare(t, req)
	go func() {
		<-entered
		for job.budget.State().Waiting < 7 { // the others wait for their turn at the endpoint
			runtime.Gosched()
		}
		close(stop)
		for job.budget.State().Waiting > 0 {
			runtime.Gosched()
		}
		close(release)
	}()
	out, err := job.Start(t.Context(), filepath.Join(t.TempDir(), "c"), measurements.Provenance{}, stop, Watch{Warn: func(string) {}})
	require.NoError(t, err)
	assert.Equal(t, interrupted, out.Stop)
	assert.Equal(t, Interrupted, out.Verdict(1))
	calls, _ := s.count()
	assert.Equal(t, 1, calls)
	assert.Equal(t, int64(1), out.Summary.Totals.RunsOK)
}

// An endpoint that bills more than its limit allows is told of at once.
func TestOverrunsAreNotSilent(t *testing.T) {
	s := bill(t, func(bytes, limit int) (int, int) { return bytes / 4, 10 * limit })
	var notes []string
	req := request(s.URL+"/v1", budget.Caps{Micros: to(int64(40_000))})
	req.Concurrency = 2
	out, err := prepare(t, req).Start(t.Context(), filepath.Join(t.TempDir(), "c"), measurements.Provenance{}, nil,
		Watch{Warn: func(string) {}, Note: func(text string) { notes = append(notes, text) }})
	require.NoError(t, err)
	assert.Equal(t, Unaffordable, out.Verdict(1))
	require.NotEmpty(t, notes)
	assert.Contains(t, notes[0], "does the endpoint keep its token limit?")
	assert.Equal(t, out.Summary.Budget.Overruns, len(notes))
	_, micros := s.count()
	assert.Equal(t, micros, *out.Summary.Budget.CostUSDMicros)
}

// Nobody sends anywhere else without a word on what it may come to.
func TestWhatMayNotBeSent(t *testing.T) {
	elsewhere := func(r *Request) { r.Endpoint.BaseURL = "https://api.example.com/v1" }
	for name, c := range map[string]struct {
		change func(*Request)
		says   string // "" = it may be sent
	}{
		"here":          {func(*Request) {}, ""},
		"elsewhere":     {elsewhere, "is not on this machine"},
		"in the house":  {func(r *Request) { r.Endpoint.BaseURL = "http://10.0.0.7/v1" }, "is not on this machine"},
		"embedded":      {func(r *Request) { r.Endpoint.BaseURL = simulatorURL }, ""},
		"with leave":    {func(r *Request) { elsewhere(r); r.Uncapped = true }, ""},
		"calls capped":  {func(r *Request) { elsewhere(r); r.Caps.Calls = to(int64(1)) }, ""},
		"time capped":   {func(r *Request) { elsewhere(r); r.Caps.Time = to(time.Hour) }, ""},
		"no call":       {func(r *Request) { r.Caps.Calls = to(int64(0)) }, "the budget of 0 calls does not hold a single call"},
		"too few cents": {func(r *Request) { r.Caps.Micros = to(int64(1000)) }, "does not hold a single call: the smallest may take"},
		"no tokens":     {func(r *Request) { r.Caps.Tokens = to(int64(600)) }, "the budget of 600 tokens"},
		"a control":     {func(r *Request) { elsewhere(r); r.Detector = "control:always" }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			req := request("http://127.0.0.1:9/v1", budget.Caps{})
			c.change(&req)
			err := prepare(t, req).afford(t.Context())
			if c.says == "" {
				require.NoError(t, err)
				return
			}
			var refused *BudgetError
			require.ErrorAs(t, err, &refused)
			assert.Contains(t, err.Error(), c.says)
			assert.True(t, strings.HasSuffix(err.Error(), "nothing was sent"))
		})
	}
	req := request("https://api.example.com/v1", budget.Caps{})
	err := prepare(t, req).afford(t.Context())
	require.ErrorContains(t, err, "at least 24 calls, about")
	require.ErrorContains(t, err, "at worst")
	req.Endpoint.Price = nil
	require.ErrorContains(t, prepare(t, req).afford(t.Context()), "the model has no price")
}

// A holdout stays sealed while nobody has said what its capture may come to.
func TestNoCapsNoOpening(t *testing.T) {
	folder := t.TempDir()
	req := request("https://api.example.com/v1", budget.Caps{})
	req.Split = "all"
	_, err := Prepare(req, detector.Core(), folder, "test")
	var refused *BudgetError
	require.ErrorAs(t, err, &refused)
	assert.NoFileExists(t, filepath.Join(folder, openingsFile))
}

func TestACapOnMoneyNeedsAPrice(t *testing.T) {
	req := request("http://127.0.0.1:9/v1", budget.Caps{Micros: to(int64(1_000_000))})
	req.Endpoint.Price = nil
	_, err := Prepare(req, detector.Core(), t.TempDir(), "test")
	require.ErrorContains(t, err, `--max-cost needs a price, and endpoint x has none for model m: add price to [endpoint.x] of youden.toml, or [endpoint.x.prices."m"]`)
	req.Detector = "control:never"
	_, err = Prepare(req, detector.Core(), t.TempDir(), "test")
	require.NoError(t, err, "who calls nobody spends nothing")
}

func TestDescribeSaysWhatAPlanMayComeTo(t *testing.T) {
	for name, c := range map[string]struct {
		caps budget.Caps
		want string
	}{
		"none":     {budget.Caps{}, "caps: none\n"},
		"enough":   {budget.Caps{Calls: to(int64(24))}, "caps: 24 calls; enough for the worst case\n"},
		"expected": {budget.Caps{Tokens: to(int64(100_000))}, "caps: 100000 tokens; enough for what is expected, and not for the worst case\n"},
		"too few":  {budget.Caps{Micros: to(int64(10_000)), Time: to(time.Minute)}, "caps: $0.01, 1m0s; too little for the plan"},
	} {
		var out strings.Builder
		require.NoError(t, prepare(t, request("http://127.0.0.1:9/v1", c.caps)).Describe(context.Background(), &out))
		assert.Contains(t, out.String(), c.want, name)
		assert.Regexp(t, `estimate: at least 24 calls, about \d+ prompt tokens \(at most \d+\), at most 12288 completion tokens
cost: about \$0\.\d+ expected, with answers of a quarter of the token limit; \$0\.\d+ at worst
`, out.String(), name)
	}
}

// rowsIn returns the run rows of a capture.
func rowsIn(t *testing.T, dir string) []measurements.RunRow {
	t.Helper()
	c, err := measurements.Open(dir)
	require.NoError(t, err)
	rows, err := c.LoadRuns()
	require.NoError(t, err)
	require.NotEmpty(t, rows)
	return rows
}
