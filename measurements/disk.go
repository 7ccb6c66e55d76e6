package measurements

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
)

// disk is the file system as a capture writes to it; tests fail it.
type disk interface {
	Create(name string) (outFile, error)
	Rename(from, to string) error
	Remove(name string) error
	SyncDir(dir string) error
}

// outFile is a file being written.
type outFile interface {
	io.Writer
	Sync() error
	Close() error
}

type osDisk struct{}

func (osDisk) Create(name string) (outFile, error) {
	return os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o644)
}

func (osDisk) Rename(from, to string) error { return os.Rename(from, to) }

func (osDisk) Remove(name string) error { return os.Remove(name) }

// SyncDir makes a rename durable. Windows cannot sync a directory and needs not.
func (osDisk) SyncDir(dir string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// openRegular opens a file to read: a pipe or a device would block or never end.
func openRegular(path string) (*os.File, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is no regular file", path)
	}
	return os.Open(path)
}

// replace writes all files to temporary names, makes them durable, and only then
// renames them over the old ones: until the last byte of the last file is safe,
// every old file stays as it was. They are written side by side.
func replace(d disk, dir string, names []string, write func([]io.Writer) error) error {
	if err := writeBeside(d, dir, names, write); err != nil {
		for _, name := range names {
			// The error that counts is the first one; a temporary file that
			// cannot be removed is overwritten by the next write.
			_ = d.Remove(temporary(dir, name))
		}
		what := filepath.Join(dir, names[0])
		if len(names) > 1 {
			what = "the files of " + dir
		}
		return fmt.Errorf("writing %s: %w; what was there is unchanged: make room or fix the permissions and write again", what, err)
	}
	for _, name := range names {
		if err := d.Rename(temporary(dir, name), filepath.Join(dir, name)); err != nil {
			return fmt.Errorf("putting %s in place: %w; write the capture again", filepath.Join(dir, name), err)
		}
	}
	if err := d.SyncDir(dir); err != nil {
		return fmt.Errorf("making the files in %s durable: %w; write the capture again", dir, err)
	}
	return nil
}

// writeBeside writes the temporary files and makes them durable. Errors of a full
// disk may come as late as Close.
func writeBeside(d disk, dir string, names []string, write func([]io.Writer) error) (err error) {
	var files []outFile
	defer func() {
		for _, f := range files {
			err = errors.Join(err, f.Close())
		}
	}()
	writers := make([]io.Writer, len(names))
	for i, name := range names {
		f, err := d.Create(temporary(dir, name))
		if err != nil {
			return err
		}
		files, writers[i] = append(files, f), f
	}
	if err := write(writers); err != nil {
		return err
	}
	for _, f := range files {
		if err := f.Sync(); err != nil {
			return err
		}
	}
	return nil
}

func temporary(dir, name string) string { return filepath.Join(dir, name+".tmp") }
