package report

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/youden-bench/youden/measurements"
)

var update = flag.Bool("update", false, "write the golden files anew")

func ptr[T any](v T) *T { return &v }

// runsOf makes the runs of one pair: each letter is one run. On both sides "+"
// is a finding of the family in place, "." nothing, "!" a broken answer and "x"
// a network fault.
func runsOf(slice, family, id, vulnerable, fixed string) []measurements.RunRow {
	var rows []measurements.RunRow
	for _, side := range []struct{ name, runs string }{{"vulnerable", vulnerable}, {"fixed", fixed}} {
		for k, letter := range side.runs {
			r := measurements.RunRow{RunID: id, CaseID: id, CaseHash: "h" + id, Slice: slice, Family: family, Pair: true,
				Side: side.name, K: int64(k), Status: "ok", Counts: "yes", Outcome: "silent", Calls: 1, Attempts: 1,
				PromptTokens: ptr(int64(900)), CompletionTokens: ptr(int64(50)), CostUSDMicros: ptr(int64(420)),
				LatencyMS: ptr(int64(120)), TrajectoryHash: ptr("t"), Findings: ptr(int64(0))}
			speaks := letter == '+'
			switch {
			case letter == '!':
				r.Status, r.Counts, r.Outcome, r.Findings = "bad_format", "charged", "unscorable:bad_format", nil
				r.Detail = ptr("no JSON: \x1b[31mHAHA|")
			case letter == 'x':
				r.Status, r.Counts, r.Outcome, r.Findings = "transient", "excused", "unscorable:transient", nil
				r.PromptTokens, r.CostUSDMicros = nil, nil
			case side.name == "vulnerable":
				r.Hit = &speaks
			default:
				silent := !speaks
				r.SilentStrict, r.SilentClass, r.SilentRegion = &silent, &silent, &silent
			}
			if speaks {
				r.Findings = ptr(int64(1))
				r.Outcome = map[string]string{"vulnerable": "detected", "fixed": "leak"}[side.name]
			}
			rows = append(rows, r)
		}
	}
	return rows
}

func sample() measurements.Summary {
	var runs []measurements.RunRow
	for _, c := range []struct{ slice, family, id, v, f string }{
		{"planted", "injection", "inj-1", "+++++", "....."},
		{"planted", "injection", "inj-2", "++...", ".+..."},
		{"planted", "injection", "inj-3", "!!+++", "....!"},
		{"planted", "path", "path|<b>@all</b>", "xxx++", "....."},
		{"planted", "ssrf", "=cmd()", "+++++", "....."},
		{"handed", "injection", "h-1\u202eevil", "+++++", "+++++"},
	} {
		runs = append(runs, runsOf(c.slice, c.family, c.id, c.v, c.f)...)
	}
	return measurements.Summarize(measurements.Manifest{
		ID: "20261130T091500Z-oneshot-7f3a", Status: measurements.Complete, Simulated: true, Openings: 1,
		LeftOut: []measurements.LeftOut{{Reason: "families that the detector does not look for", Cases: 3}},
		Plan: measurements.PlanRecord{
			Corpus: measurements.CorpusRecord{Source: "fixtures", Hash: "c0ffee0000", Cases: 7,
				Strata: []measurements.Stratum{{Slice: "planted", Family: "crypto", Pairs: 1}}},
			Detector: measurements.DetectorRecord{Name: "oneshot", Hash: "d0d0d0d0d0"},
			Endpoint: measurements.EndpointRecord{Name: "simulated", Model: "sim\x1b]0;x\x07"},
			K:        5, Seed: 7, Split: "train", Policy: measurements.Class, View: measurements.Charge, Runs: 70,
		},
	}, runs, measurements.Class, measurements.Charge)
}

func unrunSample() measurements.Summary {
	return measurements.Summarize(measurements.Manifest{
		ID: "planned", Status: measurements.Running,
		Plan: measurements.PlanRecord{K: 5, Policy: measurements.Class, View: measurements.Charge, Runs: 10,
			Corpus: measurements.CorpusRecord{Source: "fixtures", Strata: []measurements.Stratum{{Slice: "planted", Family: "path", Pairs: 1}}}},
	}, nil, measurements.Class, measurements.Charge)
}

func printed(t *testing.T, f Format, o Options, captures ...measurements.Summary) string {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, Write(&b, f, captures, o))
	return b.String()
}

func TestGoldenFiles(t *testing.T) {
	second := sample()
	second.ID = "second"
	tests := []struct {
		name     string
		format   Format
		options  Options
		captures []measurements.Summary
	}{
		{"family.txt", Table, Options{}, []measurements.Summary{sample()}},
		{"family-80.txt", Table, Options{Width: 80}, []measurements.Summary{sample()}},
		{"family.md", Markdown, Options{}, []measurements.Summary{sample()}},
		{"family.json", JSON, Options{}, []measurements.Summary{sample()}},
		{"family.csv", CSV, Options{}, []measurements.Summary{sample()}},
		{"slice.txt", Table, Options{By: BySlice}, []measurements.Summary{sample()}},
		{"slice.csv", CSV, Options{By: BySlice}, []measurements.Summary{sample()}},
		{"case.txt", Table, Options{By: ByCase}, []measurements.Summary{sample()}},
		{"case.csv", CSV, Options{By: ByCase}, []measurements.Summary{sample()}},
		{"run.txt", Table, Options{By: ByRun}, []measurements.Summary{sample()}},
		{"run.md", Markdown, Options{By: ByRun}, []measurements.Summary{sample()}},
		{"unrun.txt", Table, Options{}, []measurements.Summary{unrunSample()}},
		{"two.txt", Table, Options{}, []measurements.Summary{sample(), second}},
		{"two.csv", CSV, Options{}, []measurements.Summary{sample(), second}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := printed(t, tt.format, tt.options, tt.captures...)
			path := filepath.Join("testdata", tt.name)
			if *update {
				require.NoError(t, os.MkdirAll("testdata", 0o755))
				require.NoError(t, os.WriteFile(path, []byte(got), 0o644))
			}
			want, err := os.ReadFile(path)
			require.NoError(t, err)
			assert.Equal(t, string(want), got)
		})
	}
}

func TestUntrustedTextIsInert(t *testing.T) {
	for _, by := range []By{ByFamily, BySlice, ByCase, ByRun} {
		for _, f := range []Format{Table, Markdown, JSON, CSV} {
			out := printed(t, f, Options{By: by}, sample())
			for _, bad := range []string{"\x1b", "\x07", "\u202e", "\r"} {
				assert.NotContains(t, out, bad, "%s by %s", f, by)
			}
		}
		md := printed(t, Markdown, Options{By: by}, sample())
		assert.NotContains(t, md, "<b>")
		assert.NotContains(t, md, "@all")
		width := -1
		for _, line := range strings.Split(md, "\n") {
			if !strings.HasPrefix(line, "|") {
				continue
			}
			cells := strings.Count(strings.ReplaceAll(line, `\|`, ""), "|")
			if width < 0 {
				width = cells
			}
			assert.Equal(t, width, cells, "a pipe in a cell must not make a column: %s", line)
		}
	}
}

func TestCSVRunsNoFormula(t *testing.T) {
	records, err := csv.NewReader(strings.NewReader(printed(t, CSV, Options{By: ByCase}, sample()))).ReadAll()
	require.NoError(t, err)
	found := false
	for _, r := range records[1:] {
		for _, c := range r {
			found = found || c == "'=cmd()"
			assert.NotContains(t, []string{"=", "@", "\t"}, c[:min(1, len(c))])
		}
	}
	assert.True(t, found, "the id that looks like a formula is there, quoted")
	for text, want := range map[string]string{"=1": "'=1", " =1": "' =1", "-x": "'-x", "+x": "'+x", "@x": "'@x", "\t=x": `\u{9}=x`,
		"plain": "plain", "": "", "a=b": "a=b", "\uff1d1": "'\uff1d1"} {
		assert.Equal(t, want, csvText(text), "%q", text)
	}
}

func TestPooledAndMacroStandTogether(t *testing.T) {
	for _, s := range []measurements.Summary{sample(), unrunSample()} {
		for _, f := range []Format{Table, Markdown} {
			for _, line := range strings.Split(printed(t, f, Options{}, s), "\n") {
				assert.Equal(t, strings.Contains(line, "pooled J"), strings.Contains(line, "macro J"), line)
			}
		}
	}
}

func TestUnrunPrintsNoNumber(t *testing.T) {
	out := printed(t, Table, Options{}, unrunSample())
	assert.Contains(t, out, "unrun")
	for _, bad := range []string{"1.00", ".00", "%)", "NaN"} {
		assert.NotContains(t, out, bad)
	}
	var doc map[string]any
	require.NoError(t, json.Unmarshal([]byte(printed(t, JSON, Options{}, unrunSample())), &doc))
	assert.Equal(t, "E0", doc["grade"])
	assert.Equal(t, "unrun", doc["status"])
	totals := doc["totals"].(map[string]any)
	for _, name := range []string{"j_macro", "j_pooled", "error_rate", "recall", "cost_usd_micros"} {
		v, ok := totals[name]
		assert.True(t, ok && v == nil, "%s is %v", name, v)
	}
}

func TestSimulatedIsSaidEverywhere(t *testing.T) {
	for _, f := range []Format{Table, Markdown} {
		for _, by := range []By{ByFamily, BySlice, ByCase, ByRun} {
			assert.Contains(t, printed(t, f, Options{By: by}, sample()), "SIMULATED")
		}
		assert.Contains(t, printed(t, f, Options{}, sample(), sample()), "SIMULATED")
	}
	records, err := csv.NewReader(strings.NewReader(printed(t, CSV, Options{}, sample()))).ReadAll()
	require.NoError(t, err)
	at := -1
	for i, name := range records[0] {
		if name == "simulated" {
			at = i
		}
	}
	require.GreaterOrEqual(t, at, 0)
	for _, r := range records[1:] {
		assert.Equal(t, "true", r[at])
	}
}

func TestSimulatedNeverStandsBesideReal(t *testing.T) {
	actual := sample()
	actual.Simulated = false
	assert.NotContains(t, printed(t, Table, Options{}, sample(), actual), "A recall")
	assert.Contains(t, printed(t, Table, Options{}, actual, actual), "A recall")
}

func TestNarrowTablesLoseNothing(t *testing.T) {
	wide := printed(t, Table, Options{}, sample())
	narrow := printed(t, Table, Options{Width: 60}, sample())
	for _, title := range []string{"recall", "silence", "95 %", "j_vote", "bias", "floor", "unscorable", "tokens", "USD"} {
		assert.Contains(t, wide, title)
		assert.Contains(t, narrow, title)
	}
}

func TestNumbers(t *testing.T) {
	for v, want := range map[float64]string{0: ".00", 1: "1.00", .75: ".75", .999: ".99", .001: ".01", .5: ".50"} {
		assert.Equal(t, want, rate(&v))
	}
	for v, want := range map[float64]string{0: ".00", .65: "+.65", -.104: "-.10", 1: "+1.00", -1: "-1.00", -.001: ".00"} {
		assert.Equal(t, want, signed(&v))
	}
	assert.Equal(t, "n/a", rate(nil))
	assert.Equal(t, "n/a", outOf(0, 0))
	assert.Equal(t, ">=12", count(ptr(int64(12)), 1))
	assert.Equal(t, "0.0123", dollars(ptr(int64(12300)), 0))
}

type brokenWriter struct{}

func (brokenWriter) Write([]byte) (int, error) { return 0, errors.New("no paper") }

func TestWriteReportsErrors(t *testing.T) {
	for _, f := range []Format{Table, Markdown, JSON, CSV} {
		assert.ErrorContains(t, Write(brokenWriter{}, f, []measurements.Summary{sample()}, Options{}), "no paper")
	}
	assert.Error(t, Write(&bytes.Buffer{}, Table, nil, Options{}))
	assert.Error(t, Write(&bytes.Buffer{}, "yaml", []measurements.Summary{sample()}, Options{}))
	assert.Error(t, Write(&bytes.Buffer{}, Table, []measurements.Summary{sample()}, Options{By: "moon"}))
}

// No sign that Markdown, HTML or a forge would act on gets through.
func TestMarkdownTextIsOnlyText(t *testing.T) {
	for in, want := range map[string]string{
		"a|b":           `a\|b`,
		"<b>x</b>":      "&lt;b&gt;x&lt;/b&gt;",
		"@someone":      "&#64;someone",
		"#12":           "&#35;12",
		"GH-12":         "GH&#45;12",
		"$x^2$":         "&#36;x^2&#36;",
		"[a](http://b)": `\[a\](http&#58;//b)`,
		"www.b.example": "www&#46;b.example",
	} {
		assert.Equal(t, want, markdownText(in))
	}
}

func FuzzEscapes(f *testing.F) {
	for _, s := range []string{"a|b", "\x1b[0m", "\u202e", "=1", "\xff", "<script>", "`x`", "\u2028"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		for _, out := range []string{Plain(s), markdownText(s)} {
			if strings.ContainsAny(out, "\x00\x07\x1b\r\n\u202e\u2066\u2028") {
				t.Fatalf("%q became %q", s, out)
			}
		}
		if out := csvText(s); out != "" && strings.ContainsAny(strings.TrimSpace(out)[:min(1, len(strings.TrimSpace(out)))], "=+-@\t\r\n\x1b") {
			t.Fatalf("%q became %q", s, out)
		}
		raw, err := json.Marshal(s)
		require.NoError(t, err)
		safe := jsonSafe(raw)
		var before, after string
		require.NoError(t, json.Unmarshal(raw, &before))
		require.NoError(t, json.Unmarshal([]byte(safe), &after), safe)
		assert.Equal(t, before, after)
		assert.NotContains(t, safe, "\u202e")
	})
}

func TestLinesStayLinesAndNothingElse(t *testing.T) {
	assert.Equal(t, "first\n    second \\u{1b}[2J\n    third", Lines("first\nsecond \x1b[2J\nthird\n"))
	raw, err := Document(map[string]string{"a": "\u009b2J\u202e\x7f"})
	assert.NoError(t, err)
	assert.Equal(t, "{\n  \"a\": \"\\u009b2J\\u202e\\u007f\"\n}\n", string(raw))
}
