package report

import (
	"encoding/xml"
	"fmt"
	"strings"

	"github.com/youden-bench/youden/measurements/compare"
)

// The elements of JUnit XML that CI servers read.
type junitReport struct {
	XMLName xml.Name `xml:"testsuites"`
	Name    string   `xml:"name,attr"`
	junitCounts
	Suites []junitSuite `xml:"testsuite"`
}

// junitCounts are what a report and a suite both sum up; those that are skipped are
// an attribute of suites alone.
type junitCounts struct {
	Tests    int `xml:"tests,attr"`
	Failures int `xml:"failures,attr"`
	Errors   int `xml:"errors,attr"`
}

type junitSuite struct {
	Name string `xml:"name,attr"`
	junitCounts
	Skipped    int             `xml:"skipped,attr"`
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

// JUnit is a comparison as JUnit XML, within the schema of the xunit plugin of
// Jenkins: one suite for the comparison as a whole, one for each slice with a test
// case for all of it and for each family, and one with a test case a gate. A
// regression or a gate that does not hold is a failure; a NEW that is not whole,
// and captures that cannot be compared, are an error; what could not be told is
// skipped.
func JUnit(c *compare.Comparison) ([]byte, error) {
	doc := junitReport{Name: "youden compare"}
	doc.add(c, "comparison", []junitCase{wholeCase(c), runsCase("OLD", c.Old, false), runsCase("NEW", c.New, true)})
	for _, s := range comparedSlices(c) {
		var cases []junitCase
		for _, r := range s.rows {
			cases = append(cases, rowCase(r))
		}
		doc.add(c, Plain(s.name), cases)
	}
	if len(c.Gates) > 0 {
		var cases []junitCase
		for _, g := range c.Gates {
			cases = append(cases, gateCase(g))
		}
		doc.add(c, "gates", cases)
	}
	raw, err := xml.MarshalIndent(doc, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("printing a comparison as JUnit: %w", err)
	}
	return append([]byte(xml.Header), append(raw, '\n')...), nil
}

// add counts a suite and says of it what stands above every table.
func (d *junitReport) add(c *compare.Comparison, name string, cases []junitCase) {
	s := junitSuite{Name: name, Cases: cases}
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
	details := fmt.Sprintf("n = %d, old J %s, new J %s, delta %s, p general %s, p here %s", r.N,
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

// gateCase names the gate by the file's name for it, and says where it stands.
func gateCase(g compare.GateResult) junitCase {
	k := junitCase{Class: "gates", Name: Plain(gateName(g))}
	k.settle(g.Verdict(), g.Reason, fmt.Sprintf("%s:%d: %s, %s", g.File, g.Line, gateOf(g), g.Asked))
	if k.Failure != nil {
		k.Failure.Type = "gate: " + string(g.Outcome)
	}
	return k
}

// runsCase says what became of the runs of a subject. That the capture is not whole
// which CI has just made is an error; a baseline was accepted as it is.
func runsCase(name string, h compare.Head, fresh bool) junitCase {
	k := junitCase{Class: "comparison", Name: "runs of " + name}
	line := fmt.Sprintf("runs %s; not ok: %s; lost to endpoint or network: %s", ended(h), notOK(h), lost(h))
	switch {
	case h.Incomplete == "":
	case fresh:
		k.Error = &junitResult{Message: Plain(h.Incomplete), Type: "incomplete", Text: Plain(line)}
		return k
	default:
		line = "incomplete: " + h.Incomplete + "; " + line
	}
	k.Out = Plain(line)
	return k
}
