package report

import (
	"encoding/xml"
	"fmt"
	"strings"

	"github.com/youden-bench/youden/detector"
	"github.com/youden-bench/youden/measurements"
	"github.com/youden-bench/youden/measurements/compare"
)

// The elements of JUnit XML that CI servers read.
type junitReport struct {
	XMLName xml.Name `xml:"testsuites"`
	Name    string   `xml:"name,attr"`
	junitCounts
	Suites []junitSuite `xml:"testsuite"`
}

type junitCounts struct {
	Tests    int `xml:"tests,attr"`
	Failures int `xml:"failures,attr"`
	Errors   int `xml:"errors,attr"`
	Skipped  int `xml:"skipped,attr"`
}

type junitSuite struct {
	Name string `xml:"name,attr"`
	junitCounts
	Properties []junitProperty `xml:"properties>property"`
	Cases      []junitCase     `xml:"testcase"`
}

type junitProperty struct {
	Name  string `xml:"name,attr"`
	Value string `xml:"value,attr"`
}

type junitCase struct {
	Class   string       `xml:"classname,attr"`
	Name    string       `xml:"name,attr"`
	Failure *junitResult `xml:"failure"`
	Error   *junitResult `xml:"error"`
	Skipped *junitResult `xml:"skipped"`
	Out     string       `xml:"system-out,omitempty"`
}

type junitResult struct {
	Message string `xml:"message,attr"`
	Type    string `xml:"type,attr"`
	Text    string `xml:",chardata"`
}

// JUnit is a comparison as JUnit XML: one suite for the comparison as a whole,
// and one for each slice with a test case for all of it and for each family. A
// regression is a failure; endpoint or network, and captures that cannot be
// compared, are an error; what could not be told is skipped.
func JUnit(c *compare.Comparison) ([]byte, error) {
	doc := junitReport{Name: "youden compare"}
	whole := junitSuite{Name: "comparison", Cases: []junitCase{wholeCase(c), runsCase("OLD", c.Old, false), runsCase("NEW", c.New, true)}}
	doc.add(c, whole)
	var suite *junitSuite
	for _, r := range comparedRows(c) {
		if suite == nil || suite.Name != Plain(r.Slice) {
			if suite != nil {
				doc.add(c, *suite)
			}
			suite = &junitSuite{Name: Plain(r.Slice)}
		}
		suite.Cases = append(suite.Cases, rowCase(r))
	}
	if suite != nil {
		doc.add(c, *suite)
	}
	raw, err := xml.MarshalIndent(doc, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("printing a comparison as JUnit: %w", err)
	}
	return append([]byte(xml.Header), append(raw, '\n')...), nil
}

// add counts a suite and says of it what stands above every table.
func (d *junitReport) add(c *compare.Comparison, s junitSuite) {
	s.Properties = []junitProperty{
		{"old", Plain(c.Old.Name)}, {"new", Plain(c.New.Name)}, {"verdict", string(c.Verdict)}, {"simulated", yes(simulated(c))},
	}
	for _, k := range s.Cases {
		s.Tests++
		switch {
		case k.Failure != nil:
			s.Failures++
		case k.Error != nil:
			s.Errors++
		case k.Skipped != nil:
			s.Skipped++
		}
	}
	d.Tests += s.Tests
	d.Failures += s.Failures
	d.Errors += s.Errors
	d.Skipped += s.Skipped
	d.Suites = append(d.Suites, s)
}

// settle gives a test case the result of a verdict.
func (k *junitCase) settle(v compare.Verdict, message, details string) {
	result := &junitResult{Message: Plain(message), Text: Plain(details)}
	switch v {
	case compare.Fail:
		result.Type = "regression"
		k.Failure = result
	case compare.Incomparable:
		result.Type = "incomparable"
		k.Error = result
	case compare.Inconclusive, compare.Untested:
		result.Type = strings.ToLower(string(v))
		k.Skipped = result
	default:
		k.Out = Plain(fmt.Sprintf("%s: %s", v, strings.Trim(message+"; "+details, "; ")))
	}
}

// wholeCase is the verdict: it also holds what no row shows.
func wholeCase(c *compare.Comparison) junitCase {
	k := junitCase{Class: "comparison", Name: "verdict"}
	_, why, _ := strings.Cut(headline(c), ": ")
	if simulated(c) {
		why = "SIMULATED: " + why
	}
	k.settle(c.Verdict, why, "")
	return k
}

func rowCase(r comparedRow) junitCase {
	k := junitCase{Class: Plain(r.Slice), Name: Plain(r.name())}
	details := fmt.Sprintf("n = %d, old J %s, new J %s, delta %s, p general %s, p these cases %s", r.N,
		estimate(r.Old, r.OldLo, r.OldHi), estimate(r.New, r.NewLo, r.NewHi), estimate(r.Delta, r.Lo, r.Hi), pValue(r.P).text, pValue(r.PCases).text)
	if r.unchanged() {
		details += ", " + findable(r.Detectable)
	}
	verdict, reasons := r.Verdict, strings.Join(r.Reasons, "; ")
	if verdict == compare.Fail && !r.Decides {
		verdict, reasons = compare.Warn, "its slice does not decide: "+reasons
	}
	k.settle(verdict, reasons, details)
	return k
}

// errorLimit is the share of runs that may be lost to endpoint or network
// (DESIGN section 3).
const errorLimit = .05

// runsCase says what became of the runs of a subject. Those of the one that CI
// has just made are an error when too many were lost; a baseline was accepted
// with what it lost.
func runsCase(name string, h compare.Head, fresh bool) junitCase {
	k := junitCase{Class: "comparison", Name: "runs of " + name}
	line := fmt.Sprintf("runs %s; not ok: %s", known(h.Runs), notOK(h))
	if short := coverage(h); short != "" {
		line = short + "; " + line
	}
	lost := map[string]int64{}
	sum := int64(0)
	for _, row := range detector.Statuses() {
		if n := h.Statuses[string(row.Status)]; row.Error && n > 0 {
			lost[string(row.Status)] = n
			sum += n
		}
	}
	message := ""
	switch {
	case coverage(h) == string(measurements.Unrun):
		message = "unrun: no run gave an answer"
	case float64(sum) > errorLimit*float64(h.Runs):
		message = fmt.Sprintf("%s runs were lost to endpoint or network: %s", outOf(sum, h.Runs), reasons(lost, ", "))
	}
	if fresh && message != "" {
		k.Error = &junitResult{Message: Plain(message), Type: "infrastructure", Text: Plain(line)}
		return k
	}
	k.Out = Plain(line)
	return k
}
