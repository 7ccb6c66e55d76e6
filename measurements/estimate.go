package measurements

import "github.com/youden-bench/youden/measurements/stats"

// Estimates are the intervals of a set of cases; nil is unknown.
type Estimates struct {
	Recall, Silence, J *stats.Interval
}

// EstimateAll measures cases as one set: the overall row of a table.
func EstimateAll(cases []CaseScore) Estimates {
	_, recall, silence := measure(cases, pooledICC(cases))
	return Estimates{Recall: recall, Silence: silence, J: pooledJ(cases, recall, silence)}
}

// FamilyEstimates are the intervals of one family of one slice.
type FamilyEstimates struct {
	Slice, Family string
	Estimates
}

// EstimateFamilies measures each family, sorted by slice and family. The
// correlation of runs within cases is pooled over all of them.
func EstimateFamilies(cases []CaseScore) []FamilyEstimates {
	icc := pooledICC(cases)
	var list []FamilyEstimates
	for _, f := range byFamily(cases) {
		_, recall, silence := measure(f.cases, icc)
		list = append(list, FamilyEstimates{f.slice, f.family, Estimates{recall, silence, stats.MOVER(recall, silence)}})
	}
	return list
}
