package measurements

import (
	"fmt"

	"github.com/youden-bench/youden/corpus"
)

// places numbers cases in order of first appearance, from 0. Names are unique
// within a slice only.
type places struct {
	at     map[caseName]int
	last   caseName // runs of a case stand together in plan order
	lastAt int
}

type caseName struct{ slice, id string }

func (p *places) of(slice, id string) int {
	name := caseName{slice, id}
	if p.at == nil {
		p.at = map[caseName]int{}
	} else if name == p.last {
		return p.lastAt
	}
	at, ok := p.at[name]
	if !ok {
		at = len(p.at)
		p.at[name] = at
	}
	p.last, p.lastAt = name, at
	return at
}

// roll calls the runs of a capture one by one, and refuses those that would
// count twice, stand on no side, or cannot be of the plan.
type roll struct {
	plan  *PlanRecord // nil = any will do
	cases places
	drawn [][2]draws // by case and side
	runs  int
}

// enter returns the number of the run's case.
func (r *roll) enter(e *entry) (int, error) {
	side := 0
	switch e.side {
	case string(corpus.Vulnerable):
	case string(corpus.Fixed):
		side = 1
	default:
		return 0, fmt.Errorf("a run of case %q is on side %q, which is none of vulnerable, fixed", e.caseID, e.side)
	}
	if e.counts != "yes" && e.counts != "charged" && e.counts != "excused" {
		return 0, fmt.Errorf("a run of case %q counts %q, which is none of yes, charged, excused", e.caseID, e.counts)
	}
	if e.k < 0 {
		return 0, fmt.Errorf("a run of case %q has k = %d: runs are numbered from 0", e.caseID, e.k)
	}
	r.runs++
	if err := r.fits(e); err != nil {
		return 0, err
	}
	at := r.cases.of(e.slice, e.caseID)
	if at == len(r.drawn) {
		r.drawn = append(r.drawn, [2]draws{})
	}
	if !r.drawn[at][side].add(e.k) {
		return 0, fmt.Errorf("run %d of the %s side of case %q (slice %q) stands there twice", e.k, e.side, e.caseID, e.slice)
	}
	return at, nil
}

// fits says whether the run can be one of the plan's: rows of another capture
// must not be shown under this one's header.
func (r *roll) fits(e *entry) error {
	switch {
	case r.plan == nil:
		return nil
	case r.plan.Runs > 0 && r.runs > r.plan.Runs:
		return fmt.Errorf("it has more runs than the %d of the plan in %s: they are of different captures", r.plan.Runs, manifestFile)
	case e.k >= int64(r.plan.K):
		return fmt.Errorf("a run of the %s side of case %q (slice %q) has k = %d and the plan in %s has K = %d: they are of different captures",
			e.side, e.caseID, e.slice, e.k, manifestFile, r.plan.K)
	}
	return nil
}

// draws is a set of run indices of one side, as bits: those below 64 at hand, and
// no word for those beyond that did not come.
type draws struct {
	low  uint64
	high map[int64]uint64 // by k/64
}

// add reports whether k is new.
func (d *draws) add(k int64) bool {
	bit := uint64(1) << (k % 64)
	if k < 64 {
		seen := d.low & bit
		d.low |= bit
		return seen == 0
	}
	if d.high == nil {
		d.high = map[int64]uint64{}
	}
	seen := d.high[k/64] & bit
	d.high[k/64] |= bit
	return seen == 0
}
