package family

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/youden-bench/youden/corpus/tomlfile"
)

const small = `version = 1
unmapped_kstrl = ["other"]
[[family]]
id = "injection"
what = "x"
cwe = [89, 78]
aliases = ["sql injection", "injection"]
owasp_2021 = "A03:2021"
kstrl = ["injection"]
[[family]]
id = "path"
what = "y"
cwe = [22]
aliases = ["zip slip"]
default = false
[[review]]
id = "dead_code"
cwe = [561]
`

func TestLoadRefusesBadData(t *testing.T) {
	cases := []struct{ name, old, new, want string }{
		{"no version", "version = 1\n", "", "families.toml:1:1: the taxonomy has no version; write version = 1 at the top"},
		{"version zero", "version = 1", "version = 0", "families.toml:1:1: version 0 is not positive; count versions from 1"},
		{"unknown key", "what = \"y\"", "wht = \"y\"", `families.toml:12:1: unknown key "family.wht"; did you mean "what"?`},
		{"float", "cwe = [22]", "cwe = [22.0]", `families.toml:13:8: key "family.cwe" is a float, wanted an integer; write it without a fraction`},
		{"duplicate key", "default = false", "default = false\ndefault = true", `families.toml:16:1: key "default" is given twice, first on line 15; keep one of them`},
		{"duplicate family", `id = "path"`, `id = "injection"`, `families.toml:11:1: family "injection" is listed twice, first as number 1; merge the two tables`},
		{"empty id", `id = "path"`, `id = ""`, `families.toml:11:1: family id "" is not a name; use lower-case letters, digits and underscores`},
		{"invalid id", `id = "path"`, `id = "Path-Traversal"`, `families.toml:11:1: family id "Path-Traversal" is not a name; use lower-case letters, digits and underscores`},
		{"CWE in two families", "cwe = [22]", "cwe = [22, 78]", `families.toml:13:12: CWE-78 is in "injection" and in "path"; each CWE belongs to one family; keep one`},
		{"CWE twice", "cwe = [22]", "cwe = [22, 22]", `families.toml:13:12: CWE-22 is listed twice in "path"; each CWE belongs to one family; keep one`},
		{"CWE of a concern", "cwe = [561]", "cwe = [561, 22]", `families.toml:18:13: CWE-22 is in "path" and in "dead_code"; each CWE belongs to one family; keep one`},
		{"CWE zero", "cwe = [22]", "cwe = [0]", `families.toml:13:8: "path" lists CWE 0, which cannot exist; CWEs lie between 1 and 9999`},
		{"CWE negative", "cwe = [22]", "cwe = [22, -5]", `families.toml:13:12: "path" lists CWE -5, which cannot exist; CWEs lie between 1 and 9999`},
		{"CWE absurd", "cwe = [22]", "cwe = [22022]", `families.toml:13:8: "path" lists CWE 22022, which cannot exist; CWEs lie between 1 and 9999`},
		{"no CWE", "cwe = [22]", "cwe = []", `families.toml:13:1: family "path" has no CWE; add cwe = [...]`},
		{"no description", "what = \"y\"\n", "", `families.toml:10:3: family "path" does not say what it is; add what = "one line"`},
		{"alias in two families", `"zip slip"`, `"SQL_Injection"`, `families.toml:14:12: alias "SQL_Injection" of family "path" already means family "injection"; a label means one family; keep one`},
		{"alias of another family's id", `"sql injection", "injection"`, `"sql injection", "path"`, `families.toml:7:29: alias "path" of family "injection" already means family "path"; a label means one family; keep one`},
		{"alias twice", `"zip slip"`, `"zip slip", "Zip-Slip"`, `families.toml:14:24: alias "Zip-Slip" is listed twice in family "path"; remove one; case, spaces, underscores and hyphens do not matter`},
		{"alias empty", `"zip slip"`, `" - "`, `families.toml:14:12: family "path" has an empty alias; remove it`},
		{"alias is a CWE", `"zip slip"`, `"cwe-22"`, `families.toml:14:12: alias "cwe-22" of family "path" is a CWE; list it under cwe`},
		{"OWASP code", `"A03:2021"`, `"A11:2021"`, `families.toml:8:1: "A11:2021" is not an OWASP category of 2021; write A01:2021 to A10:2021, or leave the key out`},
		{"OWASP year", `"A03:2021"`, `"A03:2025"`, `families.toml:8:1: "A03:2025" is not an OWASP category of 2021; write A01:2021 to A10:2021, or leave the key out`},
		{"OWASP empty", `"A03:2021"`, `""`, `families.toml:8:1: "" is not an OWASP category of 2021; write A01:2021 to A10:2021, or leave the key out`},
		{"kstrl in two families", "default = false", `kstrl = ["injection"]`, `families.toml:15:10: kstrl category "injection" is in family "injection" already; remove it`},
		{"kstrl unmapped and mapped", `["other"]`, `["injection"]`, `families.toml:2:19: kstrl category "injection" is listed as unmapped and belongs to family "injection"; keep one of the two`},
		{"concern is a family", `id = "dead_code"`, `id = "path"`, `families.toml:17:1: concern "path" already means family "path"; give it another id`},
		{"concern twice", "[[review]]", "[[review]]\nid = \"dead_code\"\n[[review]]", `families.toml:19:1: concern "dead_code" is listed twice; merge the two tables`},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			require.Contains(t, small, c.old)
			_, err := Load("families.toml", []byte(strings.Replace(small, c.old, c.new, 1)))
			assert.EqualError(t, err, "taxonomy: "+c.want)
			var e *tomlfile.Error
			assert.ErrorAs(t, err, &e)
		})
	}
	t.Run("no families", func(t *testing.T) {
		_, err := Load("families.toml", []byte("version = 1\n"))
		assert.EqualError(t, err, "taxonomy: families.toml:1:1: the taxonomy has no families; add a [[family]]")
	})
	t.Run("the sample itself is right", func(t *testing.T) {
		_, err := Load("families.toml", []byte(small))
		assert.NoError(t, err)
	})
}

func TestLoadReportsEveryMistake(t *testing.T) {
	text := strings.NewReplacer("cwe = [22]", "cwe = [89, 0]", `"A03:2021"`, `"A3"`, `"zip slip"`, `"injection"`).Replace(small)
	_, err := Load("families.toml", []byte(text))
	require.Error(t, err)
	assert.Len(t, strings.Split(err.Error(), "\n"), 4)
}

func TestHashCoversMeaningNotLayout(t *testing.T) {
	load := func(text string) *Taxonomy {
		taxonomy, err := Load("families.toml", []byte(text))
		require.NoError(t, err)
		return taxonomy
	}
	base := load(small)
	assert.Len(t, base.Hash(), 64)
	assert.Equal(t, base.Hash(), load("# a comment\n"+strings.ReplaceAll(small, " = ", "  =  ")).Hash())
	for _, change := range [][2]string{{"version = 1", "version = 2"}, {"78", "77"}, {"zip slip", "zipslip"}, {"default = false", "default = true"}, {"A03", "A05"}, {"561", "562"}} {
		assert.NotEqual(t, base.Hash(), load(strings.Replace(small, change[0], change[1], 1)).Hash(), change[0])
	}
}

func FuzzLoad(f *testing.F) {
	f.Add([]byte(small))
	f.Add(embedded[:4000])
	f.Add([]byte("version = 1\n[[family]]\nid = 'a'\ncwe = [1, 1, -1]\naliases = ['', 'b', 'B']\n[[family]]\nid = 'A'\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		taxonomy, err := Load("families.toml", data)
		if err != nil {
			return
		}
		owner := map[int]ID{}
		for _, family := range taxonomy.Families() {
			if id, ok := taxonomy.Lookup(string(family.ID)); !ok || id != family.ID {
				t.Fatalf("family %q is looked up as %q", family.ID, id)
			}
			for _, alias := range family.Aliases {
				if id, ok := taxonomy.Lookup(alias); !ok || id != family.ID {
					t.Fatalf("alias %q of %q is looked up as %q", alias, family.ID, id)
				}
			}
			for _, cwe := range family.CWE {
				if earlier, ok := owner[cwe]; ok {
					t.Fatalf("CWE-%d belongs to %q and %q", cwe, earlier, family.ID)
				}
				owner[cwe] = family.ID
			}
		}
	})
}
