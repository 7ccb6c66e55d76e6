package corpus

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"sort"
	"unicode/utf8"
)

// Bounds on what a loader reads. A case is a few files of a service; whoever
// has more wants another tool, and a hostile archive wants our memory.
const (
	maxFileBytes   = 2 << 20
	maxSideFiles   = 500
	maxCorpusBytes = 1 << 30
)

// Lines counts the lines of the file. Only LF ends a line: CRLF files keep
// their numbers and a lone CR starts no line (scoring vector n05). A last line
// without LF counts.
func (f File) Lines() int {
	n := bytes.Count(f.Text, []byte{'\n'})
	if len(f.Text) > 0 && f.Text[len(f.Text)-1] != '\n' {
		n++
	}
	return n
}

// File returns the file with exactly this path.
func (s *Side) File(name string) (File, bool) {
	if s == nil {
		return File{}, false
	}
	i := sort.Search(len(s.Files), func(i int) bool { return s.Files[i].Path >= name })
	if i < len(s.Files) && s.Files[i].Path == name {
		return s.Files[i], true
	}
	return File{}, false
}

// reader reads the sides of a corpus within the bounds.
type reader struct {
	fsys fs.FS
	read int
}

// fileError is a file that a corpus must not hold.
type fileError struct {
	path, message, remedy string
	err                   error
}

func (e *fileError) Error() string {
	text := e.path + ": " + e.message
	if e.err != nil {
		text += ": " + e.err.Error()
	}
	return text + "; " + e.remedy
}

func (e *fileError) Unwrap() error { return e.err }

// side reads all files below dir, but passes over directories of the names to
// skip; nil when there is no such directory.
func (r *reader) side(dir string, skip ...string) (*Side, error) {
	info, err := fs.Lstat(r.fsys, dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, &fileError{dir, "cannot be looked at", "check the permissions", err}
	}
	if !info.IsDir() {
		return nil, &fileError{dir, "is not a directory", "a side is a directory of files, and links are not followed", nil}
	}
	var names []string
	err = fs.WalkDir(r.fsys, dir, func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return &fileError{name, "cannot be listed", "check the permissions", err}
		case entry.IsDir() && slices.Contains(skip, entry.Name()):
			return fs.SkipDir
		case entry.IsDir():
			return nil
		case len(names) == maxSideFiles:
			return &fileError{dir, fmt.Sprintf("holds more than %d files", maxSideFiles), "keep the files that the case needs", nil}
		}
		names = append(names, name[len(dir)+1:])
		return nil
	})
	if err != nil {
		return nil, err
	}
	return r.files(dir, names)
}

// files reads the named files below dir.
func (r *reader) files(dir string, names []string) (*Side, error) {
	s := &Side{}
	for _, name := range names {
		text, err := r.file(path.Join(dir, name))
		if err != nil {
			return nil, err
		}
		s.Files = append(s.Files, File{Path: name, Text: text})
	}
	sort.Slice(s.Files, func(i, j int) bool { return s.Files[i].Path < s.Files[j].Path })
	return s, nil
}

// maxDocumentBytes bounds the file that describes the corpus.
const maxDocumentBytes = 32 << 20

// document reads the file that describes the corpus.
func (r *reader) document(name string) ([]byte, error) { return r.regular(name, maxDocumentBytes) }

// file reads one UTF-8 file of a side.
func (r *reader) file(name string) ([]byte, error) {
	text, err := r.regular(name, maxFileBytes)
	if err != nil {
		return nil, err
	}
	if r.read += len(text); r.read > maxCorpusBytes {
		return nil, &fileError{name, fmt.Sprintf("brings the corpus above %d bytes", maxCorpusBytes), "split the corpus", nil}
	}
	if !utf8.Valid(text) {
		return nil, &fileError{name, "is not valid UTF-8", "convert it, or leave it out of the case", nil}
	}
	return text, nil
}

// regular reads one regular file of at most limit bytes.
func (r *reader) regular(name string, limit int64) (text []byte, err error) {
	if err := r.plain(name); err != nil {
		return nil, err
	}
	f, err := r.fsys.Open(name)
	if err != nil {
		return nil, &fileError{name, "cannot be opened", "check the permissions", err}
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	text, err = io.ReadAll(io.LimitReader(f, limit+1))
	if err != nil {
		return nil, &fileError{name, "cannot be read", "check the file", err}
	}
	if int64(len(text)) > limit {
		return nil, &fileError{name, fmt.Sprintf("is larger than %d bytes", limit), "keep the part that the corpus needs", nil}
	}
	return bytes.Clone(text), nil // without the room that reading took: a corpus stays in memory
}

// plain refuses what is not a regular file reached through real directories: a
// link could point at a file of the machine, and its text would be sent to an
// endpoint.
func (r *reader) plain(name string) error {
	if !fs.ValidPath(name) || name == "." {
		return &fileError{name, "is not a path inside the corpus", "use a relative path without .. and with /", nil}
	}
	if err := r.realDirs(path.Dir(name)); err != nil {
		return err
	}
	info, err := fs.Lstat(r.fsys, name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return &fileError{name, "is missing", "add the file, or correct the list", err}
	case err != nil:
		return &fileError{name, "cannot be looked at", "check the permissions", err}
	case info.Mode()&fs.ModeSymlink != 0:
		return &fileError{name, "is a symbolic link", "put the file itself there", nil}
	case !info.Mode().IsRegular():
		return &fileError{name, "is not a regular file", "put a text file there", nil}
	}
	return nil
}

// realDirs checks that dir is a directory and no part of it a link.
func (r *reader) realDirs(dir string) error {
	if dir == "." {
		return nil
	}
	if err := r.realDirs(path.Dir(dir)); err != nil {
		return err
	}
	info, err := fs.Lstat(r.fsys, dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return &fileError{dir, "is missing", "add the directory, or correct the path", err}
	case err != nil:
		return &fileError{dir, "cannot be looked at", "check the permissions", err}
	case info.Mode()&fs.ModeSymlink != 0:
		return &fileError{dir, "is a symbolic link", "put the directory itself there", nil}
	case !info.IsDir():
		return &fileError{dir, "is not a directory", "correct the path", nil}
	}
	return nil
}
