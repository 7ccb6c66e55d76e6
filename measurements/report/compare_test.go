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
		for _, line := range strings.Split(out, "\n") {
			between := "  "
			if ending == "md" {
				between = " | "
			}
			fields := strings.FieldsFunc(strings.ReplaceAll(line, between, "\x00"), func(r rune) bool { return r == 0 })
			for i := range fields {
				fields[i] = strings.Trim(fields[i], " |")
			}
			if slices.Contains(fields, "FAIL") {
				list = append(list, fields[0]+"/"+fields[1])
			}
		}
	case "csv":
		records, err := csv.NewReader(strings.NewReader(out)).ReadAll()
		require.NoError(t, err)
		at := func(name string) int { return slices.Index(records[0], name) }
		for _, r := range records[1:] {
			if r[at("verdict")] == "FAIL" && r[at("row")] != "comparison" {
				list = append(list, r[at("slice")]+"/"+orOverall(r[at("family")]))
			}
		}
	case "json":
		var doc struct {
			Slices, Families []struct{ Slice, Family, Verdict string }
		}
		require.NoError(t, json.Unmarshal([]byte(out), &doc))
		for _, r := range append(doc.Slices, doc.Families...) {
			if r.Verdict == "FAIL" {
				list = append(list, r.Slice+"/"+orOverall(r.Family))
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
			slices.Sort(want)
			assert.Equal(t, want, failedRows(t, ending, out[ending]), "%s.%s", tt.name, ending)
		}
	}
}

func TestHeadlineNamesWhatFailed(t *testing.T) {
	line := headline(failing())
	for _, part := range []string{"injection fell", "J fell by 0.76 over 9 cases", "NEW is never silent"} {
		assert.Contains(t, line, part)
	}
	assert.NotContains(t, line, "ssrf", "a warning is no failure")
	assert.Contains(t, headline(warning()), "ssrf is worse")
	assert.Contains(t, headline(inconclusive()), "12 runs are missing")
	assert.Contains(t, headline(incomparable()), "policy: class and strict")
	assert.Contains(t, headline(passing()), "only a drop of .22 or more would be found")
	shown := passing()
	shown.Mode = compare.NonInferior
	assert.Contains(t, headline(shown), "PASS: non-inferior over 14 cases")
	shown.Slices[0].Moved = 0
	assert.Contains(t, headline(shown), "PASS: nothing changed over 14 cases")
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
	text := compared(t, incomparable(), Table, 0)
	assert.Contains(t, text, "NEW is unrun")
	assert.NotContains(t, text, "correlated misses")
	assert.NotContains(t, text, "USD")
	assert.NotContains(t, text, "0.0000")
	assert.Contains(t, compared(t, failing(), Table, 0), "NEW is partial 134/140")
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
	assert.Contains(t, notes, "n = 2: too few to be tested")
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
	for days, want := range map[int]string{-10: ", of 2026-11-20, 10 days before NEW", 0: ", of 2026-11-30, within a day of NEW", 1: ", of 2026-12-01, 1 day after NEW"} {
		assert.Equal(t, want, age(now.AddDate(0, 0, days), now))
	}
	assert.Empty(t, age(time.Time{}, now))
	assert.Equal(t, ", of 2026-11-30", age(now, time.Time{}))
}

func TestComparisonRefusesAnUnknownFormat(t *testing.T) {
	_, err := Comparison(passing(), "yaml", 0)
	assert.ErrorContains(t, err, "yaml")
}
