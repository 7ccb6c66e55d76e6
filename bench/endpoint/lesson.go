package endpoint

import (
	"encoding/json"
	"net/http"
	"regexp"
	"strings"

	"github.com/youden-bench/youden/detector"
)

// form is how requests differ from the configured ones, as a set of lessons that
// the endpoint taught by refusing a parameter. Lessons are only ever added.
type form uint16

// The lessons.
const (
	swapMaxTokens form = 1 << iota // the other field for the limit
	dropTemperature
	dropSeed
	formatObject // json_object instead of json_schema
	formatText   // no response_format
	streamOn
	dropStreamOptions
	callContentEmpty // "" as the content of a turn that is only tool calls
	callContentOmit  // no content there at all
	dropReasoning    // earlier reasoning is not sent back
)

// lessonWords say for a lesson which parameter it is about and what is done now.
var lessonWords = map[form][2]string{
	swapMaxTokens:     {"max_tokens", "sent in the other field for the limit"},
	dropTemperature:   {"temperature", "left out: the endpoint's own applies"},
	dropSeed:          {"seed", "left out"},
	formatObject:      {"response_format", "json_object in place of json_schema"},
	formatText:        {"response_format", "left out"},
	streamOn:          {"stream", "true"},
	dropStreamOptions: {"stream_options", "left out"},
	callContentEmpty:  {"messages.content", "an empty text beside tool calls"},
	callContentOmit:   {"messages.content", "left out beside tool calls"},
	dropReasoning:     {"messages.reasoning", "left out"},
}

func (f form) has(lesson form) bool { return f&lesson != 0 }

// subsets yields all smaller forms, the configured one first.
func (f form) subsets(yield func(form) bool) {
	for sub := form(0); sub != f; sub = (sub - f) & f {
		if !yield(sub) {
			return
		}
	}
}

// pupil says what may be learned.
type pupil struct {
	maxTokensField string // as configured
	swaps          bool   // the field may be swapped
	drops          bool   // temperature, seed and response_format may go
	streams        bool   // streaming may be turned on
	callContent    bool   // the content beside tool calls may change
}

// lesson returns what a refusal teaches about the request that it refused, or 0.
// sent is that request: nothing is learned about what was not in it.
func (p pupil) lesson(sent object, r reading) form {
	if r.err == nil || r.Status != detector.Config || r.code != http.StatusBadRequest && r.code != http.StatusUnprocessableEntity {
		return 0
	}
	e := refusal{apiError: r.err}
	switch {
	case p.swaps && sent.has(p.maxTokensField) && e.names(p.maxTokensField) && (e.unsupported() || e.mentions(otherField(p.maxTokensField))):
		return swapMaxTokens
	case p.drops && sent.has("temperature") && (e.names("temperature") && e.unsuitable() || e.param("temperature")):
		return dropTemperature
	case p.drops && sent.has("seed") && (e.names("seed") && e.unsuitable() || e.param("seed")):
		return dropSeed
	case p.streams && !sent.streams() && e.wantsStream():
		return streamOn
	case sent.has("stream_options") && e.names("stream_options"):
		return dropStreamOptions
	case p.drops && sent.has("response_format") && e.aboutFormat():
		if parse(sent["response_format"]).text("type") == "json_schema" {
			return formatObject
		}
		return formatText
	}
	return p.lessonOfMessages(sent, e)
}

// lessonOfMessages is about earlier turns: servers disagree on what stands beside
// tool calls (spec/peers.md section 3.2, row 7) and on reasoning that comes back.
func (p pupil) lessonOfMessages(sent object, e refusal) form {
	aboutReasoning := e.mentions("reasoning_content", "reasoning_details", "reasoning") && e.unsupported()
	aboutContent := p.callContent && e.mentions("content") && e.says("null", "nil", "none", "must", "should", "expected", "missing", "required", "empty", "invalid")
	if !aboutReasoning && !aboutContent {
		return 0
	}
	for _, raw := range items(sent["messages"]) {
		m := parse(raw)
		content, there := m["content"]
		switch {
		case aboutReasoning && (m.has("reasoning_content") || m.has("reasoning") || m.has("reasoning_details")):
			return dropReasoning
		case !aboutContent || !there || len(m.list("tool_calls")) == 0:
		case isNull(content):
			return callContentEmpty
		case string(content) == `""`:
			return callContentOmit
		}
	}
	return 0
}

func (o object) streams() bool { return string(o["stream"]) == "true" }

// refusal is an error that may be about a parameter. There is no common code for
// it, so its words are read: OpenAI's, and those of vLLM, Azure, Groq, Mistral,
// Gemini, LM Studio and gateways between.
type refusal struct{ *apiError }

// param reports whether the error names the parameter in a field made for that.
func (e refusal) param(name string) bool {
	for _, p := range e.params {
		if p == name || strings.HasPrefix(p, name+".") || strings.HasPrefix(p, name+"[") || strings.HasSuffix(p, "."+name) {
			return true
		}
	}
	return false
}

func (e refusal) names(name string) bool { return e.param(name) || e.mentions(name) }

// mentions reports whether a word stands by itself in the message.
func (e refusal) mentions(words ...string) bool {
	text := strings.ToLower(e.message)
	for _, w := range words {
		for rest := text; w != ""; {
			i := strings.Index(rest, w)
			if i < 0 {
				break
			}
			end := i + len(w)
			if (i == 0 || !isNameByte(rest[i-1])) && (end == len(rest) || !isNameByte(rest[end])) {
				return true
			}
			rest = rest[end:]
		}
	}
	return false
}

func isNameByte(b byte) bool {
	return b == '_' || b >= 'a' && b <= 'z' || b >= '0' && b <= '9'
}

// unsupported reports whether the parameter itself is not taken, whatever its value.
func (e refusal) unsupported() bool {
	return e.is("unsupported_parameter", "unknown_parameter", "unrecognized_parameter", "extra_forbidden") ||
		e.says("unsupported", "not supported", "not support", "n't support", "unrecognized", "unknown", "unexpected",
			"extra inputs", "extra fields", "not permitted", "not allowed", "cannot find field", "not available", "unavailable", "should not be", "deprecated")
}

// unsuitable reports whether the parameter or its value is not taken.
func (e refusal) unsuitable() bool {
	return e.unsupported() || e.is("unsupported_value", "invalid_value", "invalid_type") ||
		e.says("only", "must be", "should be", "invalid", "out of range", "less than", "greater than", "not valid")
}

// formatNames are what servers call the format of an answer when they refuse it.
var formatNames = regexp.MustCompile(`\b(response_?format|response_schema|json[_ ](schema|object|mode)|structured[_ ]outputs?|guided[_ ](json|decoding)|grammar)\b`)

func (e refusal) aboutFormat() bool {
	return e.param("response_format") || formatNames.MatchString(strings.ToLower(e.message))
}

func (e refusal) wantsStream() bool {
	return e.names("stream") && e.says("only support", "only stream", "must be true", "must be set to true", "requires stream", "streaming only", "stream mode", "enable stream", "set stream", "stream=true", "non-streaming", "non streaming")
}

// apply changes a request into the form.
func (f form) apply(request object, configuredField string) {
	if f.has(swapMaxTokens) {
		request[otherField(configuredField)] = request[configuredField]
		delete(request, configuredField)
	}
	if f.has(dropTemperature) {
		delete(request, "temperature")
	}
	if f.has(dropSeed) {
		delete(request, "seed")
	}
	if _, asked := request["response_format"]; asked {
		switch {
		case f.has(formatText):
			delete(request, "response_format")
		case f.has(formatObject) && parse(request["response_format"]).text("type") == "json_schema":
			request["response_format"] = json.RawMessage(`{"type":"json_object"}`)
		}
	}
	if f.has(streamOn) {
		request["stream"] = json.RawMessage("true")
		request["stream_options"] = json.RawMessage(`{"include_usage":true}`)
	}
	if f.has(dropStreamOptions) {
		delete(request, "stream_options")
	}
}
