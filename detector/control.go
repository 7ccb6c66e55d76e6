package detector

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
)

// controlWindow is how many lines one finding of a control covers: the widest
// range that still counts as a location.
const controlWindow = 40

// Control is a detector without a model, whose J is known beforehand to be 0:
// always flags everything, never flags nothing, random does one or the other by
// a coin for each run. It calibrates the scorer.
type Control struct {
	detector *Detector
	flags    func(Target) bool
}

// NewControl builds the control program named by d.Program.
func NewControl(d *Detector) (Program, error) {
	c := &Control{detector: d}
	switch d.Program {
	case "control:always":
		c.flags = func(Target) bool { return true }
	case "control:never":
		c.flags = func(Target) bool { return false }
	case "control:random":
		c.flags = func(t Target) bool {
			return rand.New(rand.NewPCG(uint64(t.Seed), t.Plan)).IntN(2) == 0
		}
	default:
		return nil, fmt.Errorf("detector %s: no control %q; there are control:always, control:never and control:random", d.Name, d.Program)
	}
	return c, nil
}

// Texts returns the version of the controls: no text of theirs reaches a model.
func (c *Control) Texts() []string { return []string{"control/1"} }

// Run makes no call. A flagging run tiles each file in windows, one finding a
// family and window.
func (c *Control) Run(_ context.Context, t Target, _ Model) Trajectory {
	traj := Trajectory{Status: OK, Hash: digest("youden/trajectory/1", c.detector.Program)}
	if !anyText(t.Files) {
		return Trajectory{Status: NoCandidate, Detail: "the side has no text to audit"}
	}
	if !c.flags(t) {
		return traj
	}
	for _, f := range t.Files {
		lines := strings.Count(strings.TrimSuffix(f.Text, "\n"), "\n") + 1
		for start := 1; start <= lines; start += controlWindow {
			end := min(start+controlWindow-1, lines)
			for _, id := range c.detector.Families {
				traj.Findings = append(traj.Findings, Finding{
					Family: id, Label: string(id), File: f.Path, Line: start, EndLine: end,
				})
			}
		}
	}
	return traj
}
