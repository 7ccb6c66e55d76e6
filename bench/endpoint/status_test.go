package endpoint_test

import (
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/youden-bench/youden/bench/endpoint"
	"github.com/youden-bench/youden/bench/ledger"
	"github.com/youden-bench/youden/bench/redact"
	"github.com/youden-bench/youden/detector"
)

// message makes a completion whose one choice has this message and reason.
func message(message, reason string) string {
	return fmt.Sprintf(`{"id":"c","object":"chat.completion","model":"m","choices":[{"index":0,"message":%s,"finish_reason":%s}]}`, message, reason)
}

func content(text, reason string) string {
	return message(fmt.Sprintf(`{"role":"assistant","content":%q}`, text), fmt.Sprintf("%q", reason))
}

func apiError(code, kind, text string) string {
	return fmt.Sprintf(`{"error":{"message":%q,"type":%q,"param":null,"code":%q}}`, text, kind, code)
}

// answers is the table of what servers answer and what it means (DESIGN section
// 5, spec/peers.md section 3.1, spec/endpoints.md section 3.3).
var answers = []struct {
	name        string
	status      int
	contentType string // "" = application/json
	body        string
	want        detector.Status
	detail      string
	cause       endpoint.Cause
}{
	{name: "answer", status: 200, body: plain, want: detector.OK},
	{name: "prose is for the program to judge", status: 200, body: content("I see no bug.", "stop"), want: detector.OK},
	{name: "blank lines first", status: 200, body: "\n\n  " + content("x", "stop"), want: detector.OK},
	{name: "byte order mark", status: 200, body: "\xef\xbb\xbf" + content("x", "stop"), want: detector.OK},
	{name: "no finish reason", status: 200, body: message(`{"content":"x"}`, "null"), want: detector.OK},
	{name: "another server's word for stop", status: 200, body: content("x", "eos"), want: detector.OK},
	{name: "tool calls only", status: 200, body: message(`{"content":null,"tool_calls":[{"id":"a","function":{"name":"f","arguments":"{}"}}]}`, `"tool_calls"`), want: detector.OK},
	{name: "tool calls reported as stop", status: 200, body: message(`{"tool_calls":[{"id":"a","function":{"name":"f","arguments":"{}"}}]}`, `"stop"`), want: detector.OK},

	{name: "cut", status: 200, body: content(`{"findings":[`, "length"), want: detector.Truncated, detail: "token limit"},
	{name: "cut before anything", status: 200, body: message(`{"content":null}`, `"length"`), want: detector.Truncated},
	{name: "cut while reasoning", status: 200, body: message(`{"content":"","reasoning_content":"VULN: yes"}`, `"length"`), want: detector.Truncated},
	{name: "empty", status: 200, body: content("", "stop"), want: detector.Empty},
	{name: "blank", status: 200, body: content(" \n", "stop"), want: detector.Empty},
	{name: "null", status: 200, body: message(`{"content":null}`, `"stop"`), want: detector.Empty},
	{name: "only reasoning", status: 200, body: message(`{"content":"","reasoning":"VULN: yes"}`, `"stop"`), want: detector.Empty, detail: "reasoned"},
	{name: "only a think block", status: 200, body: content("<think>VULN: yes", "stop"), want: detector.Empty, detail: "reasoned"},
	{name: "no parts", status: 200, body: message(`{"content":[]}`, `"stop"`), want: detector.Empty},
	{name: "refusal", status: 200, body: message(`{"content":null,"refusal":"I can't help."}`, `"stop"`), want: detector.Refused, detail: "I can't help."},
	{name: "refusal part", status: 200, body: message(`{"content":[{"type":"refusal","refusal":"no"}]}`, `"stop"`), want: detector.Refused},
	{name: "filter", status: 200, body: content("No", "content_filter"), want: detector.Filtered},
	{name: "filter refuses the prompt", status: 400, body: apiError("content_filter", "", "The response was filtered"), want: detector.Filtered},
	{name: "filter of Azure", status: 400, body: `{"error":{"message":"triggering Azure OpenAI's content management policy","code":"content_filter","innererror":{"code":"ResponsibleAIPolicyViolation"}}}`, want: detector.Filtered},
	{name: "filter of a router", status: 403, body: apiError("", "", "Your input was flagged by moderation"), want: detector.Filtered},

	{name: "error in the body", status: 200, body: `{"error":{"message":"upstream died","code":502}}`, want: detector.Transient, detail: "upstream died"},
	{name: "error in the body as text", status: 200, body: `{"error":"upstream died"}`, want: detector.Transient, detail: "upstream died"},
	{name: "error beside choices", status: 200, body: `{"choices":[{"message":{"content":"x"},"finish_reason":"stop"}],"error":{"message":"late","code":"server_error"}}`, want: detector.Transient},
	{name: "null error beside choices", status: 200, body: `{"error":null,"choices":[{"message":{"content":"x"},"finish_reason":"stop"}]}`, want: detector.OK},
	{name: "rate limit in the body", status: 200, body: `{"error":{"message":"slow down","code":429}}`, want: detector.RateLimited},
	{name: "rate limit in the body by name", status: 200, body: apiError("rate_limit_exceeded", "", "slow down"), want: detector.RateLimited},
	{name: "quota in the body", status: 200, body: apiError("insufficient_quota", "", "pay"), want: detector.RateLimited, cause: endpoint.CauseQuota},
	{name: "key refused in the body", status: 200, body: `{"error":{"message":"no","code":401}}`, want: detector.Auth},
	{name: "config in the body", status: 200, body: apiError("model_not_found", "invalid_request_error", "no"), want: detector.Config},
	{name: "flat error of vLLM", status: 200, body: `{"object":"error","message":"no such model","type":"NotFoundError","code":404}`, want: detector.Config},
	{name: "error of a choice", status: 200, body: `{"choices":[{"message":{"content":"half"},"finish_reason":"error","error":{"code":429,"message":"slow down"}}]}`, want: detector.RateLimited},
	{name: "finish reason error", status: 200, body: content("half", "error"), want: detector.Transient},
	{name: "unknown finish reason", status: 200, body: content("half", "abort"), want: detector.Transient, detail: `"abort"`},
	{name: "finish reason is a number", status: 200, body: message(`{"content":"x"}`, "3"), want: detector.Transient},
	{name: "no choices", status: 200, body: `{"object":"chat.completion","choices":[]}`, want: detector.Transient, detail: "no choices"},
	{name: "choices null", status: 200, body: `{"choices":null}`, want: detector.Transient},
	{name: "choices are no objects", status: 200, body: `{"choices":[1]}`, want: detector.Transient},
	{name: "no message", status: 200, body: `{"choices":[{"finish_reason":"stop"}]}`, want: detector.Transient},
	{name: "content is a number", status: 200, body: message(`{"content":3}`, `"stop"`), want: detector.Transient},
	{name: "broken JSON", status: 200, body: `{"choices":[{"mess`, want: detector.Transient, detail: "broken JSON"},
	{name: "bytes after the JSON", status: 200, body: content("x", "stop") + "}", want: detector.Transient},
	{name: "two values", status: 200, body: content("x", "stop") + content("y", "stop"), want: detector.Transient},
	{name: "no body", status: 200, body: "", want: detector.Transient},

	{name: "HTML", status: 200, contentType: "text/html", body: "<!doctype html><title>Welcome</title>", want: detector.Config, detail: "/v1"},
	{name: "HTML called JSON", status: 200, body: "  <html></html>", want: detector.Config, detail: "HTML"},
	{name: "text", status: 200, contentType: "text/plain", body: "Ollama is running", want: detector.Config, detail: "Ollama is running"},
	{name: "array", status: 200, body: `[]`, want: detector.Config},

	{name: "key refused", status: 401, body: apiError("invalid_api_key", "invalid_request_error", "Incorrect API key"), want: detector.Auth, detail: "api_key_env"},
	{name: "forbidden", status: 403, body: `{"detail":"Not allowed"}`, want: detector.Auth, detail: "Not allowed"},
	{name: "forbidden with HTML", status: 403, contentType: "text/html", body: "<html>blocked</html>", want: detector.Auth},
	{name: "key refused with 400", status: 400, body: `[{"error":{"code":400,"message":"API key not valid","status":"INVALID_ARGUMENT","type":"API_KEY_INVALID"}}]`, want: detector.Auth},

	{name: "context", status: 400, body: apiError("context_length_exceeded", "invalid_request_error", "This model's maximum context length is 8192 tokens."), want: detector.Context},
	{name: "context of llama.cpp", status: 400, body: `{"error":{"code":400,"message":"request (60003 tokens) exceeds the available context size (512 tokens)","type":"exceed_context_size_error"}}`, want: detector.Context},
	{name: "context of llama.cpp before", status: 500, body: `{"error":{"code":500,"message":"x","type":"exceed_context_size_error"}}`, want: detector.Context},
	{name: "context of vLLM", status: 400, body: `{"error":{"message":"This model's maximum context length is 2048 tokens. However, you requested 20013 tokens","type":"BadRequestError","param":null,"code":400}}`, want: detector.Context},
	{name: "context of a proxy", status: 413, body: "too large", want: detector.Context},
	{name: "an outage that mentions the context", status: 503, body: apiError("", "", "context window service is down"), want: detector.Transient},

	{name: "no such model", status: 404, body: apiError("model_not_found", "invalid_request_error", "The model does not exist"), want: detector.Config},
	{name: "no such URL", status: 404, contentType: "text/plain", body: "404 page not found", want: detector.Config, detail: "/v1"},
	{name: "wrong method", status: 405, body: "", want: detector.Config},
	{name: "bad request", status: 400, body: apiError("unsupported_parameter", "invalid_request_error", "Unsupported parameter: 'max_tokens'"), want: detector.Config, detail: "max_tokens"},
	{name: "error is a text", status: 400, body: `{"error":"model not found"}`, want: detector.Config, detail: "model not found"},
	{name: "unprocessable", status: 422, body: `{"detail":[{"loc":["body","seed"],"msg":"extra fields not permitted"}]}`, want: detector.Config, detail: "extra fields"},
	{name: "redirect", status: 302, body: "", want: detector.Config, detail: "redirect"},
	{name: "redirect that keeps the body", status: 307, body: "", want: detector.Config},
	{name: "not modified", status: 304, body: "", want: detector.Config},

	{name: "rate limit", status: 429, body: apiError("rate_limit_exceeded", "requests", "slow down"), want: detector.RateLimited},
	{name: "rate limit without a body", status: 429, body: "", want: detector.RateLimited},
	{name: "quota", status: 429, body: apiError("insufficient_quota", "insufficient_quota", "You exceeded your current quota"), want: detector.RateLimited, cause: endpoint.CauseQuota},
	{name: "payment", status: 402, body: `{"error":{"message":"Insufficient credits","code":402}}`, want: detector.RateLimited, cause: endpoint.CauseQuota},
	{name: "request timeout", status: 408, body: "", want: detector.Transient},
	{name: "conflict", status: 409, body: "", want: detector.Transient},
	{name: "too early", status: 425, body: "", want: detector.Transient},
	{name: "server error", status: 500, body: apiError("", "server_error", "sorry"), want: detector.Transient, detail: "sorry"},
	{name: "bad gateway with HTML", status: 502, contentType: "text/html", body: "<html>nginx</html>", want: detector.Transient},
	{name: "overloaded", status: 503, body: "", want: detector.Transient},
	{name: "overloaded in Anthropic's way", status: 529, body: `{"error":{"type":"overloaded_error","message":"Overloaded"}}`, want: detector.Transient},
}

// settled are the statuses that a resumed capture does not ask for again.
var settled = map[detector.Status]bool{
	detector.OK: true, detector.Truncated: true, detector.Empty: true, detector.Oversize: true,
	detector.Refused: true, detector.Filtered: true, detector.Context: true,
}

func TestEveryAnswerHasOneStatus(t *testing.T) {
	for _, c := range answers {
		t.Run(c.name, func(t *testing.T) {
			contentType := c.contentType
			if contentType == "" {
				contentType = "application/json"
			}
			s, r := serve(t, func(w http.ResponseWriter, req *http.Request) {
				w.Header().Set("Location", "http://"+req.Host+"/elsewhere")
				reply(c.status, contentType, c.body)(w, req)
			})
			o := options(s.URL, memoryLedger(t))
			o.KeepParameters, o.MaxTokensField = true, "max_tokens" // nothing may be learned
			first := complete(t, client(t, o), 0, ask("q"))
			assert.Equal(t, c.want, first.Status, first.Detail)
			_, known := first.Status.Row()
			assert.True(t, known)
			assert.Contains(t, first.Detail, c.detail)
			assert.Equal(t, c.want == detector.OK, first.Detail == "", "%q", first.Detail)
			assert.Equal(t, c.cause, endpoint.CauseOf(first))
			assert.Equal(t, 1, first.Attempts)
			require.Equal(t, 1, r.count(), "nothing is sent twice and no redirect is followed")

			again := complete(t, client(t, o), 0, ask("q"))
			assert.Equal(t, settled[c.want], again.Replayed)
			if again.Replayed {
				again.Replayed = false
				assert.Equal(t, first, again, "a replay reads as the answer did")
			}
		})
	}
}

func TestOversize(t *testing.T) {
	s, _ := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, `{"choices":[{"message":{"content":"`)
		line := strings.Repeat("x", 1<<16)
		for range 200 {
			if _, err := io.WriteString(w, line); err != nil {
				return // the client hung up, as it should
			}
		}
		_, _ = io.WriteString(w, `"},"finish_reason":"stop"}]}`)
	})
	o := options(s.URL, memoryLedger(t))
	a := complete(t, client(t, o), 0, ask("q"))
	assert.Equal(t, detector.Oversize, a.Status)
	again := complete(t, client(t, o), 0, ask("q"))
	assert.Equal(t, detector.Oversize, again.Status)
	assert.True(t, again.Replayed)
}

func TestGzip(t *testing.T) {
	zip := func(w io.Writer, text string) {
		z := gzip.NewWriter(w)
		_, _ = io.WriteString(z, text)
		_ = z.Close()
	}
	s, _ := serve(t, func(w http.ResponseWriter, req *http.Request) {
		assert.Contains(t, req.Header.Get("Accept-Encoding"), "gzip")
		w.Header().Set("Content-Encoding", "gzip")
		zip(w, plain)
	})
	a := complete(t, client(t, options(s.URL, memoryLedger(t))), 0, ask("q"))
	assert.Equal(t, detector.OK, a.Status, a.Detail)

	// A round tripper inside the process leaves the decoding to us.
	for name, body := range map[string]string{"whole": plain, "no gzip": "\x00"} {
		o := options("http://in.process", memoryLedger(t))
		o.Canonical = "sim://default/v1"
		o.Base = roundTripper(func(*http.Request) (*http.Response, error) {
			var b strings.Builder
			if name == "whole" {
				zip(&b, body)
			} else {
				b.WriteString(body)
			}
			return &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Encoding": {"gzip"}}, Body: io.NopCloser(strings.NewReader(b.String()))}, nil
		})
		a := complete(t, client(t, o), 0, ask("q"))
		assert.Equal(t, map[string]detector.Status{"whole": detector.OK, "no gzip": detector.Transient}[name], a.Status, a.Detail)
	}
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }

// hijack answers with raw bytes and closes the connection.
func hijack(t *testing.T, raw string, reset bool) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		conn, _, err := w.(http.Hijacker).Hijack()
		if !assert.NoError(t, err) {
			return
		}
		_, _ = io.WriteString(conn, raw)
		if tcp, ok := conn.(*net.TCPConn); ok && reset {
			_ = tcp.SetLinger(0)
		}
		_ = conn.Close()
	}
}

// What was sent and has no complete answer is indeterminate in the ledger: it is
// not sent again without a decision.
func TestBrokenConnections(t *testing.T) {
	for name, raw := range map[string]string{
		"closed":           "",
		"cut body":         "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 5000\r\n\r\n" + plain,
		"cut chunks":       "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nabcde\r\n",
		"broken head":      "HTTP/1.1 200\r\nnonsense\r\n\r\n",
		"cut in the error": "HTTP/1.1 500 No\r\nContent-Length: 10\r\n\r\nab",
	} {
		for _, reset := range []bool{false, true} {
			t.Run(fmt.Sprint(name, " reset ", reset), func(t *testing.T) {
				s, r := serve(t, hijack(t, raw, reset))
				o := options(s.URL, memoryLedger(t))
				a := complete(t, client(t, o), 0, ask("q"))
				assert.Equal(t, detector.Transient, a.Status, a.Detail)
				assert.Equal(t, 1, a.Attempts)
				assert.Empty(t, a.Text)
				again := complete(t, client(t, o), 0, ask("q"))
				assert.Equal(t, detector.Cancelled, again.Status)
				assert.Equal(t, endpoint.CauseIndeterminate, endpoint.CauseOf(again))
				assert.Equal(t, 1, again.Attempts, "the one that was sent")
				assert.True(t, again.Replayed, "nothing is sent now")
				assert.Equal(t, 1, r.count())
			})
		}
	}
}

// A server that executes a call and drops the connection, which was open from an
// earlier call, makes net/http resend what it believes to be idempotent
// (spec/ledger.md section 3.2). Ours must not be.
func TestAReusedConnectionIsNotSentTwice(t *testing.T) {
	addresses := map[string]bool{}
	s, r := serve(t, func(w http.ResponseWriter, req *http.Request) {
		addresses[req.RemoteAddr] = true
		if body, _ := io.ReadAll(req.Body); strings.Contains(string(body), "drop") {
			hijack(t, "", false)(w, req)
			return
		}
		reply(200, "application/json", plain)(w, req)
	})
	c := client(t, options(s.URL, memoryLedger(t)))
	assert.Equal(t, detector.OK, complete(t, c, 0, ask("q")).Status)
	a := complete(t, c, 0, ask("drop"))
	assert.Equal(t, detector.Transient, a.Status, a.Detail)
	assert.Equal(t, 2, r.count())
	assert.Len(t, addresses, 1, "the test needs a reused connection")
}

func TestRefusedConnection(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	address := listener.Addr().String()
	require.NoError(t, listener.Close())
	l := memoryLedger(t)
	a := complete(t, client(t, options("http://"+address, l)), 0, ask("q"))
	assert.Equal(t, detector.Transient, a.Status)
	assert.Equal(t, endpoint.CauseRefused, endpoint.CauseOf(a))
	assert.Equal(t, 0, a.Attempts, "nothing left the process")
	spend, err := l.Spend(t.Context())
	require.NoError(t, err)
	assert.Zero(t, spend.Calls)
}

func TestErrorsOfAnEndpointInTheProcess(t *testing.T) {
	for name, c := range map[string]struct {
		err      error
		status   detector.Status
		attempts int
	}{
		"cannot dial":      {&net.OpError{Op: "dial", Err: fmt.Errorf("connection refused")}, detector.Transient, 0},
		"unknown host":     {&net.DNSError{Name: "nowhere.invalid", Err: "no such host", IsNotFound: true}, detector.Transient, 0},
		"anything else":    {io.ErrUnexpectedEOF, detector.Transient, 1},
		"its own deadline": {context.DeadlineExceeded, detector.Timeout, 1},
	} {
		t.Run(name, func(t *testing.T) {
			o := options("http://in.process", memoryLedger(t))
			o.Canonical = "sim://default/v1"
			o.Base = roundTripper(func(*http.Request) (*http.Response, error) { return nil, c.err })
			a := complete(t, client(t, o), 0, ask("q"))
			assert.Equal(t, c.status, a.Status, a.Detail)
			assert.Equal(t, c.attempts, a.Attempts)
		})
	}
}

func TestNoTLSThere(t *testing.T) {
	s, r := serve(t, reply(200, "application/json", plain))
	a := complete(t, client(t, options(strings.Replace(s.URL, "http:", "https:", 1), memoryLedger(t))), 0, ask("q"))
	assert.Equal(t, detector.Config, a.Status)
	assert.Contains(t, a.Detail, "http://")
	assert.Equal(t, 0, a.Attempts)
	assert.Equal(t, 0, r.count())
}

// slow answers when it is told to, or never.
func slow(t *testing.T, release <-chan struct{}) http.HandlerFunc {
	return func(w http.ResponseWriter, req *http.Request) {
		w.WriteHeader(http.StatusOK)
		assert.NoError(t, http.NewResponseController(w).Flush())
		select {
		case <-release:
		case <-req.Context().Done():
		}
	}
}

func TestTimeouts(t *testing.T) {
	release := make(chan struct{})
	t.Cleanup(func() { close(release) })
	s, _ := serve(t, slow(t, release))
	o := options(s.URL, memoryLedger(t))
	o.Timeouts.Total = 50 * time.Millisecond
	a := complete(t, client(t, o), 0, ask("q"))
	assert.Equal(t, detector.Timeout, a.Status, a.Detail)
	assert.Equal(t, 1, a.Attempts)

	silent, _ := serve(t, func(_ http.ResponseWriter, req *http.Request) { <-req.Context().Done() })
	o = options(silent.URL, memoryLedger(t))
	o.Timeouts.FirstByte = 50 * time.Millisecond
	a = complete(t, client(t, o), 0, ask("q"))
	assert.Equal(t, detector.Timeout, a.Status, a.Detail)

	ctx, cancel := context.WithTimeout(endpoint.WithSample(t.Context(), 0), 50*time.Millisecond)
	defer cancel()
	a = client(t, options(s.URL, memoryLedger(t))).Complete(ctx, ask("q"))
	assert.Equal(t, detector.Timeout, a.Status, "the caller's own deadline: %s", a.Detail)
}

func TestCancellation(t *testing.T) {
	arrived := make(chan struct{})
	s, r := serve(t, func(_ http.ResponseWriter, req *http.Request) {
		close(arrived)
		<-req.Context().Done()
	})
	l := memoryLedger(t)
	c := client(t, options(s.URL, l))
	ctx, cancel := context.WithCancel(endpoint.WithSample(t.Context(), 0))
	go func() { <-arrived; cancel() }()
	a := c.Complete(ctx, ask("q"))
	assert.Equal(t, detector.Cancelled, a.Status, a.Detail)
	assert.Equal(t, 1, a.Attempts)

	a = c.Complete(endpoint.WithSample(ctx, 1), ask("q"))
	assert.Equal(t, detector.Cancelled, a.Status)
	assert.Equal(t, 0, a.Attempts)
	assert.Equal(t, 1, r.count())
	spend, err := l.Spend(t.Context())
	require.NoError(t, err)
	assert.Equal(t, ledger.Spend{Calls: 1, Indeterminate: 1}, spend, "the second call left no trace")
}

func TestRequestsThatAreNotSent(t *testing.T) {
	s, r := serve(t, reply(200, "application/json", plain))
	c := client(t, options(s.URL, memoryLedger(t)))
	a := c.Complete(t.Context(), ask("q"))
	assert.Equal(t, detector.Config, a.Status)
	assert.Contains(t, a.Detail, "WithSample")
	a = complete(t, c, -1, ask("q"))
	assert.Equal(t, detector.Config, a.Status)
	a = complete(t, c, 0, ask("a\xffb"))
	assert.Equal(t, detector.UnsupportedLanguage, a.Status)
	a = complete(t, c, 0, ask("leaked: "+testKey))
	assert.Equal(t, detector.Config, a.Status)
	assert.NotContains(t, a.Detail, testKey)
	req := ask("q")
	req.Seed = 1 << 60
	assert.Equal(t, detector.Config, complete(t, c, 0, req).Status)
	assert.Equal(t, 0, r.count())
}

func TestALedgerThatCannotWriteEndsTheRun(t *testing.T) {
	s, r := serve(t, reply(200, "application/json", plain))
	l := memoryLedger(t)
	require.NoError(t, l.Close())
	a := complete(t, client(t, options(s.URL, l)), 0, ask("q"))
	assert.Equal(t, detector.Cancelled, a.Status)
	assert.Equal(t, endpoint.CauseLedger, endpoint.CauseOf(a))
	assert.Equal(t, 0, r.count())
}

func TestShortKeysAreNoSecrets(t *testing.T) {
	s, _ := serve(t, reply(200, "application/json", content("none of it", "stop")))
	o := options(s.URL, memoryLedger(t))
	o.Key = redact.NewSecret("none")
	a := complete(t, client(t, o), 0, ask("none of this is a key"))
	assert.Equal(t, "none of it", a.Text, a.Detail)
}
