package redact_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/youden-bench/youden/bench/redact"
)

const key = `k3y/with+odd"chars&more=0123`

func TestSecretPrintsNothing(t *testing.T) {
	s := redact.NewSecret(key)
	type holder struct {
		Public redact.Secret
		hidden redact.Secret
		List   []redact.Secret
		Map    map[string]redact.Secret
		Ptr    *redact.Secret
	}
	h := holder{Public: s, hidden: s, List: []redact.Secret{s}, Map: map[string]redact.Secret{"a": s}, Ptr: &s}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d"} {
		for _, v := range []any{s, &s, h, &h, []any{h}} {
			text := fmt.Sprintf(verb, v)
			assert.NotContains(t, text, "k3y", verb)
			assert.NotContains(t, text, fmt.Sprintf("%x", key), verb)
			assert.NotContains(t, text, fmt.Sprintf("%X", key), verb)
		}
	}
	assert.Equal(t, redact.Mark, s.String())
	assert.Equal(t, redact.Mark, fmt.Sprintf("%#v", s))

	text, err := json.Marshal(h)
	require.NoError(t, err)
	assert.NotContains(t, string(text), "k3y")
	assert.Contains(t, string(text), `"Public":"[secret]"`)

	var log bytes.Buffer
	logger := slog.New(slog.NewTextHandler(&log, nil))
	logger.Info("call", "key", s, "holder", h, "list", h.List)
	slog.New(slog.NewJSONHandler(&log, nil)).Info("call", "key", s, "holder", h, "err", fmt.Errorf("with %v", s))
	assert.NotContains(t, log.String(), "k3y")

	assert.Equal(t, key, s.Reveal())
	assert.False(t, s.IsZero())
	assert.True(t, redact.Secret{}.IsZero())
	assert.True(t, redact.NewSecret("").IsZero())
	assert.Empty(t, redact.Secret{}.Reveal())
}

func TestFromEnv(t *testing.T) {
	t.Setenv("YOUDEN_TEST_KEY", "abc")
	s, err := redact.FromEnv("YOUDEN_TEST_KEY")
	require.NoError(t, err)
	assert.Equal(t, "abc", s.Reveal())

	_, err = redact.FromEnv("YOUDEN_TEST_KEY_THAT_IS_NOT_SET")
	require.ErrorContains(t, err, "YOUDEN_TEST_KEY_THAT_IS_NOT_SET")
	require.ErrorContains(t, err, "is not set")
	t.Setenv("YOUDEN_TEST_KEY", "")
	_, err = redact.FromEnv("YOUDEN_TEST_KEY")
	require.ErrorContains(t, err, "is empty")
	t.Setenv("YOUDEN_TEST_KEY", "abcdefgh12345\n")
	_, err = redact.FromEnv("YOUDEN_TEST_KEY")
	require.ErrorContains(t, err, "line breaks")
	assert.NotContains(t, err.Error(), "abcdefgh")
}

func TestString(t *testing.T) {
	s := redact.NewSecret(key)
	quoted, err := json.Marshal(key)
	require.NoError(t, err)
	nested, err := json.Marshal(map[string]string{"arguments": `{"key":` + string(quoted) + `}`})
	require.NoError(t, err)
	for name, text := range map[string]string{
		"plain":       "key is " + key + ".",
		"query":       "?q=" + url.QueryEscape(key),
		"path":        "/" + url.PathEscape(key) + "/",
		"json":        string(quoted),
		"nested json": string(nested),
		"go":          fmt.Sprintf("%q", key),
		"hex":         fmt.Sprintf("%x", key),
		"base64":      base64.StdEncoding.EncodeToString([]byte(key)),
		"base64 url":  base64.URLEncoding.EncodeToString([]byte(key)),
	} {
		got := redact.String(text, s)
		assert.Contains(t, got, redact.Mark, name)
		assert.NotContains(t, got, "0123", name)
		assert.NotContains(t, got, "odd", name)
	}
	for lead := range 4 { // as in an Authorization of user:key
		text := base64.StdEncoding.EncodeToString([]byte(strings.Repeat("u", lead) + key + ":tail"))
		got := redact.String(text, s)
		assert.Contains(t, got, redact.Mark, "lead %d", lead)
		assert.Less(t, len(got), len(text)-20, "lead %d: %s", lead, got)
	}
}

func TestShapes(t *testing.T) {
	long := strings.Repeat("aB3", 14)
	for text, want := range map[string]string{
		"Incorrect API key: sk-proj-abc_DEF-1234567.":   "Incorrect API key: [secret].",
		"Authorization: Bearer abcdefgh.ijk==":          "Authorization: Bearer [secret]",
		"authorization: bearer abcdefghijk, next":       "authorization: bearer [secret], next",
		"AKIAIOSFODNN7EXAMPLE":                          "[secret]",
		"token ghp_" + long + "!":                       "token [secret]!",
		"github_pat_" + long:                            "[secret]",
		"hf_" + long:                                    "[secret]",
		"AIza" + long:                                   "[secret]",
		"xoxb-123456789012":                             "[secret]",
		"glpat-" + long:                                 "[secret]",
		"a task-management-system-for-all is no key":    "a task-management-system-for-all is no key",
		"sk-short and bearer bonds and AKIA and ghp_12": "sk-short and bearer bonds and AKIA and ghp_12",
		"":                      "",
		"nothing here, s, sk, ": "nothing here, s, sk, ",
	} {
		assert.Equal(t, want, redact.String(text), text)
	}
	// The shape of a key must not end inside a known value and leave its tail.
	odd := redact.NewSecret("abcdefgh:ijklmnop:qrstuvwx")
	assert.Equal(t, "Bearer [secret]", redact.String("Bearer abcdefgh:ijklmnop:qrstuvwx", odd))
	// A placeholder that is no secret shreds no text.
	assert.Equal(t, "none of them", redact.String("none of them", redact.NewSecret("none")))
}

func TestWriterFindsSplitSecrets(t *testing.T) {
	text := "start " + key + " and sk-abcdefghijklmnop, Bearer " + key + " end sk-1234567890123"
	want := "start [secret] and [secret], Bearer [secret] end [secret]"
	require.Equal(t, want, redact.String(text, redact.NewSecret(key)))
	for step := 1; step <= len(text); step++ {
		var out bytes.Buffer
		w := redact.NewWriter(&out, redact.NewSecret(key))
		for rest := text; rest != ""; {
			n := min(step, len(rest))
			written, err := w.Write([]byte(rest[:n]))
			require.NoError(t, err)
			require.Equal(t, n, written)
			rest = rest[n:]
		}
		require.NoError(t, w.Close())
		require.Equal(t, want, out.String(), "writes of %d bytes", step)
	}
}

func TestWriterPassesPlainTextAtOnce(t *testing.T) {
	var out bytes.Buffer
	w := redact.NewWriter(&out, redact.NewSecret(key))
	_, err := w.Write([]byte("\r 50 % of 120 runs"))
	require.NoError(t, err)
	assert.Equal(t, "\r 50 % of 120 run", out.String(), "only what may begin a key waits")
	_, err = w.Write([]byte("\n"))
	require.NoError(t, err)
	assert.Equal(t, "\r 50 % of 120 runs\n", out.String())
}

func TestWriterHoldsBounded(t *testing.T) {
	var out bytes.Buffer
	w := redact.NewWriter(&out)
	_, err := w.Write([]byte("sk-" + strings.Repeat("a", 1<<20)))
	require.NoError(t, err)
	assert.Equal(t, redact.Mark, out.String())
	require.NoError(t, w.Close())
}

type brokenWriter struct{ err error }

func (b brokenWriter) Write([]byte) (int, error) { return 0, b.err }

func TestWriterReportsErrors(t *testing.T) {
	cause := errors.New("disk full")
	w := redact.NewWriter(brokenWriter{cause})
	_, err := w.Write([]byte("text\n"))
	require.ErrorIs(t, err, cause)
	w = redact.NewWriter(brokenWriter{cause})
	_, err = w.Write([]byte("sk"))
	require.NoError(t, err)
	require.ErrorIs(t, w.Close(), cause)
}

func TestKnown(t *testing.T) {
	body := []byte(`{"error":"bad key ` + strings.ReplaceAll(key, `"`, `\"`) + `","code":"sk-looksLikeAKeyButIsCorpus"}`)
	clean, found := redact.NewFilter(redact.NewSecret(key)).Known(body)
	require.True(t, found)
	assert.Equal(t, `{"error":"bad key [secret]","code":"sk-looksLikeAKeyButIsCorpus"}`, string(clean))
	same, found := redact.NewFilter(redact.NewSecret(key)).Known([]byte("plain"))
	assert.False(t, found)
	assert.Equal(t, "plain", string(same))
}

func FuzzWriterEqualsString(f *testing.F) {
	f.Add("Bearer abcdefghijk sk-abcdefghijklmno", "secret-value", uint8(3))
	f.Add("ta", "sk-sk-sk-", uint8(1))
	f.Add("x sk-aaaaaaaaaaaa", "aaaaaaaa", uint8(5))
	f.Fuzz(func(t *testing.T, text, value string, step uint8) {
		if len(text) > 4<<10 || len(value) > 64 {
			return // what is held back is bounded, and small writes make it slow
		}
		secret := redact.NewSecret(value)
		var out bytes.Buffer
		w := redact.NewWriter(&out, secret)
		for rest := text; rest != ""; {
			n := min(int(step)%17+1, len(rest))
			if _, err := w.Write([]byte(rest[:n])); err != nil {
				t.Fatal(err)
			}
			rest = rest[n:]
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		whole := redact.String(text, secret)
		if out.String() != whole {
			t.Fatalf("split %q, whole %q", out.String(), whole)
		}
		if len(value) >= 8 && !strings.Contains(redact.Mark, value) && strings.Contains(strings.ReplaceAll(whole, redact.Mark, "\x00"), value) {
			t.Fatalf("%q still holds %q", whole, value)
		}
	})
}
