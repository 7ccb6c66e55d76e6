package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/spf13/cobra"

	"github.com/youden-bench/youden/measurements/compare"
	"github.com/youden-bench/youden/measurements/kstrl"
	"github.com/youden-bench/youden/measurements/report"
)

func (a *app) exportCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "export PATH",
		Short: "Write a capture or baseline in another program's format",
		Long: `Write a capture or baseline as a version 2 file of the kstrl calibration suite: one
fixture a case from the runs of its vulnerable side, one negative from its fixed side.
Excused runs are errors there, charged ones misses and flags.`,
		Example: "  youden export captures/A --as kstrl-v2 > baseline.json",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := loadSettings(cmd)
			if err != nil {
				return err
			}
			if as := s.string("as"); as != "kstrl-v2" {
				return fmt.Errorf("--as %q is unknown; use kstrl-v2", as)
			}
			subject, err := loadSubject(s, args[0])
			if err != nil {
				return err
			}
			return compare.ToKSTRL(subject).Write(a.out)
		},
	}
	f := cmd.Flags()
	f.String("as", "kstrl-v2", "kstrl-v2")
	f.String("policy", "", "strict, class or region; empty = as planned")
	f.String("view", "", "charge or exclude; empty = as planned")
	return cmd
}

// kstrlFile reads a kstrl file, or turns a capture or baseline of ours into one.
func kstrlFile(s *settings, name string) (*kstrl.Baseline, error) {
	if compare.IsKSTRL(name) {
		return kstrl.Load(name, kstrl.Lenient)
	}
	subject, err := loadSubject(s, name)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	if err := compare.ToKSTRL(subject).Write(&b); err != nil {
		return nil, fmt.Errorf("%s as a kstrl file: %w", report.Plain(name), err)
	}
	return kstrl.Parse(name, b.Bytes(), kstrl.Lenient)
}

func (a *app) baselineCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "baseline",
		Short: "Distil captures into small files to commit and compare with",
		Long: `A baseline is one small JSON file: the counts of each case by its hash, and what they
were measured with. It stands in baselines/ and is meant to be committed. K = 20 runs for
a baseline nearly double the power for small families, and are paid once.`,
		Example: "  youden baseline set captures/A\n  youden baseline list",
	}
	group(cmd)
	cmd.AddCommand(a.baselineSet(), a.baselineShow(), a.baselineList())
	return cmd
}

func (a *app) baselineSet() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "set CAPTURE",
		Short:   "Distil a capture into a baseline file",
		Example: "  youden baseline set captures/A\n  youden baseline set captures/A --name nightly --force",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := loadSettings(cmd)
			if err != nil {
				return err
			}
			return a.setBaseline(s, args[0])
		},
	}
	f := cmd.Flags()
	f.String("name", "main", "`NAME` of the baseline")
	f.Bool("force", false, "replace a baseline of this name")
	f.String("policy", "", "strict, class or region; empty = as planned")
	f.String("view", "", "charge or exclude; empty = as planned")
	return cmd
}

func (a *app) setBaseline(s *settings, dir string) error {
	name, err := compare.Path(s.string("name"))
	if err != nil {
		return err
	}
	subject, err := loadSubject(s, dir)
	if err != nil {
		return err
	}
	text, err := compare.Baseline(s.string("name"), subject)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(compare.Folder, 0o755); err != nil { //nolint:gosec // it is committed
		return fmt.Errorf("making the folder of baselines: %w", err)
	}
	if _, err := os.Lstat(name); err == nil && !s.bool("force") {
		return fmt.Errorf("%s is there already; choose another --name, or replace it with --force", name)
	}
	if err := replaceFile(name, text); err != nil {
		return err
	}
	fmt.Fprintf(a.out, "wrote %s: %d cases, K %d, grade %s; commit it and let CI run: youden compare %s NEW\n", name, len(subject.Cases), subject.K, subject.Grade, name)
	return nil
}

// replaceFile writes a file whole or not at all.
func replaceFile(name string, text []byte) error {
	temporary := name + ".new"
	if err := os.WriteFile(temporary, text, 0o644); err != nil { //nolint:gosec // it is committed
		return fmt.Errorf("writing %s: %w", name, errors.Join(err, os.Remove(temporary)))
	}
	if err := os.Rename(temporary, name); err != nil {
		return fmt.Errorf("writing %s: %w", name, err)
	}
	return nil
}

func (a *app) baselineShow() *cobra.Command {
	return &cobra.Command{
		Use:     "show NAME|FILE",
		Short:   "Print what a baseline was measured with, and its numbers",
		Example: "  youden baseline show main",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			name := args[0]
			if file, err := compare.Path(name); err == nil {
				if _, err := os.Stat(file); err == nil {
					name = file
				}
			}
			subject, err := compare.Load(name, "", "")
			if err != nil {
				return err
			}
			a.describe(subject)
			return nil
		},
	}
}

func (a *app) baselineList() *cobra.Command {
	return &cobra.Command{
		Use:   "list",
		Short: "List the baselines of this folder",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			entries, err := os.ReadDir(compare.Folder)
			if errors.Is(err, fs.ErrNotExist) || err == nil && len(entries) == 0 {
				fmt.Fprintln(a.out, "no baselines here; make one with: youden baseline set CAPTURE")
				return nil
			}
			if err != nil {
				return err
			}
			for _, e := range entries {
				subject, err := compare.Load(compare.Folder+"/"+e.Name(), "", "")
				if err != nil {
					fmt.Fprintf(a.out, "%s: %s\n", report.Plain(e.Name()), report.Plain(err.Error()))
					continue
				}
				a.describe(subject)
			}
			return nil
		},
	}
}

// describe prints a subject in a few lines.
func (a *app) describe(s *compare.Subject) {
	simulated := ""
	if s.Simulated {
		simulated = ", SIMULATED"
	}
	fmt.Fprintf(a.out, "%s: capture %s of %s, grade %s%s\n", report.Plain(s.Name), report.Plain(s.ID), s.Date.UTC().Format("2006-01-02"), report.Plain(s.Grade), simulated)
	fmt.Fprintf(a.out, "  detector %s (%.8s), model %s, K %d, split %s, policy %s, view %s\n",
		report.Plain(s.Detector.Name), report.Plain(s.Detector.Hash), report.Plain(s.Endpoint.Model), s.K, report.Plain(s.Split), s.Policy, s.View)
	fmt.Fprintf(a.out, "  %s\n", report.Standing(s))
}
