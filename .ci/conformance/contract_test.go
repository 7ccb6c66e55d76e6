package conformance

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"
)

// contract is OpenAI's own description of its API.
type contract struct {
	compiler *jsonschema.Compiler
}

// openContract reads the description, or skips the test when it is not at hand.
func openContract(t *testing.T) *contract {
	t.Helper()
	data, err := os.ReadFile(sharedFile(t, "data/openai/chat-openapi.json"))
	require.NoError(t, err)
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
	require.NoError(t, err)
	c := &contract{jsonschema.NewCompiler()}
	c.compiler.DefaultDraft(jsonschema.Draft2020)
	require.NoError(t, c.compiler.AddResource("openai.json", nullable(doc)))
	return c
}

// nullable rewrites OpenAPI 3.0's `nullable: true`, which the description still
// uses in places and JSON Schema does not know.
func nullable(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for k, inner := range v {
			out[k] = nullable(inner)
		}
		if out["nullable"] == true {
			delete(out, "nullable")
			return map[string]any{"anyOf": []any{out, map[string]any{"type": "null"}}}
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = nullable(v[i])
		}
		return out
	}
	return v
}

// check validates a document against a named schema of the description.
func (c *contract) check(schema string, document []byte) error {
	compiled, err := c.compiler.Compile("openai.json#/components/schemas/" + schema)
	if err != nil {
		return fmt.Errorf("compile %s: %w", schema, err)
	}
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(document))
	if err != nil {
		return fmt.Errorf("%s: no JSON: %w", schema, err)
	}
	if err := compiled.Validate(v); err != nil {
		return fmt.Errorf("%s: %w\nin %s", schema, err, document)
	}
	return nil
}

// schemaOf names the schema of an answer.
func schemaOf(path string, status int) string {
	switch {
	case status >= 400:
		return "ErrorResponse"
	case strings.HasSuffix(path, "/models"):
		return "ListModelsResponse"
	case strings.Contains(path, "/models/"):
		return "Model"
	}
	return "CreateChatCompletionResponse"
}

// checkAnswer validates a whole answer, of one piece or a stream of events, and
// returns how many documents there were.
func (c *contract) checkAnswer(path string, status int, contentType string, body []byte) (documents int, err error) {
	if !strings.HasPrefix(contentType, "text/event-stream") {
		return 1, c.check(schemaOf(path, status), body)
	}
	var errs []error
	for line := range strings.Lines(string(body)) {
		data, ok := strings.CutPrefix(strings.TrimRight(line, "\r\n"), "data: ")
		if !ok || data == "[DONE]" {
			continue
		}
		schema := "CreateChatCompletionStreamResponse"
		var top map[string]json.RawMessage
		if json.Unmarshal([]byte(data), &top) == nil && top["error"] != nil {
			schema = "ErrorResponse"
		}
		errs = append(errs, c.check(schema, []byte(data)))
		documents++
	}
	return documents, errors.Join(errs...)
}

// inspector is the network between a client and the simulated endpoint: it
// validates each complete answer that passes.
type inspector struct {
	contract *contract

	mu        sync.Mutex
	documents int
	faults    []error
}

// RoundTrip implements http.RoundTripper.
func (i *inspector) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	body, broken := io.ReadAll(resp.Body)
	if err := resp.Body.Close(); err != nil {
		return nil, err
	}
	resp.Body = io.NopCloser(io.MultiReader(bytes.NewReader(body), failing{broken}))
	if i.contract == nil || broken != nil {
		return resp, nil
	}
	n, err := i.contract.checkAnswer(r.URL.Path, resp.StatusCode, resp.Header.Get("Content-Type"), body)
	i.mu.Lock()
	defer i.mu.Unlock()
	i.documents += n
	if err != nil {
		i.faults = append(i.faults, fmt.Errorf("%s %s: %d: %w", r.Method, r.URL.Path, resp.StatusCode, err))
	}
	return resp, nil
}

// failing ends a body as it ended on the wire.
type failing struct{ err error }

func (f failing) Read([]byte) (int, error) {
	if f.err == nil {
		return 0, io.EOF
	}
	return 0, f.err
}

// inspected returns the inspector of a test. Where the description is not at hand
// the client is still tested, and the missing half is said.
func inspected(t *testing.T) *inspector {
	t.Helper()
	i := &inspector{}
	t.Run("schema", func(t *testing.T) { i.contract = openContract(t) })
	t.Cleanup(func() {
		for _, err := range i.faults {
			t.Error(err)
		}
		t.Logf("validated against OpenAI's schema: %d documents", i.documents)
	})
	return i
}

// The check itself refuses answers that break the contract.
func TestContractRefusesBrokenAnswers(t *testing.T) {
	c := openContract(t)
	base := simulate(t)
	status, contentType, body := post(t, base, "", `{"model":"sim-strong","messages":[{"role":"user","content":"hello"}],"logprobs":true}`)
	require.Equal(t, http.StatusOK, status)
	_, err := c.checkAnswer("/v1/chat/completions", status, contentType, body)
	require.NoError(t, err)

	for _, broken := range []struct{ name, from, to string }{
		{"no id", `"id":`, `"di":`},
		{"another object", `"object":"chat.completion"`, `"object":"completion"`},
		{"created is text", `"created":1700000000`, `"created":"1700000000"`},
		{"an unknown finish_reason", `"finish_reason":"stop"`, `"finish_reason":"end"`},
		{"no logprobs", `"logprobs":`, `"probs":`},
		{"no refusal", `"refusal":`, `"denial":`},
		{"usage without a total", `"total_tokens":`, `"all_tokens":`},
		{"a role that is not the assistant's", `"role":"assistant"`, `"role":"model"`},
		{"another object inside", `"message":{`, `"message":[],"was":{`},
	} {
		t.Run(broken.name, func(t *testing.T) {
			text := strings.Replace(string(body), broken.from, broken.to, 1)
			require.NotEqual(t, string(body), text)
			_, err := c.checkAnswer("/v1/chat/completions", status, contentType, []byte(text))
			require.Error(t, err)
		})
	}
	_, err = c.checkAnswer("/v1/chat/completions", status, contentType, body[:len(body)-3])
	require.Error(t, err, "cut")
	_, err = c.checkAnswer("/v1/chat/completions", http.StatusBadRequest, "application/json", []byte(`{"error":{"message":"m","type":"t","code":400}}`))
	require.Error(t, err, "an error without param, and with a number as its code")
}

// post sends a body as it is, which no client would.
func post(t *testing.T, base, key, body string) (status int, contentType string, answer []byte) {
	t.Helper()
	req, err := http.NewRequest(http.MethodPost, base+"/chat/completions", strings.NewReader(body))
	require.NoError(t, err)
	req.Header.Set("Content-Type", "application/json")
	if key != "" {
		req.Header.Set("Authorization", "Bearer "+key)
	}
	resp, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	answer, err = io.ReadAll(resp.Body)
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	return resp.StatusCode, resp.Header.Get("Content-Type"), answer
}
