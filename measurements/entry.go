package measurements

import (
	"github.com/youden-bench/youden/corpus"
	"github.com/youden-bench/youden/detector"
)

// entry is what tallies read of one run: a million of them pass by, so that it
// is read without an allocation of its own.
type entry struct {
	slice, caseID, caseHash, family string
	side, status, counts            string
	pair, residual, simulated       bool
	k                               int64

	hit         maybe[bool]
	silent      [policies]maybe[bool]
	hitSeverity rank
	breaks      [policies]rank

	unmapped, dropped, calls, attempts int64
	prompt, completion, cost, latency  maybe[int64]
	cached, reasoning                  maybe[int64]

	trace              maybe[uint64] // the digest of the trajectory's hash
	model, fingerprint string        // "" = unknown
}

// maybe is a value that may be unknown, and is copied with what holds it.
type maybe[T any] struct {
	value T
	known bool
}

func known[T any](v T) maybe[T] { return maybe[T]{v, true} }

func fromPointer[T any](p *T) maybe[T] {
	if p == nil {
		return maybe[T]{}
	}
	return known(*p)
}

// policies is the number of policies; each has its place in an entry.
const policies = 3

func (p Policy) place() int {
	switch p {
	case Strict:
		return 0
	case Region:
		return 2
	}
	return 1
}

// entry returns what tallies read of the row.
func (r *RunRow) entry() entry {
	e := entry{
		slice: r.Slice, caseID: r.CaseID, caseHash: r.CaseHash, family: r.Family,
		side: r.Side, status: r.Status, counts: r.Counts,
		pair: r.Pair, residual: r.Residual, simulated: r.Simulated, k: r.K,

		hit:         fromPointer(r.Hit),
		silent:      [policies]maybe[bool]{fromPointer(r.SilentStrict), fromPointer(r.SilentClass), fromPointer(r.SilentRegion)},
		hitSeverity: rankOf(detector.Severity(deref(r.HitSeverity))),
		breaks: [policies]rank{
			rankOf(detector.Severity(deref(r.BreakSeverityStrict))),
			rankOf(detector.Severity(deref(r.BreakSeverityClass))),
			rankOf(detector.Severity(deref(r.BreakSeverityRegion))),
		},

		unmapped: deref(r.Unmapped), dropped: deref(r.DroppedItems), calls: r.Calls, attempts: r.Attempts,
		prompt: fromPointer(r.PromptTokens), completion: fromPointer(r.CompletionTokens),
		cost: fromPointer(r.CostUSDMicros), latency: fromPointer(r.LatencyMS),
		cached: fromPointer(r.CachedTokens), reasoning: fromPointer(r.ReasoningTokens),

		model: deref(r.ModelReturned), fingerprint: deref(r.SystemFingerprint),
	}
	if r.TrajectoryHash != nil {
		e.trace = known(traceDigest(*r.TrajectoryHash))
	}
	return e
}

// traceDigest is 64-bit FNV-1a, which is the same on every machine. That any two
// of the hashes of one side share a digest has a chance below 1e-9, even where a
// plan's limit of 100,000 runs is used up.
func traceDigest[T string | []byte](hash T) uint64 {
	d := uint64(14695981039346656037)
	for i := range len(hash) {
		d = (d ^ uint64(hash[i])) * 1099511628211
	}
	return d
}

// speaks says whether a run is positive, and whether it counts at all. Under
// charge a failure of the detector is not detected and not silent.
func (e *entry) speaks(p Policy, v View) (positive, counted bool) {
	vulnerable := e.side == string(corpus.Vulnerable)
	switch {
	case e.counts == "charged" && v == Charge:
		return !vulnerable, true
	case e.counts != "yes":
		return false, false
	case vulnerable:
		return e.hit.value, e.hit.known
	}
	silent := e.silent[p.place()]
	return silent.known && !silent.value, silent.known
}

// severity is the highest floor at which a positive run still is one.
func (e *entry) severity(p Policy) rank {
	switch {
	case e.counts == "charged":
		return topRank // a failure has no severity, and is worse than any finding
	case e.side == string(corpus.Vulnerable):
		return e.hitSeverity
	}
	return e.breaks[p.place()]
}

// fate says whether a run was dispatched, and whether it counts as an error.
func (e *entry) fate() (dispatched, failed bool) {
	status := detector.Status(e.status)
	if status == detector.OK {
		return true, false
	}
	row, _ := status.Row()
	if !row.Error && e.attempts == 0 && e.calls == 0 && neverSent(status) {
		return false, false
	}
	return true, row.Error
}

func count(b bool) int64 {
	if b {
		return 1
	}
	return 0
}
