package measurements

import (
	"math"
	"reflect"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/youden-bench/youden/corpus"
	"github.com/youden-bench/youden/detector"
)

func cell() Cell {
	return Cell{Case: sampleCase(0, "injection"), Side: corpus.Vulnerable, K: 2, Seed: 77}
}

func TestProjectIsPure(t *testing.T) {
	a := Project(cell(), sampleRun(cell().Case, true, sampleTime), true)
	b := Project(cell(), sampleRun(cell().Case, true, sampleTime), true)
	assert.Equal(t, a, b)
	later := sampleRun(cell().Case, true, sampleTime.Add(time.Hour))
	later.Steps[0].Answer.Latency, later.Steps[0].Answer.Receipt = time.Second, "r-2"
	c := Project(cell(), later, true)
	assert.NotEqual(t, a.Run.StartedAt, c.Run.StartedAt)
	c.Run.StartedAt, c.Run.LatencyMS, c.Run.Receipt = a.Run.StartedAt, a.Run.LatencyMS, a.Run.Receipt
	c.Steps[0].LatencyMS, c.Steps[0].Receipt = a.Steps[0].LatencyMS, a.Steps[0].Receipt
	assert.Equal(t, a, c, "the clock shows nowhere else")
}

func TestRunIDNamesCaseSideAndK(t *testing.T) {
	base := cell()
	ids := map[string]string{base.RunID(): "base"}
	other := map[string]func(*Cell){
		"side":    func(c *Cell) { c.Side = corpus.Fixed },
		"k":       func(c *Cell) { c.K++ },
		"case id": func(c *Cell) { c.Case.ID = "another" },
		"labels":  func(c *Cell) { c.Case.Spans[0].End++ },
	}
	for name, change := range other {
		c := cell()
		change(&c)
		assert.NotContains(t, ids, c.RunID(), name)
		ids[c.RunID()] = name
	}
	seeded := cell()
	seeded.Seed, seeded.Case.Title = 1, "new title"
	assert.Equal(t, base.RunID(), seeded.RunID())
}

func TestARunWithoutAnswerHasOneStatusRow(t *testing.T) {
	for _, status := range detector.Statuses() {
		run := sampleRun(cell().Case, true, sampleTime)
		run.Status, run.Detail = status.Status, "why"
		rows := Project(cell(), run, false)
		if status.Status == detector.OK {
			require.Len(t, rows.Findings, 1)
			assert.Equal(t, KindFinding, rows.Findings[0].Kind)
			assert.Equal(t, int64(1), *rows.Run.Findings)
			continue
		}
		require.Len(t, rows.Findings, 1, status.Status)
		assert.Equal(t, KindStatus, rows.Findings[0].Kind)
		assert.Equal(t, string(status.Status), rows.Findings[0].Status)
		assert.Nil(t, rows.Findings[0].Label)
		assert.Nil(t, rows.Run.Findings, "an unknown is null, never 0")
		assert.Nil(t, rows.Run.Hit)
	}
	silent := Project(cell(), sampleRun(cell().Case, false, sampleTime), false)
	assert.Empty(t, silent.Findings, "no row means: ran and found nothing")
	assert.Equal(t, int64(0), *silent.Run.Findings)
}

func TestUnknownSpendIsNull(t *testing.T) {
	run := sampleRun(cell().Case, false, sampleTime)
	second := run.Steps[0]
	second.Answer.CostMicros, second.Answer.Usage.Prompt = nil, nil
	run.Steps = append(run.Steps, second)
	row := Project(cell(), run, false).Run
	assert.Nil(t, row.CostUSDMicros, "half a sum would look cheaper than it was")
	assert.Nil(t, row.PromptTokens)
	assert.Equal(t, int64(80), *row.CompletionTokens)
	assert.Nil(t, row.CachedTokens)
	assert.Equal(t, []int64{2, 2}, []int64{row.Calls, row.Attempts})

	unsent := Project(cell(), detector.Trajectory{Status: detector.Auth, Steps: []detector.Step{
		{Kind: detector.ModelStep, Answer: detector.Answer{Status: detector.Auth}},
	}}, false).Run
	assert.Equal(t, []int64{0, 0}, []int64{unsent.Calls, unsent.Attempts})
	assert.Equal(t, int64(0), *unsent.CostUSDMicros, "what was never sent cost nothing")
	assert.Nil(t, unsent.StartedAt, "a zero time would be the year 1754")
	assert.Nil(t, unsent.LatencyMS)

	replayed := run
	replayed.Steps = run.Steps[:1]
	replayed.Steps[0].Answer.Attempts, replayed.Steps[0].Answer.Replayed = 0, true
	assert.Equal(t, int64(1), Project(cell(), replayed, false).Run.Calls)
}

func TestBrokenTextIsRepairedAndFlagged(t *testing.T) {
	c := cell()
	run := sampleRun(c.Case, true, sampleTime)
	run.Detail, run.Hash = "bad \xff byte", "h\xfe"
	run.Steps[0].Text, run.Steps[0].Answer.Reasoning = "\xc3", "\xc3\x28"
	f := &run.Findings[0]
	f.Explanation, f.Tags, f.Passed, f.OWASP = "\xf0", []string{"\xf1"}, []string{"\xf2"}, "\xf3"
	f.Confidence = pointer(math.NaN())
	rows := Project(c, run, false)
	assert.True(t, rows.Run.TextRepaired)
	assert.True(t, rows.Steps[0].TextRepaired)
	assert.True(t, rows.Findings[0].TextRepaired)
	assert.Nil(t, rows.Findings[0].Confidence)
	for _, row := range []any{rows.Run, rows.Steps[0], rows.Findings[0]} {
		everyString(reflect.ValueOf(row), func(s string) { assert.True(t, utf8.ValidString(s), "%q", s) })
	}
	clean := Project(c, sampleRun(c.Case, true, sampleTime), false)
	assert.False(t, clean.Run.TextRepaired || clean.Steps[0].TextRepaired || clean.Findings[0].TextRepaired)
}

func everyString(v reflect.Value, visit func(string)) {
	switch v.Kind() {
	case reflect.String:
		visit(v.String())
	case reflect.Pointer:
		if !v.IsNil() && v.Type() != reflect.TypeFor[*time.Time]() {
			everyString(v.Elem(), visit)
		}
	case reflect.Slice:
		for i := range v.Len() {
			everyString(v.Index(i), visit)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			everyString(v.Field(i), visit)
		}
	}
}

func TestALabelDefectIsNeverScored(t *testing.T) {
	for _, side := range []corpus.SideName{corpus.Vulnerable, corpus.Fixed} {
		c := cell()
		c.Side = side
		c.Case.Spans[0].End = 999
		row := Project(c, sampleRun(c.Case, true, sampleTime), false)
		assert.Equal(t, "label_defect", row.Run.Status, side)
		assert.Equal(t, "excused", row.Run.Counts)
		assert.Equal(t, "unscorable:label_defect", row.Run.Outcome)
		assert.Contains(t, *row.Run.Detail, "999")
		assert.Equal(t, int64(1), row.Run.Calls, "the call was made and paid")
	}
}
