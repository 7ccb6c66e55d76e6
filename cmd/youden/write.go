package main

import (
	"errors"
	"fmt"
	"io/fs"
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
// would overwrite what is compared: nothing need be judged first to know that.
func checkJUnit(name string, inputs ...string) error {
	if name == "" {
		return nil
	}
	info, err := os.Lstat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return fmt.Errorf("--junit: %w", err)
	case !info.Mode().IsRegular():
		return fmt.Errorf("--junit %s is no regular file; name one, such as junit.xml", name)
	}
	for _, input := range inputs {
		if file, err := compare.Path(input); err == nil {
			if _, err := os.Stat(input); errors.Is(err, fs.ErrNotExist) {
				input = file
			}
		}
		if within(name, input) {
			return fmt.Errorf("--junit %s would overwrite %s, which is compared; name another file", name, input)
		}
	}
	f, err := os.CreateTemp(filepath.Dir(name), ".youden-*")
	if err != nil {
		return fmt.Errorf("--junit %s cannot be written: %w", name, err)
	}
	return errors.Join(f.Close(), os.Remove(f.Name()))
}

// within reports whether a file is the same as another, by whatever name, or stands
// in a folder.
func within(name, other string) bool {
	target, err := os.Stat(other)
	if err != nil {
		return false
	}
	if info, err := os.Stat(name); err == nil && os.SameFile(info, target) {
		return true
	}
	folder, err := filepath.Abs(filepath.Dir(name))
	if err != nil {
		return false
	}
	if resolved, err := filepath.EvalSymlinks(folder); err == nil {
		folder = resolved
	}
	for {
		if info, err := os.Stat(folder); err == nil && os.SameFile(info, target) {
			return true
		}
		up := filepath.Dir(folder)
		if up == folder {
			return false
		}
		folder = up
	}
}
