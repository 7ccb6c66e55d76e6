package endpoint

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/youden-bench/youden/detector"
	"github.com/youden-bench/youden/measurements"
)

// maxServed bounds how many backends are told apart: some put a number of their own
// into each answer's fingerprint.
const maxServed = 64

// served counts who answered. A router mixes providers and quantisations, and an
// alias moves on; both change what is measured (spec/peers.md section 3.2, rows 45
// and 59).
type served struct {
	mu       sync.Mutex
	all      []measurements.Served
	prompt   int64   // as counted for the last large prompt
	estimate float64 // of that
}

// note counts an answer and warns of what is not as it was asked for. estimate is
// that of its prompt.
func (s *served) note(a detector.Answer, estimate float64, o Options, w *warnings) {
	if s.sameCount(a.Usage.Prompt, estimate) {
		w.once("same count", fmt.Sprintf("endpoint %s: it counted %d tokens in two prompts of very different length: does it cut them to that? Raise its context size", o.Name, *a.Usage.Prompt))
	}
	if a.Model == "" && a.Provider == "" && a.Fingerprint == "" {
		return
	}
	models, providers := s.count(a)
	if a.Model != "" && !sameModel(o.Model, a.Model) {
		w.once("model "+a.Model, fmt.Sprintf("endpoint %s: asked for the model %s, and %s answered: name a pinned model, or start the server with it", o.Name, o.Model, a.Model))
	}
	if models > 1 || providers > 1 {
		w.once("backends", fmt.Sprintf("endpoint %s: answers come from %d models and %d providers: what is measured is a mixture; pin one of each", o.Name, models, providers))
	}
	if limit := o.MaxTokens; a.Usage.Completion != nil && *a.Usage.Completion > int64(limit) {
		w.once("limit", fmt.Sprintf("endpoint %s: an answer has %d tokens and the limit is %d: the endpoint takes no notice of the limit's field; set max_tokens_field", o.Name, *a.Usage.Completion, limit))
	}
	if a.Status == detector.Context && strings.HasPrefix(a.Detail, "the prompt was cut") {
		w.once("cut prompt", fmt.Sprintf("endpoint %s: %s", o.Name, a.Detail))
	}
}

// sameCount reports whether a prompt has the count of another one that was much
// longer or shorter (spec/peers.md section 3.2, row 13).
func (s *served) sameCount(prompt *int64, estimate float64) bool {
	if prompt == nil || *prompt < smallWindow || estimate < smallWindow {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	same := s.prompt == *prompt && max(s.estimate, estimate) > 1.5*min(s.estimate, estimate)
	s.prompt, s.estimate = *prompt, estimate
	return same
}

// count returns how many models and providers there are when a new backend comes
// up, else nothing.
func (s *served) count(a detector.Answer) (models, providers int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := slices.IndexFunc(s.all, func(have measurements.Served) bool {
		return have.Model == a.Model && have.Provider == a.Provider && have.Fingerprint == a.Fingerprint
	})
	if i >= 0 {
		s.all[i].Answers++
		return 0, 0
	}
	if len(s.all) < maxServed {
		s.all = append(s.all, measurements.Served{Model: a.Model, Provider: a.Provider, Fingerprint: a.Fingerprint, Answers: 1})
	}
	return distinct(s.all, func(v measurements.Served) string { return v.Model }), distinct(s.all, func(v measurements.Served) string { return v.Provider })
}

// distinct counts names; "" is none.
func distinct(all []measurements.Served, name func(measurements.Served) string) int {
	var seen []string
	for _, v := range all {
		if n := name(v); n != "" && !slices.Contains(seen, n) {
			seen = append(seen, n)
		}
	}
	return len(seen)
}

// list returns the backends in the order of their names, which are a server's words
// and are redacted.
func (s *served) list(redact func(string) string) []measurements.Served {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := slices.Clone(s.all)
	for i, v := range out {
		out[i].Model, out[i].Provider, out[i].Fingerprint = redact(v.Model), redact(v.Provider), redact(v.Fingerprint)
	}
	slices.SortFunc(out, func(a, b measurements.Served) int {
		return strings.Compare(a.Model+"\x00"+a.Provider+"\x00"+a.Fingerprint, b.Model+"\x00"+b.Provider+"\x00"+b.Fingerprint)
	})
	return out
}

// sameModel compares names without the prefix of a router.
func sameModel(asked, answered string) bool {
	short := func(name string) string {
		name = strings.ToLower(name)
		return name[strings.LastIndexByte(name, '/')+1:]
	}
	return short(asked) == short(answered)
}
