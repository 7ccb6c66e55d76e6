package simulator

import (
	"errors"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// defaultPrompt is what a capture says when nobody chose another detector.
func defaultPrompt(t testing.TB) (instruction, sections string) {
	t.Helper()
	dir := filepath.Join("..", "..", "detector", "embedded", "oneshot")
	prompt, err := os.ReadFile(filepath.Join(dir, "prompt.md"))
	if errors.Is(err, fs.ErrNotExist) {
		t.Skipf("the embedded detector is elsewhere: %v", err)
	}
	require.NoError(t, err)
	checklist, err := os.ReadFile(filepath.Join(dir, "checklist.md"))
	require.NoError(t, err)
	return string(prompt), "## Checklist\n" + string(checklist)
}

// TestGeneralPairs asks for breadth: pairs of other domains than those the
// lexicon grew with. The margins leave room for a prompt that changes.
func TestGeneralPairs(t *testing.T) {
	statistical(t)
	all, development, heldOut := generalPairs(t)
	s := newServer(t, Options{})
	instruction, sections := defaultPrompt(t)
	measured := func(model string, pairs []pair) rates {
		return measure(t, s, pairs, setup{model, instruction, sections, 5, 0})
	}
	got := map[string]rates{}
	for _, model := range []string{"sim-strong", "sim-weak", "sim-null"} {
		got[model] = measured(model, all)
		t.Logf("%-12s %-12s %s", model, "all", got[model])
		if testing.Verbose() {
			t.Logf("%-12s %-12s %s", model, "development", measured(model, development))
			t.Logf("%-12s %-12s %s", model, "held out", measured(model, heldOut))
			t.Logf("%-12s %-12s %s", model, "practice", measured(model, pairsIn(t, "practice")))
		}
	}
	strong, weak, null := got["sim-strong"], got["sim-weak"], got["sim-null"]
	assert.Greater(t, strong.j, weak.j+.1)
	assert.Greater(t, weak.j, null.j+.1)
	assert.Less(t, math.Abs(null.j), .15)
	between(t, "strong recall", strong.recall, .55, .9)
	between(t, "strong silence", strong.silence, .65, .95)
	between(t, "strong J", strong.j, .3, .75)
	between(t, "weak J", weak.j, .08, .45)
	between(t, "strong mixed", strong.mixed, .2, .8)
	between(t, "weak mixed", weak.mixed, .2, .8)
}
