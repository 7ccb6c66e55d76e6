package compare

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// What is not shown says what would show it, and that is about right.
func TestNonInferiorityAdvises(t *testing.T) {
	families := func(n int) (before, after map[string][][2]int) {
		return map[string][][2]int{"path": times(n, [2]int{3, 1}, [2]int{5, 0}, [2]int{2, 0}, [2]int{4, 1})},
			map[string][][2]int{"path": times(n, [2]int{5, 0}, [2]int{3, 1}, [2]int{4, 1}, [2]int{2, 0})}
	}
	before, after := families(40)
	c := Compare(measured(5, before), measured(5, after), Options{Mode: NonInferior})
	require.Equal(t, Inconclusive, c.Verdict)
	require.Len(t, c.Reasons, 1)
	r := c.Slices[0]
	half := (*r.Hi - *r.Lo) / 2
	assert.Contains(t, c.Reasons[0], "the interval is "+hundredths(half)+" to either side; if J stayed, about ")
	needed := int(40 * (half / .05) * (half / .05))
	before, after = families(needed + needed/10)
	assert.Equal(t, Pass, Compare(measured(5, before), measured(5, after), Options{Mode: NonInferior}).Verdict)
	before, after = families(needed - needed/10)
	assert.Equal(t, Inconclusive, Compare(measured(5, before), measured(5, after), Options{Mode: NonInferior}).Verdict)
}

func TestTooFewAgreesInNumber(t *testing.T) {
	assert.Equal(t, "1 case is too few", tooFew(1, "case"))
	assert.Equal(t, "2 cases are too few", tooFew(2, "case"))
}
