package ledger

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/klauspost/compress/zstd"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func drawOf(side, seed int) []byte {
	prompt := strings.Repeat(fmt.Sprintf("line of side %d; ", side), 400)
	return fmt.Appendf(nil, `{"messages":[{"content":"%s"}],"model":"m","seed":%d,"temperature":0}`, prompt, seed)
}

// Whatever a body is, it comes back as it was, from any reader of zstd.
func TestBodiesComeBack(t *testing.T) {
	c, err := newCodec()
	require.NoError(t, err)
	defer c.close()
	plain, err := zstd.NewReader(nil)
	require.NoError(t, err)
	defer plain.Close()
	long := strings.Repeat("x", shortest)
	bodies := [][]byte{
		nil, []byte("{}"), []byte(`{"seed":1}`), []byte(long), []byte(long + `"seed":`), []byte(`"seed":` + long),
		[]byte(long + `"seed":1` + long + `"seed":2`), bytes.Repeat([]byte{0xff, 0, 7}, 5000), drawOf(1, 1), drawOf(1, 2), drawOf(1, 123456789), drawOf(2, 1),
	}
	for range 2 { // the second time the openings are known
		for _, raw := range bodies {
			b := c.pack(raw, sha256.Sum256(raw))
			back, err := c.unpack(b)
			require.NoError(t, err)
			require.True(t, bytes.Equal(raw, back))
			if b.Zstd {
				assert.Less(t, len(b.Data), len(raw))
				other, err := plain.DecodeAll(b.Data, nil)
				require.NoError(t, err)
				assert.True(t, bytes.Equal(raw, other))
			}
		}
	}
}

// The draws of a side compress their opening once, and what is remembered of openings
// is bounded.
func TestOpeningsAreSharedAndBounded(t *testing.T) {
	c, err := newCodec()
	require.NoError(t, err)
	defer c.close()
	for seed := range 50 {
		raw := drawOf(seed%2, seed)
		c.pack(raw, sha256.Sum256(raw))
	}
	assert.Len(t, c.openings.known, 2)
	var packers sync.WaitGroup
	for p := range 4 {
		packers.Go(func() {
			for n := range 300 {
				raw := append(incompressible(p*1000+n, 8<<10), `"seed":1}`...)
				c.pack(raw, sha256.Sum256(raw))
			}
		})
	}
	packers.Wait()
	total := 0
	for _, packed := range c.openings.known {
		total += len(packed)
	}
	assert.LessOrEqual(t, total, maxOpenings)
	assert.Equal(t, total, c.openings.bytes)
}

// incompressible makes bytes that differ from those of every other seed.
func incompressible(seed, size int) []byte {
	out := make([]byte, 0, size+sha256.Size)
	for i := 0; len(out) < size; i++ {
		sum := sha256.Sum256(fmt.Appendf(nil, "%d %d", seed, i))
		out = append(out, sum[:]...)
	}
	return out[:size]
}
