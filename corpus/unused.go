package corpus

import (
	"errors"
	"io/fs"
	"path"
	"strings"
)

// What else lies in the folder of a corpus: the settings of the program, the log
// of openings, and what captures and comparisons leave there. Their names belong
// to packages that stand on this one.
const (
	settingsFile = "youden.toml"
	openingsFile = "openings.jsonl"
	baselinesDir = "baselines"
	captureFile  = "capture.json" // makes a folder a capture
)

// maxWalk bounds the search for unused files.
const maxWalk = 100_000

// unused finds files below the corpus that belong to no case: the rest of a
// case that was renamed, or a file that a label should name.
func (l *linter) unused() {
	if l.corpus.root == nil {
		return
	}
	used := l.corpus.usedPaths()
	start := "."
	if l.corpus.Source == FromManifest {
		start = pairsDir
	}
	seen := 0
	err := fs.WalkDir(l.corpus.root, start, func(name string, entry fs.DirEntry, err error) error {
		if seen++; err != nil || seen > maxWalk {
			return errors.Join(err, fs.SkipAll)
		}
		switch {
		case entry.IsDir() && (used[name] || name != start && l.corpus.besides(name)):
			return fs.SkipDir
		case !entry.IsDir() && !used[name] && !besideCases(name):
			l.at(name, 0, RuleUnused, LintWarning, "the file belongs to no case; remove it, or add it to one")
		}
		return nil
	})
	if err != nil && !errors.Is(err, fs.SkipAll) {
		l.at(start, 0, RuleUnused, LintWarning, "the corpus could not be searched for unused files: %v", err)
	}
}

// usedPaths holds the files of all sides, and the directories of proofs with all
// that is in them.
func (c *Corpus) usedPaths() map[string]bool {
	used := map[string]bool{}
	for _, k := range c.Cases {
		dir := c.places[k].dir
		for _, name := range k.Sides() {
			for _, f := range k.Side(name).Files {
				used[path.Join(dir, string(name), f.Path)] = true
			}
		}
		if k.Proof != nil {
			used[path.Join(dir, ProofDir)] = true
		}
	}
	return used
}

// besides reports whether a directory holds something else than cases: a
// capture, baselines, or what is hidden, such as the data of a version control.
func (c *Corpus) besides(dir string) bool {
	if dir == baselinesDir || strings.HasPrefix(dir, ".") {
		return true
	}
	_, err := fs.Stat(c.root, path.Join(dir, captureFile))
	return err == nil
}

// besideCases reports whether a file is about the corpus and not of a case. The
// log of openings also lies beside captures.
func besideCases(name string) bool {
	if path.Base(name) == openingsFile {
		return true
	}
	if strings.Contains(name, "/") {
		return false
	}
	switch name {
	case CatalogFile, SplitsFile, settingsFile, "LICENSE", "NOTICE":
		return true
	}
	return path.Ext(name) == ".md" || strings.HasPrefix(name, ".")
}
