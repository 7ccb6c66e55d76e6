package doctor

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"

	"github.com/youden-bench/youden/bench/redact"
	"github.com/youden-bench/youden/measurements"
)

// Options of Examine.
type Options struct {
	// LongPrompt is the length of one further prompt in tokens, to see what becomes
	// of a prompt that long; 0 = it is not sent, since it is the one dear question.
	LongPrompt int
	// Progress is told of each question before it is asked; may be nil.
	Progress func(question string)
}

// ErrNoAnswer is wrapped when the endpoint answered no question at all.
var ErrNoAnswer = errors.New("the endpoint answers no request")

// exam is one examination under way.
type exam struct {
	patient Patient
	opts    Options
	filter  *redact.Filter
	record  *measurements.Capabilities
	// cap is the field that limits an answer; "" = neither of the two does.
	cap  string
	good *reply // the first answer of a model
}

// Examine asks the questions, one after the other. The record is whole as far as
// the endpoint answered and counts the questions that failed. An error means that
// there is nothing to record.
func Examine(ctx context.Context, p Patient, o Options) (*measurements.Capabilities, error) {
	p, err := p.withDefaults()
	if err != nil {
		return nil, err
	}
	e := &exam{patient: p, opts: o, filter: redact.NewFilter(p.Key), record: &measurements.Capabilities{
		Schema: measurements.CapabilitiesSchema, ProbedAt: p.Now().UTC(), Endpoint: p.Record, Simulated: p.Simulated,
	}}
	e.models(ctx)
	if err := e.limits(ctx); err != nil {
		return nil, err
	}
	if e.cap == "" && !p.Loopback() && !p.Simulated {
		e.advise("neither max_tokens nor max_completion_tokens limits an answer: the other questions were not asked, since they could cost any amount")
	} else {
		base := e.sampling(ctx)
		e.shapes(ctx)
		e.tools(ctx)
		e.stream(ctx)
		e.extras(ctx, base)
		e.longPrompt(ctx)
	}
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("examine %s: %w", p.Record.Model, err)
	}
	return e.record, nil
}

// note adds a feature to the record.
func (e *exam) note(name string, t measurements.Treatment, format string, args ...any) {
	e.record.Features = append(e.record.Features, measurements.Feature{Name: name, Treatment: t, Detail: e.clean(fmt.Sprintf(format, args...))})
}

func (e *exam) advise(format string, args ...any) {
	e.record.Advice = append(e.record.Advice, e.clean(fmt.Sprintf(format, args...)))
}

// clean takes the key out of what an endpoint said: some repeat it.
func (e *exam) clean(text string) string { return e.filter.String(text) }

// unanswered notes a feature whose question got no answer: the request was turned
// down, or the endpoint failed.
func (e *exam) unanswered(name string, r *reply) {
	if r.refused() {
		e.note(name, measurements.Refused, "%s", r.why())
		return
	}
	e.record.Failed++
	e.note(name, measurements.Unprobed, "the question failed: %s", r.why())
}

// fields of one request beside those that all have.
type fields map[string]any

// ask sends one request. limit is how long the answer may be; 0 = change says.
func (e *exam) ask(ctx context.Context, what, prompt string, limit int, change fields) *reply {
	body := map[string]any{}
	maps.Copy(body, e.patient.ExtraBody)
	body["model"] = e.patient.Record.Model
	body["messages"] = []fields{{"role": "user", "content": prompt}}
	if limit > 0 && e.cap != "" {
		body[e.cap] = limit
	}
	maps.Copy(body, change)
	raw, err := json.Marshal(body)
	if err != nil {
		return &reply{err: fmt.Errorf("the request is no JSON: %w", err)}
	}
	if e.opts.Progress != nil {
		e.opts.Progress(what)
	}
	r := e.send(ctx, http.MethodPost, "/chat/completions", raw)
	e.record.Calls++
	e.bill(r)
	if e.good == nil && r.ok() {
		e.good = r
	}
	return r
}

// bill adds up what a call took, as far as it is known.
func (e *exam) bill(r *reply) {
	if r.usage.Prompt == nil || r.usage.Completion == nil {
		return
	}
	add(&e.record.PromptTokens, *r.usage.Prompt)
	add(&e.record.CompletionTokens, *r.usage.Completion)
	if cost := e.patient.CostMicros(*r.usage.Prompt, *r.usage.Completion); cost != nil {
		add(&e.record.CostUSDMicros, *cost)
	}
}

func add(total **int64, n int64) {
	if *total == nil {
		*total = new(int64)
	}
	**total += n
}
