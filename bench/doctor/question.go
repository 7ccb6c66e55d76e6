package doctor

import "strings"

// The prompts. The first is one that models answer in different words each time;
// the others ask for what only a constraint or a tool would make of them.
const (
	openPrompt = "Audit this program and report every finding as JSON.\n" +
		"```python\nimport os\nfrom flask import request\n\ndef run():\n    os.system('ls ' + request.args.get('dir'))\n```"
	prosePrompt = "Write one plain sentence about the sea. Do not write JSON."
	toolPrompt  = "What is the weather in Oslo? Ask the tool."
	tinyPrompt  = "Say hello."
)

const (
	answerTokens = 96 // of an answer whose words are compared
	shapeTokens  = 192
	probeTokens  = 4 // a limit that no answer to openPrompt stays below by itself
	oneToken     = 1
)

// question is one call as it is planned: an upper bound of what it takes.
type question struct {
	prompt, completion int64
}

// questions lists every call that Examine can make.
func questions(longPrompt int) []question {
	ask := func(prompt string, completion int64) question {
		return question{tokens(prompt), completion}
	}
	list := []question{
		ask(openPrompt, probeTokens), ask(openPrompt, probeTokens), // two names of the limit
	}
	for range 5 { // temperature and seed
		list = append(list, ask(openPrompt, answerTokens))
	}
	list = append(list,
		ask(tinyPrompt, oneToken), ask(tinyPrompt, oneToken), // each alone, where they are refused together
		ask(prosePrompt, shapeTokens), ask(prosePrompt+sentenceSchema, shapeTokens), // json_object, json_schema
		ask(toolPrompt+toolSchema, shapeTokens), ask(toolPrompt+toolSchema, shapeTokens), // tools, with and without a choice
		ask(strings.Repeat(toolPrompt, 3)+toolSchema, shapeTokens), // and their result
		ask(openPrompt, answerTokens),                              // stream
		ask(openPrompt, answerTokens),                              // stop
		ask(tinyPrompt, probeTokens),                               // logprobs
		ask(tinyPrompt, 2*probeTokens),                             // n
		ask(tinyPrompt, oneToken),                                  // another model's name
	)
	if longPrompt > 0 {
		list = append(list, question{int64(longPrompt), oneToken})
	}
	return list
}

// tokens bounds the tokens of a prompt. No tokenizer that is in use makes more of
// English text and code than one for two bytes; a chat template adds some.
func tokens(text string) int64 { return int64(len(text))/2 + 32 }
