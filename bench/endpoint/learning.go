package endpoint

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"sync"

	"github.com/youden-bench/youden/bench/ledger"
	"github.com/youden-bench/youden/detector"
	"github.com/youden-bench/youden/measurements"
)

// learning is what a client knows of the requests that its endpoint takes. It is
// learned once and holds for the rest of the plan.
//
// The ledger is its memory. A refusal that taught something settles its sample: the
// same bytes are never sent again, and whoever opens the ledger later learns the
// same from it before the first request. So a resumed capture sends the bytes that
// the first session sent, and finds their answers.
type learning struct {
	pupil pupil
	base  form // as configured

	mu      sync.Mutex
	learned form
	list    []measurements.Learned
}

// form is how requests are to be made now.
func (l *learning) form() form {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.base | l.learned
}

// older yields the forms that requests may have had before, when some lessons were
// not learned yet.
func (l *learning) older(yield func(form) bool) {
	l.mu.Lock()
	learned := l.learned
	l.mu.Unlock()
	learned.subsets(func(f form) bool { return yield(l.base | f) })
}

// add takes a lesson and reports whether it is new.
func (l *learning) add(lesson form, said string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.learned.has(lesson) {
		return false
	}
	l.learned |= lesson
	words := lessonWords[lesson]
	l.list = append(l.list, measurements.Learned{Parameter: words[0], Now: words[1], Said: clip(said, 200)})
	return true
}

func (l *learning) known() []measurements.Learned {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]measurements.Learned(nil), l.list...)
}

// effective is what becomes of configured parameters. A parameter that is left out
// is null, which a comparison tells from any value.
func (l *learning) effective(configured map[string]any) map[string]any {
	f := l.form()
	out := maps.Clone(configured)
	if out == nil {
		out = map[string]any{}
	}
	if f.has(swapMaxTokens) {
		field := l.pupil.maxTokensField
		if limit, there := out[field]; there {
			out[otherField(field)] = limit
			delete(out, field)
		}
	}
	if f.has(dropTemperature) {
		out["temperature"] = nil
	}
	if f.has(dropSeed) {
		out["seed"] = nil
	}
	switch {
	case f.has(formatText):
		out["response_format"] = nil
	case f.has(formatObject) && out["response_format"] == "json_schema":
		out["response_format"] = "json_object"
	}
	if f.has(streamOn) {
		out["stream"] = true
	}
	if content := f.callContent(); content != "" {
		out["tool_content"] = content
	}
	if f.has(dropReasoning) {
		out["replay_reasoning"] = false
	}
	return out
}

// callContent is what stands for no content beside tool calls; "" = null.
func (f form) callContent() string {
	switch {
	case f.has(callContentOmit):
		return contentOmit
	case f.has(callContentEmpty):
		return contentEmpty
	}
	return ""
}

func otherField(field string) string {
	if field == fieldMaxTokens {
		return fieldMaxCompletionTokens
	}
	return fieldMaxTokens
}

// remember learns from the refusals in a ledger what earlier sessions of the same
// plan learned.
func (t *transport) remember(ctx context.Context) error {
	refusals, err := t.refusals(ctx)
	if err != nil || len(refusals) == 0 {
		return err
	}
	for leaf, err := range t.opts.Ledger.Leaves(ctx) {
		if err != nil {
			return fmt.Errorf("reading what was learned of the endpoint: %w", err)
		}
		if !bytes.Contains(leaf.Data, []byte(`"dispatch":`)) {
			continue
		}
		record, err := leaf.Record()
		if err != nil {
			return err
		}
		d := record.Dispatch
		if d == nil || d.Scope != t.opts.Scope || d.Endpoint != t.base {
			continue
		}
		if o, refused := refusals[d.Attempt]; refused {
			if err := t.recall(d, o); err != nil {
				return err
			}
		}
	}
	return nil
}

// refusals finds the settled answers that are errors of the request. Most captures
// have none, and then nothing else is read.
func (t *transport) refusals(ctx context.Context) (map[ledger.Digest]*ledger.Observation, error) {
	found := map[ledger.Digest]*ledger.Observation{}
	for leaf, err := range t.opts.Ledger.Leaves(ctx) {
		if err != nil {
			return nil, fmt.Errorf("reading what was learned of the endpoint: %w", err)
		}
		if !bytes.Contains(leaf.Data, []byte(`"outcome":"config"`)) {
			continue
		}
		record, err := leaf.Record()
		if err != nil {
			return nil, err
		}
		if o := record.Observation; o != nil && o.Final && o.Outcome == string(detector.Config) {
			found[o.Attempt] = o
		}
	}
	return found, nil
}

// recall learns from one recorded refusal.
func (t *transport) recall(d *ledger.Dispatch, o *ledger.Observation) error {
	request, err := t.opts.Ledger.Body(d.Request)
	if err != nil {
		return fmt.Errorf("reading what was learned of the endpoint: %w", err)
	}
	response, err := t.opts.Ledger.Body(o.Response)
	if err != nil {
		return fmt.Errorf("reading what was learned of the endpoint: %w", err)
	}
	sent := document(request)
	if sent.text("model") != t.opts.Model {
		return nil
	}
	r := t.rules.interpret(o.HTTP, o.Header["content-type"], response, o.Cut)
	if lesson := t.learning.pupil.lesson(sent, r); lesson != 0 {
		t.learning.add(lesson, t.filter.String(r.err.message))
	}
	return nil
}
