package bench

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/youden-bench/youden/corpus"
	"github.com/youden-bench/youden/detector"
	"github.com/youden-bench/youden/measurements"
)

func planOf(t *testing.T, cases, k int) (*Plan, detector.Program) {
	t.Helper()
	d, program := oneshot(t)
	var list []*corpus.Case
	for i := range cases {
		list = append(list, pair(fmt.Sprintf("c%d", i), "injection"))
	}
	plan, err := NewPlan(list, d, k, 1)
	require.NoError(t, err)
	return plan, program
}

// rowsOf returns the rows of a result, which it closes.
func rowsOf(t *testing.T, r Result) []measurements.Rows {
	t.Helper()
	var list []measurements.Rows
	for rows, err := range r.Rows() {
		require.NoError(t, err)
		list = append(list, rows)
	}
	require.NoError(t, r.Close())
	require.Len(t, list, r.Runs)
	return list
}

func statuses(t *testing.T, r Result) map[string]int {
	t.Helper()
	return statusesOf(rowsOf(t, r))
}

func statusesOf(kept []measurements.Rows) map[string]int {
	out := map[string]int{}
	for _, rows := range kept {
		out[rows.Run.Status]++
	}
	return out
}

func TestRowsComeOutInPlanOrderAtAnyConcurrency(t *testing.T) {
	plan, program := planOf(t, 5, 3)
	var first []string
	for _, concurrency := range []int{1, 4, 32} {
		result, err := (&Runner{Program: program, Model: &recorder{}, Concurrency: concurrency}).Run(context.Background(), plan, nil)
		require.NoError(t, err)
		var ids []string
		for _, rows := range rowsOf(t, result) {
			ids = append(ids, rows.Run.RunID)
		}
		if first == nil {
			first = ids
		}
		assert.Equal(t, first, ids)
		assert.Empty(t, result.Stop)
	}
}

func TestConcurrencyIsBounded(t *testing.T) {
	plan, program := planOf(t, 6, 4)
	var now, most atomic.Int64
	release := make(chan struct{})
	var once sync.Once
	model := &recorder{answer: func(detector.Request) detector.Answer {
		n := now.Add(1)
		for old := most.Load(); n > old && !most.CompareAndSwap(old, n); old = most.Load() {
		}
		if n == 3 {
			once.Do(func() { close(release) })
		}
		<-release
		now.Add(-1)
		return detector.Answer{Status: detector.OK, Text: `{"findings": []}`, Attempts: 1}
	}}
	_, err := (&Runner{Program: program, Model: model, Concurrency: 3}).Run(context.Background(), plan, nil)
	require.NoError(t, err)
	assert.LessOrEqual(t, most.Load(), int64(3))
}

// A refused key ends the capture; what was not sent gets that status and no
// attempt.
func TestAuthStopsTheCapture(t *testing.T) {
	for _, status := range []detector.Status{detector.Auth, detector.Config} {
		t.Run(string(status), func(t *testing.T) {
			plan, program := planOf(t, 10, 5)
			model := &recorder{answer: func(detector.Request) detector.Answer {
				return detector.Answer{Status: status, Detail: "401 from the endpoint", Attempts: 1}
			}}
			result, err := (&Runner{Program: program, Model: model, Concurrency: 2}).Run(context.Background(), plan, nil)
			require.NoError(t, err)
			assert.Equal(t, status, result.Stop.Status)
			kept := rowsOf(t, result)
			assert.Equal(t, map[string]int{string(status): 100}, statusesOf(kept))
			assert.Less(t, len(model.requests), 10, "it does not ask 100 times")
			attempts := int64(0)
			for _, rows := range kept {
				attempts += rows.Run.Attempts
			}
			assert.Equal(t, int64(len(model.requests)), attempts)
		})
	}
}

func TestOneErrorDoesNotStopTheCapture(t *testing.T) {
	plan, program := planOf(t, 4, 2)
	var n atomic.Int64
	model := &recorder{answer: func(detector.Request) detector.Answer {
		if n.Add(1) == 3 {
			return detector.Answer{Status: detector.Transient, Detail: "500", Attempts: 1}
		}
		return detector.Answer{Status: detector.OK, Text: `{"findings": []}`, Attempts: 1}
	}}
	result, err := (&Runner{Program: program, Model: model, Concurrency: 2}).Run(context.Background(), plan, nil)
	require.NoError(t, err)
	assert.Empty(t, result.Stop)
	assert.Equal(t, map[string]int{"ok": 15, "transient": 1}, statuses(t, result))
}

func TestStopLetsCallsUnderWayFinish(t *testing.T) {
	plan, program := planOf(t, 10, 5)
	stop := make(chan struct{})
	var n atomic.Int64
	model := &recorder{answer: func(detector.Request) detector.Answer {
		if n.Add(1) == 7 {
			close(stop)
		}
		return detector.Answer{Status: detector.OK, Text: `{"findings": []}`, Attempts: 1}
	}}
	result, err := (&Runner{Program: program, Model: model, Concurrency: 1}).Run(context.Background(), plan, stop)
	require.NoError(t, err)
	assert.Equal(t, detector.Cancelled, result.Stop.Status)
	got := statuses(t, result)
	assert.Equal(t, int(n.Load()), got["ok"], "every answer that was paid for is kept")
	assert.Equal(t, 100-got["ok"], got["cancelled"])
	assert.Less(t, got["ok"], 10)
}

func TestPanicOfAProgramIsAnInternalError(t *testing.T) {
	plan, _ := planOf(t, 2, 1)
	_, err := (&Runner{Program: panicking{}, Concurrency: 1}).Run(context.Background(), plan, nil)
	var internal *InternalError
	require.ErrorAs(t, err, &internal)
	assert.Contains(t, err.Error(), "out of range")
}

type panicking struct{}

func (panicking) Texts() []string { return nil }
func (panicking) Run(context.Context, detector.Target, detector.Model) detector.Trajectory {
	var none []int
	return detector.Trajectory{Detail: fmt.Sprint(none[len(none)])}
}

func TestProgressCountsEveryRunOnce(t *testing.T) {
	plan, program := planOf(t, 3, 2)
	var seen []Progress
	runner := &Runner{Program: program, Model: &recorder{}, Concurrency: 4, Progress: func(p Progress) { seen = append(seen, p) }}
	_, err := runner.Run(context.Background(), plan, nil)
	require.NoError(t, err)
	require.Len(t, seen, 12)
	for i, p := range seen {
		assert.Equal(t, i+1, p.Done)
		assert.Equal(t, 12, p.Total)
	}
	assert.Equal(t, 12, seen[11].OK)
	assert.Equal(t, 12, seen[11].Calls)
}

// A capture that was stopped before it began sends nothing, however many workers wait.
func TestAStoppedRunnerSendsNothing(t *testing.T) {
	p, program := planOf(t, 4, 5)
	stop := make(chan struct{})
	close(stop)
	for range 400 {
		r := Runner{Program: program, Model: &countingModel{}, Concurrency: 8}
		result, err := r.Run(t.Context(), p, stop)
		require.NoError(t, err)
		assert.Equal(t, map[string]int{"cancelled": p.Runs()}, statuses(t, result))
		assert.Zero(t, r.Model.(*countingModel).calls.Load())
	}
}

// countingModel counts its calls.
type countingModel struct{ calls atomic.Int64 }

func (m *countingModel) Complete(context.Context, detector.Request) detector.Answer {
	m.calls.Add(1)
	return detector.Answer{Status: detector.OK, Text: `{"findings": []}`}
}
