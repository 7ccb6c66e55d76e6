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
		skips, skipped := 0, 0
		for _, k := range doc.cases() {
			counted.Tests++
			results := 0
			for _, r := range []struct {
				of *junitResult
				in *int
			}{{k.Failure, &counted.Failures}, {k.Error, &counted.Errors}, {k.Skipped, &skips}} {
				if r.of != nil {
					*r.in++
					results++
					assert.NotEmpty(t, r.of.Message)
				}
			}
			assert.LessOrEqual(t, results, 1, "a test case has one result")
		}
		assert.Equal(t, counted, doc.junitCounts, tt.name)
		for _, s := range doc.Suites {
			assert.Len(t, s.Cases, s.Tests)
			skipped += s.Skipped
		}
		assert.Equal(t, skips, skipped)
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
		"comparison/verdict": "failure regression", "comparison/runs of NEW": "error incomplete", "planted/crypto": "skipped untested",
		"planted/injection": "failure regression", h + "/(overall)": "failure regression", h + "/" + h: "failure regression",
		"gates/" + h: "failure gate: fail", "gates/no alarms (added)": "failure gate: no data",
	}, results(failing()))
	assert.Equal(t, map[string]string{
		"comparison/verdict": "skipped inconclusive", "planted/(overall)": "skipped inconclusive", "planted/crypto": "skipped untested",
		"gates/each of five": "skipped inconclusive",
	}, results(inconclusive()))
	assert.Equal(t, map[string]string{
		"comparison/verdict": "error incomparable", "comparison/runs of NEW": "error incomplete",
	}, results(incomparable()))
}

// The schema of the xunit plugin of Jenkins (junit-10.xsd), which others follow:
// the elements that each may hold, and the attributes, * for required ones.
var junitSchema = map[string]struct{ holds, attributes []string }{
	"testsuites": {[]string{"testsuite"}, []string{"name", "time", "tests", "failures", "errors"}},
	"testsuite":  {[]string{"properties", "testcase", "system-out", "system-err"}, []string{"name*", "tests*", "failures*", "errors*", "skipped", "time", "timestamp", "hostname", "id", "package"}},
	"properties": {[]string{"property"}, nil},
	"property":   {nil, []string{"name*", "value*"}},
	"testcase":   {[]string{"skipped", "error", "failure", "system-out", "system-err"}, []string{"name*", "classname", "time"}},
	"failure":    {nil, []string{"type", "message"}},
	"error":      {nil, []string{"type", "message"}},
	"skipped":    {nil, []string{"type", "message"}},
	"system-out": {nil, nil},
}

func TestJUnitFollowsTheSchema(t *testing.T) {
	for _, tt := range comparisons {
		d := xml.NewDecoder(strings.NewReader(junit(t, tt.of())))
		var open []string
		for {
			token, err := d.Token()
			if errors.Is(err, io.EOF) {
				break
			}
			require.NoError(t, err)
			switch e := token.(type) {
			case xml.StartElement:
				name := e.Name.Local
				require.Contains(t, junitSchema, name)
				if len(open) == 0 {
					assert.Equal(t, "testsuites", name)
				} else {
					assert.Contains(t, junitSchema[open[len(open)-1]].holds, name)
				}
				given := map[string]bool{}
				for _, a := range e.Attr {
					given[a.Name.Local] = true
				}
				for _, a := range junitSchema[name].attributes {
					bare, required := strings.CutSuffix(a, "*")
					assert.True(t, given[bare] || !required, "%s needs %s", name, bare)
					delete(given, bare)
				}
				assert.Empty(t, given, "attributes of %s", name)
				open = append(open, name)
			case xml.EndElement:
				open = open[:len(open)-1]
			}
		}
	}
}
