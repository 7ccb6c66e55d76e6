package endpoint_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/youden-bench/youden/bench/endpoint"
	"github.com/youden-bench/youden/bench/ledger"
	"github.com/youden-bench/youden/detector"
)

func TestASecondClientSendsNothing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ledger.db")
	s, r := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("X-Request-Id", "req_1")
		reply(200, "application/json; charset=utf-8", plain)(w, nil)
	})
	l := openLedger(t, path, ledger.Options{})
	o := options(s.URL, l)
	o.Price = &endpoint.Price{PromptMicros: 150_000, CompletionMicros: 600_000}
	var first []detector.Answer
	c := client(t, o)
	for k := range 3 {
		first = append(first, complete(t, c, k, ask("q")))
	}
	require.Equal(t, 3, r.count(), "K runs are K draws")
	require.NoError(t, l.Close())

	o.Ledger = openLedger(t, path, ledger.Options{ReadOnly: true})
	o.Timeouts.Total = 1 // nothing is sent, so no time is needed
	c = client(t, o)
	for k := range 3 {
		again := complete(t, c, k, ask("q"))
		assert.True(t, again.Replayed)
		again.Replayed = false
		assert.Equal(t, first[k], again)
	}
	assert.Equal(t, 3, r.count())
	assert.NotEqual(t, first[0].Receipt, first[1].Receipt)

	// Another scope, seed, prompt, model or address is another call.
	for _, change := range []func(*endpoint.Options, *detector.Request){
		func(o *endpoint.Options, _ *detector.Request) { o.Scope = "plan-2" },
		func(o *endpoint.Options, _ *detector.Request) { o.Model = "m-2" },
		func(o *endpoint.Options, _ *detector.Request) { o.Temperature = nil },
		func(o *endpoint.Options, _ *detector.Request) { o.BaseURL = s.URL + "/v2" },
		func(o *endpoint.Options, _ *detector.Request) { o.ExtraBody = map[string]any{"min_p": 0.1} },
		func(_ *endpoint.Options, q *detector.Request) { q.Seed++ },
		func(_ *endpoint.Options, q *detector.Request) { q.MaxTokens = 7 },
		func(_ *endpoint.Options, q *detector.Request) { q.Messages[1].Content += " " },
	} {
		changed, q := o, ask("q")
		change(&changed, &q)
		a := complete(t, client(t, changed), 0, q)
		assert.Equal(t, detector.Cancelled, a.Status)
		assert.Equal(t, endpoint.CauseLedger, endpoint.CauseOf(a))
	}
	assert.Equal(t, 3, r.count())
}

func TestTheLedgerKeepsTheExactBytes(t *testing.T) {
	answer := "\n  " + plain + "\r\n"
	s, r := serve(t, reply(200, "application/json", answer))
	l := memoryLedger(t)
	a := complete(t, client(t, options(s.URL, l)), 0, ask("x <b>&é\U0001D400</b>"))
	require.Equal(t, detector.OK, a.Status, a.Detail)
	for e, err := range l.Attempts(t.Context()) {
		require.NoError(t, err)
		assert.Equal(t, a.Receipt, e.Dispatch.Attempt.String())
		assert.Equal(t, "plan-1", e.Dispatch.Scope)
		request, err := l.Body(e.Dispatch.Request)
		require.NoError(t, err)
		assert.Equal(t, string(r.requests[0].body), string(request))
		response, err := l.Body(e.Observation.Response)
		require.NoError(t, err)
		assert.Equal(t, answer, string(response))
		assert.Equal(t, "application/json", e.Observation.Header["content-type"])
		assert.Equal(t, "ok", e.Observation.Outcome)
		assert.EqualValues(t, 2048, *e.Observation.Usage.Prompt)
	}
	var sent struct{ Messages []struct{ Content string } }
	require.NoError(t, json.Unmarshal(r.requests[0].body, &sent))
	assert.Equal(t, "x <b>&é\U0001D400</b>", sent.Messages[1].Content)
}

func TestTheKeyIsNowhere(t *testing.T) {
	quoted, err := json.Marshal(testKey)
	require.NoError(t, err)
	basic := base64.StdEncoding.EncodeToString([]byte("user:" + testKey))
	bodies := []string{
		content("the key is "+testKey, "stop"),
		fmt.Sprintf(`{"error":{"message":%s,"code":"invalid_api_key"}}`, quoted),
		content("escaped "+url.QueryEscape(testKey)+" and "+basic, "stop"),
		"<html>" + testKey + "</html>",
		`{"broken ` + testKey,
		`{"model":"` + testKey + `","choices":[{"message":{"content":"x"},"finish_reason":"stop"}]}`,
		`{"error":{"message":"property 'seed' is unsupported, ` + testKey + `"}}`,
	}
	spelt := strings.Replace(content("x", "stop"), `"model":"m"`, `"model":"\u0073`+testKey[1:]+`"`, 1)
	dir := t.TempDir()
	l := openLedger(t, filepath.Join(dir, "ledger.db"), ledger.Options{Indeterminate: ledger.Retry})
	var said bytes.Buffer
	for i, b := range bodies {
		for _, status := range []int{200, 400, 401, 500} {
			s, _ := serve(t, func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("X-Request-Id", testKey)
				reply(status, "application/json", b)(w, nil)
			})
			o := options(s.URL, l)
			fmt.Fprintf(&said, "%+v %#v\n", o, o)
			c := client(t, o)
			c.Tell(func(words string) { fmt.Fprintln(&said, words) })
			for k := range 2 {
				fmt.Fprintf(&said, "%d %+v\n", i, complete(t, c, k, ask("q")))
			}
			fmt.Fprintf(&said, "%+v\n", c.Traffic(nil))
			cut, _ := serve(t, hijack(t, "HTTP/1.1 200 OK\r\nContent-Length: 5000\r\n\r\n"+b, false))
			fmt.Fprintf(&said, "%+v\n", complete(t, client(t, options(cut.URL, l)), 0, ask("q")))
		}
	}
	s, _ := serve(t, reply(200, "application/json", spelt)) // recorded as it came, and told without it
	c := client(t, options(s.URL, memoryLedger(t)))
	c.Tell(func(words string) { fmt.Fprintln(&said, words) })
	complete(t, c, 0, ask("q"))
	fmt.Fprintf(&said, "%+v\n", c.Traffic(nil))
	require.Contains(t, said.String(), "[secret]")
	assert.NotContains(t, said.String(), testKey)
	stored := 0
	check := func(sha ledger.Digest) {
		raw, err := l.Body(sha)
		require.NoError(t, err)
		stored++
		for _, form := range []string{testKey, url.QueryEscape(testKey), basic, "Authorization", "Bearer"} {
			assert.NotContains(t, string(raw), form)
		}
	}
	for e, err := range l.Attempts(t.Context()) {
		require.NoError(t, err)
		check(e.Dispatch.Request)
		if e.Observation != nil {
			check(e.Observation.Response)
			assert.True(t, e.Observation.Redacted)
		}
		if e.Indeterminate != nil {
			check(*e.Indeterminate.Partial)
		}
	}
	assert.Greater(t, stored, 100)
	require.NoError(t, l.Close())
	files, err := os.ReadDir(dir)
	require.NoError(t, err)
	for _, f := range files {
		data, err := os.ReadFile(filepath.Join(dir, f.Name()))
		require.NoError(t, err)
		assert.False(t, bytes.Contains(data, []byte(testKey)), f.Name())
		assert.False(t, bytes.Contains(data, []byte("Bearer")), f.Name())
	}
	_, err = endpoint.New(endpoint.Options{BaseURL: "http://user:" + url.QueryEscape(testKey) + "@host/v1", Model: "m"})
	require.Error(t, err)
	assert.NotContains(t, err.Error(), url.QueryEscape(testKey))
}

// 32 callers of one client, each with answers of its own.
func TestNoCrossTalk(t *testing.T) {
	s, r := serve(t, func(w http.ResponseWriter, req *http.Request) {
		var q struct {
			Seed     int64
			Messages []struct{ Content string }
		}
		if !assert.NoError(t, json.NewDecoder(req.Body).Decode(&q)) {
			return
		}
		reply(200, "application/json", content(fmt.Sprintf("%s/%d", q.Messages[1].Content, q.Seed), "stop"))(w, req)
	})
	c := client(t, options(s.URL, memoryLedger(t)))
	var callers sync.WaitGroup
	for g := range 32 {
		callers.Go(func() {
			for i := range 50 {
				req := ask(fmt.Sprintf("caller %d call %d", g, i))
				req.Seed = int64(g*1000 + i)
				a := c.Complete(endpoint.WithSample(context.Background(), i%5), req)
				assert.Equal(t, fmt.Sprintf("caller %d call %d/%d", g, i, req.Seed), a.Text, a.Detail)
			}
		})
	}
	callers.Wait()
	assert.Equal(t, 1600, r.count())
	seen := map[string]bool{}
	for _, q := range r.requests {
		id := q.header.Get("X-Youden-Attempt")
		assert.False(t, seen[id])
		seen[id] = true
	}
}

func TestRetriesCountTheirAttempts(t *testing.T) {
	status := 429
	s, r := serve(t, func(w http.ResponseWriter, req *http.Request) {
		reply(status, "application/json", plain)(w, req)
	})
	c := client(t, options(s.URL, memoryLedger(t)))
	assert.Equal(t, detector.RateLimited, complete(t, c, 0, ask("q")).Status)
	status = 200
	a := complete(t, c, 0, ask("q"))
	assert.Equal(t, detector.OK, a.Status)
	assert.Equal(t, 2, a.Attempts)
	first, second := r.requests[0].header.Get("X-Youden-Attempt"), r.requests[1].header.Get("X-Youden-Attempt")
	assert.True(t, strings.HasSuffix(first, "-1"))
	assert.True(t, strings.HasSuffix(second, "-2"))
	assert.Equal(t, r.requests[0].body, r.requests[1].body)
}
