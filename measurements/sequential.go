package measurements

import "slices"

// Sequential says how looks at a baseline steered a capture (spec/statistics.md
// section 4). K and Runs of its plan are those that the looks left of what was
// planned at first.
type Sequential struct {
	Against     string `json:"against"`      // the file or capture, as it was named
	AgainstHash string `json:"against_hash"` // of what it measured
	PlannedK    int    `json:"planned_k"`
	PlannedRuns int    `json:"planned_runs"`

	Looks   []Look      `json:"looks"`      // made so far
	Stopped int         `json:"stopped_at"` // the look that ended it, from 1; 0 = none did
	Fresh   []FreshRuns `json:"fresh,omitempty"`
	Verdict string      `json:"verdict,omitempty"` // "" until it is reached

	// FreshRuns are planned in captures of their own; they are written down before the
	// first of them is paid for. Their calls and cost are in no total of the capture
	// that raised the suspicion; nil = unknown.
	FreshRuns          int    `json:"fresh_runs"`
	FreshCalls         *int64 `json:"fresh_calls,omitempty"`
	FreshCostUSDMicros *int64 `json:"fresh_cost_usd_micros,omitempty"`
	// FreshCaptures are these captures. One stays here when what was suspected is no
	// longer: a resumed capture recovers runs, and what was paid for was paid for.
	FreshCaptures []FreshCapture `json:"fresh_captures,omitempty"`
	// RunsSaved are those that a capture of PlannedK would have made besides;
	// below 0 when fresh runs cost more than the looks saved.
	RunsSaved int `json:"runs_saved"`
	// CallsSaved are the calls of these runs, at the mean of the runs made.
	CallsSaved *int64 `json:"calls_saved"`
}

// FreshCapture holds fresh runs of families that were suspected at the same time, in a
// folder of the capture that raised the suspicion.
type FreshCapture struct {
	Folder        string        `json:"folder"`
	Suspects      []SliceFamily `json:"suspects"`
	Runs          int           `json:"runs"`  // planned
	Calls         *int64        `json:"calls"` // each request that was sent; nil = unknown
	CostUSDMicros *int64        `json:"cost_usd_micros"`
}

// SliceFamily is a family of a slice.
type SliceFamily struct {
	Slice  string `json:"slice"`
	Family string `json:"family"`
}

// Sum adds up what the fresh captures came to.
func (s *Sequential) Sum() {
	s.FreshRuns, s.FreshCalls, s.FreshCostUSDMicros = 0, nil, nil
	if len(s.FreshCaptures) == 0 {
		return
	}
	var calls, cost int64
	s.FreshCalls, s.FreshCostUSDMicros = &calls, &cost
	for _, f := range s.FreshCaptures {
		s.FreshRuns += f.Runs
		accumulate(&s.FreshCalls, f.Calls)
		accumulate(&s.FreshCostUSDMicros, f.CostUSDMicros)
	}
}

// accumulate makes a sum unknown as soon as a part of it is.
func accumulate(sum **int64, part *int64) {
	if *sum == nil || part == nil {
		*sum = nil
		return
	}
	**sum += *part
}

// Unjudged lists the families whose fresh runs are no part of the verdict.
func (s *Sequential) Unjudged() (list []SliceFamily) {
	for _, f := range s.FreshCaptures {
		for _, family := range f.Suspects {
			if !slices.ContainsFunc(s.Fresh, func(r FreshRuns) bool { return SliceFamily{r.Slice, r.Family} == family }) {
				list = append(list, family)
			}
		}
	}
	return list
}

// Look is one comparison of a growing capture with its baseline.
type Look struct {
	K       int      `json:"k"`
	Verdict string   `json:"verdict"`
	Delta   *float64 `json:"delta"` // of J, over all compared cases
}

// FreshRuns is a family that looked worse, judged again by runs that nothing had
// been seen of. They confirm or not, and enter no score: runs that are added where
// a capture disagrees with its baseline would bias the mean.
type FreshRuns struct {
	Slice   string   `json:"slice"`
	Family  string   `json:"family"`
	N       int      `json:"n"`
	Runs    int      `json:"runs_per_side"`
	Delta   *float64 `json:"delta"`   // of J, fresh runs against the baseline
	P       *float64 `json:"p"`       // whether it fell in general
	PCases  *float64 `json:"p_cases"` // whether it fell on these cases
	Verdict string   `json:"verdict"`
}
