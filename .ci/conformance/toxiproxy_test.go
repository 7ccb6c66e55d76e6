package conformance

import (
	"context"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/Shopify/toxiproxy/v2"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/rs/zerolog"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// between puts a proxy that can break connections in front of a base URL.
func between(t *testing.T, base string) (proxy *toxiproxy.Proxy, proxied string) {
	t.Helper()
	server := toxiproxy.NewServer(toxiproxy.NewMetricsContainer(prometheus.NewRegistry()), zerolog.Nop())
	host, path, _ := strings.Cut(strings.TrimPrefix(base, "http://"), "/")
	proxy = toxiproxy.NewProxy(server, "peer", "127.0.0.1:0", host)
	require.NoError(t, proxy.Start())
	t.Cleanup(proxy.Stop)
	return proxy, "http://" + proxy.Listen + "/" + path
}

// The timeouts: patient ones, which a busy machine does not run into, and two that
// end a call soon, before its first byte or before its last.
const (
	patient   = "[endpoint.peer.timeouts]\nconnect = \"20s\"\nfirst_byte = \"30s\"\ntotal = \"60s\"\n"
	hasty     = "[endpoint.peer.timeouts]\nconnect = \"20s\"\nfirst_byte = \"1500ms\"\ntotal = \"60s\"\n"
	hastyAtIt = "[endpoint.peer.timeouts]\nconnect = \"20s\"\nfirst_byte = \"30s\"\ntotal = \"1500ms\"\n"
)

// Whatever becomes of a connection: each run ends in the class of its fault, none
// becomes a score, the totals are those of the rows, and when the network is well
// again `youden resume` ends where an undisturbed capture ends.
func TestBrokenConnections(t *testing.T) {
	base := simulate(t)
	proxy, proxied := between(t, base)
	folders := map[string]string{}
	for _, timeouts := range []string{patient, hasty, hastyAtIt} {
		folders[timeouts] = configure(t, proxied, model, timeouts)
	}
	whole := capture(t, folders[patient], "whole")
	require.Equal(t, 0, whole.code, whole.stderr)
	_, list := rows(t, filepath.Join(folders[patient], "whole"), whole.stdout)
	reference := measured(list)

	const all, some, none = "all", "some", "none" // of the runs fail
	for _, c := range []struct {
		name, toxic string
		fail        string
		status      string
		timeouts    string
	}{
		{"cut within the headers", `{"type":"limit_data","attributes":{"bytes":40}}`, all, "transient", patient},
		{"cut within the body", `{"type":"limit_data","attributes":{"bytes":900}}`, all, "transient", patient},
		{"reset before the answer", `{"type":"reset_peer","attributes":{"timeout":0}}`, all, "transient", patient},
		{"reset on the way there", `{"type":"reset_peer","stream":"upstream","attributes":{"timeout":0}}`, all, "transient", patient},
		{"half of the connections reset", `{"type":"reset_peer","toxicity":0.5,"attributes":{"timeout":0}}`, some, "transient", patient},
		{"nothing ever comes", `{"type":"timeout","attributes":{"timeout":0}}`, all, "timeout", hasty},
		{"nothing ever goes", `{"type":"timeout","stream":"upstream","attributes":{"timeout":0}}`, all, "timeout", hasty},
		{"closed after a while without a byte", `{"type":"timeout","attributes":{"timeout":200}}`, all, "transient", patient},
		{"slower than the first byte may be", `{"type":"latency","attributes":{"latency":4000}}`, all, "timeout", hasty},
		{"slower, but in time", `{"type":"latency","attributes":{"latency":150,"jitter":50}}`, none, "", patient},
		{"a trickle", `{"type":"slicer","attributes":{"average_size":20,"size_variation":5,"delay":200000}}`, all, "timeout", hasty},
		{"a trickle that the total ends", `{"type":"slicer","attributes":{"average_size":20,"size_variation":5,"delay":200000}}`, all, "timeout", hastyAtIt},
		{"in small pieces", `{"type":"slicer","attributes":{"average_size":7,"size_variation":3,"delay":50}}`, none, "", patient},
		{"a narrow line", `{"type":"bandwidth","attributes":{"rate":20}}`, none, "", patient},
		{"a slow goodbye", `{"type":"slow_close","attributes":{"delay":100}}`, none, "", patient},
	} {
		t.Run(c.name, func(t *testing.T) {
			toxic, err := proxy.Toxics.AddToxicJson(strings.NewReader(c.toxic))
			require.NoError(t, err)
			dir, out := folders[c.timeouts], strings.ReplaceAll(c.name, " ", "-")
			began := time.Now()
			ended := capture(t, dir, out)
			t.Logf("%s: exit %d after %v", c.name, ended.code, time.Since(began).Round(time.Millisecond))
			require.NoError(t, proxy.Toxics.RemoveToxic(context.Background(), toxic.Name))
			said, list := rows(t, filepath.Join(dir, out), ended.stdout)
			counts := statusCounts(list)
			t.Logf("statuses: %v", counts)
			switch c.fail {
			case none:
				assert.Equal(t, 0, ended.code, ended.stderr)
				assert.Equal(t, reference, measured(list))
			case all:
				assert.Equal(t, 5, ended.code, ended.stderr)
				assert.Equal(t, map[string]int{c.status: len(list)}, counts)
				assert.Equal(t, "unrun", said.Status)
			case some:
				for status := range counts {
					assert.NotContains(t, []string{"timeout", "config", "auth", "rate_limited", "cancelled"}, status)
				}
			}
			resumes(t, dir, out, reference)
		})
	}
}

// resumes goes on with a capture, which must then be whole and equal to the
// undisturbed one; a second time nothing is left to send.
func resumes(t *testing.T, dir, out string, reference []string) {
	t.Helper()
	resumed := youden(t, dir, "resume", out, "--format", "json", "--progress", "none")
	for again := 0; resumed.code == 5 && again < 5; again++ { // a timeout of a busy machine
		resumed = youden(t, dir, "resume", out, "--format", "json", "--progress", "none")
	}
	assert.Equal(t, 0, resumed.code, resumed.stderr)
	said, list := rows(t, filepath.Join(dir, out), resumed.stdout)
	assert.Equal(t, "complete", said.Status)
	assert.Equal(t, reference, measured(list))
}

// A client that may try again gets through a network that fails now and then, and
// each of its attempts is on record.
func TestRetriesGetThrough(t *testing.T) {
	proxy, proxied := between(t, simulate(t))
	dir := configure(t, proxied, model, patient+"[endpoint.peer.retries]\nmax = 20\nbudget = \"90s\"\n")
	whole := capture(t, dir, "whole")
	require.Equal(t, 0, whole.code, whole.stderr)
	_, list := rows(t, filepath.Join(dir, "whole"), whole.stdout)

	_, err := proxy.Toxics.AddToxicJson(strings.NewReader(`{"type":"reset_peer","toxicity":0.5,"attributes":{"timeout":0}}`))
	require.NoError(t, err)
	ended := capture(t, dir, "torn")
	assert.Equal(t, 0, ended.code, ended.stderr)
	said, torn := rows(t, filepath.Join(dir, "torn"), ended.stdout)
	assert.Equal(t, measured(list), measured(torn))
	assert.GreaterOrEqual(t, said.Totals.Attempts, int64(len(list)))
	t.Logf("%d runs took %d attempts", len(list), said.Totals.Attempts)
}

// A proxy that is down refuses; when somebody listens again the capture goes on.
func TestNobodyListens(t *testing.T) {
	base := simulate(t)
	proxy, proxied := between(t, base)
	dir := configure(t, proxied, model, patient)
	whole := capture(t, dir, "whole")
	require.Equal(t, 0, whole.code, whole.stderr)
	_, list := rows(t, filepath.Join(dir, "whole"), whole.stdout)
	before := requests(t, base)

	proxy.Stop()
	ended := capture(t, dir, "down")
	assert.Equal(t, 5, ended.code, ended.stderr)
	_, refused := rows(t, filepath.Join(dir, "down"), ended.stdout)
	assert.Equal(t, map[string]int{"transient": len(refused)}, statusCounts(refused))
	assert.Equal(t, before, requests(t, base))
	require.NoError(t, proxy.Start())

	resumes(t, dir, "down", measured(list))
	after := requests(t, base)
	assert.Equal(t, before+len(list), after)
	resumes(t, dir, "down", measured(list))
	assert.Equal(t, after, requests(t, base), "a whole capture sends nothing")
}
