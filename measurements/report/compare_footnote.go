package report

import (
	"fmt"
	"sort"
	"strings"

	"github.com/youden-bench/youden/measurements/compare"
)

// footnote says of the rows of one size what they could have shown.
type footnote struct {
	n    int
	text string
	rows []string
}

// footnotes say what the rows cannot.
func footnotes(c *compare.Comparison) []string {
	var lines []string
	for _, r := range c.Slices {
		if h := r.Here; h != nil && h.Down+h.Up+h.Lost+h.Gained > 0 {
			lines = append(lines, fmt.Sprintf("slice %s, on these cases and in these runs alone: %d down and %d up, sign test p %s; by votes %d lost and %d gained, McNemar p %s",
				r.Slice, h.Down, h.Up, pValue(h.PSign).text, h.Lost, h.Gained, pValue(h.PMcNemar).text))
		}
		lines = append(lines, fmt.Sprintf("slice %s: a drop of more than %s is ruled out (non-inferior): %s", r.Slice, hundredth(compare.LimitsOf(c).Margin), nonInferior(r)))
	}
	if line := untestedLine(c); line != "" {
		lines = append(lines, line)
	}
	for _, note := range sizes(c) {
		lines = append(lines, fmt.Sprintf("n = %d: %s (%s)", note.n, note.text, listed(note.rows, sane, ", ")))
	}
	for _, r := range comparedRows(c) {
		for _, w := range r.Warnings {
			lines = append(lines, fmt.Sprintf("%s, %s: %s", r.Slice, r.name(), w))
		}
	}
	return lines
}

// untestedLine says once of all small families that they are not tested, and what
// would help. Only the cases that were compared can tell it.
func untestedLine(c *compare.Comparison) string {
	untested := 0
	for _, r := range c.Families {
		if r.Verdict == compare.Untested {
			untested++
		}
	}
	if untested == 0 {
		return ""
	}
	help := "more cases of your own"
	if c.Old.Split == trainSplit || c.New.Split == trainSplit {
		help += " would help; so would --split all, which opens the sealed holdout"
	} else {
		help += " would help"
	}
	return fmt.Sprintf("fewer than %d cases in %d of %s: shown, not tested; %s", compare.LimitsOf(c).MinFamily, untested, families(len(c.Families)), help)
}

// trainSplit leaves the holdout out.
const trainSplit = "train"

func nonInferior(r compare.Row) string {
	if r.NonInferior == nil {
		return unknown
	}
	return yes(*r.NonInferior)
}

// sizes groups the rows that found no difference by their size and by what they
// could have found, the smallest first.
func sizes(c *compare.Comparison) []footnote {
	var notes []footnote
	for _, r := range comparedRows(c) {
		said := ""
		switch {
		case r.unchanged():
			said = findable(r.Detectable)
		default:
			continue
		}
		name := strings.Trim(r.name(), "()")
		if len(c.Slices) > 1 {
			name = r.Slice + " " + name
		}
		notes = noted(notes, footnote{r.N, said, []string{name}})
	}
	sort.SliceStable(notes, func(a, b int) bool { return notes[a].n < notes[b].n })
	return notes
}

func noted(notes []footnote, note footnote) []footnote {
	for i := range notes {
		if notes[i].n == note.n && notes[i].text == note.text {
			notes[i].rows = append(notes[i].rows, note.rows...)
			return notes
		}
	}
	return append(notes, note)
}
