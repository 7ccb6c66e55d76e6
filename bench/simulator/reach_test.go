package simulator

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// strongest is the surest value among the candidates of a family.
func strongest(t *testing.T, family, path, text string) (taint, guard float64) {
	t.Helper()
	lex, err := loadLexicon()
	require.NoError(t, err)
	ev := gather(lex, []*sourceFile{newSourceFile(path, strings.Split(text, "\n"), numbered)})
	list := ev.byFamily[lex.byID[family]]
	require.NotEmpty(t, list)
	for _, c := range list {
		if c.taint.level > taint {
			taint, guard = c.taint.level, c.guard
		}
	}
	return taint, guard
}

func TestWhereValuesEnter(t *testing.T) {
	sink := "def find(word):\n    return db.execute(\"SELECT a FROM t WHERE w = '\" + word + \"'\")\n"
	for name, c := range map[string]struct {
		text      string
		low, high float64
	}{
		"nobody knows who calls": {sink, parameterTaint, parameterTaint},
		"the side shows its entries": {
			sink + "\ndef ping(request):\n    return str(request.GET['n'])\n", wholeTaint, wholeTaint},
		"all callers give constants": {
			sink + "\ndef daily():\n    return find('rain')\n", 0, insideTaint},
		"a table names the function": {
			sink + "\nPAGES = {'/find': find}\n", taintedEnough, 1},
		"a caller gives a request": {
			sink + "\ndef show(request):\n    return find(\n        request.GET['w'],\n    )\n", taintedEnough, 1},
	} {
		level, _ := strongest(t, "injection", "a.py", c.text)
		assert.GreaterOrEqual(t, level, c.low, name)
		assert.LessOrEqual(t, level, c.high, name)
	}
}

func TestReceiverCarriesTheValue(t *testing.T) {
	code := func(from string) string {
		return "func post(w http.ResponseWriter, r *http.Request) {\n\tvar in job\n\t" + from + "\n\tin.run()\n}\n\n" +
			"func (j job) run() {\n\texec.Command(\"sh\", \"-c\", \"echo \"+j.text)\n}\n"
	}
	level, _ := strongest(t, "injection", "a.go", code("json.NewDecoder(r.Body).Decode(&in)"))
	assert.GreaterOrEqual(t, level, taintedEnough)
}

func TestAssignedIsNoSource(t *testing.T) {
	_, files := parseBlocks(sourceSection(side{"a.js": "ctx.body = await load(name);\nconst all = ctx.body;\n"}))
	lex, err := loadLexicon()
	require.NoError(t, err)
	u := readUnit(lex, files[0])
	assert.Zero(t, u.statements[0].source)
	assert.Positive(t, u.statements[1].source)
}

func TestWithOpens(t *testing.T) {
	_, files := parseBlocks(sourceSection(side{"a.py": "with open(name) as f, lock as g:\n    pass\n"}))
	lex, err := loadLexicon()
	require.NoError(t, err)
	assert.Equal(t, []string{"f", "g"}, readUnit(lex, files[0]).statements[0].assigned)
}

// What stands above a class holds for its methods, what stands above a method
// for this one only.
func TestGuardOfTheClass(t *testing.T) {
	code := func(above, first string) string {
		return above + "\nclass Accounts {\n    " + first + "\n    Account first(@PathVariable long id) {\n        return accounts.findById(id).get();\n    }\n\n" +
			"    @GetMapping(\"/b/{id}\")\n    Account second(@PathVariable long id) {\n        return accounts.findById(id).get();\n    }\n}\n"
	}
	lex, err := loadLexicon()
	require.NoError(t, err)
	guards := func(text string) []float64 {
		ev := gather(lex, []*sourceFile{newSourceFile("A.java", strings.Split(text, "\n"), numbered)})
		out := map[int]float64{}
		for _, c := range ev.byFamily[lex.byID["access_control"]] {
			if c.cue.ID == "access_control/java-lookup" {
				out[c.end] = c.guard
			}
		}
		var list []float64
		for line := range 20 {
			if g, ok := out[line]; ok {
				list = append(list, g)
			}
		}
		return list
	}
	mark := "@PreAuthorize(\"hasRole('TELLER')\")"
	both := guards(code(mark, "@GetMapping(\"/a/{id}\")"))
	require.Len(t, both, 2)
	assert.Greater(t, both[0], 0.5)
	assert.Greater(t, both[1], 0.5)
	one := guards(code("@RestController", mark))
	require.Len(t, one, 2)
	assert.Greater(t, one[0], 0.5)
	assert.Zero(t, one[1])
}

// A wrapper of a guarded helper is guarded as well.
func TestGuardBehindAWrapper(t *testing.T) {
	code := func(check string) string {
		return "def _locate(root, name):\n    path = os.path.realpath(os.path.join(root, name))\n    if not " + check + ":\n        raise ValueError(name)\n    return path\n\n" +
			"def locate(root, name):\n    return _locate(root, name)\n\n" +
			"def show(request):\n    return send_file(locate(ROOT, request.args['name']))\n"
	}
	_, guard := strongest(t, "path", "a.py", code("path.startswith(root + os.sep)"))
	assert.Greater(t, guard, 0.7)
	_, open := strongest(t, "path", "a.py", code("os.path.isfile(path)"))
	assert.Less(t, open, 0.6)
}
