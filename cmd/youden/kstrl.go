package main

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"github.com/youden-bench/youden/measurements/compare"
	"github.com/youden-bench/youden/measurements/kstrl"
	"github.com/youden-bench/youden/measurements/report"
)

// kstrlSchema names the JSON of --rules kstrl.
const kstrlSchema = "youden.kstrl/1"

// kstrlDocument is what the rules of kstrl say, and whether of simulated answers.
type kstrlDocument struct {
	Schema    string `json:"schema"`
	Simulated bool   `json:"simulated"`
	// Incomplete says why NEW is no whole capture; "" = it is, or its file does not
	// say. The exit code is then another than that of the rules.
	Incomplete string `json:"incomplete"`
	kstrl.Outcome
	oldModel, newModel string
}

// onlyKSTRL refuses what the rules of kstrl would leave undone.
func onlyKSTRL(s *settings, format report.Format) error {
	var left []string
	s.flags.VisitAll(func(f *pflag.Flag) {
		switch f.Name {
		case "gates", "junit", "mode", "vary", "slice", "require-grade", "max-error-rate", "self-test":
			if s.origin[f.Name] != "default" && f.Value.String() != f.DefValue {
				left = append(left, fmt.Sprintf("--%s (from %s)", f.Name, s.origin[f.Name]))
			}
		}
	})
	if format != report.Table && format != report.JSON {
		left = append(left, fmt.Sprintf("--format %s", format))
	}
	if len(left) == 0 {
		return nil
	}
	return fmt.Errorf("--rules kstrl applies the thresholds of that suite and nothing else, as a table or json: leave out %s", strings.Join(left, ", "))
}

// compareKSTRL applies the reference's rules to kstrl files, and to captures and
// baselines as they would be written as such.
func (a *app) compareKSTRL(s *settings, oldName, newName string, format report.Format) error {
	if err := onlyKSTRL(s, format); err != nil {
		return err
	}
	before, err := kstrlFile(s, oldName)
	if err != nil {
		return err
	}
	after, err := kstrlFile(s, newName)
	if err != nil {
		return err
	}
	if why := before.incomparable(after); why != "" {
		return &exitError{exitIncomparable, fmt.Errorf("%s: %s", compare.Incomparable, why)}
	}
	out := kstrlDocument{
		Schema: kstrlSchema, Simulated: before.simulated || after.simulated, Incomplete: after.incomplete,
		Outcome: kstrl.Compare(before.Baseline, after.Baseline), oldModel: before.Model, newModel: after.Model,
	}
	if format == report.JSON {
		text, err := report.Document(out)
		if err != nil {
			return err
		}
		if _, err := a.out.Write(text); err != nil {
			return err
		}
	} else {
		a.printKSTRL(out)
	}
	if out.Incomplete != "" {
		return &exitError{code: exitIncomplete} // as by our own rules, whatever these say
	}
	if out.ExitCode != kstrl.ExitPass {
		return &exitError{code: out.ExitCode}
	}
	return nil
}

// incomparable says why two sides are not compared by any rules. A kstrl file does not
// say how it was scored.
func (k kstrlSide) incomparable(other kstrlSide) string {
	switch {
	case k.simulated && !other.simulated:
		return "OLD is simulated and NEW is not"
	case !k.simulated && other.simulated:
		return "NEW is simulated and OLD is not"
	case k.scoring != "" && other.scoring != "" && k.scoring != other.scoring:
		return fmt.Sprintf("OLD was scored under %s and NEW under %s", k.scoring, other.scoring)
	}
	return ""
}

func (a *app) printKSTRL(out kstrlDocument) {
	verdict := "PASS"
	if out.ExitCode != kstrl.ExitPass {
		verdict = "FAIL"
	}
	if out.Simulated {
		verdict += " (SIMULATED)"
	}
	fmt.Fprintf(a.out, "%s by the rules of kstrl\n", verdict)
	if out.Incomplete != "" {
		fmt.Fprintf(a.out, "NEW INCOMPLETE: %s\n", report.Plain(out.Incomplete))
	}
	if out.Simulated {
		fmt.Fprintln(a.out, report.SimulatedLine)
	}
	for _, r := range out.RoleRates {
		fmt.Fprintf(a.out, "  %s: %s to %s (floor %s)\n", report.Plain(r.Role), share(r.Old), share(r.New), share(&r.Floor))
	}
	for _, r := range out.Regressions {
		fmt.Fprintf(a.out, "%s\n", report.Plain(out.broken(r)))
	}
	for _, w := range out.Warnings {
		fmt.Fprintf(a.out, "warning: %s\n", report.Plain(out.warning(w)))
	}
	for _, w := range out.LoadWarnings {
		fmt.Fprintf(a.out, "warning: %s\n", report.Plain(w.String()))
	}
	for _, name := range out.NewlyMissed {
		fmt.Fprintf(a.out, "newly missed: %s\n", report.Plain(name))
	}
}

// broken says which limit does not hold. A floor is a level: NEW can lie below it
// and be no worse than OLD.
func (d kstrlDocument) broken(r kstrl.Regression) string {
	if r.Rule != kstrl.RoleFloor {
		name := r.Role
		if r.Category != nil {
			name += " " + *r.Category
		}
		return fmt.Sprintf("regression: %s fell by %s, from %s to %s; %s is allowed (%s)", name, apart(r.Drop, r.Limit), share(r.OldRate), share(&r.NewRate), share(&r.Limit), r.Rule)
	}
	text := fmt.Sprintf("too low: %s is at %s, below the floor of %s (%s, a level and not a change)", r.Role, apart(&r.NewRate, r.Limit), share(&r.Limit), r.Rule)
	for _, was := range d.RoleRates {
		if was.Role == r.Role && was.Old != nil && *was.Old < r.Limit {
			text += "; it was below before too, at " + apart(was.Old, r.Limit)
		}
	}
	return text
}

func (d kstrlDocument) warning(w kstrl.Warning) string {
	switch w.Rule {
	case kstrl.CrossModel:
		return fmt.Sprintf("the models differ, %s and %s: a difference may be theirs (%s)", orNone(d.oldModel), orNone(d.newModel), w.Rule)
	case kstrl.RoleNotExercised:
		return fmt.Sprintf("NEW has no fixture of role %s (%s)", w.Role, w.Rule)
	case kstrl.CategoryNotExercised:
		if w.Category != nil {
			return fmt.Sprintf("NEW has no fixture of category %s of role %s (%s)", *w.Category, w.Role, w.Rule)
		}
	}
	return strings.TrimSpace(fmt.Sprintf("%s %s", w.Rule, w.Role))
}

func orNone(name string) string {
	if name == "" {
		return "none"
	}
	return name
}

// share prints a number of [0, 1] as the tables do.
func share(v *float64) string {
	if v == nil {
		return "n/a"
	}
	return bare(*v, 2)
}

// apart prints a share with as many decimals as tell it from a limit: no tolerance
// is given here.
func apart(v *float64, limit float64) string {
	if v == nil {
		return "n/a"
	}
	const most = 17
	for decimals := 2; decimals < most; decimals++ {
		if text := bare(*v, decimals); text != bare(limit, decimals) {
			return text
		}
	}
	return bare(*v, most)
}

func bare(v float64, decimals int) string {
	text := strconv.FormatFloat(v, 'f', decimals, 64)
	if v < 0 || v >= 1 {
		return text
	}
	return strings.TrimPrefix(text, "0")
}
