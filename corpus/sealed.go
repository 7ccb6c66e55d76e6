package corpus

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"time"

	"github.com/youden-bench/youden/corpus/family"
)

// Train is the part of a corpus that may be looked at freely: the feedback and
// pareto splits, or everything where there is no split.
type Train struct {
	slice    string
	taxonomy *family.Taxonomy
	cases    []*Case
	seed     uint64
	split    bool
}

// Sealed is the holdout. It says how much there is and gives its cases away
// only after the opening is on record.
type Sealed struct {
	cases []*Case
	hash  string
}

// Open loads a corpus and seals its holdout.
func Open(fsys fs.FS, o Options) (*Train, *Sealed, error) {
	c, err := Load(fsys, o)
	if err != nil {
		return nil, nil, err
	}
	train, sealed := c.Seal()
	return train, sealed, nil
}

// Seal parts the corpus into train and holdout.
func (c *Corpus) Seal() (*Train, *Sealed) {
	train := &Train{slice: c.Slice, taxonomy: c.Taxonomy, seed: c.SplitSeed, split: c.HasSplit()}
	sealed := &Sealed{}
	for _, k := range c.Cases {
		if k.Split == Holdout {
			sealed.cases = append(sealed.cases, k)
		} else {
			train.cases = append(train.cases, k)
		}
	}
	if len(sealed.cases) > 0 {
		sealed.hash = hashOf("youden/holdout/1", sealed.cases)
	}
	return train, sealed
}

// Cases lists the cases in the order of the corpus.
func (t *Train) Cases() []*Case { return slices.Clone(t.cases) }

// Slice says where the cases come from.
func (t *Train) Slice() string { return t.slice }

// Taxonomy is the one that the labels were checked against.
func (t *Train) Taxonomy() *family.Taxonomy { return t.taxonomy }

// Hash covers the cases of train, like Corpus.Hash.
func (t *Train) Hash() string { return hashOf("youden/corpus/1", t.cases) }

// HasSplit reports whether the corpus has a split.
func (t *Train) HasSplit() bool { return t.split }

// SplitSeed is the seed that the split was drawn with, 0 when it was declared.
func (t *Train) SplitSeed() uint64 { return t.seed }

// Count is the number of cases held out.
func (s *Sealed) Count() int { return len(s.cases) }

// Hash names the holdout by its cases; "" when nothing is held out.
func (s *Sealed) Hash() string { return s.hash }

// ErrNotRecorded is wrapped by the error of an opening that could not be put
// on record; the holdout then stays sealed.
var ErrNotRecorded = errors.New("the opening is not on record")

// Open records the opening and then returns the held-out cases. why says which
// command opens the holdout, for which detector and for what reason; the first
// must be given. An empty holdout is returned as it is and records nothing.
func (s *Sealed) Open(log Openings, why Opening) ([]*Case, error) {
	if len(s.cases) == 0 {
		return nil, nil
	}
	if strings.TrimSpace(why.Command) == "" {
		return nil, fmt.Errorf("opening the holdout: %w: no command is named; say who opens it", ErrNotRecorded)
	}
	if why.Time.IsZero() {
		why.Time = time.Now()
	}
	why.Time = why.Time.UTC()
	why.Holdout = s.hash
	if err := log.append(why); err != nil {
		return nil, fmt.Errorf("opening the holdout: %w in %s: %w; make the file writable", ErrNotRecorded, log.Path, err)
	}
	return slices.Clone(s.cases), nil
}
