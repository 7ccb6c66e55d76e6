package simulator

import (
	"hash/fnv"
	"strings"
)

// quoteTokens is how many tokens in a row make a quotation: a prompt that was
// tuned by pasting training code into it works on that code only.
const quoteTokens = 6

// quotedLines marks, per file, the lines of code that the prompt quotes; nil
// when it quotes nothing.
func quotedLines(p *prompt, files []*sourceFile) []map[int]bool {
	grams := map[uint64]bool{}
	eachGram(codeWords(p.instruction), func(h uint64, _ int) { grams[h] = true })
	if len(grams) == 0 {
		return nil
	}
	var out []map[int]bool
	found := false
	for _, f := range files {
		var words []string
		var at []int
		for i, line := range f.lines {
			for _, w := range codeWords(line) {
				words = append(words, w)
				at = append(at, i)
			}
		}
		marked := map[int]bool{}
		eachGram(words, func(h uint64, first int) {
			if grams[h] {
				marked[at[first]] = true
				marked[at[first+quoteTokens-1]] = true
				found = true
			}
		})
		out = append(out, marked)
	}
	if !found {
		return nil
	}
	return out
}

func codeWords(text string) []string {
	return strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !isWordRune(r) })
}

func eachGram(words []string, found func(hash uint64, first int)) {
	for i := 0; i+quoteTokens <= len(words); i++ {
		h := fnv.New64a()
		for _, w := range words[i : i+quoteTokens] {
			h.Write([]byte(w))
			h.Write([]byte{0})
		}
		found(h.Sum64(), i)
	}
}
