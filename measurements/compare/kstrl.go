package compare

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/youden-bench/youden/corpus"
	"github.com/youden-bench/youden/measurements"
	"github.com/youden-bench/youden/measurements/kstrl"
)

// simulatedModels is how the names of simulated models begin.
const simulatedModels = "sim-"

// SimulatedModel reports whether the model of a kstrl file, which says no more, is a
// simulated one.
func SimulatedModel(name string) bool { return strings.HasPrefix(name, simulatedModels) }

// kstrlSlice is the slice of the fixtures of a kstrl file: they have no content
// that could be hashed, so that their names pair them.
const kstrlSlice = "kstrl"

// fromKSTRL turns a kstrl file into a subject, for the default rules. A fixture
// is a case with a vulnerable side, a negative one with a fixed side; the family
// is the role. Its file says neither by what matcher nor by what parameters it
// was measured, so that two of them are comparable and one is not with a capture.
func fromKSTRL(b *kstrl.Baseline) *Subject {
	s := &Subject{Name: b.File, Kind: FromKSTRL, Identity: Identity{
		ID: b.Timestamp, K: kstrlK(b), Grade: measurements.GradePartial,
		Scorer:   measurements.ScorerRecord{Version: "kstrl", Hash: "kstrl"},
		Endpoint: measurements.EndpointRecord{Model: b.Model},
		Policy:   measurements.Class, View: measurements.Charge,
		// The file has no word for it but the name of the model.
		Simulated: SimulatedModel(b.Model),
	}}
	if at, err := time.Parse("20060102-150405", b.Timestamp); err == nil {
		s.Date = at
	}
	for _, f := range b.Fixtures {
		t := tallyOf(corpus.Vulnerable, f.RunsTotal, f.RunsErrored, f.RunsDetected)
		s.Cases = append(s.Cases, kstrlCase(f.Role, f.ID, t, nil))
		s.Spend.Runs += f.RunsTotal
	}
	for _, n := range b.Negatives {
		t := tallyOf(corpus.Fixed, n.RunsTotal, n.RunsErrored, n.RunsFlagged)
		s.Cases = append(s.Cases, kstrlCase(n.Role, n.ID, nil, t))
		s.Spend.Runs += n.RunsTotal
	}
	return s
}

// kstrlK is the number of runs that every fixture has. Where they differ it is the
// configured one, which the reference takes for 1 when a file does not say it.
func kstrlK(b *kstrl.Baseline) int {
	k := int64(0)
	for _, f := range b.Fixtures {
		if k != 0 && f.RunsTotal != k {
			return int(b.RunsPerFixture)
		}
		k = f.RunsTotal
	}
	if k == 0 {
		k = b.RunsPerFixture
	}
	return int(k)
}

func tallyOf(side corpus.SideName, total, errored, positive int64) *measurements.Tally {
	counted := int(total - errored)
	return &measurements.Tally{Side: side, K: int(total), OK: counted, Excused: int(errored), Counted: counted, Positive: int(positive)}
}

func kstrlCase(role, id string, vulnerable, fixed *measurements.Tally) measurements.CaseScore {
	return measurements.CaseScore{
		ID: id, Hash: "kstrl\x00" + role + "\x00" + id, Slice: kstrlSlice, Family: role, Vulnerable: vulnerable, Fixed: fixed,
	}
}

// ToKSTRL makes the file that the rules of kstrl read back: one fixture a case,
// from the runs of its vulnerable side, and a negative from its fixed side.
// Charged runs are misses there, and flags; excused ones are errors.
func ToKSTRL(s *Subject) *kstrl.Report {
	r := &kstrl.Report{Model: s.Endpoint.Model, Time: s.Date, RunsPerFixture: s.K}
	for i := range s.Cases {
		c := &s.Cases[i]
		category := c.Family
		if t := c.Vulnerable; t != nil && t.K > 0 {
			r.Fixtures = append(r.Fixtures, kstrl.Record{Role: kstrlRole, ID: c.ID, Category: &category, Runs: kstrlRuns(t)})
		}
		if t := c.Fixed; t != nil && t.K > 0 {
			r.Negatives = append(r.Negatives, kstrl.Negative{
				Role: kstrlRole + "_negative", ID: c.ID, RunsTotal: int64(t.K), RunsErrored: int64(t.K - t.Counted), RunsFlagged: int64(t.Positive),
			})
		}
	}
	return r
}

// kstrlRole is the role that security pairs have there.
const kstrlRole = "security"

// kstrlRuns lists the runs of a side, in no order that says anything: the counts
// are all that the rules read.
func kstrlRuns(t *measurements.Tally) []kstrl.Run {
	runs := make([]kstrl.Run, 0, t.K)
	for i := range t.K {
		runs = append(runs, kstrl.Run{Caught: i < t.Positive, Error: i >= t.Counted})
	}
	return runs
}

// IsKSTRL reports whether a name is that of a kstrl file.
func IsKSTRL(name string) bool {
	data, err := readFile(name)
	return err == nil && isKSTRL(data)
}

// isKSTRL tells a kstrl file from a baseline of ours: it lists fixtures and names
// no schema.
func isKSTRL(data []byte) bool {
	var shape struct {
		Schema   *json.RawMessage `json:"schema"`
		Fixtures *json.RawMessage `json:"fixtures"`
	}
	return json.Unmarshal(data, &shape) == nil && shape.Schema == nil && shape.Fixtures != nil
}
