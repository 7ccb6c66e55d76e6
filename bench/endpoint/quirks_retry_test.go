package endpoint_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/youden-bench/youden/bench/endpoint"
	"github.com/youden-bench/youden/detector"
)

func limitError(text string) string {
	return apiError("rate_limit_exceeded", "requests", text)
}

// retryQuirks are about failures, limits and quotas (spec/peers.md section 3.1 and
// rows 16 to 22 of 3.2). With a random number of one half the waits without a header
// are 0.25, 0.5, 1, 2, 4, 8 and 15 seconds.
var retryQuirks = []quirk{
	{name: "500, then an answer", from: "3.1", serve: script(refuse(500, ""), good()), status: detector.OK, attempts: 2, waited: 250 * time.Millisecond},
	{name: "503, then an answer", from: "3.1", serve: script(refuse(503, ""), good()), status: detector.OK, attempts: 2, waited: 250 * time.Millisecond},
	{name: "408, then an answer", from: "3.1", serve: script(refuse(408, ""), good()), status: detector.OK, attempts: 2, waited: 250 * time.Millisecond},
	{name: "409, then an answer", from: "3.1", serve: script(refuse(409, ""), good()), status: detector.OK, attempts: 2, waited: 250 * time.Millisecond},
	{name: "425, then an answer", from: "3.1", serve: script(refuse(425, ""), good()), status: detector.OK, attempts: 2, waited: 250 * time.Millisecond},
	{name: "529, then an answer", from: "Anthropic", serve: script(refuse(529, `{"error":{"type":"overloaded_error"}}`), good()), status: detector.OK, attempts: 2, waited: 250 * time.Millisecond},
	{
		name: "502 with HTML for ever", from: "3.1", serve: script(refuse(502, "<html>"+finding)),
		status: detector.Transient, attempts: 7, waited: 15750 * time.Millisecond, detail: "given up after 6 further attempts",
	},
	{
		name: "429 with a wait, twice", from: "3.1",
		serve:  script(refuse(429, limitError("x"), "Retry-After", "2"), refuse(429, limitError("x"), "Retry-After", "2"), good()),
		status: detector.OK, attempts: 3, waited: 4750 * time.Millisecond, // at promptfoo it was 5.4 s
	},
	{
		name: "429 without a header, twice", from: "3.1, row 20", serve: script(refuse(429, ""), refuse(429, ""), good()),
		status: detector.OK, attempts: 3, waited: 750 * time.Millisecond, // at promptfoo it was 121 s
	},
	{
		name: "429 for ever", from: "row 16", serve: script(refuse(429, limitError("x"))),
		options: func(o *endpoint.Options) { o.Retry.Budget = 20 * time.Second },
		status:  detector.RateLimited, attempts: 7, waited: 15750 * time.Millisecond, detail: "given up",
	},
	{
		name: "no retries, as configured", from: "row 17", serve: script(refuse(429, ""), good()),
		options: func(o *endpoint.Options) { o.Retry.Max = -1 },
		status:  detector.RateLimited, attempts: 1,
	},
	{
		name: "the wait in milliseconds", from: "row 19: Azure", serve: script(refuse(429, "", "Retry-After-Ms", "1500", "Retry-After", "2"), good()),
		status: detector.OK, attempts: 2, waited: 1750 * time.Millisecond,
	},
	{
		name: "the wait as a date", from: "row 19",
		serve:  script(refuse(429, "", "Date", "Mon, 30 Nov 2026 09:15:00 GMT", "Retry-After", "Mon, 30 Nov 2026 09:15:07 GMT"), good()),
		status: detector.OK, attempts: 2, waited: 7250 * time.Millisecond,
	},
	{
		name: "the wait as 1m30s", from: "row 19", serve: script(refuse(429, "", "Retry-After", "1m30s"), good()),
		status: detector.OK, attempts: 2, waited: 90250 * time.Millisecond,
	},
	{
		name: "the wait in the limit's headers", from: "row 19: OpenAI",
		serve:  script(refuse(429, "", "X-Ratelimit-Remaining-Requests", "0", "X-Ratelimit-Reset-Requests", "6s", "X-Ratelimit-Remaining-Tokens", "90000", "X-Ratelimit-Reset-Tokens", "40s"), good()),
		status: detector.OK, attempts: 2, waited: 6250 * time.Millisecond,
	},
	{
		name: "the wait in words", from: "row 19: Groq", serve: script(refuse(429, limitError("Rate limit reached. Please try again in 7.66s. Visit ...")), good()),
		status: detector.OK, attempts: 2, waited: 7910 * time.Millisecond,
	},
	{
		name: "the wait in the details", from: "Gemini",
		serve:  script(refuse(429, `[{"error":{"code":429,"message":"Resource exhausted","status":"RESOURCE_EXHAUSTED","details":[{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"34s"}]}}]`), good()),
		status: detector.OK, attempts: 2, waited: 34250 * time.Millisecond,
	},
	{
		name: "a wait in the past", from: "row 19", serve: script(refuse(429, "", "Retry-After", "Mon, 30 Nov 2020 09:15:07 GMT"), good()),
		status: detector.OK, attempts: 2, waited: 250 * time.Millisecond,
	},
	{
		name: "a wait that is none", from: "row 19", serve: script(refuse(429, "", "Retry-After", "soon"), good()),
		status: detector.OK, attempts: 2, waited: 250 * time.Millisecond,
	},
	{
		name: "the server forbids another attempt", from: "official clients", serve: script(refuse(500, "", "X-Should-Retry", "false"), good()),
		status: detector.Transient, attempts: 1,
	},
	{
		name: "the server wants another attempt", from: "official clients", serve: script(refuse(400, apiError("", "", "try me"), "X-Should-Retry", "true"), good()),
		status: detector.OK, attempts: 2, waited: 250 * time.Millisecond,
	},
	{
		name: "a quota", from: "3.1, row 17", serve: script(refuse(429, apiError("insufficient_quota", "insufficient_quota", "You exceeded your current quota, please check your plan and billing details.")), good()),
		status: detector.RateLimited, attempts: 1, cause: endpoint.CauseQuota,
	},
	{
		name: "no money", from: "row 17: OpenRouter", serve: script(refuse(402, `{"error":{"message":"Insufficient credits","code":402}}`), good()),
		status: detector.RateLimited, attempts: 1, cause: endpoint.CauseQuota,
	},
	{
		name: "a wait of an hour", from: "row 17", serve: script(refuse(429, limitError("x"), "Retry-After", "3600"), good()),
		status: detector.RateLimited, attempts: 1, cause: endpoint.CauseQuota, detail: "it can go on after 2027-01-15T09:00:00Z",
	},
	{
		name: "a limit of the day", from: "row 17: OpenRouter", serve: script(refuse(429, `{"error":{"message":"Rate limit exceeded: free-models-per-day","code":429}}`), good()),
		status: detector.RateLimited, attempts: 1, cause: endpoint.CauseQuota,
	},
	{
		name: "a limit of the day that is over soon", from: "OpenAI", serve: script(refuse(429, limitError("Rate limit reached on requests per day (RPD). Please try again in 7.2s.")), good()),
		status: detector.OK, attempts: 2, waited: 7450 * time.Millisecond,
	},
	{
		name: "closed for maintenance", from: "row 17", serve: script(refuse(503, "", "Retry-After", "7200"), good()),
		status: detector.RateLimited, attempts: 1, cause: endpoint.CauseQuota, detail: "it can go on after 2027-01-15T10:00:00Z",
	},
	{
		name: "a lost connection is not tried again", from: "spec/ledger.md 3.2", serve: script(reply200{raw: nothing}, good()),
		status: detector.Transient, attempts: 1,
	},
	{
		name: "a cut answer is not tried again", from: "spec/ledger.md 3.2",
		serve:  script(reply200{raw: "HTTP/1.1 200 OK\r\nContent-Length: 5000\r\n\r\n" + plain}, good()),
		status: detector.Transient, attempts: 1,
	},
	{
		name: "no first byte", from: "row 22", serve: script(reply200{hang: true}, good()),
		options: func(o *endpoint.Options) { o.Timeouts.FirstByte = 30 * time.Millisecond },
		status:  detector.Timeout, attempts: 1, detail: "waited 30ms for the first byte",
	},
	{
		name: "a 400 is not tried again", from: "3.1", serve: script(refuse(400, apiError("", "invalid_request_error", "no")), good()),
		status: detector.Config, attempts: 1,
	},
	{
		name: "a refused key is not tried again", from: "3.1", serve: script(refuse(401, apiError("invalid_api_key", "", "no")), good()),
		status: detector.Auth, attempts: 1,
	},
	{
		name: "the context is too small", from: "3.1, row 14", serve: script(refuse(400, apiError("context_length_exceeded", "invalid_request_error", "This model's maximum context length is 8192 tokens. Please reduce max_tokens.")), good()),
		status: detector.Context, attempts: 1,
		check: func(t *testing.T, _ detector.Answer, sent []map[string]any) {
			assert.Contains(t, sent[0], "max_tokens", "the message names a parameter, and is not about it")
		},
	},
}
