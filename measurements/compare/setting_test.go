package compare

import "fmt"

// The bounds that comparisons are held to.
const (
	coverageBound   = .93  // at least, of a nominal .95
	stillBound      = .025 // false FAILs with nothing changed
	churnBound      = .035 // and with churn
	powerAllowance  = .03  // below the tables of spec/statistics.md
	unknownToTables = -1   // a setting that has no figure there
)

// alarmSetting is a world without a mean change: whatever FAILs is a false alarm.
type alarmSetting struct {
	name  string
	world world
	fail  string  // what spec/statistics.md has for FAIL
	warn  float64 // and for WARN
}

func (s alarmSetting) bound() float64 {
	if s.world.churn > 0 {
		return churnBound
	}
	return stillBound
}

// alarms lists the settings that the bounds are promised for, and after them
// further ones that they should hold in.
func alarms() (promised, further []alarmSetting) {
	warn := map[int]float64{3: .01, 5: .04, 20: .47}
	for _, churn := range []float64{0, 1} {
		fail, name := ".003 to .014", "nothing changed"
		if churn > 0 {
			fail, name = ".015 to .026", "churn"
		}
		for _, sizes := range [][]int{evenly(14, 3), ninety()} {
			for _, k := range []int{3, 5, 20} {
				w := usual()
				w.sizes, w.oldK, w.newK, w.churn = sizes, k, k, churn
				s := alarmSetting{fmt.Sprintf("%s, %d cases, K %d", name, w.cases(), k), w, fail, unknownToTables}
				if churn > 0 {
					s.warn = warn[k]
				}
				promised = append(promised, s)
			}
		}
		add := func(label string, of func(*world)) {
			w := usual()
			w.churn = churn
			of(&w)
			further = append(further, alarmSetting{fmt.Sprintf("%s, %d cases, %s", name, w.cases(), label), w, "", unknownToTables})
		}
		for _, k := range []int{3, 5, 20} {
			add(fmt.Sprintf("ceiling (.95, .98), K %d", k), func(w *world) { w.recall, w.silence, w.oldK, w.newK = .95, .98, k, k })
			further[len(further)-1].fail = ".001 to .004"
		}
		add("OLD K 20, NEW K 5", func(w *world) { w.oldK = 20 })
		add("ICC .67, K 5", func(w *world) { w.icc = .67 })
		add("near-deterministic (ICC .95), K 20", func(w *world) { w.icc, w.oldK, w.newK = .95, 20, 20 })
		add("sides correlated +.9, K 5", func(w *world) { w.correlation = .9 })
		add("sides correlated -.9, K 5", func(w *world) { w.correlation = -.9 })
		add("families apart, K 5", func(w *world) { w.apart = apart })
		if churn > 0 {
			add("each side by itself, K 20", func(w *world) { w.split, w.oldK, w.newK = true, 20, 20 })
		}
		add("families of 2 to 8, K 20", func(w *world) { w.sizes, w.oldK, w.newK = []int{2, 2, 3, 3, 3, 4, 5, 5, 7, 8}, 20, 20 })
	}
	return promised, further
}

// apart is how far families lie apart where they differ, on the logit.
var apart = []float64{-.8, -.4, 0, .4, .8}

// powerSetting is a world with a drop, and how often the tables find it: FAIL of
// the whole where all cases drop, else of the family that does.
type powerSetting struct {
	name  string
	world world
	fail  float64
	named float64 // FAIL or WARN
}

func (s powerSetting) found(v verdicts) (fail, named frequency) {
	if s.world.lost > 0 {
		return v.first, v.named
	}
	return v.fail, frequency{v.fail.hits + v.warn.hits, v.fail.of}
}

// drops lists the rows of the tables where all cases drop (spec/statistics.md
// section 2).
func drops() (list []powerSetting) {
	for _, row := range []struct {
		n     int // cases of each of 14 families
		oldK  int
		churn float64
		found [3]float64 // of a drop of .05, .1, .2
	}{
		{3, 5, 0, [3]float64{.11, .47, .97}},
		{6, 5, 0, [3]float64{.29, .83, 1}},
		{3, 5, 1, [3]float64{.10, .31, .83}},
		{6, 5, 1, [3]float64{.17, .58, .99}},
		{3, 20, 0, [3]float64{.21, .70, 1}},
	} {
		for i, drop := range []float64{.05, .1, .2} {
			w := usual()
			w.sizes, w.oldK, w.churn, w.drop = evenly(14, row.n), row.oldK, row.churn, drop
			name := fmt.Sprintf("all cases, drop %v, %d cases, K %s%s", drop, w.cases(), ks(w), churned(w))
			list = append(list, powerSetting{name, w, row.found[i], unknownToTables})
		}
	}
	return list
}

// collapses lists the rows of the table where one family drops (section 1).
func collapses() (list []powerSetting) {
	unknown := [2]float64{unknownToTables, unknownToTables}
	for _, row := range []struct {
		n, oldK            int
		churn              float64
		drops, fail, named [2]float64
	}{
		{3, 5, 0, [2]float64{.5, .77}, [2]float64{.17, .61}, [2]float64{.31, .77}},
		{6, 5, 0, [2]float64{.5, .76}, [2]float64{.67, .985}, unknown},
		{3, 20, 0, [2]float64{.5, .77}, [2]float64{.37, .83}, [2]float64{.62, .95}},
		{3, 5, 1, [2]float64{.5, .77}, [2]float64{.09, .36}, unknown},
		{6, 5, 1, [2]float64{.5, .76}, [2]float64{.37, .90}, unknown},
	} {
		for i, drop := range row.drops {
			w := usual()
			w.sizes, w.oldK, w.churn, w.lost = evenly(14, row.n), row.oldK, row.churn, drop
			name := fmt.Sprintf("one family of %d, drop %v, K %s%s", row.n, drop, ks(w), churned(w))
			list = append(list, powerSetting{name, w, row.fail[i], row.named[i]})
		}
	}
	return list
}

// exactAlone lists the first row of the table of section 1.
func exactAlone() (list []powerSetting) {
	still, moving := usual(), usual()
	moving.churn = 1
	long := moving
	long.oldK, long.newK = 20, 20
	ceiling := long
	ceiling.recall, ceiling.silence = .95, .98
	list = []powerSetting{
		{"nothing changed, K 5", still, .004, unknownToTables},
		{"churn, K 5", moving, .050, unknownToTables},
		{"churn, K 20", long, .546, unknownToTables},
		{"ceiling, churn, K 20", ceiling, .237, unknownToTables},
	}
	for i, fails := range []float64{.37, .84, .82, .995, .68, .97} {
		s := collapses()[i]
		s.fail = fails
		list = append(list, s)
	}
	return list
}

func ks(w world) string {
	if w.oldK == w.newK {
		return fmt.Sprint(w.newK)
	}
	return fmt.Sprintf("%d and %d", w.oldK, w.newK)
}

func churned(w world) string {
	if w.churn > 0 {
		return ", churn"
	}
	return ""
}

// coverageSetting is a world whose intervals should hold the truth.
type coverageSetting struct {
	name  string
	world world
	of    estimator
	table float64 // coverage there, with Wilson bounds
}

// covers lists the settings of spec/statistics.md section 3 for families of n
// cases, the overall row under correlation within pairs, and families under it,
// for which nothing is promised: MOVER takes the sides of a pair for independent.
func covers() (families, overall, further []coverageSetting) {
	for _, row := range []struct {
		name  string
		world world
		table map[[2]int]float64 // of n, K
	}{
		{".8, .9, .33", world{recall: .8, silence: .9, icc: .33}, map[[2]int]float64{{3, 5}: .949, {3, 20}: .965, {6, 5}: .954, {10, 5}: .958}},
		{".75, .9, .67", world{recall: .75, silence: .9, icc: .67}, map[[2]int]float64{{3, 5}: .941, {3, 20}: .949, {6, 5}: .950, {10, 5}: .959}},
		{".95, .98, .33", world{recall: .95, silence: .98, icc: .33}, map[[2]int]float64{{3, 5}: .942, {3, 20}: .954, {6, 5}: .941, {10, 5}: .939}},
		{".5, .7, .33", world{recall: .5, silence: .7, icc: .33}, map[[2]int]float64{{3, 5}: .973, {3, 20}: .984, {6, 5}: .965, {10, 5}: .967}},
		{".8, .9, .33, families apart", world{recall: .8, silence: .9, icc: .33, apart: apart}, map[[2]int]float64{{3, 5}: .950, {3, 20}: .965, {6, 5}: .963, {10, 5}: .961}},
	} {
		for _, n := range []int{3, 6, 10, 20, 42} {
			for _, k := range []int{5, 20} {
				w := row.world
				w.sizes, w.oldK = evenly(14, n), k
				table, known := row.table[[2]int{n, k}]
				if !known {
					table = unknownToTables
				}
				families = append(families, coverageSetting{fmt.Sprintf("%s: n %d, K %d", row.name, n, k), w, byFamilies, table})
			}
		}
		for _, correlation := range []float64{-.9, 0, .9} {
			for _, sizes := range [][]int{evenly(7, 3), evenly(14, 3), ninety()} {
				for _, k := range []int{5, 20} {
					w := row.world
					w.sizes, w.oldK, w.correlation = sizes, k, correlation
					name := fmt.Sprintf("%s: correlation %+.1f, %d cases, K %d", row.name, correlation, w.cases(), k)
					overall = append(overall, coverageSetting{name, w, whole, unknownToTables})
				}
			}
		}
	}
	for _, correlation := range []float64{-.9, .9} {
		for _, n := range []int{3, 10, 42} {
			w := usual()
			w.sizes, w.correlation = evenly(14, n), correlation
			further = append(further, coverageSetting{fmt.Sprintf(".8, .9, .33: correlation %+.1f, n %d, K 5", correlation, n), w, byFamilies, unknownToTables})
		}
	}
	return families, overall, further
}
