package bench

import (
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/youden-bench/youden/bench/doctor"
	"github.com/youden-bench/youden/bench/endpoint"
	"github.com/youden-bench/youden/bench/redact"
	"github.com/youden-bench/youden/measurements"
)

// Patient is the endpoint as package doctor examines it: with the key, the prices
// and the further fields of the body that a capture would use.
func (c EndpointConfig) Patient(name string) (doctor.Patient, error) {
	p := doctor.Patient{
		Record: c.record(name), Simulated: c.Simulated, ExtraBody: c.ExtraBody,
	}
	if err := c.check(name); err != nil {
		return p, err
	}
	timeouts, err := c.Timeouts.parse(name)
	if err != nil {
		return p, err
	}
	p.Timeout = timeouts.Total
	price, err := c.Price.micros()
	if err != nil {
		return p, err
	}
	p.CostMicros = priced(price)
	if c.APIKeyEnv != "" {
		if p.Key, err = redact.FromEnv(c.APIKeyEnv); err != nil {
			return p, err
		}
	}
	if c.Embedded() {
		p.Base, err = embeddedTransport()
	}
	return p, err
}

// record is how captures and capability records name the endpoint.
func (c EndpointConfig) record(name string) measurements.EndpointRecord {
	return measurements.EndpointRecord{Name: name, BaseURL: c.BaseURL, Model: c.Model}
}

// priced is the most that a call can come to: what a probe may cost must not be told
// too low.
func priced(p *endpoint.Price) func(prompt, completion int64) *int64 {
	return func(prompt, completion int64) *int64 {
		if p == nil {
			return nil
		}
		cost := p.AtMost(prompt, completion)
		return &cost
	}
}

// capabilitiesFolder is where `youden doctor` leaves its records and captures find
// them.
const capabilitiesFolder = "capabilities"

// CapabilitiesFile is where the record of an endpoint and a model lies unless
// somebody says otherwise.
func (c EndpointConfig) CapabilitiesFile(name string) string {
	if u, err := url.Parse(name); err == nil && u.Host != "" {
		name = u.Host
	}
	part := func(text string) string { return strings.Trim(unsafeInName.ReplaceAllString(text, "-"), "-.") }
	return filepath.Join(capabilitiesFolder, part(name)+"-"+part(c.Model)+".json")
}

// embedCapabilities puts what `youden doctor` found of the endpoint into the manifest.
// A record that was not asked for and does not fit is left out, with a warning.
func (j *Job) embedCapabilities() error {
	if j.Request.Capabilities == nil {
		return nil
	}
	file := *j.Request.Capabilities
	asked := file != ""
	switch {
	case !j.callsModel() && asked:
		return fmt.Errorf("--capabilities %s: detector %s calls no model", file, j.Detector.Name)
	case !j.callsModel():
		return nil
	case !asked:
		file = j.Request.Endpoint.CapabilitiesFile(j.Request.EndpointName)
		if _, err := os.Stat(file); err != nil {
			return nil //nolint:nilerr // nobody has asked the endpoint, and nobody has to
		}
	}
	record, err := measurements.ReadCapabilities(file)
	if err == nil {
		err = j.manifest.Embed(record)
	}
	switch {
	case err == nil:
		j.capabilities = record
	case asked:
		return err
	default:
		j.Warnings = append(j.Warnings, fmt.Sprintf("what is known of the endpoint is not embedded: %v", err))
	}
	return nil
}
