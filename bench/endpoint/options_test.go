package endpoint_test

import (
	"math"
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/youden-bench/youden/bench/endpoint"
	"github.com/youden-bench/youden/bench/redact"
)

func TestOptionsThatAreWrong(t *testing.T) {
	minus, three, nan := -0.1, 3.0, math.NaN()
	for want, change := range map[string]func(*endpoint.Options){
		"base_url: the URL of an endpoint needs a scheme":   func(o *endpoint.Options) { o.BaseURL = "" },
		"must not hold a user name or password":             func(o *endpoint.Options) { o.BaseURL = "https://u:hunter2@host/v1" },
		"must not hold a query":                             func(o *endpoint.Options) { o.BaseURL = "https://host/v1?key=hunter2" },
		"must have http or https":                           func(o *endpoint.Options) { o.BaseURL = "ftp://host/v1" },
		"which the bench adds itself":                       func(o *endpoint.Options) { o.BaseURL = "https://host/v1/chat/completions" },
		"sends the API key over plain http to example.com":  func(o *endpoint.Options) { o.BaseURL = "http://example.com/v1" },
		"sends the API key over plain http to 93.184.215.1": func(o *endpoint.Options) { o.BaseURL = "http://93.184.215.1/v1" },
		"no model is named":                                 func(o *endpoint.Options) { o.Model = "" },
		"there is no ledger":                                func(o *endpoint.Options) { o.Ledger = nil },
		"temperature is -0.1":                               func(o *endpoint.Options) { o.Temperature = &minus },
		"temperature is 3":                                  func(o *endpoint.Options) { o.Temperature = &three },
		"temperature is NaN":                                func(o *endpoint.Options) { o.Temperature = &nan },
		"max_tokens is -1":                                  func(o *endpoint.Options) { o.MaxTokens = -1 },
		"max_tokens_field is \"tokens\"":                    func(o *endpoint.Options) { o.MaxTokensField = "tokens" },
		"concurrency and timeouts":                          func(o *endpoint.Options) { o.Timeouts.Total = -1 },
		"price must not be negative":                        func(o *endpoint.Options) { o.Price = &endpoint.Price{PromptMicros: -1} },
		"extra_body sets \"messages\"":                      func(o *endpoint.Options) { o.ExtraBody = map[string]any{"messages": 1} },
		"extra_body sets \"seed\"":                          func(o *endpoint.Options) { o.ExtraBody = map[string]any{"seed": 1} },
		"extra_body sets \"stream\"":                        func(o *endpoint.Options) { o.ExtraBody = map[string]any{"stream": true} },
		"extra_body sets \"model\"":                         func(o *endpoint.Options) { o.ExtraBody = map[string]any{"model": "x"} },
		"extra_body field \"f\" is no JSON":                 func(o *endpoint.Options) { o.ExtraBody = map[string]any{"f": math.Inf(1)} },
		"needs a canonical pseudo URL":                      func(o *endpoint.Options) { o.Base = http.DefaultTransport },
	} {
		o := options("http://127.0.0.1:1", memoryLedger(t))
		change(&o)
		_, err := endpoint.New(o)
		require.ErrorContains(t, err, want)
		require.ErrorContains(t, err, "endpoint test")
		assert.NotContains(t, err.Error(), "hunter2")
	}
}

func TestOptionsThatAreDoubtful(t *testing.T) {
	for url, warned := range map[string]bool{
		"http://127.0.0.1:8080/v1": false, "http://[::1]:8080/v1": false, "http://localhost/v1": false,
		"https://example.com/v1": false, "http://10.0.0.7/v1": true, "http://gpu-box:8000/v1": true, "http://gpu.local/v1": true,
	} {
		o := options("", memoryLedger(t))
		o.BaseURL = url
		assert.Equal(t, warned, len(client(t, o).Warnings()) > 0, url)
	}
	o := options("", memoryLedger(t))
	o.BaseURL, o.Key = "http://example.com/v1", redact.Secret{}
	assert.Empty(t, client(t, o).Warnings(), "without a key there is nothing to read")
}

func TestLimitsOfAnAnswer(t *testing.T) {
	s, r := serve(t, reply(200, "application/json", plain))
	o := options(s.URL+"/", memoryLedger(t))
	o.MaxTokens, o.MaxTokensField, o.Temperature, o.Key = 100, "max_completion_tokens", nil, redact.Secret{}
	c := client(t, o)
	for _, n := range []int{0, 7, 1000} {
		req := ask("q")
		req.MaxTokens = n
		complete(t, c, 0, req)
	}
	for i, want := range []string{"100", "7", "100"} {
		if i >= r.count() { // the third request is the first one again
			assert.Equal(t, 2, i)
			break
		}
		body := string(r.requests[i].body)
		assert.Contains(t, body, `{"max_completion_tokens":`+want+`,"messages"`)
		assert.NotContains(t, body, "temperature")
		assert.NotContains(t, r.requests[i].header, "Authorization")
		assert.Equal(t, "/v1/chat/completions", r.requests[i].path)
	}
}
