package main

import (
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/youden-bench/youden/measurements/compare"
	"github.com/youden-bench/youden/measurements/report"
)

func (a *app) compareCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "compare OLD NEW",
		Short: "Say whether a capture got worse than another one; the exit code is for CI",
		Long: `Compare two captures, baseline files (youden baseline set) or kstrl files, in any mix.

Cases are paired by their hashes, and only those that both scored are averaged. A
verdict is PASS (exit 0), WARN (0), FAIL (1), INCONCLUSIVE (3) or INCOMPARABLE (4). A NEW
that is unrun or partial, or that lost more than --max-error-rate of its dispatched runs to
endpoint or network, exits with 5 whatever the verdict. FAIL says that the detector got
worse in general, not only on these cases; WARN that it got worse on these. Beside every
PASS stands the smallest drop that would have been found.

--gates adds thresholds of your own: a TOML file with version = 1 and [[gate]] tables of name,
metric (recall.lo, delta.j.hi, error_rate and more), where (slice, family, cases; else all)
and one of min, max, margin and min_pass. The README has an example.

--rules kstrl applies the thresholds of the kstrl calibration suite instead.`,
		Example: `  youden compare baselines/main.json captures/A
  youden compare captures/A captures/B --format markdown >> "$GITHUB_STEP_SUMMARY"
  youden compare baselines/main.json captures/A --junit report.xml --gates gates.toml
  youden compare baselines/main.json --self-test`,
		Args: cobra.RangeArgs(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := loadSettings(cmd)
			if err != nil {
				return err
			}
			return a.compare(s, args)
		},
	}
	f := cmd.Flags()
	f.String("format", "table", "table, markdown, json or csv")
	f.String("rules", "default", "default or kstrl")
	f.String("mode", "regression", "regression: a drop must be shown to fail; noninferior: its absence must be shown to pass")
	f.String("vary", "", "what the comparison is about: model, detector or params; all else must be the same")
	f.StringSlice("slice", nil, "`SLICES` that decide; empty = all")
	f.String("require-grade", "", "lowest evidence grade of both sides, such as E3")
	f.Float64("max-error-rate", compare.DefaultMaxErrorRate, "highest share of NEW's runs lost to the endpoint")
	f.String("gates", "", "`FILE` with gates that must hold besides, such as gates.toml")
	f.String("junit", "", "also write JUnit XML to `FILE`")
	f.String("policy", "", "strict, class or region; empty = as planned")
	f.String("view", "", "charge or exclude; empty = as planned")
	f.Uint64("seed", 0, "of the permutation tests")
	f.Bool("self-test", false, "plant regressions in a copy of OLD: the gravest must fail")
	return cmd
}

func (a *app) compare(s *settings, args []string) error {
	format, err := report.ParseFormat(s.string("format"))
	if err != nil {
		return err
	}
	options, err := compareOptions(s)
	if err != nil {
		return err
	}
	if _, err := gatesFile(s); err != nil {
		return err
	}
	switch rules := s.string("rules"); {
	case rules != "default" && rules != "kstrl":
		return fmt.Errorf("--rules %q is unknown; use default or kstrl", rules)
	case s.bool("self-test") && len(args) == 1 && rules == "default":
		return a.selfTest(s, args[0], options)
	case len(args) != 2:
		return errors.New("compare needs OLD and NEW: two captures, baselines or kstrl files")
	case rules == "kstrl":
		return a.compareKSTRL(s, args[0], args[1], format)
	}
	if s.bool("self-test") && format == report.CSV {
		return errors.New("--self-test is no row of a comparison: use --format table, markdown or json")
	}
	if err := checkJUnit(s.string("junit"), append(args, s.string("gates"), s.string("config"))...); err != nil {
		return err
	}
	before, after, err := loadBoth(s, args[0], args[1])
	if err != nil {
		return err
	}
	if err := options.Check(before, after); err != nil {
		return fmt.Errorf("--slice: %w", err)
	}
	if options.Gates, err = a.gates(s, before, after); err != nil {
		return err
	}
	c := compare.Compare(before, after, options)
	if s.bool("self-test") {
		t := compare.RunSelfTest(before, options)
		c.SelfTest = &t
	}
	if err := a.printComparison(s, c, format); err != nil {
		return err
	}
	if c.SelfTest == nil {
		return compareExit(c)
	}
	if format != report.JSON { // which has it already
		a.printSelfTest(before, *c.SelfTest, options)
	}
	return graver(compareExit(c), selfTestExit(*c.SelfTest))
}

// gatesFile is --gates. One that was given and names nothing is a mistake, such as a
// variable that is not set: nothing would be held against anything.
func gatesFile(s *settings) (string, error) {
	file := s.string("gates")
	if from := s.origin["gates"]; file == "" && from != "default" {
		return "", fmt.Errorf("--gates (from %s) names no file; name one, such as gates.toml, or leave it out", from)
	}
	return file, nil
}

// gates reads --gates and refuses those that data of this shape could never pass,
// or never fail, before anything is judged.
func (a *app) gates(s *settings, before, after *compare.Subject) (compare.Gates, error) {
	file, err := gatesFile(s)
	if file == "" {
		return compare.Gates{}, err
	}
	gates, err := compare.LoadGates(file) // those that are added are marked in every format
	if err != nil {
		return gates, err
	}
	return gates, gates.Check(compare.ShapeOf(after).Against(before))
}

// readGates reads --gates, of which there are none without a file, and says which
// ones were added.
func (a *app) readGates(s *settings) (compare.Gates, error) {
	file, err := gatesFile(s)
	if file == "" {
		return compare.Gates{}, err
	}
	gates, err := compare.LoadGates(file)
	for _, note := range gates.Notes() {
		fmt.Fprintf(a.err, "youden: %s\n", report.Plain(note))
	}
	return gates, err
}

func compareOptions(s *settings) (compare.Options, error) {
	rate := s.float("max-error-rate")
	o := compare.Options{
		Mode: compare.Mode(s.string("mode")), Vary: compare.Vary(s.string("vary")), Slices: s.list("slice"), Seed: s.seed(),
		MaxErrorRate: &rate, RequireGrade: s.string("require-grade"),
	}
	switch o.Mode {
	case compare.Regression, compare.NonInferior:
	default:
		return o, fmt.Errorf("--mode %q is unknown; use regression or noninferior", o.Mode)
	}
	switch o.Vary {
	case "", compare.VaryModel, compare.VaryDetector, compare.VaryParams:
	default:
		return o, fmt.Errorf("--vary %q is unknown; use model, detector or params", o.Vary)
	}
	if !(rate >= 0 && rate <= 1) {
		return o, fmt.Errorf("--max-error-rate %v: a share of runs lies between 0 and 1", rate)
	}
	if g := o.RequireGrade; g != "" && !compare.KnownGrade(g) {
		return o, fmt.Errorf("--require-grade %q is unknown; use E0 to E5", g)
	}
	return o, nil
}

func loadSubject(s *settings, name string) (*compare.Subject, error) {
	policy, view, err := s.policyAndView("", "")
	if err != nil {
		return nil, err
	}
	return compare.Load(name, policy, view)
}

func loadBoth(s *settings, before, after string) (*compare.Subject, *compare.Subject, error) {
	policy, view, err := s.policyAndView("", "")
	if err != nil {
		return nil, nil, err
	}
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(compare.Memory)
	}
	return compare.LoadBoth(before, after, policy, view)
}

func (a *app) printComparison(s *settings, c *compare.Comparison, format report.Format) error {
	text, err := report.Comparison(c, format, a.width)
	if err != nil {
		return err
	}
	fmt.Fprint(a.out, text)
	return writeJUnit(s.string("junit"), c)
}

// compareExit turns a verdict into an exit code; the output has said why.
func compareExit(c *compare.Comparison) error {
	if c.New.Incomplete != "" {
		return &exitError{code: exitIncomplete}
	}
	return verdictExit(c.Verdict)
}

func verdictExit(v compare.Verdict) error {
	code := map[compare.Verdict]int{
		compare.Fail: exitRegression, compare.Inconclusive: exitInconclusive, compare.Incomparable: exitIncomparable,
	}[v]
	if code == exitPass {
		return nil
	}
	return &exitError{code: code}
}

// graver is the error whose exit code goes before the other's.
func graver(a, b error) error {
	order := []int{exitPass, exitInconclusive, exitRegression, exitIncomparable, exitIncomplete}
	if slices.Index(order, exitCode(b)) > slices.Index(order, exitCode(a)) {
		return b
	}
	return a
}

func (a *app) selfTest(s *settings, name string, o compare.Options) error {
	if err := onlySelfTest(s); err != nil {
		return err
	}
	subject, err := loadSubject(s, name)
	if err != nil {
		return err
	}
	t := compare.RunSelfTest(subject, o)
	a.printSelfTest(subject, t, o)
	return selfTestExit(t)
}

// onlySelfTest refuses what a self-test without a NEW would leave undone.
func onlySelfTest(s *settings) error {
	var left []string
	for _, name := range []string{"format", "gates", "junit"} {
		if f := s.flags.Lookup(name); f.Value.String() != f.DefValue {
			left = append(left, fmt.Sprintf("--%s (from %s)", name, s.origin[name]))
		}
	}
	if len(left) == 0 {
		return nil
	}
	return fmt.Errorf("--self-test without NEW prints what would be caught, and nothing else: leave out %s, or name NEW", strings.Join(left, ", "))
}

// printSelfTest prints what would be caught.
func (a *app) printSelfTest(s *compare.Subject, t compare.SelfTest, o compare.Options) {
	fmt.Fprintf(a.out, "self-test against %s: a detector that finds nothing any more is %s\n", report.Plain(s.Name), t.Whole)
	for _, f := range t.Families {
		fmt.Fprintf(a.out, "  %s, %s alone (n = %d): %s\n", report.Plain(f.Slice), report.Plain(f.Family), f.Cases, f.Verdict)
	}
	fmt.Fprintf(a.out, "each loss is planted in a copy whose runs are drawn anew by OLD's rates (--seed %d): one draw each, where `youden power` gives the odds\n", o.Seed)
	if n := t.Untested(); n > 0 {
		fmt.Fprintf(a.out, "untested families, of fewer than 3 cases: %d; no loss in one of them alone would be found: cases of your own would help, and so would --split all, which opens the sealed holdout\n", n)
	}
}

// selfTestExit fails a comparison that lets a detector pass which finds nothing any
// more.
func selfTestExit(t compare.SelfTest) error {
	if t.Passes() {
		return nil
	}
	return &exitError{exitRegression, errors.New("the self-test failed: with these data not even the gravest regression would be caught")}
}
