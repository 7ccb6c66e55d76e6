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

// Reasoning is part of the completion, or stands beside it, as the total shows.
func TestReasoningBesideTheCompletion(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		want int64
	}{
		"a part":            {`{"prompt_tokens":10,"completion_tokens":20,"total_tokens":30,"completion_tokens_details":{"reasoning_tokens":7}}`, 20},
		"beside":            {`{"prompt_tokens":10,"completion_tokens":20,"total_tokens":37,"completion_tokens_details":{"reasoning_tokens":7}}`, 27},
		"beside, and more":  {`{"prompt_tokens":32,"completion_tokens":9,"total_tokens":135,"completion_tokens_details":{"reasoning_tokens":94}}`, 103},
		"none":              {`{"prompt_tokens":10,"completion_tokens":20,"total_tokens":30,"completion_tokens_details":{"reasoning_tokens":0}}`, 20},
		"another total":     {`{"prompt_tokens":10,"completion_tokens":20,"total_tokens":99,"completion_tokens_details":{"reasoning_tokens":7}}`, 20},
		"no total":          {`{"prompt_tokens":10,"completion_tokens":20,"completion_tokens_details":{"reasoning_tokens":7}}`, 20},
		"unknown reasoning": {`{"prompt_tokens":10,"completion_tokens":20,"total_tokens":37}`, 20},
	} {
		assert.Equal(t, c.want, *usage(document([]byte(c.text))).Completion, name)
	}
	assert.Nil(t, usage(document([]byte(`{"completion_tokens":20,"total_tokens":27,"completion_tokens_details":{"reasoning_tokens":7}}`))).Prompt)
}
