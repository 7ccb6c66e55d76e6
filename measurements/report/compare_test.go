package report

import (
	"encoding/csv"
	"encoding/json"
	"encoding/xml"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/youden-bench/youden/measurements"
	"github.com/youden-bench/youden/measurements/compare"
)

func compared(t *testing.T, c *compare.Comparison, f Format, width int) string {
	t.Helper()
	out, err := Comparison(c, f, width)
	require.NoError(t, err)
	return out
}

func junit(t *testing.T, c *compare.Comparison) string {
	t.Helper()
	out, err := JUnit(c)
	require.NoError(t, err)
	return string(out)
}

// everyFormat prints a comparison in all formats, by the ending of a file.
func everyFormat(t *testing.T, c *compare.Comparison) map[string]string {
	t.Helper()
	return map[string]string{
		"txt": compared(t, c, Table, 0), "80.txt": compared(t, c, Table, 80), "md": compared(t, c, Markdown, 0),
		"json": compared(t, c, JSON, 0), "csv": compared(t, c, CSV, 0), "xml": junit(t, c),
	}
}

func TestComparisonGoldenFiles(t *testing.T) {
	for _, tt := range comparisons {
		for ending, got := range everyFormat(t, tt.of()) {
			name := "compare-" + tt.name + "." + ending
			t.Run(name, func(t *testing.T) {
				path := filepath.Join("testdata", name)
				if *update {
					require.NoError(t, os.WriteFile(path, []byte(got), 0o644))
				}
				want, err := os.ReadFile(path)
				require.NoError(t, err)
				assert.Equal(t, string(want), got)
			})
		}
	}
}

func TestVerdictComesFirst(t *testing.T) {
	for _, tt := range comparisons {
		c := tt.of()
		for _, f := range []Format{Table, Markdown} {
			first, _, _ := strings.Cut(compared(t, c, f, 80), "\n")
			assert.True(t, strings.HasPrefix(strings.TrimLeft(first, "> *"), string(c.Verdict)), first)
			assert.Equal(t, simulated(c), strings.Contains(first, "SIMULATED"), first)
		}
	}
}

// failedRows reads which rows a format calls FAIL.
func failedRows(t *testing.T, ending, out string) []string {
	t.Helper()
	var list []string
	switch ending {
	case "txt", "md":
		under := ""
		for _, line := range strings.Split(out, "\n") {
			title := strings.TrimPrefix(line, "### ")
			if name, ok := strings.CutPrefix(title, "Slice "); ok {
				under = name
			} else if strings.HasPrefix(title, "Gates of ") {
				under = "gates"
			}
			between := "  "
			if ending == "md" {
				between = " | "
			}
			fields := strings.FieldsFunc(strings.ReplaceAll(line, between, "\x00"), func(r rune) bool { return r == 0 })
			for i := range fields {
				fields[i] = strings.Trim(fields[i], " |")
			}
			if len(fields) > 2 && strings.HasPrefix(fields[1], "FAIL") {
				list = append(list, under+"/"+fields[0])
			}
		}
	case "csv":
		records, err := csv.NewReader(strings.NewReader(out)).ReadAll()
		require.NoError(t, err)
		at := func(name string) int { return slices.Index(records[0], name) }
		for _, r := range records[1:] {
			switch {
			case r[at("verdict")] != "FAIL" || r[at("row")] == "comparison":
			case r[at("row")] == "gate":
				list = append(list, "gates/"+r[at("gate")])
			default:
				list = append(list, r[at("slice")]+"/"+orOverall(r[at("family")]))
			}
		}
	case "json":
		var doc struct {
			Slices, Families []struct{ Slice, Family, Verdict string }
			Gates            []struct{ Name, Outcome string }
		}
		require.NoError(t, json.Unmarshal([]byte(out), &doc))
		for _, r := range append(doc.Slices, doc.Families...) {
			if r.Verdict == "FAIL" {
				list = append(list, r.Slice+"/"+orOverall(r.Family))
			}
		}
		for _, g := range doc.Gates {
			if g.Outcome == "fail" || g.Outcome == "no data" {
				list = append(list, "gates/"+g.Name)
			}
		}
	case "xml":
		var doc junitReport
		require.NoError(t, xml.Unmarshal([]byte(out), &doc))
		for _, k := range doc.cases() {
			if k.Failure != nil && k.Class != "comparison" {
				list = append(list, k.Class+"/"+k.Name)
			}
		}
	}
	slices.Sort(list)
	return list
}

func orOverall(family string) string {
	if family == "" {
		return overall
	}
	return family
}

func TestEveryFormatNamesTheFailedRowsAndNoOther(t *testing.T) {
	escaped := map[string]func(string) string{
		"txt": Plain, "md": markdownText, "csv": csvText, "xml": Plain, "json": func(s string) string { return s },
	}
	for _, tt := range comparisons {
		out := everyFormat(t, tt.of())
		for ending, escape := range escaped {
			want := []string(nil)
			for _, r := range slices.Concat(tt.of().Slices, tt.of().Families) {
				if r.Verdict == compare.Fail {
					want = append(want, escape(r.Slice)+"/"+escape(orOverall(r.Family)))
				}
			}
			for _, g := range tt.of().Gates {
				name := g.Name
				if ending == "txt" || ending == "md" || ending == "xml" {
					name = gateName(g)
				}
				if g.Verdict() == compare.Fail {
					want = append(want, "gates/"+escape(name))
				}
			}
			slices.Sort(want)
			assert.Equal(t, want, failedRows(t, ending, out[ending]), "%s.%s", tt.name, ending)
		}
	}
}

func TestHeadlineNamesWhatFailed(t *testing.T) {
	line := headline(failing())
	for _, part := range []string{"injection fell", "J fell by .76 over 9 cases", "NEW is never silent"} {
		assert.Contains(t, line, part)
	}
	assert.NotContains(t, line, "ssrf", "a warning is no failure")
	assert.Contains(t, headline(warning()), "ssrf is worse")
	assert.Contains(t, headline(inconclusive()), "missing: 12 runs")
	assert.Contains(t, headline(incomparable()), "policy: class and strict")
	assert.Contains(t, headline(passing()), "only a drop of .22 or more would be found")
	shown := passing()
	shown.Mode = compare.NonInferior
	assert.Contains(t, headline(shown), "PASS: non-inferior over 14 cases")
	assert.Contains(t, headline(same()), "PASS: nothing changed over 14 cases")
	assert.Contains(t, headline(&compare.Comparison{Verdict: compare.Fail}), "no reason was recorded")
}

func TestComparisonsAreInert(t *testing.T) {
	for ending, out := range everyFormat(t, failing()) {
		for _, bad := range []string{"\x1b", "\x07", "\u202e", "\r", "\n# x"} {
			assert.NotContains(t, out, bad, ending)
		}
	}
	md := compared(t, failing(), Markdown, 0)
	assert.NotContains(t, md, "<b>")
	assert.NotContains(t, md, "@all")
	width := -1
	for _, line := range strings.Split(md, "\n") {
		if !strings.HasPrefix(line, "|") {
			width = -1
			continue
		}
		columns := strings.Count(strings.ReplaceAll(line, `\|`, ""), "|")
		if width < 0 {
			width = columns
		}
		assert.Equal(t, width, columns, line)
	}
	records, err := csv.NewReader(strings.NewReader(compared(t, failing(), CSV, 0))).ReadAll()
	require.NoError(t, err)
	for _, r := range records[1:] {
		for _, field := range r {
			assert.False(t, strings.HasPrefix(field, "=") || strings.HasPrefix(field, "@"), field)
		}
	}
}

func TestUnknownIsNeverZero(t *testing.T) {
	var doc map[string]any
	require.NoError(t, json.Unmarshal([]byte(compared(t, incomparable(), JSON, 0)), &doc))
	assert.Equal(t, compare.Schema, doc["schema"])
	assert.Nil(t, doc["misses"])
	for _, name := range []string{"slices", "families", "regressions", "warnings", "cases", "added", "removed", "changed", "unscored", "floors"} {
		assert.Equal(t, []any{}, doc[name], name)
	}
	require.NoError(t, json.Unmarshal([]byte(compared(t, passing(), JSON, 0)), &doc))
	crypto := doc["families"].([]any)[0].(map[string]any)
	for _, name := range []string{"old", "new", "delta", "lo", "hi", "p", "p_cases", "detectable", "non_inferior", "delta_recall"} {
		v, ok := crypto[name]
		assert.True(t, ok && v == nil, "%s is %v", name, v)
	}
	assert.Nil(t, doc["gates"].([]any)[0].(map[string]any)["old"])
	require.NoError(t, json.Unmarshal([]byte(compared(t, incomparable(), JSON, 0)), &doc))
	old := doc["old"].(map[string]any)
	for _, name := range []string{"date", "k", "runs", "runs_planned", "dispatched", "errors", "error_rate", "commit", "cost_usd_micros", "cost_unknown_runs", "statuses", "models"} {
		v, ok := old[name]
		assert.True(t, ok && v == nil, "%s is %v", name, v)
	}
	assert.NotContains(t, compared(t, incomparable(), JSON, 0), "0001-01-01")
	text := compared(t, incomparable(), Table, 0)
	assert.Contains(t, text, "INCOMPARABLE, NEW INCOMPLETE (SIMULATED): unrun: no run gave an answer")
	assert.NotContains(t, text, "correlated misses")
	assert.NotContains(t, text, "USD")
	assert.NotContains(t, text, "0.0000")
	assert.Contains(t, compared(t, failing(), Table, 0), "NEW is incomplete: partial 134/140; 24/134 runs lost")
	assert.Contains(t, compared(t, inconclusive(), Table, 0), "correlated misses: n/a")
}

func TestPValues(t *testing.T) {
	assert.Equal(t, "n/a", pValue(nil).text)
	for p, want := range map[float64]string{
		1e-300: "<.001", .00099: "<.001", .001: ".001", .0125: ".013", .31: ".310", .9996: ".999", 1: "1.000",
	} {
		assert.Equal(t, want, pValue(&p).text)
	}
	for _, tt := range comparisons {
		for ending, out := range everyFormat(t, tt.of()) {
			for _, bad := range []string{" .000", "0.000 ", "NaN", "%!"} {
				assert.NotContains(t, out, bad, "%s.%s", tt.name, ending)
			}
		}
	}
}

func TestDropsAreRoundedUp(t *testing.T) {
	for v, want := range map[float64]string{.8: ".80", .801: ".81", .3: ".30", .0001: ".01", 1.5: "1.50"} {
		assert.Equal(t, want, dropOf(&v))
	}
	notes := strings.Join(footnotes(passing()), "\n")
	assert.Contains(t, notes, "n = 3: only a drop of .81 or more would be found (injection, ssrf)")
	assert.Contains(t, notes, "n = 4: no drop could be found (path)")
	assert.Contains(t, notes, "fewer than 3 cases in 1 of 4 families: shown, not tested; more cases of your own would help; so would --split all, which opens the sealed holdout")
}

func TestLongListsAreCutAndCounted(t *testing.T) {
	c := passing()
	c.Cases, c.Added = nil, nil
	for range 57 {
		c.Cases = append(c.Cases, compare.CaseChange{ID: "case-x", D: -.2})
		c.Added = append(c.Added, "added-x")
		c.Regressions = append(c.Regressions, "regression-x")
	}
	for _, f := range []Format{Table, Markdown} {
		out := compared(t, c, f, 0)
		assert.Equal(t, sane, strings.Count(out, "case-x"))
		assert.Equal(t, sane, strings.Count(out, "added-x"))
		assert.Equal(t, sane, strings.Count(out, "regression-x"))
		assert.Contains(t, out, "Cases that changed: 57")
		assert.Contains(t, out, "57: added-x")
		assert.Equal(t, 2, strings.Count(out, "and 37 more"))
	}
	assert.Equal(t, 57, strings.Count(compared(t, c, JSON, 0), "case-x"))
}

func TestAge(t *testing.T) {
	now := time.Date(2026, 11, 30, 0, 0, 0, 0, time.UTC)
	for days, want := range map[int]string{-10: " of 2026-11-20 (10 days before NEW)", 0: " of 2026-11-30 (within a day of NEW)", 1: " of 2026-12-01 (1 day after NEW)"} {
		assert.Equal(t, want, age(ptr(now.AddDate(0, 0, days)), &now))
	}
	assert.Empty(t, age(nil, &now))
	assert.Equal(t, " of 2026-11-30", age(&now, nil))
}

func TestComparisonRefusesAnUnknownFormat(t *testing.T) {
	_, err := Comparison(passing(), "yaml", 0)
	assert.ErrorContains(t, err, "yaml")
}

func TestOneAlertLine(t *testing.T) {
	for _, tt := range comparisons {
		md := compared(t, tt.of(), Markdown, 0)
		first, rest, _ := strings.Cut(md, "\n")
		assert.True(t, strings.HasPrefix(first, "> **"+string(tt.of().Verdict)), first)
		assert.NotContains(t, rest, "\n>", "one alert line")
		assert.Equal(t, strings.Count(md, "<details>"), strings.Count(md, "</details>"))
		if len(tt.of().Cases) > 0 {
			at := strings.Index(md, tt.of().Cases[1].ID)
			assert.Greater(t, at, strings.Index(md, "<details>"), "what flipped is folded")
			assert.Less(t, at, strings.Index(md, "</details>"))
		}
	}
}

func TestTextsThatChanged(t *testing.T) {
	line := func(before, after measurements.DetectorRecord) string {
		c := passing()
		c.Old.Detector, c.New.Detector = before, after
		return strings.Join(differ(c), "\n")
	}
	texts := func(hash string, names ...string) measurements.DetectorRecord {
		d := measurements.DetectorRecord{Name: "d", Hash: hash}
		for _, n := range names {
			d.Texts = append(d.Texts, measurements.TextRecord{Name: n, SHA256: hash})
		}
		return d
	}
	assert.NotContains(t, line(texts("h", "prompt"), texts("h", "prompt")), "texts")
	assert.Contains(t, line(texts("h", "prompt", "checklist"), texts("i", "prompt", "path/prompt")), "texts changed: prompt, path/prompt (added), checklist (removed)")
	assert.Contains(t, line(texts("h"), texts("i", "prompt")), "it was not recorded in which texts")
}

// A terminal of 80 columns gets no wider line, but for the verdict, a title and a
// word that does not fit.
func TestNarrowTerminals(t *testing.T) {
	for _, width := range []int{80, 120} {
		for _, c := range []*compare.Comparison{passing(), warning(), inconclusive()} {
			c.Families[1].Family = "information_disclosure" // the longest of the taxonomy
			lines := strings.Split(compared(t, c, Table, width), "\n")
			for _, line := range lines[1:] {
				assert.LessOrEqual(t, len(line), width, line)
			}
			blocks := 0
			for _, line := range lines {
				blocks += strings.Count(line, "family  ")
			}
			if width == 120 {
				assert.LessOrEqual(t, blocks, 3, "two blocks of rows, and one of cases")
			}
		}
	}
}

func TestWrap(t *testing.T) {
	assert.Equal(t, "one two\n  three\n  four", wrap("one two three four", 8))
	assert.Equal(t, "one two three four", wrap("one two three four", 0))
	assert.Equal(t, "aaaaaaaaaa\n  b", wrap("aaaaaaaaaa b", 5))
	assert.Equal(t, "été là", wrap("été là", 6))
}

func TestLooks(t *testing.T) {
	assert.Empty(t, looks(nil))
	s := &measurements.Sequential{PlannedK: 5, PlannedRuns: 500, Looks: []measurements.Look{{K: 2}}, Stopped: 1, RunsSaved: 300, CallsSaved: ptr(int64(300))}
	assert.Equal(t, []string{"stopped at look 1, of 2 runs a side where 5 were planned; runs saved: 300 of 500, calls saved: 300"}, looks(s))
	s = &measurements.Sequential{PlannedK: 5, PlannedRuns: 500, Looks: []measurements.Look{{K: 2}, {K: 5}}, Stopped: 2, CallsSaved: ptr(int64(0))}
	assert.Equal(t, []string{"compared while it grew, at 2 looks; made all 5 planned runs a side"}, looks(s), "nothing was stopped or saved")
	s = &measurements.Sequential{PlannedK: 5, PlannedRuns: 500, Looks: []measurements.Look{{K: 2}, {K: 5}}, RunsSaved: -20, FreshRuns: 20,
		Fresh: []measurements.FreshRuns{{Slice: "s", Family: "injection", N: 9, Runs: 10, Delta: ptr(-.4), P: ptr(.0001), Verdict: "FAIL"}}}
	assert.Equal(t, []string{
		"compared while it grew, at 2 looks; made all 5 planned runs a side, and 20 fresh runs besides",
		"10 fresh runs a side of s, injection (n = 9): delta J -.40, p general <.001, p here n/a: FAIL",
	}, looks(s))
	s.FreshCalls = ptr(int64(40))
	s.FreshCaptures = []measurements.FreshCapture{
		{Folder: "fresh", Suspects: []measurements.SliceFamily{{Slice: "s", Family: "path"}}},
		{Folder: "fresh-2", Suspects: []measurements.SliceFamily{{Slice: "s", Family: "injection"}}},
	}
	assert.Equal(t, "the fresh runs made 40 calls, which are in no total here: they are a capture of their own, in its folder fresh, fresh-2", looks(s)[1])
	assert.Equal(t, "the fresh runs of s, path are no part of the verdict; they were paid for all the same", looks(s)[3])
}
