package simulator

import (
	"crypto/sha256"
	"encoding/hex"
	"math"
	"regexp"
	"sort"
	"strings"
)

// candidate is a place that might be a defect of a family, with the evidence
// for and against it, before any skill or noise.
type candidate struct {
	family    int
	unit      int
	line, end int // indices into the file's lines
	cue       *cue
	weight    float64
	taint     taint
	guard     float64 // weight of guards on the value
	loose     float64 // weight of guards merely near it
	remark    float64
	sibling   bool   // a comparable place of the side is guarded, this one is not
	shape     string // code shape with identifiers erased
}

// clarity orders candidates as a perfect reader would.
func (c *candidate) clarity() float64 {
	z := c.weight - 0.8*math.Min(c.guard, 1.5) - 0.3*math.Min(c.loose, 1)
	if c.cue.Taint == taintNeeds {
		z += c.taint.level - 0.5
	}
	return z
}

// evidence is what the code of one request says; it depends on the code alone
// and is cached by its hash.
type evidence struct {
	units    []*unit
	byFamily [][]candidate // by lexicon family, best first
	lines    int
	digest   string // shapes of all files, in order
}

const maxCandidates = 8

func gather(lex *lexicon, files []*sourceFile) *evidence {
	ev := &evidence{byFamily: make([][]candidate, len(lex.Families))}
	h := sha256.New()
	for _, f := range files {
		u := readUnit(lex, f)
		ev.units = append(ev.units, u)
		ev.lines += len(f.lines)
		shape := shapeOf(strings.Join(u.bareLines, "\n"))
		h.Write([]byte(string(f.lang) + "\x00" + shape + "\x00"))
	}
	ev.digest = hex.EncodeToString(h.Sum(nil))
	linkCalls(ev.units)
	g := &gatherer{lex: lex, ev: ev, seen: map[asked]bool{}, checkers: map[asksCallee]bool{}}
	cued := make([]map[string]bool, len(lex.Families))
	for ui, u := range ev.units {
		kept := u.hits[:0]
		for _, h := range u.hits {
			p := &lex.patterns[h.pattern]
			if p.kind == patternCue {
				q := &lex.Families[p.family].Cues[p.at]
				if !g.holds(ui, h.statement, q) {
					continue
				}
				if cued[p.family] == nil {
					cued[p.family] = map[string]bool{}
				}
				cued[p.family][q.ID] = true
			}
			kept = append(kept, h)
		}
		u.hits = kept
	}
	needed := map[int]bool{}
	for _, u := range ev.units {
		for hit := range u.peerHits {
			needed[hit[0]] = true
		}
	}
	for _, u := range ev.units {
		u.findGuards(lex, cued, needed)
	}
	g.indexConstants()
	g.indexWrong()
	g.indexGuards()
	g.indexCalls()
	for ui, u := range ev.units {
		for _, h := range u.hits {
			if p := &lex.patterns[h.pattern]; p.kind == patternCue {
				g.consider(ui, h, p)
			}
		}
	}
	g.comparePeers()
	for f := range ev.byFamily {
		compareSiblings(ev.byFamily[f])
		ev.byFamily[f] = best(ev.byFamily[f])
	}
	return ev
}

func readUnit(lex *lexicon, f *sourceFile) *unit {
	text := strings.Join(f.lines, "\n")
	m := mask(text, f.lang)
	u := &unit{lex: lex, file: f, bareLines: strings.Split(string(m.bare), "\n"), remarks: map[int]float64{}, peerHits: map[[2]int]bool{}}
	u.statements, u.owner = statements(m, f.lang)
	u.functions = functions(u.statements, u.bareLines, f.lang)
	u.findHits(lex, m.code)
	u.buildRegions()
	u.findClasses()
	u.decorations()
	u.markTabled()
	for _, c := range m.comments {
		for _, rule := range lex.Comments {
			if rule.re.MatchString(strings.ToLower(c.text)) {
				u.remarks[c.line] += rule.Shift
			}
		}
	}
	return u
}

// findHits looks for sources and cues, and leaves guards for later: most
// families have no cue in most files.
func (u *unit) findHits(lex *lexicon, code []byte) {
	lineAt := make([]int, len(code)+1)
	line := 0
	for i, c := range code {
		lineAt[i] = line
		if c == '\n' {
			line++
		}
	}
	// The scan runs forwards, so remembering the last statement of each probe
	// is enough to try it once a statement.
	last := make([]int, len(lex.probes))
	for i := range last {
		last[i] = -1
	}
	lex.index.scan(code, func(p, offset int) {
		at := u.owner[lineAt[offset]]
		if last[p] == at {
			return
		}
		last[p] = at
		if u.wanted(lex, p) {
			u.try(lex, p, at)
		} else {
			u.pending = append(u.pending, hit{pattern: p, statement: at})
		}
	})
}

// wanted tells whether a probe stands for a source or a cue of the language.
func (u *unit) wanted(lex *lexicon, p int) bool {
	for _, id := range lex.probes[p].patterns {
		pat := &lex.patterns[id]
		if pat.kind == patternGuard || pat.kind == patternPeer && pat.at%peerParts != peerNeeds {
			continue
		}
		if pat.reads(u.file.lang) {
			return true
		}
	}
	return false
}

func (u *unit) try(lex *lexicon, p, at int) {
	s := &u.statements[at]
	m := lex.probes[p].re.FindStringIndex(s.code)
	if m == nil {
		return
	}
	line := s.first + strings.Count(s.code[:m[0]], "\n")
	for _, id := range lex.probes[p].patterns {
		pat := &lex.patterns[id]
		switch {
		case !pat.reads(u.file.lang) || u.has(id, at):
		case pat.kind == patternSource:
			if op := assignment(s.bare, u.file.lang); op > 0 && m[1] <= op && !lex.sourceIn(s.code[op:], u.file.lang) {
				continue // it is assigned to
			}
			s.source = math.Max(s.source, lex.Sources[pat.at].Level)
		case pat.kind == patternPeer:
			u.peerHits[[2]int{id, at}] = true
		default:
			u.hits = append(u.hits, hit{id, at, line})
		}
	}
}

// has tells whether another branch of the pattern was found already.
func (u *unit) has(pattern, at int) bool {
	for i := len(u.hits) - 1; i >= 0 && u.hits[i].statement == at; i-- {
		if u.hits[i].pattern == pattern {
			return true
		}
	}
	return false
}

// findGuards tries the guards that are against a cue on the side, and what a
// comparison of peers asks once a function needs the check.
func (u *unit) findGuards(lex *lexicon, cued []map[string]bool, needed map[int]bool) {
	for _, h := range u.pending {
		for _, id := range lex.probes[h.pattern].patterns {
			pat := &lex.patterns[id]
			if pat.kind == patternPeer {
				if pat.reads(u.file.lang) && needed[id-pat.at%peerParts] {
					u.try(lex, h.pattern, h.statement)
					break
				}
				continue
			}
			if cued[pat.family] != nil && pat.reads(u.file.lang) && lex.Families[pat.family].Guards[pat.at].concerns(cued[pat.family]) {
				u.try(lex, h.pattern, h.statement)
				break
			}
		}
	}
	u.pending = nil
}

type gatherer struct {
	lex *lexicon
	ev  *evidence
	// guards[unit][family] lists guard hits; helpers[family][function] lists the
	// guards inside a function of the side.
	guards  [][][]hit
	helpers []map[string][]helperGuard
	// constants lists where module-level names are defined; callers lists where
	// functions are called.
	constants map[string][]place
	callers   map[string][]place
	wrong     map[wrongGuard]bool
	seen      map[asked]bool
	checkers  map[asksCallee]bool
}

// asked is a question that many cues put again: about a statement, about a
// region (statement -1), or about the whole side (unit -1).
type asked struct {
	unit, region, statement int
	re                      *regexp.Regexp
}

// wrongGuard is a statement in which a guard of a family does not hold.
type wrongGuard struct {
	place  place
	family int
}

// place is a statement of a unit.
type place struct{ unit, statement int }

func (g *gatherer) consider(ui int, h hit, p *pattern) {
	u := g.ev.units[ui]
	q := &g.lex.Families[p.family].Cues[p.at]
	s := &u.statements[h.statement]
	sl := u.sliceOf(h.statement)
	start := h.line
	if q.before != nil {
		at, ok := g.earlier(ui, h.statement, q, sl)
		if !ok {
			return
		}
		if h.line-at < 20 {
			start = at
		}
	}
	c := candidate{family: p.family, unit: ui, line: h.line, end: s.last, cue: q, weight: q.Weight}
	if q.Shares {
		c.line = start
	}
	part, placed := u.placed(h.statement, q)
	if placed {
		c.taint = u.statementTaint(&u.regions[u.regionOf[h.statement]], &part)
	} else {
		c.taint = u.sinkTaint(h.statement, sl)
	}
	if g.textOnly(p.family) && len(u.leavesOf(h.statement, part.idents, true)) == 0 && len(u.leavesOf(h.statement, part.idents, false)) > 0 {
		c.taint = taint{}
	}
	text := ""
	if placed {
		text = part.code
	}
	c.guard, c.loose = g.guardsOn(ui, h.statement, q, p.family, sl, part.idents, text)
	c.remark = u.remarkNear(h.line)
	c.shape = q.ID + "\x00" + shapeOf(s.bare)
	g.ev.byFamily[p.family] = append(g.ev.byFamily[p.family], c)
}

func (g *gatherer) earlier(ui, at int, q *cue, sl slice) (line int, ok bool) {
	u := g.ev.units[ui]
	from, _ := u.regionStatements(u.regionOf[at])
	for i := at; i >= from; i-- {
		s := &u.statements[i]
		if i < at && q.Shares && !mentionsAny(s.idents, sl.idents) && !mentionsAny(s.assigned, sl.idents) {
			continue
		}
		if g.matches(ui, i, q.before) {
			return s.first, true
		}
	}
	return 0, false
}

func (u *unit) sinkTaint(at int, sl slice) taint {
	reg := &u.regions[u.regionOf[at]]
	t := u.statementTaint(reg, &u.statements[at])
	if t.level < taintedEnough {
		for _, name := range u.statements[at].idents {
			if sl.idents[name] && reg.taints[name].level > t.level && !calledOn(u.statements[at].bare, name) {
				t = reg.taints[name]
			}
		}
	}
	return t
}

func (u *unit) remarkNear(line int) float64 {
	sum := 0.0
	for i := line - 4; i <= line+2; i++ {
		sum += u.remarks[i]
	}
	return sum
}

// best orders candidates and drops near-duplicates: two cues on neighbouring
// lines are one place.
func best(list []candidate) []candidate {
	sort.SliceStable(list, func(i, j int) bool { return list[i].clarity() > list[j].clarity() })
	var out []candidate
next:
	for _, c := range list {
		for i := range out {
			kept := &out[i]
			if kept.unit == c.unit && c.line <= kept.end+2 && c.end >= kept.line-2 {
				kept.line, kept.end = min(kept.line, c.line), max(kept.end, c.end)
				continue next
			}
		}
		out = append(out, c)
		if len(out) == maxCandidates {
			break
		}
	}
	return out
}

func contains(list []string, word string) bool {
	for _, w := range list {
		if w == word {
			return true
		}
	}
	return false
}

// shapeOf erases identifiers, numbers and blanks: what is left is the form of
// the code, the same for any consistent renaming.
func shapeOf(bare string) string {
	h := sha256.New()
	var buf []byte
	for i := 0; i < len(bare); {
		c := bare[i]
		switch {
		case c == ' ' || c == '\t' || c == '\r' || c == '\n':
			i++
		case isIdentByte(c):
			j := i
			for j < len(bare) && isIdentByte(bare[j]) {
				j++
			}
			switch word := bare[i:j]; {
			case c >= '0' && c <= '9':
				buf = append(buf, '0')
			case keywords[word]:
				buf = append(append(buf, ' '), word...)
			default:
				buf = append(buf, 'i')
			}
			i = j
		default:
			buf = append(buf, c)
			i++
		}
	}
	h.Write(buf)
	return hex.EncodeToString(h.Sum(nil))[:16]
}
