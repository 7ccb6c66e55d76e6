package compare

import (
	"bytes"
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/youden-bench/youden/measurements"
	"github.com/youden-bench/youden/measurements/stats"
)

// NoiseSchema names the JSON of Noise.
const NoiseSchema = "youden.noise/1"

// Noise says how much the runs of one capture disagree, and how often a
// comparison would have raised an alarm although nothing changed: the K runs are
// split into two halves, again and again, and compared (A/A). No call is made.
// Verdicts are those of the comparison alone; gates are counted apart.
type Noise struct {
	Schema     string          `json:"schema"`
	Name       string          `json:"name"`
	Simulated  bool            `json:"simulated"`
	K          int             `json:"k"`
	Half       int             `json:"half"`   // runs a side in each half
	Splits     int             `json:"splits"` // that were tried; 0: K is too small
	Verdicts   map[Verdict]int `json:"verdicts"`
	FalseFail  *float64        `json:"false_fail"`    // share of the splits
	FalseLo    *float64        `json:"false_fail_lo"` // 95 % (Clopper-Pearson) as if splits shared no runs, which
	FalseHi    *float64        `json:"false_fail_hi"` // they do: the truth may lie further out
	FalseAlarm *float64        `json:"false_alarm"`   // FAIL or WARN
	Gates      *GateNoise      `json:"gates"`         // nil without gates, and without a split
	Families   []NoiseRow      `json:"families"`
	Warnings   []string        `json:"warnings"`
}

// NoiseRow is one family of a slice. Floor counts the cases whose runs disagree,
// of FloorN with two runs or more; it is shown, and no rule derives from it.
type NoiseRow struct {
	Slice        string   `json:"slice"`
	Family       string   `json:"family"`
	Cases        int      `json:"cases"`
	Floor        int      `json:"floor"`
	FloorN       int      `json:"floor_n"`
	Disagreement *float64 `json:"disagreement"` // share of run pairs of a side that disagree, mean over sides
}

// noiseSplits bounds the splits, and noiseCases the cases that all of them compare
// together: a split of a great capture says more and costs more.
const (
	noiseSplits = 200
	noiseCases  = 200_000
)

// fewSplits are too few for a share: 20 runs can be split in more ways than are
// tried, 5 in 30.
const fewSplits = 100

// MeasureNoise reads a capture. The splits follow the seed. Gates that do not fit
// the capture are an error.
func MeasureNoise(dir string, p measurements.Policy, v measurements.View, seed uint64, o Options) (*Noise, error) {
	if file, info, err := locate(dir); err == nil && !info.IsDir() {
		return nil, fmt.Errorf("%s is a file: noise splits the runs of a capture, of which a baseline keeps the counts alone; name the folder of a capture", file)
	}
	c, err := measurements.Open(dir)
	if err != nil {
		return nil, err
	}
	whole, err := loadCapture(dir, p, v)
	if err != nil {
		return nil, err
	}
	if err := o.Gates.Check(ShapeOf(whole).Against(whole)); err != nil {
		return nil, err
	}
	n := &Noise{Schema: NoiseSchema, Name: dir, Simulated: whole.Simulated, K: whole.K, Verdicts: map[Verdict]int{}, Families: noiseRows(whole), Warnings: []string{}}
	if whole.repeats() {
		n.Warnings = append(n.Warnings, "all runs of every side gave one answer: the capture repeats one measurement, and its halves cannot differ")
	}
	if n.Half = whole.K / 2; n.Half < 2 {
		n.Warnings = append(n.Warnings, fmt.Sprintf("K = %d cannot be split into halves of two runs: capture with --runs 4 or more", whole.K))
		return n, nil
	}
	splits := halves(whole.K, max(2, min(noiseSplits, noiseCases/max(1, len(whole.Cases)))), seed)
	if err := n.split(c, whole, splits, o); err != nil {
		return nil, err
	}
	n.Warnings = append(n.Warnings, fmt.Sprintf("the halves have %d runs a side, a comparison at K = %d has more: it sees smaller drops", n.Half, whole.K))
	if n.Gates != nil {
		n.Warnings = append(n.Warnings, fmt.Sprintf("rates over %d runs a side scatter more than those over %d: gates fail more often between halves than between captures", n.Half, whole.K))
		n.Warnings = append(n.Warnings, n.Gates.advice(n.Splits)...)
	}
	if n.Splits < fewSplits {
		n.Warnings = append(n.Warnings, fmt.Sprintf("%d splits share their runs and are few: take the shares for a hint, or capture with more runs", n.Splits))
	}
	return n, nil
}

// split compares the halves of each split, read in one pass over the capture.
func (n *Noise) split(c *measurements.Capture, whole *Subject, splits []string, o Options) error {
	var parts []measurements.Part
	for _, split := range splits {
		for _, half := range []byte{firstHalf, secondHalf} {
			parts = append(parts, measurements.Part{Policy: whole.Policy, View: whole.View, Only: func(k int64) bool { return split[k] == half }})
		}
	}
	tallied, err := c.Parts(parts...)
	if err != nil {
		return err
	}
	m, gates := c.Manifest(), newGateNoise(o.Gates, whole, n.Half)
	o.Gates, o.brief = Gates{}, true
	for i := 0; i < len(tallied); i += 2 {
		before, after := ofTallied("A", m, tallied[i]), ofTallied("B", m, tallied[i+1])
		verdict := Compare(before, after, o).Verdict
		n.Verdicts[verdict]++
		n.Splits++
		gates.add(before, after, verdict)
	}
	n.FalseFail = share(n.Verdicts[Fail], n.Splits)
	_, n.FalseLo, n.FalseHi = ends(stats.ClopperPearson(float64(n.Verdicts[Fail]), float64(n.Splits), level))
	n.FalseAlarm = share(n.Verdicts[Fail]+n.Verdicts[Warn], n.Splits)
	n.Gates = gates.result()
	return nil
}

// share of some of all, nil of nothing.
func share(some, all int) *float64 {
	if all == 0 {
		return nil
	}
	part := float64(some) / float64(all)
	return &part
}

// The runs of a split: those of each half, and the one that is left over when K is
// odd.
const (
	leftOver   = '0'
	firstHalf  = '1'
	secondHalf = '2'
)

// halves draws distinct splits of k runs into two halves of k/2, as the half of
// each run; all of them when there are no more than wanted. A split and its mirror
// image both count: OLD and NEW are not the same.
func halves(k, wanted int, seed uint64) []string {
	half := k / 2
	rng := rand.New(rand.NewPCG(seed, 0x6e6f697365)) //nolint:gosec // a seeded draw that can be repeated
	seen := map[string]bool{}
	var list []string
	for tries := 0; len(list) < wanted && tries < 50*wanted; tries++ {
		split := bytes.Repeat([]byte{leftOver}, k)
		for place, run := range rng.Perm(k)[:2*half] {
			split[run] = firstHalf
			if place >= half {
				split[run] = secondHalf
			}
		}
		if !seen[string(split)] {
			seen[string(split)] = true
			list = append(list, string(split))
		}
	}
	return list
}

func noiseRows(s *Subject) []NoiseRow {
	index := map[[2]string]int{}
	rows := []NoiseRow{}
	sums := map[int][]float64{}
	for _, c := range s.Cases {
		key := [2]string{c.Slice, c.Family}
		at, ok := index[key]
		if !ok {
			at = len(rows)
			index[key] = at
			rows = append(rows, NoiseRow{Slice: c.Slice, Family: c.Family})
		}
		rows[at].Cases++
		repeated := false
		for _, t := range []*measurements.Tally{c.Vulnerable, c.Fixed} {
			if t == nil {
				continue
			}
			if d := stats.Disagreement(t.Positive, t.Counted); d != nil {
				repeated = true
				sums[at] = append(sums[at], *d)
			}
		}
		if repeated {
			rows[at].FloorN++
		}
		if c.Disagrees() {
			rows[at].Floor++
		}
	}
	for at, list := range sums {
		m := mean(list)
		rows[at].Disagreement = &m
	}
	slices.SortFunc(rows, func(a, b NoiseRow) int {
		return cmp.Or(cmp.Compare(a.Slice, b.Slice), cmp.Compare(a.Family, b.Family))
	})
	return rows
}
