package simulator

import (
	"path"
	"sort"
	"strconv"
	"strings"
)

// toolKind is what a tool seems to be for, judged by its name alone.
type toolKind int

const (
	toolOther toolKind = iota
	toolRead
	toolList
	toolSearch
	toolReport
)

func kindOfTool(name string) toolKind {
	n := strings.ToLower(name)
	has := func(words ...string) bool {
		for _, w := range words {
			if strings.Contains(n, w) {
				return true
			}
		}
		return false
	}
	switch {
	case has("report", "submit", "finish", "final", "answer"):
		return toolReport
	case has("grep", "search", "find", "refs", "definition", "flows", "obligation", "symbol", "caller"):
		return toolSearch
	case has("list", "tree", "entry", "routes", "glob", "dir"):
		return toolList
	case has("read", "open", "cat", "view", "file", "show", "get"):
		return toolRead
	}
	return toolOther
}

// trajectory is what a conversation with tools has come to.
type trajectory struct {
	q         *chatRequest
	r         *reader
	steps     int             // assistant turns that called tools
	asked     map[string]bool // paths a call has named
	known     []string        // paths seen so far, in order of appearance
	last      *toolCall
	finalised bool // a report-like call was made
}

// callTools decides the next step of a run that may use tools. No calls means
// that the model answers.
func (r *reader) callTools(q *chatRequest) ([]toolCall, string) {
	if q.toolChoice.mode == "none" {
		return nil, ""
	}
	t := newTrajectory(q, r)
	var calls []toolCall
	finish := "tool_calls"
	switch q.toolChoice.mode {
	case "named":
		calls = []toolCall{t.call(q.tool(q.toolChoice.name), 0)}
		finish = "stop" // as the hosted API does for a forced function
	case "required":
		calls = t.next(true)
	default:
		calls = t.next(false)
	}
	if !q.parallel && len(calls) > 1 {
		calls = calls[:1]
	}
	for i := range calls {
		calls[i].id = "call_sim_" + hexOf(12, "tool call", string(q.raw), r.seed, strconv.Itoa(i))
	}
	return calls, finish
}

func newTrajectory(q *chatRequest, r *reader) *trajectory {
	t := &trajectory{q: q, r: r, asked: map[string]bool{}}
	for i := range q.messages {
		m := &q.messages[i]
		if len(m.toolCalls) > 0 {
			t.steps++
		}
		for k := range m.toolCalls {
			c := &m.toolCalls[k]
			t.last = c
			kind := kindOfTool(c.name)
			t.finalised = t.finalised || kind == toolReport
			if kind == toolRead {
				t.asked[pathWord.FindString(c.arguments)] = true
			}
		}
		if m.role != "assistant" {
			t.learn(m.text)
		}
	}
	for _, f := range r.prompt.files {
		t.asked[f.path] = true
	}
	return t
}

// learn notes the source files a text names.
func (t *trajectory) learn(text string) {
	for _, p := range pathWord.FindAllString(text, 400) {
		if languageOf(p) != langOther || strings.Contains(p, "/") && path.Ext(p) != "" {
			t.known = appendNew(t.known, p)
		}
	}
}

func (t *trajectory) draw(what string) float64 {
	return uniform(t.r.profile.Seed, "tools", t.r.seed, t.r.digest, strconv.Itoa(t.steps), what)
}

// next chooses the calls of an ordinary step.
func (t *trajectory) next(required bool) []toolCall {
	c := t.r.profile.Tools
	unread := t.unread()
	enough := t.steps >= c.MaxSteps || len(unread) == 0 && t.steps > 0
	goOn := t.steps == 0 || t.draw("continue") < c.ReadBase+c.ReadGain*t.r.reading.general[skillMultiHop]
	if enough || !goOn {
		report := t.first(toolReport)
		switch {
		case report != nil && !t.finalised:
			return []toolCall{t.call(report, 0)}
		case !required:
			return nil
		}
	}
	calls := []toolCall{t.step(unread, 0)}
	if len(unread) > 1 && t.draw("parallel") < c.Parallel {
		calls = append(calls, t.step(unread, 1))
	}
	return calls
}

// step is one call: the last one again, a search, or the next file.
func (t *trajectory) step(unread []string, slot int) toolCall {
	c := t.r.profile.Tools
	if slot == 0 && t.last != nil && t.q.tool(t.last.name) != nil && t.draw("repeat") < c.Repeat {
		return *t.last
	}
	if use := t.first(toolSearch); use != nil && (t.draw("search") < c.Search || len(unread) == 0) && slot == 0 && t.steps > 0 {
		return t.call(use, slot)
	}
	if len(unread) == 0 {
		for _, kind := range []toolKind{toolList, toolSearch, toolRead, toolOther, toolReport} {
			if use := t.first(kind); use != nil {
				return t.call(use, slot)
			}
		}
	}
	if use := t.first(toolRead); use != nil {
		return t.call(use, slot)
	}
	return t.call(&t.q.tools[pick(len(t.q.tools), t.r.profile.Seed, "any tool", t.r.seed, strconv.Itoa(t.steps))], slot)
}

// first returns a tool of a kind; which of several varies from run to run.
func (t *trajectory) first(kind toolKind) *tool {
	var fitting []*tool
	for i := range t.q.tools {
		if kindOfTool(t.q.tools[i].name) == kind {
			fitting = append(fitting, &t.q.tools[i])
		}
	}
	if len(fitting) == 0 {
		return nil
	}
	return fitting[pick(len(fitting), t.r.profile.Seed, "tool", t.r.seed, t.r.digest, strconv.Itoa(t.steps), strconv.Itoa(int(kind)))]
}

// unread lists the known files not read yet, in an order that varies by seed.
func (t *trajectory) unread() []string {
	var out []string
	for _, p := range t.known {
		if !t.asked[p] && languageOf(p) != langOther {
			out = append(out, p)
		}
	}
	key := func(p string) float64 { return uniform(t.r.profile.Seed, "order", t.r.seed, t.r.digest, p) }
	sort.SliceStable(out, func(i, j int) bool { return key(out[i]) < key(out[j]) })
	return out
}

// call fills in a tool's arguments from its schema and from what was seen.
func (t *trajectory) call(use *tool, slot int) toolCall {
	wanted := map[string]any{}
	for _, name := range use.parameters.propertyNames() {
		if v, ok := t.argument(strings.ToLower(name), use.parameters.Properties[name], slot); ok {
			wanted[name] = v
		}
	}
	if kindOfTool(use.name) == toolReport {
		for name, v := range wantedValues(t.r.findings()) {
			wanted[name] = v
		}
	}
	filled := use.parameters.fill(use.parameters, wanted, 0)
	text := encode(t.trim(filled, use.parameters, wanted))
	if t.draw("bad json "+strconv.Itoa(slot)) < t.r.profile.Tools.BadJSON {
		text = strings.TrimSuffix(text, "}")
	}
	return toolCall{name: use.name, arguments: text}
}

// trim leaves out optional arguments the model has nothing to say about.
func (t *trajectory) trim(filled any, s *schema, wanted map[string]any) any {
	object, ok := filled.(map[string]any)
	if !ok {
		return map[string]any{}
	}
	for name := range object {
		if _, said := wanted[name]; !said && !contains(s.Required, name) {
			delete(object, name)
		}
	}
	return object
}

func (t *trajectory) argument(name string, s *schema, slot int) (any, bool) {
	has := func(words ...string) bool {
		for _, w := range words {
			if strings.Contains(name, w) {
				return true
			}
		}
		return false
	}
	switch {
	case has("path", "file"):
		return t.path(slot), true
	case has("pattern", "query", "regex", "text", "needle", "term"):
		return t.term(), true
	case has("symbol", "name", "identifier", "function"):
		return t.symbol(), true
	case has("dir", "root", "folder"):
		return ".", true
	case s != nil && (s.is("integer") || s.is("number")) && len(s.Type) > 0 && has("start", "first", "from", "offset"):
		return 1, true
	case s != nil && (s.is("integer") || s.is("number")) && len(s.Type) > 0 && has("end", "last", "limit", "max", "count"):
		return 200, true
	}
	return nil, false
}

func (t *trajectory) path(slot int) string {
	unread := t.unread()
	var p string
	switch {
	case slot < len(unread):
		p = unread[slot]
	case len(t.known) > 0:
		p = t.known[pick(len(t.known), t.r.profile.Seed, "path", t.r.seed, strconv.Itoa(t.steps))]
	default:
		p = "README.md"
	}
	if t.draw("wrong path "+strconv.Itoa(slot)) < t.r.profile.Tools.WrongPath {
		return path.Join(path.Dir(p), "old_"+path.Base(p))
	}
	return p
}

// term searches for a text that a family's cues are found by.
func (t *trajectory) term() string {
	asked := t.r.prompt.asked
	id := asked[pick(len(asked), t.r.profile.Seed, "term family", t.r.seed, t.r.digest, strconv.Itoa(t.steps))]
	f, ok := t.r.lex.byID[id]
	if !ok {
		return "request"
	}
	cues := t.r.lex.Families[f].Cues
	cue := cues[pick(len(cues), t.r.profile.Seed, "term", t.r.seed, t.r.digest, strconv.Itoa(t.steps))]
	list, err := branches(cue.Re)
	if err != nil { // the lexicon was compiled, so it has branches
		return "request"
	}
	return strings.TrimRight(strings.Trim(list[0].literals[0], `."' `), "(")
}

func (t *trajectory) symbol() string {
	var names []string
	for _, u := range t.r.code.units {
		for _, f := range u.functions {
			if f.name != "" {
				names = appendNew(names, f.name)
			}
		}
	}
	if len(names) == 0 {
		return "main"
	}
	return names[pick(len(names), t.r.profile.Seed, "symbol", t.r.seed, t.r.digest, strconv.Itoa(t.steps))]
}
