package simulator

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"sort"
	"sync"
)

const lexiconSchema = "youden.simulator-lexicon/1"

// lexicon is what the simulated reader knows about code: per family cues that
// speak for a defect and guards that speak against it. Patterns name APIs and
// forms of expression, never variables, so that renaming a variable changes
// nothing.
type lexicon struct {
	Schema   string        `json:"schema"`
	Version  int           `json:"version"`
	About    string        `json:"about"`
	Sources  []sourceRule  `json:"sources"`
	Families []familyRules `json:"families"`
	// Validation is the general guard: a condition on the value followed by an
	// exit, for the families in which it means something.
	Validation validationRule `json:"validation"`
	// Comments are in-code remarks addressed to the reader.
	Comments []commentRule `json:"comments"`

	index    *literalIndex
	patterns []pattern
	probes   []probe
	byID     map[string]int // family id -> index
}

type sourceRule struct {
	ID    string     `json:"id"`
	Re    string     `json:"re"`
	Langs []language `json:"langs,omitempty"`
	Level float64    `json:"level"`

	whole *regexp.Regexp
}

type familyRules struct {
	ID       string   `json:"id"`
	What     string   `json:"what"`
	Aliases  []string `json:"aliases"`  // other words a careless answer uses
	Unmapped []string `json:"unmapped"` // words that mean nothing to a taxonomy
	Advice   string   `json:"advice"`
	Cues     []cue    `json:"cues"`
	Guards   []guard  `json:"guards"`
	// Peers compare the functions of a file.
	Peers []peerRule `json:"peers,omitempty"`
}

type taintNeed string

const (
	taintNone  taintNeed = "none"
	taintHelps taintNeed = "helps"
	taintNeeds taintNeed = "needs"
)

type cue struct {
	ID     string     `json:"id"`
	Re     string     `json:"re"`
	Not    string     `json:"not,omitempty"` // the statement must not match
	Langs  []language `json:"langs,omitempty"`
	Weight float64    `json:"w"`
	Taint  taintNeed  `json:"taint"`
	Near   string     `json:"near,omitempty"`   // some statement of the function must match
	Before string     `json:"before,omitempty"` // an earlier statement of the function must match
	Shares bool       `json:"shares,omitempty"` // ... and mention an identifier of this one
	Lacks  string     `json:"lacks,omitempty"`  // no statement of the function may match
	Side   string     `json:"side,omitempty"`   // some statement of the side must match
	In     string     `json:"in,omitempty"`     // the name of the function must match
	Place  cuePlace   `json:"place,omitempty"`  // the part of the statement that does the harm
	// Flaw is what must be wrong with a regular expression of the statement.
	Flaw expressionFlaw `json:"flaw,omitempty"`
	// Recursion: the function must call itself, or must not.
	Recursion recursion `json:"recursion,omitempty"`
	// OneSided: the statement limits a value above that nothing limits below.
	OneSided bool `json:"one_sided,omitempty"`
	// Falls: after the statement the function must go on.
	Falls    bool   `json:"falls,omitempty"`
	CWE      int    `json:"cwe"`
	Severity string `json:"severity"`
	Says     string `json:"says"`
	// Unvalidated: the general validation rule is no guard against this cue.
	Unvalidated bool `json:"unvalidated,omitempty"`

	// Wrong: the statement is a guard that does not hold; what else looks like a
	// guard in it is none.
	Wrong bool `json:"wrong,omitempty"`

	whole, not, near, before, lacks, side, in *regexp.Regexp
}

type recursion string

const (
	recursionMust    recursion = "must"
	recursionMustNot recursion = "must_not"
)

type guardScope string

const (
	scopeLine     guardScope = "line"     // on the sink's own statement or the value's definitions
	scopeValue    guardScope = "value"    // on any statement of the function that mentions the value
	scopeFunction guardScope = "function" // anywhere in the function or its decorators
	scopeFile     guardScope = "file"
	scopeBefore   guardScope = "before" // in the function, ahead of the sink
	scopeAfter    guardScope = "after"  // in the function, on what the sink's statement defines
	// scopeFollowing: on everything that stands later in the file, as what a
	// router uses holds for the routes that are registered after it.
	scopeFollowing guardScope = "following"
	// scopeHelper: only where the function that holds it is called ahead of the
	// sink: the same words in the function itself may mean something else.
	scopeHelper guardScope = "helper"
)

type guard struct {
	ID     string     `json:"id"`
	Re     string     `json:"re"`
	Langs  []language `json:"langs,omitempty"`
	Weight float64    `json:"w"`
	Scope  guardScope `json:"scope"`
	Cues   []string   `json:"cues,omitempty"` // only against these cues
	Not    string     `json:"not,omitempty"`  // the statement must not match: a wrong guard is none
	Near   string     `json:"near,omitempty"` // some statement of the function must match
	// Anchored: a regular expression that is open at an end is no guard.
	Anchored bool `json:"anchored,omitempty"`
	// Member: a test for membership, which guards what comes after only when it
	// ends the function for the others.
	Member bool `json:"member,omitempty"`

	whole, not, near *regexp.Regexp
}

// against tells whether the guard says anything about the cue.
func (g *guard) against(q *cue) bool {
	return len(g.Cues) == 0 || contains(g.Cues, q.ID)
}

// concerns tells whether the guard is against one of the cues.
func (g *guard) concerns(cues map[string]bool) bool {
	if len(g.Cues) == 0 {
		return len(cues) > 0
	}
	for _, id := range g.Cues {
		if cues[id] {
			return true
		}
	}
	return false
}

type validationRule struct {
	Condition string   `json:"condition"`
	Empty     string   `json:"empty"`
	Exit      string   `json:"exit"`
	Weight    float64  `json:"w"`
	Families  []string `json:"families"`

	condition, empty, exit *regexp.Regexp
	families               map[string]bool
}

type commentRule struct {
	Re    string  `json:"re"`
	Shift float64 `json:"shift"`

	re *regexp.Regexp
}

type patternKind int

const (
	patternSource patternKind = iota
	patternCue
	patternGuard
	patternPeer
)

type pattern struct {
	kind   patternKind
	family int
	at     int // index in the family's list, or in Sources; of a peer rule times peerParts, and the part
	langs  []language
}

// probe is one branch of a regular expression and the patterns that share it:
// several families know the same guard, which is then looked for once.
type probe struct {
	re       *regexp.Regexp
	patterns []int
}

func (p *pattern) reads(l language) bool {
	if len(p.langs) == 0 {
		return true
	}
	for _, want := range p.langs {
		if want == l {
			return true
		}
	}
	return false
}

// loadLexicon compiles the embedded lexicon once; it is constant afterwards.
var loadLexicon = sync.OnceValues(func() (*lexicon, error) {
	data, err := embedded.ReadFile("lexicon.json")
	if err != nil {
		return nil, fmt.Errorf("simulator: %w", err)
	}
	return parseLexicon(data)
})

func parseLexicon(data []byte) (*lexicon, error) {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	lex := &lexicon{}
	if err := dec.Decode(lex); err != nil {
		return nil, fmt.Errorf("simulator: lexicon: %w", err)
	}
	if lex.Schema != lexiconSchema {
		return nil, fmt.Errorf("simulator: lexicon has schema %q, want %q", lex.Schema, lexiconSchema)
	}
	c := &lexiconCompiler{lex: lex, literals: map[string][]int{}, probeOf: map[string]int{}, compiled: map[string]*regexp.Regexp{}}
	c.compile()
	if c.err != nil {
		return nil, fmt.Errorf("simulator: lexicon: %w", c.err)
	}
	return lex, nil
}

// sourceIn tells whether a source stands in a part of a statement.
func (lex *lexicon) sourceIn(text string, lang language) bool {
	for i := range lex.Sources {
		s := &lex.Sources[i]
		if (len(s.Langs) == 0 || s.Langs[0] == lang) && s.whole.MatchString(text) {
			return true
		}
	}
	return false
}

type lexiconCompiler struct {
	lex      *lexicon
	literals map[string][]int
	probeOf  map[string]int // regular expression -> probe
	compiled map[string]*regexp.Regexp
	err      error
}

func (c *lexiconCompiler) compile() {
	lex := c.lex
	lex.byID = map[string]int{}
	for i, s := range lex.Sources {
		lex.Sources[i].whole = c.regex(s.ID, s.Re)
		c.add(s.ID, pattern{kind: patternSource, at: i, langs: s.Langs}, s.Re)
	}
	for f := range lex.Families {
		fam := &lex.Families[f]
		lex.byID[fam.ID] = f
		for i := range fam.Cues {
			q := &fam.Cues[i]
			q.not, q.near, q.before = c.regex(q.ID, q.Not), c.regex(q.ID, q.Near), c.regex(q.ID, q.Before)
			q.lacks, q.side, q.in = c.regex(q.ID, q.Lacks), c.regex(q.ID, q.Side), c.regex(q.ID, q.In)
			if q.Place != "" {
				q.whole = c.regex(q.ID, q.Re)
			}
			c.add(q.ID, pattern{kind: patternCue, family: f, at: i, langs: q.Langs}, q.Re)
		}
		c.peers(f)
		for i := range fam.Guards {
			g := &fam.Guards[i]
			g.whole, g.not, g.near = c.regex(g.ID, g.Re), c.regex(g.ID, g.Not), c.regex(g.ID, g.Near)
			c.add(g.ID, pattern{kind: patternGuard, family: f, at: i, langs: g.Langs}, g.Re)
		}
	}
	v := &lex.Validation
	v.condition, v.empty, v.exit = c.regex("validation", v.Condition), c.regex("validation", v.Empty), c.regex("validation", v.Exit)
	v.families = map[string]bool{}
	for _, f := range v.Families {
		v.families[f] = true
	}
	for i := range lex.Comments {
		lex.Comments[i].re = c.regex("comment", lex.Comments[i].Re)
	}
	order := make([]string, 0, len(c.literals))
	for lit := range c.literals {
		order = append(order, lit)
	}
	sort.Strings(order)
	lex.index = newLiteralIndex(c.literals, order)
}

func (c *lexiconCompiler) regex(id, text string) *regexp.Regexp {
	if text == "" {
		return nil
	}
	if re, known := c.compiled[text]; known {
		return re
	}
	re, err := regexp.Compile("(?s)" + text)
	if err != nil && c.err == nil {
		c.err = fmt.Errorf("%s: %w", id, err)
	}
	c.compiled[text] = re
	return re
}

// add makes probes of a pattern: one for each branch of its expression, so
// that only the branches run of which a literal stands in the text.
func (c *lexiconCompiler) add(id string, p pattern, re string) {
	if c.err != nil {
		return
	}
	at := len(c.lex.patterns)
	c.lex.patterns = append(c.lex.patterns, p)
	list, err := branches(re)
	if err != nil {
		c.err = fmt.Errorf("%s: %w", id, err)
		return
	}
	for _, b := range list {
		probeAt, known := c.probeOf[b.re]
		if !known {
			probeAt = len(c.lex.probes)
			c.probeOf[b.re] = probeAt
			c.lex.probes = append(c.lex.probes, probe{re: regexp.MustCompile(b.re)})
			for _, lit := range b.literals {
				c.literals[lit] = append(c.literals[lit], probeAt)
			}
		}
		c.lex.probes[probeAt].patterns = append(c.lex.probes[probeAt].patterns, at)
	}
}
