package compare

import "fmt"

// GateNoise says how often gates fail between the halves of one capture, in which
// nothing changed.
type GateNoise struct {
	File string `json:"file"`
	// FalseFail is the share of the splits in which some gate failed that holds on
	// all runs of the capture; Together that in which one did or the comparison
	// said FAIL, which is what a CI job would have seen.
	FalseFail *float64       `json:"false_fail"`
	Together  *float64       `json:"together"`
	Gates     []GateNoiseRow `json:"gates"`
}

// GateNoiseRow is one gate. A gate that fails on the capture as a whole, or that
// halves of it could never pass or never fail, raises no false alarm: FalseFail is
// nil then, and Why says so.
type GateNoiseRow struct {
	Name      string              `json:"name"`
	Metric    string              `json:"metric,omitempty"`
	Scope     string              `json:"scope"`
	Asked     string              `json:"asked"`
	Whole     GateOutcome         `json:"whole"`    // of all runs, as OLD and as NEW
	Outcomes  map[GateOutcome]int `json:"outcomes"` // over the splits
	FalseFail *float64            `json:"false_fail"`
	Why       string              `json:"why,omitempty"`
}

// gateNoise counts while the splits go by; nil counts nothing.
type gateNoise struct {
	gates              Gates
	rows               []GateNoiseRow
	splits, some, both int
}

// newGateNoise asks which gates can raise a false alarm at all, on halves of so
// many runs a side.
func newGateNoise(gates Gates, whole *Subject, half int) *gateNoise {
	if gates.Len() == 0 {
		return nil
	}
	shape := ShapeOf(whole).Against(whole)
	shape.K, shape.OldK = half, half
	unfit := gates.unfit(shape)
	n := &gateNoise{gates: gates}
	for i, r := range gates.Judge(whole, whole) {
		row := GateNoiseRow{Name: r.Name, Metric: r.Metric, Scope: r.Scope, Asked: r.Asked, Whole: r.Outcome, Outcomes: map[GateOutcome]int{}}
		switch {
		case r.Outcome != GatePass:
			row.Why = "it does not hold on all runs either: " + r.Reason
		case unfit[i] != "":
			row.Why = "halves cannot tell: " + unfit[i]
		}
		n.rows = append(n.rows, row)
	}
	return n
}

// add counts one split, and what the comparison says of it.
func (n *gateNoise) add(before, after *Subject, verdict Verdict) {
	if n == nil {
		return
	}
	failed := false
	for i, r := range n.gates.Judge(before, after) {
		n.rows[i].Outcomes[r.Outcome]++
		failed = failed || n.rows[i].Why == "" && r.Verdict() == Fail
	}
	n.splits++
	n.some += count(failed)
	n.both += count(failed || verdict == Fail)
}

// often is a share of false alarms that no CI job should live with.
const often = .05

// advice says what to do about the gates that fail often.
func (g *GateNoise) advice(splits int) (lines []string) {
	for _, r := range g.Gates {
		if r.FalseFail == nil || *r.FalseFail <= often {
			continue
		}
		failed := r.Outcomes[GateFail] + r.Outcomes[GateNoData]
		lines = append(lines, fmt.Sprintf("gate %q failed in %d of %d splits although nothing changed: ask for less (it asks for %s), or judge it over more runs or cases", r.Name, failed, splits, r.Asked))
	}
	return lines
}

func (n *gateNoise) result() *GateNoise {
	if n == nil {
		return nil
	}
	for i := range n.rows {
		if r := &n.rows[i]; r.Why == "" {
			r.FalseFail = share(r.Outcomes[GateFail]+r.Outcomes[GateNoData], n.splits)
		}
	}
	return &GateNoise{File: n.gates.File, FalseFail: share(n.some, n.splits), Together: share(n.both, n.splits), Gates: n.rows}
}
