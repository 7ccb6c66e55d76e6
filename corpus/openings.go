package corpus

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Opening is one look at a holdout. A number from a holdout that was opened
// often is worth less, so every look is on record.
type Opening struct {
	Time     time.Time `json:"time"`    // now, when zero
	Holdout  string    `json:"holdout"` // filled in by Sealed.Open
	Command  string    `json:"command"`
	Detector string    `json:"detector"`
	Why      string    `json:"why"`
}

// Openings is the append-only file of all openings, one JSON object a line.
// Several processes may append at once.
type Openings struct {
	Path string
}

// Count returns how often the holdout with this hash was opened. A line that
// cannot be read counts: spoiling a line must not hide an opening.
func (o Openings) Count(holdout string) (n int, err error) {
	f, err := os.Open(o.Path)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("counting openings: %w; check the permissions of the file", err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	lines := bufio.NewReader(f)
	for {
		line, readErr := lines.ReadString('\n')
		if strings.TrimSpace(line) != "" {
			var opening Opening
			if json.Unmarshal([]byte(line), &opening) != nil || opening.Holdout == "" || opening.Holdout == holdout {
				n++
			}
		}
		if errors.Is(readErr, io.EOF) {
			return n, nil
		}
		if readErr != nil {
			return 0, fmt.Errorf("counting openings in %s: %w; check the disk", o.Path, readErr)
		}
	}
}

// append writes one line and returns once it is on disk.
func (o Openings) append(opening Opening) error {
	line, err := json.Marshal(opening)
	if err != nil {
		return err
	}
	dir := filepath.Dir(o.Path)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	f, err := os.OpenFile(o.Path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o644)
	if err != nil {
		return err
	}
	// One write of one line: O_APPEND then keeps concurrent lines whole. A line
	// torn by a crash is closed first; an empty line in between does no harm.
	line = append(line, '\n')
	if torn(f) {
		line = append([]byte{'\n'}, line...)
	}
	_, err = f.Write(line)
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close(), syncDir(dir))
}

// torn reports whether the file ends in the middle of a line.
func torn(f *os.File) bool {
	info, err := f.Stat()
	if err != nil || info.Size() == 0 {
		return false
	}
	last := make([]byte, 1)
	_, err = f.ReadAt(last, info.Size()-1)
	return err == nil && last[0] != '\n'
}

// syncDir makes a new file's name durable. Systems that cannot sync a
// directory need not.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	_ = d.Sync()
	return d.Close()
}
