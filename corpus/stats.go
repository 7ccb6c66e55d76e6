package corpus

import (
	"cmp"
	"slices"

	"github.com/youden-bench/youden/corpus/family"
)

// Statistics say what a corpus consists of. Lists are sorted by their keys.
type Statistics struct {
	Slice      string `json:"slice"`
	Hash       string `json:"hash"`
	Cases      int    `json:"cases"`
	Pairs      int    `json:"pairs"`
	Groups     int    `json:"groups"`
	Files      int    `json:"files"`
	Lines      int    `json:"lines"`
	Bytes      int    `json:"bytes"`
	Unscorable int    `json:"unscorable"` // cases with a side that cannot be scored

	Families  []FamilyCount `json:"families"`
	Languages []Count       `json:"languages"`
	Splits    []Count       `json:"splits"`
	Tasks     []Count       `json:"tasks"`
	Vetted    []VettedCount `json:"vetted"`
	Readings  Readings      `json:"readings"`

	Difficulties []Count `json:"difficulties"` // as the authors meant them
	OrdersModel  int     `json:"orders_model"` // cases whose code gives an order to its reader
	WithProof    int     `json:"with_proof"`   // cases that can be proved by running them
}

// Readings sum up the blind readings. The first reading of a case stays as it
// was, whatever was changed later; Settled counts the cases as they are now
// whose last blind reader agreed.
type Readings struct {
	Read    int `json:"read"`   // cases read blind
	Agreed  int `json:"agreed"` // first readings that agreed in everything
	Side    int `json:"side"`   // that named the vulnerable side rightly
	Place   int `json:"place"`  // that pointed at the labelled place
	Family  int `json:"family"` // that named an accepted family
	Fixed   int `json:"fixed"`  // that found nothing else on the fixed side
	Changed int `json:"changed"`
	Settled int `json:"settled"`
	Residue int `json:"residue"` // cases with a known weakness of whatever family on the fixed side, read blind or not
}

func (r *Readings) add(k *Case) {
	v := k.Vetted
	if len(k.Residue) > 0 {
		r.Residue++
	}
	if v.First == Unread {
		return
	}
	for _, n := range []struct {
		count *int
		holds bool
	}{
		{&r.Read, true}, {&r.Agreed, v.First == Agreed}, {&r.Side, !v.disputed(DisputeSide)}, {&r.Place, !v.disputed(DisputePlace)},
		{&r.Family, !v.disputed(DisputeFamily)}, {&r.Fixed, !v.disputed(DisputeFixed)}, {&r.Changed, v.Changed != ""},
		{&r.Settled, v.settled()},
	} {
		if n.holds {
			*n.count++
		}
	}
}

// FamilyCount counts the cases of a family, in taxonomy order, by split. Cases
// of other tasks than auditing may have no family.
type FamilyCount struct {
	Family   family.ID `json:"family"`
	Cases    int       `json:"cases"`
	Groups   int       `json:"groups"`
	Residual int       `json:"residual"` // of Readings.Residue, those of an accepted family: scored under the region policy
	NoSplit  int       `json:"no_split"`
	Feedback int       `json:"feedback"`
	Pareto   int       `json:"pareto"`
	Holdout  int       `json:"holdout"`
}

// Count is the number of cases with a property.
type Count struct {
	Name  string `json:"name"`
	Cases int    `json:"cases"`
}

// VettedCount is the number of cases with one record of vetting.
type VettedCount struct {
	Level   Level   `json:"level"`
	First   Reading `json:"first"`   // what the blind reader said
	Changed bool    `json:"changed"` // whether something was changed after the reading
	Cases   int     `json:"cases"`
}

// Stats counts a corpus.
func Stats(c *Corpus) Statistics {
	s := Statistics{Slice: c.Slice, Hash: c.Hash(), Cases: len(c.Cases)}
	languages, splits, taskCounts, difficulties := map[string]int{}, map[string]int{}, map[string]int{}, map[string]int{}
	groups := map[string]bool{}
	vetted := map[VettedCount]int{}
	for _, k := range c.Cases {
		groups[k.Group] = true
		languages[k.Language]++
		splits[string(k.Split)]++
		taskCounts[k.Task]++
		difficulties[string(k.Difficulty)]++
		s.Readings.add(k)
		if k.OrdersModel {
			s.OrdersModel++
		}
		if k.Proof != nil && k.ProofDefect() == "" {
			s.WithProof++
		}
		vetted[VettedCount{Level: k.Vetted.Level, First: k.Vetted.First, Changed: k.Vetted.Changed != ""}]++
		if k.IsPair() {
			s.Pairs++
		}
		s.addFiles(k)
	}
	s.Groups = len(groups)
	s.Families = familyCounts(c)
	s.Languages, s.Splits, s.Tasks, s.Difficulties = counts(languages), counts(splits), counts(taskCounts), counts(difficulties)
	for record, n := range vetted {
		record.Cases = n
		s.Vetted = append(s.Vetted, record)
	}
	slices.SortFunc(s.Vetted, func(a, b VettedCount) int {
		changed := 0
		if a.Changed != b.Changed {
			changed = 1
			if b.Changed {
				changed = -1
			}
		}
		return cmp.Or(cmp.Compare(a.Level, b.Level), cmp.Compare(a.First, b.First), changed)
	})
	return s
}

func (s *Statistics) addFiles(k *Case) {
	unscorable := false
	for _, name := range k.Sides() {
		if reason, _ := k.Unscorable(name); reason != Scorable {
			unscorable = true
		}
		for _, f := range k.Side(name).Files {
			s.Files++
			s.Lines += f.Lines()
			s.Bytes += len(f.Text)
		}
	}
	if unscorable {
		s.Unscorable++
	}
}

// familyCounts lists the families that have cases, in the order of the
// taxonomy and those without a family last.
func familyCounts(c *Corpus) []FamilyCount {
	byFamily := map[family.ID]*FamilyCount{}
	groups := map[family.ID]map[string]bool{}
	for _, k := range c.Cases {
		n := byFamily[k.Family]
		if n == nil {
			n = &FamilyCount{Family: k.Family}
			byFamily[k.Family], groups[k.Family] = n, map[string]bool{}
		}
		n.Cases++
		groups[k.Family][k.Group] = true
		if k.ResidualAccepted() {
			n.Residual++
		}
		switch k.Split {
		case Feedback:
			n.Feedback++
		case Pareto:
			n.Pareto++
		case Holdout:
			n.Holdout++
		default:
			n.NoSplit++
		}
	}
	var list []FamilyCount
	taxonomy := cmp.Or(c.Taxonomy, family.Default())
	for _, f := range append(taxonomy.Families(), family.Family{}) {
		if n := byFamily[f.ID]; n != nil {
			n.Groups = len(groups[f.ID])
			list = append(list, *n)
		}
	}
	return list
}

func counts(m map[string]int) []Count {
	list := make([]Count, 0, len(m))
	for name, n := range m {
		list = append(list, Count{name, n})
	}
	slices.SortFunc(list, func(a, b Count) int { return cmp.Compare(a.Name, b.Name) })
	return list
}
