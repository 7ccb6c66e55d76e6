package measurements

// Rates are the numbers of a set of cases under one policy and view, but for J
// itself. Unknown is nil; a rate over no case is unknown.
type Rates struct {
	Cases       int64 `parquet:"cases" json:"cases"`
	N           int64 `parquet:"n" json:"n"` // cases that count
	NVulnerable int64 `parquet:"n_vulnerable" json:"n_vulnerable"`
	NFixed      int64 `parquet:"n_fixed" json:"n_fixed"`

	Recall    *float64 `parquet:"recall,optional" json:"recall"`
	RecallLo  *float64 `parquet:"recall_lo,optional" json:"recall_lo"`
	RecallHi  *float64 `parquet:"recall_hi,optional" json:"recall_hi"`
	Silence   *float64 `parquet:"silence,optional" json:"silence"`
	SilenceLo *float64 `parquet:"silence_lo,optional" json:"silence_lo"`
	SilenceHi *float64 `parquet:"silence_hi,optional" json:"silence_hi"`
	// Bias is recall - silence, which is the leak rate less the miss rate:
	// above 0 the detector errs by speaking too much, below by saying too little.
	Bias *float64 `parquet:"bias,optional" json:"bias"`

	// The ensemble: majority votes over the pairs.
	JVote        *float64 `parquet:"j_vote,optional" json:"j_vote"`
	JVoteLo      *float64 `parquet:"j_vote_lo,optional" json:"j_vote_lo"`
	JVoteHi      *float64 `parquet:"j_vote_hi,optional" json:"j_vote_hi"`
	Votes        int64    `parquet:"votes" json:"votes"`
	Correct      int64    `parquet:"correct" json:"correct"`
	BothFlagged  int64    `parquet:"both_flagged" json:"both_flagged"`
	Missed       int64    `parquet:"missed" json:"missed"`
	Reversed     int64    `parquet:"reversed" json:"reversed"`
	PairAccuracy *float64 `parquet:"pair_accuracy,optional" json:"pair_accuracy"`

	Floor  int64 `parquet:"floor" json:"floor"`     // cases whose runs disagree
	FloorN int64 `parquet:"floor_n" json:"floor_n"` // cases with two runs on a side to disagree

	Unscorable map[string]int64 `parquet:"unscorable" json:"unscorable"` // cases that do not count, by reason
	Coverage   *float64         `parquet:"coverage,optional" json:"coverage"`

	// Worst and best: every run that did not count was wrong, or right.
	RecallWorst  *float64 `parquet:"recall_worst,optional" json:"recall_worst"`
	RecallBest   *float64 `parquet:"recall_best,optional" json:"recall_best"`
	SilenceWorst *float64 `parquet:"silence_worst,optional" json:"silence_worst"`
	SilenceBest  *float64 `parquet:"silence_best,optional" json:"silence_best"`
	JWorst       *float64 `parquet:"j_worst,optional" json:"j_worst"`
	JBest        *float64 `parquet:"j_best,optional" json:"j_best"`

	DistinctTrajectories *float64 `parquet:"distinct_trajectories,optional" json:"distinct_trajectories"` // mean per side
	RunsAre              *string  `parquet:"runs_are,optional" json:"runs_are"`
	Residual             int64    `parquet:"residual" json:"residual"` // cases scored under region
}

// What the K runs of a side are: one measurement repeated, when all of them
// investigated the same thing, or an ensemble of investigations.
const (
	Repeats  = "repeats"
	Ensemble = "ensemble"
)

// Spend sums what runs cost. A sum leaves out the runs whose part is unknown
// and says how many these are: it is a lower bound then.
type Spend struct {
	Runs             int64            `parquet:"runs" json:"runs"`
	RunsOK           int64            `parquet:"runs_ok" json:"ok"`
	RunsCharged      int64            `parquet:"runs_charged" json:"charged"`
	RunsExcused      int64            `parquet:"runs_excused" json:"excused"`
	Statuses         map[string]int64 `parquet:"statuses" json:"statuses"` // of the runs that are not ok
	Unmapped         int64            `parquet:"unmapped" json:"unmapped"` // findings outside the taxonomy
	DroppedItems     int64            `parquet:"dropped_items" json:"dropped_items"`
	Calls            int64            `parquet:"calls" json:"calls"`
	Attempts         int64            `parquet:"attempts" json:"attempts"`
	PromptTokens     *int64           `parquet:"prompt_tokens,optional" json:"prompt_tokens"`
	CompletionTokens *int64           `parquet:"completion_tokens,optional" json:"completion_tokens"`
	Tokens           *int64           `parquet:"tokens,optional" json:"tokens"`
	TokensUnknown    int64            `parquet:"tokens_unknown_runs" json:"tokens_unknown_runs"`
	CachedTokens     *int64           `parquet:"cached_tokens,optional" json:"cached_tokens"` // of the prompts; what is cached is a part of them
	CachedUnknown    int64            `parquet:"cached_unknown_runs" json:"cached_unknown_runs"`
	ReasoningTokens  *int64           `parquet:"reasoning_tokens,optional" json:"reasoning_tokens"` // of the completions
	ReasoningUnknown int64            `parquet:"reasoning_unknown_runs" json:"reasoning_unknown_runs"`
	CostUSDMicros    *int64           `parquet:"cost_usd_micros,optional" json:"cost_usd_micros"`
	CostUnknown      int64            `parquet:"cost_unknown_runs" json:"cost_unknown_runs"`
}

// ScoreRow is one row of scores.parquet, and of a summary: a family of a slice
// under one policy and view.
type ScoreRow struct {
	Slice  string `parquet:"slice,dict" json:"slice"`
	Family string `parquet:"family,dict" json:"family"`
	Policy string `parquet:"policy,dict" json:"policy"`
	View   string `parquet:"view,dict" json:"view"`
	K      int64  `parquet:"k" json:"k"`
	// J is the measurement: recall + silence - 1 over single runs.
	J   *float64 `parquet:"j,optional" json:"j"`
	JLo *float64 `parquet:"j_lo,optional" json:"j_lo"`
	JHi *float64 `parquet:"j_hi,optional" json:"j_hi"`
	Rates
	Spend
}
