package kstrl

import (
	"bytes"
	"encoding/json"
	"fmt"
	"unicode/utf16"
	"unicode/utf8"
)

// The types of this file are the format of version 2: their fields stand in the
// order of the keys.

type fileV2 struct {
	FormatVersion  int                  `json:"format_version"`
	Model          string               `json:"model"`
	Timestamp      string               `json:"timestamp"`
	RunsPerFixture int                  `json:"runs_per_fixture"`
	Summary        inOrder[roleSummary] `json:"summary"`
	Fixtures       []fixtureEntry       `json:"fixtures"`
	FalsePositives *falsePositives      `json:"false_positive_analysis,omitempty"`
}

type roleSummary struct {
	FixturesTotal    int                   `json:"fixtures_total"`
	FixturesDetected int                   `json:"fixtures_detected"`
	DetectionRate    pythonFloat           `json:"detection_rate"`
	ByCategory       inOrder[groupSummary] `json:"by_category,omitempty"`
	ByCWE            inOrder[groupSummary] `json:"by_cwe,omitempty"`
}

type groupSummary struct {
	FixturesTotal int         `json:"fixtures_total"`
	DetectionRate pythonFloat `json:"detection_rate"`
}

type fixtureEntry struct {
	Role         string      `json:"role"`
	FixtureID    string      `json:"fixture_id"`
	Category     *string     `json:"category"`
	CWE          *string     `json:"cwe"`
	RunsTotal    int64       `json:"runs_total"`
	RunsErrored  int64       `json:"runs_errored"`
	RunsDetected int64       `json:"runs_detected"`
	Consistency  pythonFloat `json:"consistency"`
	Detected     bool        `json:"detected"`
	Runs         []Run       `json:"runs"`
}

type falsePositives struct {
	RateMax pythonFloat            `json:"fp_rate_max"`
	Roles   inOrder[*negativeRole] `json:"roles"`
}

type negativeRole struct {
	FixturesTotal         int             `json:"fixtures_total"`
	FixturesFalsePositive int             `json:"fixtures_false_positive"`
	Fixtures              []negativeEntry `json:"fixtures"`
	Rate                  pythonFloat     `json:"fp_rate"`
	MeetsThreshold        bool            `json:"meets_threshold"`
}

type negativeEntry struct {
	FixtureID     string      `json:"fixture_id"`
	RunsTotal     int64       `json:"runs_total"`
	RunsErrored   int64       `json:"runs_errored"`
	RunsFlagged   int64       `json:"runs_flagged"`
	Consistency   pythonFloat `json:"fp_consistency"`
	FalsePositive bool        `json:"false_positive"`
}

// file works out what the format repeats: counts, consistencies and rates.
func (r *Report) file() fileV2 {
	out := fileV2{FormatVersion: 2, Model: r.Model, Timestamp: r.stamp(), RunsPerFixture: r.RunsPerFixture,
		Fixtures: make([]fixtureEntry, 0, len(r.Fixtures))}
	fixtures := make([]Fixture, 0, len(r.Fixtures))
	for _, record := range r.Fixtures {
		f := record.fixture()
		fixtures = append(fixtures, f)
		out.Fixtures = append(out.Fixtures, fixtureEntry{Role: f.Role, FixtureID: f.ID, Category: f.Category, CWE: f.CWE,
			RunsTotal: f.RunsTotal, RunsErrored: f.RunsErrored, RunsDetected: f.RunsDetected,
			Consistency: pythonFloat(f.Consistency()), Detected: f.Detected(), Runs: record.Runs})
	}
	g := groupFixtures(fixtures)
	for _, role := range g.roles.list {
		out.Summary = append(out.Summary, keyed[roleSummary]{role.name, roleSummary{
			FixturesTotal: role.n, FixturesDetected: role.detected, DetectionRate: pythonFloat(role.rate()),
			ByCategory: summaries(g.categories[role.name]), ByCWE: summaries(g.cwes[role.name])}})
	}
	out.FalsePositives = falsePositivesOf(r.Negatives)
	return out
}

func summaries(of *groups) inOrder[groupSummary] {
	var out inOrder[groupSummary]
	for _, g := range known(of).list {
		out = append(out, keyed[groupSummary]{g.name, groupSummary{FixturesTotal: g.n, DetectionRate: pythonFloat(g.rate())}})
	}
	return out
}

func falsePositivesOf(negatives []Negative) *falsePositives {
	if len(negatives) == 0 {
		return nil
	}
	out := &falsePositives{RateMax: maxFalsePositiveRate}
	roles := make(map[string]*negativeRole)
	for _, n := range negatives {
		role, ok := roles[n.Role]
		if !ok {
			role = new(negativeRole)
			roles[n.Role] = role
			out.Roles = append(out.Roles, keyed[*negativeRole]{n.Role, role})
		}
		role.FixturesTotal++
		if n.FalsePositive() {
			role.FixturesFalsePositive++
		}
		role.Fixtures = append(role.Fixtures, negativeEntry{FixtureID: n.ID, RunsTotal: n.RunsTotal, RunsErrored: n.RunsErrored,
			RunsFlagged: n.RunsFlagged, Consistency: pythonFloat(n.Consistency()), FalsePositive: n.FalsePositive()})
	}
	for _, role := range out.Roles {
		rate := float64(role.value.FixturesFalsePositive) / float64(role.value.FixturesTotal)
		role.value.Rate, role.value.MeetsThreshold = pythonFloat(rate), rate <= maxFalsePositiveRate
	}
	return out
}

// pythonFloat is written as Python writes it: 1.0, not 1.
type pythonFloat float64

func (f pythonFloat) MarshalJSON() ([]byte, error) { return []byte(floatText(float64(f))), nil }

// inOrder is an object whose keys keep their order, which a map does not.
type inOrder[V any] []keyed[V]

type keyed[V any] struct {
	key   string
	value V
}

func (o inOrder[V]) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, k := range o {
		if i > 0 {
			b.WriteByte(',')
		}
		if err := encode(&b, k.key); err != nil {
			return nil, err
		}
		b.WriteByte(':')
		if err := encode(&b, k.value); err != nil {
			return nil, err
		}
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// encode writes JSON without the escapes for HTML, which Python does not make.
func encode(b *bytes.Buffer, v any) error {
	e := json.NewEncoder(b)
	e.SetEscapeHTML(false)
	return e.Encode(v)
}

// ascii escapes what Python's json.dumps escapes and encoding/json does not.
// Outside of strings a document is ASCII anyway.
func ascii(document []byte) []byte {
	out := make([]byte, 0, len(document))
	for len(document) > 0 {
		r, size := utf8.DecodeRune(document)
		document = document[size:]
		switch {
		case r < 0x7f:
			out = append(out, byte(r))
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			out = fmt.Appendf(out, `\u%04x\u%04x`, high, low)
		default:
			out = fmt.Appendf(out, `\u%04x`, r)
		}
	}
	return out
}
