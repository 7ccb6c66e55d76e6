package doctor

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/youden-bench/youden/bench/endpoint"
	"github.com/youden-bench/youden/bench/redact"
	"github.com/youden-bench/youden/measurements"
)

// Patient is one model of one endpoint.
type Patient struct {
	Record    measurements.EndpointRecord // BaseURL and Model are what is asked
	Simulated bool
	Key       redact.Secret
	ExtraBody map[string]any    // further fields of every request, as a capture sends them
	Base      http.RoundTripper // nil = connections of its own
	Timeout   time.Duration     // of one call; 0 = 2 min
	// CostMicros prices a call in micro-USD, nil where that is unknown; nil = unknown.
	CostMicros func(prompt, completion int64) *int64
	Now        func() time.Time // nil = time.Now
}

const defaultTimeout = 2 * time.Minute

func (p Patient) withDefaults() (Patient, error) {
	if p.Record.BaseURL == "" || p.Record.Model == "" {
		return p, errors.New("doctor: an endpoint needs a base URL and a model")
	}
	if p.Now == nil {
		p.Now = time.Now
	}
	if p.Timeout == 0 {
		p.Timeout = defaultTimeout
	}
	if p.CostMicros == nil {
		p.CostMicros = func(int64, int64) *int64 { return nil }
	}
	if p.Base == nil {
		dialer := &net.Dialer{Timeout: 10 * time.Second}
		// As the client of captures: no proxy of the environment, no HTTP/2.
		var protocols http.Protocols
		protocols.SetHTTP1(true)
		p.Base = &http.Transport{DialContext: dialer.DialContext, TLSHandshakeTimeout: 10 * time.Second, Protocols: &protocols}
	}
	return p, nil
}

// Loopback reports whether the endpoint is on this machine, so that its calls cost
// nothing and reach nobody else.
func (p Patient) Loopback() bool { return endpoint.Loopback(p.Record.BaseURL) }

// Estimate is the most that an examination sends and may cost, as long as the
// endpoint honours one of the token limits.
type Estimate struct {
	Calls            int
	PromptTokens     int64
	CompletionTokens int64
	CostMicros       *int64 // nil = the price is unknown
}

func (e Estimate) String() string {
	cost := "at a cost that is unknown, since no price is configured"
	if e.CostMicros != nil {
		cost = fmt.Sprintf("at most $%.4f", float64(*e.CostMicros)/1e6)
	}
	return fmt.Sprintf("at most %d calls, about %d prompt tokens and at most %d completion tokens, %s", e.Calls, e.PromptTokens, e.CompletionTokens, cost)
}

// Estimate says what Examine may take. longPrompt is that of Options.
func (p Patient) Estimate(longPrompt int) Estimate {
	var e Estimate
	for _, q := range questions(longPrompt) {
		e.Calls++
		e.PromptTokens += q.prompt
		e.CompletionTokens += q.completion
	}
	if p.CostMicros != nil {
		e.CostMicros = p.CostMicros(e.PromptTokens, e.CompletionTokens)
	}
	return e
}
