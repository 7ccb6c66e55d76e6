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

// content is one file to be written whole.
type content struct {
	name  string
	write func(io.Writer) error
}

// replace writes all files to temporary names, makes them durable, and only then
// renames them over the old ones: until the last byte of the last file is safe,
// every old file stays as it was.
func replace(d disk, dir string, files []content) error {
	for i, f := range files {
		if err := writeWhole(d, temporary(dir, f.name), f.write); err != nil {
			for _, done := range files[:i+1] {
				// The error that counts is the first one; a temporary file that
				// cannot be removed is overwritten by the next write.
				_ = d.Remove(temporary(dir, done.name))
			}
			return fmt.Errorf("writing %s: %w; the old file is unchanged: make room or fix the permissions and write again",
				filepath.Join(dir, f.name), err)
		}
	}
	for _, f := range files {
		if err := d.Rename(temporary(dir, f.name), filepath.Join(dir, f.name)); err != nil {
			return fmt.Errorf("putting %s in place: %w; write the capture again", filepath.Join(dir, f.name), err)
		}
	}
	if err := d.SyncDir(dir); err != nil {
		return fmt.Errorf("making the files in %s durable: %w; write the capture again", dir, err)
	}
	return nil
}

// writeWhole writes one file and makes it durable. Errors of a full disk may
// come as late as Close.
func writeWhole(d disk, name string, write func(io.Writer) error) error {
	f, err := d.Create(name)
	if err != nil {
		return err
	}
	if err := write(f); err != nil {
		return errors.Join(err, f.Close())
	}
	if err := f.Sync(); err != nil {
		return errors.Join(err, f.Close())
	}
	return f.Close()
}

func temporary(dir, name string) string { return filepath.Join(dir, name+".tmp") }
