package doctor

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/youden-bench/youden/measurements"
)

// sentenceSchema allows two answers, neither of which a model gives by itself.
const sentenceSchema = `{"type":"object","properties":{"sea":{"type":"string","enum":["calm","rough"]}},"required":["sea"],"additionalProperties":false}`

// shapes asks for prose in a format that does not allow prose: an object that comes
// all the same was forced.
func (e *exam) shapes(ctx context.Context) {
	const object, schema = "response_format.json_object", "response_format.json_schema"
	r := e.ask(ctx, object, prosePrompt, shapeTokens, fields{"response_format": fields{"type": "json_object"}})
	e.shape(object, r, func(v map[string]json.RawMessage) bool { return v != nil })
	r = e.ask(ctx, schema, prosePrompt, shapeTokens, fields{"response_format": fields{
		"type": "json_schema", "json_schema": fields{"name": "sentence", "strict": true, "schema": json.RawMessage(sentenceSchema)},
	}})
	e.shape(schema, r, func(v map[string]json.RawMessage) bool {
		sea := string(v["sea"])
		return len(v) == 1 && (sea == `"calm"` || sea == `"rough"`)
	})
}

func (e *exam) shape(name string, r *reply, fits func(map[string]json.RawMessage) bool) {
	var v map[string]json.RawMessage
	switch {
	case !r.ok():
		e.unanswered(name, r)
	case json.Unmarshal([]byte(strings.TrimSpace(r.content)), &v) == nil && fits(v):
		e.note(name, measurements.Honoured, "an answer that was asked for as prose is an object of that form")
	case r.finish == "length":
		e.note(name, measurements.Accepted, "the answer was cut at %d tokens before its form could be judged", shapeTokens)
	default:
		e.note(name, measurements.Ignored, "the answer is %q", clip(r.content))
		e.advise("%s is taken and not kept to: do not rely on it", name)
	}
}

const toolSchema = `{"type":"object","properties":{"city":{"type":"string"}},"required":["city"],"additionalProperties":false}`

// tools asks for a call that is required, for one that is not when that gives
// none, and hands a result back.
func (e *exam) tools(ctx context.Context) {
	with := fields{"tools": []fields{{"type": "function", "function": fields{
		"name": "get_weather", "description": "The weather in a city.", "parameters": json.RawMessage(toolSchema),
	}}}}
	forced := e.ask(ctx, "tools", toolPrompt, shapeTokens, merged(with, fields{"tool_choice": "required"}))
	calls := forced
	switch {
	case !forced.ok():
		e.unanswered("tool_choice", forced)
	case len(forced.calls) > 0:
		e.note("tool_choice", measurements.Honoured, "a required call came")
	default:
		e.note("tool_choice", measurements.Ignored, "no call came, although one was required")
	}
	if !forced.ok() || len(forced.calls) == 0 {
		calls = e.ask(ctx, "tools", toolPrompt, shapeTokens, with)
	}
	switch {
	case !calls.ok():
		e.unanswered("tools", calls)
	case len(calls.calls) == 0:
		e.note("tools", measurements.Accepted, "they are taken; the model calls none")
	default:
		e.judgeCall(calls.calls[0])
	}
	if !calls.ok() || len(calls.calls) == 0 {
		e.note("tool_results", measurements.Unprobed, "no call came whose result could be handed back")
		return
	}
	messages := []any{fields{"role": "user", "content": toolPrompt}, calls.message}
	for _, c := range calls.calls {
		messages = append(messages, fields{"role": "tool", "tool_call_id": c.ID, "content": "7 degrees, rain"})
	}
	r := e.ask(ctx, "tool results", toolPrompt, shapeTokens, merged(with, fields{"messages": messages}))
	if !r.ok() {
		e.unanswered("tool_results", r)
		return
	}
	e.note("tool_results", measurements.Honoured, "the conversation goes on after a result")
}

func (e *exam) judgeCall(c toolCall) {
	text, isText := c.arguments()
	var arguments struct {
		City string `json:"city"`
	}
	switch {
	case c.ID == "":
		e.note("tools", measurements.Ignored, "a call has no id")
	case !isText:
		e.note("tools", measurements.Honoured, "a call came; its arguments are an object where text is due")
	case c.Function.Name != "get_weather" || json.Unmarshal([]byte(text), &arguments) != nil:
		e.note("tools", measurements.Accepted, "a call came that does not fit: %s(%s)", clip(c.Function.Name), clip(text))
	default:
		e.note("tools", measurements.Honoured, "a call came whose arguments fit")
	}
}

func merged(a, b fields) fields {
	out := fields{}
	for _, m := range []fields{a, b} {
		for k, v := range m {
			out[k] = v
		}
	}
	return out
}
