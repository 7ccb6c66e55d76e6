package compare

import (
	"fmt"
	"strconv"

	"github.com/youden-bench/youden/corpus/tomlfile"
	"github.com/youden-bench/youden/measurements"
)

// Gates are the thresholds of a gates.toml: what NEW must reach (levels), and by
// how much it may differ from OLD (differences). A gate names a metric and a
// scope and makes one demand:
//
//	version = 1
//
//	[[gate]]
//	name   = "finds injections"
//	metric = "recall.lo"     # the lower end of the 95 % interval of NEW
//	slice  = "planted"       # with family, case or cases; without any: overall
//	family = "injection"
//	min    = 0.4             # min, max, margin or min_pass
//
//	[[gate]]
//	name   = "J has not surely fallen"
//	metric = "delta.j.hi"    # NEW less OLD, over the cases that both scored
//	margin = 0.05            # may fall by at most this
//
//	[[gate]]
//	name     = "hard cases stay as they are"
//	cases    = ["inj-go-report-filter", "path-py-archive"]
//	min_pass = "4/5"         # right in 4 of the plan's 5 runs, on each side
//	kind     = "drop-only"   # fails only where OLD met the demand
//
// Levels are over all cases of the scope that NEW scored; differences and
// drop-only gates over those that both scored. Metrics: j, j_vote, recall and
// silence, each also with .lo or .hi; delta.j, delta.recall and delta.silence,
// the same; pair_accuracy; error_rate and cost_per_correct (US dollars), overall
// only. min_severity = "high" hears findings from that severity on.
//
// Three rules make a gate mean something. A detector that flags everything has
// recall 1 and one that says nothing has silence 1, so that a gate on one of the
// two gets its like on the other in the same scope, unless the file has one or
// the gate says alone = true. No data is a failure. And a gate that data of this
// shape could never pass, or never fail, is refused before anything runs.
//
// A difference of points fires on noise; delta.j.hi fails when J has surely
// fallen by more, delta.j.lo unless it surely has not.
type Gates struct {
	File      string
	digest    string // of the file
	list      []gate
	positions *tomlfile.Positions
}

// gate is one demand.
type gate struct {
	name     string
	at       int // where it stands in the file, from 0
	metric   gateMetric
	scope    gateScope
	demand   gateDemand
	dropOnly bool
	floor    int  // place in measurements.Floors, or noFloor
	alone    bool // recall without silence, or the other way round, is meant
	added    bool // by the program, to the gate that stands there
}

const noFloor = -1

// The demands, by their keys.
const (
	demandMin     = "min"
	demandMax     = "max"
	demandMargin  = "margin"
	demandMinPass = "min_pass"
)

// gateDemand is what a gate asks for.
type gateDemand struct {
	key   string
	value float64
	// right of runs, of min_pass
	right, runs int
}

func (d gateDemand) String() string {
	if d.key == demandMinPass {
		return fmt.Sprintf(`min_pass = "%d/%d"`, d.right, d.runs)
	}
	return d.key + " = " + strconv.FormatFloat(d.value, 'g', -1, 64)
}

// rounding is how far a mean of fractions may lie from what it is.
const rounding = 1e-9

// meets reports whether a value satisfies the demand. A margin is the least that
// a difference may be.
func (d gateDemand) meets(value float64) bool {
	if d.key == demandMax {
		return value <= d.value+rounding
	}
	return value >= d.least()-rounding
}

// least is the limit of a demand that is met from a value on.
func (d gateDemand) least() float64 {
	if d.key == demandMargin {
		return -d.value
	}
	return d.value
}

// what names what a gate measures, for people.
func (g gate) what() string {
	if g.metric.whole() {
		return g.metric.String()
	}
	return g.metric.String() + " of " + g.scope.String() + g.floorText()
}

func (g gate) floorText() string {
	if g.floor == noFloor {
		return ""
	}
	return fmt.Sprintf(" from severity %s on", measurements.Floors()[g.floor])
}

// Digest names the content of the file, also of one that could not be read as gates.
func (g Gates) Digest() string { return g.digest }

// Len is the number of gates, those that were added included.
func (g Gates) Len() int { return len(g.list) }

// Notes says which gates were added to those of the file, and why.
func (g Gates) Notes() []string {
	notes := []string{}
	for _, one := range g.list {
		if !one.added {
			continue
		}
		line, _ := g.positions.At("gate", one.at)
		notes = append(notes, fmt.Sprintf("%s:%d: added gate %q (%s, %s): one of recall and silence alone is won by a detector that flags everything, or nothing; write a gate for the other, or alone = true",
			g.File, line, one.name, one.what(), one.demand))
	}
	return notes
}
