package endpoint

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestTheOneRepairOfArguments(t *testing.T) {
	for text, want := range map[string]string{
		`{"a":1}"`:                          `{"a":1}`,
		`{"a":1}}`:                          `{"a":1}`,
		`{"a":"}"}]`:                        `{"a":"}"}`,
		"```json\n{\"a\":1}\n```":           `{"a":1}`,
		`<tool_call>{"a":1}</tool_call>`:    `{"a":1}`,
		`{"a":1}</function></tool_call>`:    `{"a":1}`,
		`"{\"a\":1}"`:                       `{"a":1}`,
		`'{"a":1}'`:                         `{"a":1}`,
		"  {\"a\":{\"b\":[1,2]}} \n<|eot|>": `{"a":{"b":[1,2]}}`,
	} {
		got, ok := repairArguments(text)
		assert.True(t, ok, text)
		assert.Equal(t, want, got, text)
	}
	for _, text := range []string{
		"", "  ", `{}`, ` {"a":1} `, `{"a":`, `{"a":1} {"b":2}`, `call f with {"a":1}`, `{"a":1} is what I want`, `[1]`, `"x"`, `null`, `{"a":'x'}`, `{a:1}`, `"{\"a\""`,
	} {
		got, ok := repairArguments(text)
		assert.False(t, ok, "%q became %q", text, got)
	}
}

func TestSendableArgumentsAreObjects(t *testing.T) {
	for text, want := range map[string]string{
		"": `{}`, `{"b":1, "a":2}`: `{"b":1, "a":2}`, `{"a`: `{"malformed_arguments":"{\"a"}`, `null`: `{"malformed_arguments":"null"}`, `"x"`: `{"malformed_arguments":"\"x\""}`,
	} {
		assert.Equal(t, want, sendable(text))
		assert.True(t, isObject(sendable(text)))
	}
}

func FuzzArguments(f *testing.F) {
	for _, seed := range []string{`{"a":1}"`, "```json\n{}```", `"{}"`, `<x>{"a":"\ud835"}`, "{\xff}"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if fixed, ok := repairArguments(text); ok && (!isObject(fixed) || isObject(text)) {
			t.Fatalf("%q became %q", text, fixed)
		}
		if !isObject(sendable(text)) {
			t.Fatalf("%q would be sent as %q", text, sendable(text))
		}
	})
}
