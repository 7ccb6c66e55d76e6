package simulator

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"strings"
	"sync"
)

const skillsSchema = "youden.simulator-skills/1"

// skillBook lists the phrase families a prompt can teach with. Each counts
// once however often it is said; phrases that carry no information ("be
// thorough") are in no list.
type skillBook struct {
	Schema   string              `json:"schema"`
	Version  int                 `json:"version"`
	About    string              `json:"about"`
	PerToken float64             `json:"per_token"` // skill = 1 - exp(-per_token * tokens)
	General  []skillPhrases      `json:"general"`
	Families map[string][]string `json:"families"`
	// Suspicion and Caution shift the threshold; both together contradict.
	Suspicion []string `json:"suspicion"`
	Caution   []string `json:"caution"`

	families           map[string][]*regexp.Regexp
	suspicion, caution []*regexp.Regexp
}

type skillPhrases struct {
	Skill   string   `json:"skill"`
	Phrases []string `json:"phrases"`

	res []*regexp.Regexp
}

const (
	skillMultiHop = "multi_hop"
	skillGuard    = "guard"
	skillFormat   = "format"
	skillSeverity = "severity"
)

var loadSkills = sync.OnceValues(func() (*skillBook, error) {
	data, err := embedded.ReadFile("skills.json")
	if err != nil {
		return nil, fmt.Errorf("simulator: %w", err)
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	b := &skillBook{}
	if err := dec.Decode(b); err != nil {
		return nil, fmt.Errorf("simulator: skills: %w", err)
	}
	if b.Schema != skillsSchema {
		return nil, fmt.Errorf("simulator: skills have schema %q, want %q", b.Schema, skillsSchema)
	}
	return b, b.compile()
})

func (b *skillBook) compile() error {
	var err error
	compile := func(list []string) []*regexp.Regexp {
		var out []*regexp.Regexp
		for _, text := range list {
			re, e := regexp.Compile(text)
			if e != nil {
				err = fmt.Errorf("simulator: skill phrase %q: %w", text, e)
				return nil
			}
			out = append(out, re)
		}
		return out
	}
	for i := range b.General {
		b.General[i].res = compile(b.General[i].Phrases)
	}
	b.families = map[string][]*regexp.Regexp{}
	for id, list := range b.Families {
		b.families[id] = compile(list)
	}
	b.suspicion, b.caution = compile(b.Suspicion), compile(b.Caution)
	return err
}

// reading is what a prompt makes of a reader.
type reading struct {
	general   map[string]float64
	families  map[string]float64
	suspicion bool
	caution   bool
	words     int
}

func (b *skillBook) read(p *prompt, c promptConstants) reading {
	text := strings.ToLower(p.instruction)
	words := strings.Fields(text)
	tail := text
	if len(words) > c.TailWords {
		tail = strings.Join(words[len(words)-c.TailWords:], " ")
	}
	text = strings.Join(words, " ")
	level := func(res []*regexp.Regexp, extra string) float64 {
		tokens := 0.0
		for _, re := range res {
			switch {
			case !re.MatchString(text) && (extra == "" || !re.MatchString(extra)):
			case len(words) > c.TailWords && re.MatchString(tail):
				tokens += c.TailBonus
			default:
				tokens++
			}
		}
		return 1 - math.Exp(-b.PerToken*tokens)
	}
	r := reading{general: map[string]float64{}, families: map[string]float64{}, words: len(words)}
	for _, g := range b.General {
		extra := ""
		if g.Skill == skillFormat {
			extra = strings.ToLower(p.contract)
		}
		r.general[g.Skill] = level(g.res, extra)
	}
	for id, res := range b.families {
		r.families[id] = level(res, "")
	}
	r.suspicion = level(b.suspicion, "") > 0
	r.caution = level(b.caution, "") > 0
	return r
}

// dilution is what a long instruction costs.
func (r reading) dilution(c promptConstants) float64 {
	if r.words <= c.DilutionWords {
		return 0
	}
	return c.Dilution * float64(r.words-c.DilutionWords) / 100
}
