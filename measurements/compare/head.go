package compare

import (
	"time"

	"github.com/youden-bench/youden/measurements"
)

// Head is what a comparison shows of a subject before any number of cases.
// Unknown is nil: a kstrl file knows little of how it was made.
type Head struct {
	Name string `json:"name"`
	Kind Kind   `json:"kind"`
	Identity
	Date *time.Time `json:"date"`
	K    *int       `json:"k"`
	Completeness
	ErrorRate *float64 `json:"error_rate"` // of the dispatched runs
	// Incomplete says why the numbers are not those of a whole capture; "" = they
	// are, or nobody knows.
	Incomplete     string           `json:"incomplete"`
	Cases          int              `json:"cases"`
	Runs           *int64           `json:"runs"`
	Correct        int              `json:"correct"`           // pairs that the votes have right
	CostUSDMicros  *int64           `json:"cost_usd_micros"`   // of the runs whose cost is known
	CostUnknown    *int64           `json:"cost_unknown_runs"` // those whose cost is not
	CostPerCorrect *float64         `json:"cost_per_correct_usd_micros"`
	LatencyP50     *float64         `json:"latency_p50_ms"`
	LatencyP95     *float64         `json:"latency_p95_ms"`
	Statuses       map[string]int64 `json:"statuses"` // of the runs that are not ok; null = unknown
	Models         map[string]int64 `json:"models"`   // as returned

	MaxErrorRate float64 `json:"-"` // by which it is incomplete
}

// head describes the subject; it is incomplete by a limit of errors.
func (s *Subject) head(maxErrorRate float64) Head {
	h := Head{
		Name: s.Name, Kind: s.Kind, Identity: s.Identity, Completeness: s.Completeness, Incomplete: s.Incomplete(maxErrorRate), MaxErrorRate: maxErrorRate,
		Cases: len(s.Cases), CostUSDMicros: s.Spend.CostUSDMicros,
		LatencyP50: s.LatencyP50, LatencyP95: s.LatencyP95, Models: s.Models,
	}
	if !s.Date.IsZero() {
		h.Date = &s.Date
	}
	if s.K > 0 {
		h.K = &s.K
	}
	if runs := s.Spend.Runs; runs > 0 || s.Kind == FromCapture {
		h.Runs = &runs
		if s.accounted() {
			h.Statuses, h.CostUnknown = s.Spend.Statuses, &s.Spend.CostUnknown
		}
	}
	if errored, sent := s.errors(); sent > 0 {
		rate := float64(errored) / float64(sent)
		h.Dispatched, h.Errors, h.ErrorRate = &sent, &errored, &rate
	}
	h.Correct, h.CostPerCorrect = s.correct(), s.costPerCorrect()
	return h
}

// correct counts the pairs that the votes have right.
func (s *Subject) correct() (n int) {
	for _, c := range s.Cases {
		if c.Pair() == measurements.Correct {
			n++
		}
	}
	return n
}

// costPerCorrect is nil where some run's cost is unknown: a sum that leaves out
// runs is no price.
func (s *Subject) costPerCorrect() *float64 {
	correct := s.correct()
	if s.Spend.CostUSDMicros == nil || s.Spend.CostUnknown > 0 || correct == 0 {
		return nil
	}
	per := float64(*s.Spend.CostUSDMicros) / float64(correct)
	return &per
}
