package main

import (
	"fmt"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/youden-bench/youden/measurements/compare"
	"github.com/youden-bench/youden/measurements/report"
)

func (a *app) noiseCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "noise DIR",
		Short: "How much runs disagree, and how often a comparison would raise a false alarm",
		Long: `Split the K runs of a capture into two halves, again and again, and compare the halves
(A/A): nothing changed, so every FAIL is a false alarm. No call is made. The noise floor
beside it counts the cases whose runs disagree; no rule derives from it.

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
			if err := tableOrJSON(s); err != nil {
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
			if s.string("format") == "json" {
				return a.json(n)
			}
			return a.printNoise(n)
		},
	}
	f := cmd.Flags()
	f.String("format", "table", "table or json")
	f.Uint64("seed", 0, "of the splits and the permutation tests")
	f.String("gates", "", "`FILE` with gates that may raise false alarms too, such as gates.toml")
	f.String("policy", "", "strict, class or region; empty = the capture's")
	f.String("view", "", "charge or exclude; empty = the capture's")
	return cmd
}

func tableOrJSON(s *settings) error {
	if format := s.string("format"); format != "table" && format != "json" {
		return fmt.Errorf("--format %q is unknown here; use table or json", format)
	}
	return nil
}

func (a *app) simulatedLine(simulated bool) {
	if simulated {
		fmt.Fprintln(a.out, "SIMULATED: a simulated endpoint answered; these numbers say nothing about a model")
	}
}

func (a *app) printNoise(n *compare.Noise) error {
	a.simulatedLine(n.Simulated)
	w := tabwriter.NewWriter(a.out, 0, 4, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "slice\tfamily\tcases\tfloor\tdisagreement\t")
	for _, r := range n.Families {
		fmt.Fprintf(w, "%s\t%s\t%d\t%d/%d\t%s\t\n", report.Plain(r.Slice), report.Plain(r.Family), r.Cases, r.Floor, r.FloorN, rate(r.Disagreement))
	}
	if err := w.Flush(); err != nil {
		return err
	}
	if n.Splits > 0 {
		fmt.Fprintf(a.out, "\nA/A over %d splits into halves of %d runs: FAIL %d, WARN %d, INCONCLUSIVE %d, PASS %d; false FAILs %s\n",
			n.Splits, n.Half, n.Verdicts[compare.Fail], n.Verdicts[compare.Warn], n.Verdicts[compare.Inconclusive], n.Verdicts[compare.Pass], rate(n.FalseFail))
	}
	if n.Gates != nil {
		if err := a.printGateNoise(n); err != nil {
			return err
		}
	}
	for _, text := range n.Warnings {
		fmt.Fprintf(a.out, "%s\n", report.Plain(text))
	}
	return nil
}

// printGateNoise prints how often each gate failed between the halves.
func (a *app) printGateNoise(n *compare.Noise) error {
	w := tabwriter.NewWriter(a.out, 0, 4, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "\ngate\tasked\tall runs\tfailed\tunsure\tfalse FAILs\t")
	for _, g := range n.Gates.Gates {
		fmt.Fprintf(w, "%s\t%s\t%s\t%d/%d\t%d/%d\t%s\t\n", report.Plain(g.Name), report.Plain(g.Asked), g.Whole,
			g.Outcomes[compare.GateFail]+g.Outcomes[compare.GateNoData], n.Splits, g.Outcomes[compare.GateUnsure], n.Splits, rate(g.FalseFail))
	}
	if err := w.Flush(); err != nil {
		return err
	}
	for _, g := range n.Gates.Gates {
		if g.Why != "" {
			fmt.Fprintf(a.out, "gate %q raises no false alarm: %s\n", report.Plain(g.Name), report.Plain(g.Why))
		}
	}
	fmt.Fprintf(a.out, "\nA/A of the gates: false FAILs of any gate %s; of gates or verdict, which is what CI would see, %s\n",
		rate(n.Gates.FalseFail), rate(n.Gates.Together))
	return nil
}

func (a *app) powerCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "power DIR|BASELINE",
		Short: "What a comparison could find, and whether more cases or more runs would help",
		Long: `Take from a capture or baseline how cases and runs share the variance, and say which drops a
comparison with it would find with 80 % power, what a given drop needs, and what share of
the variance more runs could still remove: below a tenth, buy cases and not runs.`,
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
	f.String("format", "table", "table or json")
	f.Int("new-runs", 0, "runs a side of the capture to compare; 0 = as many as here")
	f.Float64("churn", 0, "variance of the cases' true changes: 0 for the same detector, .05 for an edit that moves cases up and down")
	f.Float64Slice("drop", []float64{.05, .1, .2}, "`DROPS` of J to plan for")
	f.String("policy", "", "strict, class or region; empty = as planned")
	f.String("view", "", "charge or exclude; empty = as planned")
	return cmd
}

func (a *app) power(s *settings, name string) error {
	if err := tableOrJSON(s); err != nil {
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
	if s.string("format") == "json" {
		return a.json(p)
	}
	return a.printPower(p)
}

func (a *app) printPower(p *compare.Power) error {
	a.simulatedLine(p.Simulated)
	fmt.Fprintf(a.out, "%d pairs, K %d against K %d: the smallest overall drop found with 80 %% power is %s\n", p.Cases, p.OldK, p.NewK, rate(p.Detectable))
	fmt.Fprintf(a.out, "share of the variance that more runs could still remove: %s\n\n", rate(p.Removable))
	w := tabwriter.NewWriter(a.out, 0, 4, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "drop\tfound\tcases needed\truns needed\t")
	for _, d := range p.Drops {
		fmt.Fprintf(w, "%.2f\t%s\t%s\t%s\t\n", d.Drop, rate(d.Found), number(d.Cases), number(d.Runs))
	}
	if err := w.Flush(); err != nil {
		return err
	}
	fmt.Fprintln(a.out)
	for _, f := range p.Families {
		if f.Detectable == nil {
			fmt.Fprintf(a.out, "%s, %s: %d cases, no drop could be found\n", report.Plain(f.Slice), report.Plain(f.Family), f.Cases)
			continue
		}
		fmt.Fprintf(a.out, "%s, %s: %d cases, only a drop of %.2f or more would be found\n", report.Plain(f.Slice), report.Plain(f.Family), f.Cases, *f.Detectable)
	}
	for _, text := range p.Warnings {
		fmt.Fprintf(a.out, "%s\n", report.Plain(text))
	}
	return nil
}

func number(n *int) string {
	if n == nil {
		return "no number will do"
	}
	return fmt.Sprint(*n)
}
