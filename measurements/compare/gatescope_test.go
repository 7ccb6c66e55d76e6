package compare

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestGateScopesInWords(t *testing.T) {
	for want, s := range map[string]gateScope{
		"all cases":                      {},
		"slice s":                        {slice: "s"},
		"family f":                       {family: "f"},
		"family f of slice s":            {slice: "s", family: "f"},
		"case a":                         {cases: []string{"a"}},
		"case a of slice s":              {slice: "s", cases: []string{"a"}},
		"2 named cases":                  {cases: []string{"a", "b"}},
		"2 named cases of slice planted": {slice: "planted", cases: []string{"a", "b"}},
	} {
		assert.Equal(t, want, s.String())
	}
}

func TestGateNamesInWords(t *testing.T) {
	assert.Equal(t, "none", listed(nil, 2))
	assert.Equal(t, "a, b", listed([]string{"a", "b"}, 2))
	assert.Equal(t, "a, b and 2 more", listed([]string{"a", "b", "c", "d"}, 2))
	assert.Equal(t, strings.Repeat("x", 40), short40(strings.Repeat("x", 40)))
	assert.Equal(t, strings.Repeat("é", 40)+"...", short40(strings.Repeat("é", 41)))
}

func TestGateNumbersInWords(t *testing.T) {
	for want, v := range map[string]float64{"0": -1e-12, "0.123": .1234, "1": 1, "-0.5": -.5, "10": 10} {
		assert.Equal(t, want, decimals(v, 3))
	}
	assert.Equal(t, []string{"0.123", "0.124", "0.6", "0.6"}, []string{roundDown(.1239), roundUp(.1231), roundDown(.6), roundUp(.6)})
	a, b := tellApart(.59999, .6)
	assert.Equal(t, []string{".59999", ".6"}, []string{a, b})
	a, b = tellApart(.6, .6)
	assert.Equal(t, a, b)
}
