package family

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"pgregory.net/rapid"
)

func TestLookup(t *testing.T) {
	cases := []struct {
		label string
		want  ID // "" = unmapped
	}{
		{"injection", "injection"},
		{"Injection", "injection"},
		{"  output-encoding ", "output_encoding"},
		{"OUTPUT ENCODING", "output_encoding"},
		{"SQL injection", "injection"},
		{"sql_injection", "injection"},
		{"SQL-Injection", "injection"},
		{"cross‑site scripting", "output_encoding"}, // U+2011, as models write it
		{"cross-site\u00a0scripting", "output_encoding"},
		{"CWE-89", "injection"},
		{"CWE-089", "injection"},
		{"cwe-79", "output_encoding"},
		{"cwe 89", "injection"},
		{"CWE_89", "injection"},
		{"CWE89", "injection"},
		{"CWE‑89", "injection"},
		{"CWE: 89", "injection"},
		{"CWE-89: SQL injection", "injection"},
		{"CWE-89 (SQLi)", "injection"},
		{"CWE-89, see CWE-089", "injection"},
		{"CWE-787", "memory_safety"},

		{"", ""},
		{"  ", ""},
		{"bad vibes", ""},
		{"89", ""},
		{"CWE", ""},
		{"CWE-", ""},
		{"CWE-0", ""},
		{"CWE--89", "injection"},
		{"CWE-89x", ""},
		{"CWE-8.9", ""}, // CWE-8 is in no family
		{"CWE-89 or CWE-79", ""},
		{"CWE-99999", ""},
		{"CWE-99999999999999999999", ""},
		{"CWE-561", ""}, // a reviewer's concern
		{"dead_code", ""},
		{"other", ""},
		{"not an injection", ""},
		{"injection!", ""},
	}
	for _, c := range cases {
		t.Run(c.label, func(t *testing.T) {
			id, ok := Default().Lookup(c.label)
			assert.Equal(t, c.want, id)
			assert.Equal(t, c.want != "", ok)
		})
	}
}

func TestParseCWEReadsWhatPeopleWrite(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 99999).Draw(t, "n")
		zeros := strings.Repeat("0", rapid.IntRange(0, 3).Draw(t, "zeros"))
		sep := rapid.SampledFrom([]string{"-", " ", "_", "", ": ", " - ", "–"}).Draw(t, "sep")
		word := rapid.SampledFrom([]string{"CWE", "cwe", "Cwe"}).Draw(t, "word")
		tail := rapid.SampledFrom([]string{"", ": a title", " (title)", ". ", " - title with 2 numbers"}).Draw(t, "tail")
		got, ok := ParseCWE(fmt.Sprintf("%s%s%s%d%s", word, sep, zeros, n, tail))
		if !ok || got != n {
			t.Fatalf("read %d, %v", got, ok)
		}
	})
}

func TestTaxonomyGivesCopies(t *testing.T) {
	before := Default().Hash()
	families := Default().Families()
	families[0].CWE[0] = 1
	families[0].Aliases[0] = "x"
	concerns := Default().Concerns()
	concerns[4].CWE[0] = 1
	one, ok := Default().Family("injection")
	assert.True(t, ok)
	one.KSTRL[0] = "x"
	again, err := Default().sum()
	assert.NoError(t, err)
	assert.Equal(t, before, again)
}

func TestDefault(t *testing.T) {
	assert.Same(t, Default(), Default())
	assert.Equal(t, 1, Default().Version())
	cwes := 0
	for _, f := range Default().Families() {
		cwes += len(f.CWE)
		assert.Equal(t, f.ID != "memory_safety", f.Default, f.ID)
	}
	assert.Equal(t, 241, cwes)
	_, ok := Default().Family("SQL injection")
	assert.False(t, ok, "Family takes ids, not labels")
	_, ok = Default().Family("")
	assert.False(t, ok)
}

func TestByOWASP(t *testing.T) {
	assert.Equal(t, []ID{"injection", "output_encoding", "input_validation"}, Default().ByOWASP("A03:2021"))
	assert.Equal(t, []ID{"crypto"}, Default().ByOWASP("A04:2025"))
	assert.Empty(t, Default().ByOWASP("A09:2021"))
	assert.Empty(t, Default().ByOWASP(""))
}

func FuzzLookup(f *testing.F) {
	for _, seed := range []string{"CWE-89: x", "sql injection", "cwe", "CWE89CWE79", "\u2011", "CWE-000089 cwe-089"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, label string) {
		id, ok := Default().Lookup(label)
		if ok != (id != "") {
			t.Fatalf("%q: %q, %v", label, id, ok)
		}
		if ok {
			if _, known := Default().Family(id); !known {
				t.Fatalf("%q maps to %q, which is no family", label, id)
			}
		}
		if cwe, ok := ParseCWE(label); ok && (cwe < 1 || cwe > 99999) {
			t.Fatalf("%q is CWE %d", label, cwe)
		}
	})
}
