package endpoint

import (
	"encoding/json"
	"errors"
	"fmt"
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
	MaxTokensField string         // "max_tokens" (default) or "max_completion_tokens"
	ExtraBody      map[string]any // more fields of the request's body
	Price          *Price         // nil = costs are unknown
	Budget         Budget         // asked before anything is sent; nil = no cap

	Timeouts    Timeouts
	Concurrency int // connections kept open; 0 = 32

	// Base answers requests inside this process instead of a socket. Canonical is
	// then the pseudo URL that identifies it, e.g. sim://default/v1.
	Base      http.RoundTripper
	Canonical string
	Simulated bool

	Ledger *ledger.Ledger
	Scope  string // the plan's id
	Clock  func() time.Time
}

// Timeouts bound one call. A server that does not stream sends its first byte
// when the whole answer is there, so FirstByte is long.
type Timeouts struct {
	Connect   time.Duration // 0 = 10 s, for the connection and for TLS
	FirstByte time.Duration // 0 = 5 min after the request was written
	Total     time.Duration // 0 = 10 min
}

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
	if o.MaxTokensField == "" {
		o.MaxTokensField = fieldMaxTokens
	}
	if o.MaxTokens == 0 {
		o.MaxTokens = defaultMaxTokens
	}
	if o.Concurrency == 0 {
		o.Concurrency = defaultConcurrency
	}
	if o.Clock == nil {
		o.Clock = time.Now
	}
	for _, t := range []struct {
		d       *time.Duration
		natural time.Duration
	}{{&o.Timeouts.Connect, 10 * time.Second}, {&o.Timeouts.FirstByte, 5 * time.Minute}, {&o.Timeouts.Total, 10 * time.Minute}} {
		if *t.d == 0 {
			*t.d = t.natural
		}
	}
	base, warnings, err = o.checkURL()
	return base, warnings, errors.Join(err, o.checkValues())
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
	if o.MaxTokensField != fieldMaxTokens && o.MaxTokensField != fieldMaxCompletionTokens {
		bad("max_tokens_field is %q and must be %s or %s", o.MaxTokensField, fieldMaxTokens, fieldMaxCompletionTokens)
	}
	if o.Concurrency < 0 || o.Timeouts.Connect < 0 || o.Timeouts.FirstByte < 0 || o.Timeouts.Total < 0 {
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
		ResponseHeaderTimeout:  o.Timeouts.FirstByte,
		MaxIdleConns:           o.Concurrency,
		MaxIdleConnsPerHost:    o.Concurrency,
		IdleConnTimeout:        90 * time.Second,
		MaxResponseHeaderBytes: 1 << 20,
		Protocols:              &protocols,
	}
}
