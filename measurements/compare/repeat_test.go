package compare

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// What only repeats OLD passes, and shows nothing by that.
func TestRepeatsShowNothing(t *testing.T) {
	one := func(change func(*Subject)) *Subject {
		s := measured(5, steady())
		s.ID, s.Seed = "a", 1
		change(s)
		return s
	}
	smooth := func(s *Subject) {
		s.Cases = measured(5, map[string][][2]int{"path": times(30, [2]int{5, 0})}).Cases
		s.ID = "b"
	}
	for name, c := range map[string]struct {
		old, new func(*Subject)
		want     string
	}{
		"itself":               {func(*Subject) {}, func(*Subject) {}, "same capture"},
		"the same answers":     {func(*Subject) {}, func(s *Subject) { s.ID = "b" }, "same answers"},
		"from another seed":    {func(*Subject) {}, func(s *Subject) { s.ID, s.Seed = "b", 2 }, ""},
		"of another model":     {func(*Subject) {}, func(s *Subject) { s.ID, s.Endpoint.Model = "b", "m2" }, ""},
		"one run differs":      {func(*Subject) {}, func(s *Subject) { s.Cases[0].Vulnerable = ran("vulnerable", 5, 4) }, ""},
		"all right, both":      {func(s *Subject) { smooth(s); s.ID = "a" }, smooth, ""},
		"all right, simulated": {func(s *Subject) { smooth(s); s.ID, s.Simulated = "a", true }, func(s *Subject) { smooth(s); s.Simulated = true }, "same answers"},
	} {
		t.Run(name, func(t *testing.T) {
			for _, mode := range []Mode{Regression, NonInferior} {
				got := Compare(one(c.old), one(c.new), Options{Mode: mode})
				require.Len(t, got.Slices, 1)
				if c.want == "" {
					assert.NotContains(t, strings.Join(got.Warnings, "\n"), "second measurement")
					assert.NotNil(t, got.Slices[0].NonInferior)
					continue
				}
				assert.Equal(t, Pass, got.Verdict)
				assert.Contains(t, strings.Join(got.Warnings, "\n"), c.want)
				assert.Nil(t, got.Slices[0].NonInferior)
			}
		})
	}
}
