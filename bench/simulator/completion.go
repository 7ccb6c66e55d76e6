package simulator

import (
	"fmt"
	"strings"
)

// completion is a whole answer, before it is put on the wire.
type completion struct {
	id          string
	model       string
	fingerprint string
	choices     []choice
	usage       usage
}

type choice struct {
	content  *string
	refusal  *string
	calls    []toolCall
	finish   string
	logprobs *logprobs
}

type usage struct {
	PromptTokens     int             `json:"prompt_tokens"`
	CompletionTokens int             `json:"completion_tokens"`
	TotalTokens      int             `json:"total_tokens"`
	Prompt           promptUsage     `json:"prompt_tokens_details"`
	Completion       completionUsage `json:"completion_tokens_details"`
}

type promptUsage struct {
	CachedTokens int `json:"cached_tokens"`
	AudioTokens  int `json:"audio_tokens"`
}

type completionUsage struct {
	ReasoningTokens          int `json:"reasoning_tokens"`
	AudioTokens              int `json:"audio_tokens"`
	AcceptedPredictionTokens int `json:"accepted_prediction_tokens"`
	RejectedPredictionTokens int `json:"rejected_prediction_tokens"`
}

// created is the same for all answers: a clock would make them differ.
const created = 1700000000

// reads is the part of an answer that depends on the prompt and code alone and
// is shared by K runs.
type reads struct {
	prompt  *prompt
	reading reading
	code    *evidence
	digest  string
	quoted  []map[int]bool
}

func (s *Server) read(q *chatRequest, p *profile) *reads {
	pr := parsePrompt(q.messages, s.lex)
	parts := make([]string, 0, 2*len(pr.files))
	for _, f := range pr.files {
		parts = append(parts, string(f.lang), strings.Join(f.lines, "\n"))
	}
	code := s.codes.get(hashOf(parts...), func() *evidence { return gather(s.lex, pr.files) })
	code = code.shownAs(pr.files)
	return &reads{
		prompt:  pr,
		reading: s.readings.get(hashOf(p.hash, pr.instruction, pr.contract), func() reading { return s.skills.read(pr, p.Prompt) }),
		code:    code,
		digest:  noiseDigest(pr, code),
		quoted:  quotedLines(pr, pr.files),
	}
}

// shownAs returns the evidence with the paths and line numbers of this
// request: evidence is cached by text, and the same text may stand elsewhere.
func (ev *evidence) shownAs(files []*sourceFile) *evidence {
	out := *ev
	out.units = make([]*unit, len(ev.units))
	for i, u := range ev.units {
		shown := *u
		shown.file = files[i]
		out.units[i] = &shown
	}
	return &out
}

// complete answers a request. It depends on the request and the profile only.
func (s *Server) complete(q *chatRequest, p *profile) (*completion, *apiError) {
	if q.usesMaxTokens && p.MaxTokensUnsupported {
		return nil, invalid("unsupported_parameter", "max_tokens", "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.")
	}
	c := &completion{id: "chatcmpl-" + hexOf(24, "id", string(q.raw)), model: p.Name, fingerprint: p.fingerprint()}
	c.usage.PromptTokens = q.promptTokens()
	if c.usage.PromptTokens+q.maxTokens > p.ContextTokens && c.usage.PromptTokens > p.ContextTokens {
		return nil, contextOverflow(p.ContextTokens, c.usage.PromptTokens)
	}
	var rd *reads
	if p.Kind != kindReflector {
		rd = s.read(q, p)
	}
	for i := range q.n {
		seed := q.seed
		if i > 0 {
			seed = fmt.Sprintf("%s#%d", q.seed, i)
		}
		ch := s.choose(q, p, rd, seed)
		c.usage.CompletionTokens += q.finish(&ch)
		c.choices = append(c.choices, ch)
	}
	c.usage.TotalTokens = c.usage.PromptTokens + c.usage.CompletionTokens
	return c, nil
}

func (s *Server) choose(q *chatRequest, p *profile, rd *reads, seed string) choice {
	if p.Kind == kindReflector {
		text := s.reflect(q, p, seed)
		return choice{content: &text, finish: "stop"}
	}
	r := &reader{lex: s.lex, profile: p, prompt: rd.prompt, reading: rd.reading, code: rd.code,
		seed: seed, digest: rd.digest, temp: q.temperature, quoted: rd.quoted}
	if calls, finish := r.callTools(q); len(calls) > 0 {
		return choice{calls: calls, finish: finish}
	}
	text := r.render(q, r.findings())
	if text.refusal != "" {
		return choice{refusal: &text.refusal, finish: "stop"}
	}
	return choice{content: &text.content, finish: "stop"}
}

// finish applies stop sequences and the token limit, adds logprobs, and
// returns the tokens the choice costs.
func (q *chatRequest) finish(ch *choice) int {
	if ch.content != nil {
		text := *ch.content
		for _, stop := range q.stop {
			if n := strings.Index(text, stop); stop != "" && n >= 0 {
				text = text[:n]
			}
		}
		if q.maxTokens > 0 {
			if cut, short := cutTokens(text, q.maxTokens); short {
				text, ch.finish = cut, "length"
			}
		}
		ch.content = &text
		if q.logprobs {
			ch.logprobs = makeLogprobs(text, q.topLogprobs)
		}
		return countTokens(text)
	}
	if ch.refusal != nil {
		return countTokens(*ch.refusal)
	}
	return q.finishCalls(ch)
}

// finishCalls cuts tool calls at the token limit: the arguments then stop in
// the middle, which clients must expect.
func (q *chatRequest) finishCalls(ch *choice) int {
	used := 0
	for i := range ch.calls {
		c := &ch.calls[i]
		used += messageTokens + countTokens(c.name)
		if q.maxTokens > 0 {
			left := max(q.maxTokens-used, 0)
			if cut, short := cutTokens(c.arguments, left); short {
				c.arguments, ch.finish = cut, "length"
				ch.calls = ch.calls[:i+1]
				return min(used+countTokens(cut), q.maxTokens)
			}
		}
		used += countTokens(c.arguments)
	}
	return used
}

type logprobs struct {
	Content []tokenLogprob `json:"content"`
	Refusal []tokenLogprob `json:"refusal"`
}

type tokenLogprob struct {
	logprob
	TopLogprobs []logprob `json:"top_logprobs"`
}

type logprob struct {
	Token   string  `json:"token"`
	Logprob float64 `json:"logprob"`
	Bytes   []int   `json:"bytes"`
}

// makeLogprobs gives every token a probability that is a hash of the text: the
// shape is that of the API, the numbers mean nothing.
func makeLogprobs(text string, top int) *logprobs {
	lp := &logprobs{Content: []tokenLogprob{}}
	for i, tok := range splitTokens(text) {
		one := tokenLogprob{logprob: newLogprob(tok, -uniform("logprob", text, fmt.Sprint(i))), TopLogprobs: []logprob{}}
		for k := range top {
			alt := one.logprob
			if k > 0 {
				alt = newLogprob(strings.Repeat(" ", k), one.Logprob-float64(k))
			}
			one.TopLogprobs = append(one.TopLogprobs, alt)
		}
		lp.Content = append(lp.Content, one)
	}
	return lp
}

func newLogprob(tok string, p float64) logprob {
	out := logprob{Token: tok, Logprob: p}
	for _, b := range []byte(tok) {
		out.Bytes = append(out.Bytes, int(b))
	}
	return out
}
