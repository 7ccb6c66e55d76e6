package endpoint_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/youden-bench/youden/bench/endpoint"
	"github.com/youden-bench/youden/bench/ledger"
	"github.com/youden-bench/youden/detector"
)

// inProcess answers requests inside the process, so that time can be the bubble's.
func inProcess(l *ledger.Ledger, answer func(*http.Request) (*http.Response, error)) endpoint.Options {
	o := options("http://in.process", l)
	o.Canonical, o.Base, o.Retry = "sim://default/v1", roundTripper(answer), endpoint.Retry{}
	return o
}

func respond(status int, body string, header ...string) *http.Response {
	h := http.Header{"Content-Type": {"application/json"}}
	for i := 0; i+1 < len(header); i += 2 {
		h.Set(header[i], header[i+1])
	}
	return &http.Response{StatusCode: status, Header: h, Body: io.NopCloser(strings.NewReader(body))}
}

// 32 callers teach a client once: only those that were under way before the first
// lesson are refused.
func TestParametersAreLearnedOnce(t *testing.T) {
	var refused, answered atomic.Int64
	s, _ := serve(t, func(w http.ResponseWriter, req *http.Request) {
		var sent map[string]any
		_ = json.NewDecoder(req.Body).Decode(&sent)
		_, tokens := sent["max_tokens"]
		_, temperature := sent["temperature"]
		switch {
		case tokens:
			refused.Add(1)
			reply(400, "application/json", noMaxTokens.body)(w, req)
		case temperature:
			refused.Add(1)
			reply(400, "application/json", noTemperature.body)(w, req)
		default:
			answered.Add(1)
			reply(200, "application/json", plain)(w, req)
		}
	})
	o := options(s.URL, memoryLedger(t))
	c := client(t, o)
	var warned []string
	c.Tell(func(words string) {
		if strings.Contains(words, "refuses") {
			warned = append(warned, words)
		}
	})
	var callers sync.WaitGroup
	for k := range 32 {
		callers.Go(func() {
			for i := range 5 {
				a := complete(t, c, k, ask(fmt.Sprint("q", i)))
				assert.Equal(t, detector.OK, a.Status, a.Detail)
			}
		})
	}
	callers.Wait()
	assert.EqualValues(t, 160, answered.Load())
	assert.LessOrEqual(t, refused.Load(), int64(16), "the calls that were under way, not all 160")
	assert.Len(t, warned, 2, "each is told once")
	assert.Len(t, c.Traffic(nil).Learned, 2)

	// Another process finds every answer, in whatever form it was asked for.
	again := client(t, o)
	for k := range 32 {
		for i := range 5 {
			assert.True(t, complete(t, again, k, ask(fmt.Sprint("q", i))).Replayed)
		}
	}
	assert.EqualValues(t, 160, answered.Load())
	assert.Equal(t, c.Traffic(nil).EffectiveParameters, again.Traffic(nil).EffectiveParameters)
}

// An endpoint that takes a parameter now and then has given answers in two forms.
// None of them is paid again, whatever was learned in between.
func TestAnswersInAnOlderFormAreReplayed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ledger.db")
	l := openLedger(t, path, ledger.Options{})
	picky := false
	s, r := serve(t, func(w http.ResponseWriter, req *http.Request) {
		raw, _ := io.ReadAll(req.Body)
		if picky && strings.Contains(string(raw), `"seed"`) {
			reply(400, "application/json", apiError("", "", "property 'seed' is unsupported"))(w, req)
			return
		}
		reply(200, "application/json", plain)(w, req)
	})
	o := options(s.URL, l)
	c := client(t, o)
	before := complete(t, c, 0, ask("q"))
	picky = true
	after := complete(t, c, 1, ask("q"))
	third := complete(t, c, 2, ask("q"))
	require.Equal(t, detector.OK, after.Status, after.Detail)
	assert.Equal(t, []int{1, 2, 1}, []int{before.Attempts, after.Attempts, third.Attempts})
	require.Equal(t, 4, r.count())
	require.NoError(t, l.Close())

	o.Ledger = openLedger(t, path, ledger.Options{ReadOnly: true})
	c = client(t, o)
	for k, first := range []detector.Answer{before, after, third} {
		for range 2 {
			again := complete(t, c, k, ask("q"))
			assert.True(t, again.Replayed, again.Detail)
			again.Replayed = false
			assert.Equal(t, first, again)
		}
	}
	assert.Equal(t, 4, r.count())

	// A lesson belongs to the model, the plan and the address that taught it.
	for _, change := range []func(*endpoint.Options){
		func(o *endpoint.Options) { o.Model = "other" }, func(o *endpoint.Options) { o.Scope = "plan-2" }, func(o *endpoint.Options) { o.BaseURL = s.URL + "/v2" },
		func(o *endpoint.Options) { o.KeepParameters = true },
	} {
		changed := o
		change(&changed)
		assert.Empty(t, client(t, changed).Traffic(nil).Learned)
	}
}

// A call of unknown fate is sent again only where the ledger may.
func TestLostConnectionsAreTriedAgainByPolicy(t *testing.T) {
	for policy, want := range map[ledger.Policy]detector.Status{ledger.Stop: detector.Transient, ledger.Retry: detector.OK} {
		l, err := ledger.OpenStore(t.Context(), ledger.NewMemory(), ledger.Options{Indeterminate: policy})
		require.NoError(t, err)
		n := 0
		s, r := serve(t, func(w http.ResponseWriter, req *http.Request) {
			if n++; n <= 3 {
				hijack(t, "", true)(w, req)
				return
			}
			reply(200, "application/json", plain)(w, req)
		})
		o := options(s.URL, l)
		now := &virtual{}
		o.Retry, o.Clock, o.Wait = endpoint.Retry{}, now.clock, now.wait
		a := complete(t, client(t, o), 0, ask("q"))
		assert.Equal(t, want, a.Status, a.Detail)
		if policy == ledger.Retry {
			assert.Equal(t, 4, a.Attempts)
			spend, err := l.Spend(t.Context())
			require.NoError(t, err)
			assert.EqualValues(t, 3, spend.Indeterminate, "each may have been paid")
		}
		assert.Equal(t, a.Attempts, r.count())
		require.NoError(t, l.Close())
	}
}

// What timed out may have been billed, and is sent again once.
func TestLateAnswersAreTriedAgainOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, err := ledger.OpenStore(t.Context(), ledger.NewMemory(), ledger.Options{Indeterminate: ledger.Retry})
		require.NoError(t, err)
		o := inProcess(l, func(req *http.Request) (*http.Response, error) {
			<-req.Context().Done()
			return nil, req.Context().Err()
		})
		o.Timeouts = endpoint.Timeouts{FirstByte: time.Minute, Total: time.Hour}
		start := time.Now()
		a := complete(t, client(t, o), 0, ask("q"))
		assert.Equal(t, detector.Timeout, a.Status, a.Detail)
		assert.Contains(t, a.Detail, "waited 1m0s for the first byte of the answer")
		assert.Equal(t, 2, a.Attempts)
		assert.Less(t, time.Since(start), 2*time.Minute+time.Second)
		require.NoError(t, l.Close())
	})
}

func TestAQuotaEndsAllCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := 0
		o := inProcess(memoryLedger(t), func(*http.Request) (*http.Response, error) {
			n++
			if n == 1 {
				return respond(429, limitError("x"), "Retry-After", "60"), nil
			}
			return respond(429, limitError("x"), "Retry-After", "7200"), nil
		})
		o.Concurrency = 1
		c := client(t, o)
		answers := make(chan detector.Answer, 3)
		for k := range 3 { // the first waits for its retry, the others for their turn
			go func() { answers <- complete(t, c, k, ask("q")) }()
			synctest.Wait()
		}
		attempts := 0
		for range 3 {
			a := <-answers
			assert.Equal(t, detector.RateLimited, a.Status)
			assert.Equal(t, endpoint.CauseQuota, endpoint.CauseOf(a), a.Detail)
			assert.Contains(t, a.Detail, "it can go on after 2000-01-01T02:01:0")
			attempts += a.Attempts
		}
		assert.Equal(t, 2, n, "nobody asks after that")
		assert.Equal(t, 2, attempts)
	})
}

func TestTheOperatorEndsWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := 0
		o := inProcess(memoryLedger(t), func(*http.Request) (*http.Response, error) {
			n++
			return respond(429, limitError("x"), "Retry-After", "60"), nil
		})
		c := client(t, o)
		ctx, cancel := context.WithCancel(t.Context())
		answers := make(chan detector.Answer, 2)
		go func() { answers <- c.Complete(endpoint.WithSample(ctx, 0), ask("q")) }()
		synctest.Wait()
		cancel()
		a := <-answers
		assert.Equal(t, detector.Cancelled, a.Status, a.Detail)
		assert.Contains(t, a.Detail, "HTTP 429", "the last attempt is not forgotten")
		assert.Equal(t, 1, a.Attempts)

		go func() { answers <- complete(t, c, 1, ask("q")) }()
		synctest.Wait()
		c.Drain()
		a = <-answers
		assert.Equal(t, detector.Cancelled, a.Status, a.Detail)
		a = complete(t, c, 2, ask("q"))
		assert.Equal(t, detector.Cancelled, a.Status, a.Detail)
		assert.Equal(t, 0, a.Attempts)
		assert.Equal(t, 1, n)
	})
}

func TestADeadlineIsNotSleptThrough(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := inProcess(memoryLedger(t), func(*http.Request) (*http.Response, error) {
			return respond(429, limitError("x"), "Retry-After", "60"), nil
		})
		ctx, cancel := context.WithTimeout(endpoint.WithSample(t.Context(), 0), 10*time.Second)
		defer cancel()
		start := time.Now()
		a := client(t, o).Complete(ctx, ask("q"))
		assert.Equal(t, detector.RateLimited, a.Status, a.Detail)
		assert.Less(t, time.Since(start), time.Second, "the ledger alone takes its time")
	})
}

// When an endpoint is gone, the calls that are left do not each wait out their own
// retries; when it is back, all is as before.
func TestAnEndpointThatIsDown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		up := true
		o := inProcess(memoryLedger(t), func(*http.Request) (*http.Response, error) {
			if up {
				return respond(200, plain), nil
			}
			return respond(502, ""), nil
		})
		o.Concurrency = 2
		c := client(t, o)
		var attempts []int
		ask := func(k int) {
			attempts = append(attempts, complete(t, c, k, ask("q")).Attempts)
		}
		ask(0)
		up = false
		for k := range 4 {
			ask(k + 1)
		}
		up = true
		ask(5)
		up = false
		ask(6)
		assert.Equal(t, []int{1, 11, 11, 1, 1, 1, 11}, attempts)
	})
}

func TestConnectionsAreBounded(t *testing.T) {
	var mu sync.Mutex
	addresses := map[string]bool{}
	s, _ := serve(t, func(w http.ResponseWriter, req *http.Request) {
		mu.Lock()
		addresses[req.RemoteAddr] = true
		mu.Unlock()
		reply(200, "application/json", plain)(w, req)
	})
	o := options(s.URL, memoryLedger(t))
	o.Concurrency = 8
	c := client(t, o)
	var callers sync.WaitGroup
	for k := range 64 {
		callers.Go(func() {
			for i := range 10 {
				complete(t, c, k, ask(fmt.Sprint(i)))
			}
		})
	}
	callers.Wait()
	assert.LessOrEqual(t, len(addresses), 8+4)
}

func TestMixedBackendsAreTold(t *testing.T) {
	n := 0
	s, _ := serve(t, func(w http.ResponseWriter, req *http.Request) {
		n++
		reply(200, "application/json", fmt.Sprintf(`{"model":"o3-mini","provider":"P%d","system_fingerprint":"fp_%d","choices":[{"message":{"content":"x"},"finish_reason":"stop"}]}`, n/3, n%2))(w, req)
	})
	c := client(t, options(s.URL, memoryLedger(t)))
	var told []string
	c.Tell(func(words string) { told = append(told, words) })
	for k := range 6 {
		complete(t, c, k, ask("q"))
	}
	require.Len(t, told, 1)
	assert.Contains(t, told[0], "2 providers")
	served := c.Traffic(nil).Served
	sum := 0
	for _, v := range served {
		sum += v.Answers
	}
	assert.Equal(t, 6, sum)
	assert.Equal(t, "P0", served[0].Provider)
}

func TestTheSameCountForDifferentPromptsIsTold(t *testing.T) {
	s, _ := serve(t, reply(200, "application/json", plain)) // 2,048 prompt tokens
	c := client(t, options(s.URL, memoryLedger(t)))
	var told []string
	c.Tell(func(words string) {
		if strings.Contains(words, "different length") {
			told = append(told, words)
		}
	})
	complete(t, c, 0, ask(strings.Repeat("word ", 500)))
	complete(t, c, 0, ask(strings.Repeat("word ", 501)))
	assert.Empty(t, told)
	complete(t, c, 0, ask(strings.Repeat("word ", 1200)))
	assert.Len(t, told, 1)
}

// errBroken is what a ledger that cannot be read says.
var errBroken = errors.New("no")

type brokenStore struct{ ledger.Store }

func (brokenStore) Body(ledger.Digest) (ledger.Body, error) { return ledger.Body{}, errBroken }

// Without what was learned, a resumed capture would ask and pay anew: it does not
// begin.
func TestWhatWasLearnedMustBeReadable(t *testing.T) {
	store := ledger.NewMemory()
	open := func(s ledger.Store) *ledger.Ledger {
		l, err := ledger.OpenStore(t.Context(), s, ledger.Options{})
		require.NoError(t, err)
		t.Cleanup(func() { assert.NoError(t, l.Close()) })
		return l
	}
	s, _ := serve(t, func(w http.ResponseWriter, req *http.Request) {
		reply(400, "application/json", apiError("", "", "property 'seed' is unsupported"))(w, req)
	})
	complete(t, client(t, options(s.URL, open(store))), 0, ask("q"))
	_, err := endpoint.New(options(s.URL, open(brokenStore{store})))
	require.ErrorIs(t, err, errBroken)
}

// A page in the place of an answer shows that the address is wrong, unless a model has
// answered there: then it is a gateway in trouble, and worth another attempt.
func TestAPage(t *testing.T) {
	page := reply(200, "text/html", "<html>Welcome</html>")
	good := reply(200, "application/json", plain)
	s, r := serve(t, inTurn(page, good, page, good, page))
	o := options(s.URL, memoryLedger(t))
	o.Retry, o.Wait = endpoint.Retry{}, func(context.Context, time.Duration) error { return nil }
	c := client(t, o)
	first := complete(t, c, 0, ask("q"))
	assert.Equal(t, detector.Config, first.Status, "nobody has answered there")
	assert.Equal(t, 1, first.Attempts)
	row, _ := first.Status.Row()
	assert.True(t, row.Stops)
	second := complete(t, c, 1, ask("q"))
	require.Equal(t, detector.OK, second.Status)
	require.Equal(t, 2, r.count())
	third := complete(t, c, 2, ask("q"))
	assert.Equal(t, detector.OK, third.Status, third.Detail)
	assert.Equal(t, 2, third.Attempts)
	fourth := complete(t, c, 3, ask("q"))
	assert.Equal(t, detector.Transient, fourth.Status)
	assert.Equal(t, 3, fourth.Attempts)
	assert.Contains(t, fourth.Detail, "HTML")

	// A resumed capture that finds an answer on record is at the right address too.
	again := client(t, o)
	require.True(t, complete(t, again, 1, ask("q")).Replayed)
	assert.Equal(t, detector.Transient, complete(t, again, 0, ask("q")).Status)
	assert.Equal(t, detector.Config, complete(t, client(t, o), 0, ask("q")).Status, "this client has seen none")
}
