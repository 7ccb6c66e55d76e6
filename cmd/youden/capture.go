package main

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/youden-bench/youden/bench"
	"github.com/youden-bench/youden/detector"
	"github.com/youden-bench/youden/measurements"
	"github.com/youden-bench/youden/measurements/report"
)

// capturesFolder is where captures go unless --out says otherwise.
const capturesFolder = "captures"

func (a *app) captureCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "capture",
		Short: "Run K runs of a detector over a corpus, print the table, write a capture",
		Long: `Run a detector K times on each side of each case, score the runs and write a
capture: capture.json, four Parquet files and the ledger of all calls.

Without any flag: the detector "oneshot", K = 5, the train split of the embedded
cases, on the embedded simulated endpoint. Each finished call is on disk before
it counts; an interrupted capture goes on with "youden resume DIR".

With --against the capture is compared with a baseline while it grows: it looks at 2
runs a side and stops when the answer is clear, looks again at 5, and gives families
that look worse then 10 fresh runs a side that confirm or clear them. The exit code is
that of "youden compare", and the false alarms are as rare.

--gates holds the capture against a file of thresholds (see "youden compare"): they are
checked against the plan before anything is sent, and judged at the end. Gates on a
difference need --against. With gates a look ends the capture early on FAIL only, never
because all is well: a gate wants all runs.

--max-cost, --max-calls, --max-tokens and --max-time bound what the capture may come to:
before a call is sent the most that it can come to is set aside, and it is refused when
that would cross a cap. The capture then ends with exit code 6, and goes on with
"youden resume DIR" and a larger cap. An endpoint on another machine needs a cap, or
--yes. --dry-run prints what the plan may come to and sends nothing.`,
		Example: `  youden capture
  youden capture --detector control:always
  youden capture --endpoint deepseek --runs 5 --family injection --max-cost 2.50
  youden capture --corpus ./my-cases --endpoint http://127.0.0.1:8080/v1 --model qwen3
  youden capture --against baselines/main.json --gates gates.toml
  youden capture --dry-run --print-config`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			s, err := loadSettings(cmd)
			if err != nil {
				return err
			}
			return a.capture(cmd.Context(), s)
		},
	}
	f := cmd.Flags()
	addCaptureFlags(f)
	a.completeCapture(cmd)
	return cmd
}

func addCaptureFlags(f *pflag.FlagSet) {
	f.String("corpus", "", "`PATH` of a corpus; empty = the embedded cases")
	f.String("detector", "oneshot", "embedded `NAME` or directory of a detector")
	f.String("endpoint", bench.SimulatorName, "`NAME` from [endpoint.NAME] in youden.toml, or a URL")
	f.String("model", "", "`NAME` of the model; empty = the endpoint's")
	f.Int("runs", 5, "`K`, runs of each side")
	f.Uint64("seed", 1, "seed of the order and of the requests")
	f.String("split", "train", "train, holdout or all; anything but train opens the sealed holdout")
	f.StringSlice("family", nil, "only these families")
	f.StringSlice("slice", nil, "only these slices")
	f.StringSlice("case", nil, "only these cases")
	f.Int("limit", 0, "at most `N` cases; 0 = all")
	f.Int("concurrency", bench.DefaultConcurrency, "runs under way at once")
	f.String("indeterminate", "", "calls whose fate a crash left open: retry (may pay twice) or stop; empty = retry on simulated endpoints only")
	addCapFlags(f, "empty = no cap")
	f.Float64("max-error-rate", 0.05, "highest share of runs lost to the endpoint")
	f.String("policy", string(measurements.Class), "what counts as silence: strict, class or region")
	f.String("view", string(measurements.Charge), "what charged failures do: charge or exclude")
	f.String("against", "", "baseline `FILE` or capture to compare with while the capture grows: it stops early when the answer is clear")
	f.String("gates", "", "`FILE` with gates that must hold, such as gates.toml; with --against it then stops early on FAIL only")
	f.String("junit", "", "with --against, also write the comparison as JUnit XML to `FILE`")
	f.String("capabilities", "", "`FILE` that youden doctor wrote of the endpoint, to embed; empty = capabilities/<endpoint>-<model>.json if it is there")
	f.String("out", "", "`DIR` of the capture; empty = captures/<time>-<detector>-<random>")
	f.String("format", "table", "table, markdown, json or csv")
	f.String("progress", "auto", "auto, bar, plain, json or none")
	f.Bool("dry-run", false, "print the plan, what it may come to, and make no call")
	f.Bool("print-config", false, "print the effective settings and where each comes from, and stop")
}

// completeCapture teaches the shell the closed lists.
func (a *app) completeCapture(cmd *cobra.Command) {
	fixed := map[string][]string{
		"split": {"train", "holdout", "all"}, "policy": {"strict", "class", "region"}, "view": {"charge", "exclude"},
		"format": {"table", "markdown", "json", "csv"}, "progress": bench.ProgressModes(),
	}
	_, fixed["detector"] = detector.Embedded()
	for flag, words := range fixed {
		if err := cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(words, cobra.ShellCompDirectiveDefault)); err != nil {
			panic(fmt.Sprintf("completion of --%s: %v", flag, err)) // the flag is defined just above
		}
	}
}

// capture runs the command once its settings are known.
func (a *app) capture(ctx context.Context, s *settings) error {
	if s.bool("print-config") {
		s.print(a)
		return nil
	}
	view, err := a.newView(s)
	if err != nil {
		return err
	}
	req, err := s.request()
	if err != nil {
		return err
	}
	dir := s.string("out")
	folder := capturesFolder
	if dir != "" {
		folder = filepath.Dir(dir)
	}
	if err := s.checkAgainst(req.Against); err != nil {
		return err
	}
	if dir != "" {
		if err := outsideCaptures("--out", dir); err != nil {
			return err
		}
	}
	capabilities := s.string("capabilities")
	if capabilities == "" {
		capabilities = req.Endpoint.CapabilitiesFile(req.EndpointName)
	}
	if err := checkJUnit(view.junit, dir, req.Against, req.Gates, capabilities, s.string("config")); err != nil {
		return err
	}
	if s.bool("dry-run") {
		return a.dryRun(ctx, req, folder)
	}
	if info, err := os.Stat(dir); dir != "" && err == nil && !info.IsDir() {
		return fmt.Errorf("--out %s is a file; a capture is a directory, choose another name", dir)
	}
	if entries, err := os.ReadDir(dir); dir != "" && err == nil && len(entries) > 0 {
		return fmt.Errorf("--out %s is not empty; choose another directory, or go on with: youden resume %s", dir, dir)
	}
	job, err := bench.Prepare(req, programs(), folder, "capture")
	if err != nil {
		return err
	}
	a.warn(job.Warnings)
	if dir == "" {
		id, err := bench.CaptureID(a.now(), req.Detector)
		if err != nil {
			return err
		}
		dir = filepath.Join(capturesFolder, id)
	}
	return a.execute(view, req, func(watch bench.Watch) (bench.Outcome, error) {
		return job.Start(ctx, dir, provenance(), a.stop, watch)
	})
}

// checkAgainst refuses what a capture would leave undone: a baseline that was asked for
// and has no name, such as a variable that is not set, and a report of a comparison that
// there will be none of.
func (s *settings) checkAgainst(against string) error {
	if against != "" {
		return nil
	}
	if f := s.flags.Lookup("against"); f != nil && s.origin["against"] != "default" {
		return fmt.Errorf("--against (from %s) names no baseline; name one, such as main, or leave it out", s.origin["against"])
	}
	if s.string("junit") != "" {
		return fmt.Errorf("--junit (from %s) is a report of the comparison, and there is none without --against BASELINE: add that, or leave --junit out", s.origin["junit"])
	}
	return nil
}

// programs registers every detector program.
func programs() detector.Registry { return detector.Core() }

// request reads what the capture is asked for from the settings.
func (s *settings) request() (bench.Request, error) {
	req := bench.Request{
		Corpus: s.string("corpus"), Detector: s.string("detector"), EndpointName: s.string("endpoint"),
		Runs: s.int("runs"), Seed: s.seed(), Split: s.string("split"),
		Families: s.list("family"), Slices: s.list("slice"), Cases: s.list("case"), Limit: s.int("limit"),
		Concurrency: s.int("concurrency"), MaxErrorRate: s.float("max-error-rate"), Indeterminate: s.string("indeterminate"),
		Against: s.string("against"),
	}
	capabilities := s.string("capabilities")
	req.Capabilities = &capabilities
	if err := s.limit(&req); err != nil {
		return req, err
	}
	var err error
	if req.Gates, err = gatesFile(s); err != nil {
		return req, err
	}
	if req.Policy, err = measurements.ParsePolicy(s.string("policy")); err != nil {
		return req, fmt.Errorf("--policy: %w", err)
	}
	if req.View, err = measurements.ParseView(s.string("view")); err != nil {
		return req, fmt.Errorf("--view: %w", err)
	}
	req.Endpoint, err = bench.SelectEndpoint(req.EndpointName, s.string("model"), s.endpoints)
	return req, err
}

// view is how a capture is shown while it runs and when it has ended.
type view struct {
	format   report.Format
	reporter bench.Reporter
	junit    string // file for the comparison of --against; "" = none
}

// newView reads --format and --progress, before anything is opened or sent.
func (a *app) newView(s *settings) (view, error) {
	format, err := report.ParseFormat(s.string("format"))
	if err != nil {
		return view{}, err
	}
	reporter, err := bench.NewReporter(a.bar, s.string("progress"), a.terminal, a.now)
	return view{format, reporter, s.string("junit")}, err
}

// execute runs a job with progress on stderr, prints its table on stdout and
// says what the exit code means.
func (a *app) execute(v view, req bench.Request, start func(bench.Watch) (bench.Outcome, error)) error {
	lean(req)
	a.busy.Store(true) // until the process ends: what is paid for is being written
	out, err := start(bench.Watch{
		Progress: v.reporter.Update,
		Warn:     func(text string) { fmt.Fprintf(a.err, "youden: warning: %s\n", text) },
		Note:     v.reporter.Note,
	})
	v.reporter.Close()
	if err != nil {
		if out.Dir != "" && !isA[*bench.InternalError](err) {
			err = fmt.Errorf("%w; what was paid for is in its ledger: when that is mended, go on with: youden resume %s", err, out.Dir)
		}
		return err
	}
	fmt.Fprintf(a.err, "capture: %s\n", out.Dir)
	if err := a.write(v.format, report.Options{Comparison: out.Comparison, Gates: out.Gates}, out.Summary); err != nil {
		return err
	}
	if err := a.showComparison(v, out); err != nil {
		return err
	}
	if err := a.showGates(v, out); err != nil {
		return err
	}
	switch err := a.verdict(out, req); {
	case err != nil:
		return err
	case out.Comparison != nil:
		return compareExit(out.Comparison)
	}
	return verdictExit(out.Gates.Verdict())
}

// showComparison prints what a capture with --against came to. Its JSON is part of the
// capture's: one document to a reader. CSV holds the capture alone, and the verdict is
// then said beside it.
func (a *app) showComparison(v view, out bench.Outcome) error {
	if out.Comparison == nil {
		return nil
	}
	if err := writeJUnit(v.junit, out.Comparison); err != nil {
		return err
	}
	switch v.format {
	case report.JSON:
		return nil
	case report.CSV:
		fmt.Fprintf(a.err, "youden: %s\n", report.Headline(out.Comparison))
		a.tell(report.GateLines(out.Comparison.Gates))
		return nil
	}
	text, err := report.Comparison(out.Comparison, v.format, a.width)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(a.out, "\n%s", text)
	return err
}

// showGates prints the gates of a capture that is compared with nothing.
func (a *app) showGates(v view, out bench.Outcome) error {
	switch {
	case len(out.Gates) == 0 || v.format == report.JSON:
		return nil
	case v.format == report.CSV:
		a.tell(report.GateLines(out.Gates))
		return nil
	}
	_, err := fmt.Fprintf(a.out, "\n%s", report.Gates(out.Gates, v.format, a.width))
	return err
}

func (a *app) tell(lines []string) {
	for _, line := range lines {
		fmt.Fprintf(a.err, "youden: %s\n", line)
	}
}

// verdictCodes is the exit code of each end of a capture.
var verdictCodes = map[bench.Verdict]int{
	bench.Passed: exitPass, bench.Incomplete: exitIncomplete, bench.Unaffordable: exitBudget,
	bench.RateLimited: exitRateLimited, bench.Interrupted: exitInterrupted,
}

// verdict turns the end of a capture into an exit code and a next step.
func (a *app) verdict(out bench.Outcome, req bench.Request) error {
	code := verdictCodes[out.Verdict(req.MaxErrorRate)]
	if code == exitPass {
		return nil
	}
	fmt.Fprintf(a.err, "youden: %s\n", nextStep(out, req))
	return &exitError{code: code}
}

// nextStep says why a capture is not whole and what to do.
func nextStep(out bench.Outcome, req bench.Request) string {
	resume := "youden resume " + out.Dir
	if out.Fresh != nil && out.Fresh.Verdict(req.MaxErrorRate) != bench.Passed {
		fresh := *out.Fresh
		fresh.Dir = out.Dir // the capture around them goes on with them
		return "in its fresh runs: " + nextStep(fresh, req)
	}
	switch {
	case out.Stop.Budget:
		return fmt.Sprintf("%s; go on with more: %s %s", out.Stop.Detail, resume, raised(out.Caps))
	case out.Stop.Interrupted:
		return "stopped by the operator; go on with: " + resume
	case out.Stop.Status == detector.Config:
		return fmt.Sprintf("the endpoint does not take such a request: %s; a capture keeps its endpoint: correct the settings and start a new one", out.Stop.Detail)
	case out.Stop.Status != "":
		return fmt.Sprintf("the capture is partial: %s; when that is mended, go on with: %s", out.Stop.Detail, resume)
	case out.Summary.Totals.Dispatched == 0:
		return "no run could be scored and none was sent: the table says why; `youden corpus lint` names what is wrong with the cases"
	case out.Indeterminate > 0:
		return fmt.Sprintf("%d runs have no answer: their calls were sent by a process that died, and may have been paid; send them again with: %s --indeterminate retry", out.Indeterminate, resume)
	}
	if t := out.Summary.Totals; t.RunsOK+t.RunsCharged == 0 && t.Errors == 0 {
		return "no run gave an answer that counts, and the endpoint is not to blame: the table says why, such as context where the cases do not fit the model"
	}
	return fmt.Sprintf("more runs were lost to the endpoint than --max-error-rate %.3g allows, most of them because: %s; ask for them again with: %s", req.MaxErrorRate, cmp.Or(out.Cause, "no detail was recorded"), resume)
}

// write prints summaries in a format.
func (a *app) write(format report.Format, opts report.Options, summaries ...measurements.Summary) error {
	opts.Width = a.width
	return report.Write(a.out, format, summaries, opts)
}

// dryRun prints the plan of a capture. It makes no call and opens no holdout.
func (a *app) dryRun(ctx context.Context, req bench.Request, folder string) error {
	if req.Split != "train" {
		return fmt.Errorf("--dry-run with --split %s would open the sealed holdout; plan on the train split", req.Split)
	}
	job, err := bench.Prepare(req, programs(), folder, "capture --dry-run")
	if err != nil {
		return err
	}
	a.warn(job.Warnings)
	return job.Describe(ctx, inert{a.out})
}

func (a *app) warn(warnings []string) {
	for _, w := range warnings {
		fmt.Fprintf(a.err, "youden: warning: %s\n", w)
	}
}
