package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/youden-bench/youden/bench"
	"github.com/youden-bench/youden/measurements"
	"github.com/youden-bench/youden/measurements/report"
)

func (a *app) showCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "show DIR...",
		Short: "Print the table of captures again, by family, slice, case or run",
		Example: `  youden show captures/20261130T091500Z-oneshot-7f3a
  youden show --by case --format csv captures/A
  youden show captures/A captures/B`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, dirs []string) error {
			s, err := loadSettings(cmd)
			if err != nil {
				return err
			}
			format, err := report.ParseFormat(s.string("format"))
			if err != nil {
				return err
			}
			by, err := report.ParseBy(s.string("by"))
			if err != nil {
				return err
			}
			var summaries []measurements.Summary
			for _, dir := range dirs {
				if info, err := os.Stat(dir); err == nil && !info.IsDir() && len(dirs) > 1 {
					fmt.Fprintf(a.err, "youden: %s is no directory and no capture; passed over\n", report.Plain(dir))
					continue
				}
				c, err := measurements.Open(dir)
				if err != nil {
					return err
				}
				m := c.Manifest()
				policy, view, err := s.policyAndView(m.Plan.Policy, m.Plan.View)
				if err != nil {
					return err
				}
				summary, err := c.Summary(policy, view)
				if err == nil && by.NeedsRuns() {
					summary.Runs, err = c.LoadRuns()
				}
				if err != nil {
					return err
				}
				summaries = append(summaries, summary)
			}
			return a.write(format, report.Options{By: by}, summaries...)
		},
	}
	f := cmd.Flags()
	f.String("format", "table", "table, markdown, json or csv")
	f.String("by", "family", "family, slice, case or run")
	f.String("policy", "", "strict, class or region; empty = the capture's")
	f.String("view", "", "charge or exclude; empty = the capture's")
	return cmd
}

// policyAndView reads --policy and --view; empty means as the capture has them.
func (s *settings) policyAndView(policy measurements.Policy, view measurements.View) (measurements.Policy, measurements.View, error) {
	var err error
	if word := s.string("policy"); word != "" {
		if policy, err = measurements.ParsePolicy(word); err != nil {
			return "", "", fmt.Errorf("--policy: %w", err)
		}
	}
	if word := s.string("view"); word != "" {
		if view, err = measurements.ParseView(word); err != nil {
			return "", "", fmt.Errorf("--view: %w", err)
		}
	}
	return policy, view, nil
}

func (a *app) scoreCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "score DIR",
		Short: "Score stored answers again, no call made",
		Long: `Judge the stored findings of a capture again with this version's scorer and
taxonomy, under the policy and view given, and print the table. The capture is
left as it is. Cases that the corpus no longer has, or that have changed since,
are named and have no number.`,
		Example: `  youden score captures/A
  youden score --policy strict captures/A`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := loadSettings(cmd)
			if err != nil {
				return err
			}
			return a.score(s, args[0])
		},
	}
	f := cmd.Flags()
	f.String("corpus", "", "`PATH` of the corpus; empty = the one the capture names")
	f.String("format", "table", "table, markdown, json or csv")
	f.String("policy", "", "strict, class or region; empty = the capture's")
	f.String("view", "", "charge or exclude; empty = the capture's")
	return cmd
}

func (a *app) score(s *settings, dir string) error {
	format, err := report.ParseFormat(s.string("format"))
	if err != nil {
		return err
	}
	c, scored, err := bench.Rescore(dir, s.string("corpus"))
	if err != nil {
		return err
	}
	m := c.Manifest()
	policy, view, err := s.policyAndView(m.Plan.Policy, m.Plan.View)
	if err != nil {
		return err
	}
	if err := a.write(format, report.Options{}, scored.Summary(m, policy, view)); err != nil {
		return err
	}
	fmt.Fprintf(a.err, "%d runs judged again under policy %s, view %s; this version's rules and labels change the outcome of %d\n", len(scored.Runs), policy, view, scored.Changed)
	for _, l := range scored.Left {
		fmt.Fprintf(a.err, "not judged: %s/%s, %d runs: %s\n", report.Plain(l.Slice), report.Plain(l.ID), l.Runs, l.Reason)
	}
	return nil
}
