package compare

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestTextsWriteNumbersAsTablesDo(t *testing.T) {
	for v, want := range map[float64][2]string{
		0: {".00", ".00"}, .004: {".00", ".00"}, -.004: {".00", ".00"}, .07: {".07", "+.07"}, -.07: {"-.07", "-.07"},
		1: {"1.00", "+1.00"}, -1.5: {"-1.50", "-1.50"}, 10: {"10.00", "+10.00"},
	} {
		assert.Equal(t, want, [2]string{hundredths(v), Signed(v)}, v)
	}
	assert.Equal(t, []string{"0 cases", "1 case", "2 cases"}, []string{many(0, "case"), many(1, "case"), many(2, "case")})
}
