package bench

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/youden-bench/youden/corpus"
	"github.com/youden-bench/youden/detector"
	"github.com/youden-bench/youden/measurements"
	"github.com/youden-bench/youden/measurements/compare"
)

// reply is what the scripted endpoint makes of a run.
type reply int

const (
	right reply = iota
	wrong       // nothing is found
	lost        // HTTP 500
)

// draw is a run that a request belongs to.
type draw struct {
	c     *corpus.Case
	side  corpus.SideName
	k     int
	fresh bool
	nth   int // of its family in the corpus, from 0
}

// scripted is an endpoint that answers each run as a script says: of the baseline's
// seed always right, but for one run, so that runs are draws.
type scripted struct {
	*httptest.Server
	mu     sync.Mutex
	draws  map[int64]draw
	script func(draw) reply
	calls  int
	refuse string // a parameter that is refused
}

const (
	oldSeed = 1
	newSeed = 11
)

func script(t *testing.T) *scripted {
	t.Helper()
	c, err := LoadCorpus("")
	require.NoError(t, err)
	s := &scripted{draws: map[int64]draw{}}
	nth := map[string]int{}
	train, _ := c.Seal()
	for _, one := range train.Cases() {
		n := nth[string(one.Family)]
		nth[string(one.Family)]++
		for _, side := range one.Sides() {
			for k := range compare.FreshRuns {
				for _, seed := range []uint64{oldSeed, newSeed, freshSeed(newSeed)} {
					s.draws[requestSeed(seed, one.ContentHash(), side, k)] = draw{one, side, k, seed == freshSeed(newSeed), n}
				}
			}
		}
	}
	s.Server = httptest.NewServer(http.HandlerFunc(s.serve))
	t.Cleanup(s.Close)
	return s
}

// say changes the script and forgets what was counted.
func (s *scripted) say(f func(draw) reply) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.script, s.calls = f, 0
}

func (s *scripted) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.calls
}

func (s *scripted) serve(w http.ResponseWriter, r *http.Request) {
	var asked map[string]any
	decoder := json.NewDecoder(r.Body)
	decoder.UseNumber()
	if err := decoder.Decode(&asked); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, has := asked[s.refuse]; has && s.refuse != "" {
		w.WriteHeader(http.StatusBadRequest)
		fmt.Fprintf(w, `{"error":{"message":"Unsupported parameter: '%s' is not supported with this model.","type":"invalid_request_error","param":"%[1]s","code":"unsupported_parameter"}}`, s.refuse)
		return
	}
	s.calls++
	number, _ := asked["seed"].(json.Number)
	seed, err := number.Int64()
	d, known := s.draws[seed]
	if err != nil || !known {
		http.Error(w, "no such run", http.StatusBadRequest)
		return
	}
	said := right
	if d.c.Family == "injection" && d.nth == 0 && d.k == 0 && d.side == corpus.Vulnerable {
		said = wrong
	} else if s.script != nil {
		said = s.script(d)
	}
	text := `{"findings": []}`
	switch {
	case said == lost:
		http.Error(w, `{"error":{"message":"down"}}`, http.StatusInternalServerError)
		return
	case said == right && d.side == corpus.Vulnerable:
		span := d.c.Spans[0]
		text = fmt.Sprintf(`{"findings": [{"family": %q, "file": %q, "line": %d, "severity": "high"}]}`, d.c.Family, span.File, span.Start)
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]any{
		"model": "m", "usage": map[string]int{"prompt_tokens": 10, "completion_tokens": 5},
		"choices": []any{map[string]any{"index": 0, "finish_reason": "stop", "message": map[string]string{"role": "assistant", "content": text}}},
	})
}

// request asks for a capture at the scripted endpoint.
func (s *scripted) request(t *testing.T, against string, seed uint64) Request {
	t.Helper()
	req := sequential(t, "", against, seed)
	req.Families = []string{"injection", "path", "access_control"}
	req.Limit, req.EndpointName, req.MaxErrorRate = 0, "scripted", .5
	price := usd(1, 2)
	req.Endpoint = EndpointConfig{BaseURL: s.URL + "/v1", Model: "m", MaxTokens: 64, MaxTokensField: "max_tokens", Price: price, Temperature: to(0.0), Retries: RetryConfig{Max: to(0)}}
	return req
}

func (s *scripted) baseline(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "base")
	out := start(t, s.request(t, "", oldSeed), dir, nil, Watch{})
	require.Equal(t, Passed, out.Verdict(.05))
	return dir
}

func recordOf(t *testing.T, dir string) measurements.Sequential {
	t.Helper()
	c, err := measurements.Reopen(dir)
	require.NoError(t, err)
	require.NotNil(t, c.Manifest().Plan.Sequential)
	return *c.Manifest().Plan.Sequential
}

func judged(r measurements.Sequential) (families []string) {
	for _, f := range r.Fresh {
		families = append(families, f.Family)
	}
	return families
}

// missed answers nothing on the vulnerable side of the first n cases of a family.
func missed(d draw, family string, n int) bool {
	return !d.fresh && d.side == corpus.Vulnerable && string(d.c.Family) == family && d.nth < n
}

// A capture that lost runs, resumed: the runs that it recovers change what is
// suspected, in either direction, and what was paid for stays in the books.
func TestRecoveredRunsChangeTheSuspects(t *testing.T) {
	s := script(t)
	base := s.baseline(t)
	t.Run("more", func(t *testing.T) { suspectsMore(t, s, base) })
	t.Run("none", func(t *testing.T) { suspectsNoMore(t, s, base) })
	t.Run("earlier", func(t *testing.T) { keepsLaterRuns(t, s, base) })
	t.Run("failed earlier", func(t *testing.T) { keepsAnEarlierFailure(t, s, base) })
	t.Run("parameters", func(t *testing.T) { refusesOtherFreshRuns(t, s, base) })
}

func suspectsMore(t *testing.T, s *scripted, base string) {
	dir := filepath.Join(t.TempDir(), "new")
	s.say(func(d draw) reply {
		switch {
		case missed(d, "access_control", 2):
			return lost
		case missed(d, "path", 3):
			return wrong
		}
		return right
	})
	out := start(t, s.request(t, base, newSeed), dir, nil, Watch{})
	require.NotNil(t, out.Comparison)
	first := recordOf(t, dir)
	assert.Equal(t, []string{"path"}, judged(first))
	assert.Equal(t, 180, first.FreshRuns)
	require.NotNil(t, first.FreshCalls)
	require.NotNil(t, first.FreshCostUSDMicros)
	assert.EqualValues(t, 180, *first.FreshCalls)

	s.say(func(d draw) reply {
		if missed(d, "access_control", 2) {
			return wrong
		}
		return right
	})
	out, _ = resumed(t, dir)
	require.NotNil(t, out.Comparison, "it has a verdict again")
	assert.Equal(t, Passed, out.Verdict(.5))
	second := recordOf(t, dir)
	assert.ElementsMatch(t, []string{"path", "access_control"}, judged(second))
	assert.Equal(t, 10+160, s.count(), "what was lost is asked again, and what is suspected anew; nothing else")
	require.Len(t, second.FreshCaptures, 2)
	assert.Equal(t, []string{"fresh", "fresh-2"}, []string{second.FreshCaptures[0].Folder, second.FreshCaptures[1].Folder})
	assert.Equal(t, 340, second.FreshRuns)
	assert.EqualValues(t, 340, *second.FreshCalls)
	assert.Greater(t, *second.FreshCostUSDMicros, *first.FreshCostUSDMicros)
	assert.Equal(t, measurements.Complete, out.Summary.Status)

	s.say(nil)
	again, _ := resumed(t, dir)
	assert.Zero(t, s.count())
	assert.Equal(t, second, *again.Summary.Plan.Sequential)

	require.NoError(t, os.RemoveAll(filepath.Join(dir, "fresh-2")))
	req, err := RequestOf(dir)
	require.NoError(t, err)
	job, err := Prepare(req, detector.Core(), filepath.Dir(dir), "resume")
	require.NoError(t, err)
	_, err = job.Resume(context.Background(), dir, nil, Watch{})
	assert.ErrorContains(t, err, "restore the folder fresh-2")
}

func suspectsNoMore(t *testing.T, s *scripted, base string) {
	dir := filepath.Join(t.TempDir(), "new")
	s.say(func(d draw) reply {
		switch {
		case missed(d, "path", 1):
			return wrong
		case missed(d, "path", 6):
			return lost
		}
		return right
	})
	start(t, s.request(t, base, newSeed), dir, nil, Watch{})
	first := recordOf(t, dir)
	require.Equal(t, []string{"path"}, judged(first))

	s.say(nil)
	out, _ := resumed(t, dir)
	require.NotNil(t, out.Comparison)
	assert.Equal(t, measurements.Complete, out.Summary.Status)
	second := recordOf(t, dir)
	assert.Empty(t, second.Fresh, "it is suspected no longer, and not judged")
	assert.Equal(t, []measurements.SliceFamily{{Slice: "planted", Family: "path"}}, second.Unjudged())
	assert.Equal(t, first.FreshRuns, second.FreshRuns)
	assert.Equal(t, first.FreshCalls, second.FreshCalls, "and was paid for")
	assert.Equal(t, first.FreshCostUSDMicros, second.FreshCostUSDMicros)
	assert.Equal(t, -180, second.RunsSaved)
	assert.EqualValues(t, 260, out.Summary.Totals.Runs)
}

// A look that was passed stays passed: what was sent after it stays in the books.
func keepsLaterRuns(t *testing.T, s *scripted, base string) {
	dir := filepath.Join(t.TempDir(), "new")
	s.say(func(d draw) reply {
		if d.nth%2 == 1 && d.side == corpus.Vulnerable {
			return lost
		}
		return right
	})
	out := start(t, s.request(t, base, newSeed), dir, nil, Watch{})
	require.Equal(t, 5, out.Summary.Plan.K, "the first look could not tell")

	s.say(nil)
	var notes []string
	req, err := RequestOf(dir)
	require.NoError(t, err)
	job, err := Prepare(req, detector.Core(), filepath.Dir(dir), "resume")
	require.NoError(t, err)
	out, err = job.Resume(context.Background(), dir, nil, Watch{Note: func(text string) { notes = append(notes, text) }})
	require.NoError(t, err)
	require.NotNil(t, out.Comparison)
	assert.Equal(t, compare.Pass, out.Comparison.Verdict)
	assert.Equal(t, 5, out.Summary.Plan.K)
	assert.EqualValues(t, 260, out.Summary.Totals.Calls)
	assert.Contains(t, strings.Join(notes, "\n"), "; later runs were made already, going on with them")
}

// Nor is the FAIL of a look lost, because the capture goes on.
func keepsAnEarlierFailure(t *testing.T, s *scripted, base string) {
	dir := filepath.Join(t.TempDir(), "new")
	failing := func(d draw) bool { return d.k < 2 && d.side == corpus.Vulnerable && d.nth%2 == 1 }
	s.say(func(d draw) reply {
		if failing(d) {
			return lost
		}
		return right
	})
	out := start(t, s.request(t, base, newSeed), dir, nil, Watch{})
	require.Equal(t, 5, out.Summary.Plan.K)
	s.say(func(d draw) reply {
		if failing(d) {
			return wrong
		}
		return right
	})
	out, _ = resumed(t, dir)
	require.NotNil(t, out.Comparison)
	assert.Equal(t, 5, out.Summary.Plan.K)
	assert.Equal(t, compare.Fail, out.Comparison.Verdict)
	assert.Equal(t, "FAIL", out.Summary.Plan.Sequential.Looks[0].Verdict)
}

// Fresh runs that were sent with other parameters confirm nothing.
func refusesOtherFreshRuns(t *testing.T, s *scripted, base string) {
	dir := filepath.Join(t.TempDir(), "new")
	s.say(func(d draw) reply {
		if missed(d, "path", 3) {
			return wrong
		}
		return right
	})
	out := start(t, s.request(t, base, newSeed), dir, nil, Watch{Note: func(text string) {
		if strings.Contains(text, "fresh runs") {
			s.mu.Lock()
			s.refuse = "temperature"
			s.mu.Unlock()
		}
	}})
	s.refuse = ""
	require.NotNil(t, out.Comparison)
	assert.Equal(t, compare.Incomparable, out.Comparison.Verdict)
	assert.Contains(t, strings.Join(out.Comparison.Reasons, "\n"), "the fresh runs were made otherwise than the regular ones: parameter temperature: 0 and null")
	assert.Equal(t, "INCOMPARABLE", recordOf(t, dir).Verdict)
}
