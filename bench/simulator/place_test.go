package simulator

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestPlaced(t *testing.T) {
	for _, c := range []struct {
		name, code, re string
		place          cuePlace
		want           []string
		ok             bool
	}{
		{"first", "fs.writeFile(target, text, done)", `writeFile\(`, placeFirst, []string{"target"}, true},
		{"second", "copy(a, join(b, c), d)", `copy\(`, placeSecond, []string{"b", "c"}, true},
		{"third", "request(a, b, c)", `request\(`, placeThird, []string{"c"}, true},
		{"no such argument", "request(a, b)", `request\(`, placeThird, nil, false},
		{"receiver", "x = root.join(name).unlink(flag)", `\.unlink\(`, placeReceiver, []string{"root", "name"}, true},
		{"here", "db.query(pool, `select ${a}`, [b])", "`select", placeHere, []string{"a"}, true},
		{"nothing around", "x = `select ${a}`", "`select", placeHere, nil, false},
		{"no place", "f(a, b)", `f\(`, "", nil, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := mask(c.code, langScript)
			list, _ := statements(m, langScript)
			require.Len(t, list, 1)
			lex, err := loadLexicon()
			require.NoError(t, err)
			u := &unit{lex: lex, file: &sourceFile{lang: langScript}, statements: list}
			part, ok := u.placed(0, &cue{Place: c.place, whole: regexp.MustCompile(c.re)})
			assert.Equal(t, c.ok, ok)
			if ok {
				assert.Equal(t, c.want, part.idents)
			}
		})
	}
}

// What a file is written with does not choose the file.
func TestContentIsNoPath(t *testing.T) {
	save := func(target string) string {
		return "router.post('/x', async (req, res) => {\n  const { name, text } = req.body;\n  await fs.promises.writeFile(" + target + ", text);\n  res.end();\n});\n"
	}
	lex, err := loadLexicon()
	require.NoError(t, err)
	level := func(code string) float64 {
		ev := gather(lex, []*sourceFile{newSourceFile("a.js", strings.Split(code, "\n"), numbered)})
		top := 0.0
		for _, c := range ev.byFamily[lex.byID["path"]] {
			top = max(top, c.taint.level)
		}
		return top
	}
	assert.GreaterOrEqual(t, level(save("name")), taintedEnough)
	assert.Less(t, level(save("LATEST")), parameterTaint)
}

func TestSaysLittle(t *testing.T) {
	for code, want := range map[string]bool{
		`if (typeof q !== "string" || q.length > 80) {`: true,
		`if not name:`: true,
		`if len(body) > MAX or not isinstance(body, dict):`: true,
		`if err := f(); x == nil {`:                         true,
		`if (!pattern.test(q)) {`:                           false,
		`if q == "" || !filepath.IsLocal(q) {`:              false,
		`if host not in HOSTS:`:                             false,
		`x = 1`:                                             false,
	} {
		assert.Equal(t, want, saysLittle(code), code)
	}
}

func TestFieldsOf(t *testing.T) {
	for _, c := range []struct {
		code  string
		want  []string
		alone bool
	}{
		{"save(form.name, form.size)", []string{"name", "size"}, false},
		{`use(form.get("name"), form["size"])`, []string{"name", "size"}, false},
		{"save(form)", nil, true},
		{"reform.name(xform, a.form)", nil, false},
		{"f(form?.name, form)", []string{"name"}, true},
	} {
		got, alone := fieldsOf(c.code, "form")
		assert.Equal(t, c.want, got, c.code)
		assert.Equal(t, c.alone, alone, c.code)
	}
}

// A guard on one field of a record says nothing about another one.
func TestGuardOnAnotherField(t *testing.T) {
	lex, err := loadLexicon()
	require.NoError(t, err)
	guard := func(field string) float64 {
		code := "func show(w http.ResponseWriter, r *http.Request) {\n\tvar in input\n\tif err := json.NewDecoder(r.Body).Decode(&in); err != nil {\n\t\treturn\n\t}\n" +
			"\tif !filepath.IsLocal(in." + field + ") {\n\t\treturn\n\t}\n\tdata, _ := os.ReadFile(filepath.Join(root, in.Name))\n\tw.Write(data)\n}\n"
		ev := gather(lex, []*sourceFile{newSourceFile("a.go", strings.Split(code, "\n"), numbered)})
		list := ev.byFamily[lex.byID["path"]]
		require.NotEmpty(t, list)
		return list[0].guard
	}
	assert.Greater(t, guard("Name"), 0.9)
	assert.Less(t, guard("Other"), 0.5)
}

func TestTrailingComma(t *testing.T) {
	assert.Equal(t, []string{"\n  a", "\n  b"}, arguments("f(\n  a,\n  b,\n)", "f"))
	assert.Equal(t, []string{""}, arguments("f()", "f"))
}
