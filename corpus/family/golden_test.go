package family

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// golden reads a vector file from YOUDEN_GOLDEN, or from testdata.
func golden(t *testing.T, name string, into any) {
	t.Helper()
	dir := os.Getenv("YOUDEN_GOLDEN")
	if dir == "" {
		dir = filepath.Join("testdata", "golden")
	}
	data, err := os.ReadFile(filepath.Join(dir, name))
	if os.IsNotExist(err) {
		t.Skipf("no golden file %s", name)
	}
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(data, into))
}

func TestGoldenTaxonomy(t *testing.T) {
	var want struct {
		Families []struct {
			ID        ID       `json:"id"`
			What      string   `json:"what"`
			CWE       []int    `json:"cwe"`
			OWASP2021 string   `json:"owasp_2021"`
			OWASP2025 string   `json:"owasp_2025"`
			KSTRL     []string `json:"kstrl"`
			Aliases   []string `json:"aliases"`
			Default   *bool    `json:"enabled_by_default"`
		} `json:"families"`
		Review []struct {
			ID        string `json:"id"`
			CWE       []int  `json:"cwe"`
			OWASP2025 string `json:"owasp_2025"`
		} `json:"review"`
		UnmappedKSTRL []string `json:"unmapped_kstrl"`
	}
	golden(t, "taxonomy.json", &want)
	taxonomy := Default()
	families := taxonomy.Families()
	require.Len(t, families, len(want.Families))
	for i, w := range want.Families {
		t.Run(string(w.ID), func(t *testing.T) {
			f := families[i]
			assert.Equal(t, w.ID, f.ID)
			assert.Equal(t, w.What, f.What)
			assert.Equal(t, w.OWASP2021, f.OWASP2021)
			assert.Equal(t, w.OWASP2025, f.OWASP2025)
			assert.Equal(t, w.Default == nil || *w.Default, f.Default)
			assert.ElementsMatch(t, w.CWE, f.CWE)
			assert.ElementsMatch(t, w.Aliases, f.Aliases)
			assert.ElementsMatch(t, w.KSTRL, f.KSTRL)
			for _, cwe := range w.CWE {
				id, ok := taxonomy.ByCWE(cwe)
				assert.True(t, ok)
				assert.Equal(t, w.ID, id)
			}
			for _, label := range append(append(w.Aliases, string(w.ID)), w.KSTRL...) {
				for _, spelling := range []string{label, strings.ToUpper(label), strings.ReplaceAll(label, " ", "_"), strings.ReplaceAll(label, "_", "-")} {
					id, ok := taxonomy.Lookup(spelling)
					assert.True(t, ok, spelling)
					assert.Equal(t, w.ID, id, spelling)
				}
			}
			for _, category := range w.KSTRL {
				id, ok := taxonomy.ByKSTRL(category)
				assert.True(t, ok, category)
				assert.Equal(t, w.ID, id)
			}
		})
	}
	concerns := taxonomy.Concerns()
	require.Len(t, concerns, len(want.Review))
	for i, w := range want.Review {
		assert.Equal(t, w.ID, concerns[i].ID)
		assert.ElementsMatch(t, w.CWE, concerns[i].CWE)
		assert.Equal(t, w.OWASP2025, concerns[i].OWASP2025)
		for _, cwe := range w.CWE {
			_, ok := taxonomy.ByCWE(cwe)
			assert.False(t, ok, "CWE-%d is a concern, not a family's", cwe)
		}
	}
	for _, category := range want.UnmappedKSTRL {
		_, ok := taxonomy.ByKSTRL(category)
		assert.False(t, ok, category)
	}
}

func TestGoldenFamilies(t *testing.T) {
	// Vectors of other levels have inputs of other shapes.
	var vectors struct {
		Cases []struct {
			ID            string `json:"id"`
			Level         string `json:"level"`
			Input, Expect json.RawMessage
		} `json:"cases"`
	}
	golden(t, filepath.Join("scoring", "cases.json"), &vectors)
	for _, c := range vectors.Cases {
		var input struct {
			Labels []string `json:"labels"`
		}
		var expect struct {
			Families []*ID `json:"families"`
		}
		if c.Level != "import" || json.Unmarshal(c.Input, &input) != nil || len(input.Labels) == 0 {
			continue
		}
		t.Run(c.ID, func(t *testing.T) {
			if json.Unmarshal(c.Expect, &expect) != nil || len(expect.Families) != len(input.Labels) {
				t.Skipf("vector %s has an unknown shape", c.ID)
			}
			for i, label := range input.Labels {
				id, ok := Default().Lookup(label)
				if expect.Families[i] == nil {
					assert.False(t, ok, label)
					assert.Empty(t, id, label)
					continue
				}
				assert.True(t, ok, label)
				assert.Equal(t, *expect.Families[i], id, label)
			}
		})
	}
}
