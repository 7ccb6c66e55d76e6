package ledger

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
)

// BenchmarkDo measures durable calls with requests of 16 kB that differ a little,
// as the runs of one side do.
func BenchmarkDo(b *testing.B) {
	prompt := strings.Repeat("   10 | if user.id != doc.owner_id { return forbidden(\"no\") }\n", 270)
	run := func(b *testing.B, callers int, do func(i int64) error) {
		var next atomic.Int64
		b.ReportAllocs()
		b.SetParallelism(max(1, callers/runtime.GOMAXPROCS(0)))
		if callers == 1 {
			for b.Loop() {
				require.NoError(b, do(next.Add(1)))
			}
		} else {
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					if err := do(next.Add(1)); err != nil {
						b.Error(err)
						return
					}
				}
			})
		}
		b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "calls/s")
	}
	ledgers := map[string]func(b *testing.B) *Ledger{
		"memory": func(b *testing.B) *Ledger {
			l, err := OpenStore(context.Background(), NewMemory(), Options{})
			require.NoError(b, err)
			b.Cleanup(func() { require.NoError(b, l.Close()) })
			return l
		},
		"sqlite": func(b *testing.B) *Ledger { return open(b, tempPath(b), Options{}) },
	}
	for _, store := range []string{"memory", "sqlite"} {
		for _, callers := range []int{1, 32} {
			b.Run(fmt.Sprintf("%s/%d", store, callers), func(b *testing.B) {
				l := ledgers[store](b)
				run(b, callers, func(i int64) error {
					_, err := l.Do(context.Background(), Sample{Scope: "p", Index: uint32(i)}, call(fmt.Sprint(prompt, i)), func(context.Context, Attempt) SendResult {
						return got(200, fmt.Sprint("answer ", i), true)
					})
					return err
				})
			})
		}
	}
	for _, callers := range []int{1, 32} {
		b.Run(fmt.Sprintf("map/%d", callers), func(b *testing.B) {
			var mu sync.Mutex
			answers := map[Digest][]byte{}
			run(b, callers, func(i int64) error {
				id := Sample{Scope: "p", Index: uint32(i), Call: call(fmt.Sprint(prompt, i)).Digest()}.Digest()
				mu.Lock()
				defer mu.Unlock()
				answers[id] = []byte(fmt.Sprint("answer ", i))
				return nil
			})
		})
	}
}
