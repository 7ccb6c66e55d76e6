package measurements

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

	// FreshRuns are planned in the capture of their own; they are written down before
	// the first of them is paid for. Their calls and cost are in no total of the
	// capture that raised the suspicion; nil = unknown.
	FreshRuns          int    `json:"fresh_runs"`
	FreshCalls         *int64 `json:"fresh_calls,omitempty"`
	FreshCostUSDMicros *int64 `json:"fresh_cost_usd_micros,omitempty"`
	// RunsSaved are those that a capture of PlannedK would have made besides;
	// below 0 when fresh runs cost more than the looks saved.
	RunsSaved int `json:"runs_saved"`
	// CallsSaved are the calls of these runs, at the mean of the runs made.
	CallsSaved *int64 `json:"calls_saved"`
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
