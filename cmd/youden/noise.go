package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/youden-bench/youden/measurements/compare"
	"github.com/youden-bench/youden/measurements/report"
)

func (a *app) noiseCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "noise DIR",
		Short: "How much runs disagree, and how often a comparison would raise a false alarm",
		Long: `Split the K runs of a capture into two halves, again and again, and compare the halves
(A/A): nothing changed, so every FAIL is a false alarm. No call is made. It takes a capture,
with 4 runs or more: a baseline keeps no single run. The noise floor beside it counts the
cases whose runs disagree; no rule derives from it.

With --gates, the halves are also held against the gates of a file, apart from the verdict
and together with it. A gate that fails on all runs of the capture as well raises no false
alarm: it asks for what the detector does not reach.`,
		Example: "  youden noise captures/A\n  youden noise captures/A --gates gates.toml",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := loadSettings(cmd)
			if err != nil {
				return err
			}
			format, err := pageFormat(s)
			if err != nil {
				return err
			}
			policy, view, err := s.policyAndView("", "")
			if err != nil {
				return err
			}
			o := compare.Options{Seed: s.seed()}
			if o.Gates, err = a.readGates(s); err != nil {
				return err
			}
			n, err := compare.MeasureNoise(args[0], policy, view, s.seed(), o)
			if err != nil {
				return err
			}
			if format == report.JSON {
				err = a.json(n)
			} else {
				var text string
				text, err = report.Noise(n, format, a.width)
				err = a.printPage(text, err)
			}
			if err == nil && n.Splits == 0 && s.string("gates") != "" {
				return &exitError{code: exitInconclusive} // the output says why no gate was tried
			}
			return err
		},
	}
	f := cmd.Flags()
	f.String("format", "table", "table, markdown or json")
	f.Uint64("seed", 0, "of the splits and the permutation tests")
	f.String("gates", "", "`FILE` with gates that may raise false alarms too, such as gates.toml")
	f.String("policy", "", "strict, class or region; empty = the capture's")
	f.String("view", "", "charge or exclude; empty = the capture's")
	return cmd
}

// pageFormat reads --format where there is no table of captures, which CSV is for.
func pageFormat(s *settings) (report.Format, error) {
	format, err := report.ParseFormat(s.string("format"))
	if err != nil || format == report.CSV {
		return "", fmt.Errorf("--format %q is unknown here; use table, markdown or json", s.string("format"))
	}
	return format, nil
}

func (a *app) printPage(text string, err error) error {
	if err != nil {
		return err
	}
	_, err = fmt.Fprint(a.out, text)
	return err
}

func (a *app) powerCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "power DIR|BASELINE",
		Short: "What a comparison could find, and whether more cases or more runs would help",
		Long: `Take from a capture or baseline how cases and runs share the variance, and say which drops a
comparison with it would find with 80 % power, what a given drop needs, and what share of
the variance more runs could still remove: below a tenth, buy cases and not runs.

The capture or baseline is the OLD of that comparison and keeps its runs; --new-runs are
those of NEW. "ruled out" is what --mode noninferior of compare could show instead.`,
		Example: "  youden power captures/A\n  youden power baselines/main.json --new-runs 20 --drop 0.05,0.1",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := loadSettings(cmd)
			if err != nil {
				return err
			}
			return a.power(s, args[0])
		},
	}
	f := cmd.Flags()
	f.String("format", "table", "table, markdown or json")
	f.Int("new-runs", 0, "runs a side of NEW, the capture to compare; 0 = as many as here")
	f.Float64("churn", 0, "variance of the cases' true changes: 0 for the same detector, .05 for an edit that moves cases up and down")
	f.Float64Slice("drop", []float64{.05, .1, .2}, "`DROPS` of J to plan for")
	f.Lookup("drop").DefValue = ".05,.10,.20" // as people write it
	f.String("policy", "", "strict, class or region; empty = as planned")
	f.String("view", "", "charge or exclude; empty = as planned")
	return cmd
}

func (a *app) power(s *settings, name string) error {
	format, err := pageFormat(s)
	if err != nil {
		return err
	}
	drops, err := s.flags.GetFloat64Slice("drop")
	if err != nil {
		return err
	}
	for _, d := range drops {
		if !(d > 0 && d <= 2) {
			return fmt.Errorf("--drop %v: a drop of J lies above 0 and is at most 2", d)
		}
	}
	if churn := s.float("churn"); !(churn >= 0 && churn <= 4) {
		return fmt.Errorf("--churn %v: a variance of differences lies between 0 and 4", churn)
	}
	if n := s.int("new-runs"); n < 0 || n > 1000 {
		return fmt.Errorf("--new-runs %d: use 1 to 1000, or 0 for as many as here", n)
	}
	subject, err := loadSubject(s, name)
	if err != nil {
		return err
	}
	runs := s.int("new-runs")
	if runs == 0 {
		runs = subject.K
	}
	p := compare.MeasurePower(subject, runs, s.float("churn"), drops)
	if format == report.JSON {
		return a.json(p)
	}
	text, err := report.Power(p, format, a.width)
	return a.printPage(text, err)
}
