package measurements

import (
	"bytes"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/youden-bench/youden/corpus"
	"github.com/youden-bench/youden/detector"
)

// claims of sampleCase(0, "injection"), whose span and region are lines 2 and 3.
func inPlace(s detector.Severity) detector.Finding {
	return detector.Finding{Label: "injection", File: "app.py", Line: 2, Severity: s}
}

func elsewhere(s detector.Severity) detector.Finding {
	return detector.Finding{Label: "injection", File: "app.py", Line: 40, Severity: s}
}

func ofAnotherFamily(s detector.Severity) detector.Finding {
	return detector.Finding{Label: "path", File: "app.py", Line: 2, Severity: s}
}

// severityOf returns the four columns of a run, "-" for null.
func severityOf(r RunRow) string {
	var words []string
	for _, c := range []*string{r.HitSeverity, r.BreakSeverityStrict, r.BreakSeverityClass, r.BreakSeverityRegion} {
		if c == nil {
			words = append(words, "-")
		} else {
			words = append(words, *c)
		}
	}
	return strings.Join(words, "/")
}

func TestSeverityColumns(t *testing.T) {
	const low, medium, high, critical = detector.SeverityLow, detector.SeverityMedium, detector.SeverityHigh, detector.SeverityCritical
	tests := map[string]struct {
		side     corpus.SideName
		findings []detector.Finding
		want     string
	}{
		"no finding":                       {corpus.Vulnerable, nil, "-/-/-/-"},
		"only hits count for a hit":        {corpus.Vulnerable, []detector.Finding{inPlace(low), elsewhere(critical), ofAnotherFamily(high)}, "low/-/-/-"},
		"the highest of the hits":          {corpus.Vulnerable, []detector.Finding{inPlace(medium), inPlace(critical), inPlace(high)}, "critical/-/-/-"},
		"no hit":                           {corpus.Vulnerable, []detector.Finding{elsewhere(critical)}, "-/-/-/-"},
		"information is no floor":          {corpus.Vulnerable, []detector.Finding{inPlace(detector.SeverityInfo)}, "-/-/-/-"},
		"a foreign word is no floor":       {corpus.Vulnerable, []detector.Finding{inPlace("blocker")}, "-/-/-/-"},
		"information beside a floor":       {corpus.Vulnerable, []detector.Finding{inPlace(detector.SeverityInfo), inPlace(low)}, "low/-/-/-"},
		"a leak breaks all":                {corpus.Fixed, []detector.Finding{inPlace(medium)}, "-/medium/medium/medium"},
		"elsewhere is forgiven by region":  {corpus.Fixed, []detector.Finding{inPlace(low), elsewhere(high)}, "-/high/high/low"},
		"another family breaks strict":     {corpus.Fixed, []detector.Finding{inPlace(low), elsewhere(high), ofAnotherFamily(critical)}, "-/critical/high/low"},
		"silent under region and unstated": {corpus.Fixed, []detector.Finding{elsewhere("")}, "-/-/-/-"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			c := sampleCase(0, "injection")
			run := sampleRun(c, false, sampleTime)
			run.Findings = tt.findings
			row := Project(Cell{Case: c, Side: tt.side}, run, false).Run
			assert.Equal(t, tt.want, severityOf(row))
			run.Status = detector.Truncated
			assert.Equal(t, "-/-/-/-", severityOf(Project(Cell{Case: c, Side: tt.side}, run, false).Run), "no answer, no severity")
		})
	}
}

// A known residual forgives an accepted finding elsewhere under every policy.
func TestAResidualBreaksNothing(t *testing.T) {
	apart := Claim{Family: "injection", Accepted: true, Located: true}
	for _, p := range Policies() {
		assert.Equal(t, p != Region, apart.breaks(p, false), p)
		assert.False(t, apart.breaks(p, true), p)
	}
}

func TestRescoreWritesSeverities(t *testing.T) {
	rows := sampleRows(6, 3)
	var want []string
	for i := range rows {
		r := &rows[i].Run
		want = append(want, severityOf(*r))
		r.HitSeverity, r.BreakSeverityStrict, r.BreakSeverityClass, r.BreakSeverityRegion = nil, nil, nil, nil
	}
	assert.Contains(t, want, "high/-/-/-")
	assert.Contains(t, want, "-/high/high/high")
	r, err := Rescore(sampleCapture(t, rows, 3), sampleCases(6), DefaultRules())
	require.NoError(t, err)
	assert.Zero(t, r.Changed, "a severity decides nothing")
	for i, row := range r.Runs {
		assert.Equal(t, want[i], severityOf(row))
	}
}

// withoutSeverities writes rows as the first version did.
func withoutSeverities(t *testing.T, path, write string, runs []RunRow) {
	t.Helper()
	var fields []reflect.StructField
	of := reflect.TypeFor[RunRow]()
	for i := range of.NumField() {
		if f := of.Field(i); !strings.Contains(f.Name, "Severity") {
			fields = append(fields, f)
		}
	}
	old := reflect.StructOf(fields)
	require.Equal(t, of.NumField()-4, old.NumField())
	var b bytes.Buffer
	w := parquet.NewWriter(&b, parquet.SchemaOf(reflect.New(old).Interface()),
		parquet.KeyValueMetadata(schemaKey, tableSchema(runsFile)), parquet.KeyValueMetadata(writeKey, write))
	for _, r := range runs {
		row := reflect.New(old)
		for _, f := range fields {
			row.Elem().FieldByName(f.Name).Set(reflect.ValueOf(r).FieldByName(f.Name))
		}
		require.NoError(t, w.Write(row.Interface()))
	}
	require.NoError(t, w.Close())
	require.NoError(t, os.WriteFile(path, b.Bytes(), 0o644))
}

func TestACaptureWithoutSeveritiesOpens(t *testing.T) {
	rows := sampleRows(6, 3)
	c := sampleCapture(t, rows, 3)
	now, err := c.Tallies(Class, Charge)
	require.NoError(t, err)
	assert.True(t, now.Severities)
	table, err := openTable[RunRow](c.Dir(), runsFile)
	require.NoError(t, err)
	id := table.write()
	require.NoError(t, table.close())

	withoutSeverities(t, filepath.Join(c.Dir(), runsFile), id, runsOf(rows))
	opened, err := Open(c.Dir())
	require.NoError(t, err)
	old, err := opened.Tallies(Class, Charge)
	require.NoError(t, err)
	assert.False(t, old.Severities, "unknown, which is not none")
	require.Len(t, old.Cases, len(now.Cases))
	for i := range old.Cases {
		assert.Equal(t, now.Cases[i].Vulnerable.Positive, old.Cases[i].Vulnerable.Positive)
		assert.Zero(t, old.Cases[i].Vulnerable.AtLeast(detector.SeverityLow))
	}
	r, err := Rescore(opened, sampleCases(6), DefaultRules())
	require.NoError(t, err)
	for i, row := range r.Runs {
		assert.Equal(t, severityOf(rows[i].Run), severityOf(row), "the findings still say it")
	}
}
