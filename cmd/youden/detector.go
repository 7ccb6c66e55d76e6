package main

import (
	"fmt"
	"os"
	"sort"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/youden-bench/youden/bench"
	"github.com/youden-bench/youden/corpus/family"
	"github.com/youden-bench/youden/detector"
)

func (a *app) detectorCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "detector", Short: "List and show detectors", Example: "  youden detector list\n  youden detector show oneshot"}
	group(cmd)
	cmd.AddCommand(&cobra.Command{
		Use:     "list",
		Short:   "List the embedded detectors",
		Example: "  youden detector list",
		Args:    cobra.NoArgs,
		RunE:    func(*cobra.Command, []string) error { return a.listDetectors() },
	}, &cobra.Command{
		Use:     "show NAME|DIR",
		Short:   "Show the settings, texts and hash of a detector",
		Example: "  youden detector show oneshot\n  youden detector show ./my-detector",
		Args:    cobra.ExactArgs(1),
		RunE:    func(_ *cobra.Command, args []string) error { return a.showDetector(args[0]) },
	})
	return cmd
}

func (a *app) listDetectors() error {
	_, names := detector.Embedded()
	w := tabwriter.NewWriter(a.out, 0, 4, 2, ' ', 0)
	fmt.Fprintln(w, "NAME\tPROGRAM\tFAMILIES\tHASH")
	for _, name := range names {
		d, program, err := bench.OpenDetector(name, programs())
		if err != nil {
			return err
		}
		fmt.Fprintf(w, "%s\t%s\t%d\t%.12s\n", d.Name, d.Program, len(d.Families), d.Hash(program))
	}
	return w.Flush()
}

func (a *app) showDetector(name string) error {
	d, program, err := bench.OpenDetector(name, programs())
	if err != nil {
		if _, missing := os.Stat(name); missing != nil && !strings.HasPrefix(name, "control:") {
			return fmt.Errorf("%w; `youden detector list` lists the embedded ones", err)
		}
		return err
	}
	out := inert{a.out} // a detector of somebody else is text of somebody else
	fmt.Fprintf(out, "detector: %s\nprogram: %s\ntask: %s\nhash: %s\nfamilies: %s\n", d.Name, d.Program, d.Task, d.Hash(program), joinIDs(d))
	for _, l := range detector.LeverNames() {
		if text := d.Levers.Shared[l]; text != "" {
			fmt.Fprintf(out, "\n--- %s\n%s", l.File(), text)
		}
	}
	var overridden []string
	for f := range d.Levers.Override {
		overridden = append(overridden, string(f))
	}
	sort.Strings(overridden)
	for _, f := range overridden {
		for _, l := range detector.LeverNames() {
			if text, ok := d.Levers.Override[family.ID(f)][l]; ok {
				fmt.Fprintf(out, "\n--- families/%s/%s\n%s", f, l.File(), text)
			}
		}
	}
	return nil
}

func joinIDs(d *detector.Detector) string {
	words := make([]string, len(d.Families))
	for i, f := range d.Families {
		words[i] = string(f)
	}
	return strings.Join(words, ", ")
}
