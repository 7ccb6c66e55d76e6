package kstrl

// detectedFrom is the least consistency of a detected fixture: a tie of one run
// in two is a detection.
const detectedFrom = 0.5

// Baseline is one file of either version, in the shape of the second.
type Baseline struct {
	File           string
	Model          string // "unknown" when absent
	Timestamp      string // "unknown" when absent
	FormatVersion  int64  // 1 when absent
	RunsPerFixture int64  // the configured number, 1 when absent; the rules never use it
	Fixtures       []Fixture
	Negatives      []Negative // read in Strict mode only: the rules ignore them
	Warnings       []LoadWarning
}

// Fixture is a planted thing and what its runs made of it.
type Fixture struct {
	Role, ID    string
	Category    *string // nil: unknown, as in every file of version 1
	CWE         *string
	RunsTotal   int64
	RunsErrored int64
	// RunsDetected counts the runs that found the thing and did not end in an
	// infrastructure error.
	RunsDetected int64
}

// Completed is the number of runs that did not end in an infrastructure error.
func (f Fixture) Completed() int64 { return f.RunsTotal - f.RunsErrored }

// Consistency is the share of the completed runs that detected. Without a
// completed run it is 0: the reference cannot tell an outage from a miss.
func (f Fixture) Consistency() float64 { return share(f.RunsDetected, f.Completed()) }

// Detected says whether at least half of the completed runs detected.
func (f Fixture) Detected() bool { return f.Completed() > 0 && f.Consistency() >= detectedFrom }

// Negative is a clean fixture. A file keeps only the counts of its runs.
type Negative struct {
	Role, ID    string
	RunsTotal   int64
	RunsErrored int64
	RunsFlagged int64
}

// Completed is the number of runs that did not end in an infrastructure error.
func (n Negative) Completed() int64 { return n.RunsTotal - n.RunsErrored }

// Consistency is the share of the completed runs that flagged clean code.
func (n Negative) Consistency() float64 { return share(n.RunsFlagged, n.Completed()) }

// FalsePositive says whether at least half of the completed runs flagged. Beside
// the mean that rates detection this is a vote: one flag in three runs is none.
func (n Negative) FalsePositive() bool { return n.Completed() > 0 && n.Consistency() >= detectedFrom }

func share(hits, completed int64) float64 {
	if completed <= 0 {
		return 0
	}
	return float64(hits) / float64(completed)
}

// group is some fixtures and their rate.
type group struct {
	name     string
	n        int
	detected int
	sum      float64
}

// rate is the unweighted mean of the consistencies.
func (g *group) rate() float64 { return g.sum / float64(g.n) }

// groups hold the fixtures of each name in the order in which the names first
// appeared; sums grow in file order, which decides their last bit.
type groups struct {
	list []*group
	at   map[string]*group
}

func (g *groups) add(name string, f Fixture) {
	if g.at == nil {
		g.at = make(map[string]*group)
	}
	one, ok := g.at[name]
	if !ok {
		one = &group{name: name}
		g.at[name] = one
		g.list = append(g.list, one)
	}
	one.n++
	one.sum += f.Consistency()
	if f.Detected() {
		one.detected++
	}
}

// rate is nil for a name without fixtures.
func (g *groups) rate(name string) *float64 {
	one, ok := g.at[name]
	if !ok {
		return nil
	}
	r := one.rate()
	return &r
}

// roleGroups are the fixtures of each role, and of each category and CWE in it.
type roleGroups struct {
	roles      groups
	categories map[string]*groups // only of roles with a known category
	cwes       map[string]*groups
}

func groupFixtures(fixtures []Fixture) roleGroups {
	g := roleGroups{categories: make(map[string]*groups), cwes: make(map[string]*groups)}
	for _, f := range fixtures {
		g.roles.add(f.Role, f)
		addKnown(g.categories, f.Category, f)
		addKnown(g.cwes, f.CWE, f)
	}
	return g
}

func addKnown(of map[string]*groups, name *string, f Fixture) {
	if name == nil {
		return
	}
	if of[f.Role] == nil {
		of[f.Role] = new(groups)
	}
	of[f.Role].add(*name, f)
}
