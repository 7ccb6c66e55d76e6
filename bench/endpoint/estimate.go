package endpoint

import (
	"fmt"
	"unicode/utf8"

	"github.com/youden-bench/youden/detector"
)

// bytesPerToken is how many characters of code, blanks left out, make a token. Real
// tokenizers lie between 3 and 4.5.
const bytesPerToken = 3.5

// estimateTokens says roughly how many tokens a text has. It errs on the low side:
// blanks count nothing, a run of one character counts like four of it, and letters
// outside ASCII count a fifth of a token, as in scripts that tokenizers know well.
func estimateTokens(text string) float64 {
	var ascii, other, run int
	var last rune
	for i := 0; i < len(text); {
		c, size := rune(text[i]), 1
		if c >= utf8.RuneSelf {
			c, size = utf8.DecodeRuneInString(text[i:])
		}
		i += size
		if c <= ' ' {
			continue
		}
		if c == last {
			run++
		} else {
			last, run = c, 1
		}
		switch {
		case run > 4:
		case size > 1:
			other++
		default:
			ascii++
		}
	}
	return float64(ascii)/bytesPerToken + float64(other)/5
}

// prompt is what a request asks a model to read.
type prompt struct{ detector.Request }

// texts yields everything that is read.
func (p prompt) texts(yield func(string) bool) {
	for _, m := range p.Messages {
		if !yield(m.Content) {
			return
		}
		for _, c := range m.ToolCalls {
			if !yield(c.Arguments) {
				return
			}
		}
	}
	for _, t := range p.Tools {
		if !yield(t.Description) || !yield(string(t.Parameters)) {
			return
		}
	}
}

// roughly is the number of tokens at four bytes each.
func (p prompt) roughly() float64 { return float64(p.bytes()) / 4 }

func (p prompt) bytes() (n int) {
	for text := range p.texts {
		n += len(text)
	}
	return n
}

// estimate is the number of tokens, on the low side.
func (p prompt) estimate() (sum float64) {
	for text := range p.texts {
		sum += estimateTokens(text)
	}
	return sum
}

const (
	// defaultPromptRatio is which share of our estimate the prompt must have by the
	// endpoint's count (spec/peers.md section 3.2, row 13).
	defaultPromptRatio = 0.6
	// smallPrompt is the estimate below which nothing is concluded: the smallest
	// window that servers cut to by default holds 2,048 tokens.
	smallPrompt = 2048
	// smallWindow is the least that a server can have cut a prompt to. A smaller
	// count is none of tokens: some gateways say 1, or count messages.
	smallWindow = 256
)

// cutPrompt says, in words, that a server took in much less than was sent: Ollama
// drops what does not fit and answers 200 (spec/endpoints.md section 1.3). An answer
// to half a question is no answer to it. "" = it was taken in whole.
func cutPrompt(u detector.Usage, p prompt, ratio float64) string {
	if u.Prompt == nil || *u.Prompt < smallWindow || ratio <= 0 {
		return ""
	}
	counted := *u.Prompt
	if u.Cached != nil && *u.Cached > counted { // some gateways count cached tokens apart
		counted += *u.Cached
	}
	if float64(counted) >= ratio*float64(p.bytes())/bytesPerToken { // no estimate is higher than that
		return ""
	}
	estimate := p.estimate()
	if estimate < smallPrompt || float64(counted) >= ratio*estimate {
		return ""
	}
	return fmt.Sprintf("the prompt was cut: the endpoint took in %d tokens of about %.0f; raise its context size (num_ctx, --ctx-size, --max-model-len)", counted, estimate)
}
