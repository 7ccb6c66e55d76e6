package corpus

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/youden-bench/youden/corpus/family"
	"github.com/youden-bench/youden/corpus/tomlfile"
)

func TestLoadCatalog(t *testing.T) {
	c := load(t, sampleFS())
	assert.Equal(t, "sample", c.Slice)
	assert.Equal(t, FromCatalog, c.Source)
	require.Len(t, c.Cases, 3)
	sql := c.Cases[0]
	split := sql.Split
	assert.Contains(t, []Split{Feedback, Pareto, Holdout}, split)
	assert.Equal(t, &Case{
		ID: "sql", Title: "a filter", Slice: "sample", Group: "shop", Split: split, Task: "audit", Language: "go",
		Family: "injection", Accept: []family.ID{"input_validation"}, CWE: 89,
		Vetted:      Vetted{Level: Proved, First: Disputed, On: []Dispute{DisputePlace}, Changed: "the span", Again: Agreed},
		Vulnerable:  &Side{Files: []File{{Path: "db.go", Text: []byte(goBefore)}}},
		Fixed:       &Side{Files: []File{{Path: "db.go", Text: []byte(goAfter)}}},
		Spans:       []Span{{"db.go", 3, 4}},
		Regions:     []Span{{"db.go", 4, 4}},
		Residue:     []Residual{{"path", "the export"}},
		Explanation: "the filter is concatenated", Trap: "the limit is not",
		Proof: &Side{Files: []File{{Path: "cmd/prove/main.go", Text: []byte("package main\n")}, {Path: "go.mod.txt", Text: []byte("module proof\n")}}},
	}, sql)
	page := c.Cases[1]
	assert.Equal(t, []string{"web/a.py", "web/page.py"}, []string{page.Vulnerable.Files[0].Path, page.Vulnerable.Files[1].Path})
	assert.Zero(t, page.CWE)
	clean := c.Cases[2]
	assert.Nil(t, clean.Vulnerable)
	assert.Equal(t, []SideName{Fixed}, clean.Sides())
	assert.Equal(t, "clean", clean.Group, "a case without a group is one")
}

func TestLoadCatalogRefuses(t *testing.T) {
	cases := []struct{ name, old, new, want string }{
		{"no version", "version = 1\n", "", "catalog.toml:1:1: the catalog has no version; write version = 1 at the top"},
		{"future version", "version = 1", "version = 2", "catalog.toml:1:1: version 2 of the catalog is unknown; this program reads version 1"},
		{"empty slice", `"sample"`, `" "`, `catalog.toml:2:1: the slice has no name; name where the cases come from, such as slice = "planted"`},
		{"unknown key", `trap = "the title is"`, `tarp = "x"`, `catalog.toml:36:1: unknown key "case.tarp"; did you mean "trap"?`},
		{"no id", `id = "html"`, `id = ""`, `catalog.toml:28:1: case number 2 has no id; add id = "..."`},
		{"id with an escape", `id = "html"`, `id = "\u001b[2J"`, `catalog.toml:28:1: id "\x1b[2J" holds characters that cannot be printed; use letters, digits and hyphens`},
		{"duplicate id", `id = "html"`, `id = "sql"`, `catalog.toml:28:1: id "sql" is used twice, first on line 5; give each case an id of its own`},
		{"unknown family", `"output_encoding"`, `"bad_vibes"`, `catalog.toml:32:1: family "bad_vibes" is unknown; use an id of families.toml`},
		{"alias for a family", `"output_encoding"`, `"XSS"`, `catalog.toml:32:1: family "XSS" is unknown; write the family's id, "output_encoding"`},
		{"no family", "family = \"output_encoding\"\n", "", `catalog.toml:27:3: family "" is unknown; use an id of families.toml`},
		{"unknown accepted family", `["input_validation"]`, `["path", "x"]`, `catalog.toml:11:19: family "x" is unknown; use an id of families.toml`},
		{"family accepted twice", `["input_validation"]`, `["path", "injection"]`, `catalog.toml:11:19: family "injection" is accepted twice; list further families only, each once`},
		{"unknown residual family", `family = "path", note`, `family = "p", note`, `catalog.toml:17:15: family "p" is unknown; use an id of families.toml`},
		{"family off by default", `"output_encoding"`, `"memory_safety"`, `catalog.toml:32:1: family "memory_safety" is off by default; write memory_safety = true at the top of a corpus of C or C++`},
		{"no CWE at all", `"CWE-89"`, `"SQL"`, `catalog.toml:12:1: "SQL" is not a CWE; write it like "CWE-89", or leave it out when it is unknown`},
		{"CWE as a number", `"CWE-89"`, `89`, `catalog.toml:12:7: key "case.cwe" is an integer, wanted a string; put it in quotes`},
		{"CWE of another family", `"CWE-89"`, `"CWE-22"`, `catalog.toml:12:1: CWE-22 belongs to family "path", not to "injection"; correct one of the two`},
		{"CWE of no family", `"CWE-89"`, `"CWE-561"`, `catalog.toml:12:1: CWE-561 is in no family of the taxonomy; correct it, or leave it out`},
		{"unknown task", `task = "audit"`, `task = "adit"`, `catalog.toml:8:1: task "adit" is unknown; use one of audit, paths, review, spec`},
		{"unknown language", `language = "python"`, `language = "pyhton"`, `catalog.toml:31:1: language "pyhton" is unknown; use one of go, java, javascript, python, typescript, c, cpp, csharp, kotlin, php, ruby, rust, scala, shell, swift, html, json, markdown, sql, text, yaml`},
		{"unknown level", `level = "read"`, `level = "glanced"`, `catalog.toml:33:12: vetted level "glanced" is unknown; write vetted = {level = "title", "read" or "proved"}`},
		{"no level", "vetted = { level = \"read\" }\n", "", `catalog.toml:27:3: vetted level "" is unknown; write vetted = {level = "title", "read" or "proved"}`},
		{"unknown first reading", `"disputed", on = ["place"]`, `"maybe"`, `catalog.toml:13:30: first reading "maybe" is unknown; use agreed or disputed, or leave it out`},
		{"unknown last reading", `again = "agreed"`, `again = "x"`, `catalog.toml:13:88: reading "x" is unknown; use agreed or disputed, or leave it out`},
		{"unknown dispute", `["place"]`, `["colour"]`, `catalog.toml:13:56: a reader cannot dispute "colour"; use side, place, family or fixed`},
		{"dispute without being disputed", `first = "disputed"`, `first = "agreed"`, `catalog.toml:13:48: the first reading disputed place and is not called disputed; write first = "disputed"`},
		{"unknown difficulty", `title = "a filter"`, `difficulty = "easy"`, `catalog.toml:6:1: difficulty "easy" is unknown; use plain, ordinary or hard, or leave it out`},
		{"promise of nothing", `slice = "sample"`, "slice = \"sample\"\n[promise]\neach_family = 0", `catalog.toml:4:1: each_family = 0 promises nothing; use a number above 0, or leave it out`},
		{"promise of no range", `slice = "sample"`, "slice = \"sample\"\n[promise]\nlines = [30]", `catalog.toml:4:1: lines = [30] is no range; write the fewest and the most lines of a file, such as lines = [30, 150]`},
		{"promise of an empty range", `slice = "sample"`, "slice = \"sample\"\n[promise]\nlines = []", `catalog.toml:4:1: lines = [] is no range; write the fewest and the most lines of a file, such as lines = [30, 150]`},
		{"promise of a strange language", `slice = "sample"`, "slice = \"sample\"\n[[promise.least]]\ncases = 1\nlanguages = [\"klingon\"]", `catalog.toml:5:14: language "klingon" is unknown; use one of go, java, javascript, python, typescript, c, cpp, csharp, kotlin, php, ruby, rust, scala, shell, swift, html, json, markdown, sql, text, yaml`},
		{"promise of proofs without families", `slice = "sample"`, "slice = \"sample\"\n[promise]\nproved = {languages = [\"go\"]}", `catalog.toml:4:1: proved names no families, so it promises nothing; write proved = { families = ["..."] }, or leave it out`},
		{"promise of proofs of nothing", `slice = "sample"`, "slice = \"sample\"\n[promise.proved]\nfamilies = []", `catalog.toml:4:1: proved names no families, so it promises nothing; write proved = { families = ["..."] }, or leave it out`},
		{"promise of no cases", `slice = "sample"`, "slice = \"sample\"\n[[promise.least]]\nfamilies = [\"path\"]", `catalog.toml:3:11: cases = 0 promises nothing; use a number above 0`},
		{"no directory", "dir = \"cases/c\"\n", "", `catalog.toml:42:3: directory "" is not inside the corpus; use a relative path without .. and with /`},
		{"directory above", `"cases/c"`, `"../c"`, `catalog.toml:48:1: directory "../c" is not inside the corpus; use a relative path without .. and with /`},
		{"absolute directory", `"cases/c"`, `"/etc"`, `catalog.toml:48:1: directory "/etc" is not inside the corpus; use a relative path without .. and with /`},
		{"backslashes", `"cases/c"`, `'cases\c'`, `catalog.toml:48:1: cases\c is missing; add the directory, or correct the path`},
		{"missing directory", `"cases/c"`, `"cases/d"`, `catalog.toml:48:1: cases/d is missing; add the directory, or correct the path`},
		{"no side", `"cases/c"`, `"cases/c/fixed"`, `catalog.toml:48:1: case "clean" has no side; add cases/c/fixed/vulnerable, cases/c/fixed/fixed, or both`},
		{"directory is a file", `"cases/c"`, `"README.md"`, `catalog.toml:48:1: README.md is not a directory; correct the path`},
		{"line zero", "start = 2", "start = 0", "catalog.toml:39:1: span starts at line 0; lines count from 1"},
		{"negative line", "start = 2", "start = -4", "catalog.toml:39:1: span starts at line -4; lines count from 1"},
		{"span ends first", "end = 2", "end = 1", "catalog.toml:40:1: span 2-1 ends before it starts; both ends are inclusive"},
		{"region ends first", "start = 4\nend = 4", "start = 4\nend = 3", "catalog.toml:25:1: region 4-3 ends before it starts; both ends are inclusive"},
		{"span as a float", "start = 2", "start = 2.0", `catalog.toml:39:9: key "case.span.start" is a float, wanted an integer; write it without a fraction`},
		{"span without a file", "file = \"web/page.py\"\n", "", `catalog.toml:37:8: span of file ""; name a file of the side by its relative path, with /`},
		{"span of a file above", `"web/page.py"`, `"../page.py"`, `catalog.toml:38:1: span of file "../page.py"; name a file of the side by its relative path, with /`},
		{"expectation of an audit", "trap = \"it looks like a join\"\n", "trap = 'x'\n[case.expect]\nkind = 'concern'\n", "catalog.toml:51:7: an audit expects its family at its spans and nothing else; remove [case.expect], or correct the task"},
		{"no expectation", "task = \"audit\"\nlanguage = \"python\"", "task = \"review\"\nlanguage = \"python\"", `catalog.toml:30:1: task "review" needs an expectation; add [case.expect] with kind = "concern"`},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			_, err := Load(edited(t, c.old, c.new), Options{})
			assert.EqualError(t, err, "loading a corpus: "+c.want)
			var e *tomlfile.Error
			assert.ErrorAs(t, err, &e)
		})
	}
}

func TestLoadCatalogReportsEveryMistake(t *testing.T) {
	fsys := sampleFS()
	fsys[CatalogFile] = file(strings.NewReplacer(`"CWE-89"`, `"CWE-22"`, `"python"`, `"perl"`, `"cases/c"`, `"cases/x"`).Replace(sampleCatalog))
	_, err := Load(fsys, Options{})
	require.Error(t, err)
	assert.Len(t, strings.Split(err.Error(), "\n"), 3)
}

func TestLoadCatalogSpanWithoutItsSide(t *testing.T) {
	fsys := edited(t, `"web/page.py"`, `"web/page.py"`)
	delete(fsys, "cases/b/vulnerable/web/page.py")
	delete(fsys, "cases/b/vulnerable/web/a.py")
	_, err := Load(fsys, Options{})
	assert.EqualError(t, err, "loading a corpus: catalog.toml:37:8: a span needs a vulnerable side; add the side, or remove the range")
}

func TestLoadCatalogMemorySafety(t *testing.T) {
	fsys := sampleFS()
	fsys[CatalogFile] = file(strings.NewReplacer("version = 1", "version = 1\nmemory_safety = true", `"output_encoding"`, `"memory_safety"`, `"python"`, `"c"`).Replace(sampleCatalog))
	c := load(t, fsys)
	assert.True(t, c.MemorySafety)
	assert.Equal(t, family.ID("memory_safety"), c.Cases[1].Family)
}

func TestLoadCatalogSplits(t *testing.T) {
	declare := func(splits ...string) fstest.MapFS {
		text := sampleCatalog
		for i, id := range []string{"sql", "html", "clean"} {
			if splits[i] != "" {
				text = strings.Replace(text, `id = "`+id+`"`, `id = "`+id+"\"\nsplit = \""+splits[i]+`"`, 1)
			}
		}
		fsys := sampleFS()
		fsys[CatalogFile] = file(text)
		return fsys
	}
	t.Run("declared", func(t *testing.T) {
		c := load(t, declare("feedback", "pareto", "holdout"))
		assert.True(t, c.SplitsDeclared)
		assert.Equal(t, []Split{Feedback, Pareto, Holdout}, []Split{c.Cases[0].Split, c.Cases[1].Split, c.Cases[2].Split})
	})
	t.Run("unknown", func(t *testing.T) {
		_, err := Load(declare("feedback", "test", "holdout"), Options{})
		assert.EqualError(t, err, `loading a corpus: catalog.toml:30:1: split "test" is unknown; use feedback, pareto or holdout`)
	})
	t.Run("some", func(t *testing.T) {
		_, err := Load(declare("feedback", "", "holdout"), Options{})
		assert.EqualError(t, err, `loading a corpus: catalog.toml:28:3: case "html" declares no split and 2 others do; give every case a split, or none`)
	})
	t.Run("straddling", func(t *testing.T) {
		fsys := declare("feedback", "holdout", "holdout")
		fsys[CatalogFile] = file(strings.Replace(string(fsys[CatalogFile].Data), `group = "page"`, `group = "shop"`, 1))
		_, err := Load(fsys, Options{})
		assert.EqualError(t, err, `loading a corpus: catalog.toml:30:1: group "shop" straddles the splits: case "sql" is in feedback and case "html" in holdout; cases that share an origin belong in one split`)
	})
}

func TestLoadRefusesFiles(t *testing.T) {
	const at = "loading a corpus: catalog.toml:34:1: "
	t.Run("not UTF-8", func(t *testing.T) {
		fsys := sampleFS()
		fsys["cases/b/fixed/web/page.py"] = file("x = '\xff'\n")
		_, err := Load(fsys, Options{})
		assert.EqualError(t, err, at+"cases/b/fixed/web/page.py is not valid UTF-8; convert it, or leave it out of the case")
	})
	t.Run("oversize", func(t *testing.T) {
		fsys := sampleFS()
		fsys["cases/b/fixed/web/page.py"] = file(strings.Repeat("x", maxFileBytes+1))
		_, err := Load(fsys, Options{})
		assert.EqualError(t, err, at+"cases/b/fixed/web/page.py is larger than 2097152 bytes; keep the part that the corpus needs")
	})
	t.Run("as large as can be", func(t *testing.T) {
		fsys := sampleFS()
		fsys["cases/b/fixed/web/page.py"] = file(strings.Repeat("x", maxFileBytes))
		load(t, fsys)
	})
	t.Run("too many", func(t *testing.T) {
		fsys := sampleFS()
		for i := range maxSideFiles {
			fsys["cases/b/fixed/f"+strings.Repeat("x", i)] = file("x\n")
		}
		_, err := Load(fsys, Options{})
		assert.EqualError(t, err, at+"cases/b/fixed holds more than 500 files; keep the files that the case needs")
	})
	t.Run("side is a file", func(t *testing.T) {
		fsys := sampleFS()
		delete(fsys, "cases/b/fixed/web/page.py")
		delete(fsys, "cases/b/fixed/web/a.py")
		fsys["cases/b/fixed"] = file("x\n")
		_, err := Load(fsys, Options{})
		assert.EqualError(t, err, at+"cases/b/fixed is not a directory; a side is a directory of files, and links are not followed")
	})
}

func TestLoadRefusesLinks(t *testing.T) {
	for _, c := range []struct{ name, link, target, want string }{
		{"file", "cases/b/fixed/web/link.py", "../../../../secret", "catalog.toml:34:1: cases/b/fixed/web/link.py is a symbolic link; put the file itself there"},
		{"directory inside", "cases/b/fixed/web/sub", "../../../a", "catalog.toml:34:1: cases/b/fixed/web/sub is a symbolic link; put the file itself there"},
		{"the catalog", CatalogFile, "elsewhere.toml", "catalog.toml: is a symbolic link; put the file itself there"},
		{"case", "cases/b", "a", "catalog.toml:34:1: cases/b is a symbolic link; put the directory itself there"},
		{"side", "cases/b/fixed", "../a/fixed", "catalog.toml:34:1: cases/b/fixed is not a directory; a side is a directory of files, and links are not followed"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			for name, f := range sampleFS() {
				if name == c.link || strings.HasPrefix(name, c.link+"/") {
					continue
				}
				path := filepath.Join(dir, filepath.FromSlash(name))
				require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
				require.NoError(t, os.WriteFile(path, f.Data, 0o644))
			}
			require.NoError(t, os.WriteFile(filepath.Join(dir, "secret"), []byte("key\n"), 0o644))
			link := filepath.Join(dir, filepath.FromSlash(c.link))
			require.NoError(t, os.MkdirAll(filepath.Dir(link), 0o755))
			if err := os.Symlink(filepath.FromSlash(c.target), link); err != nil {
				t.Skipf("no symbolic links here: %v", err)
			}
			_, err := Load(os.DirFS(dir), Options{})
			assert.EqualError(t, err, "loading a corpus: "+c.want)
		})
	}
}

func TestLoadWantsOneDocument(t *testing.T) {
	_, err := Load(fstest.MapFS{"x": file("")}, Options{})
	assert.ErrorIs(t, err, ErrNoCorpus)
	both := sampleFS()
	both[ManifestFile] = file("{}")
	_, err = Load(both, Options{})
	assert.EqualError(t, err, "loading a corpus: both catalog.toml and manifest.json are there; keep one")
}

func TestHashIgnoresOrderAndNames(t *testing.T) {
	base := load(t, sampleFS())
	i := strings.Index(sampleCatalog, "[[case]]\nid = \"html\"")
	j := strings.Index(sampleCatalog, "[[case]]\nid = \"clean\"")
	fsys := sampleFS()
	head, sql, html, clean := sampleCatalog[:strings.Index(sampleCatalog, "[[case]]")], sampleCatalog[strings.Index(sampleCatalog, "[[case]]"):i], sampleCatalog[i:j], sampleCatalog[j:]
	fsys[CatalogFile] = file(head + clean + "\n" + strings.ReplaceAll(html, `"html"`, `"other"`) + strings.ReplaceAll(sql, "shop", "mall"))
	moved := load(t, fsys)
	assert.Equal(t, base.Hash(), moved.Hash())
	assert.NotEqual(t, base.Hash(), load(t, edited(t, "start = 2", "start = 1")).Hash())
}

// noLstat hides the methods of a file system beyond Open, as an archive would.
type noLstat struct{ fs.FS }

func TestLoadFromAnyFS(t *testing.T) {
	_, err := Load(noLstat{sampleFS()}, Options{})
	assert.NoError(t, err)
}
