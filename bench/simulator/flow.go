package simulator

import (
	"regexp"
	"strings"
)

// unit is one file, read: statements, functions, lexicon hits, taint.
type unit struct {
	lex        *lexicon
	file       *sourceFile
	statements []statement
	owner      []int // line index -> statement index
	functions  []function
	bareLines  []string
	regions    []region
	regionOf   []int // statement index -> region index
	classOf    []int // statement index -> index of the statement that heads the class, or -1
	hits       []hit
	pending    []hit           // probes of guards that were not tried yet
	peerHits   map[[2]int]bool // pattern of a peer rule and statement
	remarks    map[int]float64 // line index -> shift of comments addressed to the reader
	// yields says which functions of the side return what outsiders choose.
	yields map[string]float64
	// whole: the side shows where values enter from outside.
	whole bool
}

type hit struct {
	pattern   int
	statement int
	line      int // line index on which the match stands
}

// taint says how sure the reader can be that outsiders choose a value.
type taint struct {
	level float64
	hops  int // definitions between the source and the value
}

// region is what the reader looks at around a line: the outermost function
// that is not too long, or the stretch between two functions.
type region struct {
	first, last int // line indices
	head        int
	names       []string // functions that begin in it
	params      []string
	receiver    string // of a Go method
	entry       bool
	taints      map[string]taint
	carriers    map[string]bool  // parameters that requests are: values are taken from them
	read        bool             // carriers are known
	numbers     map[string]bool  // parameters that hold no text
	given       map[string]taint // parameters that a caller on the side gives an outside value
	// seen is the surest value that callers on the side give to a parameter.
	seen map[string]float64
}

const (
	regionLines     = 150  // functions longer than this are read in their parts
	moduleWindow    = 40   // top-level code is read in stretches of this size
	parameterTaint  = 0.5  // nobody knows who calls
	settingTaint    = 0.2  // what a constructor is given is configuration
	wholeTaint      = 0.35 // nobody knows who calls, but the side shows where requests enter
	insideTaint     = 0.15 // all callers on the side give what is not from outside
	entryTaint      = 0.95
	callerTaint     = 0.95
	taintedEnough   = 0.9
	maxTaintHops    = 6
	propagatePasses = 2
	callPasses      = 4 // calls between the entry and the sink
)

// buildRegions partitions the statements.
func (u *unit) buildRegions() {
	outer := make([]int, len(u.owner)) // line -> region index + 1
	for _, f := range u.functions {
		if u.readInParts(f) {
			continue
		}
		if outer[f.first] > 0 {
			r := &u.regions[outer[f.first]-1]
			if f.name != "" {
				r.names = append(r.names, f.name)
			}
			for _, p := range f.params {
				r.params = appendNew(r.params, p)
			}
			r.entry = r.entry || f.entry
			r.note(f.numbers)
			r.carry(f.carriers)
			continue
		}
		u.regions = append(u.regions, region{first: f.first, last: f.last, head: f.head,
			names: []string{f.name}, params: f.params, receiver: f.receiver, entry: f.entry})
		u.regions[len(u.regions)-1].note(f.numbers)
		u.regions[len(u.regions)-1].carry(f.carriers)
		for i := f.first; i <= f.last && i < len(outer); i++ {
			if outer[i] == 0 {
				outer[i] = len(u.regions)
			}
		}
	}
	u.regionOf = make([]int, len(u.statements))
	open := -1
	for i, s := range u.statements {
		if r := outer[s.first]; r > 0 {
			u.regionOf[i] = r - 1
			open = -1
			continue
		}
		if open < 0 || s.first-u.regions[open].first >= moduleWindow || classHead.MatchString(s.bare) {
			u.regions = append(u.regions, region{first: s.first, last: s.last, head: s.first})
			open = len(u.regions) - 1
		}
		u.regions[open].last = s.last
		u.regionOf[i] = open
	}
}

func (r *region) note(numbers []string) {
	for _, p := range numbers {
		if r.numbers == nil {
			r.numbers = map[string]bool{}
		}
		r.numbers[p] = true
	}
}

func (r *region) carry(carriers []string) {
	for _, p := range carriers {
		if r.carriers == nil {
			r.carriers = map[string]bool{}
		}
		r.carriers[p] = true
	}
}

// readInParts tells whether the functions inside a function are read one by
// one: it is long, registers routes, or is there to hold them.
func (u *unit) readInParts(f function) bool {
	long, named := f.last-f.first >= regionLines, 0
	for _, g := range u.functions {
		if g.first <= f.first || g.last > f.last || g.last-g.first < 2 {
			continue
		}
		if g.name != "" && g.last-g.first >= 3 {
			named++
		}
		if g.route || g.entry && !f.entry || long && g.last-g.first >= 3 {
			return true
		}
	}
	return named >= 2
}

func (u *unit) regionStatements(r int) (from, to int) {
	reg := &u.regions[r]
	from = u.owner[min(reg.head, len(u.owner)-1)]
	to = u.owner[min(reg.last, len(u.owner)-1)]
	return from, to
}

// propagate follows values through the definitions of a region, forwards.
func (u *unit) propagate(r int) {
	reg := &u.regions[r]
	reg.taints = map[string]taint{}
	level := parameterTaint
	if reg.entry {
		level = entryTaint
	} else if u.whole {
		level = wholeTaint
	}
	if !reg.entry && len(reg.names) == 1 && u.makes(reg.names[0]) {
		level = settingTaint
	}
	for _, p := range reg.params {
		reg.taints[p] = taint{level, 1}
		if known, ok := reg.seen[p]; ok && known < level && !reg.entry {
			reg.taints[p] = taint{max(known, insideTaint), 1}
		}
		if t, ok := reg.given[p]; ok && t.level > level {
			reg.taints[p] = t
		}
	}
	if t, ok := reg.given[reg.receiver]; ok && reg.receiver != "" {
		reg.taints[reg.receiver] = t
	}
	from, to := u.regionStatements(r)
	if !reg.read {
		reg.read = true
		if reg.carriers == nil {
			reg.carriers = map[string]bool{}
		}
		for i := from; i <= to; i++ {
			for _, p := range reg.params {
				if u.statements[i].source > 0 && strings.Contains(u.statements[i].bare, p+".") {
					reg.carriers[p] = true
				}
			}
		}
	}
	for range propagatePasses {
		for i := from; i <= to; i++ {
			s := &u.statements[i]
			if len(s.assigned) == 0 {
				continue
			}
			t := u.statementTaint(reg, s)
			if t.level == 0 {
				continue
			}
			t.hops = min(t.hops+1, maxTaintHops)
			for _, name := range s.assigned {
				if reg.carriers[name] {
					continue
				}
				if old, ok := reg.taints[name]; !ok || t.level > old.level {
					reg.taints[name] = t
				}
			}
		}
	}
}

// statementTaint is the strongest taint among what a statement reads.
func (u *unit) statementTaint(reg *region, s *statement) taint {
	best := taint{level: s.source}
	for _, name := range s.calls {
		if level := u.yields[name]; level > best.level {
			best = taint{level, 1}
		}
	}
	for _, name := range s.idents {
		t, ok := reg.taints[name]
		if !ok {
			continue
		}
		switch {
		case reg.carriers[name]:
			t.level *= 0.3
		case !calledOn(s.bare, name):
		case !standsAlone(s.bare, name):
			t.level *= 0.3 // only the object something is called on
		case t.level < taintedEnough:
			t.level *= 0.6
		}
		if t.level > best.level {
			best = t
		}
	}
	return best
}

// takesOut are methods whose result is a part or a form of the value.
var takesOut = regexp.MustCompile(`^(?i:get|read|to[A-Z_]|trim|strip|split|replace|lower|upper|sub|slice|decode|encode|format|concat|pop|at$|values?|keys|items|entries|filter|map|join|field|file|form|chunk|dict|model_|parse|match|rpartition|partition|remove[A-Z]|char|codePoint|repeat|pad|resolve|normalize)`)

// calledOn tells whether a method with arguments is called on a name; reading a
// field or a getter takes something out of the value.
func calledOn(bare, name string) bool {
	for rest := bare; ; {
		n := strings.Index(rest, name+".")
		if n < 0 {
			return false
		}
		rest = rest[n+len(name)+1:]
		i := 0
		for i < len(rest) && isIdentByte(rest[i]) {
			i++
		}
		if strings.HasPrefix(rest[i:], "(") && !strings.HasPrefix(rest[i:], "()") && !takesOut.MatchString(rest[:i]) {
			return true
		}
	}
}
