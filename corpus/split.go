package corpus

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/youden-bench/youden/corpus/family"
	"github.com/youden-bench/youden/corpus/tomlfile"
)

// Splits is the document that says which case lies in which split. It is
// written once, committed beside the corpus, and read by Load.
type Splits struct {
	Seed  uint64
	Cases []Assignment
}

// Assignment puts one case into a split. Content is its content hash, so that a
// case that changed cannot keep a place that was drawn for another.
type Assignment struct {
	ID      string
	Content string
	Split   Split
}

// split gives the cases their splits after loading: the declared one, that of
// the splits document, or, for a catalog, a drawn one.
func (c *Corpus) split(seed uint64) error {
	written, err := exists(c.root, SplitsFile)
	switch {
	case err != nil:
		return err
	case written && c.SplitsDeclared:
		return fmt.Errorf("%s and the cases of %s both declare splits; keep one", SplitsFile, CatalogFile)
	case written:
		return c.readSplits()
	case c.Source == FromCatalog && !c.SplitsDeclared:
		c.SplitSeed = seed
		for i, a := range c.Draw(seed).Cases {
			c.Cases[i].Split = a.Split
		}
	}
	return nil
}

// Draw draws a split: a third of the cases held out and of the rest half each
// for feedback and pareto, family by family as far as the groups allow. It
// depends on the seed and on what the cases contain, not on their order, ids
// or names. The corpus itself is unchanged.
func (c *Corpus) Draw(seed uint64) Splits {
	contents := make([]string, len(c.Cases))
	keys := make([][]string, len(c.Cases))
	for i, k := range c.Cases {
		contents[i] = k.ContentHash()
		keys[i] = []string{"group:" + k.Group, "content:" + contents[i]}
	}
	blocks := map[int]*block{}
	groups := groupsOf(keys)
	for i, g := range groups {
		if blocks[g] == nil {
			blocks[g] = &block{families: map[family.ID]int{}}
		}
		blocks[g].add(c.Cases[i].Family, contents[i])
	}
	order := make([]*block, 0, len(blocks))
	for i := range c.Cases {
		if b := blocks[i]; b != nil { // a group's key is its first case
			b.seal(seed)
			order = append(order, b)
		}
	}
	distribute(order, len(c.Cases))
	s := Splits{Seed: seed}
	for i, k := range c.Cases {
		s.Cases = append(s.Cases, Assignment{ID: k.ID, Content: contents[i], Split: blocks[groups[i]].split})
	}
	return s
}

// block is what moves as one: the cases of a group and their copies.
type block struct {
	size     int
	families map[family.ID]int
	contents []string
	rank     string // seeded, from the contents
	split    Split
}

func (b *block) add(f family.ID, content string) {
	b.size++
	b.families[f]++
	b.contents = append(b.contents, content)
}

func (b *block) seal(seed uint64) {
	slices.Sort(b.contents)
	h := newHasher("youden/split/1")
	h.field(string(binary.BigEndian.AppendUint64(nil, seed)))
	h.strings(b.contents)
	b.rank = h.sum()
}

// distribute puts each block where its families lack most, large blocks first, so
// that the small ones can even out what the large ones upset. All three splits
// aim at a third: a third held out, and the rest halved.
func distribute(blocks []*block, total int) {
	slices.SortFunc(blocks, func(a, b *block) int {
		return cmp.Or(cmp.Compare(b.size, a.size), cmp.Compare(a.rank, b.rank))
	})
	sizes := map[family.ID]int{}
	for _, b := range blocks {
		for f, n := range b.families {
			sizes[f] += n
		}
	}
	all := []Split{Holdout, Feedback, Pareto}
	filled := map[Split]int{}
	filledBy := map[Split]map[family.ID]int{Holdout: {}, Feedback: {}, Pareto: {}}
	lack := func(b *block, s Split) int {
		sum := 0
		for f, n := range b.families {
			sum += n * (sizes[f] - len(all)*filledBy[s][f])
		}
		return sum
	}
	for _, b := range blocks {
		b.split = slices.MaxFunc(all, func(x, y Split) int {
			return cmp.Or(cmp.Compare(lack(b, x), lack(b, y)),
				cmp.Compare(total-len(all)*filled[x], total-len(all)*filled[y]),
				cmp.Compare(coin(b.rank, x), coin(b.rank, y)))
		})
		filled[b.split] += b.size
		for f, n := range b.families {
			filledBy[b.split][f] += n
		}
	}
}

// coin breaks a tie between splits differently for each block.
func coin(rank string, s Split) string {
	h := newHasher("youden/split-coin/1")
	h.strings([]string{rank, string(s)})
	return h.sum()
}

type splitsDocument struct {
	Version int               `toml:"version"`
	Seed    uint64            `toml:"seed"`
	Cases   []assignmentEntry `toml:"case"`
}

type assignmentEntry struct {
	ID      string `toml:"id"`
	Content string `toml:"content"`
	Split   Split  `toml:"split"`
}

// Encode returns the document to be written to SplitsFile.
func (s Splits) Encode() ([]byte, error) {
	if s.Seed > math.MaxInt64 {
		return nil, fmt.Errorf("writing splits: seed %d does not fit a TOML integer; use one below 2^63", s.Seed)
	}
	var b bytes.Buffer
	b.WriteString("# The split of this corpus. Draw it again with `youden corpus split`; commit it\n# with the corpus. A holdout that was drawn again is another holdout.\n\n")
	fmt.Fprintf(&b, "version = 1\nseed = %d\n", s.Seed)
	for _, a := range s.Cases {
		// Ids may hold what TOML must quote; Go's quoting is a subset of it
		// for the printable text that Load lets through.
		fmt.Fprintf(&b, "\n[[case]]\nid = %s\nsplit = %q\ncontent = %q\n", strconv.Quote(a.ID), a.Split, a.Content)
	}
	return b.Bytes(), nil
}

const drawAgain = "draw it again with `youden corpus split`"

// readSplits applies the splits document, which must fit the corpus exactly.
func (c *Corpus) readSplits() error {
	data, err := (&reader{fsys: c.root}).document(SplitsFile)
	if err != nil {
		return err
	}
	var doc splitsDocument
	positions, err := tomlfile.Decode(SplitsFile, data, &doc)
	if err != nil {
		return err
	}
	var errs []error
	fault := func(message, remedy string, path ...any) {
		errs = append(errs, positions.Fault(message, remedy, path...))
	}
	if doc.Version != 1 {
		fault(fmt.Sprintf("version %d of the splits is unknown", doc.Version), "this program reads version 1", "version")
	}
	byID := map[string]*Case{}
	for _, k := range c.Cases {
		byID[k.ID] = k
	}
	groups := map[string]Split{}
	for i, a := range doc.Cases {
		k := byID[a.ID]
		switch {
		case k == nil:
			fault(fmt.Sprintf("case %q is not in the corpus, or is listed twice", a.ID), drawAgain, "case", i, "id")
			continue
		case k.ContentHash() != a.Content:
			fault(fmt.Sprintf("case %q changed since the split was drawn", a.ID), drawAgain, "case", i, "content")
		case !oneOf(a.Split, Feedback, Pareto, Holdout):
			fault(fmt.Sprintf("split %q is unknown", a.Split), "use feedback, pareto or holdout", "case", i, "split")
		}
		if earlier, ok := groups[k.Group]; ok && earlier != a.Split {
			fault(fmt.Sprintf("group %q straddles the splits %s and %s", k.Group, earlier, a.Split), drawAgain, "case", i, "split")
		}
		groups[k.Group] = a.Split
		k.Split = a.Split
		delete(byID, a.ID)
	}
	for _, k := range c.Cases {
		if byID[k.ID] != nil {
			fault(fmt.Sprintf("case %q is in no split", k.ID), drawAgain)
		}
	}
	c.SplitsDeclared, c.SplitSeed = true, doc.Seed
	return errors.Join(errs...)
}
