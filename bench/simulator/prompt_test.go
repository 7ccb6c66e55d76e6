package simulator

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func mustPrompt(t testing.TB, text string) *prompt {
	t.Helper()
	lex, err := loadLexicon()
	require.NoError(t, err)
	return parsePrompt([]message{{role: "user", text: text}}, lex)
}

func TestParseBlocks(t *testing.T) {
	begin := `===== BEGIN FILE 0123456789abcdef "src/a \"b\".py" =====` + "\n"
	for _, c := range []struct {
		name, text, rest string
		lines            []string
		numbers          []int
	}{
		{"plain", "x\n" + begin + "    7 | import os\n    8 | \n   10 |   y\n===== END FILE 0123456789abcdef =====\nz", "x\nz", []string{"import os", "", "  y"}, []int{7, 8, 10}},
		{"a foreign end is code", begin + "    1 | a\n===== END FILE ffffffffffffffff =====\n===== END FILE 0123456789abcdef =====\n", "", []string{"a", "===== END FILE ffffffffffffffff ====="}, []int{1, 2}},
		{"no end", begin + "    1 | a", "", []string{"a"}, []int{1}},
		{"wide numbers", begin + "123456 | a\n===== END FILE 0123456789abcdef =====", "", []string{"a"}, []int{123456}},
	} {
		t.Run(c.name, func(t *testing.T) {
			rest, files := parseBlocks(c.text)
			require.Len(t, files, 1)
			assert.Equal(t, `src/a "b".py`, files[0].path)
			assert.Equal(t, c.lines, files[0].lines)
			assert.Equal(t, c.numbers, files[0].numbers)
			assert.Equal(t, c.rest, strings.TrimSuffix(rest, "\n"))
		})
	}
}

func TestFamiliesAsked(t *testing.T) {
	assert.Equal(t, []string{"path", "crypto"}, mustPrompt(t, "Look.\n- path: files\n- crypto: keys\n- colour: none\n").asked)
	assert.Equal(t, []string{"injection", "ssrf"}, mustPrompt(t, "Find ssrf and injection only.").asked)
	assert.Len(t, mustPrompt(t, "Find security defects.").asked, 14)
}

func TestCodeIsNeverPrompt(t *testing.T) {
	p := mustPrompt(t, "Audit.\n"+sourceSection(side{"a.py": "# only report what is proven; trace every value across functions\n- injection: x\n"})+"- path: p\n")
	assert.NotContains(t, p.instruction, "proven")
	assert.Equal(t, []string{"path"}, p.asked)
	fenced := mustPrompt(t, "Audit.\n```go\nfunc a() {}\n```\n")
	require.Len(t, fenced.files, 1)
	assert.Equal(t, langGo, fenced.files[0].lang)
	both := mustPrompt(t, "Example:\n```\nbad()\n```\n"+sourceSection(side{"a.py": "x = 1\n"}))
	assert.Len(t, both.files, 1, "beside marked files a fence is an example")
	assert.Contains(t, both.instruction, "bad()")
}

func readPrompt(t *testing.T, text string) reading {
	t.Helper()
	book, err := loadSkills()
	require.NoError(t, err)
	p, err := loadEmbedded("sim-strong")
	require.NoError(t, err)
	return book.read(mustPrompt(t, text), p.Prompt)
}

func TestSkills(t *testing.T) {
	bare := readPrompt(t, bareInstruction)
	good := readPrompt(t, goodInstruction+goodChecklist)
	for _, skill := range []string{skillMultiHop, skillGuard, skillSeverity} {
		assert.Less(t, bare.general[skill], .1, skill)
		assert.Greater(t, good.general[skill], .8, skill)
	}
	for id, level := range good.families {
		assert.GreaterOrEqual(t, level, .5, id)
		assert.LessOrEqual(t, bare.families[id], .56, id)
	}
	once := readPrompt(t, "Report a query that is concatenated.")
	often := readPrompt(t, strings.Repeat("Report a query that is concatenated. ", 5))
	assert.Equal(t, once.families, often.families, "repetition adds nothing")
	assert.Equal(t, bare.general, readPrompt(t, bareInstruction+"Be thorough, careful and professional. Think step by step.").general)
	assert.Equal(t, bare.families, readPrompt(t, bareInstruction+"Be thorough, careful and professional. Think step by step.").families)
	assert.True(t, readPrompt(t, "Report anything suspicious.").suspicion)
	assert.True(t, readPrompt(t, "Report only what is proven.").caution)
	assert.False(t, good.suspicion || good.caution)
}

func TestTheFamilyListTeachesNothing(t *testing.T) {
	lex, err := loadLexicon()
	require.NoError(t, err)
	assert.Equal(t, readPrompt(t, bareInstruction).families, readPrompt(t, bareInstruction+familyList(lex)).families)
	taught := readPrompt(t, bareInstruction+familyList(lex)+"\n## Checklist\n- injection: concatenated queries, shell commands and eval\n")
	assert.Greater(t, taught.families["injection"], .8)
}

func TestTheEndCountsMore(t *testing.T) {
	filler := strings.Repeat("Some words that say nothing at all about the work. ", 8)
	first := readPrompt(t, "Values must be escaped before HTML. "+filler)
	last := readPrompt(t, filler+"Values must be escaped before HTML.")
	assert.Greater(t, last.families["output_encoding"], first.families["output_encoding"])
}

func TestClausesOfTheReflectorTeach(t *testing.T) {
	book, err := loadClauses()
	require.NoError(t, err)
	assert.GreaterOrEqual(t, len(book.Clauses), 60)
	useful := 0
	bare := readPrompt(t, bareInstruction)
	for _, c := range book.Clauses {
		r := readPrompt(t, bareInstruction+c.Text)
		better := 0
		for _, skill := range []string{skillMultiHop, skillGuard, skillFormat, skillSeverity} {
			if r.general[skill] > bare.general[skill] {
				better++
			}
		}
		for id := range r.families {
			if r.families[id] > bare.families[id] {
				better++
			}
		}
		switch c.Kind {
		case "useful":
			useful++
			assert.Positive(t, better, c.ID)
			assert.False(t, r.suspicion || r.caution, c.ID)
		case "useless":
			assert.Zero(t, better, c.ID)
		case "harmful":
		default:
			t.Errorf("%s has kind %q", c.ID, c.Kind)
		}
	}
	assert.InDelta(t, 1.0/3, float64(useful)/float64(len(book.Clauses)), .12)
}

func FuzzBlocks(f *testing.F) {
	f.Add("x\n===== BEGIN FILE 0123456789abcdef \"a.py\" =====\n    1 | a\n===== END FILE 0123456789abcdef =====\n")
	f.Add("```go\nfunc a() { b(`${x}`) }\n```")
	f.Add("a.py\n```\nf'{a[\"b\"]}'\n'''")
	f.Add("const r = /[/\"']/; `${`${a}`}`")
	lex, err := loadLexicon()
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, form := range []string{text, "===== BEGIN FILE 0123456789abcdef \"a.go\" =====\n" + text, "```js\n" + text, "```python\n" + text, "```java\n" + text} {
			p := parsePrompt([]message{{role: "user", text: form}}, lex)
			for _, file := range p.files {
				require.Len(t, file.numbers, len(file.lines))
				m := mask(strings.Join(file.lines, "\n"), file.lang)
				require.Equal(t, strings.Count(string(m.code), "\n"), strings.Count(string(m.bare), "\n"))
			}
			ev := gather(lex, p.files)
			for _, list := range ev.byFamily {
				for _, c := range list {
					require.Less(t, c.line, len(ev.units[c.unit].file.lines))
					require.LessOrEqual(t, c.line, c.end)
				}
			}
		}
	})
}

func FuzzChat(f *testing.F) {
	for _, seed := range []any{
		simpleRequest("sim-strong", nil), simpleRequest("sim-reflector", map[string]any{"n": 2}),
		simpleRequest("sim-weak", map[string]any{"tools": []any{map[string]any{"type": "function", "function": map[string]any{"name": "read_file"}}}}),
		simpleRequest("sim-null", map[string]any{"stream": true, "logprobs": true, "stop": []string{"a"}}),
		simpleRequest("sim-strong", map[string]any{"response_format": map[string]any{"type": "json_schema", "json_schema": map[string]any{"schema": map[string]any{"$ref": "#/$defs/a"}}}}),
	} {
		raw, err := json.Marshal(seed)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(raw)
	}
	f.Add([]byte(`{"model":"sim-strong","messages":[{"role":"tool"}]}`))
	s, err := New(Options{})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		r := post(t, s, body)
		if r.status != 200 {
			require.Equal(t, 4, r.status/100, string(r.body))
			require.True(t, json.Valid(r.body))
			return
		}
		if !strings.HasPrefix(r.header.Get("Content-Type"), "text/event-stream") {
			require.True(t, json.Valid(r.body), fmt.Sprintf("%q", r.body))
		}
	})
}
