package bench

import (
	"context"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/youden-bench/youden/bench/budget"
	"github.com/youden-bench/youden/detector"
	"github.com/youden-bench/youden/measurements"
	"github.com/youden-bench/youden/measurements/compare"
)

func TestStagesHoldThePlanOnce(t *testing.T) {
	plan, _ := planOf(t, 4, 5)
	whole := plan.stages()
	require.Len(t, whole, 1)
	assert.Equal(t, plan.order(), whole[0].cells, "without looks the order of dispatch is the shuffle")

	plan.Looks = []int{2, 5}
	stages := plan.stages()
	require.Len(t, stages, 2)
	seen := map[int32]bool{}
	for n, from := range []int{0, 2} {
		for _, i := range stages[n].cells {
			assert.False(t, seen[i])
			seen[i] = true
			assert.True(t, plan.Run(int(i)).K >= from && plan.Run(int(i)).K < stages[n].k)
		}
	}
	assert.Len(t, seen, plan.Runs())
}

func TestALookEndsACapture(t *testing.T) {
	plan, program := planOf(t, 4, 5)
	plan.Looks = []int{2, 5}
	for _, goOn := range []bool{false, true} {
		model := &recorder{}
		var looks []int
		runner := Runner{Program: program, Model: model, Concurrency: 3, Look: func(k int, rows iter.Seq2[measurements.Rows, error]) (bool, error) {
			looks = append(looks, k)
			n := 0
			for r, err := range rows {
				n++
				assert.NoError(t, err)
				assert.Less(t, r.Run.K, int64(k))
				assert.NotEmpty(t, r.Run.Status, "all runs of the look have ended")
			}
			assert.Equal(t, 8*k, n)
			return goOn, nil
		}}
		result, err := runner.Run(context.Background(), plan, nil)
		require.NoError(t, err)
		want := map[bool][]int{false: {2}, true: {2, 5}}[goOn]
		assert.Equal(t, want, looks)
		assert.Equal(t, want[len(want)-1], result.K)
		assert.Len(t, rowsOf(t, result), 8*result.K)
		assert.Len(t, model.requests, 8*result.K)
	}
}

func TestAStoppedCaptureIsNotLookedAt(t *testing.T) {
	plan, program := planOf(t, 4, 5)
	plan.Looks = []int{2, 5}
	stop := make(chan struct{})
	close(stop)
	runner := Runner{Program: program, Model: &recorder{}, Look: func(int, iter.Seq2[measurements.Rows, error]) (bool, error) {
		t.Error("looked at a capture that was stopped")
		return false, nil
	}}
	result, err := runner.Run(context.Background(), plan, stop)
	require.NoError(t, err)
	assert.Equal(t, 5, result.K)
	assert.Len(t, rowsOf(t, result), 40, "the plan stays whole, to be resumed")
	assert.Equal(t, detector.Cancelled, result.Stop.Status)
}

// A plan with looks says what each end of it costs, and one without what it costs.
func TestCallsOfAPlan(t *testing.T) {
	plan, _ := planOf(t, 4, 5)
	e := Estimate{Calls: 40, Worst: budget.Amount{Calls: 40}, Fresh: budget.Amount{Calls: 80}}
	assert.Equal(t, "40 calls", e.calls(plan))
	plan.Looks = []int{2, 5}
	assert.Equal(t, "16 calls if it stops at the first look, 40 if it makes all planned runs, 120 with fresh runs of every family", e.calls(plan))
	e.Calls = 30 // a case that cannot be scored
	assert.Equal(t, "12 calls if it stops at the first look, 30 if it makes all planned runs, 90 with fresh runs of every family", e.calls(plan))
	assert.Contains(t, e.beyond(budget.Caps{Calls: to(int64(119))}), "not for the worst case")
	assert.Contains(t, e.beyond(budget.Caps{Calls: to(int64(120))}), "enough for the worst case")
}

func TestLooksAreDescribed(t *testing.T) {
	delta := -.074
	for want, look := range map[string]compare.Look{
		"look 1 at K = 2: PASS, J -.07 against the baseline; no loss shown so far, going on to be sure":                  {Comparison: &compare.Comparison{Verdict: compare.Pass}},
		"look 1 at K = 2: WARN, J -.07 against the baseline; not clear yet, going on":                                    {Comparison: &compare.Comparison{Verdict: compare.Warn}},
		"look 1 at K = 2: FAIL, J -.07 against the baseline; no further run is needed":                                   {Comparison: &compare.Comparison{Verdict: compare.Fail}, Stop: true},
		"look 1 at K = 2: WARN, J -.07 against the baseline; 10 fresh runs a side for what looks worse: injection, path": {Comparison: &compare.Comparison{Verdict: compare.Warn}, Suspects: []compare.Suspect{{Slice: "s", Family: "injection"}, {Slice: "s", Family: "path"}}},
	} {
		assert.Equal(t, want, describeLook(1, measurements.Look{K: 2, Verdict: string(look.Comparison.Verdict), Delta: &delta}, &look, ""))
	}
}

// sequential is a request on the simulated endpoint.
func sequential(t *testing.T, model, against string, seed uint64) Request {
	t.Helper()
	cfg, err := SelectEndpoint(SimulatorName, model, nil)
	require.NoError(t, err)
	return Request{
		Detector: "oneshot", EndpointName: SimulatorName, Endpoint: cfg, Runs: 5, Seed: seed, Split: "train", Limit: 24,
		Concurrency: 8, MaxErrorRate: .05, Policy: measurements.Class, View: measurements.Charge, Against: against,
	}
}

func start(t *testing.T, req Request, dir string, stop <-chan struct{}, watch Watch) Outcome {
	t.Helper()
	job, err := Prepare(req, detector.Core(), filepath.Dir(dir), "capture")
	require.NoError(t, err)
	out, err := job.Start(context.Background(), dir, measurements.Provenance{}, stop, watch)
	require.NoError(t, err)
	return out
}

// resumed goes on with a capture and counts the requests that it sends.
func resumed(t *testing.T, dir string) (out Outcome, calls int) {
	t.Helper()
	req, err := RequestOf(dir)
	require.NoError(t, err)
	job, err := Prepare(req, detector.Core(), filepath.Dir(dir), "resume")
	require.NoError(t, err)
	sent := map[int]int{} // by the number of runs that they are of
	out, err = job.Resume(context.Background(), dir, nil, Watch{Progress: func(p Progress) { sent[p.Total] = p.Calls }})
	require.NoError(t, err)
	for _, n := range sent {
		calls += n
	}
	return out, calls
}

func TestSequentialCapture(t *testing.T) {
	base := filepath.Join(t.TempDir(), "base")
	start(t, sequential(t, "sim-strong", "", 1), base, nil, Watch{})
	t.Run("fresh runs", func(t *testing.T) { confirmsByFreshRuns(t, base) })
	t.Run("keeps fresh runs", func(t *testing.T) { keepsFreshRuns(t, base) })
	t.Run("killed", func(t *testing.T) { leavesNoWholeCaptureWithoutVerdict(t, base) })
	t.Run("capped", func(t *testing.T) { sharesTheBudget(t, base) })
	t.Run("stops early", func(t *testing.T) { stopsEarly(t, base) })
	t.Run("refused", func(t *testing.T) { refusesWhatCannotBeCompared(t, base) })
}

// The whole way: looks, fresh runs in a capture of their own, an interruption
// between them, and a resumed capture that pays for nothing twice.
func confirmsByFreshRuns(t *testing.T, base string) {
	folder := t.TempDir()
	// By these cases and this seed a family looks worse without failing.
	dir := filepath.Join(folder, "new")
	stop := make(chan struct{})
	var notes []string
	drifted := sequential(t, "sim-drifted", base, 3)
	drifted.Limit, drifted.Capabilities = 21, to(filepath.Join(folder, "probed.json"))
	require.NoError(t, os.WriteFile(*drifted.Capabilities, []byte(`{"schema":"youden.capabilities/1","endpoint":{"base_url":"http://simulator.invalid/v1","model":"sim-drifted"},"features":[{"name":"seed","treatment":"honoured"}]}`), 0o600))
	out := start(t, drifted, dir, stop, Watch{Note: func(text string) {
		notes = append(notes, text)
		if strings.Contains(text, "fresh runs") {
			close(stop)
		}
	}})
	require.Len(t, notes, 2)
	assert.Equal(t, Interrupted, out.Verdict(.05))
	assert.Nil(t, out.Comparison, "no verdict without the fresh runs")
	assert.Equal(t, measurements.Partial, out.Summary.Status)

	before := receiptsOf(t, dir)
	out, calls := resumed(t, dir)
	require.NotNil(t, out.Comparison)
	record := out.Summary.Plan.Sequential
	require.NotNil(t, record)
	assert.Equal(t, Passed, out.Verdict(.05))
	require.Len(t, record.Fresh, 1)
	assert.Equal(t, "injection", record.Fresh[0].Family)
	assert.Equal(t, compare.FreshRuns, record.Fresh[0].Runs)
	assert.Equal(t, record.FreshRuns, calls)
	after := receiptsOf(t, dir)
	for run, receipt := range before {
		assert.Equal(t, receipt, after[run], "only the fresh runs are sent, the others are replayed")
	}
	assert.Equal(t, string(out.Comparison.Verdict), record.Verdict)
	assert.Equal(t, -record.FreshRuns, record.RunsSaved, "all looks were made, and fresh runs besides")
	assert.Equal(t, 5, out.Summary.Plan.K)
	assert.EqualValues(t, 210, out.Summary.Totals.Runs, "fresh runs enter no score")

	for _, part := range []string{dir, filepath.Join(dir, freshFolder)} {
		c, err := measurements.Reopen(part)
		require.NoError(t, err)
		assert.Equal(t, measurements.Honoured, c.Manifest().Capabilities.Treats("seed"), "what is known of the endpoint is in both")
	}

	var fresh measurements.Totals
	require.NotNil(t, out.Fresh)
	fresh = out.Fresh.Summary.Totals
	require.NotNil(t, record.FreshCalls)
	assert.Equal(t, fresh.Calls, *record.FreshCalls, "what they cost is written down")

	again, calls := resumed(t, dir)
	assert.Zero(t, calls, "a finished capture sends nothing")
	assert.Equal(t, record, again.Summary.Plan.Sequential)

	// What it is compared with must stay what it was.
	req, err := RequestOf(dir)
	require.NoError(t, err)
	req.Against = dir
	job, err := Prepare(req, detector.Core(), folder, "resume")
	require.NoError(t, err)
	_, err = job.Resume(context.Background(), dir, nil, Watch{})
	assert.ErrorContains(t, err, "baseline of the capture is another")
}

// Fresh runs that were paid for and are gone are not paid for again, and the verdict
// stays.
func keepsFreshRuns(t *testing.T, base string) {
	dir := filepath.Join(t.TempDir(), "new")
	drifted := sequential(t, "sim-drifted", base, 3)
	drifted.Limit = 21
	out := start(t, drifted, dir, nil, Watch{})
	require.NotNil(t, out.Comparison)
	before, err := os.ReadFile(filepath.Join(dir, ManifestFile))
	require.NoError(t, err)
	for _, gone := range []string{filepath.Join(freshFolder, LedgerFile), freshFolder} {
		require.NoError(t, os.RemoveAll(filepath.Join(dir, gone)))
		job, err := Prepare(drifted, detector.Core(), filepath.Dir(dir), "resume")
		require.NoError(t, err)
		_, err = job.Resume(context.Background(), dir, nil, Watch{})
		assert.ErrorContains(t, err, "pay")
		after, err := os.ReadFile(filepath.Join(dir, ManifestFile))
		require.NoError(t, err)
		assert.Equal(t, string(before), string(after))
	}
}

// A process that dies between the looks and the verdict leaves no capture that
// looks whole, whatever it left of the fresh runs.
func leavesNoWholeCaptureWithoutVerdict(t *testing.T, base string) {
	dir := filepath.Join(t.TempDir(), "new")
	drifted := sequential(t, "sim-drifted", base, 3)
	drifted.Limit = 21
	job, err := Prepare(drifted, detector.Core(), filepath.Dir(dir), "capture")
	require.NoError(t, err)
	seen := false
	_, err = job.Start(context.Background(), dir, measurements.Provenance{}, nil, Watch{Progress: func(p Progress) {
		if p.Total == 210 || seen {
			return
		}
		seen = true // the first fresh run has ended
		c, err := measurements.Reopen(dir)
		require.NoError(t, err)
		assert.Equal(t, measurements.Partial, c.Manifest().Status)
		assert.Empty(t, c.Manifest().Plan.Sequential.Verdict)
		assert.NotZero(t, c.Manifest().Plan.Sequential.FreshRuns)
	}})
	require.NoError(t, err)
	assert.True(t, seen)

	half := filepath.Join(t.TempDir(), "half")
	require.NoError(t, os.MkdirAll(half, 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(half, "capture.json.tmp"), nil, 0o600))
	clearStart(half)
	entries, err := os.ReadDir(half)
	require.NoError(t, err)
	assert.Empty(t, entries)
}

// A capture and its fresh runs spend from one budget, also when it is resumed: what
// the fresh runs cost counts before the first of the others is asked again.
func sharesTheBudget(t *testing.T, base string) {
	dir := filepath.Join(t.TempDir(), "new")
	drifted := sequential(t, "sim-drifted", base, 3)
	drifted.Limit, drifted.Caps.Calls = 21, to(int64(215))
	out := start(t, drifted, dir, nil, Watch{})
	assert.Equal(t, Unaffordable, out.Verdict(.05))
	require.NotNil(t, out.Fresh)
	assert.EqualValues(t, 5, out.Fresh.Summary.Totals.Calls)
	assert.Nil(t, out.Comparison, "no verdict without all fresh runs")
	budgetOf := func() *measurements.BudgetRecord {
		c, err := measurements.Reopen(dir)
		require.NoError(t, err)
		require.NotNil(t, c.Manifest().Budget)
		return c.Manifest().Budget
	}
	record := budgetOf()
	assert.EqualValues(t, 215, record.Calls)
	assert.Equal(t, "the budget of 215 calls is spent", record.Stopped)
	assert.Equal(t, measurements.Partial, out.Summary.Status)
	assert.Equal(t, record, out.Summary.Budget)

	job, err := Prepare(drifted, detector.Core(), filepath.Dir(dir), "resume")
	require.NoError(t, err)
	first := int64(0)
	out, err = job.Resume(context.Background(), dir, nil, Watch{Progress: func(Progress) {
		if first == 0 {
			first = job.budget.State().Spent.Calls
		}
	}})
	require.NoError(t, err)
	assert.EqualValues(t, 215, first, "also of the fresh runs")
	assert.Equal(t, Unaffordable, out.Verdict(.05))
	assert.EqualValues(t, 215, budgetOf().Calls, "each counts once")

	out, err = resume(t, dir, func(r *Request) { r.Caps.Calls = to(int64(1000)) })
	require.NoError(t, err)
	assert.Equal(t, Passed, out.Verdict(.05))
	require.NotNil(t, out.Comparison)
	record = budgetOf()
	assert.EqualValues(t, 210+out.Summary.Plan.Sequential.FreshRuns, record.Calls)
	assert.Empty(t, record.Stopped)
}

func stopsEarly(t *testing.T, base string) {
	dir := filepath.Join(t.TempDir(), "new")
	calls := 0
	out := start(t, sequential(t, "sim-strong", base, 1), dir, nil, Watch{Progress: func(p Progress) { calls = p.Calls }})
	require.NotNil(t, out.Comparison)
	assert.Equal(t, compare.Pass, out.Comparison.Verdict)
	record := out.Summary.Plan.Sequential
	assert.Equal(t, 1, record.Stopped)
	assert.Equal(t, 96, calls)
	assert.Equal(t, 144, record.RunsSaved)
	require.NotNil(t, record.CallsSaved)
	assert.EqualValues(t, 144, *record.CallsSaved)
	assert.Equal(t, 2, out.Summary.Plan.K)
	assert.Equal(t, measurements.Complete, out.Summary.Status)

	_, calls = resumed(t, dir)
	assert.Zero(t, calls)

	subject, err := compare.Load(dir, "", "")
	require.NoError(t, err, "it is a capture like any other")
	assert.Equal(t, 2, subject.K)
}

func refusesWhatCannotBeCompared(t *testing.T, base string) {
	folder := t.TempDir()
	for name, test := range map[string]struct {
		change func(*Request)
		want   string
	}{
		"K":           {func(r *Request) { r.Runs = 3 }, "leave --runs at 5"},
		"no baseline": {func(r *Request) { r.Against = filepath.Join(folder, "none") }, "--against"},
		"cases":       {func(r *Request) { r.Limit, r.Cases = 0, []string{"val-python-dahlia-ballot"} }, "no planned case"},
		"parameters":  {func(r *Request) { r.Endpoint.MaxTokens = 5 }, "max_tokens"},
	} {
		t.Run(name, func(t *testing.T) {
			req := sequential(t, "sim-strong", base, 2)
			test.change(&req)
			_, err := Prepare(req, detector.Core(), folder, "capture")
			assert.ErrorContains(t, err, test.want)
		})
	}
}
