package measurements

import "time"

// The rows below are the public contract of a capture: each struct is the
// schema of one Parquet file. A column that may be unknown is a pointer, always:
// parquet-go writes the zero of a plain optional field as NULL, and reads NULL
// in a required one as zero (spec/libraries.md 2.3). Enumerations are strings,
// units stand in the names, text is valid UTF-8 (text_repaired says where bytes
// were replaced; the raw ones stay in the ledger).

// RunRow is one run: one detector invocation on one side of one case.
type RunRow struct {
	RunID       string   `parquet:"run_id"`
	CaseID      string   `parquet:"case_id,dict"`
	CaseHash    string   `parquet:"case_hash,dict"`
	ContentHash string   `parquet:"content_hash,dict"`
	Slice       string   `parquet:"slice,dict"`
	Family      string   `parquet:"family,dict"`
	Accept      []string `parquet:"accept,list"`
	Group       string   `parquet:"group,dict"`
	Split       string   `parquet:"split,dict"`
	Language    string   `parquet:"language,dict"`
	Vetted      string   `parquet:"vetted,dict"`
	Pair        bool     `parquet:"pair"` // the case has both sides, whether or not both were run
	Side        string   `parquet:"side,dict"`
	K           int64    `parquet:"k"`
	RequestSeed int64    `parquet:"request_seed"`

	Status string  `parquet:"status,dict"`
	Counts string  `parquet:"counts,dict"` // yes, charged or excused
	Detail *string `parquet:"detail,optional"`

	// Outcome is that of the rules, before any policy; the three beside it say
	// what is left of it once a policy has forgiven what it forgives.
	Outcome       string `parquet:"outcome,dict"`
	OutcomeStrict string `parquet:"outcome_strict,dict"`
	OutcomeClass  string `parquet:"outcome_class,dict"`
	OutcomeRegion string `parquet:"outcome_region,dict"`
	Hit           *bool  `parquet:"hit,optional"` // vulnerable side only
	SilentStrict  *bool  `parquet:"silent_strict,optional"`
	SilentClass   *bool  `parquet:"silent_class,optional"`
	SilentRegion  *bool  `parquet:"silent_region,optional"`
	Residual      bool   `parquet:"residual"` // scored under the region policy whatever was asked

	// The highest severity among the findings that make the hit, or that break
	// the silence under a policy: low, medium, high or critical. Null when there
	// is no such finding, or none of them claims one of these.
	HitSeverity         *string `parquet:"hit_severity,optional,dict"`
	BreakSeverityStrict *string `parquet:"break_severity_strict,optional,dict"`
	BreakSeverityClass  *string `parquet:"break_severity_class,optional,dict"`
	BreakSeverityRegion *string `parquet:"break_severity_region,optional,dict"`

	Findings     *int64 `parquet:"findings,optional"` // null unless the run is ok
	DroppedItems *int64 `parquet:"dropped_items,optional"`
	Unmapped     *int64 `parquet:"unmapped,optional"`
	Unlocated    *int64 `parquet:"unlocated,optional"`

	Calls            int64  `parquet:"calls"`
	Attempts         int64  `parquet:"attempts"`
	PromptTokens     *int64 `parquet:"prompt_tokens,optional"`
	CompletionTokens *int64 `parquet:"completion_tokens,optional"`
	ReasoningTokens  *int64 `parquet:"reasoning_tokens,optional"`
	CachedTokens     *int64 `parquet:"cached_tokens,optional"`
	CostUSDMicros    *int64 `parquet:"cost_usd_micros,optional"`

	LatencyMS *int64     `parquet:"latency_ms,optional"` // sum over the model calls
	StartedAt *time.Time `parquet:"started_at,optional,timestamp(microsecond)"`

	TrajectoryHash    *string `parquet:"trajectory_hash,optional"`
	ModelReturned     *string `parquet:"model_returned,optional,dict"`
	SystemFingerprint *string `parquet:"system_fingerprint,optional,dict"`
	FinishReason      *string `parquet:"finish_reason,optional,dict"`
	Receipt           *string `parquet:"receipt,optional"` // of the last call
	Simulated         bool    `parquet:"simulated"`
	TextRepaired      bool    `parquet:"text_repaired"`
}

// StepRow is one step of a run: a call of the model or of a tool.
type StepRow struct {
	RunID            string  `parquet:"run_id"`
	CaseID           string  `parquet:"case_id,dict"`
	Side             string  `parquet:"side,dict"`
	K                int64   `parquet:"k"`
	Step             int64   `parquet:"step"` // from 0
	Kind             string  `parquet:"kind,dict"`
	Tool             *string `parquet:"tool,optional,dict"`
	Arguments        *string `parquet:"arguments,optional"`
	Text             string  `parquet:"text"`
	Reasoning        *string `parquet:"reasoning,optional"`
	Status           *string `parquet:"status,optional,dict"` // of a model step
	FinishReason     *string `parquet:"finish_reason,optional,dict"`
	PromptTokens     *int64  `parquet:"prompt_tokens,optional"`
	CompletionTokens *int64  `parquet:"completion_tokens,optional"`
	ReasoningTokens  *int64  `parquet:"reasoning_tokens,optional"`
	CachedTokens     *int64  `parquet:"cached_tokens,optional"`
	CostUSDMicros    *int64  `parquet:"cost_usd_micros,optional"`
	LatencyMS        *int64  `parquet:"latency_ms,optional"`
	Attempts         *int64  `parquet:"attempts,optional"`
	Receipt          *string `parquet:"receipt,optional"`
	TextRepaired     bool    `parquet:"text_repaired"`
}

// The kinds of rows in findings.parquet.
const (
	KindFinding = "finding"
	KindStatus  = "status" // the one row of a run that is not ok
)

// FindingRow is one claim, or the status of a run that has none to give. So a
// run without any row is one that ran and found nothing.
type FindingRow struct {
	RunID    string  `parquet:"run_id"`
	CaseID   string  `parquet:"case_id,dict"`
	Slice    string  `parquet:"slice,dict"`
	Side     string  `parquet:"side,dict"`
	K        int64   `parquet:"k"`
	N        int64   `parquet:"n"` // from 0, in the order of the report
	Kind     string  `parquet:"kind,dict"`
	Status   string  `parquet:"status,dict"`
	Family   *string `parquet:"family,optional,dict"` // null = unmapped
	Label    *string `parquet:"label,optional"`
	CWE      *int64  `parquet:"cwe,optional"`
	OWASP    *string `parquet:"owasp,optional,dict"`
	File     *string `parquet:"file,optional"`
	Line     *int64  `parquet:"line,optional"`
	EndLine  *int64  `parquet:"end_line,optional"`
	Severity *string `parquet:"severity,optional,dict"`

	Confidence   *float64 `parquet:"confidence,optional"`
	Explanation  *string  `parquet:"explanation,optional"`
	Suggestion   *string  `parquet:"suggestion,optional"`
	Tags         []string `parquet:"tags,list"`
	Model        *string  `parquet:"model,optional,dict"`
	Passed       []string `parquet:"passed,list"`
	Accepted     *bool    `parquet:"accepted,optional"` // family is right for the case
	Located      *bool    `parquet:"located,optional"`  // has a usable place
	InSpan       *bool    `parquet:"in_span,optional"`  // vulnerable side only
	InRegion     *bool    `parquet:"in_region,optional"`
	TextRepaired bool     `parquet:"text_repaired"`
}

// Rows are the projections of one run.
type Rows struct {
	Run      RunRow
	Steps    []StepRow
	Findings []FindingRow
}
