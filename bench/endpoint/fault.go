package endpoint

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/youden-bench/youden/detector"
)

// apiError is an error object of an answer, whatever its dialect.
type apiError struct {
	status  int // a numeric code
	code    string
	kind    string
	message string
}

// errorIn finds the error in a body: {"error":{...}}, {"error":"..."}, vLLM's
// flat object, FastAPI's {"detail":...} or a plain {"message":...}
// (spec/libraries.md 1.2, rows 9 and 10).
func errorIn(o object) apiError {
	if text, ok := decodeText(o["error"]); ok {
		return apiError{message: text, code: o.text("code"), kind: o.text("type")}
	}
	from := o
	if inner := parse(o["error"]); inner != nil {
		from = inner
	}
	e := apiError{code: from.text("code"), kind: from.text("type"), message: from.text("message")}
	if n := from.integer("code"); n != nil {
		e.status = int(min(*n, 999))
	} else if n, err := strconv.Atoi(e.code); err == nil {
		e.status = n
	}
	for _, field := range []string{"message", "detail", "error"} {
		if e.message == "" && from.has(field) {
			e.message = string(from[field])
		}
	}
	return e
}

// failedAnswer reads an answer with an HTTP status outside 200..299.
func failedAnswer(status int, contentType string, text []byte) detector.Answer {
	var e apiError
	if json.Valid(text) {
		o := parse(text)
		if list := items(text); len(list) > 0 { // Gemini wraps the object in an array
			o = parse(list[0])
		}
		e = errorIn(o)
	} else if !isHTML(contentType, text) {
		e.message = string(text)
	}
	return fault(detector.Answer{}, status, e)
}

// fault gives an answer that reports an error its status. status is the HTTP
// status, 0 when the error came in a successful answer.
func fault(a detector.Answer, status int, e apiError) detector.Answer {
	var hint string
	a.Status, hint = classify(status, e)
	words := e.words(status) + hint
	if a.Status == detector.RateLimited && e.outOfQuota(status) {
		words = CauseQuota.detail(words)
	}
	a.Detail = words
	return a
}

func (e apiError) words(status int) string {
	parts := []string{"an error in the answer"}
	if status != 0 {
		parts[0] = strings.TrimSpace(fmt.Sprintf("HTTP %d %s", status, http.StatusText(status)))
	}
	if name := strings.TrimSpace(e.code + " " + e.kind); name != "" {
		parts = append(parts, name)
	} else if e.status != 0 && e.status != status {
		parts = append(parts, strconv.Itoa(e.status))
	}
	if e.message != "" {
		parts = append(parts, clip(e.message, 300))
	}
	return strings.Join(parts, ": ")
}

// is reports whether the error's code or type is one of names.
func (e apiError) is(names ...string) bool {
	for _, n := range names {
		if strings.EqualFold(e.code, n) || strings.EqualFold(e.kind, n) {
			return true
		}
	}
	return false
}

// says reports whether the message holds one of phrases, given in lower case.
func (e apiError) says(phrases ...string) bool {
	text := strings.ToLower(e.message)
	for _, p := range phrases {
		if strings.Contains(text, p) {
			return true
		}
	}
	return false
}

func (e apiError) outOfQuota(status int) bool {
	return status == http.StatusPaymentRequired || e.status == http.StatusPaymentRequired ||
		e.is("insufficient_quota", "billing_hard_limit_reached", "billing_not_active", "insufficient_balance") ||
		status == http.StatusTooManyRequests && e.says("exceeded your current quota", "insufficient balance", "insufficient credits")
}

// overContext reports whether the prompt does not fit the model. Where the code
// does not say so, the messages of servers are all there is; only a refusal of
// the request is read that way.
func (e apiError) overContext(status int) bool {
	if e.is("context_length_exceeded", "exceed_context_size_error", "context_window_exceeded", "prompt_too_long") {
		return true
	}
	if status == http.StatusBadRequest || status == http.StatusUnprocessableEntity {
		return e.says("maximum context length", "context length", "context window", "context size",
			"prompt is too long", "input is too long", "reduce the length of the messages", "maximum input length")
	}
	return false
}

func (e apiError) filtered(status int) bool {
	return e.is("content_filter", "responsibleaipolicyviolation", "content_policy_violation", "content_filter_error") ||
		status == http.StatusBadRequest && e.says("content management policy", "content policy", "safety system") ||
		status == http.StatusForbidden && e.says("moderation", "flagged") // OpenRouter
}

// classify gives an error its status, and a hint for whoever has to see to it.
func classify(status int, e apiError) (detector.Status, string) {
	if status == 0 { // an error inside a successful answer carries its own status
		status = e.status
	}
	switch {
	case e.outOfQuota(status):
		return detector.RateLimited, ""
	case e.overContext(status), status == http.StatusRequestEntityTooLarge:
		return detector.Context, "" // a 413 is about this case, and must not stop the capture
	case e.filtered(status):
		return detector.Filtered, ""
	case status == http.StatusUnauthorized, status == http.StatusForbidden,
		e.is("invalid_api_key", "authentication_error", "permission_denied", "API_KEY_INVALID"):
		return detector.Auth, " (is the key in the variable that api_key_env names, and may it use this model?)"
	case status == http.StatusTooManyRequests:
		return detector.RateLimited, ""
	case status == http.StatusRequestTimeout, status == http.StatusConflict, status == http.StatusTooEarly, status >= 500:
		return detector.Transient, ""
	case status >= 200 && status < 300, status == 0:
		return classifyName(e), ""
	case status >= 300 && status < 400:
		return detector.Config, " (a redirect is never followed: set base_url to where the server is)"
	case status == http.StatusNotFound && !e.is("model_not_found"), status == http.StatusMethodNotAllowed:
		return detector.Config, " (are base_url and model right? base_url often must end in /v1)"
	}
	return detector.Config, ""
}

// classifyName reads an error that has no status at all. What is unknown is the
// endpoint's failure and worth another try, never an answer.
func classifyName(e apiError) detector.Status {
	switch {
	case e.is("rate_limit_exceeded", "rate_limit_error", "too_many_requests"):
		return detector.RateLimited
	case e.is("model_not_found", "invalid_request_error", "not_found_error", "unsupported_parameter", "BadRequestError", "NotFoundError"):
		return detector.Config
	}
	return detector.Transient
}
