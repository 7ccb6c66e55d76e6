package simulator

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"sort"
	"strconv"
	"strings"
	"sync"
)

const clauseSchema = "youden.simulator-clauses/1"

// clauseBook is what the simulated reflector can write. Most of it is useless
// or harmful: an optimiser that accepts everything gets worse.
type clauseBook struct {
	Schema  string            `json:"schema"`
	Version int               `json:"version"`
	About   string            `json:"about"`
	Rewords map[string]string `json:"rewords"`
	Clauses []clause          `json:"clauses"`
}

type clause struct {
	ID   string   `json:"id"`
	Text string   `json:"text"`
	Kind string   `json:"kind"` // for people; the reflector draws all kinds alike
	Tags []string `json:"tags"`
}

var loadClauses = sync.OnceValues(func() (*clauseBook, error) {
	data, err := embedded.ReadFile("clauses.json")
	if err != nil {
		return nil, fmt.Errorf("simulator: %w", err)
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	b := &clauseBook{}
	if err := dec.Decode(b); err != nil {
		return nil, fmt.Errorf("simulator: clauses: %w", err)
	}
	if b.Schema != clauseSchema {
		return nil, fmt.Errorf("simulator: clauses have schema %q, want %q", b.Schema, clauseSchema)
	}
	return b, nil
})

// reflection is one proposal in the making.
type reflection struct {
	book     *clauseBook
	profile  *profile
	key      []string
	feedback string // lower case: all of the request but the instruction
	draws    int
}

func (f *reflection) draw(what string) float64 {
	f.draws++
	return uniform(append(f.key, what, strconv.Itoa(f.draws))...)
}

// reflect proposes a new instruction: it edits the one it is shown. It reads
// the request only, scores no more than the words that tell of them.
func (s *Server) reflect(q *chatRequest, p *profile, seed string) string {
	var told []string
	for _, m := range q.messages {
		told = append(told, m.text)
	}
	text := strings.Join(told, "\n")
	current, rest := currentInstruction(text)
	f := &reflection{
		book: s.clauses, profile: p, feedback: strings.ToLower(rest),
		key: []string{p.Seed, "reflect", seed, hexOf(32, told...), fmt.Sprint(q.temperature)},
	}
	proposal := f.edit(current)
	switch {
	case q.format == "json_schema":
		return encode(fillText(q.schema, q.schema, proposal, 0))
	case q.format == "json_object":
		return encode(map[string]string{"instruction": proposal})
	case f.draw("fence") < p.Reflector.NoFence:
		return proposal
	}
	opening := []string{"", "Here is a revised instruction.\n\n", "The runs show where the text falls short. A new version:\n\n"}
	return opening[pick(len(opening), append(f.key, "opening")...)] + "```\n" + proposal + "\n```"
}

var fencedBlock = regexp.MustCompile("(?s)```[\\w-]*\\n(.*?)\\n?```")

// currentInstruction is the first fenced block, or what follows a line that
// speaks of the current instruction, or nothing.
func currentInstruction(text string) (current, rest string) {
	if m := fencedBlock.FindStringSubmatchIndex(text); m != nil {
		return text[m[2]:m[3]], text[:m[0]] + text[m[1]:]
	}
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		l := strings.ToLower(line)
		if !strings.Contains(l, "current") || !strings.Contains(l, "instruction") && !strings.Contains(l, "prompt") {
			continue
		}
		end := i + 1
		for end < len(lines) && !strings.HasPrefix(lines[end], "#") {
			end++
		}
		return strings.TrimSpace(strings.Join(lines[i+1:end], "\n")), strings.Join(append(lines[:i:i], lines[end:]...), "\n")
	}
	return "", text
}

func (f *reflection) edit(current string) string {
	c := f.profile.Reflector
	switch u := f.draw("kind"); {
	case u < c.Unchanged:
		return current
	case u < c.Unchanged+c.RepeatSelf:
		return strings.TrimSpace(current + "\n" + f.clause(current).Text + "\n" + current)
	}
	lines := splitSentences(current)
	if len(lines) > 1 && f.draw("drop") < c.Drop {
		at := pick(len(lines), append(f.key, "drop at")...)
		lines = append(lines[:at:at], lines[at+1:]...)
	}
	if len(lines) > 0 && f.draw("reword") < c.Reword {
		at := pick(len(lines), append(f.key, "reword at")...)
		lines[at] = f.reword(lines[at])
	}
	text := strings.Join(lines, "\n")
	for range f.additions() {
		text = strings.TrimSpace(text + "\n" + f.clause(text).Text)
	}
	return text
}

// additions is how many clauses are added: at least one, Add on average.
func (f *reflection) additions() int {
	n := 1
	more := math.Max(0, f.profile.Reflector.Add-1)
	for n < 4 && f.draw("more") < more/(1+more) {
		n++
	}
	return n
}

// clause draws one that the text does not have, somewhat more likely about
// what the feedback speaks of.
func (f *reflection) clause(text string) clause {
	weights := make([]float64, len(f.book.Clauses))
	total := 0.0
	for i, c := range f.book.Clauses {
		if strings.Contains(text, c.Text) {
			continue
		}
		weights[i] = 1
		for _, tag := range c.Tags {
			if f.mentioned(tag) {
				weights[i] = f.profile.Reflector.FeedbackBias
			}
		}
		total += weights[i]
	}
	u := f.draw("clause") * total
	for i, w := range weights {
		if u < w {
			return f.book.Clauses[i]
		}
		u -= w
	}
	return f.book.Clauses[len(f.book.Clauses)-1]
}

var tagWords = map[string][]string{
	"missed": {"missed", "not detected", "not found", "false negative", "overlooked"},
	"leak":   {"leak", "false positive", "fixed side", "false alarm", "should be silent"},
	"format": {"bad_format", "bad_schema", "not json", "malformed", "could not be parsed", "invalid json"},
}

func (f *reflection) mentioned(tag string) bool {
	words, ok := tagWords[tag]
	if !ok {
		words = []string{tag}
	}
	for _, w := range words {
		if strings.Contains(f.feedback, w) {
			return true
		}
	}
	return false
}

func (f *reflection) reword(line string) string {
	from := make([]string, 0, len(f.book.Rewords))
	for k := range f.book.Rewords {
		from = append(from, k)
	}
	sort.Strings(from)
	start := pick(len(from), append(f.key, "reword with")...)
	for i := range from {
		k := from[(start+i)%len(from)]
		if strings.Contains(line, k) {
			return strings.Replace(line, k, f.book.Rewords[k], 1)
		}
	}
	return line
}

// splitSentences keeps lines, and cuts a line of several sentences.
func splitSentences(text string) []string {
	var out []string
	for _, line := range strings.Split(text, "\n") {
		for {
			n := strings.Index(line, ". ")
			if n < 0 {
				break
			}
			out = append(out, line[:n+1])
			line = line[n+2:]
		}
		if strings.TrimSpace(line) != "" {
			out = append(out, line)
		}
	}
	return out
}

// fillText fits the proposal into a schema: every free string gets it.
func fillText(s, root *schema, text string, depth int) any {
	if s != nil && s.Ref != "" {
		s = root.resolve(s.Ref)
	}
	switch {
	case s == nil || depth > maxSchemaDepth:
		return text
	case len(s.Properties) > 0:
		out := map[string]any{}
		for _, name := range s.propertyNames() {
			out[name] = fillText(s.Properties[name], root, text, depth+1)
		}
		return out
	case s.is("string") && len(s.Enum) == 0 && len(s.Type) > 0:
		return text
	case s.is("array") && s.Items != nil && len(s.Type) > 0:
		return []any{fillText(s.Items, root, text, depth+1)}
	}
	return s.fill(root, nil, depth)
}
