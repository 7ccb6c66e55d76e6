package corpus

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/youden-bench/youden/corpus/syntax"
)

// lint returns what Lint says about the sample after a change, as text.
func lint(t *testing.T, change func(fstest.MapFS)) []string {
	t.Helper()
	fsys := sampleFS()
	change(fsys)
	var got []string
	for _, p := range Lint(load(t, fsys)) {
		if p.Rule != RuleNoGrammar {
			got = append(got, p.String())
		}
	}
	return got
}

func replace(name, from, to string) func(fstest.MapFS) {
	return func(fsys fstest.MapFS) {
		text := strings.ReplaceAll(string(fsys[name].Data), from, to)
		if text == string(fsys[name].Data) {
			panic("nothing to replace in " + name)
		}
		fsys[name] = file(text)
	}
}

func add(name, text string) func(fstest.MapFS) {
	return func(fsys fstest.MapFS) { fsys[name] = file(text) }
}

func TestLintOfATidyCorpus(t *testing.T) {
	assert.Empty(t, lint(t, func(fstest.MapFS) {}))
	assert.Empty(t, lint(t, func(fsys fstest.MapFS) {
		fsys[SplitsFile] = file("version = 1\n")
		delete(fsys, SplitsFile)
		fsys["openings.jsonl"], fsys["LICENSE"] = file("{}\n"), file("MIT\n")
	}))
}

func TestLintFindsWhatIsPlanted(t *testing.T) {
	long := "package store\n\nfunc lots() {\n" + strings.Repeat("\tlots()\n", 30) + "}\n"
	body := "package store\n\nfunc a() int { return 1 }\n\nfunc b() int { return 2 }\n\nfunc c() int { return 3 }\n\nfunc d() int { return 4 }\n"
	cases := []struct {
		name   string
		change func(fstest.MapFS)
		want   []string
	}{
		{"id", replace(CatalogFile, `id = "html"`, `id = "HTML_1"`),
			[]string{`catalog.toml:27: case HTML_1: error: id "HTML_1" does not consist of lower-case letters, digits and single hyphens; rename it (id)`}},
		{"explanation", replace(CatalogFile, "the name is not escaped", " "),
			[]string{"catalog.toml:27: case html: error: there is no explanation; say what is wrong and what mends it (explanation)"}},
		{"trap", replace(CatalogFile, "trap = \"the title is\"\n", ""),
			[]string{"catalog.toml:27: case html: warning: there is no trap; say what makes the case hard (trap)"}},
		{"syntax", replace("cases/a/fixed/db.go", "}", ""),
			[]string{`fixed/db.go:6: case sql: error: does not parse as go at column 1: expected ';', found 'EOF': ; mend it, or declare fragment = true (syntax)`}},
		{"syntax of a fragment", func(fsys fstest.MapFS) {
			replace("cases/a/fixed/db.go", "}", "")(fsys)
			replace(CatalogFile, `title = "a filter"`, "fragment = true")(fsys)
		}, nil},
		{"wide span", func(fsys fstest.MapFS) {
			add("cases/b/vulnerable/web/page.py", strings.Repeat("x = 1\n", 30))(fsys)
			replace(CatalogFile, "end = 2\n", "end = 22\n")(fsys)
		}, []string{"vulnerable/web/page.py:2: case html: warning: the span covers 21 lines, more than 20; point at several narrow places instead (wide-span)"}},
		{"span just narrow enough", func(fsys fstest.MapFS) {
			add("cases/b/vulnerable/web/page.py", strings.Repeat("x = 1\n", 30))(fsys)
			replace(CatalogFile, "end = 2\n", "end = 21\n")(fsys)
		}, nil},
		{"identical sides", add("cases/b/fixed/web/page.py", pyBefore),
			[]string{"catalog.toml:27: case html: error: both sides hold the same text; a detector cannot be right on both (identical-sides)"}},
		{"label", replace(CatalogFile, "end = 2\n", "end = 9\n"),
			[]string{"catalog.toml:27: case html: error: vulnerable side: span 2-9 lies outside web/page.py, which has 2 lines; correct the label (label-defect)"}},
		{"no span", replace(CatalogFile, "[[case.span]]\nfile = \"web/page.py\"\nstart = 2\nend = 2\n", ""),
			[]string{
				"catalog.toml:27: case html: error: the vulnerable side has no span; correct the label (label-defect)",
				"vulnerable/web/page.py:2: case html: error: the sides differ from here on and no span or region meets the difference; label it, or undo it (drift)",
			}},
		{"a language that detectors do not read", replace(CatalogFile, `language = "python"`, `language = "ruby"`),
			[]string{`catalog.toml:27: case html: error: language "ruby" (unsupported_language) (unscorable)`}},
		{"blank side", func(fsys fstest.MapFS) {
			add("cases/c/fixed/store/files.go", "\n")(fsys)
			delete(fsys, "cases/c/fixed/store/more/load.go")
		}, []string{
			"catalog.toml:42: case clean: error: the fixed side has no file with text (no_candidate) (unscorable)",
			"fixed/store/files.go:2: case clean: error: does not parse as go at column 1: expected ';', found 'EOF': ; mend it, or declare fragment = true (syntax)",
		}},
		{"CRLF", replace("cases/b/fixed/web/page.py", "):\n", "):\r\n"),
			[]string{"fixed/web/page.py:1: case html: error: the line does not end in a plain LF; convert the file (newline)"}},
		{"no LF at the end", func(fsys fstest.MapFS) {
			replace("cases/b/fixed/web/a.py", "\n", "")(fsys)
			replace("cases/b/vulnerable/web/a.py", "\n", "")(fsys)
		},
			[]string{
				"vulnerable/web/a.py:1: case html: error: the line does not end in a plain LF; convert the file (newline)",
				"fixed/web/a.py:1: case html: error: the line does not end in a plain LF; convert the file (newline)",
			}},
		{"unused file of a case", add("cases/b/notes.txt", "x\n"),
			[]string{"cases/b/notes.txt: warning: the file belongs to no case; remove it, or add it to one (unused-file)"}},
		{"what captures and comparisons leave there", func(fsys fstest.MapFS) {
			for _, name := range []string{"youden.toml", "baselines/main.json", "captures/openings.jsonl", "captures/a/capture.json", "captures/a/ledger.db",
				"weak/capture.json", "weak/runs.parquet", ".git/config", ".gitignore"} {
				fsys[name] = file("x\n")
			}
		}, nil},
		{"names like theirs", func(fsys fstest.MapFS) {
			fsys["cases/youden.toml"], fsys["cases/baselines/main.json"], fsys["captures/a/x/ledger.db"] = file("x\n"), file("x\n"), file("x\n")
		}, []string{
			"captures/a/x/ledger.db: warning: the file belongs to no case; remove it, or add it to one (unused-file)",
			"cases/baselines/main.json: warning: the file belongs to no case; remove it, or add it to one (unused-file)",
			"cases/youden.toml: warning: the file belongs to no case; remove it, or add it to one (unused-file)",
		}},
		{"unused file", add("old.go", "package old\n"),
			[]string{"old.go: warning: the file belongs to no case; remove it, or add it to one (unused-file)"}},
		{"telling path", func(fsys fstest.MapFS) {
			add("cases/c/fixed/store/safe_join.go", "package store\n")(fsys)
			add("cases/c/fixed/store/safeOpen.go", "package store\n")(fsys)
			add("cases/c/fixed/fixed/open.go", "package store\n")(fsys)
		}, []string{
			`fixed/fixed/open.go: case clean: error: "fixed" gives the answer away; rename or remove it (telling-name)`,
			`fixed/store/safeOpen.go: case clean: error: "safeOpen" gives the answer away; rename or remove it (telling-name)`,
		}},
		{"telling comment", replace("cases/a/vulnerable/db.go", "\treturn", "\t// CWE-89: sanitize here\n\treturn"), []string{
			`vulnerable/db.go:4: case sql: error: "CWE-89" gives the answer away; rename or remove it (telling-name)`,
			`vulnerable/db.go:4: case sql: error: "sanitize here" gives the answer away; rename or remove it (telling-name)`,
		}},
		{"copied case", func(fsys fstest.MapFS) {
			for _, name := range []string{"cases/a/vulnerable/db.go", "cases/c/fixed/store/files.go"} {
				add(name, body)(fsys)
			}
			delete(fsys, "cases/c/fixed/store/more/load.go")
			replace(CatalogFile, `id = "clean"`, "id = \"clean\"\nsplit = \"feedback\"")(fsys)
			replace(CatalogFile, `id = "html"`, "id = \"html\"\nsplit = \"feedback\"")(fsys)
			replace(CatalogFile, `id = "sql"`, "id = \"sql\"\nsplit = \"holdout\"")(fsys)
		}, []string{`catalog.toml:44: case clean: error: a whole side is also in case "sql", and they lie in the splits feedback and holdout; put both into one group (duplicate)`}},
		{"copied file of a span", func(fsys fstest.MapFS) {
			declareAll(fsys, "pareto")
			add("cases/a/vulnerable/db.go", body)(fsys)
			add("cases/b/vulnerable/web/page.py", strings.ReplaceAll(body, "\n", "\r\n"))(fsys)
			add("cases/b/vulnerable/web/page.py", body)(fsys)
		}, []string{
			syntaxOfPython(`vulnerable/web/page.py:1: case html: error: does not parse as python at column 1: syntax error: package store; mend it, or declare fragment = true (syntax)`),
			`catalog.toml:28: case html: warning: vulnerable/web/page.py is also in case "sql" of another group; put both into one group (duplicate)`,
		}},
		{"a file that is the same on both sides", func(fsys fstest.MapFS) {
			add("cases/a/vulnerable/more.go", body)(fsys)
			add("cases/a/fixed/more.go", body)(fsys)
			replace(CatalogFile, "[[case.region]]", "[[case.span]]\nfile = \"more.go\"\nstart = 3\nend = 3\n[[case.region]]")(fsys)
			replace(CatalogFile, "file = \"db.go\"\nstart = 4\nend = 4", "file = \"more.go\"\nstart = 3\nend = 3")(fsys)
		}, nil},
		{"a file of a span twice in a group", func(fsys fstest.MapFS) {
			declareAll(fsys, "pareto")
			add("cases/a/vulnerable/db.go", long)(fsys)
			add("cases/b/vulnerable/web/db.go", long)(fsys)
			add("cases/b/fixed/web/db.go", strings.Replace(long, "lots()", "few()", 1))(fsys)
			replace(CatalogFile, `"web/page.py"`, `"web/db.go"`)(fsys)
			replace(CatalogFile, "end = 2\n", "end = 4\n")(fsys)
			replace(CatalogFile, `group = "page"`, `group = "shop"`)(fsys)
			delete(fsys, "cases/b/vulnerable/web/page.py")
			delete(fsys, "cases/b/fixed/web/page.py")
		}, []string{`catalog.toml:28: case html: warning: vulnerable/web/db.go is also in case "sql" of the same group; they ask one question twice, so keep one, or make them differ (duplicate)`}},
		{"a side twice in a group", func(fsys fstest.MapFS) {
			declareAll(fsys, "pareto")
			for _, side := range []string{"vulnerable", "fixed"} {
				delete(fsys, "cases/b/"+side+"/web/page.py")
				delete(fsys, "cases/b/"+side+"/web/a.py")
			}
			add("cases/a/vulnerable/db.go", long)(fsys)
			add("cases/b/vulnerable/db.go", long)(fsys)
			add("cases/b/fixed/db.go", strings.Replace(long, "lots()", "few()", 1))(fsys)
			replace(CatalogFile, `"web/page.py"`, `"db.go"`)(fsys)
			replace(CatalogFile, "end = 2\n", "end = 4\n")(fsys)
			replace(CatalogFile, `group = "page"`, `group = "shop"`)(fsys)
		}, []string{`catalog.toml:28: case html: warning: a whole side is also in case "sql" of the same group; they ask one question twice, so keep one, or make them differ (duplicate)`}},
		{"the same case twice in a group", func(fsys fstest.MapFS) {
			declareAll(fsys, "pareto")
			for _, side := range []string{"vulnerable", "fixed"} {
				for _, c := range []string{"a", "b"} {
					fsys["cases/"+c+"/"+side+"/db.go"] = file(strings.Replace(long, "\tlots()", "\tlots() // "+side[:1], 1))
				}
				delete(fsys, "cases/b/"+side+"/web/page.py")
				delete(fsys, "cases/b/"+side+"/web/a.py")
			}
			replace(CatalogFile, `"web/page.py"`, `"db.go"`)(fsys)
			replace(CatalogFile, "end = 2\n", "end = 4\n")(fsys)
			replace(CatalogFile, `group = "page"`, `group = "shop"`)(fsys)
		}, []string{`catalog.toml:28: case html: warning: the case holds the same files as "sql"; remove one (duplicate)`}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			var want []string
			for _, w := range c.want {
				if w != "" {
					want = append(want, w)
				}
			}
			assert.Equal(t, want, lint(t, c.change))
		})
	}
}

// syntaxOfPython is a problem that only a build with cgo sees.
func syntaxOfPython(problem string) string {
	if _, err := syntax.Parse("python", "a.py", nil); err != nil {
		return ""
	}
	return problem
}

func declareAll(fsys fstest.MapFS, split string) {
	for _, id := range []string{"sql", "html", "clean"} {
		replace(CatalogFile, `id = "`+id+`"`, `id = "`+id+"\"\nsplit = \""+split+`"`)(fsys)
	}
}

func TestLintSaysWhatItCouldNotParse(t *testing.T) {
	var got []string
	for _, p := range Lint(load(t, sampleFS())) {
		got = append(got, p.String())
	}
	if _, err := syntax.Parse("python", "a.py", nil); err == nil {
		assert.Empty(t, got)
		return
	}
	assert.Equal(t, []string{"catalog.toml: warning: 4 python files were not parsed: this program was built without cgo; lint with a build that has it (no-grammar)"}, got)
}

func TestLintOfAManifestOnlyWarnsAboutStyle(t *testing.T) {
	fsys := manifestFS(strings.Replace(sampleManifest, `"fragment": true`, `"fragment": false`, 1))
	delete(fsys, "pairs/p1/fixed/notes.txt")
	fsys["pairs/p1/fixed/db.go"] = file("package db\r\n\n// exploit\nfunc find(\n")
	var got []string
	for _, p := range Lint(load(t, fsys)) {
		if p.Rule != RuleNoGrammar {
			got = append(got, string(p.Severity)+" "+string(p.Rule))
		}
	}
	assert.Equal(t, []string{"warning newline", "warning telling-name", "warning syntax"}, got)
	fsys["pairs/p1/fixed/notes.txt"] = file("x\n")
	problems := Lint(load(t, fsys))
	last := problems[len(problems)-1]
	if last.Rule == RuleNoGrammar {
		last = problems[len(problems)-2]
	}
	assert.Equal(t, "pairs/p1/fixed/notes.txt", last.File)
}

func TestLintLetsOtherTasksSpeakOfBugs(t *testing.T) {
	assert.Empty(t, lint(t, func(fsys fstest.MapFS) {
		replace(CatalogFile, "task = \"audit\"\nlanguage = \"python\"\nfamily = \"output_encoding\"", "task = \"spec\"\nlanguage = \"markdown\"")(fsys)
		replace(CatalogFile, "[[case.span]]\nfile = \"web/page.py\"\nstart = 2\nend = 2\n", "[case.expect]\nkind = \"spec\"\nissues = [\"no limit\"]\n")(fsys)
		add("cases/b/vulnerable/web/page.py", "the plan has an sql injection, CWE-89\n")(fsys)
	}))
}

func TestTellingLine(t *testing.T) {
	cases := []struct{ line, want string }{
		{"func safeQuery(db *sql.DB)", "safeQuery"},
		{"x := unsafe_value", "unsafe_value"},
		{"def vulnerable(request):", "vulnerable"},
		{"class VulnApp", "VulnApp"},
		{"insecureHandler()", "insecureHandler"},
		{"// exploitable by the attacker", "attacker|exploitable"},
		{"# FIXME", "FIXME"},
		{"// BAD: concatenated", "BAD"},
		{"/* GOOD */", "GOOD"},
		{"goodG2B();", "goodG2B"},
		{"badSink(data)", "badSink"},
		{"good_handler = 1", "good_handler"},
		{"void bad() {", "bad("},
		{"// CWE-79", "CWE-79"},
		{"// see CVE-2024-12345", "CVE-2024-12345"},
		{"// GHSA-abcd-1234-zzzz", "GHSA-abcd-"},
		{"// escape here", "escape here"},
		{"// missing authorization check", "missing authoriz"},
		{"// no validation", "no validation"},
		{"// SQL  Injection", "SQL  Injection"},
		{"// path traversal", "path traversal"},
		{"// POTENTIAL FLAW", "POTENTIAL FLAW"},
		{"// user-controlled", "user-controlled"},
		{"exec(cmd) // nosec", "nosec"},
		{"return safe", "safe"},
		{"// this is the fix", "this is the fix"},
		{"const xss = 1", "xss"},

		// What a case must be able to say.
		{"import \"unsafe\"", ""},
		{"p := (*T)(unsafe.Pointer(&x))", ""},
		{"&tls.Config{InsecureSkipVerify: skip}", ""},
		{"grpc.WithTransportCredentials(insecure.NewCredentials())", ""},
		{"yaml.safe_load(f)", ""},
		{"yaml.load(f, Loader=yaml.SafeLoader)", ""},
		{"yaml.load(f, Loader=yaml.UnsafeLoader)", ""},
		{"path = werkzeug.utils.safe_join(root, name)", ""},
		{"return mark_safe(html)", ""},
		{"{{ name|safe }}", ""},
		{"quote(name, safe='')", ""},
		{"Content-Security-Policy: script-src 'unsafe-inline' 'unsafe-eval'", ""},
		{"\"X-XSS-Protection\": \"0\"", ""},
		{"Number.isSafeInteger(n) && n < Number.MAX_SAFE_INTEGER", ""},
		{"crypto.timingSafeEqual(a, b)", ""},
		{"secrets.token_urlsafe(32)", ""},
		{"res.status(400).send('bad request')", ""},
		{"http.StatusBadRequest", ""},
		{"except BadSignature:", ""},
		{"goods = cart.items", ""},
		{"price.toFixed(2)", ""},
		{"cookie.secure = true", ""},
		{"func (t *Tree) Traverse()", ""},
		{"where the order is kept", ""},
		{"template.HTML(text)", ""},
		{"// validated in the handler", ""},
		{"the document is here", ""},
	}
	for _, c := range cases {
		t.Run(c.line, func(t *testing.T) { assert.Equal(t, c.want, strings.Join(tellingLine(c.line), "|")) })
	}
}

func TestWordsOf(t *testing.T) {
	for name, want := range map[string]string{
		"safeQuery": "safe query", "XMLHttpRequest": "xml http request", "unsafe_load": "unsafe load", "URLSafe": "url safe",
		"a1Bad2": "a bad", "kebab-case": "kebab case", "": "", "HTTPServer2XX": "http server xx",
	} {
		assert.Equal(t, want, strings.Join(wordsOf(name), " "), name)
	}
}

func TestStats(t *testing.T) {
	fsys := sampleFS()
	declareAll(fsys, "pareto")
	replace(CatalogFile, `family = "path", note`, `family = "input_validation", note`)(fsys)
	bytes := 0
	for name, f := range fsys {
		if strings.HasPrefix(name, "cases/") && !strings.Contains(name, "/proof/") {
			bytes += len(f.Data)
		}
	}
	c := load(t, fsys)
	c.Cases[2].Split = Holdout
	c.Cases[1].Spans = nil
	s := Stats(c)
	require.Equal(t, c.Hash(), s.Hash)
	s.Hash = ""
	assert.Equal(t, Statistics{
		Slice: "sample", Cases: 3, Pairs: 2, Groups: 3, Files: 8, Lines: 20, Bytes: bytes, Unscorable: 1,
		Families: []FamilyCount{
			{Family: "injection", Cases: 1, Groups: 1, Residual: 1, Pareto: 1},
			{Family: "output_encoding", Cases: 1, Groups: 1, Pareto: 1},
			{Family: "path", Cases: 1, Groups: 1, Holdout: 1},
		},
		Languages: []Count{{"go", 2}, {"python", 1}},
		Splits:    []Count{{"holdout", 1}, {"pareto", 2}},
		Tasks:     []Count{{"audit", 3}},
		Vetted:    []VettedCount{{Proved, "disputed", true, 1}, {Read, "", false, 1}, {Title, "", false, 1}},
		Readings:  Readings{Read: 1, Side: 1, Family: 1, Fixed: 1, Changed: 1, Settled: 1, Residue: 1},

		Difficulties: []Count{{"", 3}}, WithProof: 1,
	}, s)
}

func TestSettledReadings(t *testing.T) {
	for _, c := range []struct {
		v    Vetted
		want bool
	}{
		{Vetted{First: Agreed}, true},
		{Vetted{First: Agreed, Changed: "x"}, false},
		{Vetted{First: Agreed, Changed: "x", Again: Agreed}, true},
		{Vetted{First: Agreed, Again: Agreed}, true},
		{Vetted{First: Agreed, Again: Disputed}, false},
		{Vetted{First: Agreed, Changed: "x", Again: Disputed}, false},
		{Vetted{First: Disputed}, false},
		{Vetted{First: Disputed, Again: Agreed}, true},
		{Vetted{First: Disputed, Changed: "x", Again: Disputed}, false},
	} {
		var r Readings
		r.add(&Case{Vetted: c.v})
		assert.Equal(t, c.want, r.Settled == 1, "%+v", c.v)
	}
}
