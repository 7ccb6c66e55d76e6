package measurements

import (
	"encoding/json"
	"time"
)

// Schema names the version of a capture: of its manifest, of its rows and of
// the JSON that describes it.
const Schema = "youden.capture/1"

// CaptureStatus says how far a capture came.
type CaptureStatus string

// The states of a capture.
const (
	Unrun    CaptureStatus = "unrun"
	Running  CaptureStatus = "running"
	Complete CaptureStatus = "complete"
	Partial  CaptureStatus = "partial"
)

// Manifest is capture.json: what was planned, by what program, and how it ended.
type Manifest struct {
	Schema     string        `json:"schema"`
	ID         string        `json:"id"`
	Status     CaptureStatus `json:"status"`
	Grade      string        `json:"grade"`
	Simulated  bool          `json:"simulated"`
	Plan       PlanRecord    `json:"plan"`
	Provenance Provenance    `json:"provenance"`
	StartedAt  *time.Time    `json:"started_at"`
	EndedAt    *time.Time    `json:"ended_at"`
	Totals     *Totals       `json:"totals"` // as of the end; readers recompute them
	LeftOut    []LeftOut     `json:"left_out,omitempty"`
	Openings   int           `json:"openings"`         // of the sealed split, this one included
	Budget     *BudgetRecord `json:"budget,omitempty"` // nil: nothing was capped
	// Capabilities is what a probe had found of the endpoint before the capture; nil =
	// nobody had asked.
	Capabilities *Capabilities `json:"capabilities,omitempty"`
	// Request is what was asked for, so that a capture can be resumed. Package
	// bench writes and reads it; it holds no secret.
	Request json.RawMessage `json:"request,omitempty"`
	Traffic                 // what became of the requests; zero until the first session ended
}

// PlanRecord is what was asked for, with the hashes that make it comparable.
type PlanRecord struct {
	Corpus      CorpusRecord      `json:"corpus"`
	Detector    DetectorRecord    `json:"detector"`
	Scorer      ScorerRecord      `json:"scorer"`
	Endpoint    EndpointRecord    `json:"endpoint"`
	Parameters  map[string]any    `json:"parameters"` // effective, as sent
	K           int               `json:"k"`
	Seed        uint64            `json:"seed"`
	Split       string            `json:"split"`
	Filters     map[string]string `json:"filters,omitempty"`
	Policy      Policy            `json:"policy"`
	View        View              `json:"view"`
	Concurrency int               `json:"concurrency,omitempty"`
	Runs        int               `json:"runs"` // planned
	Targeted    bool              `json:"targeted,omitempty"`
	Sequential  *Sequential       `json:"sequential,omitempty"` // nil: K was fixed
}

// CorpusRecord says which cases were planned.
type CorpusRecord struct {
	Source string    `json:"source"`
	Slices []string  `json:"slices,omitempty"`
	Hash   string    `json:"hash"`
	Cases  int       `json:"cases"`
	Strata []Stratum `json:"strata,omitempty"`
}

// Stratum counts the planned cases of one slice and family by their sides, so
// that a case without any row is still known to be unrun.
type Stratum struct {
	Slice          string `json:"slice"`
	Family         string `json:"family"`
	Pairs          int    `json:"pairs"`
	VulnerableOnly int    `json:"vulnerable_only,omitempty"`
	FixedOnly      int    `json:"fixed_only,omitempty"`
}

// DetectorRecord says what detector was run.
type DetectorRecord struct {
	Name     string   `json:"name"`
	Hash     string   `json:"hash"`
	Program  string   `json:"program"`
	Families []string `json:"families,omitempty"`
	// Texts names the parts of what Hash covers, in a fixed order; nil where the
	// capture is of a version that did not record them.
	Texts []TextRecord `json:"texts,omitempty"`
}

// TextRecord is one text of a detector by the first digits of its SHA-256.
type TextRecord struct {
	Name   string `json:"name"`
	SHA256 string `json:"sha256"`
}

// ScorerRecord says by what rules the runs were scored.
type ScorerRecord struct {
	Version  string `json:"version"`
	Hash     string `json:"hash"`
	Rules    Rules  `json:"rules"`
	Taxonomy string `json:"taxonomy,omitempty"` // hash of the label table
}

// EndpointRecord says what answered.
type EndpointRecord struct {
	Name    string `json:"name"`
	BaseURL string `json:"base_url"`
	Model   string `json:"model"`
}

// Provenance says what program made a capture.
type Provenance struct {
	Version     string `json:"version"`
	VCSRevision string `json:"vcs_revision"`
	Dirty       bool   `json:"dirty"`
	Commit      string `json:"commit,omitempty"` // of the repository that the capture was made in
	Go          string `json:"go"`
	OS          string `json:"os"`
}

// LeftOut counts planned cases that were not run, by reason.
type LeftOut struct {
	Reason string `json:"reason"`
	Cases  int    `json:"cases"`
}
