package compare

import (
	"time"

	"github.com/youden-bench/youden/measurements"
)

// Kind says what a subject was read from.
type Kind string

// The kinds of subjects.
const (
	FromCapture  Kind = "capture"
	FromBaseline Kind = "baseline"
	FromKSTRL    Kind = "kstrl"
)

// Subject is one side of a comparison: what was measured, and how.
type Subject struct {
	Name string // as the user called it
	Kind Kind
	Identity
	Completeness
	Cases []measurements.CaseScore
	// Severities is false when the subject does not know how severe its findings
	// are.
	Severities bool
	Spend      measurements.Spend
	// LatencyP50 and LatencyP95 are milliseconds over the runs that have one.
	LatencyP50, LatencyP95 *float64
	// Models counts the runs by the model that the endpoint says answered.
	Models map[string]int64
	// Looks say how a capture was compared while it grew; nil = it was not.
	Looks *measurements.Sequential
	// CorpusSource is where the cases came from, "" when that is not known.
	CorpusSource string
}

// Identity is what makes two subjects comparable, and what they may differ by.
type Identity struct {
	ID   string    `json:"id"`
	Date time.Time `json:"date,omitzero"`
	// Commit is that of the user's repository when the capture was made, else when a
	// baseline was made of it; nil when there was none or nobody asked. Provenance.VCSRevision is
	// that of youden itself.
	Commit     *string                     `json:"commit"`
	Grade      string                      `json:"grade"`
	Simulated  bool                        `json:"simulated"`
	K          int                         `json:"k"`
	Seed       uint64                      `json:"seed"`
	Split      string                      `json:"split"`
	CorpusHash string                      `json:"corpus_hash"`
	Detector   measurements.DetectorRecord `json:"detector"`
	Scorer     measurements.ScorerRecord   `json:"scorer"`
	Endpoint   measurements.EndpointRecord `json:"endpoint"`
	Parameters map[string]any              `json:"parameters"` // as they were sent in the end
	Configured map[string]any              `json:"configured,omitempty"`
	Policy     measurements.Policy         `json:"policy"`
	View       measurements.View           `json:"view"`
	Targeted   bool                        `json:"targeted,omitempty"`
	StoppedAt  int                         `json:"stopped_at,omitempty"` // the look that fixed K, from 1; 0 = none did
	Provenance measurements.Provenance     `json:"provenance"`
	// Capabilities is what the endpoint was found to do with requests; nil = nobody
	// had asked.
	Capabilities *measurements.Capabilities `json:"capabilities,omitempty"`
}

func (s *Subject) byHash() map[string]*measurements.CaseScore {
	index := make(map[string]*measurements.CaseScore, len(s.Cases))
	for i := range s.Cases {
		index[s.Cases[i].Hash] = &s.Cases[i]
	}
	return index
}
