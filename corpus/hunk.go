package corpus

import "strings"

// hunk is a run of lines that differ between two versions of a file: lines
// before[from:to] became after[from:to], one of which may be empty.
type hunk struct {
	before, after lineRange
}

// lineRange is half-open and counts from 0.
type lineRange struct{ from, to int }

func (r lineRange) empty() bool { return r.from == r.to }

// maxCompared bounds the table of hunks, which has an entry for any two lines
// between the first and the last difference: 2,000 lines against 2,000.
const maxCompared = 2000 * 2000

// linesOf splits a text as File.Lines counts it, and takes CRLF for LF.
func linesOf(text []byte) []string {
	return strings.Split(strings.TrimSuffix(string(normalizeNewlines(text)), "\n"), "\n")
}

// hunks compares two versions of a file by their longest common subsequence of
// lines. Where they are too long for that, all from the first difference to the
// last is one hunk.
func hunks(before, after []string) []hunk {
	head, shorter := 0, min(len(before), len(after))
	for head < shorter && before[head] == after[head] {
		head++
	}
	tail := 0
	for tail < shorter-head && before[len(before)-1-tail] == after[len(after)-1-tail] {
		tail++
	}
	a, b := before[head:len(before)-tail], after[head:len(after)-tail]
	switch {
	case len(a)+len(b) == 0:
		return nil
	case len(a) == 0, len(b) == 0, len(a) > maxCompared/len(b):
		return []hunk{{lineRange{head, head + len(a)}, lineRange{head, head + len(b)}}}
	}
	return aligned(a, b, head)
}

// aligned lists the hunks between a and b, which begin at the same line.
func aligned(a, b []string, start int) []hunk {
	common := commonLines(a, b)
	var list []hunk
	i, j := 0, 0
	equal := func() bool { return i < len(a) && j < len(b) && a[i] == b[j] }
	for i < len(a) || j < len(b) {
		if equal() {
			i, j = i+1, j+1
			continue
		}
		h := hunk{before: lineRange{from: start + i}, after: lineRange{from: start + j}}
		for (i < len(a) || j < len(b)) && !equal() {
			if j == len(b) || i < len(a) && common[i+1][j] >= common[i][j+1] {
				i++
			} else {
				j++
			}
		}
		h.before.to, h.after.to = start+i, start+j
		list = append(list, h)
	}
	return list
}

// commonLines returns the table of how many lines a[i:] and b[j:] have in
// common, in order.
func commonLines(a, b []string) [][]uint16 {
	table := make([][]uint16, len(a)+1)
	cells := make([]uint16, (len(a)+1)*(len(b)+1))
	for i := range table {
		table[i], cells = cells[:len(b)+1], cells[len(b)+1:]
	}
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			if a[i] == b[j] {
				table[i][j] = table[i+1][j+1] + 1
			} else {
				table[i][j] = max(table[i+1][j], table[i][j+1])
			}
		}
	}
	return table
}

// extent is the lines of a hunk in one version, from 1 and inclusive. An empty
// range lies between two lines and stands for both of them.
func (r lineRange) extent() (first, last int) {
	if r.empty() {
		return r.from, r.from + 1
	}
	return r.from + 1, r.to
}

// line is where a hunk begins in the version before.
func (h hunk) line() int {
	first, _ := h.before.extent()
	return max(first, 1)
}

// slide is how far a range of added lines could as well lie further up and
// down: of two equal guards either may be the new one.
func (r lineRange) slide(lines []string) (up, down int) {
	for r.from-up > 0 && lines[r.from-up-1] == lines[r.to-up-1] {
		up++
	}
	for r.to+down < len(lines) && lines[r.to+down] == lines[r.from+down] {
		down++
	}
	return up, down
}
