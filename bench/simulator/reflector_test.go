package simulator

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const current = "Find security defects.\nName the place."

func propose(t *testing.T, s *Server, seed int, feedback string, more map[string]any) string {
	t.Helper()
	body := map[string]any{"model": "sim-reflector", "seed": seed, "messages": []map[string]any{{"role": "user",
		"content": "The current instruction is:\n```\n" + current + "\n```\nRuns:\n" + feedback + "\nWrite a new instruction within ``` blocks."}}}
	for k, v := range more {
		body[k] = v
	}
	var c wireCompletion
	r := post(t, s, body)
	require.NoError(t, json.Unmarshal(r.body, &c), string(r.body))
	return *c.Choices[0].Message.Content
}

func TestReflectorEditsTheInstruction(t *testing.T) {
	s := newServer(t, Options{})
	book, err := loadClauses()
	require.NoError(t, err)
	fenced, unfenced, same, grown, kept := 0, 0, 0, 0, 0
	distinct := map[string]bool{}
	for seed := range 200 {
		text := propose(t, s, seed, "case 1 was missed", nil)
		assert.Equal(t, text, propose(t, s, seed, "case 1 was missed", nil))
		distinct[text] = true
		proposal := text
		if m := fencedBlock.FindStringSubmatch(text); m != nil {
			fenced++
			proposal = m[1]
		} else {
			unfenced++
		}
		if proposal == current {
			same++
		}
		if strings.Contains(proposal, "Find security") {
			kept++
		}
		for _, c := range book.Clauses {
			if strings.Contains(proposal, c.Text) {
				grown++
				break
			}
		}
	}
	assert.Greater(t, len(distinct), 120)
	assert.Greater(t, fenced, 170)
	assert.Positive(t, unfenced)
	between(t, "unchanged", float64(same), 2, 30)
	assert.Greater(t, grown, 150)
	assert.Greater(t, kept, 140)
}

func TestReflectorLeansToTheFeedback(t *testing.T) {
	s := newServer(t, Options{})
	share := func(feedback, needle string) int {
		n := 0
		for seed := range 300 {
			if strings.Contains(propose(t, s, seed, feedback, nil), needle) {
				n++
			}
		}
		return n
	}
	needle := "must go to a relative path"
	assert.Greater(t, share("family open_redirect scored low", needle), share("family crypto scored low", needle))
	assert.Equal(t, share("score 0.1", needle) > 0, share("score 0.9", needle) > 0)
}

func TestReflectorWithAFormat(t *testing.T) {
	s := newServer(t, Options{})
	text := propose(t, s, 1, "", map[string]any{"response_format": map[string]any{"type": "json_schema", "json_schema": map[string]any{"name": "p",
		"schema": map[string]any{"type": "object", "properties": map[string]any{"reason": map[string]any{"type": "string"}, "texts": map[string]any{"type": "array", "items": map[string]any{"type": "string"}}}}}}})
	var v struct {
		Reason string   `json:"reason"`
		Texts  []string `json:"texts"`
	}
	require.NoError(t, json.Unmarshal([]byte(text), &v), text)
	assert.NotEmpty(t, v.Reason)
	require.Len(t, v.Texts, 1)
}

func TestCurrentInstruction(t *testing.T) {
	for _, c := range []struct{ text, current string }{
		{"Here:\n```\na\nb\n```\nmore ```c```", "a\nb"},
		{"# Current instruction\nDo this.\n# Feedback\nbad", "Do this."},
		{"Write something.", ""},
	} {
		got, rest := currentInstruction(c.text)
		assert.Equal(t, c.current, got)
		if c.current != "" {
			assert.NotContains(t, rest, c.current)
		}
	}
}
