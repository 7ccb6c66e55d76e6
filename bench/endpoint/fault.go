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
	params  []string // what the error names as wrong in the request
	wait    string   // how long to wait, where the body says it
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
	e.readPlaces(from)
	e.readDetails(from)
	return e
}

// readPlaces finds the names of parameters: OpenAI's param, and the path that
// pydantic gives, which servers in Python pass on (spec/endpoints.md section 3.3).
func (e *apiError) readPlaces(from object) {
	if param := from.text("param"); param != "" {
		e.params = append(e.params, param)
	}
	for _, raw := range from.list("detail") {
		for _, part := range parse(raw).list("loc") {
			if name, ok := decodeText(part); ok && name != "body" {
				e.params = append(e.params, name)
			}
		}
	}
}

// readDetails finds the wait in Google's RetryInfo and in what OpenRouter passes on
// of a provider's headers; and Azure's inner error, which says why a filter struck.
func (e *apiError) readDetails(from object) {
	for _, raw := range from.list("details") {
		detail := parse(raw)
		if delay := detail.text("retryDelay"); delay != "" {
			e.wait = delay
		}
		for _, violation := range detail.list("violations") {
			if id := parse(violation).text("quotaId"); id != "" {
				e.message += " (" + id + ")"
			}
		}
	}
	headers := parse(parse(from["metadata"])["headers"])
	for _, name := range []string{"Retry-After", "retry-after", "X-RateLimit-Reset", "x-ratelimit-reset"} {
		if e.wait == "" {
			e.wait = headers.text(name)
		}
	}
	if inner := parse(from["innererror"]).text("code"); inner != "" && e.code == "" {
		e.code = inner
	}
}

// failedAnswer reads an answer with an HTTP status outside 200..299.
func failedAnswer(status int, contentType string, text []byte) reading {
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
func fault(a detector.Answer, status int, e apiError) reading {
	r := reading{Answer: a, err: &e, code: status}
	if status == 0 { // an error inside a successful answer carries its own status
		r.code = e.status
	}
	var hint string
	r.Status, hint = classify(r.code, e)
	r.Detail = e.words(status) + hint
	if r.Status == detector.RateLimited && e.outOfQuota(r.code) {
		r.Detail = CauseQuota.detail(r.Detail)
	}
	return r
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
		status == http.StatusTooManyRequests && e.says("exceeded your current quota", "insufficient balance", "insufficient credits", "billing")
}

// ofTheDay reports whether a limit counts by the day, so that waiting for it is no
// matter of a capture.
func (e *apiError) ofTheDay() bool {
	return e.says("per day", "per-day", "perday", "daily", "(rpd)", "(tpd)") || strings.Contains(e.code+e.kind, "daily")
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
