package simulator

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// statistical marks a test of rates: it makes thousands of calls one after
// another, and the race detector would only make it slow.
func statistical(t *testing.T) {
	t.Helper()
	if raceDetector || testing.Short() {
		t.Skip("a test of rates: run without -race and -short")
	}
}

func TestOwnPairs(t *testing.T) {
	statistical(t)
	pairs := ownPairs(t)
	s := newServer(t, Options{})
	good := func(model string, k int) rates {
		r := measure(t, s, pairs, setup{model, goodInstruction, goodChecklist, k, 0})
		t.Logf("%-12s good K=%d %s", model, k, r)
		return r
	}
	strong, weak, null := good("sim-strong", 5), good("sim-weak", 5), good("sim-null", 20)
	if testing.Verbose() {
		for _, p := range pairs {
			t.Logf("%-20s strong %.1f weak %.1f", p.id, strong.perPair[p.id], weak.perPair[p.id])
		}
	}
	assert.Greater(t, strong.j, weak.j+.1)
	assert.Greater(t, weak.j, null.j+.1)
	assert.Less(t, math.Abs(null.j), .1)
	assert.Greater(t, null.recall, .05, "sim-null is not silent")
	between(t, "strong recall", strong.recall, .7, .95)
	between(t, "strong silence", strong.silence, .72, .95)
	between(t, "strong J", strong.j, .5, .8)
	between(t, "weak J", weak.j, .15, .45)
	between(t, "strong mixed", strong.mixed, .2, .8)
	between(t, "weak mixed", weak.mixed, .2, .8)
	assert.LessOrEqual(t, strong.failed, .02)
	between(t, "weak failed", weak.failed, .005, .1)

	bare := measure(t, s, pairs, setup{"sim-strong", bareInstruction, "", 5, 0})
	t.Logf("%-12s bare K=5 %s", "sim-strong", bare)
	assert.Less(t, bare.j, strong.j-.25, "a bare sentence leaves room to improve")
}

func between(t *testing.T, what string, got, low, top float64) {
	t.Helper()
	assert.GreaterOrEqual(t, got, low, what)
	assert.LessOrEqual(t, got, top, what)
}

func TestSharedPairs(t *testing.T) {
	statistical(t)
	pairs := sharedPairs(t)
	s := newServer(t, Options{})
	got := map[string]rates{}
	for _, model := range []string{"sim-strong", "sim-weak", "sim-null"} {
		got[model] = measure(t, s, pairs, setup{model, goodInstruction, goodChecklist, 3, 0})
		t.Logf("%-12s %s", model, got[model])
	}
	if testing.Verbose() {
		for _, p := range pairs {
			t.Logf("%-32s %-22s strong %.1f weak %.1f", p.id, p.family, got["sim-strong"].perPair[p.id], got["sim-weak"].perPair[p.id])
		}
	}
	assert.Less(t, math.Abs(got["sim-null"].j), .2)
	assert.GreaterOrEqual(t, got["sim-strong"].j, .25)
	assert.Greater(t, got["sim-strong"].j, got["sim-null"].j+.2)

	var other []pair
	for _, p := range pairs {
		other = append(other, renamed(p))
	}
	for _, model := range []string{"sim-strong", "sim-weak"} {
		after := measure(t, s, other, setup{model, goodInstruction, goodChecklist, 3, 0})
		t.Logf("%s renamed: %+.3f -> %+.3f", model, got[model].j, after.j)
		assert.Less(t, math.Abs(got[model].j-after.j), .1, model)
	}
}

func TestDriftedIsWorseAtInjectionOnly(t *testing.T) {
	statistical(t)
	s := newServer(t, Options{})
	hits, runs := 0, 0
	strongHits := 0
	for _, p := range ownPairs(t) {
		for k := range 10 {
			ask := func(model string) parsedAnswer {
				return parseAnswer(t, post(t, s, map[string]any{"model": model, "seed": k,
					"messages": detectorMessages(t, goodInstruction, goodChecklist, p.vulnerable)}))
			}
			strong, drifted := ask("sim-strong"), ask("sim-drifted")
			require.Equal(t, strong.failed, drifted.failed)
			assert.Equal(t, withoutInjection(strong.findings), withoutInjection(drifted.findings), p.id)
			if p.family == "injection" {
				runs++
				if p.detected(drifted.findings) {
					hits++
				}
				if p.detected(strong.findings) {
					strongHits++
				}
			}
		}
	}
	assert.Less(t, float64(hits)/float64(runs), .2)
	assert.Greater(t, float64(strongHits)/float64(runs), .5)
}

// withoutInjection goes by the advice, which stays when a label slips.
func withoutInjection(list []reportedFinding) []reportedFinding {
	out := []reportedFinding{}
	for _, f := range list {
		if !strings.HasPrefix(f.Suggestion, "Bind values") {
			out = append(out, f)
		}
	}
	return out
}

func TestRenamingLocalsChangesLittle(t *testing.T) {
	statistical(t)
	pairs := ownPairs(t)
	var other []pair
	changed := 0
	for _, p := range pairs {
		q := renamed(p)
		for path := range p.vulnerable {
			if p.vulnerable[path] != q.vulnerable[path] {
				changed++
			}
		}
		other = append(other, q)
	}
	require.Greater(t, changed, len(pairs)*8/10, "the renamer works")
	s := newServer(t, Options{})
	for _, model := range []string{"sim-strong", "sim-weak"} {
		before := measure(t, s, pairs, setup{model, goodInstruction, goodChecklist, 5, 0})
		after := measure(t, s, other, setup{model, goodInstruction, goodChecklist, 5, 0})
		t.Logf("%s own: %+.3f -> %+.3f", model, before.j, after.j)
		assert.Less(t, math.Abs(before.j-after.j), .1, model)
		for _, p := range pairs {
			if before.perPair[p.id] != after.perPair[p.id] {
				t.Logf("  %s %v -> %v", p.id, before.perPair[p.id], after.perPair[p.id])
			}
		}
	}
}

func TestPlaceChangesNothing(t *testing.T) {
	s := newServer(t, Options{})
	for _, p := range ownPairs(t)[:8] {
		for path, text := range p.vulnerable {
			ask := func(dir string) []reportedFinding {
				post(t, s, simpleRequest("sim-weak", map[string]any{"seed": len(dir)})) // an unrelated request
				a := parseAnswer(t, post(t, s, map[string]any{"model": "sim-strong", "seed": 3,
					"messages": detectorMessages(t, goodInstruction, goodChecklist, side{dir + path: text})}))
				for i := range a.findings {
					a.findings[i].File = strings.TrimPrefix(a.findings[i].File, dir)
				}
				return a.findings
			}
			assert.Equal(t, ask(""), ask("cases/planted/a-0001/"), p.id)
		}
	}
}

func TestTemperatureAddsNoise(t *testing.T) {
	statistical(t)
	pairs := ownPairs(t)
	s := newServer(t, Options{})
	cold := measure(t, s, pairs, setup{"sim-weak", goodInstruction, goodChecklist, 5, 0})
	hot := measure(t, s, pairs, setup{"sim-weak", goodInstruction, goodChecklist, 5, 2})
	assert.Greater(t, hot.mixed, cold.mixed)
}

func TestPromptsMatter(t *testing.T) {
	statistical(t)
	pairs := ownPairs(t)
	s := newServer(t, Options{})
	at := func(instruction, sections string) rates {
		return measure(t, s, pairs, setup{"sim-strong", instruction, sections, 5, 0})
	}
	good := at(goodInstruction, goodChecklist)
	guardless := at(strings.ReplaceAll(`Follow untrusted input from where it enters (request parameters) through assignments, helpers and files to the place where it acts, and report what reaches a dangerous operation.
`, "\n", " "), goodChecklist)
	suspicious := at(goodInstruction+"Report anything suspicious, even if you are not sure.\n", goodChecklist)
	padded := at(goodInstruction+strings.Repeat("The weather in the mountains was mild and the boats lay still along the shore that year. ", 40), goodChecklist)
	t.Logf("good %s\nguardless %s\nsuspicious %s\npadded %s", good, guardless, suspicious, padded)
	assert.Less(t, guardless.silence, good.silence-.1, "without the guard clause more is flagged")
	assert.Less(t, suspicious.silence, good.silence)
	assert.GreaterOrEqual(t, suspicious.recall, good.recall)
	assert.Less(t, padded.recall, good.recall-.05, "length dilutes")
}

func TestConfidenceOfStrongIsCalibrated(t *testing.T) {
	statistical(t)
	pairs := ownPairs(t)
	s := newServer(t, Options{})
	gap := func(model string) float64 {
		var right, said, n float64
		for _, p := range pairs {
			for k := range 5 {
				for _, vulnerable := range []bool{true, false} {
					code := p.fixed
					if vulnerable {
						code = p.vulnerable
					}
					a := parseAnswer(t, post(t, s, map[string]any{"model": model, "seed": k, "messages": detectorMessages(t, goodInstruction, goodChecklist, code)}))
					for _, f := range a.findings {
						if p.accepts(f.Family) {
							n++
							said += f.Confidence
							if vulnerable && p.detected([]reportedFinding{f}) {
								right++
							}
						}
					}
				}
			}
		}
		return said/n - right/n
	}
	strong, weak := gap("sim-strong"), gap("sim-weak")
	t.Logf("said minus right: strong %+.3f weak %+.3f", strong, weak)
	assert.Less(t, math.Abs(strong), .15)
	assert.Greater(t, weak, .1, "sim-weak is over-confident")
}

func TestFormatSlips(t *testing.T) {
	statistical(t)
	s := newServer(t, Options{})
	p := ownPairs(t)[0]
	kinds := func(model, instruction string, more map[string]any) map[string]int {
		out := map[string]int{}
		for k := range 150 {
			body := map[string]any{"model": model, "seed": k, "messages": detectorMessages(t, instruction, "", p.vulnerable)}
			for key, v := range more {
				body[key] = v
			}
			var c wireCompletion
			require.NoError(t, json.Unmarshal(post(t, s, body).body, &c))
			m := c.Choices[0].Message
			switch {
			case m.Refusal != nil:
				out["refusal"]++
			case strings.HasPrefix(*m.Content, "```"):
				out["fence"]++
			case !strings.HasPrefix(*m.Content, "{"):
				out["prose"]++
			case !json.Valid([]byte(*m.Content)):
				out["malformed"]++
			default:
				out["json"]++
			}
		}
		return out
	}
	weak := kinds("sim-weak", bareInstruction, nil)
	for _, kind := range []string{"refusal", "fence", "prose", "malformed"} {
		assert.NotZero(t, weak[kind], kind)
	}
	strong := kinds("sim-strong", goodInstruction+"Reply with a single JSON object and nothing else, no code fences.\n", nil)
	assert.Greater(t, strong["json"], weak["json"])
	assert.GreaterOrEqual(t, strong["json"], 140)
	shaped := kinds("sim-weak", bareInstruction, map[string]any{"response_format": map[string]any{"type": "json_object"}})
	assert.Zero(t, shaped["fence"]+shaped["prose"]+shaped["malformed"])
}

func TestOverfitTrap(t *testing.T) {
	s := newServer(t, Options{})
	target, other := ownPair(t, "ssrf-go-preview"), ownPair(t, "des-py-cache")
	hits := func(instruction string, p pair) int {
		n := 0
		for k := range 20 {
			a := parseAnswer(t, post(t, s, map[string]any{"model": "sim-strong", "seed": k, "messages": detectorMessages(t, instruction, "", p.vulnerable)}))
			if p.detected(a.findings) {
				n++
			}
		}
		return n
	}
	quote := bareInstruction
	for _, text := range target.vulnerable {
		lines := strings.Split(text, "\n")
		sp := target.spans[0]
		quote += "\nSuch code is wrong: " + strings.Join(lines[sp.Start-3:sp.End], " ") + "\n"
	}
	assert.Greater(t, hits(quote, target), hits(bareInstruction, target)+5)
	assert.InDelta(t, hits(bareInstruction, other), hits(quote, other), 8, "other code gains nothing but luck")
}
