package measurements

import (
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/parquet-go/parquet-go"
	"github.com/stretchr/testify/assert"
)

// schemas are the structs that become files.
var schemas = map[string]reflect.Type{
	runsFile:     reflect.TypeFor[RunRow](),
	stepsFile:    reflect.TypeFor[StepRow](),
	findingsFile: reflect.TypeFor[FindingRow](),
	scoresFile:   reflect.TypeFor[ScoreRow](),
}

var snake = regexp.MustCompile(`^[a-z][a-z0-9]*(_[a-z0-9]+)*$`)

// lint returns what is wrong with the columns of a struct: an optional column
// that is no pointer loses its zeros, a pointer that is not optional cannot be
// unknown, and a required time writes the zero time as the year 1754.
func lint(t reflect.Type) []string {
	var wrong []string
	for i := range t.NumField() {
		f := t.Field(i)
		if f.Anonymous {
			if f.Type.Kind() == reflect.Pointer {
				wrong = append(wrong, f.Name+" is an embedded pointer")
				continue
			}
			wrong = append(wrong, lint(f.Type)...)
			continue
		}
		name, options, _ := strings.Cut(f.Tag.Get("parquet"), ",")
		optional := strings.Contains(","+options+",", ",optional,")
		pointer := f.Type.Kind() == reflect.Pointer
		switch {
		case !snake.MatchString(name):
			wrong = append(wrong, f.Name+" has no snake_case name")
		case optional != pointer:
			wrong = append(wrong, f.Name+" must be an optional pointer or neither")
		case f.Type == reflect.TypeFor[time.Time]():
			wrong = append(wrong, f.Name+" is a required time")
		case f.Type.Kind() == reflect.Int32 || f.Type.Kind() == reflect.Float32 || f.Type.Kind() == reflect.Int:
			wrong = append(wrong, f.Name+" may be narrowed")
		}
	}
	return wrong
}

func TestSchemasKeepUnknownsApart(t *testing.T) {
	for name, schema := range schemas {
		assert.Empty(t, lint(schema), name)
	}
	// The lint finds what it looks for.
	type bad struct {
		Plain  float64    `parquet:"plain,optional"`
		Must   *float64   `parquet:"must"`
		When   time.Time  `parquet:"when"`
		Camel  string     `parquet:"camelCase"`
		Narrow int32      `parquet:"narrow"`
		Fine   *time.Time `parquet:"fine,optional,timestamp"`
	}
	assert.Len(t, lint(reflect.TypeFor[bad]()), 5)
}

// The columns are a public contract: this list changes only together with the
// schema's version, or by additions at its end or between.
func TestColumnsThatScriptsUse(t *testing.T) {
	for name, columns := range map[string]string{
		runsFile: "run_id case_id case_hash content_hash slice family accept group split language vetted side k request_seed " +
			"status detail outcome outcome_strict outcome_class outcome_region hit silent_strict silent_class silent_region " +
			"residual findings dropped_items unmapped unlocated calls attempts prompt_tokens completion_tokens reasoning_tokens " +
			"cached_tokens cost_usd_micros latency_ms started_at trajectory_hash model_returned system_fingerprint " +
			"finish_reason receipt simulated pair counts text_repaired " +
			"hit_severity break_severity_strict break_severity_class break_severity_region",
		stepsFile: "run_id case_id side k step kind tool arguments text reasoning status finish_reason prompt_tokens " +
			"completion_tokens reasoning_tokens cached_tokens cost_usd_micros latency_ms attempts receipt text_repaired",
		findingsFile: "run_id case_id slice side k n kind status family label cwe owasp file line end_line severity confidence " +
			"explanation suggestion tags model passed accepted in_span in_region located text_repaired",
		scoresFile: "slice family policy view k n n_vulnerable n_fixed cases recall recall_lo recall_hi silence silence_lo silence_hi " +
			"j j_lo j_hi j_vote j_vote_lo j_vote_hi votes correct both_flagged missed reversed pair_accuracy bias floor floor_n " +
			"unscorable coverage recall_worst recall_best silence_worst silence_best j_worst j_best distinct_trajectories " +
			"runs_are residual tokens cost_usd_micros",
	} {
		have := map[string]bool{}
		for _, f := range parquet.SchemaOf(reflect.New(schemas[name]).Interface()).Fields() {
			have[f.Name()] = true
		}
		for column := range strings.FieldsSeq(columns) {
			assert.True(t, have[column], "%s lacks %s", name, column)
		}
	}
}
