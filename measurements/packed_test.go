package measurements

import (
	"math/rand/v2"
	"reflect"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// randomly fills a value: each pointer and list is nil, empty or not.
func randomly(rng *rand.Rand, v reflect.Value) {
	switch v.Kind() {
	case reflect.Struct:
		if v.Type() == timeType {
			v.Set(reflect.ValueOf(time.Unix(0, rng.Int64N(1<<62)).UTC()))
			return
		}
		for i := range v.NumField() {
			randomly(rng, v.Field(i))
		}
	case reflect.Pointer:
		if v.SetZero(); rng.IntN(3) > 0 {
			v.Set(reflect.New(v.Type().Elem()))
			randomly(rng, v.Elem())
		}
	case reflect.Slice:
		v.SetZero()
		if n := rng.IntN(4); n > 0 {
			v.Set(reflect.MakeSlice(v.Type(), n-1, n-1))
			for i := range n - 1 {
				randomly(rng, v.Index(i))
			}
		}
	case reflect.String:
		text := make([]byte, rng.IntN(300)*rng.IntN(2))
		for i := range text {
			text[i] = byte(rng.Uint32()) // also what is no UTF-8
		}
		v.SetString(string(text))
	case reflect.Int64:
		v.SetInt(int64(rng.Uint64()) >> rng.IntN(64))
	case reflect.Float64:
		v.SetFloat(rng.NormFloat64() * float64(rng.IntN(2)))
	case reflect.Bool:
		v.SetBool(rng.IntN(2) > 0)
	}
}

// Whatever stands in rows comes back as it was, with nil, zero and empty told apart,
// also into rows that held others; and no prefix of it passes for the whole.
func TestPackedRowsComeBack(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	var back Rows
	for range 300 {
		var rows Rows
		randomly(rng, reflect.ValueOf(&rows).Elem())
		packed := rows.Append([]byte("before"))[len("before"):]
		require.NoError(t, back.Unpack(packed))
		require.Equal(t, rows, back)
		cut := packed[:rng.IntN(len(packed))]
		assert.Error(t, new(Rows).Unpack(cut))
	}
	require.Error(t, new(Rows).Unpack(append(back.Append(nil), 0)), "more than the rows")
}

// A spool file that something else has written to must not end the program.
func FuzzUnpackRows(f *testing.F) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range 4 {
		var rows Rows
		randomly(rng, reflect.ValueOf(&rows).Elem())
		f.Add(rows.Append(nil))
	}
	f.Add([]byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff})
	f.Fuzz(func(t *testing.T, data []byte) {
		var rows, again Rows
		if rows.Unpack(data) != nil {
			return
		}
		require.NoError(t, again.Unpack(rows.Append(nil)))
		assert.Equal(t, rows.Append(nil), again.Append(nil))
	})
}

func BenchmarkPackedRows(b *testing.B) {
	rows := sampleRows(1, 1)
	var packed []byte
	var back Rows
	for b.Loop() {
		packed = rows[0].Append(packed[:0])
		if err := back.Unpack(packed); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(len(packed)), "bytes")
}
