package endpoint_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/youden-bench/youden/bench/endpoint"
	"github.com/youden-bench/youden/detector"
)

func said(message, reason string) func(int, map[string]any) reply200 {
	return script(reply200{body: messageOf(message, reason)})
}

func messageOf(text, reason string) string { return message(text, fmt.Sprintf("%q", reason)) }

// contentQuirks are about what a model said, or did not say (spec/peers.md section
// 3.1, and rows 2, 3, 9, 15 and 52 of 3.2).
var contentQuirks = []quirk{
	{
		name: "reasoning ate the tokens", from: "3.1, row 2",
		serve:  said(fmt.Sprintf(`{"content":"","reasoning_content":%q}`, finding), "length"),
		status: detector.Truncated, attempts: 1, detail: "token limit",
	},
	{
		name: "a think block is not graded", from: "3.1",
		serve:  said(fmt.Sprintf(`{"content":%q}`, "<think>"+finding+"</think>{\"findings\":[]}"), "stop"),
		status: detector.OK, attempts: 1,
		check: func(t *testing.T, a detector.Answer, _ []map[string]any) {
			assert.Equal(t, `{"findings":[]}`, a.Text)
			assert.Equal(t, finding, a.Reasoning)
		},
	},
	{
		name: "a reasoning field is not graded", from: "3.1",
		serve:  said(fmt.Sprintf(`{"content":"{\"findings\":[]}","reasoning":%q}`, finding), "stop"),
		status: detector.OK, attempts: 1,
		check: func(t *testing.T, a detector.Answer, _ []map[string]any) {
			assert.Equal(t, `{"findings":[]}`, a.Text)
		},
	},
	{name: "null content at the limit", from: "3.1", serve: said(`{"content":null}`, "length"), status: detector.Truncated, attempts: 1},
	{name: "cut text", from: "3.1", serve: said(fmt.Sprintf(`{"content":%q}`, finding[:40]), "length"), status: detector.Truncated, attempts: 1},
	{name: "a whole report at the limit", from: "row 2", serve: said(fmt.Sprintf(`{"content":%q}`, finding), "length"), status: detector.Truncated, attempts: 1},
	{name: "empty and stopped", from: "row 3", serve: said(fmt.Sprintf(`{"content":"","reasoning_content":%q}`, finding), "stop"), status: detector.Empty, attempts: 1, detail: "reasoned"},
	{
		name: "the reasoning is the answer, as configured", from: "row 3",
		serve:   said(fmt.Sprintf(`{"content":"","reasoning_content":%q}`, finding), "stop"),
		options: func(o *endpoint.Options) { o.AnswerFromReasoning = true },
		status:  detector.OK, attempts: 1, detail: "repaired: the model only reasoned",
	},
	{name: "null content", from: "row 7", serve: said(`{"content":null}`, "stop"), status: detector.Empty, attempts: 1},
	{name: "no content key", from: "row 7", serve: said(`{"role":"assistant"}`, "stop"), status: detector.Empty, attempts: 1},
	{name: "refusal", from: "3.1", serve: said(`{"content":null,"refusal":"no"}`, "stop"), status: detector.Refused, attempts: 1},
	{name: "filter of the answer", from: "3.1, row 15", serve: said(fmt.Sprintf(`{"content":%q}`, finding), "content_filter"), status: detector.Filtered, attempts: 1},
	{
		name: "filter of the prompt", from: "3.1, row 15: Azure",
		serve:  script(refuse(400, `{"error":{"message":"The response was filtered","type":null,"param":"prompt","code":"content_filter","status":400,"innererror":{"code":"ResponsibleAIPolicyViolation"}}}`)),
		status: detector.Filtered, attempts: 1,
	},
	{
		name: "bytes that are no UTF-8", from: "3.1, row 52",
		serve:  script(reply200{body: strings.Replace(content(finding, "stop"), "VULN", "V\xffLN", 1)}),
		status: detector.OK, attempts: 1, detail: "repaired: ",
		check: func(t *testing.T, a detector.Answer, _ []map[string]any) { assert.Contains(t, a.Text, "V\uFFFDLN") },
	},
	{
		name: "half of a surrogate pair", from: "3.1, row 52",
		serve:  script(reply200{body: strings.Replace(content(finding, "stop"), "VULN", `V\ud835LN`, 1)}),
		status: detector.OK, attempts: 1, detail: "repaired: ",
		check: func(t *testing.T, a detector.Answer, _ []map[string]any) { assert.Contains(t, a.Text, "V\uFFFDLN") },
	},
	{
		name: "over 5 MB", from: "DESIGN section 5",
		serve:  func(int, map[string]any) reply200 { return say(finding + strings.Repeat("x", 6<<20)) },
		status: detector.Oversize, attempts: 1,
	},
	{
		name: "the prompt is cut in silence", from: "row 13: Ollama",
		serve:  script(reply200{body: strings.Replace(content(finding, "stop"), `"object"`, `"usage":{"prompt_tokens":2051,"completion_tokens":9},"object"`, 1)}),
		ask:    longQuestion(),
		status: detector.Context, attempts: 1, detail: "2051 tokens", warning: "num_ctx",
	},
	{
		name: "cached tokens that a gateway counts apart", from: "row 13",
		serve:  script(reply200{body: strings.Replace(content(finding, "stop"), `"object"`, `"usage":{"prompt_tokens":51,"completion_tokens":9,"prompt_tokens_details":{"cached_tokens":30000}},"object"`, 1)}),
		ask:    longQuestion(),
		status: detector.OK, attempts: 1,
	},
	{
		name: "the limit's field has no effect", from: "spec/endpoints.md 1.3: Ollama",
		serve:   script(reply200{body: strings.Replace(content(finding, "stop"), `"object"`, `"usage":{"prompt_tokens":51,"completion_tokens":5120},"object"`, 1)}),
		options: func(o *endpoint.Options) { o.MaxTokens = 20 },
		status:  detector.OK, attempts: 1, warning: "max_tokens_field",
		effective: map[string]any{}, // the test's configured parameters say 4096, and stay
	},
	{
		name: "another model answers", from: "row 59, llama-server",
		serve:  script(reply200{body: strings.Replace(content(finding, "stop"), `"model":"m"`, `"model":"tiny"`, 1)}),
		status: detector.OK, attempts: 1, warning: "asked for the model m, and tiny answered",
	},
	{
		name: "a router's prefix is no other model", from: "row 59",
		serve:  script(reply200{body: strings.Replace(content(finding, "stop"), `"model":"m"`, `"model":"vendor/M","provider":"P"`, 1)}),
		status: detector.OK, attempts: 1,
		check: func(t *testing.T, a detector.Answer, _ []map[string]any) { assert.Equal(t, "P", a.Provider) },
	},
	{
		name: "usage is missing", from: "3.1, row 6", serve: script(good()), status: detector.OK, attempts: 1,
		check: func(t *testing.T, a detector.Answer, _ []map[string]any) {
			assert.Equal(t, detector.Usage{}, a.Usage, "unknown, not 0")
			assert.Nil(t, a.CostMicros)
		},
	},
	{name: "no JSON at all", from: "DESIGN section 5", serve: script(say("I see no bug.")), status: detector.BadFormat, attempts: 1},
}

func longQuestion() *detector.Request {
	q := ask(strings.Repeat("if user.id != doc.owner_id { return forbidden(); }\n", 1700)) // 87 KB
	return &q
}

// bodyQuirks are about answers that are no completion (spec/peers.md section 3.1 and
// rows 4, 5, 6, 25 and 60 of 3.2).
var bodyQuirks = []quirk{
	{
		name: "an error in the body, then an answer", from: "3.1, row 4",
		serve:  script(reply200{body: `{"error":{"message":"upstream died","code":502}}`}, good()),
		status: detector.OK, attempts: 2, waited: 250 * time.Millisecond,
	},
	{
		name: "a rate limit in the body", from: "row 4",
		serve:  script(reply200{body: `{"error":{"message":"slow down","code":429}}`}, good()),
		status: detector.OK, attempts: 2, waited: 250 * time.Millisecond,
	},
	{
		name: "an error of the choice", from: "row 4",
		serve:  script(reply200{body: `{"choices":[{"finish_reason":"error","message":{"content":"half"},"error":{"code":503,"message":"x"}}]}`}, good()),
		status: detector.OK, attempts: 2, waited: 250 * time.Millisecond,
	},
	{
		name: "a refused key in the body", from: "row 4",
		serve:  script(reply200{body: `{"error":{"message":"no","code":401}}`}),
		status: detector.Auth, attempts: 1,
	},
	{
		name: "no choices", from: "3.1", serve: script(reply200{body: `{"model":"m","choices":[]}`}),
		status: detector.Transient, attempts: 3, waited: 750 * time.Millisecond, detail: "no choices (given up after 2 further attempts",
	},
	{
		name: "no choices, then an answer", from: "3.1", serve: script(reply200{body: `{"choices":[]}`}, good()),
		status: detector.OK, attempts: 2, waited: 250 * time.Millisecond,
	},
	{
		name: "HTML", from: "3.1", serve: script(reply200{header: map[string]string{"Content-Type": "text/html"}, body: "<html>" + finding + "</html>"}),
		status: detector.Config, attempts: 1, detail: "HTML", // a gateway in trouble: TestAPage
	},
	{name: "plain text", from: "spec/endpoints.md 3.3", serve: script(reply200{body: "Ollama is running"}), status: detector.Config, attempts: 1},
	{
		name: "broken JSON", from: "3.1", serve: script(reply200{body: content(finding, "stop")[:90]}, reply200{body: content(finding, "stop")[:90]}, good()),
		status: detector.OK, attempts: 3, waited: 750 * time.Millisecond,
	},
	{
		name: "events though none were asked for", from: "3.1, row 60",
		serve:  script(reply200{header: map[string]string{"Content-Type": "text/event-stream"}, body: chunks("stop", delta(finding[:30]), delta(finding[30:])) + "data: [DONE]\n\n"}),
		status: detector.OK, attempts: 1,
	},
	{
		name: "events called JSON", from: "row 60",
		serve:  script(reply200{body: chunks("stop", delta(finding)) + "data: [DONE]\n\n"}),
		status: detector.OK, attempts: 1,
	},
	{
		name: "events that end at the limit", from: "row 60",
		serve:  script(reply200{body: chunks("length", delta(finding)) + "data: [DONE]\n\n"}),
		status: detector.Truncated, attempts: 1,
	},
	{
		name: "events without their end", from: "row 60",
		serve:  script(reply200{body: chunks("stop", delta(finding))}),
		status: detector.Transient, attempts: 3, waited: 750 * time.Millisecond, detail: "broke off",
	},
	{
		name: "an error among the events", from: "spec/libraries.md 1.2, row 20",
		serve:  script(reply200{body: "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"x\"}}]}\n\ndata: {\"id\":\"c\",\"error\":{\"message\":\"died\",\"code\":502}}\n\n"}, good()),
		status: detector.OK, attempts: 2, waited: 250 * time.Millisecond,
	},
	{
		name: "an event called error", from: "spec/libraries.md 1.2, row 20",
		serve:  script(reply200{body: "event: error\ndata: {\"message\":\"slow down\",\"code\":429}\n\n"}, good()),
		status: detector.OK, attempts: 2, waited: 250 * time.Millisecond,
	},
	{
		name: "a first and a last event without choices", from: "row 5: Azure",
		serve: script(reply200{body: "data: {\"choices\":[],\"prompt_filter_results\":[]}\n\n" + chunks("stop", delta(finding)) +
			"data: {\"choices\":[],\"usage\":{\"prompt_tokens\":51,\"completion_tokens\":9}}\n\ndata: [DONE]\n\n"}),
		status: detector.OK, attempts: 1,
		check: func(t *testing.T, a detector.Answer, _ []map[string]any) {
			assert.EqualValues(t, 51, *a.Usage.Prompt)
		},
	},
	{
		name: "blank lines while queued", from: "row 25: DeepSeek",
		serve:  script(reply200{body: "\n\n\r\n   \n" + content(finding, "stop")}),
		status: detector.OK, attempts: 1,
	},
	{
		name: "comments while queued", from: "row 25",
		serve:  script(reply200{body: strings.Repeat(": keep-alive\n\n", 400) + chunks("stop", delta(finding)) + "data: [DONE]\n\n"}),
		status: detector.OK, attempts: 1,
	},
	{name: "a redirect", from: "spec/libraries.md 1.2, row 6", serve: script(refuse(307, "", "Location", "/elsewhere")), status: detector.Config, attempts: 1, detail: "never followed"},
}
