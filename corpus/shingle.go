package corpus

import (
	"bytes"
	"cmp"
	"hash/fnv"
	"slices"
	"sort"
	"unicode"
	"unicode/utf8"
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
	// commonShingle bounds the work: a run that more cases than this hold would
	// give a pair for every two of them, and is mostly the boilerplate of a
	// framework. It counts for neighbours alone, each holder with the next one.
	commonShingle = 20
	// chainCopied is the share from which common runs count as well: a text that
	// consists of what many cases hold is a copy, one with a header of it is not.
	chainCopied = 0.8
	// fewShingles is too short a text to say anything.
	fewShingles = 20
	// A corpus of more than manyBytes keeps one shingle in sampleShingles, else
	// one of a gigabyte would need several in memory. Which ones depends on the
	// hash alone, so that two texts keep the same of those they share, and the
	// share of the kept ones estimates that of all (Broder's modulus sketch).
	manyBytes      = 8 << 20
	sampleShingles = 8
)

// shingles returns the hashes of all runs of words in the files of a case, on
// both sides together, sorted; of them those that one in so many leaves over.
func (c *Case) shingles(oneIn uint64) []uint64 {
	var set []uint64
	for _, name := range c.Sides() {
		for _, f := range c.Side(name).Files {
			words := wordHashes(f.Text)
			for i := 0; i+shingleWords <= len(words); i++ {
				sum := uint64(0)
				for _, h := range words[i : i+shingleWords] {
					sum = sum*shinglePrime + h
				}
				if sum%oneIn == 0 {
					set = append(set, sum)
				}
			}
		}
	}
	slices.Sort(set)
	return slices.Compact(set)
}

// wordHashes returns the hashes of the words of a text, and of every sign
// between them.
func wordHashes(text []byte) []uint64 {
	var hashes []uint64
	h := fnv.New64a()
	for len(text) > 0 {
		r, size := utf8.DecodeRune(text)
		if unicode.IsSpace(r) {
			text = text[size:]
			continue
		}
		if inWord(r) {
			if size = bytes.IndexFunc(text, func(r rune) bool { return !inWord(r) }); size < 0 {
				size = len(text)
			}
		}
		h.Reset()
		_, _ = h.Write(text[:size]) // a hash never fails
		hashes = append(hashes, h.Sum64())
		text = text[size:]
	}
	return hashes
}

func inWord(r rune) bool { return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) }

// shinglePrime joins the hashes of words to that of a run (that of FNV-1a).
const shinglePrime = 1099511628211

// sampling returns 1, or sampleShingles when the texts are many.
func sampling(cases []*Case) uint64 {
	size := 0
	for _, k := range cases {
		for _, name := range k.Sides() {
			for _, f := range k.Side(name).Files {
				size += len(f.Text)
			}
		}
	}
	if size > manyBytes {
		return sampleShingles
	}
	return 1
}

// resemblance is how much two cases share.
type resemblance struct {
	first, second int     // indices into the corpus, first < second
	share         float64 // of the shingles of the smaller one
}

// resemblances lists the pairs of cases that share more than nearCopied.
func resemblances(cases []*Case) []resemblance {
	oneIn := sampling(cases)
	sets := make([][]uint64, len(cases))
	for i, k := range cases {
		sets[i] = k.shingles(oneIn)
	}
	var list []resemblance
	for at, n := range sharing(sets) {
		a, b := sets[at[0]], sets[at[1]]
		smaller := float64(min(len(a), len(b)))
		if smaller < fewShingles || float64(n.rare+n.common) < nearCopied*smaller {
			continue
		}
		// Runs that others hold in between joined these two to them, so that only
		// the sets themselves say how much of the common text the two share.
		share := float64(n.rare) / smaller
		if all := float64(overlap(a, b)) / smaller; all >= chainCopied {
			share = all
		}
		if share >= nearCopied {
			list = append(list, resemblance{at[0], at[1], share})
		}
	}
	sort.Slice(list, func(i, j int) bool {
		return cmp.Or(cmp.Compare(list[i].first, list[j].first), cmp.Compare(list[i].second, list[j].second)) < 0
	})
	return list
}

// shared counts the shingles that two cases hold both.
type shared struct {
	rare   int // that few cases hold
	common int // that many do, and no case between the two
}

// sharing counts what pairs of sets share.
func sharing(sets [][]uint64) map[[2]int]shared {
	type holding struct {
		shingle uint64
		by      int
	}
	var held []holding
	for i, set := range sets {
		for _, h := range set {
			held = append(held, holding{h, i})
		}
	}
	slices.SortFunc(held, func(a, b holding) int {
		return cmp.Or(cmp.Compare(a.shingle, b.shingle), cmp.Compare(a.by, b.by))
	})
	pairs := map[[2]int]shared{}
	for n := 0; len(held) > 0; held = held[n:] {
		for n = 1; n < len(held) && held[n].shingle == held[0].shingle; {
			n++
		}
		reach := n
		if n > commonShingle {
			reach = 1
		}
		for i, a := range held[:n] {
			for _, b := range held[i+1 : min(n, i+1+reach)] {
				at := [2]int{a.by, b.by}
				s := pairs[at]
				if n > commonShingle {
					s.common++
				} else {
					s.rare++
				}
				pairs[at] = s
			}
		}
	}
	return pairs
}

// overlap counts what two sorted sets share.
func overlap(a, b []uint64) int {
	n := 0
	for len(a) > 0 && len(b) > 0 {
		switch cmp.Compare(a[0], b[0]) {
		case -1:
			a = a[1:]
		case 1:
			b = b[1:]
		default:
			n, a, b = n+1, a[1:], b[1:]
		}
	}
	return n
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
