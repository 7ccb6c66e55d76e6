package corpus

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"sort"

	"github.com/youden-bench/youden/corpus/family"
)

// The files that make a directory a corpus, and the one that may stand beside
// them.
const (
	CatalogFile  = "catalog.toml"
	ManifestFile = "manifest.json"
	SplitsFile   = "splits.toml"
)

// Source says in which form a corpus was written.
type Source string

// The forms that Load reads.
const (
	FromCatalog  Source = "catalog.toml"
	FromManifest Source = "bench.pairs/1"
)

// ErrNoCorpus is returned for a directory without a catalog or manifest.
var ErrNoCorpus = errors.New("no corpus here")

// Options of Load. The zero value is ready to use.
type Options struct {
	Taxonomy  *family.Taxonomy // nil = family.Default()
	SplitSeed uint64           // of the split of a catalog that declares none
}

// Corpus is a set of cases that come from one slice. Cases stand in the order
// of the file and include the holdout: only those who check a corpus need them
// all, a search uses Open.
type Corpus struct {
	Slice        string
	Source       Source
	Cases        []*Case
	Taxonomy     *family.Taxonomy
	MemorySafety bool     // the corpus plants memory errors and says so
	Promise      *Promise // what the catalog says of itself; nil = nothing

	// SplitsDeclared is true when the split was written down, false when it
	// was drawn with SplitSeed or when there is none.
	SplitsDeclared bool
	SplitSeed      uint64

	root   fs.FS
	places map[*Case]place
}

// place is where a case stands in the catalog or manifest.
type place struct {
	file         string
	line, column int
	dir          string // of the sides
}

// Load reads the corpus at the root of fsys: a catalog.toml, or a manifest.json
// of schema bench.pairs/1. Anything wrong with the files is an error that says
// where and what to do; what is wrong with a label (a span outside its file) is
// left to Unscorable, so that one bad case does not lose the rest.
func Load(fsys fs.FS, o Options) (*Corpus, error) {
	if o.Taxonomy == nil {
		o.Taxonomy = family.Default()
	}
	hasCatalog, err := exists(fsys, CatalogFile)
	if err != nil {
		return nil, err
	}
	hasManifest, err := exists(fsys, ManifestFile)
	if err != nil {
		return nil, err
	}
	var c *Corpus
	switch {
	case hasCatalog && hasManifest:
		return nil, fmt.Errorf("loading a corpus: both %s and %s are there; keep one", CatalogFile, ManifestFile)
	case hasCatalog:
		c, err = loadCatalog(fsys, o)
	case hasManifest:
		c, err = loadManifest(fsys, o)
	default:
		return nil, fmt.Errorf("loading a corpus: %w: neither %s nor %s; name the directory that holds one", ErrNoCorpus, CatalogFile, ManifestFile)
	}
	if err != nil {
		return nil, fmt.Errorf("loading a corpus: %w", err)
	}
	if err := c.split(o.SplitSeed); err != nil {
		return nil, fmt.Errorf("loading a corpus: %w", err)
	}
	return c, nil
}

func exists(fsys fs.FS, name string) (bool, error) {
	_, err := fs.Lstat(fsys, name)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("loading a corpus: looking for %s: %w", name, err)
	}
	return true, nil
}

// Hash covers the cases, whatever their order, ids and splits: two corpora with
// one hash ask the same questions and know the same answers.
func (c *Corpus) Hash() string { return hashOf("youden/corpus/1", c.Cases) }

// hashOf hashes a set of cases by their case hashes.
func hashOf(domain string, cases []*Case) string {
	hashes := make([]string, len(cases))
	for i, k := range cases {
		hashes[i] = k.Hash()
	}
	sort.Strings(hashes)
	h := newHasher(domain)
	h.strings(hashes)
	return h.sum()
}

// HasSplit reports whether the cases lie in splits at all.
func (c *Corpus) HasSplit() bool {
	return slices.ContainsFunc(c.Cases, func(k *Case) bool { return k.Split != NoSplit })
}
