package detector

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
)

// What is read without decoding is what decoding would have given.
func FuzzPlainText(f *testing.F) {
	for _, seed := range []string{`"injection"`, `12`, `-1.5e3`, `"a\n"`, `"ü"`, `""`, `null`, `true`, `{"a":1}`, `"a"b"`, `"\u0041"`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var value json.RawMessage // as a field of a finding comes: valid, without space around it
		if json.Unmarshal(data, &value) != nil {
			return
		}
		got, ok := plainText(value)
		if !ok {
			return
		}
		var text string
		if json.Unmarshal(value, &text) != nil {
			var n json.Number
			assert.NoError(t, json.Unmarshal(value, &n))
			text = n.String()
		}
		assert.Equal(t, text, got)
	})
}
