package budget

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestUSD(t *testing.T) {
	for text, want := range map[string]int64{
		"0": 0, "1": 1_000_000, "$2.50": 2_500_000, "0.000001": 1, "1.10": 1_100_000, "999999999.999999": 999_999_999_999_999,
	} {
		got, err := ParseUSD(text)
		require.NoError(t, err, text)
		assert.Equal(t, want, got, text)
	}
	for _, text := range []string{"", "-1", "1e3", ".5", "1.", "0.0000001", "1000000000", "1,5", "one", "NaN", " 1", "1/3", "$"} {
		_, err := ParseUSD(text)
		assert.Error(t, err, text)
	}
	for micros, want := range map[int64]string{
		0: "$0.00", 1: "$0.000001", 31_200: "$0.0312", 1_000_000: "$1.00", 1_500_000: "$1.50", 12_345_678: "$12.345678", -250_000: "-$0.25",
	} {
		assert.Equal(t, want, USD(micros))
	}
}

func FuzzParseUSD(f *testing.F) {
	for _, seed := range []string{"1.50", "$0.000001", "999999999", "-1", "1e9", "٣"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		micros, err := ParseUSD(text)
		if err != nil {
			return
		}
		require.GreaterOrEqual(t, micros, int64(0))
		again, err := ParseUSD(USD(micros))
		require.NoError(t, err)
		require.Equal(t, micros, again)
	})
}
