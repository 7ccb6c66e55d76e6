package corpus

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"
)

// sampleCatalog is a tidy corpus of two pairs and a clean fixture.
const sampleCatalog = `version = 1
slice = "sample"

[[case]]
id = "sql"
title = "a filter"
group = "shop"
task = "audit"
language = "go"
family = "injection"
accept = ["input_validation"]
cwe = "CWE-89"
vetted = { level = "proved", first = "disputed", on = ["place"], changed = "the span", again = "agreed" }
dir = "cases/a"
explanation = "the filter is concatenated"
trap = "the limit is not"
residual = [{ family = "path", note = "the export" }]
[[case.span]]
file = "db.go"
start = 3
end = 4
[[case.region]]
file = "db.go"
start = 4
end = 4

[[case]]
id = "html"
group = "page"
task = "audit"
language = "python"
family = "output_encoding"
vetted = { level = "read" }
dir = "cases/b"
explanation = "the name is not escaped"
trap = "the title is"
[[case.span]]
file = "web/page.py"
start = 2
end = 2

[[case]]
id = "clean"
task = "audit"
language = "go"
family = "path"
vetted = { level = "title" }
dir = "cases/c"
explanation = "the name is looked up in a map"
trap = "it looks like a join"
`

const (
	goBefore = "package db\n\nfunc find(a string) string {\n\treturn \"select \" + a\n}\n"
	goAfter  = "package db\n\nfunc find(a string) string {\n\treturn \"select ?\"\n}\n"
	pyBefore = "def page(name):\n    return '<p>' + name\n"
	pyAfter  = "def page(name):\n    return '<p>' + quote(name)\n"
)

func sampleFS() fstest.MapFS {
	return fstest.MapFS{
		CatalogFile:                        file(sampleCatalog),
		"README.md":                        file("about\n"),
		"cases/a/vulnerable/db.go":         file(goBefore),
		"cases/a/fixed/db.go":              file(goAfter),
		"cases/a/proof/cmd/prove/main.go":  file("package main\n"),
		"cases/a/proof/go.mod.txt":         file("module proof\n"),
		"cases/b/vulnerable/web/page.py":   file(pyBefore),
		"cases/b/vulnerable/web/a.py":      file("x = 1\n"),
		"cases/b/fixed/web/page.py":        file(pyAfter),
		"cases/b/fixed/web/a.py":           file("x = 1\n"),
		"cases/c/fixed/store/files.go":     file("package store\n\nvar names = map[string]string{}\n"),
		"cases/c/fixed/store/more/load.go": file("package more\n"),
	}
}

func file(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(text)} }

// edited is the sample with one replacement in its catalog.
func edited(t *testing.T, from, to string) fstest.MapFS {
	t.Helper()
	require.Contains(t, sampleCatalog, from)
	fsys := sampleFS()
	fsys[CatalogFile] = file(strings.Replace(sampleCatalog, from, to, 1))
	return fsys
}

func load(t *testing.T, fsys fs.FS) *Corpus {
	t.Helper()
	c, err := Load(fsys, Options{})
	require.NoError(t, err)
	return c
}

// moduleRoot walks up to the directory with go.mod.
func moduleRoot(t *testing.T) string {
	t.Helper()
	dir, err := os.Getwd()
	require.NoError(t, err)
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		parent := filepath.Dir(dir)
		require.NotEqual(t, dir, parent, "no go.mod above the package")
		dir = parent
	}
}

// sharedPairs is the directory of the handed pairs, which are not part of the
// project.
func sharedPairs(t *testing.T) fs.FS {
	t.Helper()
	shared := os.Getenv("YOUDEN_SHARED")
	if shared == "" {
		shared = filepath.Join(moduleRoot(t), "..", "shared")
	}
	dir := filepath.Join(shared, "data", "pairs")
	if _, err := os.Stat(filepath.Join(dir, ManifestFile)); err != nil {
		t.Skipf("no pairs at %s; set YOUDEN_SHARED", dir)
	}
	return os.DirFS(dir)
}
