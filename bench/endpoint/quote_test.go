package endpoint

import (
	"bytes"
	"encoding/json"
	"testing"
)

func quotedByJSON(t *testing.T, s string) string {
	t.Helper()
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(s); err != nil {
		t.Fatal(err)
	}
	return string(bytes.TrimSuffix(b.Bytes(), []byte("\n")))
}

func FuzzQuote(f *testing.F) {
	for _, seed := range []string{
		"", "a", "if a < b && c > d { return \"x\\n\" }\n\t", "\x00\x01\b\f\x1f\x7f", "é\U0001D400\u2028\u2029", "a\xffb", "\xed\xa0\x80", "12345678", "1234567\"", "1234567\\", "1234567é12345678", " !#[]^~ !#[]^~", "\n\n\r\n",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if got, want := string(appendQuoted(nil, s)), quotedByJSON(t, s); got != want {
			t.Fatalf("%q is written as %s, not %s", s, got, want)
		}
	})
}

// Every byte in every place of a word of eight.
func TestQuoteLooksAtEveryByte(t *testing.T) {
	for c := range 256 {
		for place := range 8 {
			for _, around := range []string{"aaaaaaaa", "!!!!!!!!", "########", "[[[[[[[[", "        ", "~~~~~~~~"} {
				s := around[:place] + string([]byte{byte(c)}) + around[place:]
				if got, want := string(appendQuoted(nil, s)), quotedByJSON(t, s); got != want {
					t.Fatalf("%q is written as %s, not %s", s, got, want)
				}
			}
		}
	}
}
