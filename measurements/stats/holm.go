package stats

import (
	"math"
	"sort"
)

// Holm adjusts p-values so that rejecting all that are below a level keeps the
// chance of any false rejection below it, whatever their dependence. A nil, and
// what is no probability, is a test that was not made: it stays nil and does not
// count.
func Holm(ps []*float64) []*float64 {
	var order []int
	for i, p := range ps {
		if p != nil && *p >= 0 && *p <= 1 {
			order = append(order, i)
		}
	}
	sort.SliceStable(order, func(a, b int) bool { return *ps[order[a]] < *ps[order[b]] })
	adjusted := make([]*float64, len(ps))
	highest := 0.0
	for rank, i := range order {
		highest = math.Max(highest, pvalue(float64(len(order)-rank)**ps[i]))
		p := highest
		adjusted[i] = &p
	}
	return adjusted
}
