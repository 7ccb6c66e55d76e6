package compare

import "github.com/youden-bench/youden/measurements"

// Head is what a comparison shows of a subject before any number of cases.
type Head struct {
	Name string `json:"name"`
	Kind Kind   `json:"kind"`
	Identity
	Cases          int              `json:"cases"`
	Runs           int64            `json:"runs"`
	Correct        int              `json:"correct"` // pairs that the votes have right
	CostUSDMicros  *int64           `json:"cost_usd_micros"`
	CostPerCorrect *float64         `json:"cost_per_correct_usd_micros"`
	LatencyP50     *float64         `json:"latency_p50_ms"`
	LatencyP95     *float64         `json:"latency_p95_ms"`
	Statuses       map[string]int64 `json:"statuses"` // of the runs that are not ok
	Models         map[string]int64 `json:"models"`   // as returned
}

func (s *Subject) head() Head {
	h := Head{
		Name: s.Name, Kind: s.Kind, Identity: s.Identity, Cases: len(s.Cases), Runs: s.Spend.Runs, CostUSDMicros: s.Spend.CostUSDMicros,
		LatencyP50: s.LatencyP50, LatencyP95: s.LatencyP95, Statuses: s.Spend.Statuses, Models: s.Models,
	}
	for _, c := range s.Cases {
		if c.Pair() == measurements.Correct {
			h.Correct++
		}
	}
	// A sum that leaves out runs of unknown cost is no price.
	if h.CostUSDMicros != nil && s.Spend.CostUnknown == 0 && h.Correct > 0 {
		per := float64(*h.CostUSDMicros) / float64(h.Correct)
		h.CostPerCorrect = &per
	}
	return h
}
