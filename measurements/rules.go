package measurements

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"github.com/youden-bench/youden/corpus/family"
)

// ScorerVersion names the rules in this package; it changes whenever the same
// findings could be scored differently.
const ScorerVersion = "youden.scorer/1"

// Taxonomy maps a label as claimed to a family; ok is false for a label outside
// the closed list.
type Taxonomy interface {
	Lookup(label string) (id family.ID, ok bool)
}

// Rules are the parameters of the scorer. They are part of a result.
type Rules struct {
	Taxonomy        Taxonomy `json:"-"`
	Slack           int      `json:"slack"`             // lines around a span that still count
	MaxFindingLines int      `json:"max_finding_lines"` // a longer range is no place
}

// DefaultRules are the rules of the bench: the embedded taxonomy, no slack, and
// a range of more than 40 lines is no place.
func DefaultRules() Rules {
	return Rules{Taxonomy: family.Default(), Slack: 0, MaxFindingLines: 40}
}

// Record describes the rules for a plan. Captures with different scorer hashes
// are comparable only once both are scored again.
func (r Rules) Record() ScorerRecord {
	taxonomy := ""
	if t, ok := r.Taxonomy.(interface{ Hash() string }); ok {
		taxonomy = t.Hash()
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "%s\x00%d\x00%d\x00%s", ScorerVersion, r.Slack, r.MaxFindingLines, taxonomy))
	return ScorerRecord{Version: ScorerVersion, Hash: hex.EncodeToString(sum[:]), Rules: r, Taxonomy: taxonomy}
}
