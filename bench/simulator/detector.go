package simulator

import (
	"fmt"
	"math"
	"sort"
	"strconv"
	"strings"
)

// finding is a claim of a simulated detector.
type finding struct {
	family     string
	cwe        string
	file       string
	line, end  int
	severity   string
	confidence float64
	says       string
	advice     string
	z          float64
}

// reader is one simulated reading: a profile, a prompt, code, and the keys of
// the noise.
type reader struct {
	lex     *lexicon
	profile *profile
	prompt  *prompt
	reading reading
	code    *evidence
	seed    string // request seed and index of the choice
	digest  string // of what was said and shown, identifiers and places erased
	temp    float64
	quoted  []map[int]bool // per file: lines the prompt quotes
}

// noiseDigest keys the call noise. It covers every word of the prompt and the
// shape of the code, but neither fence tokens, directories nor identifiers, so
// that the same code moved or renamed is read with the same luck.
func noiseDigest(p *prompt, code *evidence) string {
	return hexOf(32, strings.Join(strings.Fields(pathWord.ReplaceAllString(p.shown, "")), " "), code.digest)
}

func (r *reader) multiHop() float64 {
	c := r.profile.Evidence
	return math.Min(1, c.MultiHopBase+c.MultiHopGain*r.reading.general[skillMultiHop])
}

func (r *reader) guardAwareness() float64 {
	c := r.profile.Evidence
	g := c.GuardBase + c.GuardGain*r.reading.general[skillGuard]
	return math.Min(1, g)
}

// findings reads the code for the families asked for.
func (r *reader) findings() []finding {
	if r.profile.Kind == kindNull {
		return r.guesses()
	}
	var out []finding
	for _, id := range r.prompt.asked {
		f, ok := r.lex.byID[id]
		if !ok || r.gated(id) {
			continue
		}
		out = append(out, r.family(f)...)
	}
	sort.SliceStable(out, func(i, j int) bool { return out[i].z > out[j].z })
	return out
}

func (r *reader) gated(id string) bool {
	gate, ok := r.profile.FamilyGate[id]
	return ok && uniform(r.profile.Seed, "gate", r.seed, r.digest, id) >= gate
}

func (r *reader) family(f int) []finding {
	id := r.lex.Families[f].ID
	p := r.profile
	amplitude := p.Noise.T0 + p.Noise.Temperature*r.temp
	if r.reading.suspicion && r.reading.caution {
		amplitude += p.Prompt.Contradiction
	}
	call := amplitude * gauss(p.Seed, "call", r.seed, r.digest, id)
	var out []finding
	top := math.Inf(-1)
	for i := range r.code.byFamily[f] {
		c := &r.code.byFamily[f][i]
		z := r.evidence(c) + r.skill(id) - r.cost() + p.FamilyShift[id]
		z += p.Noise.Item * gauss(p.Seed, "item", c.shape, id)
		z += call + p.Noise.Candidate*amplitude*gauss(p.Seed, "candidate", r.seed, r.digest, id, c.shape, strconv.Itoa(i))
		if z > 0 {
			out = append(out, r.claim(c, z))
			top = math.Max(top, z)
		}
	}
	sort.SliceStable(out, func(i, j int) bool { return out[i].z > out[j].z })
	kept := out[:0]
	for _, one := range out {
		if len(kept) < p.Evidence.PerFamily && one.z >= top-p.Evidence.Follow {
			kept = append(kept, one)
		}
	}
	return kept
}

// evidence weighs a candidate with the skills the prompt has given.
func (r *reader) evidence(c *candidate) float64 {
	k := r.profile.Evidence
	hop, aware := r.multiHop(), r.guardAwareness()
	z := c.weight - k.Threshold
	seen := c.taint.level
	if c.taint.hops > 0 {
		seen *= 0.4 + 0.6*hop
	}
	switch c.cue.Taint {
	case taintNeeds:
		z += k.Taint*seen - k.Untainted*hop*(1-c.taint.level)
	case taintHelps:
		z += 0.5 * k.Taint * seen
	}
	sure := c.guard
	if sure < k.GuardSure {
		sure *= k.GuardDoubt
	}
	guard := math.Min(sure, k.GuardCap) + k.LooseGuard*math.Min(c.loose, 1)
	z -= k.Guard * aware * math.Min(guard, k.GuardCap)
	z += k.Comment * c.remark
	if c.sibling {
		z += k.Sibling * aware
	}
	if c.cue.Severity == "low" {
		z -= 0.3 * r.reading.general[skillSeverity]
	}
	if r.quoted != nil && r.quoted[c.unit] != nil {
		for i := c.line - 2; i <= c.end+2; i++ {
			if r.quoted[c.unit][i] {
				z += k.Overfit
				break
			}
		}
	}
	return z
}

func (r *reader) skill(id string) float64 {
	c := r.profile.Prompt
	z := c.FamilyGain * (r.reading.families[id] - 0.5)
	if r.reading.suspicion {
		z += c.SuspicionShift
	}
	if r.reading.caution {
		z -= c.CautionShift
	}
	return z
}

// cost is what length takes away: of the instruction and of the code.
func (r *reader) cost() float64 {
	size := 0.0
	if r.code.lines > 100 {
		size = r.profile.Evidence.SizePerDoubling * math.Log2(float64(r.code.lines)/100)
	}
	return size + r.reading.dilution(r.profile.Prompt)
}

func (r *reader) claim(c *candidate, z float64) finding {
	u := r.code.units[c.unit]
	fam := &r.lex.Families[c.family]
	first, last := c.line, max(c.line, c.end)
	if last-first > 12 {
		last = first + 12
	}
	key := []string{r.profile.Seed, "line", r.seed, r.digest, fam.ID, c.shape}
	if uniform(key...) < r.profile.Noise.LineOff {
		shift := 1 + pick(2, append(key, "by")...)
		if uniform(append(key, "up")...) < 0.5 {
			shift = -shift
		}
		first, last = first+shift, last+shift
	}
	clamp := func(i int) int { return min(max(i, 0), len(u.file.numbers)-1) }
	n := r.profile.Noise
	severity := c.cue.Severity
	if uniform(append(key, "severity")...) > 0.5+0.5*r.reading.general[skillSeverity] {
		severity = []string{"low", "medium", "high"}[pick(3, append(key, "which")...)]
	}
	return finding{
		family: fam.ID, cwe: "CWE-" + strconv.Itoa(c.cue.CWE), file: u.file.path,
		line: u.file.numbers[clamp(first)], end: u.file.numbers[clamp(last)],
		severity:   severity,
		confidence: math.Round(1000*logistic(z*n.ConfidenceScale+n.ConfidenceShift)) / 1000,
		says:       r.explain(c), advice: fam.Advice, z: z,
	}
}

func (r *reader) explain(c *candidate) string {
	text := strings.ToUpper(c.cue.Says[:1]) + c.cue.Says[1:]
	switch {
	case c.cue.Taint == taintNone:
	case c.taint.level >= taintedEnough && c.taint.hops == 0:
		text += "; the value comes from the request on the same statement"
	case c.taint.level >= taintedEnough:
		text += fmt.Sprintf("; the value comes from the request over %d definitions", c.taint.hops)
	case c.taint.level > 0:
		text += "; the value comes from a caller"
	}
	if c.guard == 0 {
		text += "; no guard stands before it"
	}
	return text + "."
}

// guesses is the null model: it flags each family in a share of calls, at a
// place that has nothing to do with the code's meaning.
func (r *reader) guesses() []finding {
	var out []finding
	if len(r.code.units) == 0 {
		return nil
	}
	for _, id := range r.prompt.asked {
		f, ok := r.lex.byID[id]
		if !ok {
			continue
		}
		key := []string{r.profile.Seed, "null", r.seed, r.digest, id}
		if uniform(key...) >= r.profile.Null.Flag {
			continue
		}
		u := r.code.units[pick(len(r.code.units), append(key, "file")...)]
		span := max(1, r.profile.Null.Range)
		n := len(u.file.numbers)
		if n == 0 {
			continue
		}
		first := 0
		if n > span {
			first = pick(n-span+1, append(key, "line")...)
		}
		last := min(first+span, n) - 1
		fam := &r.lex.Families[f]
		out = append(out, finding{
			family: id, cwe: "CWE-" + strconv.Itoa(fam.Cues[0].CWE), file: u.file.path,
			line: u.file.numbers[first], end: u.file.numbers[last], severity: "medium",
			confidence: math.Round(1000*uniform(append(key, "confidence")...)) / 1000,
			says:       "This part may be affected.", advice: fam.Advice,
		})
	}
	return out
}
