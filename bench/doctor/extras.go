package doctor

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"

	"github.com/youden-bench/youden/measurements"
)

// stream asks for events and for the usage at their end.
func (e *exam) stream(ctx context.Context) {
	r := e.ask(ctx, "stream", openPrompt, answerTokens, fields{"stream": true, "stream_options": fields{"include_usage": true}})
	events, done, counted := readEvents(r.body)
	switch {
	case r.err == nil && r.status == 200 && events > 0 && done:
		e.note("stream", measurements.Honoured, "%d events and [DONE]", events)
	case r.err == nil && r.status == 200 && events > 0:
		e.note("stream", measurements.Accepted, "%d events and no [DONE]: a cut could not be told from an end", events)
	case r.ok():
		e.note("stream", measurements.Ignored, "the answer came in one piece")
	default:
		e.unanswered("stream", r)
		e.note("stream_usage", measurements.Unprobed, "there was no stream")
		return
	}
	switch {
	case events == 0:
		e.note("stream_usage", measurements.Unprobed, "there was no stream")
	case counted.Prompt != nil && counted.Completion != nil:
		e.bill(&reply{usage: counted})
		e.note("stream_usage", measurements.Honoured, "the last events count the tokens")
	default:
		e.note("stream_usage", measurements.Ignored, "no event counts the tokens")
	}
}

// readEvents counts the events of a stream and finds its end and its usage.
func readEvents(body []byte) (events int, done bool, counted usage) {
	for line := range bytes.Lines(body) {
		data, ok := bytes.CutPrefix(bytes.TrimSpace(line), []byte("data:"))
		if !ok {
			continue
		}
		data = bytes.TrimSpace(data)
		if string(data) == "[DONE]" {
			return events, true, counted
		}
		var chunk struct {
			Usage usage `json:"usage"`
		}
		if json.Unmarshal(data, &chunk) == nil {
			events++
			if chunk.Usage.Prompt != nil {
				counted = chunk.Usage
			}
		}
	}
	return events, false, counted
}

// extras asks for what the bench can do without and a report may want.
func (e *exam) extras(ctx context.Context, base *reply) {
	e.usage(e.good)
	e.stop(ctx, base)
	r := e.ask(ctx, "logprobs", tinyPrompt, probeTokens, fields{"logprobs": true})
	e.simple("logprobs", r, r.logprobs, "the answer has them", "the answer has none")
	r = e.ask(ctx, "n", tinyPrompt, probeTokens, fields{"n": 2})
	e.simple("n", r, r.choices == 2, "two choices came", "one choice came where two were asked for")
	e.otherModel(ctx)
}

func (e *exam) simple(name string, r *reply, seen bool, yes, no string) {
	switch {
	case !r.ok():
		e.unanswered(name, r)
	case seen:
		e.note(name, measurements.Honoured, "%s", yes)
	default:
		e.note(name, measurements.Ignored, "%s", no)
	}
}

// usage says what an endpoint reports of an answer. Absent is unknown, never 0.
func (e *exam) usage(r *reply) {
	report := func(name string, has bool) {
		e.simple(name, r, has, "reported", "not reported: unknown, not 0")
	}
	u := r.usage
	report("usage", u.Prompt != nil && u.Completion != nil)
	report("usage.cached_tokens", u.Details != nil && u.Details.Cached != nil)
	report("usage.reasoning_tokens", u.More != nil && u.More.Reasoning != nil)
}

// stop asks for the first answer again, up to a word from its middle.
func (e *exam) stop(ctx context.Context, base *reply) {
	word := middleWord(base.content)
	if !base.ok() || word == "" {
		e.note("stop", measurements.Unprobed, "no answer had a word in its middle to stop at")
		return
	}
	r := e.ask(ctx, "stop", openPrompt, answerTokens, fields{"temperature": 0, "seed": 7, "stop": []string{word}})
	before, _, _ := strings.Cut(base.content, word)
	switch {
	case !r.ok():
		e.unanswered("stop", r)
	case strings.Contains(r.content, word):
		e.note("stop", measurements.Ignored, "the answer holds %q, at which it was to stop", word)
	case strings.TrimSpace(r.content) == strings.TrimSpace(before):
		e.note("stop", measurements.Honoured, "the answer ends before %q", word)
	default:
		e.note("stop", measurements.Accepted, "another answer came, without %q", word)
	}
}

// middleWord is a word of an answer that does not stand in its first third.
func middleWord(text string) string {
	const short = 3
	words := strings.FieldsFunc(text, func(r rune) bool { return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') })
	for _, w := range words[len(words)/3:] {
		if len(w) > short && strings.Index(text, w) > 0 {
			return w
		}
	}
	return ""
}

// noSuchModel is a name that no endpoint serves.
const noSuchModel = "youden-doctor-no-such-model"

// otherModel asks a model that does not exist: a server that answers has not looked
// at the name, and the name in a report would prove nothing.
func (e *exam) otherModel(ctx context.Context) {
	const name = "model"
	r := e.ask(ctx, name, tinyPrompt, oneToken, fields{"model": noSuchModel})
	switch {
	case r.ok():
		e.note(name, measurements.Ignored, "a model that does not exist is answered by %q", clip(r.model))
		e.advise("the endpoint answers under any model name: check what it has loaded")
	case r.refused():
		e.note(name, measurements.Honoured, "a model that does not exist is refused")
	default:
		e.unanswered(name, r)
	}
}
