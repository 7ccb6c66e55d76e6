package simulator

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// evidenceFor reads files, given as path and text in turn.
func evidenceFor(t *testing.T, family string, files ...string) []candidate {
	t.Helper()
	lex, err := loadLexicon()
	require.NoError(t, err)
	var list []*sourceFile
	for i := 0; i+1 < len(files); i += 2 {
		list = append(list, newSourceFile(files[i], strings.Split(files[i+1], "\n"), numbered))
	}
	return gather(lex, list).byFamily[lex.byID[family]]
}

func cuedBy(list []candidate, id string) *candidate {
	for i := range list {
		if list[i].cue.ID == id {
			return &list[i]
		}
	}
	return nil
}

func TestGuardBelongsToItsValue(t *testing.T) {
	sink := "from flask import request, redirect\n\ndef go():\n    first = request.args.get('a')\n    other = request.args.get('b')\n"
	guarded := func(check string) float64 {
		list := evidenceFor(t, "open_redirect", "a.py", sink+check+"    return redirect(first)\n")
		c := cuedBy(list, "open_redirect/py-redirect")
		require.NotNil(t, c)
		return c.guard
	}
	assert.Zero(t, guarded("    if other not in TARGETS: abort(400)\n"), "a check on another value")
	assert.Positive(t, guarded("    if first not in TARGETS: abort(400)\n"))
	assert.Zero(t, guarded("    if first in TARGETS:\n        return first\n"), "only what is in the list leaves")
}

func TestGuardOfEveryCallerIsNeeded(t *testing.T) {
	store := "package a\n\nfunc show(name string) string {\n\treturn read(filepath.Join(root, name))\n}\n"
	guarded := func(callers string) float64 {
		c := cuedBy(evidenceFor(t, "path", "store.go", store, "http.go", "package a\n\n"+callers), "path/go-join")
		require.NotNil(t, c)
		return c.guard
	}
	checked := "func one(w http.ResponseWriter, r *http.Request) {\n\tname := r.FormValue(\"n\")\n\tif !filepath.IsLocal(name) {\n\t\treturn\n\t}\n\tshow(name)\n}\n"
	free := "func two(w http.ResponseWriter, r *http.Request) {\n\tshow(r.FormValue(\"m\"))\n}\n"
	constant := "func three() {\n\tshow(\"index\")\n}\n"
	assert.Positive(t, guarded(checked))
	assert.Zero(t, guarded(checked+free))
	assert.Positive(t, guarded(checked+constant), "a constant needs no guard")
}

func TestEscapeCoversItsArgumentOnly(t *testing.T) {
	guarded := func(second string) float64 {
		list := evidenceFor(t, "output_encoding", "a.py", "from flask import request\n\n@app.get('/x')\ndef show():\n    name = request.args['n']\n    note = request.args['o']\n    return '<p>' + html.escape(name) + "+second+" + '</p>'\n")
		require.NotEmpty(t, list)
		return list[0].guard
	}
	assert.Zero(t, guarded("note"))
	assert.Positive(t, guarded("html.escape(note)"))
}

func TestNumbersDoNoHarmAsText(t *testing.T) {
	level := func(kind string) float64 {
		list := evidenceFor(t, "path", "A.java", "class A {\n  @GetMapping(\"/x\")\n  String read(@RequestParam "+kind+" which) {\n    return Files.readString(root.resolve(which + \".txt\"));\n  }\n}\n")
		require.NotEmpty(t, list)
		return list[0].taint.level
	}
	assert.Zero(t, level("long"))
	assert.Positive(t, level("String"))
}

func TestRefusalThatFallsThrough(t *testing.T) {
	found := func(end string) bool {
		list := evidenceFor(t, "access_control", "a.js", "app.post('/x', async (req, res) => {\n  if (!req.user.admin) {\n    res.status(403).end();\n"+end+"  }\n  await wipe();\n  res.end();\n});\n")
		return cuedBy(list, "access_control/falls-through") != nil
	}
	assert.True(t, found(""))
	assert.False(t, found("    return;\n"))
}

func TestOneSidedRange(t *testing.T) {
	found := func(condition string) bool {
		list := evidenceFor(t, "input_validation", "a.go", "package a\n\nfunc book(in order) error {\n\tif "+condition+" {\n\t\treturn errRange\n\t}\n\treturn charge(in.nights)\n}\n")
		return cuedBy(list, "input_validation/range-one-sided") != nil
	}
	assert.True(t, found("in.guests < 1 || in.nights > 30"))
	assert.False(t, found("in.nights < 1 || in.nights > 30"))
}

func TestArguments(t *testing.T) {
	assert.Equal(t, []string{"a", " b(c, d)", " [e, f]"}, arguments("x = call(a, b(c, d), [e, f])", "call"))
	assert.Nil(t, arguments("recall(a)", "call"))
	assert.Equal(t, []string{"a"}, arguments("recall(b) + call(a", "call"))
}
