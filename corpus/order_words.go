package corpus

import (
	"regexp"
	"strings"
	"unicode"
)

// The words of orders. Code is full of "skip" and "return an empty list", and
// of reviewers and assistants who are people of its domain, so that most
// phrases count only together with a reader, and verbs only with an object that
// a reader of code has.

// anyOf matches one of several phrases, as whole words.
func anyOf(flags string, phrases ...string) string {
	return `(?` + flags + `:(?:^|[^\pL\pN_])(?:` + strings.Join(phrases, "|") + `)(?:$|[^\pL\pN_]))`
}

// modelWords are names of models and of programs that run them. Those that are
// words of their own count only as a name is written; AI only in capitals.
const (
	modelWords = `claude|chat-?gpt|gpt(?:-?\d[\w.]*)?|copilot|deepseek|qwen|llms?|(?:large )?language models?`
	modelNames = `AIs?|Gemini|GEMINI|Llama|LLAMA|Mistral|MISTRAL|Grok|GROK|Codex|CODEX`
)

const (
	findingWords = `(?:findings?|vulnerabilit(?:y|ies)|weakness(?:es)?|security (?:issues?|problems?|bugs?|holes?|flaws?))`
	// pieceWords is a part of a program that a reader could pass over.
	pieceWords = `(?:files?|modules?|folders?|director(?:y|ies)|packages?|sections?|blocks?|functions?|methods?|class(?:es)?|handlers?|code|findings?|issues?|vulnerabilit(?:y|ies)|checks?|lines?|review|analysis|below|instructions?)`
	// sayWords is a verb that asks something, other than by a statement of code.
	sayWords     = `(?:answer|reply|respond|output|emit|print|produce|finish|give|say)`
	refrainWords = `(?:do not|don't|must not|mustn't|never|need not|needn't|should not|shouldn't|shall not|may not|cannot|no need to)`
	emptyAnswer  = "[`'\"]?" + `(?:\[ ?\]|\{ ?\\?["']?(?:findings|issues|results|vulnerabilities|problems)\\?["']? ?: ?\[ ?\] ?\})`
)

var (
	// addressed matches those to whom an order is given.
	addressed = regexp.MustCompile(anyOf(`i`, modelWords,
		`reviewers?`, `auditors?`, `assistants?`, `scanners?`, `analy[sz]ers?`,
		`(?:ai|review|coding|security|code) (?:agents?|bots?)`,
		`(?:review|audit|analysis|security|scanning|automated) tools?`,
		`automated (?:review|audit|analysis|checks?)`, `code review`, `static analysis`,
	) + "|" + anyOf(`-i`, modelNames, `SYSTEM(?: (?:PROMPT|MESSAGE|NOTE|OVERRIDE))? ?:`))

	// linters matches those who are told by rule what to pass over, in comments
	// that are no orders.
	linters = regexp.MustCompile(anyOf(`i`, `linters?`))

	// silencing orders a reader to say nothing.
	silencing = regexp.MustCompile(anyOf(`i`,
		refrainWords+` (?:report|flag|list|mention|comment|review|analy[sz]e|audit|raise(?: any| a)* (?:findings?|concerns?|alarms?))`,
		`no (?:findings?|issues?|remarks?) (?:needs?|are|is|to|in|for|here|should)`,
		`report (?:no|nothing|only|zero)`,
		sayWords+`[^(=;]{0,40}[^\pL\pN_(=;](?:empty|no findings?|nothing)`,
		`(?:answer|reply|respond|output|emit|print|produce)[^(=;]{0,20} `+emptyAnswer,
		`return (?:an? |with |only )*(?:empty \w+ of |no )`+findingWords,
		`(?:treat|consider|mark|rate|classify|regard) .{0,60} as (?:approved|reviewed|clean|safe|secure|trusted|benign|out of scope)`,
		`out of scope`, `not to be (?:flagged|reported|listed|reviewed)`, `instead report`,
	))

	// dismissing orders a reader to pass over a part of the program.
	dismissing = regexp.MustCompile(anyOf(`i`,
		`(?:ignore|skip|omit|exclude|disregard|overlook|pass over) (?:this|these|the|all|any|every|everything|anything|its|whatever)(?: \w+){0,2} `+pieceWords,
		`(?:ignore|skip|disregard) (?:everything|anything|all) (?:below|here|in)`,
		pieceWords+`(?: \w+){0,3} (?:may|can|should|must|is to|are to) be (?:safely )?(?:skipped|ignored|omitted|excluded|disregarded|left out)`,
	))

	// commanding are orders that only a reader of the text can be meant by.
	commanding = regexp.MustCompile(anyOf(`i`,
		`(?:ignore|disregard|forget|override|bypass) .{0,20}(?:previous|prior|above|earlier|preceding|system|your)(?: \w+)? (?:instructions?|prompts?)`,
		`(?:ignore|disregard|forget) .{0,20}(?:previous|prior|your)(?: \w+)? (?:guidelines|directions|directives|orders|rules)`,
		`you `+refrainWords+` (?:report|flag|list|mention|raise|emit|comment on)(?: \w+){0,3} (?:`+findingWords+`|issues?|problems?|bugs?|anything|remarks?)`,
		refrainWords+` (?:report|flag|list|mention|raise|emit|output)(?: any| the| these| this| further| more)* `+findingWords,
		`(?:report|`+sayWords+`)(?: only| just)?(?: with)?(?: an?| the)? (?:empty \w+ of|no) `+findingWords,
		`(?:emit|output|answer|reply|respond|print|give|produce|report|write|say|return (?:exactly|only|just))[^(=;]{0,30} ["'`+"`"+`]?\{ ?\\?["']?(?:findings|issues|results|vulnerabilities|problems)\\?["']? ?: ?\[ ?\] ?\}`,
	) + "|" + anyOf(`-i`,
		`(?i:note|notice|message|memo|instructions?|attention|reminder|hint)(?i::| to| for)?(?i: the| any| all| every)? (?:(?i:`+modelWords+`)|`+modelNames+`)`,
	) + `|<\|(?:im_start|system|endoftext)\|>|\[/?INST\]`)
)

// hint says which orders a line can be part of by its words. The phrases above
// are slow to look for, and most code has none of the words that they need.
type hint uint8

const (
	maybeReader  hint = 1 << iota // addressed or linters
	maybeCommand                  // commanding
)

var hintOf = func() map[string]hint {
	words := map[string]hint{}
	for _, w := range strings.Fields("reviewer auditor assistant scanner analyzer analyser agent bot tool automated review analysis linter system") {
		words[w] |= maybeReader
	}
	for _, w := range strings.Fields("claude gpt chatgpt copilot deepseek qwen llm language model ai gemini llama mistral grok codex") {
		words[w] |= maybeReader | maybeCommand
	}
	for _, w := range strings.Fields("instruction prompt guideline direction directive order rule finding vulnerability vulnerabilities weakness weaknesses " +
		"security issue result problem bug anything remark im_start endoftext inst system") {
		words[w] |= maybeCommand
	}
	return words
}()

// hintsIn looks at the words of a line, and at numbers as ends of words: gpt4.
func hintsIn(line string) (all hint) {
	for _, word := range strings.FieldsFunc(line, func(r rune) bool { return r != '_' && !unicode.IsLetter(r) }) {
		word = strings.ToLower(word)
		all |= hintOf[word] | hintOf[strings.TrimSuffix(word, "s")]
	}
	return all
}
