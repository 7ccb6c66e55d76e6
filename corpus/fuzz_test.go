package corpus

import (
	"errors"
	"testing"
	"testing/fstest"

	"github.com/youden-bench/youden/corpus/tomlfile"
)

// checkLoaded asks everything of a corpus that loaded: what came from outside
// must not make any of it fail.
func checkLoaded(t *testing.T, fsys fstest.MapFS) {
	c, err := Load(fsys, Options{SplitSeed: 1})
	if err != nil {
		var place *tomlfile.Error
		var bad *fileError
		if !errors.As(err, &place) && !errors.As(err, &bad) {
			t.Fatalf("an error without a place: %v", err)
		}
		return
	}
	ids := map[string]bool{}
	for _, k := range c.Cases {
		if k.ID == "" || ids[k.ID] {
			t.Fatalf("id %q is empty or used twice", k.ID)
		}
		ids[k.ID] = true
		if len(k.Sides()) == 0 {
			t.Fatalf("case %q has no side", k.ID)
		}
		for _, side := range k.Sides() {
			k.Unscorable(side)
		}
	}
	Lint(c)
	Stats(c)
	train, sealed := c.Seal()
	if len(train.Cases())+sealed.Count() != len(c.Cases) {
		t.Fatal("a case was lost between train and holdout")
	}
	s := c.Draw(2)
	document, err := s.Encode()
	if err != nil {
		t.Fatal(err)
	}
	if !c.SplitsDeclared {
		fsys[SplitsFile] = &fstest.MapFile{Data: document}
		if _, err := Load(fsys, Options{}); err != nil {
			t.Fatalf("the splits document does not fit: %v\n%s", err, document)
		}
	}
}

func FuzzCatalog(f *testing.F) {
	f.Add([]byte(sampleCatalog))
	f.Add([]byte("version = 1\nslice = 'x'\n[[case]]\nid = 'a'\ndir = '../..'\n"))
	f.Add([]byte("version = 1\nslice = 'x'\ncase = [{id='\\u0000\"', task='audit', language='go', family='path', vetted={level='read'}, dir='cases/a'}]\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		fsys := sampleFS()
		fsys[CatalogFile] = &fstest.MapFile{Data: data}
		checkLoaded(t, fsys)
	})
}

func FuzzManifest(f *testing.F) {
	f.Add([]byte(sampleManifest))
	f.Add([]byte(`{"schema":"bench.pairs/1","set":"x","pairs":[{"id":".."},{"id":"p1","files":{"fixed":["/etc/passwd"]}}]}`))
	f.Add([]byte(`{"pairs":[null,1,"x",[]],"pairs":[]}`))
	f.Fuzz(func(t *testing.T, data []byte) { checkLoaded(t, manifestFS(string(data))) })
}
