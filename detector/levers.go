package detector

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/youden-bench/youden/corpus/family"
)

// Lever names a text that a search may change.
type Lever string

// The levers of a detector.
const (
	Prompt          Lever = "prompt"
	Checklist       Lever = "checklist"
	HardNegatives   Lever = "hard_negatives"
	Counterexamples Lever = "counterexamples"
)

// LeverNames lists the levers in the order in which a request shows them.
func LeverNames() []Lever {
	return []Lever{Prompt, Checklist, HardNegatives, Counterexamples}
}

// File returns the name of the lever's file: Markdown for prose, JSON lines for
// examples.
func (l Lever) File() string {
	if l == HardNegatives || l == Counterexamples {
		return string(l) + ".jsonl"
	}
	return string(l) + ".md"
}

// Levers are the texts of a detector: one for all families, and overrides of
// single families.
type Levers struct {
	Shared   map[Lever]string
	Override map[family.ID]map[Lever]string
}

// For returns the text of a lever for one family: the override when there is
// one, else the shared text.
func (l Levers) For(f family.ID, lever Lever) string {
	if text, ok := l.Override[f][lever]; ok {
		return text
	}
	return l.Shared[lever]
}

// passage is one text of a lever and the families that it speaks to; no family
// means all of them.
type passage struct {
	families []family.ID
	text     string
}

// passages groups the families of a run by the text that a lever has for them,
// so that a text shared by several families is shown once.
func (l Levers) passages(families []family.ID, lever Lever) []passage {
	var shared, own []passage
	for _, f := range families {
		text := strings.TrimSpace(l.For(f, lever))
		if text == "" {
			continue
		}
		if _, overridden := l.Override[f][lever]; overridden {
			own = append(own, passage{families: []family.ID{f}, text: text})
			continue
		}
		if len(shared) == 0 {
			shared = []passage{{text: text}}
		}
		shared[0].families = append(shared[0].families, f)
	}
	if len(own) == 0 && len(shared) == 1 {
		shared[0].families = nil
	}
	return append(shared, own...)
}

// Example is one line of hard_negatives.jsonl (code that looks like a defect
// and is none) or counterexamples.jsonl (a defect that was missed).
type Example struct {
	Code   string    `json:"code"`
	Why    string    `json:"why"`
	Family family.ID `json:"family,omitempty"`
	Line   int       `json:"line,omitempty"`
}

// maxExampleLine bounds one line of an examples file.
const maxExampleLine = 1 << 20

// ParseExamples reads JSON lines. The error names the line.
func ParseExamples(name, text string) ([]Example, error) {
	var out []Example
	sc := bufio.NewScanner(strings.NewReader(text))
	sc.Buffer(make([]byte, 0, 64<<10), maxExampleLine)
	for n := 1; sc.Scan(); n++ {
		line := bytes.TrimSpace(sc.Bytes())
		if len(line) == 0 {
			continue
		}
		var e Example
		dec := json.NewDecoder(bytes.NewReader(line))
		dec.DisallowUnknownFields()
		if err := dec.Decode(&e); err != nil {
			return nil, fmt.Errorf("%s:%d: not an example object: %w; a line is {\"code\": ..., \"why\": ...}", name, n, err)
		}
		if dec.More() {
			return nil, fmt.Errorf("%s:%d: more than one value on the line; put each example on a line of its own", name, n)
		}
		if strings.TrimSpace(e.Code) == "" || strings.TrimSpace(e.Why) == "" {
			return nil, fmt.Errorf("%s:%d: an example needs both code and why", name, n)
		}
		out = append(out, e)
	}
	if err := sc.Err(); err != nil {
		return nil, fmt.Errorf("%s: read examples: %w", name, err)
	}
	return out, nil
}
