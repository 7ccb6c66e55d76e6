package detector

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// texts lists the texts of a oneshot detector by their names, and their order.
func texts(t *testing.T, files ...string) (hashes map[string]string, names []string) {
	t.Helper()
	d, err := Load(dir(files...), "d")
	require.NoError(t, err)
	p, err := Core().Build(d)
	require.NoError(t, err)
	hashes = map[string]string{}
	for _, text := range d.Texts(p) {
		assert.Len(t, text.Hash, 64)
		assert.NotContains(t, hashes, text.Name, "each has a name of its own")
		hashes[text.Name] = text.Hash
		names = append(names, text.Name)
	}
	return hashes, names
}

func TestTextsNameWhatChanged(t *testing.T) {
	base := []string{"checklist.md", "- look\n", "families/path/checklist.md", "- dots\n"}
	old, names := texts(t, base...)
	assert.Equal(t, []string{"settings", "prompt", "checklist", "path/checklist", "program"}, names)
	for _, c := range []struct {
		name    string
		files   []string
		changed []string
	}{
		{"nothing", base, nil},
		{"a lever", []string{"checklist.md", "- look twice\n", "families/path/checklist.md", "- dots\n"}, []string{"checklist"}},
		{"the prompt", append([]string{"prompt.md", "Look closely.\n"}, base...), []string{"prompt"}},
		{"an override", []string{"checklist.md", "- look\n", "families/path/checklist.md", "- dots and links\n"}, []string{"path/checklist"}},
		{"a new lever", append([]string{"hard_negatives.jsonl", `{"code": "x", "why": "y"}`}, base...), []string{"hard_negatives"}},
		{"a setting", append([]string{"detector.toml", toml + "[budget]\nmax_tokens = 9\n"}, base...), []string{"settings"}},
		{"the format of the answer", append([]string{"detector.toml", toml + "response_format = \"json_schema\"\n"}, base...), []string{"settings"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			updated, _ := texts(t, c.files...)
			var changed []string
			for name, hash := range updated {
				if old[name] != hash {
					changed = append(changed, name)
				}
			}
			assert.ElementsMatch(t, c.changed, changed)
		})
	}
	gone, _ := texts(t, "families/path/checklist.md", "- dots\n")
	assert.NotContains(t, gone, "checklist")
}

// A shared text that no family reads reaches no request.
func TestTextsLeaveOutWhatNoFamilyReads(t *testing.T) {
	_, names := texts(t, "checklist.md", "- look\n", "families/path/checklist.md", "- dots\n", "families/injection/checklist.md", "- quotes\n")
	assert.Equal(t, []string{"settings", "prompt", "injection/checklist", "path/checklist", "program"}, names)
}

// Every piece of the wording around the levers is part of the program's text.
func TestTheProgramTextHoldsItsWording(t *testing.T) {
	d, err := Load(dir(), "d")
	require.NoError(t, err)
	p, err := NewOneshot(d)
	require.NoError(t, err)
	req, err := p.(*Oneshot).withFixed().request(probe())
	require.NoError(t, err)
	user := req.Messages[1].Content
	for _, part := range []string{dataNotice, contractText, "## Checklist", "## Not defects", "## Examples", "BEGIN FILE", "BEGIN EXAMPLE", "Line 1. ", "Family ", "For "} {
		assert.Contains(t, user, part)
	}
	assert.JSONEq(t, reportSchema, string(req.Schema))
	control, err := LoadEmbedded("control:always")
	require.NoError(t, err)
	program, err := NewControl(control)
	require.NoError(t, err)
	assert.Equal(t, Text{"program", digest("control/1")}, control.Texts(program)[1])
}
