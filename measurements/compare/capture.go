package compare

import "github.com/youden-bench/youden/measurements"

// loadCapture reads a capture as it was planned to be scored, or otherwise.
func loadCapture(dir string, p measurements.Policy, v measurements.View) (*Subject, error) {
	c, err := measurements.Open(dir)
	if err != nil {
		return nil, err
	}
	m := c.Manifest()
	if p == "" {
		p = m.Plan.Policy
	}
	if v == "" {
		v = m.Plan.View
	}
	t, err := c.Tallies(p, v)
	if err != nil {
		return nil, err
	}
	s := ofTallied(dir, m, t)
	if why := s.fault(); why != "" {
		return nil, &LoadError{dir, 0, why, "restore its files from a copy, or write them anew from its ledger with `youden resume`"}
	}
	return s, nil
}

func ofTallied(name string, m measurements.Manifest, t measurements.Tallied) *Subject {
	m.Simulated = t.Simulated
	status, grade := m.Standing(t.Spend)
	s := &Subject{
		Name: name, Kind: FromCapture, Cases: t.Cases, Spend: t.Spend, Severities: t.Severities, CorpusSource: m.Plan.Corpus.Source,
		LatencyP50: t.Latency.MedianMS, LatencyP95: t.Latency.P95MS, Models: map[string]int64{},
		Identity: Identity{
			ID: m.ID, Grade: grade, Simulated: t.Simulated, K: t.K, Seed: m.Plan.Seed, Split: m.Plan.Split,
			CorpusHash: m.Plan.Corpus.Hash, Detector: m.Plan.Detector, Scorer: m.Plan.Scorer, Endpoint: m.Plan.Endpoint,
			Parameters: m.Parameters(), Configured: m.Plan.Parameters, Policy: t.Part.Policy, View: t.Part.View, Targeted: m.Plan.Targeted, Provenance: m.Provenance,
			Capabilities: m.Capabilities.Brief(),
		},
	}
	if commit := m.Provenance.Commit; commit != "" {
		s.Commit = &commit
	}
	if m.StartedAt != nil {
		s.Date = *m.StartedAt
	}
	if t.Part.Only == nil { // a part was never to be the whole
		s.Completeness = completeness(status, int64(m.Plan.Runs), t)
		if looks := m.Plan.Sequential; looks != nil {
			s.StoppedAt, s.Looks = looks.Stopped, looks
		}
	}
	for _, n := range t.Models.List {
		s.Models[n.Name] = n.Runs
	}
	return s
}
