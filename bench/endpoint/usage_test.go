package endpoint

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// A count that cannot be one is unknown: it must not become a sum.
func TestAbsurdCountsAreUnknown(t *testing.T) {
	for _, text := range []string{
		`{}`, `{"prompt_tokens": null}`, `{"prompt_tokens": -1}`, `{"prompt_tokens": 9223372036854775807}`,
		`{"prompt_tokens": 1099511627777}`, `{"prompt_tokens": "12"}`, `{"prompt_tokens": 1.5}`, `{"prompt_tokens": 1e40}`,
	} {
		assert.Nil(t, usage(document([]byte(text))).Prompt, text)
	}
	assert.EqualValues(t, 12, *usage(document([]byte(`{"prompt_tokens": 12}`))).Prompt)
}
