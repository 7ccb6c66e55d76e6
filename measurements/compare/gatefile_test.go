package compare

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/youden-bench/youden/corpus/tomlfile"
)

// gateExample is that of the documentation.
const gateExample = `version = 1

[[gate]]
name   = "finds injections"
metric = "recall.lo"
slice  = "planted"
family = "injection"
min    = 0.4

[[gate]]
name   = "J has not surely fallen"
metric = "delta.j.hi"
margin = 0.05

[[gate]]
name     = "hard cases stay as they are"
cases    = ["injection-0", "path-1"]
min_pass = "4/5"
kind     = "drop-only"

[[gate]]
name         = "severe bugs"
metric       = "recall"
min          = 0.5
min_severity = "high"
alone        = true

[[gate]]
name   = "errors"
metric = "error_rate"
max    = 0.05

[[gate]]
name   = "price"
metric = "cost_per_correct"
max    = 0.02
`

// one makes a file of one gate named g.
func one(lines ...string) string {
	return "version = 1\n[[gate]]\nname = \"g\"\n" + strings.Join(lines, "\n") + "\n"
}

func readGates(t *testing.T, text string) Gates {
	t.Helper()
	g, err := ReadGates("gates.toml", []byte(text))
	require.NoError(t, err)
	return g
}

func TestGateFile(t *testing.T) {
	g := readGates(t, gateExample)
	require.Equal(t, 7, g.Len(), "one is added")
	assert.Equal(t, gate{
		name: "finds injections", at: 0, metric: gateMetric{base: "recall", end: ".lo"}, floor: noFloor,
		scope: gateScope{slice: "planted", family: "injection"}, demand: gateDemand{key: "min", value: .4},
	}, g.list[0])
	assert.Equal(t, gate{
		name: "finds injections (silence)", at: 0, metric: gateMetric{base: "silence", end: ".lo"}, floor: noFloor, added: true,
		scope: gateScope{slice: "planted", family: "injection"}, demand: gateDemand{key: "min", value: .4},
	}, g.list[1])
	assert.Equal(t, gate{
		name: "J has not surely fallen", at: 1, metric: gateMetric{base: "j", delta: true, end: ".hi"}, floor: noFloor,
		demand: gateDemand{key: "margin", value: .05},
	}, g.list[2])
	assert.Equal(t, gate{
		name: "hard cases stay as they are", at: 2, floor: noFloor, dropOnly: true,
		scope: gateScope{cases: []string{"injection-0", "path-1"}}, demand: gateDemand{key: "min_pass", right: 4, runs: 5},
	}, g.list[3])
	assert.Equal(t, gate{
		name: "severe bugs", at: 3, metric: gateMetric{base: "recall"}, floor: 2, alone: true, demand: gateDemand{key: "min", value: .5},
	}, g.list[4])
	assert.Equal(t, []string{`gates.toml:3: added gate "finds injections (silence)" (silence.lo of family injection of slice planted, min = 0.4): one of recall and silence alone is won by a detector that flags everything, or nothing; write a gate for the other, or alone = true`}, g.Notes())
}

func TestGateFileOnDisk(t *testing.T) {
	file := filepath.Join(t.TempDir(), "gates.toml")
	require.NoError(t, os.WriteFile(file, []byte(gateExample), 0o600))
	g, err := LoadGates(file)
	require.NoError(t, err)
	assert.Equal(t, file, g.File)
	_, err = LoadGates(file + ".none")
	require.ErrorIs(t, err, os.ErrNotExist)
}

func TestGateMetricsThatExist(t *testing.T) {
	want := []string{"j", "j.lo", "j.hi", "j_vote", "j_vote.lo", "j_vote.hi", "recall", "recall.lo", "recall.hi", "silence", "silence.lo", "silence.hi",
		"pair_accuracy", "error_rate", "cost_per_correct",
		"delta.j", "delta.j.lo", "delta.j.hi", "delta.recall", "delta.recall.lo", "delta.recall.hi", "delta.silence", "delta.silence.lo", "delta.silence.hi"}
	assert.Equal(t, strings.Join(want, ", "), gateMetricNames())
	for _, name := range want {
		g := readGates(t, one(fmt.Sprintf("metric = %q", name), "max = 0.5"))
		assert.Equal(t, name, g.list[0].metric.String())
	}
	for _, name := range []string{"J", "recall.mid", "recall.lo.hi", "delta.j_vote", "delta.", ".lo", "", "pair_accuracy.lo", "error_rate.hi", "cost_per_correct.lo", "delta.delta.j"} {
		_, err := ReadGates("gates.toml", []byte(one(fmt.Sprintf("metric = %q", name), "max = 0.5")))
		require.ErrorContains(t, err, fmt.Sprintf("gates.toml:4:1: gate \"g\": there is no metric %q; the metrics are j, j.lo", name))
	}
}

func TestGateFileMistakes(t *testing.T) {
	recall := `metric = "recall"`
	for _, c := range []struct{ name, file, want string }{
		{"no version", "[[gate]]\nname = 'g'\nmetric = 'j'\nmin = 0.5\n", "gates.toml:1:1: the gate file has no version; write version = 1 at the top"},
		{"other version", strings.Replace(one(recall, "min = 0.5"), "1", "2", 1), "gates.toml:1:1: version 2 of gate files is unknown"},
		{"empty", "version = 1\n", "gates.toml:1:1: the file has no gate, so that everything would pass; add a [[gate]]"},
		{"too many", "version = 1\n" + strings.Repeat("[[gate]]\n", 1001), "gates.toml:1002:3: 1001 gates are more than the 1000 that are read"},
		{"unknown key", one(recall, "minimum = 0.5"), "gates.toml:5:1: unknown key"},
		{"wrong type", one(recall, "min = '0.5'"), "gates.toml:5:7: key \"gate.min\" is a string, wanted a number"},
		{"no name", "version = 1\n[[gate]]\nmetric = 'j'\nmin = 0.5\n", `gates.toml:2:3: gate "": a gate needs a name`},
		{"blank name", "version = 1\n[[gate]]\nname = ' '\nmetric = 'j'\nmin = 0.5\n", `gates.toml:3:1: gate " ": a gate needs a name`},
		{"two lines of name", "version = 1\n[[gate]]\nname = \"a\\nb\"\nmetric = 'j'\nmin = 0.5\n", `the name is no line of text`},
		{"long name", "version = 1\n[[gate]]\nname = '" + strings.Repeat("x", 201) + "'\nmetric = 'j'\nmin = 0.5\n", `gate "` + strings.Repeat("x", 40) + `...": the name is no line of text`},
		{"one name twice", one("metric = 'j'", "min = 0.5") + "[[gate]]\nname = 'g'\nmetric = 'j'\nmin = 0.6\n", `gates.toml:7:1: gate "g": another gate has this name`},
		{"no metric", one("min = 0.5"), `gates.toml:2:3: gate "g": the gate names no metric; the metrics are j, `},
		{"no demand", one(recall), `gates.toml:2:3: gate "g": the gate demands nothing; give exactly one of min, max, margin and min_pass`},
		{"two demands", one(recall, "min = 0.5", "max = 0.9"), `gate "g": min and max are demands of gates of their own`},
		{"four demands", one(recall, "min = 0.5", "max = 0.9", "margin = 0", "min_pass = '1/2'"), `min and max and margin and min_pass are demands`},
		{"not a number", one(recall, "min = nan"), `gates.toml:5:1: gate "g": min is no number to compare with`},
		{"no bound", one(recall, "max = inf"), `gates.toml:5:1: gate "g": max is no number to compare with`},
		{"min_pass without runs", one("min_pass = '8'"), `gates.toml:4:1: gate "g": min_pass "8" is no share of runs; write right/runs, such as "4/5"`},
		{"min_pass of none", one("min_pass = '0/5'"), `min_pass "0/5" is no share of runs`},
		{"min_pass above", one("min_pass = '6/5'"), `min_pass "6/5" is no share of runs`},
		{"min_pass in words", one("min_pass = 'a/5'"), `min_pass "a/5" is no share of runs`},
		{"min_pass with zeros", one("min_pass = '4/05'"), `min_pass "4/05" is no share of runs`},
		{"min_pass of thrice", one("min_pass = '1/2/3'"), `min_pass "1/2/3" is no share of runs`},
		{"min_pass of too many", one("min_pass = '1/1000001'"), `min_pass "1/1000001" is no share of runs`},
		{"min_pass with a metric", one(recall, "min_pass = '4/5'"), `gates.toml:4:1: gate "g": min_pass counts the runs of each case and has no metric`},
		{"min_pass alone", one("alone = true", "min_pass = '4/5'"), `gates.toml:4:1: gate "g": min_pass asks for both sides of a case`},
		{"unknown kind", one(recall, "min = 0.5", "kind = 'level'"), `gates.toml:6:1: gate "g": kind "level" is unknown; write kind = "drop-only"`},
		{"empty kind", one(recall, "min = 0.5", "kind = ''"), `kind "" is unknown`},
		{"unknown severity", one(recall, "min = 0.5", "min_severity = 'info'"), `gates.toml:6:1: gate "g": there is no severity "info" to count from; the severities are low, medium, high, critical`},
		{"empty slice", one(recall, "min = 0.5", "slice = ''"), `gates.toml:6:1: gate "g": slice names nothing`},
		{"empty family", one(recall, "min = 0.5", "family = ''"), `family names nothing`},
		{"empty case", one(recall, "min = 0.5", "case = ''"), `case names nothing`},
		{"no cases", one(recall, "min = 0.5", "cases = []"), `gates.toml:6:1: gate "g": cases names nothing`},
		{"case and cases", one(recall, "min = 0.5", "case = 'a'", "cases = ['b']"), `gates.toml:7:1: gate "g": case and cases are both given`},
		{"a case twice", one(recall, "min = 0.5", "cases = ['b', 'b']"), `gate "g": case "b" is named twice`},
		{"case and family", one(recall, "min = 0.5", "case = 'a'", "family = 'f'"), `gates.toml:7:1: gate "g": a case has its family already`},
		{"interval of cases", one("metric = 'recall.lo'", "min = 0.5", "case = 'a'"), `gates.toml:4:1: gate "g": named cases are no sample and have no interval, so that there is no recall.lo of them; gate recall, or min_pass`},
		{"error rate of a family", one("metric = 'error_rate'", "max = 0.5", "family = 'a'"), `gates.toml:4:1: gate "g": error_rate is known of a capture as a whole only`},
		{"cost of a slice", one("metric = 'cost_per_correct'", "max = 0.5", "slice = 'a'"), `cost_per_correct is known of a capture as a whole only`},
		{"cost of a case", one("metric = 'cost_per_correct'", "max = 0.5", "case = 'a'"), `cost_per_correct is known of a capture as a whole only`},
		{"error rate of a severity", one("metric = 'error_rate'", "max = 0.5", "min_severity = 'low'"), `gates.toml:6:1: gate "g": error_rate does not depend on severities`},
		{"j alone", one("metric = 'j'", "min = 0.5", "alone = true"), `gates.toml:6:1: gate "g": alone is for recall and silence`},
		{"a difference of drops", one("metric = 'delta.j.hi'", "min = -0.5", "kind = 'drop-only'"), `gates.toml:6:1: gate "g": delta.j.hi is a comparison with OLD already; leave kind out, or gate j.hi`},
		{"a drop upwards", one(recall, "max = 0.5", "kind = 'drop-only'"), `gates.toml:5:1: gate "g": above a max, recall has risen and not dropped`},
		{"a better error rate", one("metric = 'error_rate'", "min = 0.5", "kind = 'drop-only'"), `below a min, error_rate has become better; demand max`},
		{"negative margin", one("metric = 'delta.j'", "margin = -0.5"), `gates.toml:5:1: gate "g": a margin of -0.5 is a demand to rise; demand min of a delta`},
		{"margin of errors", one("metric = 'error_rate'", "margin = 0.5", "kind = 'drop-only'"), `a margin is how far a metric may fall, and error_rate should; demand max`},
		{"margin of a level", one(recall, "margin = 0.5"), `gates.toml:5:1: gate "g": recall alone is not compared with anything`},
	} {
		t.Run(c.name, func(t *testing.T) {
			g, err := ReadGates("gates.toml", []byte(c.file))
			require.ErrorContains(t, err, c.want)
			assert.Zero(t, g.Len())
			var place *tomlfile.Error
			require.ErrorAs(t, err, &place)
			assert.NotEmpty(t, place.Remedy)
		})
	}
}

func TestGateFileReportsEveryMistake(t *testing.T) {
	_, err := ReadGates("gates.toml", []byte(one("metric = 'x'", "min = 0.5", "max = 1", "slice = ''")+"[[gate]]\nmetric = 'j'\nmin = 0.1\n"))
	require.Error(t, err)
	assert.Len(t, strings.Split(err.Error(), "\n"), 4)
}

func TestGateMinPass(t *testing.T) {
	for text, want := range map[string][2]int{"1/1": {1, 1}, "8/10": {8, 10}, "5/5": {5, 5}, "1000000/1000000": {1000000, 1000000}} {
		right, runs, ok := parseMinPass(text)
		assert.True(t, ok, text)
		assert.Equal(t, want, [2]int{right, runs})
	}
	for _, text := range []string{"", "/", "1/", "/1", "+1/2", "-1/2", " 1/2", "1/2 ", "1.0/2", "99999999999999999999/99999999999999999999"} {
		_, _, ok := parseMinPass(text)
		assert.False(t, ok, text)
	}
}

// Which gates stand behind those of the file: the metrics, added ones with +.
func TestGateRecallAndSilenceTogether(t *testing.T) {
	two := func(first, second string) string {
		return one(first) + "[[gate]]\nname = 'h'\n" + second + "\n"
	}
	const recall, silence = "metric = 'recall'\nmin = 0.5", "metric = 'silence'\nmin = 0.9"
	for _, c := range []struct{ name, file, want string }{
		{"recall", one(recall), "recall +silence"},
		{"silence", one(silence), "silence +recall"},
		{"difference", one("metric = 'delta.recall.hi'", "margin = 0.1"), "delta.recall.hi +delta.silence.hi"},
		{"max", one("metric = 'recall'", "max = 0.5"), "recall"},
		{"meant", one(recall, "alone = true"), "recall"},
		{"not meant", one(recall, "alone = false"), "recall +silence"},
		{"both", two(recall, silence), "recall silence"},
		{"both, ends apart", two("metric = 'recall.lo'\nmin = 0.5", silence), "recall.lo silence"},
		{"a max keeps nobody honest", two(recall, "metric = 'silence'\nmax = 0.9"), "recall +silence silence"},
		{"another family", two(recall+"\nfamily = 'a'", silence+"\nfamily = 'b'"), "recall +silence silence +recall"},
		{"another slice", two(recall+"\nslice = 'a'", silence), "recall +silence silence +recall"},
		{"other cases", two(recall+"\ncases = ['a', 'b']", silence+"\ncases = ['a']"), "recall +silence silence +recall"},
		{"the same cases", two(recall+"\ncases = ['a', 'b']", silence+"\ncases = ['a', 'b']"), "recall silence"},
		{"level and difference", two(recall, "metric = 'delta.silence'\nmargin = 0.1"), "recall +silence delta.silence +delta.recall"},
		{"level and drop", two(recall, silence+"\nkind = 'drop-only'"), "recall +silence silence +recall"},
		{"difference and drop", two("metric = 'delta.recall'\nmargin = 0.1", silence+"\nkind = 'drop-only'"), "delta.recall silence"},
		{"silence from high on only", two(recall, silence+"\nmin_severity = 'high'"), "recall +silence silence +recall"},
		{"recall from high on only", two(recall+"\nmin_severity = 'high'", silence), "recall silence"},
		{"one severity", two(recall+"\nmin_severity = 'high'", silence+"\nmin_severity = 'high'"), "recall silence"},
		{"j is both", one("metric = 'j'", "min = 0.5"), "j"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got []string
			for _, g := range readGates(t, c.file).list {
				name := g.metric.String()
				if g.added {
					name = "+" + name
				}
				got = append(got, name)
			}
			assert.Equal(t, c.want, strings.Join(got, " "))
		})
	}
}

func FuzzGates(f *testing.F) {
	f.Add([]byte(gateExample))
	f.Add([]byte(one("metric = 'recall'", "min = 0.5")))
	f.Add([]byte(one("min_pass = '3/3'", "case = 'f0-0'", "kind = 'drop-only'")))
	f.Add([]byte(one("metric = 'delta.silence.lo'", "margin = 1e308", "family = 'f1'")))
	f.Add([]byte(one("metric = 'j_vote.hi'", "max = -0.0", "slice = 's'", "min_severity = 'critical'")))
	f.Add([]byte("version = 1\ngate = [{name='\\u0000', metric='j', min=-inf}]\n"))
	f.Add([]byte("version = 1\n[gate]\nname = 'g'\n"))
	subject := &Subject{Identity: Identity{K: 3}, Cases: gateShape(3, 2, 2).wrongs([]int{0, 1, 2, 0, 3, 1, 0, 0})}
	shape := ShapeOf(subject).Against(subject)
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 4096 {
			return // more gates only take longer
		}
		g, err := ReadGates("gates.toml", data)
		if err != nil {
			var place *tomlfile.Error
			if !errors.As(err, &place) || g.Len() != 0 {
				t.Fatalf("an error without a place, or with gates: %v", err)
			}
			return
		}
		if g.Len() == 0 {
			t.Fatal("no gate and no error")
		}
		refused := g.Check(shape)
		var place *tomlfile.Error
		if refused != nil && (!errors.As(refused, &place) || place.Line == 0) {
			t.Fatalf("an error without a place: %v", refused)
		}
		results := g.Judge(subject, subject)
		if len(results) != g.Len() {
			t.Fatalf("%d results of %d gates", len(results), g.Len())
		}
		for _, r := range results {
			if r.Reason == "" || r.Line == 0 || r.Outcome == GateUnsure {
				t.Fatalf("nothing is missing, and yet: %+v", r)
			}
			if r.Value != nil && (math.IsNaN(*r.Value) || math.IsInf(*r.Value, 0)) {
				t.Fatalf("no number: %+v", r)
			}
			if refused == nil && r.Outcome == GateNoData && r.Metric != metricErrorRate && r.Metric != metricCost {
				t.Fatalf("Check let pass what has no data: %+v", r)
			}
		}
	})
}

// The example of the README is read, and it names every metric.
func TestGatesOfTheReadme(t *testing.T) {
	readme, err := os.ReadFile("../../README.md")
	require.NoError(t, err)
	_, rest, found := strings.Cut(string(readme), "```toml\nversion = 1\n[[gate]]\n")
	require.True(t, found)
	text, rest, found := strings.Cut(rest, "```")
	require.True(t, found)
	g, err := ReadGates("gates.toml", []byte("version = 1\n[[gate]]\n"+text))
	require.NoError(t, err)
	assert.Equal(t, 4, g.Len(), "three, and silence beside recall")
	words, _, _ := strings.Cut(rest, "min_severity")
	for _, base := range gateBases() {
		assert.Contains(t, words, "`"+base.name+"`")
		if base.delta {
			assert.Contains(t, words, "`"+deltaPrefix+base.name+"`")
		}
	}
}

func TestGatesAreReadFromAFile(t *testing.T) {
	_, err := LoadGates(t.TempDir())
	assert.ErrorContains(t, err, "is no regular file (a pipe, a device or a folder); write the gates to a file")
	assert.NotContains(t, err.Error(), "kstrl")
	_, err = LoadGates(os.DevNull)
	assert.ErrorContains(t, err, "is no regular file")
}

// The name of an added gate is one of its own, whatever names the file has.
func TestAddedGatesHaveNamesOfTheirOwn(t *testing.T) {
	gates, err := ReadGates("gates.toml", []byte(`version = 1
[[gate]]
name = "a"
metric = "recall"
min = 0.5
[[gate]]
name = "a (silence)"
metric = "j"
min = 0.1
[[gate]]
name = "a (silence) 2"
metric = "pair_accuracy"
min = 0.1
`))
	require.NoError(t, err)
	var names []string
	for _, g := range gates.list {
		names = append(names, g.name)
	}
	assert.Equal(t, []string{"a", "a (silence) 3", "a (silence)", "a (silence) 2"}, names)
}
