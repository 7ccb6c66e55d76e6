package measurements

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"pgregory.net/rapid"

	"github.com/youden-bench/youden/corpus"
	"github.com/youden-bench/youden/corpus/family"
	"github.com/youden-bench/youden/detector"
)

func at(label, file string, line, end int) detector.Finding {
	return detector.Finding{Label: label, File: file, Line: line, EndLine: end}
}

func labelled(residue ...family.ID) *corpus.Case {
	c := sampleCase(0, "injection")
	for _, f := range residue {
		c.Residue = append(c.Residue, corpus.Residual{Family: f})
	}
	return c
}

func TestPlacesOfFindings(t *testing.T) {
	tests := []struct {
		name    string
		finding detector.Finding
		slack   int
		want    Outcome
	}{
		{"first line", at("injection", "app.py", 2, 0), 0, Detected},
		{"a CWE is a label", at("CWE-089", "app.py", 3, 3), 0, Detected},
		{"ends in the span", at("injection", "app.py", 1, 2), 0, Detected},
		{"40 lines are a place", at("injection", "app.py", 3, 42), 0, Detected},
		{"41 lines are none", at("injection", "app.py", 3, 43), 0, Unlocated},
		{"ends before it starts", at("injection", "app.py", 3, 2), 0, Unlocated},
		{"line 0", at("injection", "app.py", 0, 3), 0, Unlocated},
		{"negative line", at("injection", "app.py", -2, 3), 0, Unlocated},
		{"no file", at("injection", "", 2, 2), 0, Unlocated},
		{"one line off", at("injection", "app.py", 4, 0), 0, OutsideSpan},
		{"one line off with slack", at("injection", "app.py", 4, 0), 1, Detected},
		{"one line before with slack", at("injection", "app.py", 1, 1), 1, Detected},
		{"another file", at("injection", "lib.py", 2, 0), 0, OutsideSpan},
		{"the side's folder", at("injection", "vulnerable/app.py", 2, 0), 0, Detected},
		{"another family here", at("path", "app.py", 2, 0), 0, WrongFamily},
		{"another family elsewhere", at("path", "app.py", 9, 0), 0, Other},
		{"another family without a place", at("path", "app.py", 0, 0), 0, Other},
		{"an unmapped label here", at("bad vibes", "app.py", 2, 0), 0, Unmapped},
		{"no label", at("", "app.py", 2, 0), 0, Unmapped},
		{"a family without a label", detector.Finding{Family: "injection", File: "app.py", Line: 2}, 0, Detected},
		{"the label counts, not the family", detector.Finding{Family: "injection", Label: "path", File: "app.py", Line: 2}, 0, WrongFamily},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			rules := DefaultRules()
			rules.Slack = tt.slack
			j := Judge(labelled(), corpus.Vulnerable, detector.OK, []detector.Finding{tt.finding}, rules)
			assert.Equal(t, tt.want, j.Outcome)
			assert.Equal(t, tt.want == Detected, *j.Hit)
			assert.Nil(t, j.Silent.Class, "a vulnerable side is not silent or not")
		})
	}
}

func TestSilence(t *testing.T) {
	gone := labelled()
	gone.Regions = nil
	here, far := at("injection", "app.py", 2, 0), at("injection", "app.py", 50, 0)
	other := at("crypto", "app.py", 2, 0)
	tests := []struct {
		name                  string
		kase                  *corpus.Case
		findings              []detector.Finding
		want                  Outcome
		strict, class, region bool
		residual              bool
	}{
		{"nothing", labelled(), nil, Silent, true, true, true, false},
		{"in the region", labelled(), []detector.Finding{here}, Leak, false, false, false, false},
		{"elsewhere", labelled(), []detector.Finding{far}, LeakElsewhere, false, false, true, false},
		{"without a place", labelled(), []detector.Finding{at("injection", "", 0, 0)}, Leak, false, false, false, false},
		{"the file is gone", gone, []detector.Finding{far}, Leak, false, false, false, false},
		{"another family", labelled(), []detector.Finding{other}, OtherFamily, false, true, true, false},
		{"the worst decides", labelled(), []detector.Finding{other, far, here}, Leak, false, false, false, false},
		{"residual, elsewhere", labelled("injection"), []detector.Finding{far}, LeakElsewhere, true, true, true, true},
		{"residual, in the region", labelled("injection"), []detector.Finding{here}, Leak, false, false, false, true},
		{"residual, and chatter", labelled("injection"), []detector.Finding{far, other}, LeakElsewhere, false, true, true, true},
		{"residual of another family", labelled("path"), []detector.Finding{far}, LeakElsewhere, false, false, true, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			j := Judge(tt.kase, corpus.Fixed, detector.OK, tt.findings, DefaultRules())
			assert.Equal(t, tt.want, j.Outcome)
			assert.Equal(t, tt.residual, j.Residual)
			assert.Nil(t, j.Hit)
			for p, silent := range map[Policy]bool{Strict: tt.strict, Class: tt.class, Region: tt.region} {
				assert.Equal(t, silent, *j.Silent.Under(p), "policy %s", p)
				assert.Equal(t, silent, j.Under(p) == Silent, "policy %s", p)
			}
		})
	}
}

func TestAnAbsentAnswerIsNeverSilence(t *testing.T) {
	for _, row := range detector.Statuses() {
		if row.Status == detector.OK {
			continue
		}
		for _, side := range []corpus.SideName{corpus.Vulnerable, corpus.Fixed} {
			j := Judge(labelled(), side, row.Status, []detector.Finding{at("injection", "app.py", 2, 0)}, DefaultRules())
			assert.Equal(t, UnscorableOutcome(row.Status), j.Outcome)
			assert.Nil(t, j.Hit)
			for _, p := range Policies() {
				assert.Nil(t, j.Silent.Under(p))
				assert.NotEqual(t, Silent, j.Under(p))
			}
		}
	}
}

var findingGen = rapid.Custom(func(t *rapid.T) detector.Finding {
	return detector.Finding{
		Label:   rapid.SampledFrom([]string{"injection", "CWE-89", "path", "crypto", "bad vibes", ""}).Draw(t, "label"),
		File:    rapid.SampledFrom([]string{"app.py", "./app.py", "lib.py", ""}).Draw(t, "file"),
		Line:    rapid.IntRange(-1, 60).Draw(t, "line"),
		EndLine: rapid.IntRange(0, 80).Draw(t, "end"),
	}
})

// A finding's text is untrusted: nothing that it says may move a score.
func TestTextIsNeverRead(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		findings := rapid.SliceOfN(findingGen, 0, 6).Draw(t, "findings")
		loud := make([]detector.Finding, len(findings))
		for i, f := range findings {
			f.Explanation = rapid.String().Draw(t, "explanation") + " injection on line 2 of app.py"
			f.Suggestion, f.Tags, f.Model, f.Passed = "detected", []string{"CWE-89", "injection"}, "injection", []string{"proved"}
			f.CWE, f.OWASP, f.Severity, f.Confidence = 89, "A03:2021", detector.SeverityCritical, pointer(1.0)
			loud[i] = f
		}
		for _, side := range []corpus.SideName{corpus.Vulnerable, corpus.Fixed} {
			a := Judge(labelled(), side, detector.OK, findings, DefaultRules())
			b := Judge(labelled(), side, detector.OK, loud, DefaultRules())
			assert.Equal(t, a, b)
		}
	})
}

func TestMoreFindingsNeverHideOne(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		findings := rapid.SliceOfN(findingGen, 0, 6).Draw(t, "findings")
		more := append(append([]detector.Finding{}, findings...), findingGen.Draw(t, "one more"))
		a := Judge(labelled(), corpus.Vulnerable, detector.OK, findings, DefaultRules())
		b := Judge(labelled(), corpus.Vulnerable, detector.OK, more, DefaultRules())
		if *a.Hit && !*b.Hit {
			t.Fatal("a finding more lost the hit")
		}
		c := Judge(labelled(), corpus.Fixed, detector.OK, findings, DefaultRules())
		d := Judge(labelled(), corpus.Fixed, detector.OK, more, DefaultRules())
		for _, p := range Policies() {
			if !*c.Silent.Under(p) && *d.Silent.Under(p) {
				t.Fatalf("a finding more made the side silent under %s", p)
			}
		}
		if *d.Silent.Strict && !*d.Silent.Class || *d.Silent.Class && !*d.Silent.Region {
			t.Fatal("a laxer policy is never louder")
		}
	})
}
