package bench

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/youden-bench/youden/corpus"
	"github.com/youden-bench/youden/detector"
	"github.com/youden-bench/youden/fixtures"
)

// OpenDetector finds a detector by embedded name or directory and builds its
// program.
func OpenDetector(name string, programs detector.Registry) (*detector.Detector, detector.Program, error) {
	d, err := loadDetector(name)
	if err != nil {
		return nil, nil, err
	}
	program, err := programs.Build(d)
	if err != nil {
		return nil, nil, err
	}
	return d, program, nil
}

// loadDetector prefers an embedded name; a directory of that name is reached as
// ./NAME.
func loadDetector(name string) (*detector.Detector, error) {
	_, embedded := detector.Embedded()
	if slices.Contains(embedded, name) {
		return detector.LoadEmbedded(name)
	}
	if info, err := os.Stat(name); err == nil && info.IsDir() {
		fsys, err := confined(name)
		if err != nil {
			return nil, fmt.Errorf("detector %s: %w", name, err)
		}
		return detector.Load(fsys, name)
	}
	return detector.LoadEmbedded(name)
}

// confined opens a directory such that no link can lead out of it.
func confined(dir string) (fs.FS, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	return root.FS(), nil
}

// Source is an opened corpus.
type Source struct {
	Name     string // for people and records: the directory, or "embedded"
	Train    *corpus.Train
	Sealed   *corpus.Sealed
	openings string // beside the catalog; "" = in the captures folder
}

// EmbeddedCorpus is how records name the cases that ship with youden.
const EmbeddedCorpus = "embedded"

const openingsFile = "openings.jsonl"

// OpenCorpus opens a corpus directory, or the embedded cases for "".
func OpenCorpus(dir string) (*Source, error) {
	c, err := LoadCorpus(dir)
	if err != nil {
		return nil, err
	}
	s := &Source{Name: EmbeddedCorpus}
	if !IsEmbedded(dir) {
		s.Name, s.openings = dir, filepath.Join(dir, openingsFile)
	}
	s.Train, s.Sealed = c.Seal()
	return s, nil
}

// IsEmbedded reports whether a corpus is named as the embedded one, or not at all.
func IsEmbedded(dir string) bool { return dir == "" || dir == EmbeddedCorpus }

// LoadCorpus reads a corpus with its holdout unsealed, for those who check
// labels; whoever scores uses OpenCorpus.
func LoadCorpus(dir string) (*corpus.Corpus, error) {
	if IsEmbedded(dir) {
		return corpus.Load(fixtures.FS(), corpus.Options{})
	}
	info, err := os.Stat(dir)
	if err != nil {
		return nil, fmt.Errorf("open corpus: %w; --corpus takes a directory with a catalog.toml", err)
	}
	if !info.IsDir() {
		return nil, fmt.Errorf("open corpus %s: it is no directory; --corpus takes the directory that holds the catalog", dir)
	}
	fsys, err := confined(dir)
	if err != nil {
		return nil, fmt.Errorf("open corpus %s: %w", dir, err)
	}
	c, err := corpus.Load(fsys, corpus.Options{})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", dir, err)
	}
	return c, nil
}

// selection is what a command may look at.
type selection struct {
	cases    []*corpus.Case
	split    string // train, holdout or all; all when the corpus has no holdout
	openings int    // of its holdout so far, this one included
}

// outlines describes the cases of a split without opening anything.
func (s *Source) outlines(split string) ([]corpus.Outline, error) {
	if s.Sealed.Count() == 0 {
		if split == "holdout" {
			return nil, fmt.Errorf("corpus %s has no holdout; use --split all, or declare splits in its catalog", s.Name)
		}
		return s.Train.Outlines(), nil
	}
	var list []corpus.Outline
	if split != "holdout" {
		list = s.Train.Outlines()
	}
	if split != "train" {
		list = append(list, s.Sealed.Outlines()...)
	}
	return list, nil
}

// take returns the cases of a split. The holdout leaves its seal only here, and
// the opening is on disk before the first of its cases is. Openings of the
// embedded holdout are recorded in folder.
func (s *Source) take(split, folder, command, detectorName string) (selection, error) {
	if s.Sealed.Count() == 0 {
		return selection{cases: s.Train.Cases(), split: "all"}, nil
	}
	log := corpus.Openings{Path: s.openings}
	if log.Path == "" {
		log.Path = filepath.Join(folder, openingsFile)
	}
	out := selection{split: split}
	if split != "holdout" {
		out.cases = s.Train.Cases()
	}
	if split != "train" {
		held, err := s.Sealed.Open(log, corpus.Opening{Command: command, Detector: detectorName})
		if err != nil {
			return selection{}, err
		}
		out.cases = append(out.cases, held...)
	}
	var err error
	out.openings, err = log.Count(s.Sealed.Hash())
	return out, err
}
