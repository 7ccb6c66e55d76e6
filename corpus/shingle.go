package corpus

import (
	"cmp"
	"hash/fnv"
	"slices"
	"sort"

	"regexp"
)

// Near-duplicates are cases that share much of their text without being
// copies: the same fix harvested from two branches, or one skeleton written
// twice. They are found by shingles (Broder 1997): runs of words, of which two
// texts share as many as they share passages.
const (
	// shingleWords is the length of a run. Shorter ones join files that merely
	// speak of one library, longer ones miss a passage with a renamed variable.
	shingleWords = 12
	// nearCopied is the share of the smaller case that must be found in the
	// other one.
	nearCopied = 0.25
	// commonShingle drops a run that more cases than this hold: the boilerplate
	// of a framework says nothing about two of them.
	commonShingle = 20
	// fewShingles is too short a text to say anything.
	fewShingles = 20
)

var shingleToken = regexp.MustCompile(`[\pL\pN_]+|[^\s\pL\pN_]`)

// shingles returns the hashes of all runs of words in the files that the labels
// of a case name, on both sides together, sorted.
func (c *Case) shingles() []uint64 {
	var set []uint64
	for _, name := range c.Sides() {
		for _, f := range c.Side(name).Files {
			tokens := shingleToken.FindAll(f.Text, -1)
			for i := 0; i+shingleWords <= len(tokens); i++ {
				h := fnv.New64a()
				for _, t := range tokens[i : i+shingleWords] {
					_, _ = h.Write(t) // a hash never fails
					_, _ = h.Write([]byte{0})
				}
				set = append(set, h.Sum64())
			}
		}
	}
	slices.Sort(set)
	return slices.Compact(set)
}

// resemblance is how much two cases share.
type resemblance struct {
	first, second int     // indices into the corpus, first < second
	share         float64 // of the shingles of the smaller one
}

// resemblances lists the pairs of cases that share more than nearCopied.
func resemblances(cases []*Case) []resemblance {
	sizes := make([]int, len(cases))
	holders := map[uint64][]int{}
	for i, k := range cases {
		set := k.shingles()
		sizes[i] = len(set)
		for _, h := range set {
			if len(holders[h]) <= commonShingle {
				holders[h] = append(holders[h], i)
			}
		}
	}
	shared := map[[2]int]int{}
	for _, in := range holders {
		if len(in) > commonShingle {
			continue
		}
		for a := range in {
			for _, b := range in[a+1:] {
				shared[[2]int{in[a], b}]++
			}
		}
	}
	var list []resemblance
	for at, n := range shared {
		smaller := min(sizes[at[0]], sizes[at[1]])
		if share := float64(n) / float64(smaller); smaller >= fewShingles && share >= nearCopied {
			list = append(list, resemblance{at[0], at[1], share})
		}
	}
	sort.Slice(list, func(i, j int) bool {
		return cmp.Or(cmp.Compare(list[i].first, list[j].first), cmp.Compare(list[i].second, list[j].second)) < 0
	})
	return list
}

// nearDuplicates reports cases that resemble each other: between splits a leak,
// between groups a dependence that no interval knows of, within a group one
// question asked twice.
func (l *linter) nearDuplicates() {
	for _, r := range resemblances(l.corpus.Cases) {
		a, b := l.corpus.Cases[r.first], l.corpus.Cases[r.second]
		if l.copies[[2]*Case{a, b}] {
			continue
		}
		severity, advice := LintWarning, "put both into one group, or write one of them anew"
		switch {
		case a.Split != b.Split:
			severity, advice = l.style(), "they lie in the splits "+string(a.Split)+" and "+string(b.Split)+"; put both into one group"
		case a.Group == b.Group:
			advice = "they ask one question twice; keep one, or make them differ"
		}
		l.on(b, RuleNearDuplicate, severity, "%.0f %% of the smaller one's text is shared with case %q; %s", 100*r.share, a.ID, advice)
	}
}
