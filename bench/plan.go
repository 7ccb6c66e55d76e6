// Package bench plans captures and runs them, and is opinionated about order
// and loss: work is dispatched in a seeded shuffle so that a drifting endpoint
// cannot look like a difference between families, rows come out in plan order,
// and an interrupted capture keeps every answer that was paid for.
package bench

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math/rand/v2"

	"github.com/youden-bench/youden/corpus"
	"github.com/youden-bench/youden/corpus/family"
	"github.com/youden-bench/youden/detector"
	"github.com/youden-bench/youden/measurements"
)

// Plan lists the runs of a capture before the first of them is sent.
type Plan struct {
	Seed    uint64
	K       int
	LeftOut map[string]int // cases that are not in the plan, by reason
	Cases   int            // cases in the plan
	Looks   []int          // runs a side after which the capture is looked at; the last is K. nil = none

	sides []plannedSide // in plan order
}

// plannedSide is K runs. There may be a hundred thousand in a plan, so that each is
// made when it is asked for.
type plannedSide struct {
	of      *corpus.Case
	side    corpus.SideName
	content string // hash of the case's files
	reason  detector.Status
	detail  string
}

// Runs is the number of runs of the plan.
func (p *Plan) Runs() int { return len(p.sides) * p.K }

// Run returns the i-th run in plan order: case, side, k.
func (p *Plan) Run(i int) PlannedRun {
	s, k := &p.sides[i/p.K], i%p.K
	return PlannedRun{
		Cell:   measurements.Cell{Case: s.of, Side: s.side, K: k, Seed: requestSeed(p.Seed, s.content, s.side, k)},
		Reason: s.reason, Detail: s.detail,
	}
}

// PlannedRun is one run of the plan. A run with a Reason is known beforehand to
// be unscorable and is never sent.
type PlannedRun struct {
	measurements.Cell
	Reason detector.Status
	Detail string
}

// NewPlan plans K runs of a detector on each side of the cases. Cases of
// another task or of a family that the detector does not look for leave the plan
// and are counted.
func NewPlan(cases []*corpus.Case, d *detector.Detector, k int, seed uint64) (*Plan, error) {
	if k < 1 {
		return nil, fmt.Errorf("plan %d runs a side: K must be at least 1", k)
	}
	p := &Plan{Seed: seed, K: k, LeftOut: map[string]int{}}
	seen := map[string]string{} // content hash -> id
	for _, c := range cases {
		if why := leftOut(c.Task, c.Family, d); why != "" {
			p.LeftOut[why]++
			continue
		}
		content := c.ContentHash()
		if first, ok := seen[content]; ok {
			return nil, fmt.Errorf("cases %q and %q hold the same files: their runs would be the same calls, counted twice; remove one, or leave it out with --case", first, c.ID)
		}
		seen[content] = c.ID
		p.Cases++
		reason, detail := unscorable(c)
		for _, side := range c.Sides() {
			p.sides = append(p.sides, plannedSide{of: c, side: side, content: content, reason: reason, detail: detail})
		}
	}
	return p, nil
}

// leftOut says why a case of a task and a family is not in the plan of d, or "".
func leftOut(task string, of family.ID, d *detector.Detector) string {
	switch {
	case task != d.Task:
		return "task " + task
	case !d.Looks(of):
		return "family " + string(of)
	}
	return ""
}

// unscorable says whether a side of the case can never be scored. One such side
// makes the whole case unscorable, and a run of the other side would be paid for
// nothing.
func unscorable(c *corpus.Case) (detector.Status, string) {
	for _, side := range c.Sides() {
		if reason, detail := c.Unscorable(side); reason != "" {
			return detector.Status(reason), fmt.Sprintf("%s side: %s", side, detail)
		}
	}
	return "", ""
}

// requestSeed derives the seed of a run's requests from the plan's seed, what is
// shown and the run's index: no id and no label. 53 bits survive a JSON number.
func requestSeed(plan uint64, content string, side corpus.SideName, k int) int64 {
	h := sha256.New()
	fmt.Fprintf(h, "youden/seed/1\n%d\n%s\n%s\n%d\n", plan, content, side, k)
	return int64(binary.BigEndian.Uint64(h.Sum(nil)) >> 11)
}

// order returns the indices of the runs in the order of dispatch.
func (p *Plan) order() []int32 {
	wide := rand.New(rand.NewPCG(p.Seed, 0x796f7564656e)).Perm(p.Runs())
	order := make([]int32, len(wide)) // it stays until the last run
	for n, i := range wide {
		order[n] = int32(i) //nolint:gosec // K is at most 1000, and cases are held in memory
	}
	return order
}

// cases lists the cases in plan order.
func (p *Plan) cases() []*corpus.Case {
	var list []*corpus.Case
	for _, s := range p.sides {
		if len(list) == 0 || list[len(list)-1] != s.of {
			list = append(list, s.of)
		}
	}
	return list
}

// stage is a part of the plan that ends with a look.
type stage struct {
	k     int     // runs a side once it has ended
	cells []int32 // in order of dispatch
}

// stages lists the parts of the plan: one, where nothing looks at it.
func (p *Plan) stages() []stage {
	looks := p.Looks
	if len(looks) == 0 {
		return []stage{{p.K, p.order()}}
	}
	stages := make([]stage, len(looks))
	for n, k := range looks {
		stages[n].k = k
	}
	for _, i := range p.order() {
		for n := range stages {
			if int(i)%p.K < stages[n].k {
				stages[n].cells = append(stages[n].cells, i)
				break
			}
		}
	}
	return stages
}

// upTo says of each run whether it belongs to the first k runs of its side.
func (p *Plan) upTo(k int) func(i int) bool {
	return func(i int) bool { return i%p.K < k }
}

// target is what the detector is shown of a planned run.
func (p *Plan) target(r PlannedRun) detector.Target {
	t := detector.Target{Task: r.Case.Task, Seed: r.Seed, Plan: p.Seed}
	for _, f := range r.Case.Side(r.Side).Files {
		t.Files = append(t.Files, detector.File{Path: f.Path, Text: string(f.Text)})
	}
	return t
}
