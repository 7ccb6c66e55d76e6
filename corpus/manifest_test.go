package corpus

import (
	"encoding/json"
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

const sampleManifest = `{
 "schema": "bench.pairs/1",
 "set": "some",
 "count": 2,
 "pairs": [
  {
   "id": "p1", "family": "injection", "accept_families": ["path"], "cwe": "CWE-89", "language": "go", "title": "one",
   "kind": "vfc", "fragment": true,
   "source": {"repo": "https://github.com/Some/Repo.git", "fixed_commit": "c1"},
   "files": {"vulnerable": ["db.go"], "fixed": ["db.go"]},
   "spans": [{"file": "db.go", "start_line": 4, "end_line": 4, "text_first": "return \"select \" + a", "text_last": "return \"select \" + a", "fixed_region": [3, 4]}],
   "fixed_side": {"confidence": "high", "known_residual": null}
  },
  {
   "id": "p2", "family": "output_encoding", "cwe": "CWE-79", "language": "python", "kind": "seen",
   "source": {"repo": "https://example.org/other"},
   "files": {"vulnerable": ["web/page.py"], "fixed": ["web/page.py"]},
   "spans": [{"file": "web/page.py", "start_line": 2, "end_line": 2, "fixed_region": null}]
  }
 ]
}
`

func manifestFS(text string) fstest.MapFS {
	return fstest.MapFS{
		ManifestFile:                      file(text),
		"pairs/p1/vulnerable/db.go":       file(goBefore),
		"pairs/p1/fixed/db.go":            file(goAfter),
		"pairs/p1/fixed/notes.txt":        file("not listed\n"),
		"pairs/p2/vulnerable/web/page.py": file(pyBefore),
		"pairs/p2/fixed/web/page.py":      file(pyAfter),
	}
}

func TestLoadManifest(t *testing.T) {
	c := load(t, manifestFS(sampleManifest))
	assert.Equal(t, "some", c.Slice)
	assert.Equal(t, FromManifest, c.Source)
	assert.False(t, c.HasSplit())
	require.Len(t, c.Cases, 2)
	assert.Equal(t, &Case{
		ID: "p1", Title: "one", Slice: "some", Group: "some/repo", Task: "audit", Language: "go",
		Family: "injection", Accept: []family.ID{"path"}, CWE: 89, Vetted: Vetted{Level: Read}, Fragment: true,
		Vulnerable: &Side{Files: []File{{Path: "db.go", Text: []byte(goBefore)}}},
		Fixed:      &Side{Files: []File{{Path: "db.go", Text: []byte(goAfter)}}},
		Spans:      []Span{{"db.go", 4, 4}},
		Regions:    []Span{{"db.go", 3, 4}},
	}, c.Cases[0])
	assert.Empty(t, c.Cases[1].Regions, "a null region leaves the pair without regions")
	assert.Equal(t, "example.org/other", c.Cases[1].Group)
	assert.Equal(t, Title, c.Cases[1].Vetted.Level, "nobody says that this kind was read")
}

func TestLoadManifestRefuses(t *testing.T) {
	cases := []struct{ name, old, new, want string }{
		{"other schema", "bench.pairs/1", "bench.pairs/2", `manifest.json:1:1: the manifest has schema "bench.pairs/2"; this program reads "bench.pairs/1"`},
		{"no set", `"set": "some",`, "", `manifest.json:1:1: the set has no name; add "set"`},
		{"wrong count", `"count": 2`, `"count": 3`, "manifest.json:1:1: the manifest counts 3 pairs and lists 2; fetch it again; it may be cut short"},
		{"duplicate key", `"count": 2`, `"set": "x"`, `manifest.json:4:7: key "set" is given twice; keep one of them`},
		{"no JSON", `"count": 2,`, `"count": 2`, "manifest.json:5:2: the manifest is not the JSON of a manifest: invalid character '\"' after object key:value pair; correct the file, or fetch it again"},
		{"cut short", "\n ]\n}\n", "", "manifest.json:19:4: the manifest is not the JSON of a manifest: EOF; correct the file, or fetch it again"},
		{"pairs are no list", `"pairs": [`, `"pairs": {}, "more": [`, "manifest.json:5:12: the manifest is not the JSON of a manifest: { where [ should be; correct the file, or fetch it again"},
		{"more follows", "\n ]\n}\n", "\n ]\n}\n{}", "manifest.json:22:2: something follows the manifest; remove it"},
		{"type of a line", `"start_line": 2`, `"start_line": 2.5`, `manifest.json:18:54: pair "p2": key "spans.start_line" is a number 2.5, wanted int; correct the value`},
		{"duplicate id", `"id": "p2"`, `"id": "p1"`, `manifest.json:14:3: pair "p1": the id is missing or used twice; give each pair an id of its own`},
		{"id as a path", `"id": "p2"`, `"id": "../p2"`, `manifest.json:14:3: pair "../p2": the id is not the name of a directory; use letters, digits and hyphens`},
		{"unknown family", `"output_encoding"`, `"vibes"`, `manifest.json:14:3: pair "p2": family "vibes" is unknown; use an id of families.toml`},
		{"unknown accepted family", `["path"]`, `["paths"]`, `manifest.json:6:3: pair "p1": accept_families: family "paths" is unknown; use an id of families.toml`},
		{"CWE of another family", `"CWE-79"`, `"CWE-22"`, `manifest.json:14:3: pair "p2": cwe "CWE-22" is not of family "output_encoding"; correct one of the two`},
		{"unknown language", `"python"`, `"snake"`, `manifest.json:14:3: pair "p2": language "snake" is unknown; use one of go, java, javascript, python, typescript, c, cpp, csharp, kotlin, php, ruby, rust, scala, shell, swift, html, json, markdown, sql, text, yaml`},
		{"missing file", `"fixed": ["web/page.py"]`, `"fixed": ["web/pages.py"]`, `manifest.json:14:3: pair "p2": pairs/p2/fixed/web/pages.py is missing; add the file, or correct the list`},
		{"file above", `"fixed": ["web/page.py"]`, `"fixed": ["../vulnerable/web/page.py"]`, `manifest.json:14:3: pair "p2": "../vulnerable/web/page.py" is not a path inside the fixed side; use a relative path without .. and with /`},
		{"file twice", `"fixed": ["web/page.py"]`, `"fixed": ["web/page.py", "web/page.py"]`, `manifest.json:14:3: pair "p2": the fixed side lists a file twice; list each file once`},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			require.Contains(t, sampleManifest, c.old)
			_, err := Load(manifestFS(strings.Replace(sampleManifest, c.old, c.new, 1)), Options{})
			require.Error(t, err)
			assert.Equal(t, "loading a corpus: "+c.want, strings.Split(err.Error(), "\n")[0])
			var e *tomlfile.Error
			assert.ErrorAs(t, err, &e)
		})
	}
}

func TestManifestLabelDefects(t *testing.T) {
	cases := []struct {
		name, old, new string
		side           SideName
		want           string
	}{
		{"span outside", `"end_line": 4, "text_first": "return \"select \" + a", "text_last": "return \"select \" + a"`, `"end_line": 9`, Vulnerable, "span 4-9 lies outside db.go, which has 5 lines"},
		{"span ends first", `"end_line": 4`, `"end_line": 3`, Vulnerable, "span 4-3 of db.go is no range of lines"},
		{"region outside", "[3, 4]", "[3, 6]", Fixed, "region 3-6 lies outside db.go, which has 5 lines"},
		{"region of three numbers", "[3, 4]", "[3, 4, 5]", Fixed, "region 0-0 of db.go is no range of lines"},
		{"other text", `"text_last": "return`, `"text_last": "go return`, Vulnerable, "line 4 of db.go is not the line that the manifest quotes"},
		{"no spans", `"spans": [{"file": "db.go", "start_line": 4, "end_line": 4, "text_first": "return \"select \" + a", "text_last": "return \"select \" + a", "fixed_region": [3, 4]}]`, `"spans": []`, Vulnerable, "the vulnerable side has no span"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			require.Contains(t, sampleManifest, c.old)
			k := load(t, manifestFS(strings.Replace(sampleManifest, c.old, c.new, 1))).Cases[0]
			reason, detail := k.Unscorable(c.side)
			assert.Equal(t, LabelDefect, reason)
			assert.Equal(t, c.want, detail)
		})
	}
}

// A fix that moves the code leaves a region in a file that the fixed side does
// not have; scoring it would call every fixed side silent.
func TestManifestRegionInAMissingFile(t *testing.T) {
	fsys := manifestFS(strings.Replace(sampleManifest, `"fixed": ["db.go"]`, `"fixed": ["store.go"]`, 1))
	fsys["pairs/p1/fixed/store.go"] = file(goAfter)
	k := load(t, fsys).Cases[0]
	reason, detail := k.Unscorable(Vulnerable)
	assert.Equal(t, Scorable, reason, detail)
	reason, detail = k.Unscorable(Fixed)
	assert.Equal(t, LabelDefect, reason)
	assert.Equal(t, "region 3-4 names db.go, which the side does not have", detail)
}

func TestOneRegionThatIsGoneTakesAll(t *testing.T) {
	e := &pairEntry{Spans: []pairSpan{{File: "a.go", Start: 1, End: 2, FixedRegion: []int{3, 4}}, {File: "b.go", Start: 5, End: 6}}}
	spans, regions := e.ranges()
	assert.Equal(t, []Span{{"a.go", 1, 2}, {"b.go", 5, 6}}, spans)
	assert.Empty(t, regions)
}

func TestResidue(t *testing.T) {
	cases := []struct {
		name, text string
		want       []family.ID
	}{
		{"none", "", nil},
		{"blank", "  ", nil},
		{"by CWE", "passwords in clear text (CWE-256): other family", []family.ID{"information_disclosure"}},
		{"by id", "a race_condition in the other path, see CVE-2023-28859", []family.ID{"race_condition"}},
		{"by both, once", "CWE-639, family access_control", []family.ID{"access_control"}},
		{"two", "CWE-22 and cwe 918", []family.ID{"path", "ssrf"}},
		{"an English word is no family", "the path of the injection is longer", []family.ID{"crypto"}},
		{"unless it is called one", "another weakness of family path", []family.ID{"path"}},
		{"nothing named", "only one of the two keys is checked", []family.ID{"crypto"}},
		{"unknown CWE", "CWE-9998 remains", []family.ID{"crypto"}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			e := &pairEntry{Family: "crypto"}
			e.FixedSide.KnownResidual = &c.text
			var got []family.ID
			for _, r := range e.residue(family.Default()) {
				assert.Equal(t, c.text, r.Note)
				got = append(got, r.Family)
			}
			assert.Equal(t, c.want, got)
		})
	}
}

func TestSharedPairs(t *testing.T) {
	fsys := sharedPairs(t)
	c := load(t, fsys)
	var manifest struct {
		Count int
		Pairs []struct {
			ID        string
			FixedSide struct {
				Residual *string `json:"known_residual"`
			} `json:"fixed_side"`
		}
	}
	f, err := fsys.Open(ManifestFile)
	require.NoError(t, err)
	require.NoError(t, json.NewDecoder(f).Decode(&manifest))
	require.NoError(t, f.Close())
	require.Len(t, c.Cases, manifest.Count)
	residual := map[string]bool{}
	for _, p := range manifest.Pairs {
		residual[p.ID] = p.FixedSide.Residual != nil
	}
	repositories := map[string]bool{}
	for _, k := range c.Cases {
		repositories[k.Group] = true
		assert.Equal(t, NoSplit, k.Split)
		assert.Equal(t, residual[k.ID], len(k.Residue) > 0, k.ID)
		for _, side := range k.Sides() {
			reason, detail := k.Unscorable(side)
			assert.Equal(t, Scorable, reason, "%s %s: %s", k.ID, side, detail)
		}
	}
	assert.Len(t, repositories, 38)
	for _, p := range Lint(c) {
		assert.Equal(t, LintWarning, p.Severity, p)
	}
	third := 0
	for _, a := range c.Draw(1).Cases {
		if a.Split == Holdout {
			third++
		}
	}
	assert.InDelta(t, manifest.Count/3, third, 2)
}

func TestSplitsDocument(t *testing.T) {
	fsys := manifestFS(sampleManifest)
	c := load(t, fsys)
	document, err := c.Draw(7).Encode()
	require.NoError(t, err)
	fsys[SplitsFile] = &fstest.MapFile{Data: document}
	split := load(t, fsys)
	assert.True(t, split.SplitsDeclared)
	assert.True(t, split.HasSplit())
	assert.EqualValues(t, 7, split.SplitSeed)
	for i, a := range c.Draw(7).Cases {
		assert.Equal(t, a.Split, split.Cases[i].Split)
	}
	assert.Equal(t, c.Hash(), split.Hash())

	content := c.Cases[0].ContentHash()
	cases := []struct{ name, old, new, want string }{
		{"version", "version = 1", "version = 2", "splits.toml:4:1: version 2 of the splits is unknown; this program reads version 1"},
		{"changed case", content, strings.Repeat("0", 64), "splits.toml:10:1: case \"p1\" changed since the split was drawn; draw it again with `youden corpus split`"},
		{"unknown case", `"p1"`, `"p9"`, "splits.toml:8:1: case \"p9\" is not in the corpus, or is listed twice; draw it again with `youden corpus split`\nsplits.toml:1:1: case \"p1\" is in no split; draw it again with `youden corpus split`"},
		{"unknown split", `split = "`, `split = "x`, "splits.toml:9:1: split \"x" + string(split.Cases[0].Split) + "\" is unknown; use feedback, pareto or holdout"},
	}
	for _, bad := range cases {
		t.Run(bad.name, func(t *testing.T) {
			require.Contains(t, string(document), bad.old)
			fsys[SplitsFile] = file(strings.Replace(string(document), bad.old, bad.new, 1))
			_, err := Load(fsys, Options{})
			assert.EqualError(t, err, "loading a corpus: "+bad.want)
		})
	}
	t.Run("beside declared splits", func(t *testing.T) {
		text := sampleCatalog
		for _, id := range []string{"sql", "html", "clean"} {
			text = strings.Replace(text, `id = "`+id+`"`, `id = "`+id+"\"\nsplit = \"pareto\"", 1)
		}
		both := sampleFS()
		both[CatalogFile], both[SplitsFile] = file(text), &fstest.MapFile{Data: document}
		_, err := Load(both, Options{})
		assert.EqualError(t, err, "loading a corpus: splits.toml and the cases of catalog.toml both declare splits; keep one")
	})
	t.Run("seed beyond TOML", func(t *testing.T) {
		_, err := Splits{Seed: 1 << 63}.Encode()
		assert.ErrorContains(t, err, "does not fit a TOML integer")
	})
}

func TestSplitsDocumentMustNotTearGroups(t *testing.T) {
	fsys := manifestFS(strings.Replace(sampleManifest, "https://example.org/other", "git://github.com/some/repo/", 1))
	c := load(t, fsys)
	assert.Equal(t, c.Cases[0].Group, c.Cases[1].Group)
	s := c.Draw(1)
	assert.Equal(t, s.Cases[0].Split, s.Cases[1].Split)
	s.Cases[0].Split, s.Cases[1].Split = Feedback, Holdout
	document, err := s.Encode()
	require.NoError(t, err)
	fsys[SplitsFile] = &fstest.MapFile{Data: document}
	_, err = Load(fsys, Options{})
	assert.ErrorContains(t, err, `group "some/repo" straddles the splits feedback and holdout`)
}

// Two repositories that share a commit are one origin, and so is everything
// else from either of them.
func TestGroupsJoinThroughOthers(t *testing.T) {
	var cases []*Case
	for _, text := range []string{"1", "2", "3", "4", "4"} {
		cases = append(cases, &Case{Vulnerable: side("a.go", text)})
	}
	group(cases, []origin{{"b/fork", "c1"}, {"a/origin", "C1"}, {"b/fork", "c2"}, {"", ""}, {"", ""}})
	var groups []string
	for _, c := range cases {
		groups = append(groups, c.Group)
	}
	assert.Equal(t, []string{"a/origin", "a/origin", "a/origin"}, groups[:3])
	assert.Equal(t, groups[3], groups[4], "copies are one group")
	assert.Equal(t, "content-"+cases[3].ContentHash()[:12], groups[3])
}

func TestLoadManifestRefusesLinks(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.CopyFS(dir, manifestFS(sampleManifest)))
	require.NoError(t, os.Rename(filepath.Join(dir, "pairs", "p2"), filepath.Join(dir, "elsewhere")))
	if err := os.Symlink(filepath.Join("..", "elsewhere"), filepath.Join(dir, "pairs", "p2")); err != nil {
		t.Skipf("no symbolic links here: %v", err)
	}
	_, err := Load(os.DirFS(dir), Options{})
	assert.ErrorContains(t, err, `manifest.json:14:3: pair "p2": pairs/p2 is a symbolic link; put the directory itself there`)
}

func TestLoadManifestFromDisk(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.CopyFS(dir, manifestFS(sampleManifest)))
	assert.Equal(t, load(t, manifestFS(sampleManifest)).Hash(), load(t, os.DirFS(dir)).Hash())
}
