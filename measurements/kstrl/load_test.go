package kstrl

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// v2 is a file of version 2 with this fixture on line 3.
func v2(fixture string) string {
	return `{"format_version": 2, "model": "m", "timestamp": "t", "runs_per_fixture": 3,
 "fixtures": [
  ` + fixture + `]}`
}

// v1 is the same of version 1.
func v1(fixture string) string {
	return "{\"model\": \"m\", \"timestamp\": \"t\",\n \"fixtures\": [\n  " + fixture + "]}"
}

const sound = `{"role":"r","fixture_id":"a","category":null,"cwe":"CWE-89","runs_total":3,"runs_errored":1,"runs_detected":1}`

func TestParseRefusesInBothModes(t *testing.T) {
	for name, c := range map[string]struct {
		file, problem string
		line          int
	}{
		"empty":                   {"", "not JSON: unexpected end", 1},
		"no JSON":                 {"{\n\"a\": 1,\n\"b\" 2}", "not JSON: invalid character '2'", 3},
		"trailing text":           {"{}\n{}", "not JSON", 2},
		"trailing comma":          {"{\"fixtures\": [1,\n]}", "not JSON", 2},
		"line end in a text":      {"{\n\"a\n\"}", "not JSON", 2},
		"NaN":                     {"{\"a\":\nNaN}", "not JSON", 2},
		"byte order mark":         {"\ufeff{}", "not JSON", 1},
		"not UTF-8":               {"{\"model\":\n\"\xff\"}", "not UTF-8", 2},
		"not an object":           {"\n[]", "a list, not an object", 2},
		"a text":                  {`"x"`, "text, not an object", 1},
		"no fixtures":             {"{}", "no list of fixtures", 0},
		"fixtures null":           {"{\"format_version\":2,\n\"fixtures\":null}", "fixtures is null, not a list", 2},
		"fixtures an object":      {`{"fixtures":{}}`, "fixtures is an object, not a list", 1},
		"fixture a number":        {v2("7"), "fixtures[0] is a number, not an object", 3},
		"fixture null":            {v1("null"), "fixtures[0] is null, not an object", 3},
		"role empty":              {v2(`{"role":"","fixture_id":"a"}`), "fixtures[0] has no role or no fixture_id", 3},
		"role absent":             {v1(`{"fixture_id":"a","caught":true}`), "no role or no fixture_id", 3},
		"id empty":                {v1(`{"role":"r","fixture_id":"","caught":true}`), "no role or no fixture_id", 3},
		"role a list":             {v2(`{"role":["r"],"fixture_id":"a"}`), "fixtures[0] role is a list, not text", 3},
		"count null":              {v2(strings.Replace(sound, `"runs_total":3`, `"runs_total":null`, 1)), "fixtures[0] (r/a) runs_total is null, not a whole number", 3},
		"errors null":             {v2(strings.Replace(sound, `"runs_errored":1`, `"runs_errored":null`, 1)), "runs_errored is null", 3},
		"detections null":         {v2(strings.Replace(sound, `"runs_detected":1`, `"runs_detected":null`, 1)), "runs_detected is null", 3},
		"count text":              {v2(strings.Replace(sound, `"runs_total":3`, `"runs_total":"three"`, 1)), `runs_total is the text "three"`, 3},
		"count text with a point": {v2(strings.Replace(sound, `"runs_total":3`, `"runs_total":"3.0"`, 1)), `runs_total is the text "3.0"`, 3},
		"count a list":            {v2(strings.Replace(sound, `"runs_total":3`, `"runs_total":[3]`, 1)), "runs_total is a list", 3},
		"count infinite":          {v2(strings.Replace(sound, `"runs_total":3`, `"runs_total":1e400`, 1)), "runs_total is 1e400", 3},
		"lines of unread runs":    {v2("{\"runs\":[\n{},\n{}],\n\"role\":[]}"), "role is a list", 6},
		"count immense":           {v2(strings.Replace(sound, `"runs_total":3`, `"runs_total":4503599627370496`, 1)), "counts nothing", 3},
		"version null":            {"{\"format_version\":\nnull,\"fixtures\":[]}", "format_version is null", 2},
		"version text":            {`{"format_version":"two","fixtures":[]}`, "format_version is the text", 1},
		"runs per fixture null":   {`{"runs_per_fixture":null,"fixtures":[]}`, "runs_per_fixture is null", 1},
		"model an object":         {`{"model":{},"fixtures":[]}`, "model is an object", 1},
	} {
		for mode, of := range map[string]Mode{"strict": Strict, "lenient": Lenient} {
			t.Run(name+"/"+mode, func(t *testing.T) {
				_, err := Parse("b.json", []byte(c.file), of)
				var load *LoadError
				require.ErrorAs(t, err, &load)
				assert.Contains(t, load.Problem, c.problem)
				assert.Equal(t, c.line, load.Line)
				assert.NotEmpty(t, load.Remedy)
				assert.Contains(t, err.Error(), "b.json")
			})
		}
	}
}

// what a lenient reading makes of a fixture: role, id, counts.
type lenient struct {
	role, id                 string
	total, errored, detected int64
	consistency              float64
	isDetected               bool
	problem                  string // of the first warning
	category                 string // "-": nil
	warnings, line           int    // how many, and the line of the first
}

func TestParseOddFiles(t *testing.T) {
	count := func(with string) string { return v2(strings.Replace(sound, `"runs_detected":1`, with, 1)) }
	for name, c := range map[string]struct {
		file string
		want lenient
	}{
		"counts above runs": {count(`"runs_detected":9`), lenient{"r", "a", 3, 1, 9, 4.5, true, "cannot be together", "-", 1, 3}},
		"detected and errored overlap": {count(`"runs_detected":3`),
			lenient{"r", "a", 3, 1, 3, 1.5, true, "cannot be together", "-", 1, 3}},
		"errors above runs": {v2(strings.Replace(sound, `"runs_errored":1`, `"runs_errored":5`, 1)), lenient{"r", "a", 3, 5, 1, 0, false, "cannot be together", "-", 1, 3}},
		"negative":          {count(`"runs_detected":-1`), lenient{"r", "a", 3, 1, -1, -.5, false, "cannot be together", "-", 1, 3}},
		"text":              {count(`"runs_detected":" +0_2\u00a0"`), lenient{"r", "a", 3, 1, 2, 1, true, "runs_detected is text, no whole number, read as 2", "-", 1, 3}},
		"fraction":          {count(`"runs_detected":1.9`), lenient{"r", "a", 3, 1, 1, .5, true, "runs_detected is 1.9, no whole number, read as 1", "-", 1, 3}},
		"truth":             {count(`"runs_detected":true`), lenient{"r", "a", 3, 1, 1, .5, true, "true or false, no whole number, read as 1", "-", 1, 3}},
		"absent":            {count(`"other":1`), lenient{"r", "a", 3, 1, 0, 0, false, "has no runs_detected, read as 0", "-", 1, 3}},
		"role null":         {v2(strings.Replace(sound, `"role":"r"`, `"role":null`, 1)), lenient{"None", "a", 3, 1, 1, .5, true, `role is null, not text, read as "None"`, "-", 1, 3}},
		"id a number":       {v2(strings.Replace(sound, `"fixture_id":"a"`, `"fixture_id":1.0`, 1)), lenient{"r", "1.0", 3, 1, 1, .5, true, `read as "1.0"`, "-", 1, 3}},
		"category true": {v2(strings.Replace(sound, `"category":null`, `"category":true`, 1)),
			lenient{"r", "a", 3, 1, 1, .5, true, `read as "True"`, "True", 1, 3}},
		"future format":   {strings.Replace(v2(sound), `"format_version": 2`, `"format_version": 9`, 1), lenient{"r", "a", 3, 1, 1, .5, true, "format_version is 9", "-", 1, 1}},
		"version in text": {strings.Replace(v2(sound), `"format_version": 2`, `"format_version": "2"`, 1), lenient{"r", "a", 3, 1, 1, .5, true, "format_version is text", "-", 1, 1}},
		"version below 2": {strings.Replace(v2(sound), `"format_version": 2`, `"format_version": 1.9`, 1), lenient{"r", "a", 1, 0, 0, 0, false, "format_version is 1.9", "-", 2, 1}},
		"model null":      {strings.Replace(v2(sound), `"model": "m"`, `"model": null`, 1), lenient{"r", "a", 3, 1, 1, .5, true, "model is null", "-", 1, 1}},
		"caught text":     {v1(`{"role":"r","fixture_id":"a","caught":"false"}`), lenient{"r", "a", 1, 0, 1, 1, true, "caught is text, read as true", "-", 1, 3}},
		"caught null":     {v1(`{"role":"r","fixture_id":"a","caught":null}`), lenient{"r", "a", 1, 0, 0, 0, false, "caught is null, read as false", "-", 1, 3}},
		"caught 0.0":      {v1(`{"role":"r","fixture_id":"a","caught":0.0}`), lenient{"r", "a", 1, 0, 0, 0, false, "read as false", "-", 1, 3}},
		"caught absent":   {v1(`{"role":"r","fixture_id":"a"}`), lenient{"r", "a", 1, 0, 0, 0, false, "has no caught", "-", 1, 3}},
		"caught a list":   {v1(`{"role":"r","fixture_id":"a","caught":[0]}`), lenient{"r", "a", 1, 0, 1, 1, true, "read as true", "-", 1, 3}},
		"twice":           {v2(sound + ",\n" + sound), lenient{"r", "a", 3, 1, 1, .5, true, "stands there twice", "-", 1, 4}},
	} {
		t.Run(name, func(t *testing.T) {
			b, err := Parse("b.json", []byte(c.file), Lenient)
			require.NoError(t, err)
			f := b.Fixtures[0]
			got := lenient{f.Role, f.ID, f.RunsTotal, f.RunsErrored, f.RunsDetected, f.Consistency(), f.Detected(),
				c.want.problem, "-", len(b.Warnings), 0}
			if f.Category != nil {
				got.category = *f.Category
			}
			require.NotEmpty(t, b.Warnings)
			got.line = b.Warnings[0].Line
			assert.Equal(t, c.want, got)
			assert.Contains(t, b.Warnings[0].String(), c.want.problem)

			_, err = Parse("b.json", []byte(c.file), Strict)
			var load *LoadError
			require.ErrorAs(t, err, &load)
			assert.Contains(t, load.Problem, c.want.problem)
			assert.Equal(t, c.want.line, load.Line)
		})
	}
}

func TestParseDefaultsAndIgnoredParts(t *testing.T) {
	b, err := Parse("b.json", []byte(`{"fixtures":[{"role":"r","fixture_id":"a","caught":true,"category":"c"}]}`), Strict)
	require.NoError(t, err)
	assert.Equal(t, &Baseline{File: "b.json", Model: "unknown", Timestamp: "unknown", FormatVersion: 1, RunsPerFixture: 1,
		Fixtures: []Fixture{{Role: "r", ID: "a", RunsTotal: 1, RunsDetected: 1}}}, b, "version 1 knows no category")

	ignored := v2(strings.Replace(sound, `"role"`, `"consistency":7,"detected":"x","runs":[{"caught":1}],"role"`, 1))
	ignored = strings.Replace(ignored, `"model"`, `"summary":[1],"false_positive_analysis":3,"model"`, 1)
	b, err = Parse("b.json", []byte(ignored), Lenient)
	require.NoError(t, err)
	assert.Empty(t, b.Warnings)
	assert.Equal(t, .5, b.Fixtures[0].Consistency(), "worked out, not believed")
	assert.Equal(t, "CWE-89", *b.Fixtures[0].CWE)

	twice := `{"format_version":1,"fixtures":5,"format_version":2,"fixtures":[` + sound + `]}`
	b, err = Parse("b.json", []byte(twice), Strict)
	require.NoError(t, err)
	assert.Len(t, b.Fixtures, 1, "of two equal keys the last counts")
	assert.EqualValues(t, 2, b.FormatVersion)

	whole := v2(strings.Replace(sound, `"runs_total":3`, `"runs_total":3.0`, 1))
	_, err = Parse("b.json", []byte(whole), Strict)
	require.NoError(t, err, "3.0 is whole")
}

func TestParseNegatives(t *testing.T) {
	with := func(block string) []byte {
		return []byte(strings.Replace(v2(sound), `"model"`, `"false_positive_analysis":`+block+`,"model"`, 1))
	}
	b, err := Parse("b.json", with(`{"roles":{"runs":{"fixtures":[{"fixture_id":"n","runs_total":3,"runs_errored":1,"runs_flagged":1}]},
		"z":{"fp_rate":1}}}`), Strict)
	require.NoError(t, err)
	require.Equal(t, []Negative{{Role: "runs", ID: "n", RunsTotal: 3, RunsErrored: 1, RunsFlagged: 1}}, b.Negatives)
	assert.True(t, b.Negatives[0].FalsePositive(), "half of the completed runs")

	for name, block := range map[string]string{
		"no roles":         `{}`,
		"a number":         `3`,
		"no list":          `{"roles":{"r":{"fixtures":1}}}`,
		"no object":        `{"roles":{"r":{"fixtures":[1]}}}`,
		"no id":            `{"roles":{"r":{"fixtures":[{"runs_total":1,"runs_errored":0,"runs_flagged":0}]}}}`,
		"above runs":       `{"roles":{"r":{"fixtures":[{"fixture_id":"n","runs_total":1,"runs_errored":1,"runs_flagged":1}]}}}`,
		"count null":       `{"roles":{"r":{"fixtures":[{"fixture_id":"n","runs_total":null,"runs_errored":0,"runs_flagged":0}]}}}`,
		"fixture twice":    `{"roles":{"r":{"fixtures":[{"fixture_id":"n","runs_total":1,"runs_errored":0,"runs_flagged":0},{"fixture_id":"n","runs_total":1,"runs_errored":0,"runs_flagged":0}]}}}`,
		"count is no more": `{"roles":{"r":{"fixtures":[{"fixture_id":"n","runs_total":1}]}}}`,
	} {
		t.Run(name, func(t *testing.T) {
			var load *LoadError
			_, err := Parse("b.json", with(block), Strict)
			require.ErrorAs(t, err, &load)
			assert.Positive(t, load.Line)
			b, err := Parse("b.json", with(block), Lenient)
			require.NoError(t, err, "the rules ignore false positives")
			assert.Empty(t, b.Negatives)
		})
	}
}

func TestPythonText(t *testing.T) {
	for literal, want := range map[string]string{"-0": "0", "12": "12", "1.50": "1.5", "1e0": "1.0", "1e16": "1e+16", "1e15": "1000000000000000.0",
		"0.0001": "0.0001", "0.00001": "1e-05", "-2.5e-7": "-2.5e-07", "1e400": "inf", "-1e400": "-inf", "0.0": "0.0", "-0.0": "-0.0"} {
		assert.Equal(t, want, numberText(literal), literal)
	}
	for s, want := range map[string]int64{"3": 3, " 3\n": 3, "-3": -3, "+3": 3, "007": 7, "1_0": 10, "\x1c3": 3} {
		n, ok := wholeText(s)
		assert.True(t, ok, s)
		assert.Equal(t, want, n, s)
	}
	for _, s := range []string{"", "-", "+-3", "- 3", "3.0", "1__0", "_1", "1_", "0x3", "three", "99999999999999999999"} {
		_, ok := wholeText(s)
		assert.False(t, ok, s)
	}
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{"", "{}", "[]", v2(sound), v1(`{"role":"r","fixture_id":"a","caught":true}`), v2(sound + "," + sound),
		strings.Replace(v2(sound), "3", "1e400", 1), strings.ReplaceAll(v2(sound), "3", `"3"`), "{\"model\":\"\xff\"}", "{\"format_version\":null,\"fixtures\":[]}",
		strings.Replace(v2(sound), `"model"`, `"false_positive_analysis":{"roles":{"n":{"fixtures":[{"fixture_id":"x","runs_total":3,"runs_errored":0,"runs_flagged":1}]}}},"model"`, 1),
		v2(`{"role":null,"fixture_id":1.5,"category":true,"runs_total":-1,"runs_errored":true,"runs_detected":2.7}`), strings.Repeat("[", 20000)} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		strict, strictErr := Parse("f.json", data, Strict)
		lenient, err := Parse("f.json", data, Lenient)
		for _, err := range []error{strictErr, err} {
			if err == nil {
				continue
			}
			var load *LoadError
			require.ErrorAs(t, err, &load)
			require.NotEmpty(t, load.Remedy)
			require.LessOrEqual(t, load.Line, 1+strings.Count(string(data), "\n"))
		}
		if strictErr == nil {
			require.NoError(t, err, "what is sound is never refused")
			require.Equal(t, strict.Fixtures, lenient.Fixtures)
			require.Empty(t, lenient.Warnings)
			for _, f := range strict.Fixtures {
				require.True(t, f.Consistency() >= 0 && f.Consistency() <= 1)
			}
			for _, n := range strict.Negatives {
				require.True(t, n.Consistency() >= 0 && n.Consistency() <= 1)
			}
		}
		if err != nil {
			return
		}
		o := Compare(lenient, lenient)
		require.Empty(t, o.NewlyMissed)
		require.Empty(t, o.Warnings)
		for _, r := range o.Regressions {
			require.Equal(t, RoleFloor, r.Rule, "nothing drops against itself")
		}
	})
}

// Our own rules look at every number of runs, so that these are bounded; those of the
// reference only divide.
func TestParseBoundsRunsOfOurOwnRules(t *testing.T) {
	const many = "1000000000000"
	for name, text := range map[string]string{
		"runs_total":       v2(strings.Replace(sound, `"runs_total":3`, `"runs_total":`+many, 1)),
		"runs_per_fixture": strings.Replace(v2(sound), `"runs_per_fixture": 3`, `"runs_per_fixture": `+many, 1),
		"runs_flagged": strings.Replace(v2(sound), `"model"`, `"false_positive_analysis": {"roles": {"r": {"fixtures": [
			{"fixture_id": "n", "runs_total": `+many+`, "runs_errored": 0, "runs_flagged": 0}]}}}, "model"`, 1),
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Parse("b.json", []byte(text), Strict)
			var bad *LoadError
			require.ErrorAs(t, err, &bad)
			assert.Contains(t, bad.Problem, many)
			_, err = Parse("b.json", []byte(text), Lenient)
			assert.NoError(t, err)
		})
	}
}
