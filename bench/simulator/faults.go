package simulator

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"os"
	"path"
	"sort"
	"strconv"
	"strings"
	"sync"
	"time"
)

const faultSchema = "youden.simulator-faults/1"

type faultKind string

const (
	faultRateLimit   faultKind = "rate_limit"
	faultQuota       faultKind = "insufficient_quota"
	faultServer      faultKind = "server_error"
	faultOverloaded  faultKind = "overloaded"
	faultReset       faultKind = "reset"
	faultCut         faultKind = "cut"
	faultStreamError faultKind = "stream_error"
	faultGarbage     faultKind = "garbage"
	faultHTML        faultKind = "html"
	faultSlow        faultKind = "slow"
	faultContext     faultKind = "context"
	faultEmpty       faultKind = "empty"
	faultRefusal     faultKind = "refusal"
	faultFilter      faultKind = "content_filter"
)

var faultKinds = []faultKind{
	faultRateLimit, faultQuota, faultServer, faultOverloaded, faultReset, faultCut, faultStreamError,
	faultGarbage, faultHTML, faultSlow, faultContext, faultEmpty, faultRefusal, faultFilter,
}

var errCut = errors.New("injected fault: the answer is cut off")

// faultPlan decides which attempts go wrong. The attempt number is part of the
// key, so that a retry of the same call draws anew and can succeed.
type faultPlan struct {
	Schema       string      `json:"schema"`
	Name         string      `json:"name"`
	About        string      `json:"about"`
	Seed         string      `json:"seed"`
	RetryAfterMS int         `json:"retry_after_ms"`
	SlowMS       int         `json:"slow_ms"`
	Faults       []faultRate `json:"faults"`

	mu   sync.Mutex
	seen map[[32]byte]int // requests without an attempt header, counted by body
}

type faultRate struct {
	Kind faultKind `json:"kind"`
	P    float64   `json:"p"`
}

type fault struct {
	kind       faultKind
	retryAfter time.Duration
	slow       time.Duration
}

func loadFaults(name string) (*faultPlan, error) {
	if name == "" {
		name = "none"
	}
	for _, k := range faultKinds {
		if string(k) == name {
			plan := &faultPlan{Name: name, Seed: name, RetryAfterMS: 2000, SlowMS: 500, Faults: []faultRate{{k, 1}}}
			if k == faultOverloaded {
				plan.RetryAfterMS = 1000
			}
			return plan, nil
		}
	}
	data, err := embedded.ReadFile(path.Join("faults", name+".json"))
	if err != nil {
		data, err = os.ReadFile(name)
	}
	if err != nil {
		return nil, fmt.Errorf("simulator: fault plan %q is no embedded plan (%s), no kind of fault and no file: %w", name, strings.Join(plans(), ", "), err)
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	p := &faultPlan{}
	if err := dec.Decode(p); err != nil {
		return nil, fmt.Errorf("simulator: fault plan %s: %w", name, err)
	}
	if err := p.check(); err != nil {
		return nil, fmt.Errorf("simulator: fault plan %s: %w", name, err)
	}
	return p, nil
}

func plans() []string {
	entries, err := fs.ReadDir(embedded, "faults")
	if err != nil {
		return nil
	}
	var out []string
	for _, e := range entries {
		out = append(out, strings.TrimSuffix(e.Name(), ".json"))
	}
	sort.Strings(out)
	return out
}

func (p *faultPlan) check() error {
	if p.Schema != faultSchema {
		return fmt.Errorf("schema is %q, want %q", p.Schema, faultSchema)
	}
	sum := 0.0
	for _, f := range p.Faults {
		known := false
		for _, k := range faultKinds {
			known = known || k == f.Kind
		}
		if !known {
			return fmt.Errorf("no fault is called %q; there are %v", f.Kind, faultKinds)
		}
		if f.P < 0 {
			return fmt.Errorf("probability of %s is below 0", f.Kind)
		}
		sum += f.P
	}
	if sum > 1+1e-9 {
		return fmt.Errorf("probabilities sum to %v", sum)
	}
	return nil
}

// draw decides about one attempt.
func (p *faultPlan) draw(attempt string, body [32]byte) fault {
	if len(p.Faults) == 0 {
		return fault{}
	}
	key := attempt
	if key == "" {
		p.mu.Lock()
		if p.seen == nil {
			p.seen = map[[32]byte]int{}
		}
		p.seen[body]++
		key = hex.EncodeToString(body[:]) + "-" + strconv.Itoa(p.seen[body])
		p.mu.Unlock()
	}
	u := uniform(p.Seed, "fault", key)
	for _, f := range p.Faults {
		if u < f.P {
			return fault{kind: f.Kind, retryAfter: time.Duration(p.RetryAfterMS) * time.Millisecond, slow: time.Duration(p.SlowMS) * time.Millisecond}
		}
		u -= f.P
	}
	return fault{}
}

// refusal is the error a fault answers with, or nil.
func (f fault) refusal() *apiError {
	switch f.kind {
	case faultRateLimit:
		return failure(http.StatusTooManyRequests, "requests", "rate_limit_exceeded", "Rate limit reached on requests per min (RPM). Please try again in %s.", f.retryAfter)
	case faultQuota:
		return failure(http.StatusTooManyRequests, "insufficient_quota", "insufficient_quota", "You exceeded your current quota, please check your plan and billing details.")
	case faultServer:
		return failure(http.StatusInternalServerError, "server_error", "", "The server had an error while processing your request. Sorry about that!")
	case faultOverloaded:
		return failure(http.StatusServiceUnavailable, "server_error", "", "The engine is currently overloaded, please try again later.")
	case faultContext:
		return contextOverflow(8192, 9000)
	}
	return nil
}

func (f fault) headers(h http.Header) {
	if f.kind != faultRateLimit && f.kind != faultOverloaded {
		return
	}
	h.Set("Retry-After", strconv.Itoa(int((f.retryAfter+time.Second-1)/time.Second)))
	h.Set("Retry-After-Ms", strconv.FormatInt(f.retryAfter.Milliseconds(), 10))
	if f.kind == faultRateLimit {
		h.Set("X-Ratelimit-Remaining-Requests", "0")
		h.Set("X-Ratelimit-Reset-Requests", f.retryAfter.String())
	}
}

// replaceAnswer carries out the faults that put something else in place of the
// completion; done is false for all others.
func (s *Server) replaceAnswer(w http.ResponseWriter, r *http.Request, f fault) (done bool, err error) {
	switch f.kind {
	case faultReset:
		return true, reset(w)
	case faultGarbage:
		w.Header().Set("Content-Type", "application/json")
		_, err := w.Write([]byte(`{"id":"chatcmpl-garbage","object":"chat.completion","choices":[{"index":0,"message":{"role":"assis`))
		return true, err
	case faultHTML:
		w.Header().Set("Content-Type", "text/html")
		w.WriteHeader(http.StatusBadGateway)
		_, err := w.Write([]byte("<html><head><title>502 Bad Gateway</title></head><body><h1>502 Bad Gateway</h1></body></html>\n"))
		return true, err
	case faultSlow:
		if err := s.latency.sleep(r.Context(), f.slow); err != nil {
			return true, err
		}
	}
	return false, nil
}

// reset ends the connection without a byte: by a TCP reset where the
// connection can be had, else as net/http ends an aborted handler.
func reset(w http.ResponseWriter) error {
	hijacker, ok := w.(http.Hijacker)
	if !ok {
		return errCut
	}
	conn, _, err := hijacker.Hijack()
	if err != nil {
		return errCut
	}
	if tcp, ok := conn.(*net.TCPConn); ok {
		if err := tcp.SetLinger(0); err != nil {
			return errors.Join(err, conn.Close())
		}
	}
	return conn.Close()
}

// alter carries out the faults of a completion's content.
func (f fault) alter(c *completion) {
	for i := range c.choices {
		ch := &c.choices[i]
		switch f.kind {
		case faultEmpty:
			empty := ""
			*ch = choice{content: &empty, finish: "stop"}
		case faultRefusal:
			text := refusalText
			*ch = choice{refusal: &text, finish: "stop"}
		case faultFilter:
			text := ""
			if ch.content != nil {
				text, _ = cutTokens(*ch.content, 1)
			}
			*ch = choice{content: &text, finish: "content_filter"}
		}
	}
	if f.kind == faultEmpty || f.kind == faultRefusal || f.kind == faultFilter {
		c.usage.CompletionTokens = 0
		for _, ch := range c.choices {
			for _, text := range []*string{ch.content, ch.refusal} {
				if text != nil {
					c.usage.CompletionTokens += countTokens(*text)
				}
			}
		}
		c.usage.TotalTokens = c.usage.PromptTokens + c.usage.CompletionTokens
	}
}
