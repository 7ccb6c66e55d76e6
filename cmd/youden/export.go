package main

import (
	"bytes"
	"fmt"

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

// kstrlSide is one side as the rules of kstrl see it, with what no file of that suite
// says.
type kstrlSide struct {
	*kstrl.Baseline
	simulated  bool
	incomplete string // why a capture or baseline of ours is no whole one
	scoring    string // policy and view of a capture or baseline of ours
}

// kstrlFile reads a kstrl file, or turns a capture or baseline of ours into one.
func kstrlFile(s *settings, name string) (side kstrlSide, err error) {
	if compare.IsKSTRL(name) {
		if side.Baseline, err = kstrl.Load(name, kstrl.Lenient); err != nil {
			return side, err
		}
		side.simulated = compare.SimulatedModel(side.Model)
		return side, nil
	}
	subject, err := loadSubject(s, name)
	if err != nil {
		return side, err
	}
	var text bytes.Buffer
	if err := compare.ToKSTRL(subject).Write(&text); err != nil {
		return side, fmt.Errorf("%s as a kstrl file: %w", report.Plain(name), err)
	}
	side.scoring = fmt.Sprintf("policy %s, view %s", subject.Policy, subject.View)
	side.simulated, side.incomplete = subject.Simulated, subject.Incomplete(compare.DefaultMaxErrorRate)
	side.Baseline, err = kstrl.Parse(name, text.Bytes(), kstrl.Lenient)
	return side, err
}
