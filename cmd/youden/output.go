package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/youden-bench/youden/bench"
	"github.com/youden-bench/youden/measurements/compare"
)

// output is a file that a command was told to write. None may be what the command
// reads, or stand inside a capture: what was measured and paid for is not written
// over.
type output struct {
	flag string // as in --junit
	name string
	mark string // what files of its kind begin with: no other file is replaced. "" = any may be
}

// markSize is how far into a file its mark must stand.
const markSize = 4096

// The marks of captures, and of files that may be replaced by a newer one of their
// kind.
const (
	captureMark      = `"youden.capture/`
	junitMark        = "<testsuite"
	capabilitiesMark = `"youden.capabilities/`
)

// check refuses the file before anything is made or sent. Inputs are files and folders
// that are read or made; they need not be there yet.
func (o output) check(inputs ...string) error {
	info, err := os.Lstat(o.name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return fmt.Errorf("%s: %w", o.flag, err)
	case !info.Mode().IsRegular():
		return fmt.Errorf("%s %s is no regular file; name one", o.flag, o.name)
	}
	for _, input := range inputs {
		if input == "" {
			continue
		}
		if input = placeOf(input); within(o.name, input) {
			return fmt.Errorf("%s %s would overwrite %s, which is read or made here; name another file", o.flag, o.name, input)
		}
	}
	if err := outsideCaptures(o.flag, o.name); err != nil {
		return err
	}
	if info == nil || info.Size() == 0 || o.mark == "" {
		return nil
	}
	return o.checkKind()
}

// checkKind refuses to replace a file of another kind.
func (o output) checkKind() error {
	head, err := headOf(o.name)
	if err != nil {
		return fmt.Errorf("%s: %w", o.flag, err)
	}
	if !bytes.Contains(head, []byte(o.mark)) {
		return fmt.Errorf("%s %s would overwrite a file of another kind; remove it, or name another file", o.flag, o.name)
	}
	return nil
}

func headOf(name string) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	head, err := io.ReadAll(io.LimitReader(f, markSize))
	return head, errors.Join(err, f.Close())
}

// placeOf is where an input lies: a baseline may be called by its name alone.
func placeOf(input string) string {
	if file, err := compare.Path(input); err == nil {
		if _, err := os.Stat(input); errors.Is(err, fs.ErrNotExist) {
			if _, err := os.Stat(file); err == nil {
				return file
			}
		}
	}
	return input
}

// outsideCaptures refuses a name inside a capture, whichever it is.
func outsideCaptures(flag, name string) error {
	path, err := resolved(name)
	if err != nil {
		return fmt.Errorf("%s: %w", flag, err)
	}
	for folder := filepath.Dir(path); ; folder = filepath.Dir(folder) {
		if isCapture(folder) {
			return fmt.Errorf("%s %s would overwrite or add to the capture %s; name a place outside of it", flag, name, folder)
		}
		if folder == filepath.Dir(folder) {
			return nil
		}
	}
}

// isCapture reports whether a folder holds a capture, also one that has lost a file.
func isCapture(folder string) bool {
	if head, err := headOf(filepath.Join(folder, bench.ManifestFile)); err == nil && bytes.Contains(head, []byte(captureMark)) {
		return true
	}
	_, err := os.Stat(filepath.Join(folder, bench.LedgerFile))
	return err == nil
}

// within reports whether a file is the same as another, by whatever name, or stands
// in a folder. Neither need be there yet.
func within(name, other string) bool {
	path, err := resolved(name)
	if err != nil {
		return false
	}
	target, err := resolved(other)
	if err != nil {
		return false
	}
	info, _ := os.Stat(target) // nil where there is none
	for {
		if path == target {
			return true
		}
		if here, err := os.Stat(path); err == nil && info != nil && os.SameFile(here, info) {
			return true
		}
		up := filepath.Dir(path)
		if up == path {
			return false
		}
		path = up
	}
}

// resolved is the path of a name without links, as far as it leads already.
func resolved(name string) (string, error) {
	path, err := filepath.Abs(name)
	if err != nil {
		return "", err
	}
	rest := ""
	for {
		if real, err := filepath.EvalSymlinks(path); err == nil {
			return filepath.Join(real, rest), nil
		}
		up := filepath.Dir(path)
		if up == path {
			return filepath.Join(path, rest), nil
		}
		path, rest = up, filepath.Join(filepath.Base(path), rest)
	}
}
