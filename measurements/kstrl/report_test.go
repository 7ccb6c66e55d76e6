package kstrl

import (
	"bytes"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

var noon = time.Date(2026, 11, 30, 14, 0, 0, 0, time.FixedZone("", 2*60*60))

func point(s string) *string { return &s }

func TestReportText(t *testing.T) {
	r := Report{Model: "modèle <1>", Time: noon, RunsPerFixture: 2, Fixtures: []Record{
		{Role: "z", ID: "1", Category: point("c"), Runs: []Run{{Caught: true, Detail: "tab\there \u007f \U0001f600 & \xff"}, {Caught: true, Error: true}}},
		{Role: "a", ID: "1", Runs: []Run{{}}},
	}, Negatives: []Negative{{Role: "n", ID: "1", RunsTotal: 2, RunsFlagged: 1}}}
	var b bytes.Buffer
	require.NoError(t, r.Write(&b))
	assert.Equal(t, `{
  "format_version": 2,
  "model": "mod\u00e8le <1>",
  "timestamp": "20261130-120000",
  "runs_per_fixture": 2,
  "summary": {
    "z": {
      "fixtures_total": 1,
      "fixtures_detected": 1,
      "detection_rate": 1.0,
      "by_category": {
        "c": {
          "fixtures_total": 1,
          "detection_rate": 1.0
        }
      }
    },
    "a": {
      "fixtures_total": 1,
      "fixtures_detected": 0,
      "detection_rate": 0.0
    }
  },
  "fixtures": [
    {
      "role": "z",
      "fixture_id": "1",
      "category": "c",
      "cwe": null,
      "runs_total": 2,
      "runs_errored": 1,
      "runs_detected": 1,
      "consistency": 1.0,
      "detected": true,
      "runs": [
        {
          "caught": true,
          "error": false,
          "detail": "tab\there \u007f \ud83d\ude00 & \ufffd"
        },
        {
          "caught": true,
          "error": true,
          "detail": ""
        }
      ]
    },
    {
      "role": "a",
      "fixture_id": "1",
      "category": null,
      "cwe": null,
      "runs_total": 1,
      "runs_errored": 0,
      "runs_detected": 0,
      "consistency": 0.0,
      "detected": false,
      "runs": [
        {
          "caught": false,
          "error": false,
          "detail": ""
        }
      ]
    }
  ],
  "false_positive_analysis": {
    "fp_rate_max": 0.34,
    "roles": {
      "n": {
        "fixtures_total": 1,
        "fixtures_false_positive": 1,
        "fixtures": [
          {
            "fixture_id": "1",
            "runs_total": 2,
            "runs_errored": 0,
            "runs_flagged": 1,
            "fp_consistency": 0.5,
            "false_positive": true
          }
        ],
        "fp_rate": 1.0,
        "meets_threshold": false
      }
    }
  }
}
`, b.String())
	assert.Equal(t, "baseline-20261130-120000.json", r.Name())
}

func TestReportOfNegativesOnly(t *testing.T) {
	r := Report{Model: "m", Time: noon, RunsPerFixture: 1, Negatives: []Negative{
		{Role: "n", ID: "1", RunsTotal: 3, RunsFlagged: 1}, {Role: "n", ID: "2", RunsTotal: 3, RunsErrored: 3}}}
	var b bytes.Buffer
	require.NoError(t, r.Write(&b))
	assert.Contains(t, b.String(), "\"summary\": {},\n  \"fixtures\": [],\n  \"false_positive_analysis\"")
	assert.Contains(t, b.String(), "\"fp_rate\": 0.0,\n        \"meets_threshold\": true", "one flag in three runs is none")

	// The threshold is .34: one clean fixture of three may be flagged, of two not.
	for others, meets := range map[int]string{1: "false", 2: "true"} {
		r.Negatives = []Negative{{Role: "n", ID: "flagged", RunsTotal: 1, RunsFlagged: 1}}
		for i := range others {
			r.Negatives = append(r.Negatives, Negative{Role: "n", ID: fmt.Sprint(i), RunsTotal: 1})
		}
		b.Reset()
		require.NoError(t, r.Write(&b))
		assert.Contains(t, b.String(), "\"meets_threshold\": "+meets)
	}
}

func TestReportRefuses(t *testing.T) {
	ok := func() Report {
		return Report{Model: "m", Time: noon, RunsPerFixture: 1, Fixtures: []Record{{Role: "r", ID: "a", Runs: []Run{{}}}},
			Negatives: []Negative{{Role: "r", ID: "a", RunsTotal: 1}}}
	}
	sound := ok()
	require.NoError(t, sound.Write(new(bytes.Buffer)))
	for name, c := range map[string]struct {
		change func(*Report)
		says   string
	}{
		"no model":         {func(r *Report) { r.Model = "" }, "the model"},
		"no time":          {func(r *Report) { r.Time = time.Time{} }, "the time is not set"},
		"no runs planned":  {func(r *Report) { r.RunsPerFixture = 0 }, "0 runs a fixture"},
		"no runs":          {func(r *Report) { r.Fixtures[0].Runs = nil }, "has no runs; leave it out"},
		"no role":          {func(r *Report) { r.Fixtures[0].Role = "" }, "lacks a name"},
		"no id":            {func(r *Report) { r.Negatives[0].ID = "" }, "lacks a name"},
		"id not UTF-8":     {func(r *Report) { r.Fixtures[0].ID = "\xff" }, "not UTF-8"},
		"label not UTF-8":  {func(r *Report) { r.Fixtures[0].CWE = point("\xff") }, "not UTF-8"},
		"twice":            {func(r *Report) { r.Fixtures = append(r.Fixtures, r.Fixtures[0]) }, "twice"},
		"negative twice":   {func(r *Report) { r.Negatives = append(r.Negatives, r.Negatives[0]) }, "twice"},
		"flags above runs": {func(r *Report) { r.Negatives[0].RunsFlagged = 2 }, "2 flags"},
		"errors negative":  {func(r *Report) { r.Negatives[0].RunsErrored = -1 }, "-1 errors"},
		"negative not run": {func(r *Report) { r.Negatives[0].RunsTotal = 0 }, "0 runs"},
	} {
		t.Run(name, func(t *testing.T) {
			r := ok()
			c.change(&r)
			var b bytes.Buffer
			require.ErrorContains(t, r.Write(&b), c.says)
			assert.Zero(t, b.Len())
		})
	}
}

type fullDisk struct{}

var errFull = errors.New("disk full")

func (fullDisk) Write([]byte) (int, error) { return 0, errFull }

func TestReportReportsAFailedWrite(t *testing.T) {
	r := Report{Model: "m", Time: noon, RunsPerFixture: 1}
	require.ErrorIs(t, r.Write(fullDisk{}), errFull)
}

// TestReportReadsBack: what is written is sound, and says what went in.
func TestReportReadsBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := drawReport(t)
		var b bytes.Buffer
		if err := r.Write(&b); err != nil {
			t.Fatal(err)
		}
		for _, c := range b.Bytes() {
			if c >= 0x7f {
				t.Fatalf("byte %#x in the file", c)
			}
		}
		got, err := Parse(r.Name(), b.Bytes(), Strict)
		if err != nil {
			t.Fatal(err)
		}
		want := &Baseline{File: r.Name(), Model: r.Model, Timestamp: r.stamp(), FormatVersion: 2,
			RunsPerFixture: int64(r.RunsPerFixture), Fixtures: []Fixture{}, Negatives: r.Negatives}
		for _, f := range r.Fixtures {
			want.Fixtures = append(want.Fixtures, f.fixture())
		}
		if !assert.ObjectsAreEqual(want, got) {
			t.Fatalf("wrote %+v, read %+v", want, got)
		}
	})
}

func drawReport(t *rapid.T) Report {
	name := rapid.StringN(1, 8, -1)
	label := rapid.Ptr(rapid.String(), true)
	r := Report{Model: name.Draw(t, "model"), Time: noon, RunsPerFixture: rapid.IntRange(1, 9).Draw(t, "runs")}
	n := rapid.IntRange(0, 6).Draw(t, "fixtures")
	for i := range n {
		r.Fixtures = append(r.Fixtures, Record{Role: name.Draw(t, "role"), ID: fmt.Sprint(i, name.Draw(t, "id")),
			Category: label.Draw(t, "category"), CWE: label.Draw(t, "cwe"),
			Runs: rapid.SliceOfN(rapid.Custom(func(t *rapid.T) Run {
				return Run{rapid.Bool().Draw(t, "caught"), rapid.Bool().Draw(t, "error"), rapid.String().Draw(t, "detail")}
			}), 1, 5).Draw(t, "runs")})
	}
	// One role: a file keeps the clean fixtures of a role together.
	role := name.Draw(t, "role of clean fixtures")
	for i := range rapid.IntRange(0, 4).Draw(t, "clean fixtures") {
		n := Negative{Role: role, ID: fmt.Sprint(i), RunsTotal: rapid.Int64Range(1, 9).Draw(t, "total")}
		n.RunsErrored = rapid.Int64Range(0, n.RunsTotal).Draw(t, "errored")
		n.RunsFlagged = rapid.Int64Range(0, n.Completed()).Draw(t, "flagged")
		r.Negatives = append(r.Negatives, n)
	}
	return r
}
