package endpoint_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/youden-bench/youden/bench/endpoint"
	"github.com/youden-bench/youden/bench/ledger"
	"github.com/youden-bench/youden/corpus"
	"github.com/youden-bench/youden/corpus/family"
	"github.com/youden-bench/youden/detector"
	"github.com/youden-bench/youden/measurements"
)

// quirk is one way in which an endpoint is not what the documentation shows: what
// it answers to the n-th request, and what the bench must make of it.
type quirk struct {
	name    string
	from    string // where it was seen
	serve   func(n int, sent map[string]any) reply200
	options func(*endpoint.Options)
	program func(*detector.Detector) // changes the oneshot detector
	ask     *detector.Request        // in place of the detector's request

	status    detector.Status
	attempts  int
	detail    string         // a part of it
	cause     endpoint.Cause // CauseNone unless said
	waited    time.Duration  // in all, by the test's clock
	effective map[string]any // what differs from the configured parameters
	learned   []string       // the parameters that were learned about
	warning   string         // a part of one
	check     func(t *testing.T, a detector.Answer, sent []map[string]any)
}

// reply200 is what a scripted server answers; 200 unless it says otherwise.
type reply200 struct {
	status int
	header map[string]string
	body   string
	raw    string // instead of all that: bytes on the connection, which then closes
	hang   bool   // no answer until the client gives up
}

// script answers the n-th request with the n-th reply, and then with the last.
func script(replies ...reply200) func(int, map[string]any) reply200 {
	return func(n int, _ map[string]any) reply200 { return replies[min(n, len(replies)-1)] }
}

// finding is a complete report with one finding, which every test below could be
// mistaken for.
const finding = `{"findings":[{"family":"injection","file":"src/app.py","line":2,"severity":"high","confidence":0.9,"explanation":"VULN: yes"}]}`

func say(text string) reply200 { return reply200{body: content(text, "stop")} }

func good() reply200 { return say(finding) }

func refuse(status int, body string, header ...string) reply200 {
	r := reply200{status: status, body: body, header: map[string]string{}}
	for i := 0; i+1 < len(header); i += 2 {
		r.header[header[i]] = header[i+1]
	}
	return r
}

// naturalCase is what the detector is shown.
func naturalCase() *corpus.Case {
	side := func(text string) *corpus.Side {
		return &corpus.Side{Files: []corpus.File{{Path: "src/app.py", Text: []byte(text)}}}
	}
	place := []corpus.Span{{File: "src/app.py", Start: 2, End: 2}}
	return &corpus.Case{
		ID: "c", Title: "c", Slice: "planted", Group: "c", Split: corpus.Feedback, Task: "audit", Language: "python",
		Family: "injection", Accept: []family.ID{"injection"}, Vetted: corpus.Vetted{Level: corpus.Read},
		Vulnerable: side("import os\nos.system('ls ' + name)\n"), Fixed: side("import os\nsubprocess.run(['ls', name])\n"),
		Spans: place, Regions: place,
	}
}

// virtual is time that passes only when somebody waits for it.
type virtual struct {
	mu     sync.Mutex
	now    time.Time
	waited time.Duration
}

func (v *virtual) clock() time.Time {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.now
}

func (v *virtual) wait(ctx context.Context, d time.Duration) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.now = v.now.Add(d)
	v.waited += d
	return nil
}

// bench is one quirk's server and client.
type bench struct {
	quirk
	time     *virtual
	url      string
	ledger   *ledger.Ledger
	warnings []string

	mu   sync.Mutex
	sent []map[string]any
}

func (b *bench) requests() []map[string]any {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.sent
}

func (b *bench) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	raw, _ := io.ReadAll(req.Body)
	var sent map[string]any
	if json.Unmarshal(raw, &sent) != nil {
		w.WriteHeader(http.StatusTeapot) // no test expects that
		return
	}
	b.mu.Lock()
	b.sent = append(b.sent, sent)
	n := len(b.sent) - 1
	b.mu.Unlock()
	r := b.serve(n, sent)
	switch {
	case r.hang:
		<-req.Context().Done()
		return
	case r.raw != "":
		conn, _, err := w.(http.Hijacker).Hijack()
		if err != nil {
			return
		}
		if r.raw != nothing {
			_, _ = io.WriteString(conn, r.raw)
		} else if tcp, ok := conn.(*net.TCPConn); ok {
			_ = tcp.SetLinger(0)
		}
		_ = conn.Close()
		return
	}
	w.Header().Set("Content-Type", "application/json")
	for k, v := range r.header {
		w.Header().Set(k, v)
	}
	if r.status != 0 {
		w.WriteHeader(r.status)
	}
	_, _ = io.WriteString(w, r.body)
}

// nothing stands for a connection that is reset without a byte.
const nothing = "-"

func (b *bench) client(t *testing.T) *endpoint.Client {
	o := options(b.url, b.ledger)
	o.Model = "m"
	o.Retry = endpoint.Retry{}
	o.Clock, o.Wait = b.time.clock, b.time.wait
	o.Random = func() float64 { return 0.5 }
	if b.options != nil {
		b.options(&o)
	}
	c := client(t, o)
	c.Tell(func(words string) { b.warnings = append(b.warnings, words) })
	return c
}

// run lets the detector, or the quirk's own request, ask.
func (b *bench) run(t *testing.T, c *endpoint.Client) (detector.Answer, detector.Trajectory) {
	ctx := endpoint.WithSample(t.Context(), 0)
	if b.ask != nil {
		a := c.Complete(ctx, *b.ask)
		return a, detector.Trajectory{Status: a.Status, Detail: a.Detail, Steps: []detector.Step{{Kind: detector.ModelStep, Answer: a}}}
	}
	d, err := detector.LoadEmbedded("oneshot")
	require.NoError(t, err)
	if b.program != nil {
		b.program(d)
	}
	p, err := detector.NewOneshot(d)
	require.NoError(t, err)
	target := detector.Target{Task: "audit", Seed: 7}
	for _, f := range naturalCase().Vulnerable.Files {
		target.Files = append(target.Files, detector.File{Path: f.Path, Text: string(f.Text)})
	}
	traj := p.Run(ctx, target, c)
	require.Len(t, traj.Steps, 1)
	return traj.Steps[0].Answer, traj
}

var configured = map[string]any{"temperature": 0.0, "max_tokens": 4096, "response_format": ""}

func TestQuirks(t *testing.T) {
	var all []quirk
	for _, list := range [][]quirk{contentQuirks, bodyQuirks, retryQuirks, parameterQuirks, conversationQuirks, dialectQuirks} {
		all = append(all, list...)
	}
	require.Greater(t, len(all), 60)
	seen := map[string]bool{}
	for _, q := range all {
		require.False(t, seen[q.name], "two quirks are called %s", q.name)
		seen[q.name] = true
		t.Run(q.name, func(t *testing.T) { testQuirk(t, q) })
	}
}

func testQuirk(t *testing.T, q quirk) {
	b := &bench{quirk: q, time: &virtual{now: time.Unix(1_800_000_000, 0)}, ledger: memoryLedger(t)}
	server := httptest.NewServer(b)
	t.Cleanup(server.Close)
	b.url = server.URL
	c := b.client(t)
	a, traj := b.run(t, c)

	assert.Equal(t, q.status, traj.Status, traj.Detail)
	assert.Equal(t, q.attempts, a.Attempts, a.Detail)
	assert.Len(t, b.requests(), q.attempts, "every request is an attempt on record")
	assert.Contains(t, a.Detail, q.detail)
	assert.Equal(t, q.cause, endpoint.CauseOf(a), a.Detail)
	assert.Equal(t, q.waited, b.time.waited)
	want := maps.Clone(configured)
	for k, v := range q.effective {
		if want[k] = v; v == absent {
			delete(want, k)
		}
	}
	traffic := c.Traffic(configured)
	assert.Equal(t, want, traffic.EffectiveParameters)
	var learned []string
	for _, l := range traffic.Learned {
		learned = append(learned, l.Parameter)
		assert.NotEmpty(t, l.Now)
		assert.NotEmpty(t, l.Said)
	}
	assert.Equal(t, q.learned, learned)
	if q.warning == "" && len(q.learned) == 0 {
		assert.Empty(t, b.warnings)
	}
	assert.Contains(t, strings.Join(b.warnings, "\n"), q.warning)
	noScore(t, traj)
	attemptsOnRecord(t, b.ledger, a)
	if q.check != nil {
		q.check(t, a, b.requests())
	}
	if q.status == detector.OK || settled[a.Status] {
		b.again(t, a, want)
	}
}

// absent marks a parameter that is not there any more.
const absent = "(absent)"

// noScore checks that what is no answer is no score: no hit, no miss, no silence.
func noScore(t *testing.T, traj detector.Trajectory) {
	t.Helper()
	c := naturalCase()
	for _, side := range c.Sides() {
		row := measurements.Project(measurements.Cell{Case: c, Side: side}, traj, false).Run
		switch traj.Status.Class() {
		case detector.Counts:
		case detector.Charged: // not detected and not silent
			assert.Nil(t, row.Findings)
			assert.False(t, row.Hit != nil && *row.Hit)
			assert.False(t, row.SilentStrict != nil && *row.SilentStrict)
		default:
			assert.Nil(t, row.Findings)
			assert.Nil(t, row.Hit)
			assert.Nil(t, row.SilentStrict)
			assert.Nil(t, row.SilentClass)
			assert.Nil(t, row.SilentRegion)
		}
	}
	if traj.Status != detector.OK {
		assert.Empty(t, traj.Findings)
	}
}

// attemptsOnRecord checks that the ledger has a row for each attempt.
func attemptsOnRecord(t *testing.T, l *ledger.Ledger, a detector.Answer) {
	t.Helper()
	reached, receipts := 0, map[string]bool{}
	for e, err := range l.Attempts(t.Context()) {
		require.NoError(t, err)
		receipts[e.Dispatch.Attempt.String()] = true
		if e.NotSent == nil {
			reached++
		}
	}
	assert.Equal(t, a.Attempts, reached)
	if a.Receipt != "" {
		assert.True(t, receipts[a.Receipt])
	}
}

// again opens the ledger as a resumed capture does: the same answer comes out, of
// the same requests, and nothing is sent.
func (b *bench) again(t *testing.T, first detector.Answer, effective map[string]any) {
	t.Helper()
	before := len(b.requests())
	c := b.client(t)
	assert.Equal(t, effective, c.Traffic(configured).EffectiveParameters, "learned from the ledger alone")
	a, _ := b.run(t, c)
	assert.Len(t, b.requests(), before, "an observed call is never paid twice")
	assert.True(t, a.Replayed)
	a.Replayed = false
	assert.Equal(t, first, a)
}

// chunks makes an event stream of deltas of the one choice, ended by reason.
func chunks(reason string, deltas ...string) string {
	var s strings.Builder
	for _, d := range deltas {
		fmt.Fprintf(&s, "data: {\"model\":\"m\",\"choices\":[{\"index\":0,\"delta\":%s,\"finish_reason\":null}]}\n\n", d)
	}
	fmt.Fprintf(&s, "data: {\"model\":\"m\",\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":%q}]}\n\n", reason)
	return s.String()
}

func delta(text string) string { return fmt.Sprintf(`{"content":%q}`, text) }
