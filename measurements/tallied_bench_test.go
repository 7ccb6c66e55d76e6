package measurements

import (
	"fmt"
	"iter"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime/debug"
	"runtime/metrics"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/youden-bench/youden/corpus"
)

// manyRuns yields the runs of pairs x k in plan order, in chunks that are valid
// until the next one. They look like those of a real capture.
func manyRuns(pairs, k int) iter.Seq[[]RunRow] {
	families := []string{"injection", "path", "ssrf", "crypto", "authz", "memory", "race"}
	rng := rand.New(rand.NewPCG(3, 4))
	return func(yield func([]RunRow) bool) {
		chunk := make([]RunRow, 0, rowsPerGroup)
		for i := range pairs {
			for _, side := range []corpus.SideName{corpus.Vulnerable, corpus.Fixed} {
				trace := fmt.Sprintf("%016x%016x%016x%016x", rng.Uint64(), rng.Uint64(), rng.Uint64(), rng.Uint64())
				for run := range k {
					r := manyRun(i, side, int64(run), rng)
					r.Family, r.TrajectoryHash = families[i%len(families)], &trace
					if chunk = append(chunk, r); len(chunk) == cap(chunk) {
						if !yield(chunk) {
							return
						}
						chunk = chunk[:0]
					}
				}
			}
		}
		yield(chunk)
	}
}

func manyRun(i int, side corpus.SideName, k int64, rng *rand.Rand) RunRow {
	high, model, print := "high", "sim-1", "fp-1"
	r := RunRow{
		RunID: fmt.Sprintf("%016x", rng.Uint64()), CaseID: fmt.Sprintf("planted-case-%06d", i),
		CaseHash: fmt.Sprintf("%064x", i), ContentHash: fmt.Sprintf("%064x", -i), Slice: "planted", Group: fmt.Sprintf("g%d", i),
		Split: "feedback", Language: "python", Vetted: "read", Pair: true, Side: string(side), K: k, RequestSeed: rng.Int64(),
		Status: "ok", Counts: "yes", Calls: 1, Attempts: 1,
		Findings: pointer(int64(1)), DroppedItems: new(int64), Unmapped: new(int64), Unlocated: new(int64),
		PromptTokens: pointer(900 + rng.Int64N(50)), CompletionTokens: pointer(rng.Int64N(400)),
		CostUSDMicros: pointer(rng.Int64N(900)), LatencyMS: pointer(rng.Int64N(60_000)), StartedAt: &sampleTime,
		ModelReturned: &model, SystemFingerprint: &print, Receipt: pointer(fmt.Sprintf("%032x", rng.Uint64())), Simulated: true,
	}
	says := rng.IntN(10) < 8
	switch {
	case rng.IntN(50) == 0:
		r.Status, r.Counts = "transient", "excused"
	case side == corpus.Vulnerable:
		r.Hit = &says
		if says {
			r.HitSeverity = &high
		}
	default:
		r.SilentStrict, r.SilentClass, r.SilentRegion = &says, &says, &says
		if !says {
			r.BreakSeverityStrict, r.BreakSeverityClass, r.BreakSeverityRegion = &high, &high, &high
		}
	}
	return r
}

// manyCapture writes runs.parquet alone: tallies read nothing else.
func manyCapture(t testing.TB, pairs, k int) *Capture {
	t.Helper()
	c, err := Create(filepath.Join(t.TempDir(), "capture"), sampleManifest(pairs*2*k, k))
	require.NoError(t, err)
	f, err := os.Create(filepath.Join(c.Dir(), runsFile))
	require.NoError(t, err)
	writeRuns(t, f, manyRuns(pairs, k))
	require.NoError(t, f.Close())
	return c
}

// BenchmarkTallies tallies a million runs; a limit of 200 MB and 4 s is what a
// comparison of two such captures leaves to each.
func BenchmarkTallies(b *testing.B) {
	for _, size := range []struct{ pairs, k int }{{100_000, 5}, {10_000, 50}} {
		b.Run(fmt.Sprintf("%dx%d", size.pairs, size.k), func(b *testing.B) {
			c := manyCapture(b, size.pairs, size.k)
			peak := watchMemory()
			b.ReportAllocs()
			for b.Loop() {
				t, err := c.Tallies(Class, Charge)
				require.NoError(b, err)
				require.Len(b, t.Cases, size.pairs)
			}
			b.ReportMetric(float64(peak())/1e6, "peak-MB")
		})
	}
}

// watchMemory gives back what was used before, and samples what the program then
// holds of the system's memory until the result is called, which returns the most.
func watchMemory() (peak func() uint64) {
	debug.FreeOSMemory()
	held := func() uint64 {
		s := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
		metrics.Read(s)
		return s[0].Value.Uint64() - s[1].Value.Uint64()
	}
	stop, most := make(chan struct{}), make(chan uint64)
	go func() {
		tick := time.NewTicker(5 * time.Millisecond)
		defer tick.Stop()
		var seen uint64
		for {
			select {
			case <-tick.C:
				seen = max(seen, held())
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
