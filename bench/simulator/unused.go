package simulator

import "slices"

// readUnused checks the parameters that have no effect here: a client that sends
// one of them wrongly would be refused by the hosted API, and must not be let in.
// Parameters that no schema knows are let in, as other servers do.
func readUnused(f fields) *apiError {
	if err := checkNumbers(f); err != nil {
		return err
	}
	if err := checkWords(f); err != nil {
		return err
	}
	var metadata map[string]string
	if err := f.read("metadata", "metadata", "an object of strings", &metadata); err != nil {
		return err
	}
	var bias map[string]int
	if err := f.read("logit_bias", "logit_bias", "an object of integers", &bias); err != nil {
		return err
	}
	var store bool
	return f.read("store", "store", "a boolean", &store)
}

func checkNumbers(f fields) *apiError {
	for _, p := range []struct {
		key       string
		low, high float64
	}{{"top_p", 0, 1}, {"frequency_penalty", -2, 2}, {"presence_penalty", -2, 2}} {
		v := p.low
		if err := f.read(p.key, p.key, "a decimal", &v); err != nil {
			return err
		}
		if v < p.low || v > p.high {
			return invalidValue(p.key, "must be between %v and %v.", p.low, p.high)
		}
	}
	return nil
}

// checkWords knows the words of OpenAI's description of its API, version 2.3.0.
func checkWords(f fields) *apiError {
	for _, p := range []struct {
		key   string
		words []string
	}{
		{"user", nil},
		{"service_tier", []string{"auto", "default", "flex", "scale", "priority", "fast"}},
		{"reasoning_effort", []string{"none", "minimal", "low", "medium", "high", "xhigh", "max"}},
		{"verbosity", []string{"low", "medium", "high"}},
	} {
		var v string
		if err := f.read(p.key, p.key, "a string", &v); err != nil {
			return err
		}
		if f.has(p.key) && p.words != nil && !slices.Contains(p.words, v) {
			return invalidValue(p.key, "%q is none of %v.", v, p.words)
		}
	}
	return nil
}
