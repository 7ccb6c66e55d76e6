package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/youden-bench/youden/bench"
	"github.com/youden-bench/youden/bench/doctor"
	"github.com/youden-bench/youden/measurements"
	"github.com/youden-bench/youden/measurements/report"
)

func (a *app) doctorCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "doctor ENDPOINT",
		Short: "Probe what an endpoint does with the fields of a request",
		Long: `Ask one model of an endpoint what it does with temperature, seed, the two names of
the token limit, response formats, tools, streaming and a few more fields, print what
was seen, and write a capability record (youden.capabilities/1). ENDPOINT is a name
from youden.toml or a URL.

honoured: its effect was seen. accepted: no error, and no effect to be seen. ignored:
no error, and the effect was missing. refused: an error. unknown: not asked, or no answer.

Captures embed the record, and comparisons refuse two captures whose endpoint treated
a field that they rely on differently. It makes about 16 short calls, and says before
how many and what they may cost; an endpoint that is not on this machine needs --yes.
Exit codes: 0; 2 usage; 5 questions failed, or no answer at all; 6 --yes is missing.`,
		Example: `  youden doctor simulator
  youden doctor http://127.0.0.1:8080/v1 --model qwen3
  youden doctor deepseek --yes --long-prompt 60000`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := loadSettings(cmd)
			if err != nil {
				return err
			}
			return a.doctor(cmd.Context(), s, args[0])
		},
	}
	f := cmd.Flags()
	f.String("model", "", "`NAME` of the model; empty = the endpoint's")
	f.Int("long-prompt", 0, "also send a prompt of about `N` tokens, to see whether it is taken, refused or cut")
	f.String("out", "", "`FILE` of the record; empty = capabilities/<endpoint>-<model>.json, where captures look for it")
	f.String("format", "table", "table or json")
	f.Bool("dry-run", false, "print what would be asked and what it may cost, and make no call")
	f.Bool("yes", false, "call an endpoint that is not on this machine")
	onCommandLineOnly(f, "yes")
	return cmd
}

func (a *app) doctor(ctx context.Context, s *settings, name string) error {
	format, err := report.ParseFormat(s.string("format"))
	if err != nil {
		return err
	}
	if format != report.Table && format != report.JSON {
		return fmt.Errorf("--format %s: doctor prints a table or json", format)
	}
	long := s.int("long-prompt")
	if long < 0 {
		return fmt.Errorf("--long-prompt %d: give a number of tokens, or leave it off", long)
	}
	cfg, err := bench.SelectEndpoint(name, s.string("model"), s.endpoints)
	if err != nil {
		return err
	}
	file := s.string("out")
	if file == "" {
		file = cfg.CapabilitiesFile(name)
	}
	if err := (output{flag: "--out", name: file, mark: capabilitiesMark}).check(s.string("config")); err != nil {
		return err
	}
	patient, err := cfg.Patient(name)
	if err != nil {
		return err
	}
	announced := fmt.Sprintf("%s of model %s at %s", patient.Estimate(long), cfg.Model, cfg.Public())
	if s.bool("dry-run") {
		_, err := fmt.Fprintf(a.out, "doctor would make %s\n", announced)
		return err
	}
	if !patient.Loopback() && !cfg.Embedded() && !s.bool("yes") {
		return &exitError{exitBudget, fmt.Errorf("doctor would make %s; say --yes to let it", announced)}
	}
	fmt.Fprintf(a.err, "doctor: %s; more where the endpoint honours no token limit\n", announced)
	record, err := doctor.Examine(ctx, patient, doctor.Options{LongPrompt: long})
	switch {
	case ctx.Err() != nil:
		return &exitError{exitInterrupted, errors.New("interrupted; nothing was written")}
	case errors.Is(err, doctor.ErrNoAnswer):
		return &exitError{exitIncomplete, fmt.Errorf("%w; check base_url, model and api_key_env", err)}
	case err != nil:
		return err
	}
	return a.writeCapabilities(record, file, format)
}

// writeCapabilities writes the record and prints it.
func (a *app) writeCapabilities(record *measurements.Capabilities, file string, format report.Format) error {
	text, err := report.Document(record)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return fmt.Errorf("write the capability record: %w", err)
	}
	if err := replaceFile(file, text); err != nil {
		return fmt.Errorf("write the capability record: %w", err)
	}
	fmt.Fprintf(a.err, "capability record: %s\n", file)
	if format == report.JSON {
		_, err = a.out.Write(text)
	} else {
		err = doctor.Write(a.out, record)
	}
	if err != nil {
		return err
	}
	if record.Failed > 0 {
		return &exitError{exitIncomplete, fmt.Errorf("%d questions got no answer: ask again, for captures trust what is recorded", record.Failed)}
	}
	return nil
}
