package ledger

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// Each field of an identity must move it (spec/ledger.md I14).
func TestEveryFieldChangesTheIdentity(t *testing.T) {
	base := call("body")
	calls := map[string]func(*Call){
		"adapter name":    func(c *Call) { c.Adapter.Name += "x" },
		"adapter version": func(c *Call) { c.Adapter.Version += "x" },
		"scheme":          func(c *Call) { c.Endpoint.Scheme = "https" },
		"host":            func(c *Call) { c.Endpoint.Host = "localhost" },
		"port":            func(c *Call) { c.Endpoint.Port = "8080" },
		"base path":       func(c *Call) { c.Endpoint.BasePath = "/v2" },
		"method":          func(c *Call) { c.Method = "PUT" },
		"path":            func(c *Call) { c.Path = "/completions" },
		"body":            func(c *Call) { c.Body = []byte("other") },
		"shifted":         func(c *Call) { c.Method, c.Path = "POST/", "chat/completions" },
	}
	seen := map[Digest]string{base.Digest(): "base"}
	for name, change := range calls {
		c := base
		change(&c)
		d := c.Digest()
		assert.Empty(t, seen[d], name)
		seen[d] = name
	}
	s := Sample{Scope: "p", Call: base.Digest(), Index: 1, Epoch: 0}
	samples := map[Digest]bool{s.Digest(): true}
	for _, other := range []Sample{
		{Scope: "q", Call: s.Call, Index: 1}, {Scope: "p", Index: 1}, {Scope: "p", Call: s.Call, Index: 2}, {Scope: "p", Call: s.Call, Index: 1, Epoch: 1},
	} {
		assert.False(t, samples[other.Digest()])
		samples[other.Digest()] = true
	}
	store, parent := Digest{1}, Digest{9}
	attempts := map[string]bool{}
	for _, a := range []Attempt{
		newAttempt(store, s.Digest(), 1, nil), newAttempt(Digest{2}, s.Digest(), 1, nil), newAttempt(store, Digest{3}, 1, nil),
		newAttempt(store, s.Digest(), 2, nil), newAttempt(store, s.Digest(), 1, &parent),
	} {
		assert.False(t, attempts[a.WireID()])
		attempts[a.WireID()] = true
		assert.Regexp(t, `^[0-9a-f]{16}-[12]$`, a.Header())
	}
}

func TestDigestFieldsDoNotRunTogether(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		fields := rapid.SliceOf(rapid.SliceOfN(rapid.Byte(), 0, 4))
		a, b := fields.Draw(t, "a"), fields.Draw(t, "b")
		same := len(a) == len(b)
		for i := range a {
			same = same && string(a[i]) == string(b[i])
		}
		if (digest("d", a...) == digest("d", b...)) != same {
			t.Fatalf("%q and %q", a, b)
		}
	})
}

func TestDigestText(t *testing.T) {
	d := digest("x")
	text, err := json.Marshal(d)
	require.NoError(t, err)
	var back Digest
	require.NoError(t, json.Unmarshal(text, &back))
	assert.Equal(t, d, back)
	require.Error(t, back.UnmarshalText([]byte("12")))
	require.Error(t, back.UnmarshalText([]byte(d.String()[:62]+"zz")))
}

func TestParseEndpoint(t *testing.T) {
	for raw, want := range map[string]Endpoint{
		"https://API.Example.com/v1/":  {"https", "api.example.com", "443", "/v1"},
		"http://127.0.0.1:8080":        {"http", "127.0.0.1", "8080", ""},
		"http://[0:0::1]/a//b/../v1":   {"http", "::1", "80", "/a/v1"},
		"sim://default/v1":             {"sim", "default", "", "/v1"},
		"https://api.example.com:443/": {"https", "api.example.com", "443", ""},
	} {
		got, err := ParseEndpoint(raw)
		require.NoError(t, err, raw)
		assert.Equal(t, want, got, raw)
	}
	for raw, want := range map[string]string{
		"":                            "needs a scheme and a host",
		"/v1":                         "needs a scheme and a host",
		"localhost:8080/v1":           "needs a scheme and a host",
		"https://u:hunter2@host/v1":   "must not hold a user name",
		"https://host/v1?key=hunter2": "must not hold a query",
		"https://host/v1#hunter2":     "must not hold a query",
		"http://hunter2\x7f":          "does not parse",
	} {
		_, err := ParseEndpoint(raw)
		require.ErrorContains(t, err, want, raw)
		assert.NotContains(t, err.Error(), "hunter2")
	}
}
