package corpus

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// onDisk writes files below a new directory.
func onDisk(t *testing.T, files fstest.MapFS) string {
	t.Helper()
	dir := t.TempDir()
	for name, f := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, f.Data, 0o644))
	}
	return dir
}

// What an interpreter left behind is no part of a proof, and no part of a side
// either unless it is text.
func TestProofsAreReadWithoutCaches(t *testing.T) {
	fsys := sampleFS()
	fsys["cases/a/proof/__pycache__/prove.cpython-311.pyc"] = file("\xa7\r\r\n")
	fsys["cases/a/proof/cmd/__pycache__/x.pyc"] = file("\xff")
	c := load(t, fsys)
	assert.Len(t, c.Cases[0].Proof.Files, 2)
	assert.Empty(t, c.Cases[0].ProofDefect())
	assert.Empty(t, lint(t, func(f fstest.MapFS) {
		for name := range fsys {
			f[name] = fsys[name]
		}
	}))
	fsys["cases/a/fixed/__pycache__/x.pyc"] = file("\xff")
	_, err := Load(fsys, Options{})
	assert.ErrorContains(t, err, "not valid UTF-8")
}

func TestWhatIsWrongWithAProofSpoilsNothingElse(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(t *testing.T, dir string)
		want   string
	}{
		{"compiled code", func(t *testing.T, dir string) {
			require.NoError(t, os.WriteFile(filepath.Join(dir, "prove.pyc"), []byte("\xff"), 0o644))
		}, "cases/a/proof/prove.pyc: is not valid UTF-8; convert it, or leave it out of the case"},
		{"a link to a file", func(t *testing.T, dir string) {
			link(t, "../../../README.md", filepath.Join(dir, "readme.md"))
		}, "cases/a/proof/readme.md: is a symbolic link; put the file itself there"},
		{"a link to nothing", func(t *testing.T, dir string) {
			link(t, "nowhere", filepath.Join(dir, "cmd", "link"))
		}, "cases/a/proof/cmd/link: is a symbolic link; put the file itself there"},
		{"a link to a directory", func(t *testing.T, dir string) {
			require.NoError(t, os.RemoveAll(dir))
			link(t, "fixed", dir)
		}, "cases/a/proof: is not a directory; a side is a directory of files, and links are not followed"},
		{"a file", func(t *testing.T, dir string) {
			require.NoError(t, os.RemoveAll(dir))
			require.NoError(t, os.WriteFile(dir, []byte("x"), 0o644))
		}, "cases/a/proof: is not a directory; a side is a directory of files, and links are not followed"},
		{"too many files", func(t *testing.T, dir string) {
			for i := range maxSideFiles + 1 {
				require.NoError(t, os.WriteFile(filepath.Join(dir, "f"+strings.Repeat("x", i%20)+strings.Repeat("y", i/20)), nil, 0o644))
			}
		}, "cases/a/proof: holds more than 500 files; keep the files that the case needs"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := onDisk(t, sampleFS())
			c.change(t, filepath.Join(dir, "cases", "a", ProofDir))
			corpus := load(t, os.DirFS(dir))
			sql := corpus.Cases[0]
			require.NotNil(t, sql.Proof, "there is something that is called a proof")
			assert.Empty(t, sql.Proof.Files)
			assert.Equal(t, c.want, sql.ProofDefect())
			assert.Zero(t, Stats(corpus).WithProof)
			var got []string
			for _, p := range Lint(corpus) {
				if p.Rule != RuleNoGrammar {
					got = append(got, p.String())
				}
			}
			assert.Equal(t, []string{"catalog.toml:4: case sql: error: " + c.want + " (proof)"}, got)
		})
	}
}

func link(t *testing.T, target, name string) {
	t.Helper()
	if err := os.Symlink(filepath.FromSlash(target), name); err != nil {
		t.Skipf("no symbolic links here: %v", err)
	}
}

// The files of proofs are read within bounds of their own.
func TestProofsTakeNothingFromTheSides(t *testing.T) {
	l := &catalogLoader{reader: &reader{fsys: sampleFS(), read: maxCorpusBytes - 60}, proofs: &reader{fsys: sampleFS()}}
	_, err := l.reader.side("cases/a/vulnerable")
	require.Error(t, err)
	proof, defect := l.proofs.proof("cases/a/proof")
	assert.Empty(t, defect)
	assert.Len(t, proof.Files, 2)
	none, defect := l.proofs.proof("cases/c/proof")
	assert.Empty(t, defect)
	assert.Nil(t, none)
}

func TestProofDefect(t *testing.T) {
	for _, c := range []struct {
		name, side, proof, how string
	}{
		{"added", "app.py", "stubs/web.py", ""},
		{"added to a directory", "src/app.js", "src/auth.js", ""},
		{"the same base name", "a/app.py", "b/app.py", ""},
		{"a module beside another", "shop/models.py", "shop/models_stub.py", ""},
		{"data of the name of a proof's module", "flask.txt", "flask/__init__.py", ""},
		{"data beside data", "config.json", "config.yaml", ""},

		{"the same path", "app.py", "app.py", "would replace"},
		{"other letter case", "App.py", "app.PY", "would replace"},
		{"the module file", "go.mod", "go.mod.txt", "would replace"},
		{"a module file of its own", "sub/go.mod", "go.mod.txt", ""},
		{"a file where a directory is", "store/db.go", "store", "needs the place of"},
		{"a directory where a file is", "data.txt", "Data.txt/x", "needs the place of"},
		{"a package before a module", "checks.py", "checks/__init__.py", "would be imported instead of"},
		{"any directory before a module", "lib/checks.py", "lib/Checks/deep/x.py", "would be imported instead of"},
		{"another extension", "src/auth.ts", "src/auth.js", "would be imported instead of"},
		{"data before a module", "src/auth.js", "src/auth.json", "would be imported instead of"},
		{"a file before an index", "src/auth/index.js", "src/auth.js", "would be imported instead of"},
	} {
		t.Run(c.name, func(t *testing.T) {
			k := &Case{Vulnerable: side("zz.py", ""), Fixed: side("other.py", "", c.side, ""), Proof: sorted("prove.py", c.proof)}
			want := ""
			if c.how != "" {
				want = "proof/" + c.proof + " " + c.how + " " + c.side + " of the fixed side; a proof may only add files, so rename or remove it"
			}
			assert.Equal(t, want, k.ProofDefect())
		})
	}
	assert.Empty(t, (&Case{}).ProofDefect())
}

// sorted is a side of empty files in the order of a loaded one.
func sorted(names ...string) *Side {
	s := &Side{}
	for _, name := range slices.Sorted(slices.Values(names)) {
		s.Files = append(s.Files, File{Path: name})
	}
	return s
}

func TestProofHasOneEntry(t *testing.T) {
	const none = "the proof has no entry; add prove.py, prove.mjs, prove.cjs or cmd/prove/main.go"
	const noModule = "the proof has the entry cmd/prove/main.go and no module to compile it in; add proof/go.mod.txt"
	for _, c := range []struct {
		name, vulnerable, fixed string
		proof                   []string
		want                    string
	}{
		{"nothing at all", "a.py", "a.py", nil, none},
		{"another name", "a.py", "a.py", []string{"Prove.py", "cmd/main.go", "sub/prove.py"}, none},
		{"TypeScript", "a.ts", "a.ts", []string{"prove.ts"}, none},
		{"Python", "a.py", "a.py", []string{"prove.py"}, ""},
		{"a module of JavaScript", "a.js", "a.js", []string{"prove.mjs"}, ""},
		{"a script of JavaScript", "a.js", "a.js", []string{"prove.cjs", "src/prove.mjs"}, ""},
		{"two", "a.js", "a.js", []string{"prove.cjs", "prove.mjs"}, "the proof has two entries, prove.mjs and prove.cjs; keep one"},
		{"two of two languages", "a.py", "a.py", []string{"prove.py", "cmd/prove/main.go"}, "the proof has two entries, prove.py and cmd/prove/main.go; keep one"},
		{"three", "a.js", "a.js", []string{"prove.cjs", "prove.mjs", "prove.py"}, "the proof has 3 entries, prove.py, prove.mjs, prove.cjs; keep one"},
		{"Go without a module", "a.go", "a.go", []string{"cmd/prove/main.go"}, noModule},
		{"Go with one elsewhere", "a.go", "a.go", []string{"cmd/prove/main.go", "internal/go.mod.txt"}, noModule},
		{"Go with one", "a.go", "a.go", []string{"cmd/prove/main.go", "go.mod.txt"}, ""},
		{"Go with one under its own name", "a.go", "a.go", []string{"cmd/prove/main.go", "go.mod"}, ""},
		{"Go in that of the sides", "go.mod", "go.mod", []string{"cmd/prove/main.go"}, ""},
		{"Go in that of one side", "go.mod", "a.go", []string{"cmd/prove/main.go"}, noModule},
	} {
		t.Run(c.name, func(t *testing.T) {
			assert.Equal(t, c.want, (&Case{Vulnerable: sorted(c.vulnerable), Fixed: sorted(c.fixed), Proof: sorted(c.proof...)}).ProofDefect())
		})
	}
}

func TestLintReportsAProofWithoutAnEntry(t *testing.T) {
	assert.Equal(t, []string{"catalog.toml:4: case sql: error: the proof has no entry; add prove.py, prove.mjs, prove.cjs or cmd/prove/main.go (proof)"},
		lint(t, func(fsys fstest.MapFS) { delete(fsys, "cases/a/proof/cmd/prove/main.go") }))
}

func TestLintReportsAProofThatReplaces(t *testing.T) {
	assert.Equal(t, []string{"catalog.toml:4: case sql: error: proof/DB.go would replace db.go of the vulnerable side; a proof may only add files, so rename or remove it (proof)"},
		lint(t, add("cases/a/proof/DB.go", "package db\n")))
}

// The proofs that come with the program may be run.
func TestEmbeddedProofs(t *testing.T) {
	corpus := load(t, os.DirFS(filepath.Join(moduleRoot(t), "fixtures", "testdata")))
	proofs := 0
	for _, k := range corpus.Cases {
		assert.Empty(t, k.ProofDefect(), k.ID)
		if k.Proof != nil {
			proofs++
		}
	}
	assert.Positive(t, proofs)
	assert.Equal(t, proofs, Stats(corpus).WithProof)
}
