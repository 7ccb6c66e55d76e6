package main

import (
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/spf13/cobra"
)

//go:embed starter.toml
var starter []byte

func (a *app) initCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "init",
		Short:   "Write a starter youden.toml",
		Example: "  youden init\n  youden init --config bench/youden.toml",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			name, err := cmd.Flags().GetString("config")
			if err != nil {
				return err
			}
			if err := outsideCaptures("--config", name); err != nil {
				return err
			}
			if err := writeNew(name, starter); err != nil {
				return err
			}
			fmt.Fprintf(a.out, "wrote %s\nnext: set base_url and model of an endpoint in it, export its key, then: youden capture --endpoint hosted --max-calls 20\n", name)
			return nil
		},
	}
}

// writeNew writes a file that must not exist yet.
func writeNew(name string, data []byte) error {
	file, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%s exists already and is left as it is; remove it, or choose another name", name)
	}
	if err != nil {
		return fmt.Errorf("write a new file: %w", err)
	}
	_, err = file.Write(data)
	if err := errors.Join(err, file.Close()); err != nil {
		return fmt.Errorf("write %s: %w", name, errors.Join(err, os.Remove(name)))
	}
	return nil
}
