package measurements

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"
)

// CapabilitiesSchema names the version of a capability record.
const CapabilitiesSchema = "youden.capabilities/1"

// Treatment says what an endpoint does with a field of a request.
type Treatment string

// The treatments of a field.
const (
	Honoured Treatment = "honoured" // its effect was seen
	Accepted Treatment = "accepted" // no error, and no effect that could be seen
	Ignored  Treatment = "ignored"  // no error, and its effect was seen to be missing
	Refused  Treatment = "refused"  // an error of the request
	Unprobed Treatment = "unknown"  // not asked, or the probe failed
)

// Feature is what an endpoint does with one field of a request, or with a request
// of one kind.
type Feature struct {
	Name      string    `json:"name"`
	Treatment Treatment `json:"treatment"`
	Detail    string    `json:"detail,omitempty"`
}

// Capabilities is what a probe found of one model of one endpoint. A capture embeds
// it, and a comparison asks whether both sides were measured through the same: a
// gateway that drops temperature makes another measurement of the same model.
type Capabilities struct {
	Schema        string         `json:"schema"`
	ProbedAt      time.Time      `json:"probed_at"`
	Endpoint      EndpointRecord `json:"endpoint"`
	Simulated     bool           `json:"simulated"`
	ModelReturned string         `json:"model_returned,omitempty"`
	Fingerprint   string         `json:"system_fingerprint,omitempty"`
	// ContextTokens is how much fits the model, as the endpoint says; nil = it does
	// not say.
	ContextTokens *int64    `json:"context_tokens"`
	Features      []Feature `json:"features"`
	Advice        []string  `json:"advice,omitempty"` // what to set in youden.toml, in plain words
	// What the probe itself took; Failed counts the questions that got no answer.
	Calls            int    `json:"calls"`
	Failed           int    `json:"failed"`
	PromptTokens     *int64 `json:"prompt_tokens"`
	CompletionTokens *int64 `json:"completion_tokens"`
	CostUSDMicros    *int64 `json:"cost_usd_micros"`
}

// Treats returns what is known of a feature.
func (c *Capabilities) Treats(name string) Treatment {
	if c == nil {
		return Unprobed
	}
	for _, f := range c.Features {
		if f.Name == name {
			return f.Treatment
		}
	}
	return Unprobed
}

// Brief is the record without its words and its costs: what a committed baseline
// keeps of it.
func (c *Capabilities) Brief() *Capabilities {
	if c == nil {
		return nil
	}
	brief := &Capabilities{
		Schema: c.Schema, ProbedAt: c.ProbedAt, Endpoint: c.Endpoint, Simulated: c.Simulated,
		ModelReturned: c.ModelReturned, Fingerprint: c.Fingerprint, ContextTokens: c.ContextTokens,
	}
	for _, f := range c.Features {
		brief.Features = append(brief.Features, Feature{Name: f.Name, Treatment: f.Treatment})
	}
	return brief
}

// Of reports whether the record is one of this model at this endpoint. The name of
// an endpoint is the user's and may change.
func (c *Capabilities) Of(e EndpointRecord) bool {
	return c.Endpoint.BaseURL == e.BaseURL && c.Endpoint.Model == e.Model
}

// Embed puts a record into the manifest of a capture that is about to begin.
func (m *Manifest) Embed(c *Capabilities) error {
	if !c.Of(m.Plan.Endpoint) {
		return fmt.Errorf("the capability record is of model %q at %s, the capture of model %q at %s: probe that one with `youden doctor`",
			c.Endpoint.Model, c.Endpoint.BaseURL, m.Plan.Endpoint.Model, m.Plan.Endpoint.BaseURL)
	}
	m.Capabilities = c
	return nil
}

// maxCapabilities bounds the file of a record.
const maxCapabilities = 1 << 20

// ReadCapabilities reads a record that `youden doctor` wrote.
func ReadCapabilities(path string) (*Capabilities, error) {
	f, err := openRegular(path)
	if err != nil {
		return nil, fmt.Errorf("reading a capability record: %w", err)
	}
	raw, err := io.ReadAll(io.LimitReader(f, maxCapabilities+1))
	if err := errors.Join(err, f.Close()); err != nil {
		return nil, fmt.Errorf("reading %s: %w", path, err)
	}
	c, err := parseCapabilities(raw)
	if err != nil {
		return nil, fmt.Errorf("%s is no capability record: %w; write it anew with `youden doctor`", path, err)
	}
	return c, nil
}

func parseCapabilities(raw []byte) (*Capabilities, error) {
	if len(raw) > maxCapabilities {
		return nil, fmt.Errorf("it is larger than %d bytes", maxCapabilities)
	}
	c := &Capabilities{}
	dec := json.NewDecoder(bytes.NewReader(raw))
	if err := dec.Decode(c); err != nil {
		return nil, err
	}
	if c.Schema != CapabilitiesSchema {
		return nil, fmt.Errorf("its schema is %q, this program reads %q", c.Schema, CapabilitiesSchema)
	}
	return c, c.Check()
}

// Check refuses features that this program does not know how to compare.
func (c *Capabilities) Check() error {
	if c == nil {
		return nil
	}
	seen := map[string]bool{}
	for _, f := range c.Features {
		if f.Name == "" || seen[f.Name] {
			return fmt.Errorf("it has two features called %q, or one without a name", f.Name)
		}
		seen[f.Name] = true
		if !slices.Contains([]Treatment{Honoured, Accepted, Ignored, Refused, Unprobed}, f.Treatment) {
			return fmt.Errorf("the treatment %q on %s is none that this program knows", f.Treatment, f.Name)
		}
	}
	return nil
}
