package bench

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"sort"
	"strconv"
	"strings"
	"time"

	"github.com/youden-bench/youden/bench/endpoint"
	"github.com/youden-bench/youden/bench/ledger"
	"github.com/youden-bench/youden/bench/redact"
	"github.com/youden-bench/youden/bench/simulator"
)

// SimulatorName is the endpoint that needs no configuration: the simulated one
// inside this process.
const SimulatorName = "simulator"

// DefaultSimulatedModel is what the simulated endpoint answers as unless another
// model is named.
const DefaultSimulatedModel = "sim-strong"

// simulatorURL names the in-process endpoint in records and identities. Nothing
// ever connects to it.
const simulatorURL = "http://simulator.invalid/v1"

// EndpointConfig is one [endpoint.NAME] of youden.toml. It names the environment
// variable of the key and never holds a key.
type EndpointConfig struct {
	BaseURL        string         `toml:"base_url" json:"base_url"`
	Model          string         `toml:"model" json:"model"`
	APIKeyEnv      string         `toml:"api_key_env,omitempty" json:"api_key_env,omitempty"`
	Temperature    *float64       `toml:"temperature,omitempty" json:"temperature,omitempty"`
	MaxTokens      int            `toml:"max_tokens,omitempty" json:"max_tokens,omitempty"`
	MaxTokensField string         `toml:"max_tokens_field,omitempty" json:"max_tokens_field,omitempty"`
	ExtraBody      map[string]any `toml:"extra_body,omitempty" json:"extra_body,omitempty"`
	Price          *PriceConfig   `toml:"price,omitempty" json:"price,omitempty"`
	Timeouts       TimeoutConfig  `toml:"timeouts,omitempty" json:"timeouts"`
	// Prices are those of other models than Model, by their names.
	Prices    map[string]PriceConfig `toml:"prices,omitempty" json:"prices,omitempty"`
	Retries   RetryConfig            `toml:"retries,omitempty" json:"retries"`
	Simulated bool                   `toml:"simulated,omitempty" json:"simulated,omitempty"` // a simulated endpoint on another port

	DialectConfig
}

// TimeoutConfig holds durations such as "90s"; empty = the default.
type TimeoutConfig struct {
	Connect   string `toml:"connect,omitempty" json:"connect,omitempty"`
	FirstByte string `toml:"first_byte,omitempty" json:"first_byte,omitempty"`
	Idle      string `toml:"idle,omitempty" json:"idle,omitempty"`
	Total     string `toml:"total,omitempty" json:"total,omitempty"`
}

// SelectEndpoint finds an endpoint by name, or takes a URL as an endpoint
// without a key. model, when not empty, replaces the configured one.
func SelectEndpoint(name, model string, configured map[string]EndpointConfig) (EndpointConfig, error) {
	cfg, ok := configured[name]
	switch {
	case name == SimulatorName && cfg.BaseURL == "": // priced or limited, perhaps
		cfg.BaseURL, cfg.Simulated = simulatorURL, true
		if model == "" && cfg.Model == "" {
			model = DefaultSimulatedModel
		}
	case ok:
	case strings.Contains(name, "://"):
		cfg = EndpointConfig{BaseURL: name}
		if err := cfg.Validate(); err != nil {
			return cfg, fmt.Errorf("--endpoint: %w", err)
		}
	default:
		names := []string{SimulatorName}
		for have := range configured {
			names = append(names, have)
		}
		sort.Strings(names)
		return cfg, fmt.Errorf("no endpoint %q; add [endpoint.%s] to youden.toml, give a URL, or use one of %s", name, name, strings.Join(names, ", "))
	}
	if model == "" {
		model = cfg.Model
	}
	model = cfg.pinned(model)
	cfg = cfg.priced(model)
	cfg.Model = model
	if cfg.Model == "" {
		return cfg, fmt.Errorf("endpoint %s names no model; give --model, or model in [endpoint.%s]", name, name)
	}
	if cfg.BaseURL == "" {
		return cfg, fmt.Errorf("endpoint %s has no base_url; it usually ends in /v1", name)
	}
	if strings.HasPrefix(cfg.Model, "sim-") {
		cfg.Simulated = true
	}
	if err := cfg.Validate(); err != nil {
		return cfg, fmt.Errorf("endpoint %s: %w", name, err)
	}
	return cfg.withDefaults(), nil
}

// variableName is what the name of an environment variable looks like.
var variableName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// Validate refuses settings that may hold a secret, and numbers that are none,
// before anything is written down or printed. What it says repeats no value.
func (c EndpointConfig) Validate() error {
	if c.APIKeyEnv != "" && (!variableName.MatchString(c.APIKeyEnv) || len(c.APIKeyEnv) > 64 || strings.HasPrefix(c.APIKeyEnv, "sk_")) {
		return errors.New("api_key_env is no name of an environment variable: export the key under a name, and give that name")
	}
	if c.BaseURL != "" {
		if err := checkBaseURL(c.BaseURL); err != nil {
			return err
		}
	}
	if t := c.Temperature; t != nil && !(*t >= 0 && *t <= 2) {
		return errors.New("temperature must lie between 0 and 2")
	}
	if _, err := json.Marshal(c.ExtraBody); err != nil {
		return fmt.Errorf("extra_body is not JSON: %w", err)
	}
	return c.checkPrices()
}

func checkBaseURL(text string) error {
	u, err := url.Parse(text)
	switch {
	case err != nil:
		return errors.New("base_url does not parse as a URL; write such as https://api.example.com/v1")
	case u.Scheme != "http" && u.Scheme != "https":
		return errors.New("base_url must begin with http:// or https://")
	case u.User != nil:
		return errors.New("base_url holds a user or a password; name the variable of the key in api_key_env instead")
	case u.RawQuery != "" || u.Fragment != "":
		return errors.New("base_url has a query or a fragment, which may hold a key; leave it off")
	case u.Hostname() == "":
		return errors.New("base_url names no host")
	}
	if port := u.Port(); port != "" {
		if n, err := strconv.Atoi(port); err != nil || n < 1 || n > 65535 {
			return errors.New("base_url has a port outside 1 to 65535")
		}
	}
	return nil
}

func (c EndpointConfig) withDefaults() EndpointConfig {
	if c.Temperature == nil {
		zero := 0.0
		c.Temperature = &zero
	}
	if c.MaxTokens == 0 {
		c.MaxTokens = 4096
	}
	if c.MaxTokensField == "" {
		c.MaxTokensField, c.MaxTokensFieldOpen = "max_tokens", true
	}
	return c.withVisibleTimes()
}

// Embedded reports whether the endpoint lives inside this process.
func (c EndpointConfig) Embedded() bool { return c.BaseURL == simulatorURL }

// check finds what is wrong with the settings and the key before a capture is
// made for them.
func (c EndpointConfig) check(name string) error {
	l, err := ledger.OpenStore(context.Background(), ledger.NewMemory(), ledger.Options{})
	if err != nil {
		return err
	}
	_, err = c.Connect(name, l, "check", 1, nil)
	return errors.Join(err, l.Close())
}

// Connect returns a client of the endpoint that records into l and spends from
// budget; nil = no caps.
func (c EndpointConfig) Connect(name string, l *ledger.Ledger, scope string, concurrency int, budget endpoint.Budget) (*endpoint.Client, error) {
	opts := endpoint.Options{
		Name: name, BaseURL: c.BaseURL, Model: c.Model,
		Temperature: c.Temperature, MaxTokens: c.MaxTokens, MaxTokensField: c.MaxTokensField, ExtraBody: c.ExtraBody,
		Concurrency: concurrency, Simulated: c.Simulated, Ledger: l, Scope: scope, Budget: budget,
	}
	var err error
	if opts.Timeouts, err = c.Timeouts.parse(name); err != nil {
		return nil, err
	}
	if opts.Retry, err = c.Retries.parse(name); err != nil {
		return nil, err
	}
	c.speak(&opts)
	if opts.Price, err = c.Price.micros(); err != nil {
		return nil, fmt.Errorf("endpoint %s: %w", name, err)
	}
	if c.APIKeyEnv != "" {
		if opts.Key, err = redact.FromEnv(c.APIKeyEnv); err != nil {
			return nil, fmt.Errorf("endpoint %s: %w", name, err)
		}
	}
	if c.Embedded() {
		if opts.Base, err = embeddedTransport(); err != nil {
			return nil, err
		}
		opts.Canonical = simulatorURL
	}
	return endpoint.New(opts)
}

func embeddedTransport() (http.RoundTripper, error) {
	server, err := simulator.New(simulator.Options{})
	if err != nil {
		return nil, fmt.Errorf("start the simulated endpoint: %w", err)
	}
	return simulator.Transport(server), nil
}

func (t TimeoutConfig) parse(name string) (out endpoint.Timeouts, err error) {
	for _, d := range []struct {
		key, text string
		into      *time.Duration
	}{{"connect", t.Connect, &out.Connect}, {"first_byte", t.FirstByte, &out.FirstByte}, {"idle", t.Idle, &out.Idle}, {"total", t.Total, &out.Total}} {
		if d.text == "" {
			continue
		}
		if *d.into, err = time.ParseDuration(d.text); err != nil || *d.into <= 0 {
			return out, fmt.Errorf("endpoint %s: timeouts.%s = %q is no duration; write such as \"90s\"", name, d.key, d.text)
		}
	}
	return out, nil
}

// Public returns the host that answers, for people: no path, no user, no query.
func (c EndpointConfig) Public() string {
	if c.Embedded() {
		return "embedded simulated endpoint"
	}
	u, err := url.Parse(c.BaseURL)
	if err != nil {
		return strconv.Quote(c.BaseURL)
	}
	return u.Scheme + "://" + u.Host
}
