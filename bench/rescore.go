package bench

import (
	"path/filepath"

	"github.com/youden-bench/youden/measurements"
)

// Rescore judges the stored findings of the capture in dir again, by the rules
// of this version and the labels of a corpus; "" is the corpus that the capture
// names. No call is made and the capture is left as it is. A capture of a
// holdout opens the holdout once more, on record.
func Rescore(dir, corpusDir string) (*measurements.Capture, measurements.Rescored, error) {
	c, err := measurements.Open(dir)
	if err != nil {
		return nil, measurements.Rescored{}, err
	}
	m := c.Manifest()
	if corpusDir == "" {
		corpusDir = m.Plan.Corpus.Source
	}
	source, err := OpenCorpus(corpusDir)
	if err != nil {
		return nil, measurements.Rescored{}, err
	}
	selected, err := source.take(m.Plan.Split, filepath.Dir(filepath.Clean(dir)), "score", m.Plan.Detector.Name)
	if err != nil {
		return nil, measurements.Rescored{}, err
	}
	scored, err := measurements.Rescore(c, selected.cases, measurements.DefaultRules())
	return c, scored, err
}
