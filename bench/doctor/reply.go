package doctor

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
)

// maxReply bounds what is read of an answer.
const maxReply = 5 << 20

// reply is what came back for one call.
type reply struct {
	err         error // of the connection
	status      int
	contentType string
	body        []byte

	message     json.RawMessage
	content     string
	finish      string
	calls       []toolCall
	choices     int
	logprobs    bool
	usage       usage
	model       string
	fingerprint string
	fault       string // what an error in the body says
}

type toolCall struct {
	ID       string `json:"id"`
	Function struct {
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
	} `json:"function"`
}

// arguments are text, or an object where a server breaks the contract.
func (c toolCall) arguments() (text string, isText bool) {
	if json.Unmarshal(c.Function.Arguments, &text) == nil {
		return text, true
	}
	return string(c.Function.Arguments), false
}

type usage struct {
	Prompt     *int64 `json:"prompt_tokens"`
	Completion *int64 `json:"completion_tokens"`
	Details    *struct {
		Cached *int64 `json:"cached_tokens"`
	} `json:"prompt_tokens_details"`
	More *struct {
		Reasoning *int64 `json:"reasoning_tokens"`
	} `json:"completion_tokens_details"`
}

// ok reports whether a model answered.
func (r *reply) ok() bool {
	return r.err == nil && r.status >= 200 && r.status < 300 && r.fault == "" && r.choices > 0
}

// refused reports whether the request itself was turned down, rather than the
// caller, or the moment.
func (r *reply) refused() bool {
	switch r.status {
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusPaymentRequired, http.StatusRequestTimeout,
		http.StatusConflict, http.StatusTooEarly, http.StatusTooManyRequests:
		return false
	}
	return r.err == nil && r.status >= 400 && r.status < 500
}

// why says what went wrong, in a line.
func (r *reply) why() string {
	switch {
	case r.err != nil:
		return r.err.Error()
	case r.fault != "":
		return fmt.Sprintf("HTTP %d: %s", r.status, clip(r.fault))
	case r.status < 200 || r.status > 299:
		return fmt.Sprintf("HTTP %d: %s", r.status, clip(string(r.body)))
	}
	return "the answer holds no choice: " + clip(string(r.body))
}

// clip shortens a text to a line.
func clip(s string) string {
	const most = 160
	s = strings.Join(strings.Fields(s), " ")
	if len(s) > most {
		s = s[:most] + "..."
	}
	return strings.ToValidUTF8(s, "?")
}

// send makes one HTTP request; redirects are not followed.
func (e *exam) send(ctx context.Context, method, path string, body []byte) *reply {
	ctx, cancel := context.WithTimeout(ctx, e.patient.Timeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, strings.TrimSuffix(e.patient.Record.BaseURL, "/")+path, bytes.NewReader(body))
	if err != nil {
		return &reply{err: errors.New("the base URL makes no request")} // it may hold a secret
	}
	req.Header = http.Header{"Accept": {"application/json"}, "User-Agent": {"youden"}}
	if len(body) > 0 {
		req.Header.Set("Content-Type", "application/json")
	}
	if !e.patient.Key.IsZero() {
		req.Header.Set("Authorization", "Bearer "+e.patient.Key.Reveal())
	}
	resp, err := e.patient.Base.RoundTrip(req)
	if err != nil {
		return &reply{err: err}
	}
	raw, err := io.ReadAll(io.LimitReader(resp.Body, maxReply))
	if err := errors.Join(err, resp.Body.Close()); err != nil {
		return &reply{err: fmt.Errorf("the answer broke off after %d bytes: %w", len(raw), err)}
	}
	r := &reply{status: resp.StatusCode, contentType: resp.Header.Get("Content-Type"), body: bytes.TrimSpace(raw)}
	r.read(r.body)
	return r
}

// read takes apart an answer of one piece. What does not fit stays empty: servers
// differ in everything, and the probe must not fall over any of it.
func (r *reply) read(body []byte) {
	var top struct {
		Model       string            `json:"model"`
		Fingerprint string            `json:"system_fingerprint"`
		Choices     []json.RawMessage `json:"choices"`
		Usage       usage             `json:"usage"`
		Error       json.RawMessage   `json:"error"`
		Detail      json.RawMessage   `json:"detail"`
	}
	if json.Unmarshal(body, &top) != nil {
		return
	}
	r.model, r.fingerprint, r.usage, r.choices = top.Model, top.Fingerprint, top.Usage, len(top.Choices)
	for _, raw := range []json.RawMessage{top.Error, top.Detail} {
		if len(raw) > 0 && string(raw) != "null" && r.fault == "" {
			r.fault = errorText(raw)
		}
	}
	if len(top.Choices) == 0 {
		return
	}
	var choice struct {
		Message  json.RawMessage `json:"message"`
		Finish   string          `json:"finish_reason"`
		Logprobs struct {
			Content []json.RawMessage `json:"content"`
		} `json:"logprobs"`
	}
	if json.Unmarshal(top.Choices[0], &choice) != nil {
		return
	}
	r.message, r.finish, r.logprobs = choice.Message, choice.Finish, len(choice.Logprobs.Content) > 0
	var m struct {
		Content json.RawMessage `json:"content"`
		Calls   []toolCall      `json:"tool_calls"`
	}
	if json.Unmarshal(choice.Message, &m) != nil {
		return
	}
	r.calls = m.Calls
	if json.Unmarshal(m.Content, &r.content) != nil {
		r.content = contentParts(m.Content)
	}
}

func contentParts(raw json.RawMessage) string {
	var parts []struct {
		Text string `json:"text"`
	}
	if json.Unmarshal(raw, &parts) != nil {
		return ""
	}
	var text strings.Builder
	for _, p := range parts {
		text.WriteString(p.Text)
	}
	return text.String()
}

// errorText is the message of an error, whatever its shape.
func errorText(raw json.RawMessage) string {
	var e struct {
		Message string `json:"message"`
	}
	if json.Unmarshal(raw, &e) == nil && e.Message != "" {
		return e.Message
	}
	return string(raw)
}
