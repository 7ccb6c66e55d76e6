package main

import (
	"cmp"
	"fmt"
	"path/filepath"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/youden-bench/youden/bench"
	"github.com/youden-bench/youden/corpus"
	"github.com/youden-bench/youden/measurements/report"
)

func (a *app) corpusCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "corpus",
		Short: "Check, count, split and prove a corpus",
		Long: `Check, count, split and prove a corpus: a directory with a catalog.toml, or with a
manifest.json of schema bench.pairs/1. None of these commands scores anything, so none
opens the holdout.`,
	}
	cmd.Example = "  youden corpus lint\n  youden corpus prove --self-test"
	group(cmd)
	cmd.AddCommand(
		a.corpusSub("lint", "Check the hygiene of a corpus: labels, names, syntax, duplicates", a.lintCorpus),
		a.splitCommand(),
		a.proveCommand(),
		a.corpusSub("stats", "Count a corpus by family, split, language and vetting", a.countCorpus),
	)
	return cmd
}

// group makes a command that only holds others refuse a word that is none of
// them: a misspelt command must not pass in CI.
func group(cmd *cobra.Command) {
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return nil
		}
		meant := ""
		if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
			meant = fmt.Sprintf("; did you mean %q?", near[0])
		}
		return fmt.Errorf("unknown command %q for %q%s; see %s --help", args[0], cmd.CommandPath(), meant, cmd.CommandPath())
	}
	cmd.SuggestionsMinimumDistance = 2
	cmd.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
}

// corpusPath is the corpus that a command is asked for, by its argument or by
// --corpus, and not by both.
func (s *settings) corpusPath(args []string) (string, error) {
	dir := s.string("corpus")
	switch {
	case len(args) == 0:
		return dir, nil
	case len(args) > 1:
		return "", fmt.Errorf("%d corpora were named; give one PATH", len(args))
	case s.origin["corpus"] == "flag" && dir != args[0]:
		return "", fmt.Errorf("two corpora: --corpus %s and %s; give one", report.Plain(dir), report.Plain(args[0]))
	}
	return args[0], nil
}

func (a *app) corpusSub(name, short string, run func(*corpus.Corpus, string) error) *cobra.Command {
	cmd := &cobra.Command{
		Use:     name + " [PATH]",
		Short:   short,
		Example: fmt.Sprintf("  youden corpus %s\n  youden corpus %s ./my-cases --format json", name, name),
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := loadSettings(cmd)
			if err != nil {
				return err
			}
			format := s.string("format")
			if format != "table" && format != "json" {
				return fmt.Errorf("--format %q is unknown here; use table or json", format)
			}
			dir, err := s.corpusPath(args)
			if err != nil {
				return err
			}
			c, err := bench.LoadCorpus(dir)
			if err != nil {
				return err
			}
			return run(c, format)
		},
	}
	cmd.Flags().String("corpus", "", "`PATH` of a corpus; empty = the embedded cases")
	cmd.Flags().String("format", "table", "table or json")
	return cmd
}

func (a *app) splitCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "split PATH",
		Short: "Write a split beside a corpus that declares none",
		Long: `Draw a split by group, stratified by family, a third held out, and write it as
splits.toml beside the catalog or manifest. A split that exists is left as it is:
another draw would move cases between train and holdout.`,
		Example: "  youden corpus split ./my-cases --seed 1",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := loadSettings(cmd)
			if err != nil {
				return err
			}
			return a.splitCorpus(args[0], s.seed())
		},
	}
	cmd.Flags().Uint64("seed", 0, "seed of the draw; 0 is the one that captures use while there is no split")
	return cmd
}

func (a *app) splitCorpus(dir string, seed uint64) error {
	c, err := bench.LoadCorpus(dir)
	if err != nil {
		return err
	}
	if c.SplitsDeclared {
		return fmt.Errorf("%s declares its splits already and they are left as they are: another draw would move cases between train and holdout", dir)
	}
	text, err := c.Draw(seed).Encode()
	if err != nil {
		return err
	}
	name := filepath.Join(dir, corpus.SplitsFile)
	if err := outsideCaptures("PATH", name); err != nil {
		return err
	}
	if err := writeNew(name, text); err != nil {
		return err
	}
	fmt.Fprintf(a.out, "wrote %s\n", name)
	if c, err = bench.LoadCorpus(dir); err != nil {
		return err
	}
	return a.countCorpus(c, "table")
}

// lintCorpus prints the problems of a corpus; an error among them is exit code 1.
func (a *app) lintCorpus(c *corpus.Corpus, format string) error {
	problems := corpus.Lint(c)
	errors, warnings := 0, 0
	for _, p := range problems {
		if p.Severity == corpus.LintError {
			errors++
		} else {
			warnings++
		}
	}
	if format == "json" {
		if problems == nil {
			problems = []corpus.Problem{}
		}
		if err := a.json(map[string]any{"schema": "youden.lint/1", "errors": errors, "warnings": warnings, "problems": problems}); err != nil {
			return err
		}
	} else {
		for _, p := range problems {
			fmt.Fprintln(a.out, report.Plain(p.String()))
		}
		fmt.Fprintf(a.out, "%d cases, %d errors, %d warnings\n", len(c.Cases), errors, warnings)
	}
	if errors > 0 {
		return &exitError{code: exitRegression}
	}
	return nil
}

func (a *app) countCorpus(c *corpus.Corpus, format string) error {
	s := corpus.Stats(c)
	if format == "json" {
		return a.json(struct {
			Schema string `json:"schema"`
			corpus.Statistics
		}{"youden.corpus/1", s})
	}
	fmt.Fprintf(a.out, "slice %s: %d cases, %d pairs, %d groups, %d files, %d lines; %d unscorable; hash %.12s\n\n",
		report.Plain(s.Slice), s.Cases, s.Pairs, s.Groups, s.Files, s.Lines, s.Unscorable, s.Hash)
	w := tabwriter.NewWriter(a.out, 0, 4, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "family\tcases\tgroups\tfeedback\tpareto\tholdout\tno split\tresidual of family\t")
	for _, f := range s.Families {
		fmt.Fprintf(w, "%s\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t\n", report.Plain(string(f.Family)), f.Cases, f.Groups, f.Feedback, f.Pareto, f.Holdout, f.NoSplit, f.Residual)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	for _, list := range []struct {
		title  string
		counts []corpus.Count
	}{{"languages", s.Languages}, {"tasks", s.Tasks}, {"difficulty", s.Difficulties}} {
		fmt.Fprintf(a.out, "\n%s:", list.title)
		for _, n := range list.counts {
			fmt.Fprintf(a.out, " %s %d", report.Plain(cmp.Or(n.Name, "undeclared")), n.Cases)
		}
	}
	fmt.Fprintf(a.out, "\nwith an order to a model: %d; with a proof to run: %d", s.OrdersModel, s.WithProof)
	fmt.Fprint(a.out, "\nvetted:")
	for _, v := range s.Vetted {
		fmt.Fprintf(a.out, " %s %d", describeVetted(v), v.Cases)
	}
	fmt.Fprintln(a.out)
	a.readings(s.Readings)
	return nil
}

func (a *app) readings(r corpus.Readings) {
	if r.Read == 0 {
		fmt.Fprintln(a.out, "read blind: none")
		return
	}
	fmt.Fprintf(a.out, "read blind: %d; at first agreed in everything %d, on the side %d, on the place %d, on the family %d, on a clean fixed side %d\n",
		r.Read, r.Agreed, r.Side, r.Place, r.Family, r.Fixed)
	fmt.Fprintf(a.out, "since then: changed %d, agreed in the end %d of %d\n", r.Changed, r.Settled, r.Read)
	fmt.Fprintf(a.out, "cases with a known residual of any family on the fixed side: %d\n", r.Residue)
}

func describeVetted(v corpus.VettedCount) string {
	text := string(v.Level)
	if v.First != corpus.Unread {
		text += "/" + string(v.First)
	}
	if v.Changed {
		text += "/changed"
	}
	return report.Plain(text)
}

func (a *app) json(v any) error {
	text, err := report.Document(v)
	if err != nil {
		return err
	}
	_, err = a.out.Write(text)
	return err
}
