package ledger

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// LockedError says that another process writes to the ledger.
type LockedError struct {
	Path string
	PID  int // 0 = unknown
}

func (e *LockedError) Error() string {
	holder := "another process"
	if e.PID != 0 {
		holder = fmt.Sprintf("the process with id %d", e.PID)
	}
	return fmt.Sprintf("the ledger %s is being written by %s: wait for it, stop it, or use another directory", e.Path, holder)
}

// errWouldBlock says that the lock is held elsewhere.
var errWouldBlock = errors.New("the lock is held")

// writerLock is held on a file beside the ledger for as long as a writer lives.
// The kernel lets go of it when the process dies, however it dies.
type writerLock struct {
	file *os.File
}

// lockWriter takes the lock beside the ledger that path leads to, through
// whatever links.
func lockWriter(path string) (*writerLock, error) {
	name := realPath(path) + ".lock"
	file, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("opening the lock file of the ledger %s: %w", path, err)
	}
	if err := lockFile(file); err != nil {
		if errors.Is(err, errWouldBlock) {
			err = &LockedError{Path: path, PID: readPID(file)}
		} else {
			err = fmt.Errorf("locking %s: %w", name, err)
		}
		return nil, errors.Join(err, file.Close())
	}
	// The content is for the message above only, so that its failure costs
	// nothing but a name.
	if err := file.Truncate(0); err == nil {
		_, _ = file.WriteAt([]byte(strconv.Itoa(os.Getpid())+"\n"), 0)
	}
	return &writerLock{file: file}, nil
}

// realPath follows links, of the directory alone while there is no file yet.
func realPath(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	if dir, err := filepath.EvalSymlinks(filepath.Dir(path)); err == nil {
		return filepath.Join(dir, filepath.Base(path))
	}
	return path
}

func readPID(file *os.File) int {
	text, err := io.ReadAll(io.NewSectionReader(file, 0, 32))
	if err != nil {
		return 0
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		return 0
	}
	return pid
}

// release lets go of the lock. The file stays: removing it could take it away
// from under a process that has just opened it.
func (l *writerLock) release() error {
	if l == nil {
		return nil
	}
	if err := l.file.Close(); err != nil {
		return fmt.Errorf("closing the lock file of the ledger: %w", err)
	}
	return nil
}
