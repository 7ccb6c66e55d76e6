//go:build unix

package simulator

import (
	"encoding/json"
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// manyLines repeats the Go files among the own pairs until a file has n lines.
func manyLines(pairs []pair, n int, salt string) side {
	var lines []string
	for len(lines) < n {
		for _, p := range pairs {
			for name, text := range p.vulnerable {
				if strings.HasSuffix(name, ".go") {
					lines = append(lines, strings.Split(strings.TrimSuffix(text, "\n"), "\n")...)
				}
			}
		}
	}
	return side{"src/big.go": "// " + salt + "\n" + strings.Join(lines[:n-1], "\n") + "\n"}
}

// BenchmarkChat measures one call: cold means that the code was never seen,
// warm that only the seed is new, as in K runs of a side.
func BenchmarkChat(b *testing.B) {
	pairs := ownPairs(b)
	for _, n := range []int{200, 1500} {
		for _, warm := range []bool{false, true} {
			b.Run(fmt.Sprintf("lines=%d/warm=%v", n, warm), func(b *testing.B) {
				s := newServer(b, Options{})
				var bodies [][]byte
				for i := range 16 {
					salt, seed := fmt.Sprint("salt", i), 1
					if warm {
						salt, seed = "salt", i
					}
					raw, err := json.Marshal(map[string]any{"model": "sim-strong", "seed": seed,
						"messages": detectorMessages(b, goodInstruction, goodChecklist, manyLines(pairs, n, salt))})
					require.NoError(b, err)
					bodies = append(bodies, raw)
				}
				b.ResetTimer()
				before := cpuTime(b)
				for i := range b.N {
					if !warm && i%len(bodies) == 0 {
						s.codes = newLRU[*evidence](1)
					}
					if r := post(b, s, bodies[i%len(bodies)]); r.status != 200 {
						b.Fatal(string(r.body))
					}
				}
				b.ReportMetric(float64((cpuTime(b)-before).Microseconds())/1000/float64(b.N), "cpu-ms/op")
			})
		}
	}
}

// cpuTime is what the process has used: on a shared machine the only honest
// measure.
func cpuTime(b *testing.B) time.Duration {
	b.Helper()
	var u syscall.Rusage
	require.NoError(b, syscall.Getrusage(syscall.RUSAGE_SELF, &u))
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
