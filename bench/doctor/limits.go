package doctor

import (
	"context"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/youden-bench/youden/measurements"
)

// limits asks which of the two names limits an answer. Every other question relies
// on it, and it is the first: an endpoint that answers neither answers nothing.
func (e *exam) limits(ctx context.Context) error {
	var first *reply
	var accepted string
	for _, field := range []string{"max_tokens", "max_completion_tokens"} {
		r := e.ask(ctx, field, openPrompt, 0, fields{field: probeTokens})
		if first == nil {
			first = r
		}
		if !r.ok() {
			e.unanswered(field, r)
			continue
		}
		e.remember(r)
		treatment, detail := judgeLimit(r)
		e.note(field, treatment, "%s", detail)
		switch {
		case treatment == measurements.Honoured && e.cap == "":
			e.cap = field
		case treatment == measurements.Accepted && accepted == "":
			accepted = field
		}
	}
	if e.cap == "" {
		e.cap = accepted
	}
	if e.good == nil {
		return fmt.Errorf("%w: %s", ErrNoAnswer, e.clean(first.why()))
	}
	switch e.cap {
	case "max_completion_tokens":
		e.advise("set max_tokens_field = \"max_completion_tokens\"")
	case "":
		e.advise("no token limit was seen to hold: an answer can be of any length and price")
	}
	return nil
}

// remember keeps who answered.
func (e *exam) remember(r *reply) {
	if e.record.ModelReturned == "" && r.model != "" {
		e.record.ModelReturned, e.record.Fingerprint = e.clean(r.model), e.clean(r.fingerprint)
		if r.model != e.patient.Record.Model {
			e.advise("the model that answers calls itself %s", r.model)
		}
	}
}

// judgeLimit compares the length of an answer with the limit. Reasoning models may
// count some tokens more than they show.
func judgeLimit(r *reply) (measurements.Treatment, string) {
	n := r.usage.Completion
	switch {
	case n != nil && *n > probeTokens:
		return measurements.Ignored, fmt.Sprintf("asked for at most %d tokens and got %d", probeTokens, *n)
	case r.finish == "length":
		return measurements.Honoured, fmt.Sprintf("cut at %d tokens", probeTokens)
	case n != nil:
		return measurements.Accepted, fmt.Sprintf("the answer ended by itself after %d tokens (finish_reason %q)", *n, r.finish)
	}
	return measurements.Accepted, fmt.Sprintf("no usage is reported, and finish_reason is %q", r.finish)
}

// longPrompt asks what becomes of a prompt of a given length: taken, refused, or
// cut without a word.
func (e *exam) longPrompt(ctx context.Context) {
	n := e.opts.LongPrompt
	if n <= 0 {
		return
	}
	const name = "long_prompt"
	r := e.ask(ctx, name, strings.Repeat("word ", n), oneToken, nil)
	switch {
	case !r.ok():
		e.unanswered(name, r)
		if told := contextSaid(r.why()); r.refused() && told != nil && e.record.ContextTokens == nil {
			e.record.ContextTokens = told
		}
	case r.usage.Prompt == nil:
		e.note(name, measurements.Accepted, "a prompt of about %d tokens is answered, and no usage is reported", n)
	case *r.usage.Prompt < int64(n)/2:
		e.note(name, measurements.Ignored, "of a prompt of about %d tokens the model saw %d", n, *r.usage.Prompt)
		e.advise("prompts that do not fit are cut without an error: compare prompt_tokens with what was sent")
	default:
		e.note(name, measurements.Honoured, "a prompt of %d tokens is taken whole", *r.usage.Prompt)
	}
}

// contextWords are how servers say how much would have fitted.
var contextWords = regexp.MustCompile(`(?i)(?:maximum context length is|context (?:size|length|window)[^0-9]{0,24}|n_ctx["' :=]*)\s*\(?([0-9]{2,9})`)

func contextSaid(text string) *int64 {
	m := contextWords.FindStringSubmatch(text)
	if m == nil {
		return nil
	}
	n, err := strconv.ParseInt(m[1], 10, 64)
	if err != nil {
		return nil
	}
	return &n
}
