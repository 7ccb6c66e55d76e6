package compare

import (
	"github.com/youden-bench/youden/detector"
	"github.com/youden-bench/youden/measurements"
)

// FloorRow is recall, silence and J when only findings from a severity on count.
// A floor at which a detector says nothing has J 0 and not none.
type FloorRow struct {
	Floor      string   `json:"floor"`
	N          int      `json:"n"`
	Old        *float64 `json:"old"`
	New        *float64 `json:"new"`
	Delta      *float64 `json:"delta"`
	OldRecall  *float64 `json:"old_recall"`
	NewRecall  *float64 `json:"new_recall"`
	OldSilence *float64 `json:"old_silence"`
	NewSilence *float64 `json:"new_silence"`
}

// floors computes the rows over the cases that both scored; none when one of the
// subjects does not know severities.
func floors(before, after *Subject, pairs []Pair) []FloorRow {
	rows := []FloorRow{}
	if !before.Severities || !after.Severities {
		return rows
	}
	for _, floor := range measurements.Floors() {
		var o, n floorSum
		for _, p := range pairs {
			o.add(p.Old, floor)
			n.add(p.New, floor)
		}
		row := FloorRow{Floor: string(floor), N: len(pairs)}
		row.OldRecall, row.OldSilence, row.Old = o.rates()
		row.NewRecall, row.NewSilence, row.New = n.rates()
		row.Delta = minus(row.New, row.Old)
		rows = append(rows, row)
	}
	return rows
}

// floorSum sums hit and silent rates at one floor.
type floorSum struct {
	hits, silent      float64
	vulnerable, fixed int
}

func (f *floorSum) add(c *measurements.CaseScore, floor detector.Severity) {
	if t := c.Vulnerable; t != nil {
		f.hits += float64(t.AtLeast(floor)) / float64(t.Counted)
		f.vulnerable++
	}
	if t := c.Fixed; t != nil {
		f.silent += 1 - float64(t.AtLeast(floor))/float64(t.Counted)
		f.fixed++
	}
}

func (f *floorSum) rates() (recall, silence, j *float64) {
	if f.vulnerable > 0 {
		r := f.hits / float64(f.vulnerable)
		recall = &r
	}
	if f.fixed > 0 {
		s := f.silent / float64(f.fixed)
		silence = &s
	}
	if recall != nil && silence != nil {
		v := *recall + *silence - 1
		j = &v
	}
	return recall, silence, j
}
