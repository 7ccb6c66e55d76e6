package stats

import (
	"math"
	"slices"
)

// Cluster is one case on one side: its runs and how many of them were positive.
// Runs of one case are not independent draws.
type Cluster struct {
	Family   string // cases of one family share a mean
	Runs     int
	Positive int
}

// ICC is the intraclass correlation of runs within cases, pooled over families.
type ICC struct {
	R        float64 // between-case variance over the total, 0..1
	Raised   float64 // R and one standard error, at most 1: what intervals use
	Cases    int
	Families int
	Warnings []string
}

// PooledICC estimates the intraclass correlation of a side over all families of
// a capture: the variance of the case means around their family's mean, less
// what sampling K runs adds, over the total (spec/statistics.md section 3). A
// family alone is too small to say. Where the data cannot say at all (every
// case unanimous in the same way, no family with two cases, single runs) the
// answer is 1: a case is then worth one draw, whatever its number of runs.
func PooledICC(clusters []Cluster) ICC {
	clusters = withRuns(clusters)
	means, of := familyMeans(clusters)
	icc := ICC{R: 1, Raised: 1, Cases: len(clusters), Families: len(means)}
	freedom := len(clusters) - len(means)
	if freedom < 1 {
		icc.Warnings = append(icc.Warnings, "no family has two cases: runs of a case count as one draw")
		return icc
	}
	var between, sampling, within float64
	repeated := 0
	for i, c := range clusters {
		p := c.rate()
		d := p - means[of[i]]
		between += d * d
		if c.Runs < 2 {
			continue
		}
		repeated++
		spread := p * (1 - p) * float64(c.Runs) / float64(c.Runs-1) // unbiased variance of one run
		within += spread
		sampling += spread / float64(c.Runs)
	}
	if repeated == 0 {
		icc.Warnings = append(icc.Warnings, "no case has two runs: runs of a case count as one draw")
		return icc
	}
	within /= float64(repeated)
	between = math.Max(0, between/float64(freedom)-sampling/float64(repeated))
	if between+within == 0 {
		icc.Warnings = append(icc.Warnings, "all runs of all cases agree: runs of a case count as one draw")
		return icc
	}
	icc.R = between / (between + within)
	icc.Raised = math.Min(1, icc.R+math.Sqrt(2/float64(len(clusters))))
	return icc
}

// EffectiveN is the number of independent draws that the clusters are worth:
// n K / (1 + (K - 1) r'), with K the mean number of runs.
func (icc ICC) EffectiveN(clusters []Cluster) float64 {
	clusters = withRuns(clusters)
	if len(clusters) == 0 {
		return 0
	}
	runs := 0
	for _, c := range clusters {
		runs += c.Runs
	}
	k := float64(runs) / float64(len(clusters))
	return float64(runs) / (1 + (k-1)*icc.Raised)
}

// Rate is the interval of the mean rate over the cases, each weighing the same:
// Jeffreys at the effective n. It is nil without a case.
func (icc ICC) Rate(clusters []Cluster, level float64) *Interval {
	clusters = withRuns(clusters)
	if len(clusters) == 0 {
		return nil
	}
	mean := 0.0
	for _, c := range clusters {
		mean += c.rate()
	}
	mean /= float64(len(clusters))
	n := icc.EffectiveN(clusters)
	i := Jeffreys(mean*n, n, level)
	if i == nil {
		return nil
	}
	i.Estimate = mean
	i.Warnings = append(i.Warnings, icc.Warnings...)
	return i.within(0, 1)
}

func (c Cluster) rate() float64 { return float64(c.Positive) / float64(c.Runs) }

// withRuns leaves out the clusters without a run, mostly none.
func withRuns(clusters []Cluster) []Cluster {
	none := func(c Cluster) bool { return c.Runs <= 0 }
	if !slices.ContainsFunc(clusters, none) {
		return clusters
	}
	return slices.DeleteFunc(slices.Clone(clusters), none)
}

// familyMeans are the mean rates of the families, and the family of each cluster.
func familyMeans(clusters []Cluster) (means []float64, of []int) {
	index := map[string]int{}
	var counts []int
	of = make([]int, len(clusters))
	for i, c := range clusters {
		f, ok := index[c.Family]
		if !ok {
			f = len(means)
			index[c.Family] = f
			means, counts = append(means, 0), append(counts, 0)
		}
		of[i] = f
		means[f] += c.rate()
		counts[f]++
	}
	for f := range means {
		means[f] /= float64(counts[f])
	}
	return means, of
}
