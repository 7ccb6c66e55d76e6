package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/youden-bench/youden/measurements/compare"
	"github.com/youden-bench/youden/measurements/report"
)

// replaceFile writes a file whole or not at all. The new text stands under a name
// that nobody could have planted a link at.
func replaceFile(name string, text []byte) error {
	err := func() error {
		f, err := os.CreateTemp(filepath.Dir(name), ".youden-*")
		if err != nil {
			return err
		}
		_, err = f.Write(text)
		err = errors.Join(err, f.Chmod(0o644), f.Close()) // it is committed, or read by CI
		if err == nil {
			err = os.Rename(f.Name(), name)
		}
		if err != nil {
			return errors.Join(err, os.Remove(f.Name()))
		}
		return nil
	}()
	if err != nil {
		return fmt.Errorf("writing %s: %w", name, err)
	}
	return nil
}

// writeJUnit writes a comparison to a file, if there is a name for one.
func writeJUnit(name string, c *compare.Comparison) error {
	if name == "" {
		return nil
	}
	if err := checkJUnit(name); err != nil {
		return err
	}
	xml, err := report.JUnit(c)
	if err != nil {
		return err
	}
	if err := replaceFile(name, xml); err != nil {
		return fmt.Errorf("--junit: %w", err)
	}
	return nil
}

// checkJUnit refuses a report, if there is a name for one, that cannot be written or
// would overwrite what is read or made: nothing need be judged first to know that.
func checkJUnit(name string, inputs ...string) error {
	if name == "" {
		return nil
	}
	if err := (output{flag: "--junit", name: name, mark: junitMark}).check(inputs...); err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(name), ".youden-*")
	if err != nil {
		return fmt.Errorf("--junit %s cannot be written: %w", name, err)
	}
	return errors.Join(f.Close(), os.Remove(f.Name()))
}
