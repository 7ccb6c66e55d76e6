package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/youden-bench/youden/bench"
	"github.com/youden-bench/youden/bench/proof"
	"github.com/youden-bench/youden/corpus"
	"github.com/youden-bench/youden/measurements/report"
)

func (a *app) proveCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "prove [PATH]",
		Short: "Run both sides of the pairs that carry a proof: the exploit must work on one side only",
		Long: `Run the proofs of a corpus. The harness in a case's proof/ sends an exploit and a
benign input into either side. The exploit must bring back a random token from where
it may not be read on the vulnerable side and must not on the fixed side; the benign
input must bring it back from where it may be read, on both.

It runs with python3, node and go as they are on this machine. What is missing is
named, skipped and counted, and the exit code is then 5; a proof that fails is 1.
Nothing is scored and no holdout opened.

All embedded proofs take one to four minutes on two cores, with --self-test twice that.

The code of the corpus runs with your rights; of your environment it is passed PATH alone,
and what it starts ends with it unless it detaches itself. The embedded cases
are ours; for a corpus at PATH say --trust, on the command line, once you have read its
proofs.`,
		Example: `  youden corpus prove
  youden corpus prove --family path --self-test
  youden corpus prove ./my-cases --trust --format json`,
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := loadSettings(cmd)
			if err != nil {
				return err
			}
			dir, err := s.corpusPath(args)
			if err != nil {
				return err
			}
			return a.prove(cmd.Context(), s, dir)
		},
	}
	f := cmd.Flags()
	f.String("corpus", "", "`PATH` of a corpus; empty = the embedded cases")
	f.Bool("trust", false, "run the code of a corpus at PATH on this machine; on the command line only")
	onCommandLineOnly(f, "trust")
	f.StringSlice("family", nil, "only these `FAMILIES`")
	f.StringSlice("case", nil, "only these case `IDS`")
	f.Bool("self-test", false, "also exchange the sides of each pair and demand that the proof then fails")
	f.Duration("timeout", time.Minute, "of one run of a harness")
	f.Int("concurrency", runtime.NumCPU(), "cases at once, at most one a CPU")
	f.String("format", "table", "table or json")
	f.String("progress", "auto", "none = no line a case on stderr")
	return cmd
}

func (a *app) prove(ctx context.Context, s *settings, dir string) error {
	format := s.string("format")
	if format != "table" && format != "json" {
		return fmt.Errorf("--format %q is unknown here; use table or json", format)
	}
	if n := s.int("concurrency"); n < 1 {
		return fmt.Errorf("--concurrency %d: use a number above 0", n)
	}
	if d := s.duration("timeout"); d <= 0 || d > proof.MaxTimeout {
		return fmt.Errorf("--timeout %s: use a time above 0 and of at most %s, such as 30s", d, proof.MaxTimeout)
	}
	if !bench.IsEmbedded(dir) && !s.bool("trust") {
		return fmt.Errorf("proving runs the code in %s with your rights; read its %s/ directories and say --trust", report.Plain(dir), corpus.ProofDir)
	}
	c, err := bench.LoadCorpus(dir)
	if err != nil {
		return err
	}
	cases, err := bench.Request{Families: s.list("family"), Cases: s.list("case")}.Filter(c.Cases)
	if err != nil {
		return err
	}
	if len(cases) == 0 {
		return fmt.Errorf("no case is of the families (%s: %s) and among the cases (%s: %s) at once",
			s.origin["family"], strings.Join(s.list("family"), ", "), s.origin["case"], strings.Join(s.list("case"), ", "))
	}
	todo := 0
	for _, k := range cases {
		if k.Proof != nil {
			todo++
		}
	}
	if todo == 0 {
		return fmt.Errorf("none of the %d cases carries a proof; fixtures/PROOFS.md says how to write one", len(cases))
	}
	ctx, cancel := a.untilStopped(ctx)
	defer cancel()
	done := 0
	results, err := proof.Run(ctx, cases, proof.Options{
		Timeout: s.duration("timeout"), Concurrency: min(s.int("concurrency"), runtime.NumCPU()), SelfTest: s.bool("self-test"),
		Done: func(r proof.Result) {
			if done++; r.Status == proof.Skipped || s.string("progress") == "none" {
				return
			}
			fmt.Fprintf(a.err, "%d/%d %s %s\n", done, todo, r.Status, report.Plain(r.Case))
		},
	})
	switch {
	case errors.Is(err, context.Canceled):
		return &exitError{exitInterrupted, errors.New("interrupted; nothing was kept, run it again")}
	case err != nil:
		return err
	}
	return a.proofs(results, format)
}

// untilStopped returns a context that the first interrupt ends: a proof has paid
// for nothing and cleans up after itself.
func (a *app) untilStopped(ctx context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancel(ctx)
	a.busy.Store(true)
	go func() {
		select {
		case <-a.stop:
			cancel()
		case <-ctx.Done():
		}
	}()
	return ctx, func() {
		cancel()
		a.busy.Store(false)
	}
}

// proofs prints the results; a failure is exit code 1, a skip 5.
func (a *app) proofs(results []proof.Result, format string) error {
	count := map[proof.Status]int{}
	missing := map[string]int{}
	for _, r := range results {
		count[r.Status]++
		if r.Status == proof.Skipped {
			missing[r.Reason]++
		}
	}
	if format == "json" {
		if err := a.json(map[string]any{"schema": "youden.proof/1", "proved": count[proof.Proved], "failed": count[proof.Failed],
			"skipped": count[proof.Skipped], "proofs": results}); err != nil {
			return err
		}
	} else if err := a.proofTable(results, count, missing); err != nil {
		return err
	}
	switch {
	case count[proof.Failed] > 0:
		return &exitError{code: exitRegression}
	case count[proof.Skipped] > 0:
		return &exitError{code: exitIncomplete}
	}
	return nil
}

func (a *app) proofTable(results []proof.Result, count map[proof.Status]int, missing map[string]int) error {
	w := tabwriter.NewWriter(a.out, 0, 4, 2, ' ', 0)
	fmt.Fprintln(w, "case\tfamily\truns with\tproof")
	for _, r := range results {
		said := string(r.Status)
		if r.Swapped == proof.Failed {
			said += ", and not with its sides exchanged"
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", report.Plain(r.Case), report.Plain(r.Family), r.Tool, said)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	for _, r := range results {
		if r.Status == proof.Failed {
			fmt.Fprintf(a.out, "\n%s: %s\n", report.Plain(r.Case), report.Lines(r.Reason))
		}
	}
	fmt.Fprintf(a.out, "\n%d proved, %d failed, %d skipped\n", count[proof.Proved], count[proof.Failed], count[proof.Skipped])
	for _, reason := range slices.Sorted(maps.Keys(missing)) {
		fmt.Fprintf(a.out, "%d proofs were not run and say nothing: %s\n", missing[reason], report.Lines(reason))
	}
	return nil
}
