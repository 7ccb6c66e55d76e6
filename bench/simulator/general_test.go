package simulator

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// defaultPrompt is what a capture says when nobody chose another detector.
func defaultPrompt(t testing.TB) (instruction, sections string) {
	t.Helper()
	dir := filepath.Join("..", "..", "detector", "embedded", "oneshot")
	prompt, err := os.ReadFile(filepath.Join(dir, "prompt.md"))
	require.NoError(t, err)
	checklist, err := os.ReadFile(filepath.Join(dir, "checklist.md"))
	require.NoError(t, err)
	return string(prompt), "## Checklist\n" + string(checklist)
}

func TestGeneralPairs(t *testing.T) {
	statistical(t)
	all, development, heldOut := generalPairs(t)
	s := newServer(t, Options{})
	instruction, sections := defaultPrompt(t)
	got := map[string]rates{}
	practice := pairsIn(t, "practice")
	for _, model := range []string{"sim-strong", "sim-weak", "sim-null"} {
		for name, pairs := range map[string][]pair{"practice": practice, "development": development, "held out": heldOut} {
			t.Logf("%-12s %-12s %s", model, name, measure(t, s, pairs, setup{model, instruction, sections, 5, 0}))
		}
		got[model] = measure(t, s, all, setup{model, instruction, sections, 5, 0})
		t.Logf("%-12s %-12s %s", model, "all", got[model])
		t.Logf("%-12s second %s", model, measure(t, s, pairsNamed(practice), setup{model, instruction, sections, 5, 0}))
	}
	if os.Getenv("YOUDEN_SIM_EACH") != "" {
		pr := measure(t, s, practice, setup{"sim-strong", instruction, sections, 5, 0})
		for _, p := range practice {
			t.Logf("%-20s strong %.1f", p.id, pr.perPair[p.id])
		}
		for _, p := range development {
			t.Logf("%-20s strong %.1f weak %.1f", p.id, got["sim-strong"].perPair[p.id], got["sim-weak"].perPair[p.id])
		}
	}
}

func pairsNamed(list []pair) (out []pair) {
	for _, p := range list {
		if contains(strings.Fields("inj-py-search out-java-tickets path-java-exports acc-go-recipes auth-ts-sessions cfg-py-app cry-py-backup des-py-plugins ssrf-js-unfurl red-ts-oauth inf-go-audit dos-java-import race-py-invites val-java-parking"), p.id) {
			out = append(out, p)
		}
	}
	return out
}
