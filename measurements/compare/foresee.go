package compare

import (
	"slices"

	"github.com/youden-bench/youden/measurements/stats"
)

// foresee says of every row which drop would have been found: by the limits that the
// rows were held against, with the runs that NEW has so far.
func (j judge) foresee(r *SliceResult, cases []stats.Case) {
	components := stats.SplitD(cases)
	runs := newRuns(cases)
	if components == nil || runs == 0 {
		return
	}
	forecast := stats.NewForecast(cases, components.Between, runs, j.single)
	if found := j.overallRule().Detectable(forecast, len(cases)); found != nil {
		r.Overall.Detectable = found.Drop
	}
	var sizes []int
	for _, f := range r.Families {
		sizes = append(sizes, f.N)
	}
	if components.Inside != components.Between { // another family's drop is no noise of this one
		forecast = stats.NewForecast(cases, components.Inside, runs, j.single)
	}
	known := map[int]*float64{}
	for i := range r.Families {
		row := &r.Families[i]
		if row.N < stats.MinFamily {
			continue
		}
		if _, ok := known[row.N]; !ok {
			known[row.N] = nil
			if found := j.family.Detectable(forecast, row.N, sizes); found != nil {
				known[row.N] = found.Drop
			}
		}
		row.Detectable = known[row.N]
	}
}

// overallRule is that of the overall row, as the limits have it.
func (j judge) overallRule() stats.Rule {
	r := stats.Overall()
	r.Alpha, r.Margin = j.overall, j.margin
	return r
}

// newRuns is how many runs a side NEW mostly has.
func newRuns(cases []stats.Case) int {
	var runs []int
	for _, c := range cases {
		for _, s := range c.Strata {
			runs = append(runs, s.NewRuns)
		}
	}
	if len(runs) == 0 {
		return 0
	}
	slices.Sort(runs)
	return runs[len(runs)/2]
}
