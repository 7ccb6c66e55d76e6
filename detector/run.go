package detector

import (
	"context"

	"github.com/youden-bench/youden/corpus/family"
)

// File is one file of the side under audit.
type File struct {
	Path string
	Text string
}

// Target is all that a detector may know of the thing it audits: files and a
// task. It holds no label.
type Target struct {
	Task  string
	Files []File
	Seed  int64  // of the request: H(plan seed, content hash, side, k)
	Plan  uint64 // the plan's seed, which keys the fences around data
}

// Program is a way of asking: one shot, a tool loop, typed questions. Run always
// returns a trajectory that ends in exactly one status.
type Program interface {
	Run(ctx context.Context, t Target, m Model) Trajectory
	// Texts lists what beside the levers can reach a request or reads its
	// answer: templates, contracts, fence and retry wording, parser versions.
	Texts() []string
}

// Trajectory is what a run did, in order, and what it claims.
type Trajectory struct {
	Steps    []Step
	Findings []Finding
	Dropped  int // items of the report that were no objects
	Status   Status
	Detail   string // why the status is not ok, in plain words
	// Hash identifies what was investigated: the ordered tools with canonical
	// arguments, or the planned requests without seed where there are no tools.
	// Answers and retries are not part of it.
	Hash string
}

// StepKind says whether a step called the model or a tool.
type StepKind string

// The kinds of steps.
const (
	ModelStep StepKind = "model"
	ToolStep  StepKind = "tool"
)

// Step is one call of a model or of a tool.
type Step struct {
	Kind      StepKind
	Tool      string
	Arguments string // canonical JSON
	Text      string // the answer's text or the tool's result
	Answer    Answer // of a model step
}

// Severity is how bad a finding claims to be.
type Severity string

// The severities, and their order. An unknown word is kept as SeverityUnknown.
const (
	SeverityUnknown  Severity = ""
	SeverityInfo     Severity = "info"
	SeverityLow      Severity = "low"
	SeverityMedium   Severity = "medium"
	SeverityHigh     Severity = "high"
	SeverityCritical Severity = "critical"
)

// Finding is a claim of a detector. Nothing in it is trusted: the scorer reads
// family and place only.
type Finding struct {
	Family      family.ID // "" = unmapped
	Label       string    // as claimed
	CWE         int       // 0 = none claimed
	OWASP       string
	File        string
	Line        int // 1-based; 0 = unlocated
	EndLine     int // 0 = the same line
	Severity    Severity
	Confidence  *float64 // 0..1; nil = not claimed
	Explanation string
	Suggestion  string
	Tags        []string
	Model       string
	Passed      []string // names of the predicates it passed
}
