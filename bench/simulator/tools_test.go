package simulator

import (
	"encoding/json"
	"fmt"
	"sort"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func toolSpec(name string, properties ...string) map[string]any {
	props := map[string]any{}
	for _, p := range properties {
		props[p] = map[string]any{"type": "string"}
	}
	return map[string]any{"type": "function", "function": map[string]any{"name": name, "description": name,
		"parameters": map[string]any{"type": "object", "properties": props, "required": properties}}}
}

var hunterTools = []map[string]any{toolSpec("read_file", "path"), toolSpec("grep_repo", "pattern"), toolSpec("entry_points")}

func huntPrompt(t *testing.T, paths []string) string {
	t.Helper()
	lex, err := loadLexicon()
	require.NoError(t, err)
	return goodInstruction + familyList(lex) + goodChecklist + "\nFiles: " + strings.Join(paths, ", ")
}

// hunt plays a tool loop to its end and returns the called tools with their
// arguments, the number of bad calls and the final content.
func hunt(t *testing.T, s *Server, model string, seed int, code side) (trail []string, bad int, final string) {
	t.Helper()
	var paths []string
	for p := range code {
		paths = append(paths, p)
	}
	sort.Strings(paths)
	messages := []map[string]any{{"role": "user", "content": huntPrompt(t, paths)}}
	for range 20 {
		r := post(t, s, map[string]any{"model": model, "seed": seed, "messages": messages, "tools": hunterTools})
		require.Equal(t, 200, r.status, string(r.body))
		var c wireCompletion
		require.NoError(t, json.Unmarshal(r.body, &c))
		m := c.Choices[0].Message
		if len(m.ToolCalls) == 0 {
			if m.Content == nil {
				return trail, bad, ""
			}
			return trail, bad, *m.Content
		}
		assert.Equal(t, "tool_calls", c.Choices[0].FinishReason)
		messages = append(messages, map[string]any{"role": "assistant", "content": nil, "tool_calls": m.ToolCalls})
		for _, call := range m.ToolCalls {
			trail = append(trail, call.Function.Name+call.Function.Arguments)
			result := "ok"
			if !json.Valid([]byte(call.Function.Arguments)) {
				bad++
				result = "the arguments are no JSON"
			}
			var args struct {
				Path string `json:"path"`
			}
			if json.Unmarshal([]byte(call.Function.Arguments), &args) == nil && args.Path != "" {
				result = "no such file"
				if text, ok := code[args.Path]; ok {
					result = sourceSection(side{args.Path: text})
				} else {
					bad++
				}
			}
			messages = append(messages, map[string]any{"role": "tool", "tool_call_id": call.ID, "content": result})
		}
	}
	t.Fatal("the loop has no end")
	return nil, 0, ""
}

func TestTrajectories(t *testing.T) {
	s := newServer(t, Options{})
	pairs := ownPairs(t)
	code := side{}
	for _, p := range pairs[:4] {
		for path, text := range p.vulnerable {
			code[path] = text
		}
	}
	distinct := map[string]bool{}
	lengths, bad, empty, found := map[int]bool{}, 0, 0, 0
	for seed := range 30 {
		trail, b, final := hunt(t, s, "sim-weak", seed, code)
		distinct[strings.Join(trail, "|")] = true
		lengths[len(trail)] = true
		bad += b
		require.NotEmpty(t, trail)
		switch {
		case strings.Contains(final, `"findings":[]`):
			empty++
		case strings.Contains(final, `"family"`):
			found++
		}
	}
	assert.Greater(t, len(distinct), 15, "runs differ")
	assert.Greater(t, len(lengths), 2)
	assert.Positive(t, bad, "some calls go wrong")
	assert.Positive(t, found)

	one, _, a := hunt(t, s, "sim-weak", 7, code)
	two, _, b := hunt(t, newServer(t, Options{}), "sim-weak", 7, code)
	assert.Equal(t, one, two)
	assert.Equal(t, a, b)
}

func TestOnlyCodeThatWasReadCounts(t *testing.T) {
	s := newServer(t, Options{})
	p := ownPairs(t)[0]
	for path := range p.vulnerable {
		messages := []map[string]any{{"role": "user", "content": huntPrompt(t, []string{path})}}
		r := post(t, s, map[string]any{"model": "sim-strong", "messages": messages, "tools": hunterTools, "tool_choice": "none"})
		assert.Empty(t, parseAnswer(t, r).findings)
		hits := 0
		for k := range 10 {
			numbered := ""
			for i, line := range strings.Split(p.vulnerable[path], "\n") {
				numbered += fmt.Sprintf("%d: %s\n", i+1, line)
			}
			with := append(messages[:1:1],
				map[string]any{"role": "assistant", "content": nil, "tool_calls": []map[string]any{{"id": "c1", "type": "function", "function": map[string]any{"name": "read_file", "arguments": `{"path":"` + path + `"}`}}}},
				map[string]any{"role": "tool", "tool_call_id": "c1", "content": numbered})
			a := parseAnswer(t, post(t, s, map[string]any{"model": "sim-strong", "seed": k, "messages": with, "tools": hunterTools, "tool_choice": "none"}))
			if p.detected(a.findings) {
				hits++
			}
		}
		assert.GreaterOrEqual(t, hits, 5)
	}
}

func TestToolChoice(t *testing.T) {
	s := newServer(t, Options{})
	ask := func(more map[string]any) wireChoice {
		body := simpleRequest("sim-strong", map[string]any{"tools": hunterTools})
		for k, v := range more {
			body[k] = v
		}
		r := post(t, s, body)
		require.Equal(t, 200, r.status, string(r.body))
		var c wireCompletion
		require.NoError(t, json.Unmarshal(r.body, &c))
		return c.Choices[0]
	}
	named := ask(map[string]any{"tool_choice": map[string]any{"type": "function", "function": map[string]any{"name": "grep_repo"}}})
	require.Len(t, named.Message.ToolCalls, 1)
	assert.Equal(t, "grep_repo", named.Message.ToolCalls[0].Function.Name)
	assert.Contains(t, named.Message.ToolCalls[0].Function.Arguments, "pattern")
	assert.NotEmpty(t, ask(map[string]any{"tool_choice": "required"}).Message.ToolCalls)
	assert.Empty(t, ask(map[string]any{"tool_choice": "none"}).Message.ToolCalls)
	for seed := range 20 {
		one := ask(map[string]any{"seed": seed, "parallel_tool_calls": false, "messages": []map[string]any{{"role": "user", "content": "Read src/a.go, src/b.go and src/c.go."}}})
		assert.Len(t, one.Message.ToolCalls, 1)
	}
	parallel := false
	for seed := range 20 {
		c := ask(map[string]any{"seed": seed, "messages": []map[string]any{{"role": "user", "content": "Read src/a.go, src/b.go and src/c.go."}}})
		ids := map[string]bool{}
		for _, call := range c.Message.ToolCalls {
			ids[call.ID] = true
		}
		assert.Len(t, ids, len(c.Message.ToolCalls))
		parallel = parallel || len(ids) == 2
	}
	assert.True(t, parallel)
	cut := ask(map[string]any{"max_tokens": 6, "messages": []map[string]any{{"role": "user", "content": "Read src/a/very/long/path/to/some/file.go."}}})
	assert.Equal(t, "length", cut.FinishReason)
	assert.False(t, json.Valid([]byte(cut.Message.ToolCalls[0].Function.Arguments)))
}
