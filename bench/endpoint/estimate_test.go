package endpoint

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/youden-bench/youden/detector"
)

// Whatever the tokenizer, the estimate has to stay below its count / 0.6, or whole
// prompts would count as cut. The counts here are what the densest one could reach.
func TestTheEstimateErrsOnTheLowSide(t *testing.T) {
	for name, c := range map[string]struct {
		text   string
		tokens float64 // at least so many, by any tokenizer in use
	}{
		"code":       {strings.Repeat("if user.id != doc.owner_id { return forbidden(\"no\") }\n", 100), 1500},
		"blanks":     {strings.Repeat(" ", 10_000), 100},
		"a ruler":    {strings.Repeat("=", 10_000), 100},
		"prose":      {strings.Repeat("The quick brown fox jumps over the lazy dog. ", 100), 1000},
		"Cyrillic":   {strings.Repeat("Съешь ещё этих мягких французских булок. ", 100), 900},
		"Chinese":    {strings.Repeat("敏捷的棕色狐狸跳过了懒狗。", 100), 900},
		"broken":     {strings.Repeat("\xff\xfe", 100), 30},
		"line by no": {strings.Repeat("   17 | \t\t}\n", 100), 400},
	} {
		got := estimateTokens(c.text)
		assert.LessOrEqual(t, got*defaultPromptRatio, c.tokens, name)
	}
	assert.Zero(t, estimateTokens(" \n\t\x00"))
	assert.Greater(t, estimateTokens(strings.Repeat("if user.id != doc.owner_id { return forbidden(\"no\") }\n", 100)), 1200.0)
}

func TestACutPrompt(t *testing.T) {
	n := func(v int64) *int64 { return &v }
	of := func(tokens int) prompt { // five letters and a blank are 5/3.5 tokens
		return prompt{detector.Request{Messages: []detector.Message{{Content: strings.Repeat("abcde ", tokens*7/10)}}}}
	}
	for name, c := range map[string]struct {
		usage    detector.Usage
		estimate int
		ratio    float64
		cut      bool
	}{
		"Ollama":                  {detector.Usage{Prompt: n(2051)}, 22_000, 0.6, true},
		"just enough":             {detector.Usage{Prompt: n(6000)}, 10_000, 0.6, false},
		"just too little":         {detector.Usage{Prompt: n(5999)}, 10_000, 0.6, true},
		"not reported":            {detector.Usage{}, 10_000, 0.6, false},
		"reported as nothing":     {detector.Usage{Prompt: n(0)}, 10_000, 0.6, false},
		"no count at all":         {detector.Usage{Prompt: n(1)}, 10_000, 0.6, false},
		"a small prompt":          {detector.Usage{Prompt: n(300)}, 2000, 0.6, false},
		"not checked":             {detector.Usage{Prompt: n(2051)}, 22_000, -1, false},
		"cached is part of it":    {detector.Usage{Prompt: n(2051), Cached: n(2000)}, 22_000, 0.6, true},
		"cached is counted apart": {detector.Usage{Prompt: n(2051), Cached: n(20_000)}, 22_000, 0.6, false},
	} {
		assert.Equal(t, c.cut, cutPrompt(c.usage, of(c.estimate), c.ratio) != "", name)
	}
}
