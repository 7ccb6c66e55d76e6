package endpoint

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/youden-bench/youden/bench/ledger"
	"github.com/youden-bench/youden/bench/redact"
)

// Options say which model of which endpoint is called, and how.
type Options struct {
	Name    string // as in the configuration, for messages
	BaseURL string // with the version, e.g. https://api.example.com/v1
	Model   string
	Key     redact.Secret // sent as a bearer token; zero = no key

	Temperature    *float64       // 0 is really sent; nil = the field is left out
	MaxTokens      int            // of an answer; 0 = 4096
	MaxTokensField string         // "max_tokens" or "max_completion_tokens"; "" = the one that the endpoint takes
	ExtraBody      map[string]any // more fields of the request's body
	Price          *Price         // nil = costs are unknown
	Budget         Budget         // asked before anything is sent; nil = no cap

	Stream         string // "" or "auto" = only where nothing else is taken, "on", "off"
	ToolContent    string // beside tool calls: "null", "empty", "omit"; "" = what the endpoint takes
	KeepParameters bool   // a refused temperature, seed or response_format is an error, not left out
	ForgetThoughts bool   // earlier reasoning is never sent back
	// AnswerFromReasoning makes the reasoning of an answer that says nothing else the
	// answer.
	AnswerFromReasoning bool
	// PromptRatio is which share of the estimated prompt an endpoint must have taken
	// in; 0 = 0.6, negative = it is not checked.
	PromptRatio float64

	Timeouts    Timeouts
	Retry       Retry
	Concurrency int // calls under way at once, and connections; 0 = 32

	// Base answers requests inside this process instead of a socket. Canonical is
	// then the pseudo URL that identifies it, e.g. sim://default/v1.
	Base      http.RoundTripper
	Canonical string
	Simulated bool

	Ledger *ledger.Ledger
	Scope  string // the plan's id

	Clock  func() time.Time
	Wait   func(ctx context.Context, d time.Duration) error // lets time pass; nil = a timer
	Random func() float64                                   // in [0, 1); nil = math/rand
}

// Timeouts bound one call. A server that does not stream sends its first byte
// when the whole answer is there, so FirstByte is long.
type Timeouts struct {
	Connect   time.Duration // 0 = 10 s, for the connection and for TLS
	FirstByte time.Duration // 0 = 5 min after the request was written
	Idle      time.Duration // 0 = 5 min without a byte of the answer
	Total     time.Duration // 0 = 10 min
}

// Defaults returns the timeouts with the default in place of each 0.
func (t Timeouts) Defaults() Timeouts {
	for _, d := range []struct {
		d       *time.Duration
		natural time.Duration
	}{{&t.Connect, 10 * time.Second}, {&t.FirstByte, 5 * time.Minute}, {&t.Idle, 5 * time.Minute}, {&t.Total, 10 * time.Minute}} {
		if *d.d == 0 {
			*d.d = d.natural
		}
	}
	return t
}

// Words for Options.Stream and Options.ToolContent.
const (
	streamAuto   = "auto"
	streamAlways = "on"
	streamNever  = "off"
	contentNull  = "null"
	contentEmpty = "empty"
	contentOmit  = "omit"
)

const (
	fieldMaxTokens           = "max_tokens"
	fieldMaxCompletionTokens = "max_completion_tokens"
	defaultMaxTokens         = 4096
	defaultConcurrency       = 32
)

// reserved are the fields of a request that the bench sets itself. Streaming and
// several choices would be another protocol.
var reserved = []string{
	"model", "messages", "stream", "stream_options", "seed", "n", "temperature",
	fieldMaxTokens, fieldMaxCompletionTokens, "tools", "functions", "response_format",
}

// check fills in defaults and returns the base URL's canonical form.
func (o *Options) check() (base ledger.Endpoint, warnings []string, err error) {
	if o.MaxTokens == 0 {
		o.MaxTokens = defaultMaxTokens
	}
	if o.Concurrency == 0 {
		o.Concurrency = defaultConcurrency
	}
	if o.Clock == nil {
		o.Clock = time.Now
	}
	if o.Wait == nil {
		o.Wait = wait
	}
	if o.Random == nil {
		o.Random = rand.Float64
	}
	if o.PromptRatio == 0 {
		o.PromptRatio = defaultPromptRatio
	}
	o.Timeouts = o.Timeouts.Defaults()
	base, warnings, err = o.checkURL()
	return base, warnings, errors.Join(err, o.checkValues(), o.Retry.check())
}

// pupil says what the options leave open.
func (o *Options) pupil() pupil {
	field := o.MaxTokensField
	if field == "" {
		field = fieldMaxTokens
	}
	return pupil{
		maxTokensField: field, swaps: o.MaxTokensField == "", drops: !o.KeepParameters,
		streams: o.Stream == "" || o.Stream == streamAuto, callContent: o.ToolContent == "",
	}
}

// form is how requests are made as configured.
func (o *Options) form() (f form) {
	if o.Stream == streamAlways {
		f |= streamOn
	}
	if o.ForgetThoughts {
		f |= dropReasoning
	}
	switch o.ToolContent {
	case contentEmpty:
		f |= callContentEmpty
	case contentOmit:
		f |= callContentOmit
	}
	return f
}

func (o *Options) checkValues() error {
	var errs []error
	bad := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	if o.Model == "" {
		bad("no model is named: set model")
	}
	if o.Ledger == nil {
		bad("there is no ledger: nothing may be sent that is not recorded")
	}
	if o.Temperature != nil && !(*o.Temperature >= 0 && *o.Temperature <= 2) {
		bad("temperature is %v and must be between 0 and 2", *o.Temperature)
	}
	if o.MaxTokens < 0 {
		bad("max_tokens is %d and must be positive", o.MaxTokens)
	}
	if !slices.Contains([]string{"", streamAuto, streamAlways, streamNever}, o.Stream) {
		bad("stream is %q and must be auto, on or off", o.Stream)
	}
	if !slices.Contains([]string{"", contentNull, contentEmpty, contentOmit}, o.ToolContent) {
		bad("tool_content is %q and must be null, empty or omit", o.ToolContent)
	}
	if !slices.Contains([]string{"", fieldMaxTokens, fieldMaxCompletionTokens}, o.MaxTokensField) {
		bad("max_tokens_field is %q and must be %s or %s", o.MaxTokensField, fieldMaxTokens, fieldMaxCompletionTokens)
	}
	if o.Concurrency < 0 || o.Timeouts.Connect < 0 || o.Timeouts.FirstByte < 0 || o.Timeouts.Idle < 0 || o.Timeouts.Total < 0 {
		bad("concurrency and timeouts must not be negative")
	}
	for _, field := range sortedKeys(o.ExtraBody) {
		if slices.Contains(reserved, field) {
			bad("extra_body sets %q, which the bench sets itself: use its own setting", field)
		} else if _, err := json.Marshal(o.ExtraBody[field]); err != nil {
			bad("extra_body field %q is no JSON: %w", field, err)
		}
	}
	return errors.Join(append(errs, o.Price.check())...)
}

// checkURL returns the canonical endpoint. Nothing it says repeats the URL, which
// may hold a password.
func (o *Options) checkURL() (ledger.Endpoint, []string, error) {
	base, err := ledger.ParseEndpoint(o.BaseURL)
	if err != nil {
		return base, nil, fmt.Errorf("base_url: %w", err)
	}
	if base.Scheme != "http" && base.Scheme != "https" {
		return base, nil, fmt.Errorf("base_url has the scheme %q and must have http or https", base.Scheme)
	}
	if o.Base != nil {
		canonical, err := ledger.ParseEndpoint(o.Canonical)
		if err != nil {
			return base, nil, fmt.Errorf("an endpoint inside the process needs a canonical pseudo URL: %w", err)
		}
		return canonical, nil, nil
	}
	var warnings []string
	if strings.HasSuffix(base.BasePath, "/chat/completions") {
		return base, nil, errors.New("base_url ends in /chat/completions, which the bench adds itself: leave that off")
	}
	if base.Scheme == "http" && !o.Key.IsZero() && !isLoopback(base.Host) {
		if !isPrivate(base.Host) {
			return base, nil, fmt.Errorf("base_url sends the API key over plain http to %s: use https", base.Host)
		}
		warnings = append(warnings, fmt.Sprintf("the API key goes over plain http to %s: anyone on that network can read it", base.Host))
	}
	return base, warnings, nil
}

func isLoopback(host string) bool {
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || strings.HasSuffix(host, ".localhost") || err == nil && ip.IsLoopback()
}

// isPrivate reports whether host is an address or a name that the public network
// does not have.
func isPrivate(host string) bool {
	if ip, err := netip.ParseAddr(host); err == nil {
		return ip.IsPrivate() || ip.IsLinkLocalUnicast()
	}
	return !strings.Contains(host, ".") || strings.HasSuffix(host, ".local") || strings.HasSuffix(host, ".internal") || strings.HasSuffix(host, ".lan")
}

// target is where requests go, from the base URL as it was given.
func (o *Options) target() (*url.URL, error) {
	u, err := url.Parse(o.BaseURL)
	if err != nil {
		return nil, errors.New("base_url does not parse")
	}
	return u.JoinPath("chat", "completions"), nil
}

// newRoundTripper makes the connection pool: no proxy of the environment, no
// HTTP/2, so that a lost connection hits one call and not all of them.
func (o *Options) newRoundTripper() *http.Transport {
	dialer := &net.Dialer{Timeout: o.Timeouts.Connect, KeepAlive: 30 * time.Second}
	var protocols http.Protocols
	protocols.SetHTTP1(true)
	return &http.Transport{
		Proxy:                  nil,
		DialContext:            dialer.DialContext,
		TLSHandshakeTimeout:    o.Timeouts.Connect,
		MaxIdleConns:           o.Concurrency,
		MaxIdleConnsPerHost:    o.Concurrency,
		MaxConnsPerHost:        o.Concurrency,
		IdleConnTimeout:        90 * time.Second,
		MaxResponseHeaderBytes: 1 << 20,
		WriteBufferSize:        32 << 10, // most requests in one system call
		Protocols:              &protocols,
	}
}
