package conformance

import (
	"context"
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/youden-bench/youden/bench/endpoint"
	"github.com/youden-bench/youden/bench/ledger"
	"github.com/youden-bench/youden/detector"
	"github.com/youden-bench/youden/measurements"
)

// llama starts a server with a real language model of 260,032 parameters, which has
// no skill at audit: YOUDEN_LLAMA_SERVER names a llama-server, else
// YOUDEN_LLAMA_PYTHON a Python with what llama/requirements.txt says. Without one
// of them the test is skipped.
func llama(t *testing.T) string {
	t.Helper()
	weights := sharedFile(t, "data/models/stories260K-f32.gguf")
	if python := os.Getenv("YOUDEN_LLAMA_PYTHON"); python != "" {
		cmd := exec.Command(python, filepath.Join("llama", "serve.py"), weights)
		cmd.Env = environment(t)
		stdin, err := cmd.StdinPipe()
		require.NoError(t, err)
		base := serve(t, cmd) + "/v1"
		t.Cleanup(func() { _ = stdin.Close() })
		return base
	}
	program := os.Getenv("YOUDEN_LLAMA_SERVER")
	if program == "" {
		var err error
		if program, err = exec.LookPath("llama-server"); err != nil {
			t.Skip("no llama-server: install llama/requirements.txt and set YOUDEN_LLAMA_PYTHON, or set YOUDEN_LLAMA_SERVER")
		}
	}
	port := freePort(t)
	cmd := exec.Command("sh", "-c", `echo "http://127.0.0.1:$2"; exec "$0" -m "$1" --host 127.0.0.1 --port "$2" -c 2048 -np 4 -t 1 --jinja --alias tiny`, program, weights, strconv.Itoa(port))
	cmd.Env = environment(t)
	url := serve(t, cmd)
	awaitHealth(t, url)
	return url + "/v1"
}

// awaitHealth waits until the model is loaded: llama-server listens before.
func awaitHealth(t *testing.T, url string) {
	t.Helper()
	require.Eventually(t, func() bool {
		resp, err := http.Get(url + "/health")
		if err != nil {
			return false
		}
		return resp.Body.Close() == nil && resp.StatusCode == http.StatusOK
	}, 30*time.Second, 50*time.Millisecond)
}

// A probe of a real serving stack finds what was seen of it by hand
// (spec/endpoints.md section 2.3).
func TestLlamaDoctor(t *testing.T) {
	base := llama(t)
	dir := configure(t, base, "tiny", "")
	ended := youden(t, dir, "doctor", "peer", "--long-prompt", "3000")
	require.Equal(t, 0, ended.code, ended.stderr)
	t.Log(ended.stdout)
	c, err := measurements.ReadCapabilities(filepath.Join(dir, "capabilities", "peer-tiny.json"))
	require.NoError(t, err)
	for name, want := range map[string]measurements.Treatment{
		"max_tokens": measurements.Honoured, "max_completion_tokens": measurements.Honoured,
		"temperature": measurements.Honoured, "seed": measurements.Honoured,
		"response_format.json_schema": measurements.Honoured, "stop": measurements.Honoured,
		"stream": measurements.Honoured, "stream_usage": measurements.Honoured, "usage": measurements.Honoured,
		"model":       measurements.Ignored, // it answers under any name
		"long_prompt": measurements.Refused,
	} {
		assert.Equal(t, want, c.Treats(name), name)
	}
	require.NotNil(t, c.ContextTokens)
	assert.EqualValues(t, 512, *c.ContextTokens)
	assert.Zero(t, c.Failed)

	// The embedded cases do not fit 512 tokens: no run is a score.
	captured := capture(t, dir, "c")
	assert.Equal(t, 5, captured.code, captured.stderr)
	_, list := rows(t, filepath.Join(dir, "c"), captured.stdout)
	assert.Equal(t, map[string]int{"context": len(list)}, statusCounts(list))
	manifest, err := os.ReadFile(filepath.Join(dir, "c", "capture.json"))
	require.NoError(t, err)
	assert.Contains(t, string(manifest), measurements.CapabilitiesSchema)
}

// programs are one-liners of two kinds that a model without skill cannot tell apart.
var programs = []struct {
	code       string
	vulnerable bool
}{
	{"os.system('ls ' + request.args['d'])", true}, {"db.execute('select * from t where id=' + user_id)", true},
	{"eval(request.body)", true}, {"open('/data/' + request.args['f'])", true},
	{"subprocess.run(['ls', '-l'])", false}, {"db.execute('select * from t where id=?', (user_id,))", false},
	{"json.loads(request.body)", false}, {"open('/data/readme.txt')", false},
}

const verdictSchema = `{"type":"object","properties":{"verdict":{"type":"string","enum":["vulnerable","safe"]}},"required":["verdict"],"additionalProperties":false}`

// youden's client and a real model: concurrent draws, a grammar that is kept to,
// usage with a true prefix cache, the limit of tokens; and no skill where there is
// none.
func TestLlamaClient(t *testing.T) {
	base := llama(t)
	l, err := ledger.OpenStore(context.Background(), ledger.NewMemory(), ledger.Options{})
	require.NoError(t, err)
	hot := 1.0
	c, err := endpoint.New(endpoint.Options{
		Name: "peer", BaseURL: base, Model: "tiny", Temperature: &hot, MaxTokens: 120, Ledger: l, Scope: "conformance", Concurrency: 8,
	})
	require.NoError(t, err)
	defer func() { c.CloseIdle(); require.NoError(t, l.Close()) }()

	const draws = 10
	answers := make([]detector.Answer, len(programs)*draws)
	var running sync.WaitGroup
	free := make(chan struct{}, 8)
	for i := range answers {
		running.Go(func() {
			free <- struct{}{}
			defer func() { <-free }()
			answers[i] = c.Complete(endpoint.WithSample(context.Background(), i%draws), detector.Request{
				Messages: []detector.Message{{Role: detector.User, Content: "Is this program vulnerable or safe? " + programs[i/draws].code}},
				Seed:     int64(i), ResponseFormat: "json_schema", Schema: json.RawMessage(verdictSchema),
			})
		})
	}
	running.Wait()
	said := map[bool]float64{}
	cached := int64(0)
	for i, a := range answers {
		require.Equal(t, detector.OK, a.Status, "%s: %s", a.Detail, a.Text)
		var v struct{ Verdict string }
		require.NoError(t, json.Unmarshal([]byte(a.Text), &v), a.Text)
		require.Contains(t, []string{"vulnerable", "safe"}, v.Verdict)
		if v.Verdict == "vulnerable" {
			said[programs[i/draws].vulnerable] += 1 / float64(draws*len(programs)/2)
		}
		require.NotNil(t, a.Usage.Prompt)
		require.NotNil(t, a.Usage.Completion)
		if a.Usage.Cached != nil {
			cached += *a.Usage.Cached
			assert.LessOrEqual(t, *a.Usage.Cached, *a.Usage.Prompt)
		}
	}
	t.Logf("%d answers: vulnerable said of %.2f of the vulnerable and %.2f of the safe; J = %+.2f; %d cached tokens", len(answers), said[true], said[false], said[true]-said[false], cached)
	assert.InDelta(t, 0, said[true]-said[false], 0.5, "a model without skill has some")
	assert.Positive(t, cached, "prompts that begin alike are cached")

	cut := c.Complete(endpoint.WithSample(context.Background(), 0), detector.Request{
		Messages: []detector.Message{{Role: detector.User, Content: "Once upon a time"}}, MaxTokens: 5,
	})
	assert.Equal(t, detector.Truncated, cut.Status)
	assert.EqualValues(t, 5, *cut.Usage.Completion)
}
