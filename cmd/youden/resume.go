package main

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/youden-bench/youden/bench"
)

func (a *app) resumeCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "resume DIR",
		Short: "Go on where a capture stopped",
		Long: `Go on with an interrupted or partial capture. Answers in its ledger are not asked
for again; runs that were never sent, or that were lost to the endpoint, are. The
corpus and the detector must be what they were when the capture began.

Its caps are those of the capture as a whole: what was spent before counts, also that
of calls whose answer never came. A capture that a cap stopped needs a larger one.

Of a capture --against, the runs that are recovered may change what is suspected. Fresh
runs that were made stay and are counted as spent; what is suspected anew gets some too,
and what is suspected no longer is not judged by its own. A look that was passed stays
passed.

A capture keeps the --gates that it began with. Where their file has changed since, it is
refused until --gates says again which to take.`,
		Example: `  youden resume captures/20261130T091500Z-oneshot-7f3a
  youden resume --max-cost 5 captures/20261130T091500Z-oneshot-7f3a
  youden resume --rerun-errors captures/20261130T091500Z-oneshot-7f3a
  youden resume --indeterminate retry captures/20261130T091500Z-oneshot-7f3a`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := loadSettings(cmd)
			if err != nil {
				return err
			}
			view, err := a.newView(s)
			if err != nil {
				return err
			}
			dir := args[0]
			req, err := bench.RequestOf(dir)
			if err != nil {
				return err
			}
			if err := s.checkAgainst(req.Against); err != nil {
				return err
			}
			if err := s.regate(&req); err != nil {
				return err
			}
			if err := checkJUnit(view.junit, dir, req.Against, req.Gates, s.string("config")); err != nil {
				return err
			}
			if cmd.Flags().Changed("concurrency") {
				req.Concurrency = s.int("concurrency")
			}
			if policy := s.string("indeterminate"); policy != "" {
				req.Indeterminate = policy
			}
			if err := s.limit(&req); err != nil {
				return err
			}
			job, err := bench.Prepare(req, programs(), filepath.Dir(filepath.Clean(dir)), "resume")
			if errors.Is(err, fs.ErrNotExist) {
				return fmt.Errorf("%w; files are named as from the folder where the capture began: resume it there", err)
			}
			if err != nil {
				return err
			}
			if s.bool("rerun-errors") {
				n, err := job.RerunErrors(dir)
				if err != nil {
					return err
				}
				fmt.Fprintf(a.err, "asking again for %d runs that were lost to the endpoint\n", n)
			}
			return a.execute(view, req, func(watch bench.Watch) (bench.Outcome, error) {
				return job.Resume(cmd.Context(), dir, a.stop, watch)
			})
		},
	}
	f := cmd.Flags()
	f.Int("concurrency", bench.DefaultConcurrency, "runs under way at once; default: as the capture began")
	f.Bool("rerun-errors", false, "ask again only for runs that were lost to the endpoint; what was never sent stays unsent")
	onCommandLineOnly(f, "rerun-errors")
	f.String("indeterminate", "", "calls whose fate a crash left open: retry (may pay twice) or stop; empty = as the capture began")
	f.String("gates", "", "`FILE` with gates to take in the place of those that the capture began with; empty = these")
	f.String("junit", "", "of a capture --against: also write the comparison as JUnit XML to `FILE`")
	addCapFlags(f, "empty = as the capture began, none = no cap")
	f.String("format", "table", "table, markdown, json or csv")
	f.String("progress", "auto", "auto, bar, plain, json or none")
	return cmd
}

// regate puts the gates of the command line in the place of those that the capture
// began with. A file of settings that has some says nothing of this capture.
func (s *settings) regate(req *bench.Request) error {
	if s.origin["gates"] != "flag" {
		return nil
	}
	file, err := gatesFile(s)
	req.Gates, req.GatesHash = file, ""
	return err
}
