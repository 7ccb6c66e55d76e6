package compare_test

import (
	"fmt"
	"os"
	"runtime"
	"runtime/metrics"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// Promised of each comparison, on two cores.
const (
	promisedSeconds = 10
	promisedMB      = 500
)

// measured is what one comparison took. Times are seconds.
type measured struct {
	Verdict string
	Changed int // cases
	Rows    map[string]row

	Load, Compare, Table, JSON float64
	HeapMB, PeakMB, DocumentMB float64

	cpu  float64 // of all cores, start and end of the process included
	duck aggregated
}

type row struct {
	N        int
	Old, New float64
}

func (m measured) seconds() float64 { return m.Load + m.Compare + m.Table + m.JSON }

func (m measured) duckAll() float64 { return m.duck.Rates + m.duck.Further }

// figures are those of one pair of captures, measured again and again.
type figures struct {
	size
	load []string // of the machine, before each
	all  []measured
}

// quantity is one figure of a comparison.
type quantity struct {
	unit string
	of   func(measured) float64
}

var quantities = []quantity{
	{"s", measured.seconds},
	{"load-s", func(m measured) float64 { return m.Load }},
	{"compare-s", func(m measured) float64 { return m.Compare }},
	{"table-s", func(m measured) float64 { return m.Table }},
	{"json-s", func(m measured) float64 { return m.JSON }},
	{"cpu-s", func(m measured) float64 { return m.cpu }},
	{"heap-MB", func(m measured) float64 { return m.HeapMB }},
	{"peak-MB", func(m measured) float64 { return m.PeakMB }},
	{"json-MB", func(m measured) float64 { return m.DocumentMB }},
	{"duckdb-rates-s", func(m measured) float64 { return m.duck.Rates }},
	{"duckdb-all-s", measured.duckAll},
	{"duckdb-cpu-s", func(m measured) float64 { return m.duck.cpu }},
	{"load/duckdb-all", func(m measured) float64 { return m.Load / m.duckAll() }},
	{"s/duckdb-all", func(m measured) float64 { return m.seconds() / m.duckAll() }},
	{"cpu/duckdb-cpu", func(m measured) float64 { return m.cpu / m.duck.cpu }},
}

// spread is the least, the median and the most of a quantity.
func (f figures) spread(unit string) (least, median, most float64) {
	at := slices.IndexFunc(quantities, func(q quantity) bool { return q.unit == unit })
	var values []float64
	for _, m := range f.all {
		values = append(values, quantities[at].of(m))
	}
	slices.Sort(values)
	return values[0], values[len(values)/2], values[len(values)-1]
}

func (f figures) besideDuckDB() bool { return f.all[0].duckAll() > 0 }

// publish reports medians, and fails when a promise is broken.
func (f figures) publish(b *testing.B) {
	b.Helper()
	for _, q := range quantities {
		if strings.Contains(q.unit, "duckdb") && !f.besideDuckDB() {
			continue
		}
		least, median, most := f.spread(q.unit)
		b.ReportMetric(median, q.unit)
		b.Logf("%-16s %8.2f, %.2f to %.2f", q.unit, median, least, most)
	}
	b.ReportMetric(0, "ns/op") // of a comparison and DuckDB together
	b.Logf("%s, %d cases changed; %d cores, load %s", f.all[0].Verdict, f.all[0].Changed, runtime.NumCPU(), strings.Join(f.load, " "))
	_, seconds, _ := f.spread("s")
	_, _, peak := f.spread("peak-MB")
	assert.Less(b, seconds, float64(promisedSeconds))
	assert.Less(b, peak, float64(promisedMB))
}

// comparisonsPage is COMPARISONS.md.
func comparisonsPage(all []figures) string {
	var p strings.Builder
	fmt.Fprintf(&p, `# Large comparisons

Written by a benchmark; do not edit. To make it again:

    YOUDEN_LONG=1 go test -run xxx -bench LargeComparison -benchtime %dx -timeout 90m ./measurements/compare

Two captures of a million runs each, written as the bench writes them: pairs of three slices, two sides, K runs a side; 3 %% of the runs fail and are charged, 3 %% are lost, and one case in 100 fits no context; OLD and NEW draw from the same cases, of which 1 in 300 was removed, one added and one changed, and one family got worse. The program reads both, compares them, and prints a table and a JSON document with every changed case. Each comparison is a process of its own.

Promised: less than %d s and %d MB on two cores. Here: %d cores, %s on %s/%s. Times are medians, with the least and the most; memory is the most the process ever held (VmHWM) and the most of the Go heap, with the limit of compare.Memory. The load average of the machine stands beside; where it is above 2, the ratios say more than the seconds.

DuckDB %s aggregates the same files on two threads, beside each comparison: *rates* are n and J of both captures by slice and family over the cases that both scored, which the program must reproduce to 1e-9; *all* adds what a comparison also sums up: cost, latency, statuses, models, trajectories, severity floors. It makes no test, no interval and no list of cases.

| captures | families | seconds | reading | comparing | table | JSON | CPU s | peak MB | heap MB | JSON MB | changed cases | load average |
|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|
`, len(all[0].all), promisedSeconds, promisedMB, runtime.NumCPU(), runtime.Version(), runtime.GOOS, runtime.GOARCH, all[0].all[0].duck.Version)
	for _, f := range all {
		least, median, most := f.spread("s")
		fmt.Fprintf(&p, "| 2 of %d pairs x K = %d | 3 x %d | **%.1f** (%.1f to %.1f) |", f.pairs, f.k, f.families, median, least, most)
		for _, unit := range []string{"load-s", "compare-s", "table-s", "json-s", "cpu-s"} {
			_, median, _ := f.spread(unit)
			fmt.Fprintf(&p, " %.2f |", median)
		}
		for _, unit := range []string{"peak-MB", "heap-MB", "json-MB"} {
			_, _, most := f.spread(unit)
			fmt.Fprintf(&p, " %.0f |", most)
		}
		fmt.Fprintf(&p, " %d | %s |\n", f.all[0].Changed, strings.Join(f.load, ", "))
	}
	if !all[0].besideDuckDB() {
		p.WriteString("\nDuckDB was not installed.\n")
		return p.String()
	}
	p.WriteString(`
| captures | families | DuckDB rates s | DuckDB all s | DuckDB CPU s | reading / DuckDB all | whole / DuckDB all | CPU / DuckDB CPU |
|---|--:|--:|--:|--:|--:|--:|--:|
`)
	for _, f := range all {
		fmt.Fprintf(&p, "| 2 of %d pairs x K = %d | 3 x %d |", f.pairs, f.k, f.families)
		for _, unit := range []string{"duckdb-rates-s", "duckdb-all-s", "duckdb-cpu-s", "load/duckdb-all", "s/duckdb-all", "cpu/duckdb-cpu"} {
			least, median, most := f.spread(unit)
			fmt.Fprintf(&p, " %.2f (%.2f to %.2f) |", median, least, most)
		}
		p.WriteString("\n")
	}
	return p.String()
}

// watchHeap samples the heap in use until the result is called, which returns the
// most.
func watchHeap() (peak func() uint64) {
	stop, most := make(chan struct{}), make(chan uint64)
	go func() {
		tick := time.NewTicker(2 * time.Millisecond)
		defer tick.Stop()
		sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}, {Name: "/memory/classes/heap/unused:bytes"}}
		var seen uint64
		for {
			select {
			case <-tick.C:
				metrics.Read(sample)
				seen = max(seen, sample[0].Value.Uint64()+sample[1].Value.Uint64())
			case <-stop:
				most <- seen
				return
			}
		}
	}()
	return func() uint64 {
		close(stop)
		return <-most
	}
}

// peakMB is the most memory that this process ever held, 0 where the system does
// not say.
func peakMB() float64 {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(status), "VmHWM:")
	kb, err := strconv.ParseFloat(strings.Fields(rest + " 0")[0], 64)
	if err != nil {
		return 0
	}
	return kb * 1024 / 1e6
}

// loadAverage is that of the last minute, "-" where the system does not say.
func loadAverage() string {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return "-"
	}
	return strings.Fields(string(text) + " -")[0]
}
