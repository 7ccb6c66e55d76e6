package simulator

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"pgregory.net/rapid"
)

func TestCountTokens(t *testing.T) {
	for text, want := range map[string]int{"": 0, "   \n": 0, "word": 1, "words": 2, "a b": 2, "a.b(c)": 6, "12345678": 2, "naïve": 2, "日本語です": 2} {
		assert.Equal(t, want, countTokens(text), text)
	}
}

func TestTokensAddUp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`[a-z0-9_ .,(){}\n"é]{0,80}`).Draw(t, "text")
		n := countTokens(text)
		pieces := splitTokens(text)
		assert.Equal(t, text, strings.Join(pieces, ""))
		limit := rapid.IntRange(0, 40).Draw(t, "limit")
		cut, short := cutTokens(text, limit)
		assert.True(t, strings.HasPrefix(text, cut))
		assert.Equal(t, min(n, limit), countTokens(cut))
		assert.Equal(t, n > limit, short)
	})
}

func TestNoise(t *testing.T) {
	sum, square, n := 0.0, 0.0, 20000.0
	for i := range int(n) {
		x := gauss("test", string(rune(i)), "x")
		sum += x
		square += x * x
	}
	assert.InDelta(t, 0, sum/n, .03)
	assert.InDelta(t, 1, square/n, .05)
	assert.NotEqual(t, hashOf("ab", "c"), hashOf("a", "bc"))
	for i := range 1000 {
		assert.Less(t, pick(3, "p", string(rune(i))), 3)
	}
}
