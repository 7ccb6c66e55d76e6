package proof

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/youden-bench/youden/corpus"
)

// workshop is a folder in which one side runs once: a copy of the side with the
// proof laid over it, and outside of that copy the token and a scratch room.
type workshop struct {
	base, side, room, home string
	tokenFile, token       string
	binary                 string
}

// inWorkshop makes a workshop, works in it and removes it. What goes wrong with
// the folder itself is a fault of the machine.
func inWorkshop(side, proof *corpus.Side, work func(workshop) error) error {
	w, err := newWorkshop(side, proof)
	if err == nil {
		err = work(w)
	} else {
		err = &machineError{err}
	}
	if gone := w.remove(); gone != nil && err == nil {
		err = &machineError{gone}
	}
	return err
}

func newWorkshop(side, proof *corpus.Side) (w workshop, err error) {
	temporary, err := filepath.Abs(os.TempDir())
	if err != nil {
		return w, fmt.Errorf("looking for a folder for proofs: %w", err)
	}
	if w.base, err = os.MkdirTemp(temporary, "youden-proof-"); err != nil {
		return w, fmt.Errorf("making a folder for a proof: %w; point TMPDIR at a folder with room", err)
	}
	at := func(name string) string { return filepath.Join(w.base, name) }
	w.side, w.room, w.home, w.tokenFile, w.binary = at("side"), at("room"), at("home"), at("token"), at("prove")
	if w.token, err = newToken(); err != nil {
		return w, err
	}
	for _, dir := range []string{w.side, w.room, w.home} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			return w, fmt.Errorf("making a folder for a proof: %w", err)
		}
	}
	if err := w.quietGo(); err != nil {
		return w, err
	}
	if err := os.WriteFile(w.tokenFile, []byte(w.token), 0o600); err != nil {
		return w, fmt.Errorf("planting a token: %w", err)
	}
	return w, w.lay(side, proof)
}

// quietGo turns off the telemetry of the go command: it starts a child of its own
// that outlives it and writes into HOME after the folder is gone.
func (w workshop) quietGo() error {
	for _, config := range []string{filepath.Join(w.home, ".config"), filepath.Join(w.home, "Library", "Application Support")} {
		dir := filepath.Join(config, "go", "telemetry")
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return fmt.Errorf("making a folder for a proof: %w", err)
		}
		if err := os.WriteFile(filepath.Join(dir, "mode"), []byte("off"), 0o600); err != nil {
			return fmt.Errorf("making a folder for a proof: %w", err)
		}
	}
	return nil
}

// lay writes the files of the side and of the proof.
func (w workshop) lay(side, proof *corpus.Side) error {
	root, err := os.OpenRoot(w.side)
	if err != nil {
		return fmt.Errorf("laying out a proof: %w", err)
	}
	for _, f := range side.Files {
		err = errors.Join(err, write(root, f.Path, f.Text))
	}
	for _, f := range proof.Files {
		name := f.Path
		if name == moduleFile {
			name = "go.mod"
		}
		err = errors.Join(err, write(root, name, f.Text))
	}
	return errors.Join(err, root.Close())
}

func write(root *os.Root, name string, text []byte) error {
	name = filepath.FromSlash(name)
	if err := root.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return fmt.Errorf("laying out a proof: %w", err)
	}
	if err := root.WriteFile(name, text, 0o600); err != nil {
		return fmt.Errorf("laying out a proof: %w", err)
	}
	return nil
}

// remove removes the folder, also what a harness made unwritable in it.
func (w workshop) remove() error {
	if w.base == "" || os.RemoveAll(w.base) == nil {
		return nil
	}
	// What cannot be made writable shows itself when it cannot be removed.
	_ = filepath.WalkDir(w.base, func(name string, entry os.DirEntry, err error) error {
		if err == nil && entry.IsDir() {
			return os.Chmod(name, 0o700) //nolint:gosec // a folder of ours
		}
		return nil
	})
	if err := os.RemoveAll(w.base); err != nil {
		return fmt.Errorf("removing the folder of a proof: %w", err)
	}
	return nil
}
