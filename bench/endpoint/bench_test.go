package endpoint_test

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/youden-bench/youden/bench/endpoint"
	"github.com/youden-bench/youden/bench/ledger"
	"github.com/youden-bench/youden/detector"
)

// benchPrompt is a prompt of 16 kB, as a detector sends with a few files.
var benchPrompt = strings.Repeat("   10 | if user.id != doc.owner_id { return forbidden(\"no\") }\n", 270)

// benchAnswer counts the tokens of benchPrompt.
var benchAnswer = strings.Replace(plain, `"prompt_tokens":2048`, `"prompt_tokens":4100`, 1)

func benchServer(b *testing.B) (*httptest.Server, *atomic.Pointer[[]byte]) {
	var last atomic.Pointer[[]byte]
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		body, _ := io.ReadAll(req.Body)
		last.Store(&body)
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, benchAnswer)
	}))
	b.Cleanup(s.Close)
	return s, &last
}

// BenchmarkBare posts the same bytes with net/http alone.
func BenchmarkBare(b *testing.B) {
	s, last := benchServer(b)
	complete(b, client(b, options(s.URL, memoryLedger(b))), 0, ask(benchPrompt))
	body := *last.Load()
	c := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 32, MaxIdleConns: 32}}
	b.SetBytes(int64(len(body)))
	post := func() error {
		req, err := http.NewRequestWithContext(context.Background(), http.MethodPost, s.URL+"/v1/chat/completions", bytes.NewReader(body))
		if err != nil {
			return err
		}
		req.Header.Set("Content-Type", "application/json")
		resp, err := c.Do(req)
		if err != nil {
			return err
		}
		defer resp.Body.Close()
		_, err = io.ReadAll(resp.Body)
		return err
	}
	run(b, func(int) bool { return post() == nil })
}

func BenchmarkComplete(b *testing.B) {
	for name, open := range map[string]func(*testing.B) *ledger.Ledger{
		"memory": func(b *testing.B) *ledger.Ledger { return memoryLedger(b) },
		"sqlite": func(b *testing.B) *ledger.Ledger {
			l, err := ledger.Open(context.Background(), filepath.Join(b.TempDir(), "ledger.db"), ledger.Options{})
			require.NoError(b, err)
			b.Cleanup(func() { require.NoError(b, l.Close()) })
			return l
		},
	} {
		b.Run(name, func(b *testing.B) {
			s, _ := benchServer(b)
			c := client(b, options(s.URL, open(b)))
			b.SetBytes(int64(len(benchPrompt)))
			run(b, func(k int) bool {
				a := c.Complete(endpoint.WithSample(context.Background(), k), ask(benchPrompt))
				return a.Status == detector.OK && !a.Replayed
			})
		})
	}
}

// BenchmarkReplay reads recorded answers.
func BenchmarkReplay(b *testing.B) {
	s, _ := benchServer(b)
	l, err := ledger.Open(context.Background(), filepath.Join(b.TempDir(), "ledger.db"), ledger.Options{})
	require.NoError(b, err)
	b.Cleanup(func() { require.NoError(b, l.Close()) })
	c := client(b, options(s.URL, l))
	complete(b, c, 0, ask(benchPrompt))
	run(b, func(int) bool { return complete(b, c, 0, ask(benchPrompt)).Replayed })
}

// run measures one caller and 32.
func run(b *testing.B, call func(k int) bool) {
	var k atomic.Int64
	b.Run("1", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if !call(int(k.Add(1))) {
				b.Fatal("the call failed")
			}
		}
	})
	b.Run("32", func(b *testing.B) {
		b.ReportAllocs()
		b.SetParallelism(32 / 2)
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				if !call(int(k.Add(1))) {
					b.Error("the call failed")
					return
				}
			}
		})
	})
}
