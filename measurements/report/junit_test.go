package report

import (
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/youden-bench/youden/measurements/compare"
)

func (d junitReport) cases() []junitCase {
	var list []junitCase
	for _, s := range d.Suites {
		list = append(list, s.Cases...)
	}
	return list
}

func TestJUnitIsWellFormed(t *testing.T) {
	for _, tt := range comparisons {
		out := junit(t, tt.of())
		assert.NotContains(t, out, "]]>")
		d := xml.NewDecoder(strings.NewReader(out))
		depth := 0
		for {
			token, err := d.Token()
			if errors.Is(err, io.EOF) {
				break
			}
			require.NoError(t, err, tt.name)
			switch token.(type) {
			case xml.StartElement:
				depth++
			case xml.EndElement:
				depth--
			}
		}
		assert.Zero(t, depth)
		var doc junitReport
		require.NoError(t, xml.Unmarshal([]byte(out), &doc))
		var counted junitCounts
		for _, k := range doc.cases() {
			counted.Tests++
			results := 0
			for _, r := range []struct {
				of *junitResult
				in *int
			}{{k.Failure, &counted.Failures}, {k.Error, &counted.Errors}, {k.Skipped, &counted.Skipped}} {
				if r.of != nil {
					*r.in++
					results++
					assert.NotEmpty(t, r.of.Message)
				}
			}
			assert.LessOrEqual(t, results, 1, "a test case has one result")
		}
		assert.Equal(t, counted, doc.junitCounts, tt.name)
	}
}

func TestJUnitResults(t *testing.T) {
	results := func(c *compare.Comparison) map[string]string {
		var doc junitReport
		require.NoError(t, xml.Unmarshal([]byte(junit(t, c)), &doc))
		found := map[string]string{}
		for _, k := range doc.cases() {
			switch {
			case k.Failure != nil:
				found[k.Class+"/"+k.Name] = "failure " + k.Failure.Type
			case k.Error != nil:
				found[k.Class+"/"+k.Name] = "error " + k.Error.Type
			case k.Skipped != nil:
				found[k.Class+"/"+k.Name] = "skipped " + k.Skipped.Type
			}
		}
		return found
	}
	h := Plain(hostile)
	assert.Equal(t, map[string]string{"planted/crypto": "skipped untested"}, results(passing()))
	assert.Equal(t, map[string]string{"planted/crypto": "skipped untested"}, results(warning()), "a warning does not fail a build")
	assert.Equal(t, map[string]string{
		"comparison/verdict": "failure regression", "comparison/runs of NEW": "error infrastructure", "planted/crypto": "skipped untested",
		"planted/injection": "failure regression", h + "/(overall)": "failure regression", h + "/" + h: "failure regression",
	}, results(failing()))
	assert.Equal(t, map[string]string{
		"comparison/verdict": "skipped inconclusive", "planted/(overall)": "skipped inconclusive", "planted/crypto": "skipped untested",
	}, results(inconclusive()))
	assert.Equal(t, map[string]string{
		"comparison/verdict": "error incomparable", "comparison/runs of NEW": "error infrastructure",
	}, results(incomparable()))
}
