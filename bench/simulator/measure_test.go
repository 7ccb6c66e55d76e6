package simulator

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// goodInstruction is a prompt a careful person would write: about 150 words.
const goodInstruction = `You audit one side of a code change for security defects.

Follow untrusted input from where it enters (request parameters, bodies, headers, files, messages) through assignments, helpers and files to the place where it acts. Report a defect only when such a value reaches a dangerous operation without a guard, or when a needed check is missing. Before reporting, look for validation, escaping or an allowlist between entry and use, on every path, and for decorators or middleware that protect the function; what is guarded is safe and is not a defect. Avoid false positives.

Give severity by impact: critical when code or accounts fall, high, medium or low otherwise, and a calibrated confidence. Give the exact family id and the line numbers of the defect, one finding per root cause.
`

const goodChecklist = `## Checklist
- queries, shell commands and templates that are concatenated or interpolated instead of parameterised
- HTML written without escaping, markup marked as safe
- paths that are not resolved and contained below the base directory; archives and links
- objects fetched by id without an owner or role check; all fields of a request copied
- tokens whose signature, algorithm or expiry is not verified; session id not renewed
- hard-coded secrets, debug mode, CORS origins, cookie flags
- weak hash, predictable random values, certificates not checked, comparison not constant-time
- pickle, yaml and other deserialization of arbitrary types
- outbound fetch of a host from input, private addresses, external entities
- redirect to a target that is not relative or allowlisted by exact host
- stack traces, secrets in logs, extra response fields
- unbounded reads, decompression, regex backtracking, missing timeouts
- check-then-use without lock, transaction or atomic step; temporary files
- missing range or type checks, negative amounts, prototype pollution, integrity of downloads
`

const bareInstruction = "Find security defects.\n"

const answerContract = `## Answer
Reply with one JSON object {"findings":[{"family":"","cwe":"","file":"","line":0,"end_line":0,"severity":"","confidence":0,"explanation":"","suggestion":""}]}. Use the family ids above. An empty list means that nothing was found.
`

type side map[string]string // path -> text

type span struct {
	File  string `json:"file"`
	Start int    `json:"start_line"`
	End   int    `json:"end_line"`
}

type pair struct {
	id, family        string
	accept            []string
	spans             []span
	vulnerable, fixed side
}

func sourceSection(s side) string {
	var b strings.Builder
	var names []string
	for name := range s {
		names = append(names, name)
	}
	sort.Strings(names)
	for _, name := range names {
		token := hexOf(16, "fence", s[name])
		fmt.Fprintf(&b, "===== BEGIN FILE %s %q =====\n", token, name)
		for i, line := range strings.Split(strings.TrimSuffix(s[name], "\n"), "\n") {
			fmt.Fprintf(&b, "%5d | %s\n", i+1, line)
		}
		fmt.Fprintf(&b, "===== END FILE %s =====\n", token)
	}
	return b.String()
}

func familyList(lex *lexicon) string {
	var b strings.Builder
	for _, f := range lex.Families {
		fmt.Fprintf(&b, "- %s: %s\n", f.ID, f.What)
	}
	return b.String()
}

func detectorMessages(t testing.TB, instruction, sections string, s side) []map[string]any {
	t.Helper()
	lex, err := loadLexicon()
	require.NoError(t, err)
	user := instruction + "\n" + familyList(lex) + "\n" + sections + "\n## Source\n" + sourceSection(s) + "\n" + answerContract
	return []map[string]any{{"role": "system", "content": "You are a code auditor."}, {"role": "user", "content": user}}
}

func newServer(t testing.TB, o Options) *Server {
	t.Helper()
	s, err := New(o)
	require.NoError(t, err)
	return s
}

type reply struct {
	status int
	header http.Header
	body   []byte
}

func post(t testing.TB, s http.Handler, body any, headers ...string) reply {
	t.Helper()
	raw, ok := body.([]byte)
	if !ok {
		var err error
		raw, err = json.Marshal(body)
		require.NoError(t, err)
	}
	req := httptest.NewRequestWithContext(context.Background(), http.MethodPost, "http://sim/v1/chat/completions", bytes.NewReader(raw))
	for i := 0; i+1 < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	resp, err := Transport(s).RoundTrip(req)
	require.NoError(t, err)
	data, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	return reply{resp.StatusCode, resp.Header, data}
}

type parsedAnswer struct {
	failed   bool
	findings []reportedFinding
}

// parseAnswer reads an answer as strictly as a bench would: an object, perhaps
// in a fence or after prose.
func parseAnswer(t testing.TB, r reply) parsedAnswer {
	t.Helper()
	require.Equal(t, 200, r.status, string(r.body))
	var c struct {
		Choices []struct {
			Message struct {
				Content *string `json:"content"`
			} `json:"message"`
		} `json:"choices"`
	}
	require.NoError(t, json.Unmarshal(r.body, &c))
	content := c.Choices[0].Message.Content
	if content == nil {
		return parsedAnswer{failed: true}
	}
	text := *content
	from, to := strings.IndexByte(text, '{'), strings.LastIndexByte(text, '}')
	var out struct {
		Findings []reportedFinding `json:"findings"`
	}
	if from < 0 || to < from || json.Unmarshal([]byte(text[from:to+1]), &out) != nil {
		return parsedAnswer{failed: true}
	}
	return parsedAnswer{findings: out.Findings}
}

func (p *pair) accepts(family string) bool {
	return family == p.family || contains(p.accept, family)
}

func (p *pair) detected(list []reportedFinding) bool {
	for _, f := range list {
		if !p.accepts(f.Family) || f.EndLine-f.Line >= 40 {
			continue
		}
		for _, s := range p.spans {
			if f.File == s.File && f.Line <= s.End && f.EndLine >= s.Start {
				return true
			}
		}
	}
	return false
}

func (p *pair) leaked(list []reportedFinding) bool {
	for _, f := range list {
		if p.accepts(f.Family) {
			return true
		}
	}
	return false
}

// rates are what K runs over some pairs come to.
type rates struct {
	recall, silence, j float64
	mixed, failed      float64
	others             float64 // findings of other families a run
	byFamily           map[string][2]float64
	perPair            map[string][2]float64
}

type setup struct {
	model, instruction, sections string
	k                            int
	temperature                  float64
}

func measure(t testing.TB, s *Server, pairs []pair, o setup) rates {
	t.Helper()
	type cell struct{ hits, leaks, failed, others int }
	cells := make([]cell, len(pairs))
	var wg sync.WaitGroup
	slots := make(chan struct{}, 4)
	for i := range pairs {
		wg.Add(1)
		go func() {
			defer wg.Done()
			slots <- struct{}{}
			defer func() { <-slots }()
			p := &pairs[i]
			for k := range o.k {
				for _, vulnerable := range []bool{true, false} {
					code := p.fixed
					if vulnerable {
						code = p.vulnerable
					}
					a := parseAnswer(t, post(t, s, map[string]any{
						"model": o.model, "messages": detectorMessages(t, o.instruction, o.sections, code),
						"temperature": o.temperature, "max_tokens": 4096, "seed": 1000*(k+1) + 7,
					}))
					switch {
					case a.failed:
						cells[i].failed++
						if !vulnerable {
							cells[i].leaks++ // a failed answer is not silence
						}
					case vulnerable && p.detected(a.findings):
						cells[i].hits++
					case !vulnerable && p.leaked(a.findings):
						cells[i].leaks++
					}
					for _, f := range a.findings {
						if !p.accepts(f.Family) {
							cells[i].others++
						}
					}
				}
			}
		}()
	}
	wg.Wait()
	r := rates{byFamily: map[string][2]float64{}, perPair: map[string][2]float64{}}
	n, k := float64(len(pairs)), float64(o.k)
	perFamily := map[string]float64{}
	for i := range pairs {
		perFamily[pairs[i].family]++
	}
	for i, c := range cells {
		hit, leak := float64(c.hits)/k, float64(c.leaks)/k
		r.recall += hit / n
		r.silence += (1 - leak) / n
		r.failed += float64(c.failed) / (2 * k * n)
		r.others += float64(c.others) / (2 * k * n)
		for _, x := range []float64{hit, leak} {
			if x > 0 && x < 1 {
				r.mixed += 1 / (2 * n)
			}
		}
		f := pairs[i].family
		v := r.byFamily[f]
		r.byFamily[f] = [2]float64{v[0] + hit/perFamily[f], v[1] + leak/perFamily[f]}
		r.perPair[pairs[i].id] = [2]float64{hit, leak}
	}
	r.j = r.recall + r.silence - 1
	return r
}

func (r rates) String() string {
	return fmt.Sprintf("recall %.3f silence %.3f J %+.3f mixed %.2f failed %.3f others/run %.2f", r.recall, r.silence, r.j, r.mixed, r.failed, r.others)
}

func readSide(t testing.TB, root string, files []string) side {
	t.Helper()
	s := side{}
	for _, f := range files {
		data, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(f)))
		require.NoError(t, err)
		s[f] = string(data)
	}
	return s
}

// sharedPairs reads the real pairs, or skips.
func sharedPairs(t testing.TB) []pair {
	t.Helper()
	root := os.Getenv("YOUDEN_SHARED")
	if root == "" {
		root = filepath.Join("..", "..", "..", "shared")
	}
	root = filepath.Join(root, "data", "pairs")
	data, err := os.ReadFile(filepath.Join(root, "manifest.json"))
	if err != nil {
		t.Skipf("the shared pairs are absent (set YOUDEN_SHARED): %v", err)
	}
	var m struct {
		Pairs []struct {
			ID     string   `json:"id"`
			Family string   `json:"family"`
			Accept []string `json:"accept_families"`
			Spans  []span   `json:"spans"`
			Files  struct {
				Vulnerable []string `json:"vulnerable"`
				Fixed      []string `json:"fixed"`
			} `json:"files"`
		} `json:"pairs"`
	}
	require.NoError(t, json.Unmarshal(data, &m))
	var out []pair
	for _, p := range m.Pairs {
		dir := filepath.Join(root, "pairs", p.ID)
		out = append(out, pair{
			id: p.ID, family: p.Family, accept: p.Accept, spans: p.Spans,
			vulnerable: readSide(t, filepath.Join(dir, "vulnerable"), p.Files.Vulnerable),
			fixed:      readSide(t, filepath.Join(dir, "fixed"), p.Files.Fixed),
		})
	}
	return out
}
