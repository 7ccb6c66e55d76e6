package measurements

import (
	"cmp"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/youden-bench/youden/detector"
)

// Part says which runs of a capture a tally counts, and how.
type Part struct {
	Policy Policy
	View   View
	// Only says which of the run indices 0..K-1 belong to the part; nil = all.
	// Two parts without a common k are as good as two captures: an A/A test
	// without a further call.
	Only func(k int64) bool
}

// Tallied is what a part of a capture says, without its rows.
type Tallied struct {
	Part                 Part
	K                    int         // planned runs of a side in this part
	Cases                []CaseScore // in order of first appearance
	Spend                Spend
	Dispatched, Errors   int64 // as in Totals
	Statuses             []StatusCount
	Latency              Latency
	Models, Fingerprints Names // as the endpoint returned them
	Simulated            bool  // some row or the manifest says so
	// Severities is false for a capture of an older version, whose rows do not
	// say how severe their findings are: AtLeast is then no number of positives.
	Severities bool
}

// StatusCount is a status other than ok and its runs.
type StatusCount struct {
	detector.StatusRow
	Runs int64
}

// Latency sums up the runs whose latency is known, in milliseconds. P95 is the
// smallest latency that at least 95 % of them do not exceed.
type Latency struct {
	Runs            int64
	MedianMS, P95MS *float64
}

// Names counts runs by a name they came with, the commonest first. Runs that
// came without one are not counted.
type Names struct {
	List   []Name
	Others int64 // runs of further names, once there are maxNames
}

// Name is a name and the runs that came with it.
type Name struct {
	Name string
	Runs int64
}

// maxNames bounds the names that are kept: an endpoint may make one up for each
// call.
const maxNames = 1000

// Tallies tallies the capture under a policy and a view. It reads the columns
// that it needs, in one pass, and holds no rows; the cases are those of Cases.
func (c *Capture) Tallies(p Policy, v View) (Tallied, error) {
	parts, err := c.Parts(Part{Policy: p, View: v})
	if err != nil {
		return Tallied{}, err
	}
	return parts[0], nil
}

// Parts tallies several parts of the capture in one pass, in their order. All
// rows are checked, whichever parts they belong to.
func (c *Capture) Parts(parts ...Part) ([]Tallied, error) {
	m := c.Manifest()
	tallies := make([]*tallying, len(parts))
	for i, p := range parts {
		tallies[i] = newTallying(p, m)
	}
	err := c.tally(policiesOf(parts), func(severities bool) {
		for _, t := range tallies {
			t.Severities = severities
		}
	}, func(number int, e *entry) {
		for _, t := range tallies {
			t.add(number, e)
		}
	})
	if err != nil {
		return nil, err
	}
	out := make([]Tallied, len(parts))
	for i, t := range tallies {
		out[i] = t.result()
	}
	return out, nil
}

func policiesOf(parts []Part) (list []Policy) {
	for _, p := range parts {
		list = append(list, p.Policy)
	}
	return list
}

// tally passes all runs by, with the number of their case, once it is checked that
// they are of the plan. It first says whether the file knows severities. A capture
// that was never written has no runs.
func (c *Capture) tally(policies []Policy, opened func(severities bool), add func(number int, e *entry)) error {
	t, err := openTable[RunRow](c.dir, runsFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	_, severities := t.pq.Schema().Lookup(hitSeverityColumn)
	opened(severities)
	plan := c.Manifest().Plan
	if err := errors.Join(tallyTable(t, &plan, policies, add), t.close()); err != nil {
		return &DamagedError{File: filepath.Join(c.dir, runsFile), Err: err}
	}
	return nil
}

func tallyTable(t *table[RunRow], plan *PlanRecord, policies []Policy, add func(number int, e *entry)) error {
	roll := roll{plan: plan}
	reader := entries(t, policies)
	for {
		batch, err := reader.next()
		if err == nil && len(batch) == 0 {
			return nil
		}
		for i := 0; err == nil && i < len(batch); i++ {
			var number int
			if number, err = roll.enter(&batch[i]); err == nil {
				add(number, &batch[i])
			}
		}
		if err != nil {
			return errors.Join(err, reader.close())
		}
	}
}

// tallying is a tally while it is made.
type tallying struct {
	Tallied
	within               []bool // by k
	cases                caseTallies
	latencies            []int64
	models, fingerprints nameCounts
}

func newTallying(p Part, m Manifest) *tallying {
	t := &tallying{Tallied: Tallied{Part: p, Simulated: m.Simulated, Severities: true}}
	t.Spend.Statuses = map[string]int64{}
	t.within = make([]bool, m.Plan.K)
	for k := range t.within {
		if p.Only == nil || p.Only(int64(k)) {
			t.within[k] = true
			t.K++
		}
	}
	t.cases = caseTallies{k: t.K, policy: p.Policy, view: p.View}
	return t
}

// add counts a run whose k is within the plan.
func (t *tallying) add(number int, e *entry) {
	t.Simulated = t.Simulated || e.simulated
	if !t.within[e.k] {
		return
	}
	t.cases.add(number, e)
	t.Spend.add(e)
	dispatched, failed := e.fate()
	t.Dispatched += count(dispatched)
	t.Errors += count(failed)
	if e.latency.known {
		t.latencies = append(t.latencies, e.latency.value)
	}
	t.models.add(e.model)
	t.fingerprints.add(e.fingerprint)
}

func (t *tallying) result() Tallied {
	out := t.Tallied
	out.Cases = t.cases.cases
	out.Statuses = statusCounts(t.Spend.Statuses)
	out.Latency = latencyOf(t.latencies)
	out.Models, out.Fingerprints = t.models.sorted(), t.fingerprints.sorted()
	return out
}

// Varies reports whether any case varies: see CaseScore.Varies.
func (t Tallied) Varies() bool { return slices.ContainsFunc(t.Cases, CaseScore.Varies) }

// statusCounts lists statuses in the order of their table, unknown ones after.
func statusCounts(runs map[string]int64) []StatusCount {
	out := []StatusCount{}
	for _, row := range detector.Statuses() {
		if n := runs[string(row.Status)]; n > 0 {
			out = append(out, StatusCount{row, n})
		}
	}
	listed := len(out)
	for name, n := range runs {
		if row, ok := detector.Status(name).Row(); !ok {
			out = append(out, StatusCount{row, n})
		}
	}
	slices.SortFunc(out[listed:], func(a, b StatusCount) int { return cmp.Compare(a.Status, b.Status) })
	return out
}

// latencyOf sorts the values it is given.
func latencyOf(ms []int64) Latency {
	n := len(ms)
	if n == 0 {
		return Latency{}
	}
	slices.Sort(ms)
	return Latency{
		Runs:     int64(n),
		MedianMS: pointer((float64(ms[(n-1)/2]) + float64(ms[n/2])) / 2),
		P95MS:    pointer(float64(ms[(95*n+99)/100-1])),
	}
}

// nameCounts counts names while they come, which mostly is the same one again.
type nameCounts struct {
	runs   map[string]*int64
	last   string
	lastAt *int64
	others int64
}

func (c *nameCounts) add(name string) {
	if name == "" {
		return
	}
	if name != c.last {
		c.last, c.lastAt = name, c.of(name)
	}
	*c.lastAt++
}

func (c *nameCounts) of(name string) *int64 {
	if n, ok := c.runs[name]; ok {
		return n
	}
	if len(c.runs) == maxNames {
		return &c.others
	}
	if c.runs == nil {
		c.runs = map[string]*int64{}
	}
	n := new(int64)
	c.runs[name] = n
	return n
}

func (c *nameCounts) sorted() Names {
	names := Names{List: []Name{}, Others: c.others}
	for name, n := range c.runs {
		names.List = append(names.List, Name{name, *n})
	}
	slices.SortFunc(names.List, func(a, b Name) int {
		return cmp.Or(cmp.Compare(b.Runs, a.Runs), strings.Compare(a.Name, b.Name))
	})
	return names
}
