package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/spf13/cobra"

	"github.com/youden-bench/youden/measurements/compare"
	"github.com/youden-bench/youden/measurements/report"
)

func (a *app) baselineCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "baseline",
		Short: "Distil captures into small files to commit and compare with",
		Long: `A baseline is one small JSON file: the counts of each case by its hash, and what they
were measured with, how complete the capture was, and the commit that is checked out in
the git repository around this folder, or else around the corpus. It stands in baselines/
and is meant to be committed. K = 20 runs for a baseline nearly double the power for small
families, and are paid once.`,
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
	if err := (output{flag: "--name", name: name}).check(dir, s.string("config")); err != nil {
		return err
	}
	subject, err := loadSubject(s, dir)
	if err != nil {
		return err
	}
	if subject.Kind == compare.FromCapture && subject.Commit == nil {
		subject.Commit = compare.CommitAt(".", corpusFolder(subject))
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
	fmt.Fprintf(a.out, "wrote %s: %s, K %d, grade %s, commit %s; commit it and let CI run: youden compare %s NEW\n",
		name, report.Scored(subject), subject.K, report.Plain(subject.Grade), report.Plain(shortCommit(subject)), name)
	if why := subject.Incomplete(compare.DefaultMaxErrorRate); why != "" {
		fmt.Fprintf(a.err, "youden: warning: the capture is incomplete, and the baseline says so: %s\n", report.Plain(why))
	}
	return nil
}

// corpusFolder is where the cases of a capture came from, "" when that is no place
// on this machine.
func corpusFolder(s *compare.Subject) string {
	if _, err := os.Stat(s.CorpusSource); err != nil {
		return ""
	}
	return s.CorpusSource
}

func shortCommit(s *compare.Subject) string {
	if s.Commit == nil {
		return "n/a"
	}
	return fmt.Sprintf("%.12s", *s.Commit)
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
			fmt.Fprint(a.out, report.Standing(subject, a.width))
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
				fmt.Fprint(a.out, report.Standing(subject, a.width))
			}
			return nil
		},
	}
}
