package proof

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/youden-bench/youden/corpus"
)

// workshop is a folder in which one side runs: a copy of the side with the
// proof laid over it, and outside of that copy the token and a scratch room.
type workshop struct {
	base, side, room, home string
	token                  string // the file that holds it
	binary                 string
}

func newWorkshop(side, proof *corpus.Side) (w workshop, err error) {
	base, err := os.MkdirTemp("", "youden-proof-")
	if err != nil {
		return workshop{}, fmt.Errorf("making a folder for a proof: %w; point TMPDIR at a folder with room", err)
	}
	w = workshop{base: base, side: filepath.Join(base, "side"), room: filepath.Join(base, "room"), home: filepath.Join(base, "home"),
		token: filepath.Join(base, "token"), binary: filepath.Join(base, "prove")}
	defer func() {
		if err != nil {
			err = errors.Join(err, w.close())
		}
	}()
	for _, dir := range []string{w.side, w.home} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			return w, fmt.Errorf("making a folder for a proof: %w", err)
		}
	}
	return w, w.lay(side, proof)
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
	if err := root.MkdirAll(filepath.Dir(filepath.FromSlash(name)), 0o700); err != nil {
		return fmt.Errorf("laying out a proof: %w", err)
	}
	if err := root.WriteFile(filepath.FromSlash(name), text, 0o600); err != nil {
		return fmt.Errorf("laying out a proof: %w", err)
	}
	return nil
}

// replaced returns a file of the proof that would replace one of the side, "" when
// there is none: such a proof would prove something else.
func replaced(side, proof *corpus.Side) string {
	for _, f := range proof.Files {
		if _, taken := side.File(f.Path); taken {
			return f.Path
		}
	}
	return ""
}

// plant empties the room and writes a new token.
func (w workshop) plant(token string) error {
	err := errors.Join(os.RemoveAll(w.room), os.Mkdir(w.room, 0o700), os.WriteFile(w.token, []byte(token), 0o600))
	if err != nil {
		return fmt.Errorf("planting a token: %w", err)
	}
	return nil
}

// close removes the folder, also what a harness made unwritable in it.
func (w workshop) close() error {
	err := os.RemoveAll(w.base)
	if err == nil {
		return nil
	}
	walkErr := filepath.WalkDir(w.base, func(name string, entry os.DirEntry, err error) error {
		if err == nil && entry.IsDir() {
			return os.Chmod(name, 0o700)
		}
		return nil
	})
	if err = os.RemoveAll(w.base); err != nil {
		return fmt.Errorf("removing the folder of a proof: %w", errors.Join(err, walkErr))
	}
	return nil
}
