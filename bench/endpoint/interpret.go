package endpoint

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/youden-bench/youden/detector"
)

// settles reports whether an answer with that status is the sample's for good.
// What the network, the provider or the configuration did wrong is asked again
// when a capture is resumed; what the model did is not.
func settles(s detector.Status) bool {
	switch s {
	case detector.OK, detector.Truncated, detector.Empty, detector.Oversize,
		detector.Refused, detector.Filtered, detector.Context:
		return true
	}
	return false
}

// reading is an answer as it was read, with the error that it reports.
type reading struct {
	detector.Answer
	err  *apiError // nil = it reports none
	code int       // of the error: the HTTP status, or the one in the body
	page bool      // a web page stands in the place of an answer
}

func readAs(s detector.Status, detail string) reading { return reading{Answer: answer(s, detail)} }

// rules are the settings by which answers are read.
type rules struct {
	fromReasoning bool // an empty answer's reasoning counts as the answer
}

// interpret reads a complete HTTP answer. It is a function of the recorded bytes
// alone, so that a replayed answer reads as it did the first time.
func (r rules) interpret(status int, contentType string, body []byte, cut bool) reading {
	// A byte order mark and blank lines come before some answers: DeepSeek sends
	// blank lines while a request waits (spec/peers.md section 3.2, row 25).
	text := bytes.TrimLeft(bytes.TrimPrefix(body, []byte("\xef\xbb\xbf")), " \t\r\n")
	switch {
	case status < 200 || status > 299:
		return failedAnswer(status, contentType, text)
	case cut:
		return readAs(detector.Oversize, fmt.Sprintf("the answer is longer than %d MB", maxResponse>>20))
	case len(text) == 0:
		return readAs(detector.Transient, fmt.Sprintf("HTTP %d without a body", status))
	case isStream(contentType, text):
		return r.streamed(text)
	case isHTML(contentType, text):
		// A gateway's error page or a captive portal, or the wrong address
		// (spec/peers.md section 3.1).
		// Which of them it is, the bytes do not say.
		r := readAs(detector.Transient, "the server answers HTML: is base_url right? It often must end in /v1")
		r.page = true
		return r
	case text[0] != '{':
		return readAs(detector.Config, fmt.Sprintf("the server's answer is no JSON object: is base_url right? It often must end in /v1 (it begins %q)", clip(string(text), 60)))
	}
	o := document(text)
	if o == nil {
		return readAs(detector.Transient, "the answer is broken JSON")
	}
	return r.completion(o)
}

func isHTML(contentType string, text []byte) bool {
	return strings.HasPrefix(contentType, "text/html") || bytes.HasPrefix(text, []byte("<"))
}

// completion reads a chat completion.
func (r rules) completion(o object) reading {
	a := reading{Answer: detector.Answer{
		Model: o.text("model"), Provider: o.text("provider"), Fingerprint: o.text("system_fingerprint"), Usage: usage(parse(o["usage"])),
	}}
	// Routers answer 200 and put the provider's failure into the body
	// (spec/libraries.md 1.2, row 4).
	if o.has("error") || o.text("object") == "error" {
		return fault(a.Answer, 0, errorIn(o))
	}
	choice := firstChoice(o.list("choices"))
	if choice == nil {
		// No model said nothing here: no model was asked, or its answer got lost.
		// So it is the endpoint's fault and not an empty answer, which is charged.
		a.Status, a.Detail = detector.Transient, "the answer has no choices"
		return a
	}
	a.FinishReason = choice.text("finish_reason")
	if choice.has("error") || a.FinishReason == "error" {
		return fault(a.Answer, 0, errorIn(choice))
	}
	message := parse(choice["message"])
	if message == nil {
		a.Status, a.Detail = detector.Transient, "the answer's choice has no message"
		return a
	}
	said := readMessage(message)
	a.Text, a.Reasoning, a.Replay, a.ToolCalls = said.text, said.reasoning, said.replay, said.calls
	a.Status, a.Detail = verdictOn(choice, said)
	if a.Status == detector.Empty && r.fromReasoning && said.reasoning != "" {
		a.Status, a.Detail, a.Text = detector.OK, "", said.reasoning
		said.repairs = append(said.repairs, "the model only reasoned, and answer_from_reasoning makes that the answer")
	}
	if a.Status == detector.OK && len(said.repairs) > 0 {
		a.Detail = repairedMark + strings.Join(said.repairs, "; ")
	}
	return a
}

// repairedMark begins the detail of an answer that is not quite what was sent.
const repairedMark = "repaired: "

// firstChoice returns the choice with the lowest index: servers send several in
// any order (row 17).
func firstChoice(choices []json.RawMessage) object {
	var first object
	lowest := int64(-1)
	for i, raw := range choices {
		c := parse(raw)
		if c == nil {
			continue
		}
		at := int64(i)
		if n := c.integer("index"); n != nil {
			at = *n
		}
		if first == nil || at < lowest {
			first, lowest = c, at
		}
	}
	return first
}

// finished are the reasons of a complete answer. Besides OpenAI's there are
// those of servers that pass on what their model's provider says.
var finished = map[string]bool{
	"stop": true, "tool_calls": true, "function_call": true, "eos": true, "eos_token": true,
	"end_turn": true, "stop_sequence": true, "tool_use": true, "stop_token": true, "completed": true,
}

// verdictOn decides the status of an answer that a model gave. A text is only an
// answer when a known reason ended it (row 5): an unknown reason may be a cut,
// which is the endpoint's affair and is tried again. A server that gives no
// reason at all is believed, since its HTTP answer was complete.
func verdictOn(choice object, said said) (detector.Status, string) {
	reason := choice.text("finish_reason")
	switch reason {
	case "content_filter", "safety", "SAFETY":
		return detector.Filtered, "the provider's content filter ended the answer"
	case "length", "max_tokens", "MAX_TOKENS", "model_length":
		return detector.Truncated, "the answer was cut at the token limit"
	case "refusal":
		return detector.Refused, "the model refused"
	}
	switch {
	case said.refusal != "":
		return detector.Refused, fmt.Sprintf("the model refused: %s", clip(said.refusal, 200))
	case !finished[reason] && choice.has("finish_reason"):
		return detector.Transient, fmt.Sprintf("the finish_reason %s is unknown, so the answer may be cut", clip(string(choice["finish_reason"]), 60))
	case said.odd:
		return detector.Transient, "the answer's content has an unknown form"
	case strings.TrimSpace(said.text) == "" && len(said.calls) == 0 && said.reasoning != "":
		return detector.Empty, "the model reasoned and then said nothing"
	case strings.TrimSpace(said.text) == "" && len(said.calls) == 0:
		return detector.Empty, "the model said nothing"
	}
	return detector.OK, ""
}

// usage reads token counts. What is absent is unknown, not 0 (row 14). Reasoning is
// part of the completion; where the total shows that a server counts it beside the
// completion, it is added.
func usage(o object) detector.Usage {
	u := detector.Usage{Prompt: o.integer("prompt_tokens"), Completion: o.integer("completion_tokens")}
	u.Reasoning = parse(o["completion_tokens_details"]).integer("reasoning_tokens")
	u.Cached = parse(o["prompt_tokens_details"]).integer("cached_tokens")
	if u.Cached == nil {
		u.Cached = o.integer("prompt_cache_hit_tokens") // DeepSeek
	}
	total := o.integer("total_tokens")
	if total != nil && u.Prompt != nil && u.Completion != nil && u.Reasoning != nil && *total == *u.Prompt+*u.Completion+*u.Reasoning {
		all := *u.Completion + *u.Reasoning
		u.Completion = &all
	}
	return u
}

// clip cuts s after n bytes at a whole rune.
func clip(s string, n int) string {
	s = strings.TrimSpace(s)
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "") + "..."
}
