package bench

import (
	"context"
	"net/http"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/youden-bench/youden/bench/budget"
	"github.com/youden-bench/youden/detector"
	"github.com/youden-bench/youden/measurements"
)

// Whatever ends a resumed capture at once, the rows of what was paid for before stay.
func TestWhatWasPaidForStaysInTheRows(t *testing.T) {
	closed := make(chan struct{})
	close(closed)
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	for name, tt := range map[string]struct {
		ctx    context.Context
		stop   <-chan struct{}
		change func(r *Request, s *billed)
	}{
		"the budget is spent":        {t.Context(), nil, func(*Request, *billed) {}},
		"nobody listens":             {t.Context(), nil, func(r *Request, s *billed) { r.Caps = budget.Caps{}; r.Endpoint.Retries.Max = to(0); s.Close() }},
		"the operator stops":         {t.Context(), closed, func(r *Request, _ *billed) { r.Caps = budget.Caps{} }},
		"the operator will not wait": {cancelled, nil, func(r *Request, _ *billed) { r.Caps = budget.Caps{} }},
	} {
		t.Run(name, func(t *testing.T) {
			s := bill(t, half)
			dir := filepath.Join(t.TempDir(), "c")
			req := request(s.URL+"/v1", budget.Caps{Calls: to(int64(10))})
			req.Concurrency = 2
			begin(t, req, dir)
			before := receiptsOf(t, dir)
			require.Len(t, before, 10)
			calls, _ := s.count()
			req, err := RequestOf(dir)
			require.NoError(t, err)
			tt.change(&req, s)
			_, err = prepare(t, req).Resume(tt.ctx, dir, tt.stop, Watch{Warn: func(string) {}})
			if name != "the operator will not wait" {
				require.NoError(t, err)
			}
			assert.Equal(t, before, receiptsOf(t, dir))
			after, _ := s.count()
			assert.Equal(t, calls, after)
		})
	}
}

// receiptsOf are those of the runs that have an answer.
func receiptsOf(t *testing.T, dir string) map[string]string {
	t.Helper()
	list := map[string]string{}
	for _, r := range rowsIn(t, dir) {
		if r.Status == string(detector.OK) {
			list[r.RunID] = *r.Receipt
		}
	}
	return list
}

// Only what was lost to the endpoint is asked again, where only that is wanted.
func TestOnlyErrorsAreAskedAgain(t *testing.T) {
	s := bill(t, half)
	broken := atomic.Int64{}
	broken.Store(6)
	good := s.Config.Handler
	s.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if broken.Add(-1) >= 0 {
			http.Error(w, `{"error": {"message": "busy"}}`, http.StatusServiceUnavailable)
			return
		}
		good.ServeHTTP(w, r)
	})
	dir := filepath.Join(t.TempDir(), "c")
	req := request(s.URL+"/v1", budget.Caps{Calls: to(int64(16))})
	req.Concurrency, req.Endpoint.Retries.Max = 1, to(0)
	begin(t, req, dir)
	require.Len(t, receiptsOf(t, dir), 10)
	req, err := RequestOf(dir)
	require.NoError(t, err)
	req.Caps = budget.Caps{}
	job := prepare(t, req)
	n, err := job.RerunErrors(dir)
	require.NoError(t, err)
	assert.Equal(t, 6, n)
	out, err := job.Resume(t.Context(), dir, nil, Watch{Warn: func(string) {}})
	require.NoError(t, err)
	assert.Equal(t, measurements.Partial, out.Summary.Status)
	assert.Len(t, receiptsOf(t, dir), 16)
	calls, _ := s.count()
	assert.Equal(t, 16, calls, "each good answer once; the eight that were never sent stay so")
	out, err = resume(t, dir, func(r *Request) { r.Caps = budget.Caps{} })
	require.NoError(t, err)
	assert.Equal(t, measurements.Complete, out.Summary.Status)
	calls, _ = s.count()
	assert.Equal(t, 24, calls)
}
