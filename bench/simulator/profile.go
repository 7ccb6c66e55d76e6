package simulator

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path"
	"sort"
	"strings"
)

//go:embed profiles/*.json faults/*.json lexicon.json skills.json clauses.json
var embedded embed.FS

const profileSchema = "youden.simulator-profile/1"

type profileKind string

const (
	kindDetector  profileKind = "detector"
	kindNull      profileKind = "null"
	kindReflector profileKind = "reflector"
)

// profile holds every constant of a simulated model's behaviour. z is measured
// in units of evidence: one clear cue weighs about 1.
type profile struct {
	Schema  string      `json:"schema"`
	Version int         `json:"version"`
	Name    string      `json:"name"`
	Kind    profileKind `json:"kind"`
	About   string      `json:"about"`
	// Seed keys all noise. Two profiles with one seed differ only where their
	// constants do (sim-drifted shares the seed of sim-strong).
	Seed string `json:"seed"`
	// Files the behaviour is made of; the profile hash covers them.
	Files         []string `json:"files"`
	ContextTokens int      `json:"context_tokens"`
	// MaxTokensUnsupported makes the model refuse the old name max_tokens, as
	// hosted reasoning models do.
	MaxTokensUnsupported bool `json:"max_tokens_unsupported,omitempty"`

	Evidence  evidenceConstants  `json:"evidence"`
	Prompt    promptConstants    `json:"prompt"`
	Noise     noiseConstants     `json:"noise"`
	Format    formatConstants    `json:"format"`
	Tools     toolConstants      `json:"tools"`
	Latency   latencyConstants   `json:"latency"`
	Null      nullConstants      `json:"null"`
	Reflector reflectorConstants `json:"reflector"`

	// FamilyShift moves z of a family; FamilyGate is the share of runs in which
	// a family can be reported at all.
	FamilyShift map[string]float64 `json:"family_shift,omitempty"`
	FamilyGate  map[string]float64 `json:"family_gate,omitempty"`

	hash string
}

type evidenceConstants struct {
	Threshold float64 `json:"threshold"`
	// Taint is what a recognised source-to-sink flow adds, Untainted what its
	// recognised absence takes away where a cue needs one.
	Taint     float64 `json:"taint"`
	Untainted float64 `json:"untainted"`
	Guard     float64 `json:"guard"`
	GuardCap  float64 `json:"guard_cap"`
	// A guard lighter than GuardSure counts GuardDoubt of its weight: that a value
	// is tested somehow does not make it safe.
	GuardSure  float64 `json:"guard_sure"`
	GuardDoubt float64 `json:"guard_doubt"`
	// LooseGuard is the part of a guard's weight that counts when the guard is
	// in the function but not on the value.
	LooseGuard float64 `json:"loose_guard"`
	// Base and gain of the two reading skills; the prompt moves them.
	MultiHopBase float64 `json:"multi_hop_base"`
	MultiHopGain float64 `json:"multi_hop_gain"`
	GuardBase    float64 `json:"guard_base"`
	GuardGain    float64 `json:"guard_gain"`
	// SizePerDoubling is lost for every doubling of the code beyond 100 lines.
	SizePerDoubling float64 `json:"size_per_doubling"`
	// Comment scales in-code comments addressed to the model.
	Comment float64 `json:"comment"`
	// PerFamily bounds the findings of one family in one answer.
	PerFamily int `json:"per_family"`
	// Follow is how far below the best candidate of a family another one may lie.
	Follow float64 `json:"follow"`
	// Sibling is the bonus where a comparable place has a guard and this one has
	// none.
	Sibling float64 `json:"sibling"`
	// Overfit is the bonus for code that the prompt quotes.
	Overfit float64 `json:"overfit"`
}

type promptConstants struct {
	FamilyGain     float64 `json:"family_gain"`
	SuspicionShift float64 `json:"suspicion_shift"`
	CautionShift   float64 `json:"caution_shift"`
	Contradiction  float64 `json:"contradiction_noise"`
	DilutionWords  int     `json:"dilution_words"`
	Dilution       float64 `json:"dilution_per_100_words"`
	TailWords      int     `json:"tail_words"`
	TailBonus      float64 `json:"tail_bonus"`
}

type noiseConstants struct {
	Item        float64 `json:"item"`
	T0          float64 `json:"t0_noise"`
	Temperature float64 `json:"t_noise"`
	// Candidate is the part of the call noise that differs between candidates.
	Candidate float64 `json:"candidate"`
	LineOff   float64 `json:"line_off"`
	// Confidence: logistic(z * ConfidenceScale + ConfidenceShift).
	ConfidenceScale float64 `json:"confidence_scale"`
	ConfidenceShift float64 `json:"confidence_shift"`
}

// formatConstants are rates at no format skill; a rate falls as
// rate * exp(-Decay * skill).
type formatConstants struct {
	Decay     float64 `json:"decay"`
	Fence     float64 `json:"fence"`
	Prose     float64 `json:"prose"`
	Malformed float64 `json:"malformed"`
	Alias     float64 `json:"alias"`
	Unmapped  float64 `json:"unmapped"`
	Refusal   float64 `json:"refusal"`
}

type toolConstants struct {
	MaxSteps  int     `json:"max_steps"`
	ReadBase  float64 `json:"read_base"`
	ReadGain  float64 `json:"read_gain"`
	Parallel  float64 `json:"parallel"`
	WrongPath float64 `json:"wrong_path"`
	Repeat    float64 `json:"repeat"`
	BadJSON   float64 `json:"bad_json"`
	Search    float64 `json:"search"`
}

type latencyConstants struct {
	FirstTokenMS float64 `json:"first_token_ms"`
	PerTokenMS   float64 `json:"per_token_ms"`
	Sigma        float64 `json:"sigma"`
}

type nullConstants struct {
	Flag  float64 `json:"flag"`
	Range int     `json:"range"`
}

type reflectorConstants struct {
	Add          float64 `json:"add"`
	Drop         float64 `json:"drop"`
	Reword       float64 `json:"reword"`
	NoFence      float64 `json:"no_fence"`
	RepeatSelf   float64 `json:"repeat_self"`
	Unchanged    float64 `json:"unchanged"`
	FeedbackBias float64 `json:"feedback_bias"`
}

// Models lists the embedded profiles, sorted.
func Models() []string {
	entries, err := fs.ReadDir(embedded, "profiles")
	if err != nil { // the directory is part of the binary
		return nil
	}
	var out []string
	for _, e := range entries {
		out = append(out, strings.TrimSuffix(e.Name(), ".json"))
	}
	sort.Strings(out)
	return out
}

// ProfileHash is the hex SHA-256 over an embedded profile and the files it is
// made of.
func ProfileHash(name string) (string, error) {
	p, err := loadEmbedded(name)
	if err != nil {
		return "", err
	}
	return p.hash, nil
}

func loadEmbedded(name string) (*profile, error) {
	data, err := embedded.ReadFile(path.Join("profiles", name+".json"))
	if err != nil {
		return nil, fmt.Errorf("simulator: no profile %q; there are %s", name, strings.Join(Models(), ", "))
	}
	return parseProfile(name, data)
}

func loadProfileFile(file string) (*profile, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("simulator: read profile file: %w", err)
	}
	return parseProfile(file, data)
}

func parseProfile(from string, data []byte) (*profile, error) {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	p := &profile{}
	if err := dec.Decode(p); err != nil {
		return nil, fmt.Errorf("simulator: profile %s: %w", from, err)
	}
	if err := p.check(); err != nil {
		return nil, fmt.Errorf("simulator: profile %s: %w", from, err)
	}
	h := sha256.New()
	h.Write(data)
	for _, f := range p.Files {
		part, err := embedded.ReadFile(f)
		if err != nil {
			return nil, fmt.Errorf("simulator: profile %s names %q, which is not embedded: %w", from, f, err)
		}
		h.Write([]byte("\x00" + f + "\x00"))
		h.Write(part)
	}
	p.hash = hex.EncodeToString(h.Sum(nil))
	return p, nil
}

func (p *profile) check() error {
	switch {
	case p.Schema != profileSchema:
		return fmt.Errorf("schema is %q, want %q", p.Schema, profileSchema)
	case !strings.HasPrefix(p.Name, "sim-"):
		return fmt.Errorf("name %q must start with sim-, so that nobody takes it for a real model", p.Name)
	case p.Kind != kindDetector && p.Kind != kindNull && p.Kind != kindReflector:
		return fmt.Errorf("kind %q is none of detector, null, reflector", p.Kind)
	case p.Seed == "":
		return fmt.Errorf("seed is empty")
	case p.ContextTokens <= 0:
		return fmt.Errorf("context_tokens must be above 0")
	case p.Kind == kindDetector && p.Evidence.PerFamily < 1:
		return fmt.Errorf("evidence.per_family must be at least 1")
	}
	return nil
}

func (p *profile) fingerprint() string { return "fp_sim_" + p.hash[:12] }
